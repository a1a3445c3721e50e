"""reference.py EXPORTED XML_DIR: every function named in the file EXPORTED is in Doxygen's XML, with a text that
stands before its thread-safety statement and that no other function has. Every value of an enum has a text too:
Doxygen itself reports all else that has none."""
import glob
import os
import sys
import xml.etree.ElementTree as ElementTree


def text(element):
    """The text of an element without its headed paragraphs, such as the thread-safety statement."""
    if element is None or element.tag == "simplesect":
        return ""
    parts = [element.text or ""]
    for child in element:
        parts += [text(child), child.tail or ""]
    return "".join(parts)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        exported = file.read().split()
    described, wrong = {}, []
    for path in sorted(glob.glob(os.path.join(sys.argv[2], "*_8h.xml"))):
        for member in ElementTree.parse(path).iter("memberdef"):
            if member.get("kind") == "function":
                words = text(member.find("briefdescription")) + " " + text(member.find("detaileddescription"))
                described[member.findtext("name")] = " ".join(words.split())
            wrong += ["%s has no description" % value.findtext("name") for value in member.iter("enumvalue")
                      if not (text(value.find("briefdescription")) + text(value.find("detaileddescription"))).strip()]
    seen = {}
    for name in exported:
        if name not in described:
            wrong.append("%s is exported, but not in the reference" % name)
        elif not described[name]:
            wrong.append("%s has no description" % name)
        elif described[name] in seen:
            wrong.append("%s has the description of %s" % (name, seen[described[name]]))
        else:
            seen[described[name]] = name
    if not exported:
        wrong.append("the library exports nothing")
    for line in wrong:
        print("reference: " + line)
    print("reference: %d functions" % len(exported))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
