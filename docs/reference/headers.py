#!/usr/bin/env python3
"""headers.py HEADER_DIR OUT_DIR: writes the public headers with their plain comments turned into those
that Doxygen reads, and words.dox, a page of all their words.

The headers stay free of Doxygen's marks. What a comment means follows from where it stands:

  at the head of the file             the description of the header
  directly above a declaration        the description of that declaration
  behind a member, value or macro     the description of that member, value or macro
  above items, ending in "..."        the start of the sentence of each item, up to the next empty line
  anywhere else                       nothing: a heading for readers of the header

A "Words" block becomes a list of definitions, other indented lines are shown as they are, and a paragraph
that begins with "Thread-safety:" gets a heading. Each function repeats the head's, for readers of one
function. Names of the API become links. `struct NAME;` with a comment above is the description of a type
whose members are hidden. The values of enum vyre_diag_id come from diag_ids.def.
"""
import os
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
SECTION = re.compile(r"/\* -{4} (.*?) -+ \*/$")
WORD_ENTRY = re.compile(r"^  ( ?)(\S.*?)(?:  +|$)(.*)$")
DIAGNOSTIC = re.compile(
    r'^VYRE_DIAG_ID\(\s*(\w+),\s*(\d+),\s*("[^"]*"),\s*(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+),'
    r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.M)
FUNCTION = re.compile(r"(?:VYRE_NODISCARD |VYRE_API |static inline )")


def comment_lines(comment):
    """The text of a comment, line by line, without its frame."""
    body = comment[2:-2]
    lines = [re.sub(r"^\s*\*( |$)", "", line) if number else line
             for number, line in enumerate(body.split("\n"))]
    if not re.match(r"\s*\*", body.split("\n")[-1]) and len(lines) > 1 and "\n *" not in body:
        lines = [line.strip() for line in lines]  # a comment behind a member, wrapped
    lines = [line.rstrip() for line in lines]
    lines[0] = lines[0].strip()
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def paragraphs(lines):
    """Splits into ("text" | "words" | "as-is" | "thread", [line...])."""
    result, words = [], False
    kind, block = None, []

    def flush():
        nonlocal block
        while block and not block[-1]:
            block.pop()
        if block:
            result.append((kind, block))
        block = []

    for line in lines:
        if not line:
            if kind in ("text", "thread"):
                flush()
                kind = None
            elif block:
                block.append("")
            continue
        if line.startswith("  "):
            new = "words" if words else "as-is"
        elif kind in ("text", "thread"):
            new = kind
        else:
            new = "thread" if line.startswith("Thread-safety:") else "text"
        if new != kind:
            flush()
        kind = new
        if line == "Words":
            words, kind = True, None
            continue
        if new in ("text", "thread"):
            words = False
        block.append(line)
    flush()
    return result


def word_entries(block):
    """[(word, definition)] of a "Words" block."""
    entries = []
    for line in block:
        match = WORD_ENTRY.match(line)
        if match and not match.group(1) or match and not entries:
            entries.append([match.group(2), match.group(3)])
        elif line.strip():
            entries[-1][1] += " " + line.strip()
    return entries


class Names:
    """What the headers declare, so that names in a text become links."""

    def __init__(self, directory):
        self.functions, self.types, self.others, self.files = set(), set(), set(), set()
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                text = file.read()
            if name.endswith(".def"):
                self.others |= {"VYRE_DIAG_" + match.group(1) for match in DIAGNOSTIC.finditer(text)}
                continue
            self.files.add(name)
            code = COMMENT.sub(" ", text)
            self.functions |= set(re.findall(
                r"^(?:VYRE_API|VYRE_NODISCARD|static inline)[^;{(]*?\b(vyre_\w+)\(", code, re.M))
            self.types |= set(re.findall(r"^struct (vyre_\w+)\b", code, re.M))
            self.others |= set(re.findall(r"^enum (vyre_\w+) \{", code, re.M))
            self.others |= set(re.findall(r"^typedef [^;]*?\b(vyre_\w+)\(", code, re.M))
            self.others |= set(re.findall(r"^#define (VYRE_(?!\w+_H\b)\w+)", code, re.M))
            self.others |= set(re.findall(r"^    (VYRE_\w+) =", code, re.M))

    def link(self, match):
        before, name, call = match.group(1) or "", match.group(2), match.group(3) or ""
        if before == "struct " and name in self.types:
            return before + "@ref " + name
        if name in self.functions and before != "struct ":
            return before + name + "()"
        if name in self.types:
            return before + "@ref " + name
        if name in self.others:
            return before + "#" + name
        return before + name + call


