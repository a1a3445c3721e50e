"""commands.py PREFIX SOURCE_DIR PAGE...: the commands that pages show work, and print what the pages show.

A PAGE may have wildcards; then docs/walkthrough.md, which has a test of its own, is left out.

Each page gets a folder of its own, with links to what is at the top of the tree, and a home of its own. The Vyre
that is installed in PREFIX is first in PATH, and is also build/release/bin/vyre. Then, from top to bottom:

  ```json, ```c     a block after a text that names one `file.json`, `file.c` ... in backticks is written to it
  ```c              any other: is a source of the tree (QUOTED), is OpenCL C or a part of a function (FRAGMENTS) that
                    compiles
  $ command         in a fenced block: is run by the shell. It must exit with 0, unless a line `error[...]` is shown
                    or the next command is `echo $?`, whose output is what it must exit with
  the lines below   up to the next command: what it prints. The words of a line must be in the real output, in this
                    order. `...` stands for lines that are left out

A line is compared without what differs from run to run: numbers and their units, signs, padding, where sentences
break, and what the list VARYING names. The words of that must be known to the tool: they are in its output, or
in the texts of its program and library. So a renamed column, reason or message is found, and noise is not. What
EXACT lists is compared to the letter.

A workload file that no command of its page names is run too. What is not run, or not compared, stands in the lists
below, with the reason.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SEPARATE = ["docs/walkthrough.md"]

# Commands that are not run.
SKIPPED = [
    (r"make (?!run$)", "builds or tests everything: the test command is where this test runs"),
    (r"(sudo|apt|apt-get|dpkg) ", "changes the machine"),
    (r"cmake |ctest ", "builds or tests everything"),
    (r"(bench_\w+|build/bench/)", "benchmarks take minutes and assert nothing"),
]

# Commands that are run in another way, and the lines that then are not printed.
REPLACED = {
    "make run": ("scripts/demo build/release/bin/vyre", r"(build|bootstrap): "),
}

# Commands that print the same everywhere.
EXACT = [r"vyre decide ", r".*\./(bundle|hello)$", r"(echo|cat) "]

# Commands whose output does not depend on the page: they run once for all pages.
SHARED = re.compile(r"vyre (run|compare|explain) examples/[\w/.-]+( --backend \w+)?$")

# What varies in the output of a command: a pattern, what is left of the line in its place, and the reason.
WHY = "required|verdict|measured-best|predicted-best|trial|explore|drift-recheck|only-feasible"
MODE = "plain|replay|persistent"
EXPLAINED = (r"batch \S+:|on \w+: |commands: |repeats: |in submit |candidate |(What|Ways) .*:$|\w+_\w+:$|"
             r"(given )?\w+ [\d,.]+( \w+)? \(\w+\)")
VARYING = [
    (r"vyre \w+", r"^costs: .*", "", "how old costs are, and how much was learned"),
    (r"vyre \w+", r"^proofs: .*", "", "how many proofs were needed"),
    (r"vyre (run|compare) ", r"^(%s) [\d,]+ .*" % WHY, "", "which reasons there were"),
    (r"vyre run ", r"^(\S+ )?[\d,]+ (%s) .*" % MODE, "", "which modes a batch ran in, and why"),
    (r"vyre run ", r"^batch \S+, run \d.*", "", "changes of the choice"),
    (r"vyre run \S*decode", r"\b[0-9a-f]{32}$", "", "floats depend on the C library and the processor"),
    (r"vyre compare ", r"(?<=x) of (%s)," % MODE, "", "which mode is the best"),
    (r"vyre compare ", r"^the quartiles of the two overlap.*", "", "said when the rounds were noisy"),
    (r"vyre probe", r" (noisy(, )?)?(below [\d.]+ \w+)?$|, [\d,]+ noisy", "", "which costs are noisy"),
    (r"vyre probe", r"^due again after .*", "", "how long costs are good: less if they are noisy"),
    (r"vyre explain ", r"^(\w+_\w+:) \S+$", r"\1", "what a policy says depends on costs"),
    (r"vyre explain ", r"^(?!%s).*" % EXPLAINED, "", "sentences and candidates say what the costs lead to"),
]
# Names that the machine has.
DEVICE = [
    (r"\b(vulkan|opencl) (\d+), .*\)", r"\1 \2, DEVICE"),
    (r"\bdevice (\d+): .*", r"device \1: DEVICE"),
    (r"\bon (vulkan|opencl): .*", r"on \1: DEVICE"),
]

# Blocks of C that repeat a source, without the comment at its head.
QUOTED = {"README.md": "examples/hello/hello.c"}

# Blocks of C that are parts of a function: what stands before them, and before the function.
FRAGMENTS = {
    "docs/relying.md": ("struct vyre_device *first = 0, *second = 0; char text[4096];", ""),
    "docs/design/api.md": ("struct vyre_device *device = 0; struct vyre_store *store = 0; struct vyre_diag diag;"
                           "struct vyre_store_desc desc = {0}; struct vyre_knowledge knowledge;",
                           "static void complain(struct vyre_diag *diag) { (void)diag; }"),
}

# `vyre explain RECORD --batch N`: batches are numbered by their tickets, and a proof takes some of those. If N is
# such a ticket, one of the next is asked for.
BATCH = re.compile(r"(vyre explain \S+ --batch )(\d+)$")
BATCH_TRIES = 10

FENCE = re.compile(r"(```+|~~~+)\s*([\w-]*)")
NAMED = re.compile(r"`([\w.-]+\.(?:json|c|cl|comp|csv))`")

# What mask() takes out, and the words that must be known of what VARYING takes out.
NUMBER = re.compile(r"\b[0-9a-f]{32}\b|(?<![A-Za-z_])\d+(?:[.,]\d+)*")
UNIT = re.compile(r"# ?(?:(?:ns|us|ms|s|min|h|days?|B|KiB|MiB|GiB|TiB|x)\b|%)")
WORD = re.compile(r"[A-Za-z][A-Za-z_-]{3,}")


def squeeze(line):
    return " ".join(line.split())


def mask(line):
    """A line without its figures: a number, its sign and its unit are one #, and so is the - of an empty cell."""
    line = NUMBER.sub(lambda match: match.group() if len(match.group()) == 32 else "#", line)
    line = re.sub(r"(?<![\w#])[+-]+#", "#", line)
    line = re.sub(r"(?<!\S)-(?!\S)", "#", UNIT.sub("#", line))
    return re.sub(r"(# [a-z]{2,}?)s\b", r"\1", line)


