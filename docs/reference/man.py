#!/usr/bin/env python3
"""man.py XML_DIR OUT_DIR: writes a man page for every function (section 3) and every type (3type) of the reference.

Doxygen's own man pages are one for each header, with a link from every name in it, also from `count` and `name`. These
are one for each name that a program uses, in mdoc as the pages of the tool are.
"""
import glob
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

WORD_OF_VALUE = re.compile(r"^[=\s]*\(?(.*?)\)?$")


def escape(text):
    text = text.replace("\\", "\\e").replace("…", "...")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def inline(element):
    """Running text; names are set in italics."""
    parts = [escape(element.text or "")]
    for child in element:
        if child.tag in ("computeroutput", "bold"):
            parts.append("\\fI" + inline(child).strip() + "\\fR")
        elif child.tag == "sp":
            parts.append(" ")
        elif child.tag not in ("simplesect", "verbatim", "variablelist", "programlisting"):
            parts.append(inline(child))
        parts.append(escape(child.tail or ""))
    return re.sub(r"\s+", " ", "".join(parts))


def blocks(element, thread):
    """The paragraphs of a description as pieces of mdoc; a thread-safety statement goes to `thread`."""
    found = []
    for para in element.findall("para") if element is not None else []:
        text = inline(para).strip()
        if text:
            found.append(text)
        for child in para:
            if child.tag == "simplesect":
                thread.append(" ".join(inline(p).strip() for p in child.findall("para")))
            elif child.tag == "verbatim":
                found.append(".Bd -literal\n" + escape(child.text.strip("\n")) + "\n.Ed")
    return found


def description(element, thread):
    brief = blocks(element.find("briefdescription"), thread)
    rest = blocks(element.find("detaileddescription"), thread)
    if brief and rest and not rest[0].startswith(".Bd"):
        return [brief[0] + " " + rest[0]] + rest[1:]
    return brief + rest


def sentence_as_name(text):
    """A brief as the line that whatis shows."""
    text = re.split(r"[.;:] ", re.sub(r"\\f[IR]", "", text))[0].rstrip(".:")
    return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]*\b", text) else text


def c_text(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip() if element is not None else ""


def quoted(text):
    return '"%s"' % text.replace('"', '""')


class Page:
    def __init__(self, name, section, header, what):
        self.name, self.section, self.header, self.what = name, section, header, what
        self.synopsis, self.body, self.thread, self.related = [], [], [], set()

    def text(self, date, version, others):
        lines = [".\\\" Made by `make docs` from include/vyre/%s; do not edit it." % self.header,
                 ".Dd " + date, ".Dt %s %s Vyre" % (self.name.upper(), self.section), ".Os Vyre " + version,
                 ".Sh NAME", ".Nm " + self.name, ".Nd " + self.what, ".Sh SYNOPSIS", ".In vyre/" + self.header]
        lines += self.synopsis + [".Sh DESCRIPTION"]
        for number, block in enumerate(self.body):
            if number and not block.startswith(".B"):
                lines.append(".Pp")
            lines.append(block)
        if self.thread:
            lines += [".Sh THREAD SAFETY"] + self.thread
        if others:
            lines.append(".Sh SEE ALSO")
            lines += [".Xr %s %s%s" % (other.name, other.section, "" if i == len(others) - 1 else " ,")
                      for i, other in enumerate(others)]
        return "\n".join(lines) + "\n"


def declaration(member):
    """One member of a struct in C."""
    kind = re.sub(r"\b(union|struct) \S*@\S*", r"\1 { ... }", c_text(member.find("type")))
    name, arguments = member.findtext("name"), c_text(member.find("argsstring"))
    kind = re.sub(r"(?<=\w)\(\*$", " (*", kind)
    space = "" if kind.endswith("*") else " "
    return kind + space + name + arguments


def function_page(member, header):
    thread = []
    body = description(member, thread)
    page = Page(member.findtext("name"), "3", header, sentence_as_name(body[0]))
    page.body, page.thread = body, thread
    page.synopsis = [".Ft " + quoted(c_text(member.find("type")).replace("static ", "")), ".Fo " + page.name]
    for parameter in member.findall("param"):
        kind, name = c_text(parameter.find("type")), parameter.findtext("declname") or ""
        array = c_text(parameter.find("array"))
        space = "" if kind.endswith("*") or not name else " "
        page.synopsis.append(".Fa " + quoted(kind + space + name + array))
        page.related |= set(re.findall(r"vyre_\w+", kind))
    page.related |= set(re.findall(r"vyre_\w+", c_text(member.find("type"))))
    page.synopsis.append(".Fc")
    return page


def list_of(items):
    """[(head, text)] as a tagged list."""
    lines = [".Bl -tag -width Ds"]
    for head, text in items:
        lines.append(".It Li " + quoted(head))
        if text:
            lines.append(text)
    return "\n".join(lines + [".El"])


def type_page(element, name, header, synopsis, items):
    thread = []
    body = description(element, thread)
    page = Page(name, "3type", header, sentence_as_name(body[0]))
    page.synopsis = [".Vt " + quoted(synopsis)]
    page.body = body + ([list_of(items)] if items else [])
    return page


def pages_of(directory):
    pages = []
    for path in sorted(glob.glob(os.path.join(directory, "*_8h.xml"))):
        header = os.path.basename(ElementTree.parse(path).getroot().find("compounddef").findtext("compoundname"))
        for member in ElementTree.parse(path).iter("memberdef"):
            name = member.findtext("name")
            if member.get("kind") == "function":
                pages.append(function_page(member, header))
            elif member.get("kind") == "enum":
                items = []
                for value in member.findall("enumvalue"):
                    number = WORD_OF_VALUE.match(c_text(value.find("initializer"))).group(1)
                    items.append(("%s = %s" % (value.findtext("name"), number), " ".join(description(value, []))))
                pages.append(type_page(member, name, header, "enum " + name, items))
            elif member.get("kind") == "typedef":
                pages.append(type_page(member, name, header, c_text(member.find("definition")), []))
    for path in sorted(glob.glob(os.path.join(directory, "struct*.xml"))):
        compound = ElementTree.parse(path).getroot().find("compounddef")
        name = compound.findtext("compoundname")
        if "::" in name or "@" in name:
            continue
        header = os.path.basename(compound.find("location").get("file"))
        items = [(declaration(member), " ".join(description(member, []))) for member in compound.iter("memberdef")]
        pages.append(type_page(compound, name, header, "struct " + name, items))
    return pages


def related(page, pages):
    """The types of a function's prototype, and its neighbours with the same noun."""
    noun = "_".join(page.name.split("_")[:2])
    types = [other for other in pages if other.section == "3type" and other.name in page.related]
    near = [other for other in pages if other.section == "3" and other is not page and other.header == page.header
            and ("_".join(other.name.split("_")[:2]) == noun or page.section == "3type" and page.name in other.related)]
    return sorted(near, key=lambda other: other.name) + sorted(types, key=lambda other: other.name)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: man.py XML_DIR OUT_DIR")
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../man/vyre.1"), encoding="utf-8") as file:
        date = re.search(r"^\.Dd (.*)$", file.read(), re.M).group(1)
    with open(os.path.join(here, "../../include/vyre/version.h"), encoding="utf-8") as file:
        version = ".".join(re.findall(r"#define VYRE_VERSION_\w+ (\d+)", file.read()))
    pages = pages_of(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    for page in pages:
        with open(os.path.join(sys.argv[2], page.name + "." + page.section), "w", encoding="utf-8") as file:
            file.write(page.text(date, version, related(page, pages)))


if __name__ == "__main__":
    main()