def prose(text, names):
    """Escapes what Doxygen would read as a mark, outside of backticks, and adds links."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = ["`".join(parts)]
    for i in range(0, len(parts), 2):
        part = re.sub(r"([\\@<>#%&*])", r"\\\1", parts[i]).replace("--", r"\--").replace("...", "…")
        parts[i] = re.sub(r"(\bstruct |\benum )?\b(vyre_\w+|VYRE_\w+)\b(\(\))?", names.link, part)
    return "`".join(parts)


def sentence(text):
    """A fragment behind a member as a sentence."""
    if re.match(r"[a-z]+(?![\w`(.])", text):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "?", "!", ":")) else text + "."


def render(lines, names, thread=None):
    """The lines of a description in Doxygen's words."""
    out = []
    for kind, block in paragraphs(lines):
        if out:
            out.append("")
        if kind == "thread":
            thread = None
            text = " ".join(block)[len("Thread-safety:"):].strip()
            out += ["@par Thread-safety", prose(text[0].upper() + text[1:], names)]
        elif kind == "words":
            out.append("<dl>")
            for word, meaning in word_entries(block):
                out.append("<dt>%s</dt><dd>%s</dd>" % (prose(word, names), prose(meaning, names)))
            out.append("</dl>")
        elif kind == "as-is":
            out += ["@verbatim"] + block + ["@endverbatim"]
        else:
            out += prose("\n".join(block), names).split("\n")
    if thread:
        out += ["", "@par Thread-safety", prose(thread, names)]
    return out


def doxygen(lines, mark="/**"):
    if len(lines) == 1:
        return "%s %s */" % (mark, lines[0])
    return "\n".join([mark] + [line.rstrip() for line in lines] + ["*/"])


def head_thread_safety(lines):
    for kind, block in paragraphs(lines):
        if kind == "thread":
            text = " ".join(block)[len("Thread-safety:"):].strip()
            return text[0].upper() + text[1:]
    return None


def strings(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')


def diagnostics(path, names):
    with open(path, encoding="utf-8") as file:
        found = DIAGNOSTIC.findall(file.read())
    lines = []
    for symbol, number, name, status, summary, fix in found:
        text = "`%s`, #%s: %s %s" % (name.strip('"'), status, prose(strings(summary), names),
                                     prose(strings(fix), names))
        lines.append("    VYRE_DIAG_%s = (%s), /**< %s */" % (symbol, number, text.strip()))
    return "\n".join(lines)


def convert(path, names):
    """A header in Doxygen's words."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    out, at, thread, start = [], 0, None, None
    for match in COMMENT.finditer(source):
        code = source[at:match.start()]
        out.append(code)
        at = match.end()
        if "\n\n" in code:
            start = None
        lines = comment_lines(match.group())
        before = source[source.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        after = source[match.end():]
        if match.start() == 0:
            name = os.path.basename(path)
            lines[0] = sentence(re.sub(r"^%s: " % re.escape(name), "", lines[0]))
            thread = head_thread_safety(lines)
            out.append(doxygen(["@file"] + render(lines, names)))
        elif SECTION.match(match.group()):
            pass
        elif before:
            text = " ".join(lines)
            text = start + " " + text if start else text
            out.append("/**< %s */" % prose(sentence(text), names))
        elif lines[-1].endswith("..."):
            start = " ".join(lines)[:-3].strip()
        elif re.match(r"\n[ \t]*\S", after):
            function = FUNCTION.match(after[1:])
            out.append(doxygen(render(lines, names, thread if function else None)))
            opaque = re.match(r"\nstruct vyre_\w+;", after)
            if opaque:
                out.append(opaque.group()[:-1] + " {};")
                at += opaque.end()
    out.append(source[at:])
    text = "".join(out)
    text = re.sub(r"^#define VYRE_\w+_H$", "", text, flags=re.M)  # the include guard
    include = "#include <vyre/diag_ids.def>"
    if include in text:
        table = os.path.join(os.path.dirname(path), "diag_ids.def")
        text = text.replace(include, diagnostics(table, names))
    return re.sub(r"^#(define VYRE_DIAG_ID\(.*|undef VYRE_DIAG_ID)$", "", text, flags=re.M)


def words(paths, names):
    """A page with the words of all headers, in order."""
    entries = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            head = COMMENT.match(file.read())
        for kind, block in paragraphs(comment_lines(head.group())):
            if kind == "words":
                entries += [(word, meaning, os.path.basename(path))
                            for word, meaning in word_entries(block)]
    lines = ["@page words Words", "", "<dl>"]
    for word, meaning, header in sorted(entries, key=lambda entry: entry[0].lower()):
        lines.append("<dt>%s</dt><dd>%s (%s)</dd>" % (prose(word, names), prose(meaning, names), header))
    return doxygen(lines + ["</dl>"]) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: headers.py HEADER_DIR OUT_DIR")
    source, out = sys.argv[1:]
    names = Names(source)
    if not names.files:
        sys.exit("headers.py: no header in " + source)
    os.makedirs(os.path.join(out, "vyre"), exist_ok=True)
    paths = [os.path.join(source, name) for name in sorted(names.files)]
    for path in paths:
        with open(os.path.join(out, "vyre", os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(convert(path, names))
    with open(os.path.join(out, "words.dox"), "w", encoding="utf-8") as file:
        file.write(words(paths, names))


if __name__ == "__main__":
    main()