def vary(command, line):
    """(what is left of a line, what was taken out because it varies)."""
    taken = []
    command = re.sub(r"^(\w+=\S* )+", "", command)  # its environment
    for pattern, left in DEVICE:
        line = re.sub(pattern, left, line)
    for which, pattern, left, _ in VARYING:
        if re.match(which, command):
            taken += [match.group() for match in re.finditer(pattern, line)]
            line = re.sub(pattern, left, line)
    return squeeze(line), " ".join(taken)


class Output:
    """What a command printed, as text to look for lines in."""

    def __init__(self, command, text):
        self.lines = {squeeze(line) for line in text.split("\n")}
        self.text, kept = text, []
        for line in text.split("\n"):
            line = squeeze(line)
            if line.startswith("$ "):
                command = line[2:]
            kept.append(vary(command, line)[0] or line)
        # A sentence may break anywhere, also between a number and its unit.
        self.masked = [" %s " % squeeze(" ".join(map(mask, kept))), " %s " % mask(squeeze(" ".join(kept)))]

    def has(self, line):
        return any(" %s " % mask(line) in text for text in self.masked)


def blocks(text):
    """(language, lines, the text since the block before) of each fenced block."""
    fence, language, lines, before = None, "", [], []
    for line in text.split("\n"):
        match = FENCE.match(line)
        if fence is None and match:
            fence, language, lines = match.group(1), match.group(2), []
        elif fence is not None and line.strip() == fence:
            yield language, lines, "\n".join(before)
            fence, before = None, []
        elif fence is not None:
            lines.append(line)
        else:
            before.append(line)


