"""links.py SOURCE_DIR TESTS: what the pages of the tree refer to is there.

Of every .md file in the tree it checks
  - links and images: a relative target exists; an #anchor is a heading of that page, by GitHub's rules
  - `paths` in backticks whose first part is a folder or file of the tree, of the page's folder, or a group of
    tests: they name something that exists there, or a test. <name>, NAME, * and ... stand for anything
  - `vyre/NAME.h`, which stands for include/vyre/NAME.h
  - `name.c` and other names of source files, and `name/`: some file or folder of the tree is called so

TESTS is a file with the names of all tests. Fenced blocks are not looked at. A name that is right although nothing
in the tree has it stands in ALLOWED, with the reason.
"""
import fnmatch
import os
import re
import sys

ALLOWED = {
    "twice.c": "docs/first-steps.md lets the reader write it",
    "saxpy.c": "docs/workloads.md lets the reader write it",
}
SOURCE_NAME = re.compile(r"[\w*<>.-]+\.(c|h|cpp|py|sh|def|pml)$")
PATH = re.compile(r"[\w*<>.{},+-]+(/[\w*<>.{},+-]+)*/?$")
FENCE = re.compile(r"\s*(```+|~~~+)")
HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\s*\[[^\]]+\]:\s*(\S+)|(?:href|src)=\"([^\"]+)\"")


class Tree:
    """The files of the tree without what was built, and the names of the tests."""

    def __init__(self, root, tests):
        self.root, self.tests, self.files, self.folders = root, tests, [], set()
        for folder, names, files in os.walk(root):
            inside = os.path.relpath(folder, root)
            names[:] = [n for n in names if not n.startswith(".") and (inside != "." or n != "build")]
            self.folders.add(inside)
            self.files += [os.path.normpath(os.path.join(inside, name)) for name in files]
        self.top = {path.split("/")[0] for path in self.files}
        self.groups = {name.split("/")[0] for name in tests if "/" in name}
        self.names = {os.path.basename(path) for path in self.files}
        self.everything = self.files + sorted(self.folders)

    def has(self, pattern):
        return bool(fnmatch.filter(self.everything, os.path.normpath(pattern)))

    def has_test(self, pattern):
        return bool(fnmatch.filter(self.tests, pattern.rstrip("/")))


def lines_outside_fences(text):
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence = match.group(1)
        elif fence is not None:
            if match and match.group(1).startswith(fence) and line.strip() == match.group(1):
                fence = None
        else:
            yield number, line


def anchor(heading):
    """GitHub's anchor of a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"<[^>]+>", "", heading)
    return "".join("-" if c == " " else c for c in heading.strip().lower() if c.isalnum() or c in " -_")


def anchors(text):
    found, counts = set(), {}
    for _, line in lines_outside_fences(text):
        match = HEADING.match(line)
        if match:
            name = anchor(match.group(1))
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.add(name if count == 0 else "%s-%d" % (name, count))
        found |= set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_link(tree, page, target):
    if re.match(r"[a-z][a-z+.-]*:", target):
        return None
    path, _, fragment = target.partition("#")
    full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if full.startswith(".."):
        return "leads out of the tree"
    if full not in tree.folders and full not in tree.files:
        return "there is no such file"
    if fragment and full.endswith(".md") and fragment not in anchors(read(os.path.join(tree.root, full))):
        return "%s has no such heading" % full
    return None


def pattern_of(span):
    """A path with its open parts as wildcards."""
    pattern = re.sub(r"<[^<>]*>|\.\.\.", "*", span)
    return re.sub(r"(?<![A-Za-z0-9_.])[A-Z]{3,}(?=[./]|$)(?!\.md)", "*", pattern)


def check_span(tree, page, span):
    if span in ALLOWED or not PATH.match(span):
        return None
    pattern = pattern_of(span)
    here = os.path.dirname(page)
    if "/" not in span:
        if SOURCE_NAME.match(span) and not fnmatch.filter(tree.names, pattern):
            return "no file has this name"
        return None
    first = span.split("/")[0]
    if span == first + "/":
        folders = {os.path.basename(folder) for folder in tree.folders}
        return None if fnmatch.filter(folders, pattern[:-1]) else "no folder has this name"
    if first == "vyre" and span.endswith(".h"):
        return None if tree.has("include/" + pattern) else "there is no such header"
    beside = here and os.path.join(here, first) in tree.folders
    if not (first in tree.top or first in tree.groups or beside):
        return None
    if tree.has(pattern) or tree.has(os.path.join(here, pattern)) or tree.has_test(pattern):
        return None
    return "there is no such file or test"


def main():
    root = os.path.abspath(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        tree = Tree(root, file.read().split("\n"))
    pages = [path for path in tree.files if path.endswith(".md")]
    wrong = links = spans = 0
    for page in sorted(pages):
        for number, line in lines_outside_fences(read(os.path.join(root, page))):
            found = []
            for match in LINK.finditer(re.sub(r"`[^`]*`", "`", line)):
                target = next(group for group in match.groups() if group)
                links += 1
                found.append((target, check_link(tree, page, target)))
            for span in re.findall(r"`([^`]+)`", line):
                spans += 1
                found.append((span, check_span(tree, page, span)))
            for what, why in found:
                if why:
                    print("%s:%d: %s: %s" % (page, number, what, why))
                    wrong += 1
    print("links: %d pages, %d links, %d names in backticks, %d wrong" % (len(pages), links, spans, wrong))
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
