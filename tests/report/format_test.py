"""format_test.py: records keep to their schema, and traces to theirs: spans of a track do not overlap."""

import json
import os
from decimal import Decimal

import jsonschema

from lib import Record, Test

test = Test()


def check_schema(document, path, what):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    test.equal([f"{list(e.absolute_path)}: {e.message[:80]}" for e in errors[:3]], [], what)


def check_nesting(events, what):
    """Within a track each span lies inside the one that is open, or begins after its end."""
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append(
                (event["ts"], event["ts"] + event["dur"]))
    for track, spans in tracks.items():
        spans.sort(key=lambda span: (span[0], -span[1]))
        stack = []
        for begin, end in spans:
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and end > stack[-1]:
                return f"{what}: spans overlap on track {track} at {begin}"
            stack.append(end)
    return None


def check_trace(name, batches, *words):
    check_trace_of(name, test.write_record(f"{name}.json", batches, *words))


def check_trace_of(name, record_path):
    trace_path = test.folder / f"{name}.trace"
    test.run(test.vyre, "trace", record_path, "-o", trace_path)
    record = Record(record_path)
    text = trace_path.read_text(encoding="utf-8")
    trace = json.loads(text, parse_float=Decimal)
    check_schema(json.loads(text), test.source / "tests/report/trace.schema.json", f"trace of {name}")
    events = trace["traceEvents"]
    test.equal(check_nesting(events, name), None, "nesting")
    counts = {}
    for event in events:
        if event["ph"] == "X":
            counts[event["cat"]] = counts.get(event["cat"], 0) + 1
    made = [entry for entry in record.of("recording") if entry["change"] == "made"]
    leases = {(entry["device"], entry["lease"]) for entry in record.of("lease")}
    expected = {"submit": len(record.batches), "batch": len(record.batches), "record": len(made),
                "compile": len(record.of("kernel")), "lease": len(leases)}
    test.equal(counts, {key: value for key, value in expected.items() if value}, f"spans of {name}")
    test.equal(trace["otherData"]["spans_left_out"], 0, f"spans left out of {name}")
    # Every nanosecond of the record is in the trace.
    submits = sorted((event["ts"] * 1000, event["dur"] * 1000) for event in events
                     if event.get("cat") == "submit")
    test.equal(submits, sorted((b["submit_begin_ns"], b["submit_ns"]) for b in record.batches),
               f"times of {name}")
    measured = sorted((event["ts"] * 1000, event["dur"] * 1000) for event in events
                      if event.get("cat") == "batch" and not event["args"]["derived"])
    test.equal(measured, sorted((b["device_begin_ns"], b["device_ns"]) for b in record.batches
                                if b["device_begin_ns"] is not None), f"device times of {name}")
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
    test.equal(named, used, f"named tracks of {name}")


# The checker itself sees an overlap.
test.check(check_nesting([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5},
                          {"ph": "X", "pid": 1, "tid": 1, "ts": 3, "dur": 5}], ""),
           "the check of nesting sees nothing")

for name, batches, words in [("plain", 150, []), ("hostile", 100, ["hostile"]), ("empty", 0, []),
                             ("thin", 3000, ["limit=20000"])]:
    path = test.write_record(f"schema-{name}.json", batches, *words)
    check_schema(json.loads(path.read_text()), test.source / "docs/record.schema.json", name)

# Records of real runs, with batches that were found complete together, uploads, leases and recordings.
os.environ.setdefault("LP_NUM_THREADS", "0")
for backend in os.environ.get("VYRE_TEST_BACKENDS", "cpu opencl vulkan").split():
    for mode in ("auto", "persistent" if backend == "cpu" else "replay"):
        name = f"real-{backend}-{mode}"
        path = test.folder / f"{name}.json"
        test.run(test.vyre, "run", test.source / "examples/workloads/stream-upload.json", "--backend",
                 backend, "--mode", mode, "--no-store", "--quiet", "--record", path)
        check_schema(json.loads(path.read_text()), test.source / "docs/record.schema.json", name)
        check_trace_of(name, path)
        kinds = {entry["type"] for entry in Record(path).entries}
        wanted = {"device", "label", "kernel", "shape", "closed", "end"}
        wanted |= {"lease"} if mode == "persistent" else set()
        wanted |= {"recording"} if mode == "replay" else set()
        test.equal(wanted - kinds, set(), f"entries that {name} lacks")

# Generated code that is not proven is a reason.
path = test.write_record("unproven.json", 150)
record = Record(path)
reasons = {record.names["why"][c["why"]] for b in record.batches for c in b["candidates"]}
test.check("unproven" in reasons, f"unproven: not among {sorted(reasons)}")
# A record of version 1 has reasons of its own for candidates.
earlier = test.source / "tests/fuzz/corpus/record/small"
test.equal(json.loads(earlier.read_text())["vyre_record"], 1, "version of an earlier record")
for file in (path, earlier):
    for command in ("report", "trace"):
        test.run(test.vyre, command, file, "-o", test.folder / "unproven.out")
    said = test.run(test.vyre, "explain", file, "--batch", "1").stdout
    test.check("chosen: " in said, f"explain {file.name}: {said}")

check_trace("trace", 3000)
check_trace("trace-hostile", 500, "hostile")
check_trace("trace-derived", 2000, "no-device-times")
check_trace("trace-thin", 20000, "limit=300000")
check_trace("trace-empty", 0)

# A record whose disk filled up holds what was written before that, and its end counts just that.
for kib in (240, 250, 500):
    full = test.folder / f"full-{kib}.json"
    test.run_small(kib, test.writer, full, "20000", code=1)
    record = Record(full)
    events = [entry for entry in record.entries if entry["type"] not in ("label", "end")]
    test.equal(record.end["batches_seen"], 20000, "batches seen on a full disk")
    test.equal(record.end["batches_kept"], len(record.batches), "batches kept on a full disk")
    test.equal(record.end["events_kept"], len(events), "events kept on a full disk")
    for command in ("report", "trace"):
        test.run(test.vyre, command, full, "-o", test.folder / "full.out")
test.finish()