def file_of(language, before):
    """The file that a block of JSON or C is to be written to: the last one that the text before it names."""
    ending = {"json": ".json", "c": ".c", "csv": ".csv"}.get(language)
    names = [name for name in NAMED.findall(before) if ending and name.endswith(ending)]
    return names[-1] if names else None


def skip_reason(command):
    return next((why for pattern, why in SKIPPED if re.match(pattern, command)), None)


class Page:
    shared = {}

    def __init__(self, path, folder, environment, texts):
        self.path, self.folder, self.environment, self.texts = path, folder, environment, texts
        self.failures, self.ran, self.compared, self.code = [], [], 0, 0

    def fail(self, text):
        self.failures.append("%s: %s" % (self.path, text))

    def shell(self, command):
        if command in Page.shared:
            self.code, output = Page.shared[command]
            return output
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", check=False)
        self.code = done.returncode
        self.ran.append(command)
        if SHARED.match(command):
            Page.shared[command] = done.returncode, done.stdout
        return done.stdout

    def compare(self, command, line, output):
        """Compares a shown line with what the command printed."""
        self.compared += 1
        if any(re.match(pattern, command) for pattern in EXACT):
            if line not in output.lines:
                self.fail("`%s` does not print: %s" % (command, line))
            return
        left, taken = vary(command, line)
        if left and not output.has(left):
            self.fail("`%s` does not print: %s" % (command, line))
        for word in WORD.findall(taken):
            if word not in output.text and word.encode() not in self.texts:
                self.fail("`%s` shows: %s: the tool does not say %s" % (command, line, word))

    def run(self, command, shown):
        """Runs one command and returns how many of the lines below it are its output."""
        run, unprinted = REPLACED.get(command, (command, None))
        output = self.shell(run)
        batch = BATCH.match(run)
        for more in range(1, BATCH_TRIES if batch else 1):
            if "error[record-batch]" not in output:
                break
            output = self.shell(batch.group(1) + str(int(batch.group(2)) + more))
        printed = Output(command, output)
        end = next((i for i, line in enumerate(shown)
                    if line.startswith("$ ") and squeeze(line) not in printed.lines), len(shown))
        asked = end < len(shown) and squeeze(shown[end]) == "$ echo $?"
        if asked:
            wanted = shown[end + 1].strip() if end + 1 < len(shown) else ""
            good = wanted == str(self.code)
        else:
            wanted = "not 0" if any("error[" in line for line in shown[:end]) else "0"
            good = (self.code != 0) == (wanted == "not 0")
        if not good:
            self.fail("`%s` exits with %d, not %s:\n%s" % (command, self.code, wanted, output[-2000:]))
        inner = command
        for line in map(squeeze, shown[:end]):
            if not line or line == "..." or unprinted and re.match(unprinted, line):
                continue
            if line.startswith("$ "):
                inner = line[2:]  # a command that this one shows
            else:
                self.compare(inner, line, printed)
        return end + 2 if asked else end

    def compile_c(self, lines):
        """A block of C that is in no file: from a source of the tree, OpenCL C, or a part of a function."""
        block = "\n".join(lines).strip()
        source = QUOTED.get(self.path)
        if source:
            with open(os.path.join(self.folder, source), encoding="utf-8") as file:
                if re.sub(r"^/\*.*?\*/\s*", "", file.read(), flags=re.DOTALL).strip() == block:
                    self.quoted = True
                    return
        compiler = "cc -std=c11 -Wall -Werror -Iinclude -fsyntax-only"
        if re.search(r"\bkernel void\b", block):
            compiler = "clang -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall -Werror"
            text, ending = block, ".cl"
        elif self.path in FRAGMENTS:
            inside, outside = FRAGMENTS[self.path]
            text = "#include <vyre/vyre.h>\n%s\nint main(void)\n{\n%s\n%s\n}\n" % (outside, inside, block)
            compiler, ending = compiler + " -Wno-unused", ".c"
        else:
            self.fail("a block of C is not the source that QUOTED names, and not in FRAGMENTS:\n%s" % block)
            return
        path = os.path.join(self.environment["TMPDIR"], "block" + ending)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        output = self.shell("%s %s" % (compiler, path))
        if self.code != 0:
            self.fail("a block of C does not compile:\n%s\n%s" % (block, output))

    def check(self, text):
        written, self.quoted = [], self.path not in QUOTED
        for language, lines, before in blocks(text):
            name = file_of(language, before)
            if name:
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
                written.append(name)
                continue
            if language == "c":
                self.compile_c(lines)
                continue
            at = 0
            while at < len(lines):
                if not lines[at].startswith("$ "):
                    at += 1
                    continue
                command = lines[at][2:]
                at += 1
                while command.endswith("\\") and at < len(lines):
                    command = command[:-1] + lines[at].strip()
                    at += 1
                why = skip_reason(command)
                if why:
                    print("%s: not run: %s: %s" % (self.path, command, why))
                    break  # the rest of the block may be what it prints
                at += self.run(command.strip(), lines[at:])
        if not self.quoted:
            self.fail("no block is %s without its head" % QUOTED[self.path])
        for name in written:
            if name.endswith(".json") and not any(name in command for command in self.ran):
                self.run("vyre run " + name, [])


