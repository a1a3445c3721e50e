"""commands.py PREFIX SOURCE_DIR PAGE...: the commands that pages show work, and print what the pages show.

A PAGE may have wildcards; then docs/walkthrough.md, which has a test of its own, is left out.

Each page gets a folder of its own, with links to what is at the top of the tree, and a home of its own. The Vyre
that is installed in PREFIX is first in PATH, and is also build/release/bin/vyre. Then, from top to bottom:

  ```json, ```c     a block after a text that names one `file.json`, `file.c` ... in backticks is written to it
  $ command         in a fenced block: is run by the shell. It must exit with 0, unless a line `error[...]` is shown
                    or the next command is `echo $?`, whose output is what it must exit with
  the lines below   up to the next command: what it prints. A line without digits must be in the real output, with
                    blanks squeezed. `...` stands for lines that are left out. Lines with digits vary with the machine

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

# Lines that a command prints or leaves out by what it measured.
VARYING = [
    (r"vyre compare ", r"the quartiles of the two overlap", "said when the rounds were noisy"),
    (r"vyre explain ", r"chosen: ", "which mode a batch ran in"),
    (r"vyre explain ", r"(plain|replay|persistent)\b", "a candidate, with why it is or is not chosen"),
    (r"vyre explain ", r".*[.,]$", "sentences say what the costs lead to, and break where their numbers end"),
]

# `vyre explain RECORD --batch N`: batches are numbered by their tickets, and a proof takes some of those. If N is
# such a ticket, one of the next is asked for.
BATCH = re.compile(r"(vyre explain \S+ --batch )(\d+)$")
BATCH_TRIES = 10

FENCE = re.compile(r"(```+|~~~+)\s*([\w-]*)")
NAMED = re.compile(r"`([\w.-]+\.(?:json|c|cl|comp|csv))`")


def squeeze(line):
    return " ".join(line.split())


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


def varies(command, line):
    return any(re.match(which, command) and re.match(pattern, line) for which, pattern, _ in VARYING)


class Page:
    def __init__(self, path, folder, environment):
        self.path, self.folder, self.environment = path, folder, environment
        self.failures, self.ran, self.compared, self.code = [], [], 0, 0

    def fail(self, text):
        self.failures.append("%s: %s" % (self.path, text))

    def shell(self, command):
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", check=False)
        self.code = done.returncode
        self.ran.append(command)
        return done.stdout

    def run(self, command, shown):
        """Runs one command and returns how many of the lines below it are its output."""
        run, unprinted = REPLACED.get(command, (command, None))
        output = self.shell(run)
        batch = BATCH.match(run)
        for more in range(1, BATCH_TRIES if batch else 1):
            if "error[record-batch]" not in output:
                break
            output = self.shell(batch.group(1) + str(int(batch.group(2)) + more))
        printed = {squeeze(line) for line in output.split("\n")}
        end = next((i for i, line in enumerate(shown)
                    if line.startswith("$ ") and squeeze(line) not in printed), len(shown))
        asked = end < len(shown) and squeeze(shown[end]) == "$ echo $?"
        if asked:
            wanted = shown[end + 1].strip() if end + 1 < len(shown) else ""
            good = wanted == str(self.code)
        else:
            wanted = "not 0" if any("error[" in line for line in shown[:end]) else "0"
            good = (self.code != 0) == (wanted == "not 0")
        if not good:
            self.fail("`%s` exits with %d, not %s:\n%s" % (command, self.code, wanted, output[-2000:]))
        for line in shown[:end]:
            line = squeeze(line)
            if not line or line == "..." or re.search(r"\d", line) or varies(command, line):
                continue
            if unprinted and re.match(unprinted, line):
                continue
            self.compared += 1
            if line not in printed:
                self.fail("`%s` does not print: %s" % (command, line))
        return end + 2 if asked else end

    def check(self, text):
        written = []
        for language, lines, before in blocks(text):
            name = file_of(language, before)
            if name:
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
                written.append(name)
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
            page = Page(path, prepare(work, source, prefix), environment_of(work, prefix))
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
