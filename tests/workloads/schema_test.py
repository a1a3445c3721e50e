#!/usr/bin/env python3
"""Holds docs/workload.schema.json against the workloads that the reader takes and refuses.

  schema_test.py SOURCE_DIR

valid/ and the examples must pass the schema. Of broken/, the schema must refuse what expected.txt
marks as `schema` and accept what it marks as `meaning`; the unit test holds the reader against the
same table. Exit 77: there is no jsonschema module.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)


def main():
    source = pathlib.Path(sys.argv[1])
    here = source / "tests" / "workloads"
    schema = json.loads((source / "docs" / "workload.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = []
    checked = 0

    def check(path, wanted):
        nonlocal checked
        checked += 1
        if validator.is_valid(json.loads(path.read_text(encoding="utf-8"))) != wanted:
            wrong.append(f"{path}: the schema should have {'taken' if wanted else 'refused'} it")

    for path in sorted(here.glob("valid/*.json")):
        check(path, True)
    for path in sorted(source.glob("examples/workloads/*.json")):
        check(path, True)
    for line in (here / "expected.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, _, where, _ = line.split(" ", 3)
        if where != "text":
            check(here / "broken" / name, where == "meaning")
    print("\n".join(wrong) or f"{checked} workloads agree with the schema")
    return 1 if wrong or checked < 100 else 0


sys.exit(main())