def prepare(work, source, prefix):
    """A folder with what is at the top of the tree, and the installed tool where pages look for it."""
    folder = os.path.join(work, "tree")
    os.makedirs(os.path.join(folder, "build/release/bin"))
    for name in os.listdir(source):
        if name != "build" and not name.startswith("."):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
    os.symlink(os.path.join(prefix, "bin/vyre"), os.path.join(folder, "build/release/bin/vyre"))
    return folder


def environment_of(work, prefix):
    package = glob.glob(os.path.join(prefix, "**/pkgconfig"), recursive=True)[0]
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("VYRE_", "XDG_")) or name == "XDG_DATA_DIRS"}
    home = os.path.join(work, "home")
    os.makedirs(home)
    kept.update({
        "HOME": home, "XDG_CACHE_HOME": os.path.join(home, "cache"), "TMPDIR": work,
        "PATH": os.path.join(prefix, "bin") + ":" + kept["PATH"],
        "LD_LIBRARY_PATH": os.path.dirname(package), "PKG_CONFIG_PATH": package,
    })
    return kept


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: commands.py PREFIX SOURCE_DIR PAGE...")
    prefix, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    texts = b""
    for path in [os.path.join(prefix, "bin/vyre")] + glob.glob(os.path.join(prefix, "**/libvyre.so"), recursive=True):
        with open(path, "rb") as file:
            texts += file.read()
    pages = []
    for pattern in sys.argv[3:]:
        found = sorted(glob.glob(pattern, root_dir=source))
        pages += [page for page in found if page == pattern or page not in SEPARATE]
    top = tempfile.mkdtemp(prefix="vyre-docs.")
    failures = ran = 0
    try:
        for number, path in enumerate(pages):
            work = os.path.join(top, "page%d" % number)
            os.mkdir(work)
            page = Page(path, prepare(work, source, prefix), environment_of(work, prefix), texts)
            with open(os.path.join(source, path), encoding="utf-8") as file:
                page.check(file.read())
            for failure in page.failures:
                print("FAILED: " + failure)
            if page.ran:
                print("%s: %d commands, %d lines compared" % (path, len(page.ran), page.compared))
            failures += len(page.failures)
            ran += len(page.ran)
    finally:
        shutil.rmtree(top)
    if ran == 0:
        print("FAILED: the pages show no command")
    return 1 if failures or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
