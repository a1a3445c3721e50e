"""bad_record_test.py: records that are cut, foreign, too new or damaged: a place, an id, exit 2."""

import json
import os
import re

from lib import Test

test = Test()
good = test.write_record("good.json", 40, "hostile").read_bytes()
lines = good.split(b"\n")
row_at = next(i for i, line in enumerate(lines) if line.startswith(b"["))
device_at = next(i for i, line in enumerate(lines) if b'"type":"device"' in line)
label_at = next(i for i, line in enumerate(lines) if b'"type":"label"' in line)
bad = test.folder / "bad.json"


def expect(what, data, ids, line=None, column=None):
    bad.write_bytes(data)
    for command in ("report", "trace"):
        output = test.folder / "never"
        done = test.run(test.vyre, command, bad, "-o", output, code=2)
        found = re.match(rf"vyre: {re.escape(str(bad))}:(\d+):(\d+): error\[([a-z-]+)\]: .+\n  fix: .+\n$",
                         done.stderr)
        if not found:
            test.check(False, f"{what}: no diagnostic with a place: {done.stderr[:200]}")
            return
        test.check(found[3] in ids, f"{what}: {found[3]}, not {ids}")
        if line:
            test.equal(int(found[1]), line, f"line of {what}")
        if column:
            test.equal(int(found[2]), column, f"column of {what}")
        test.check(not output.exists(), f"{what}: an output was written")
    explained = test.run(test.vyre, "explain", bad, "--batch", "1", code=2)
    test.equal(explained.stderr, done.stderr, f"explain of {what}")
    test.equal(explained.stdout, "", f"what explain says of {what}")


def edit(what, index, old, new, ids):
    changed = list(lines)
    test.check(old in changed[index], f"{what}: the line is not as expected")
    changed[index] = changed[index].replace(old, new, 1)
    expect(what, b"\n".join(changed), ids, line=index + 1)


# ---- cut: after any byte there is a diagnostic; most say that the end is missing
for size in sorted({1, 5, 14, 15, 16, 100, len(good) // 3, len(good) // 2, len(good) - 400,
                    len(good) - 4, len(good) - 3,
                    good.rindex(b",\n{\"type\":\"end\"")} | set(range(200, len(good), len(good) // 23))):
    expect(f"cut after {size} bytes", good[:size],
           {"record-foreign" if size < 15 else "record-truncated"})
expect("without its last line", b"\n".join(lines[:-2]) + b"\n", {"record-truncated"})

# ---- foreign
expect("empty", b"", {"record-foreign"}, 1, 1)
expect("text", b"hello\nworld\n", {"record-foreign"}, 1, 1)
expect("a workload", b'{"vyre": 1, "name": "x"}\n', {"record-foreign"}, 1, 1)
expect("binary", bytes(range(256)) * 10, {"record-foreign"}, 1, 1)
expect("one endless line", b'{"vyre_record":1' + b" " * 100000, {"record-foreign"}, 1)
expect("printed anew", json.dumps(json.loads(good), indent=1).encode() + b"\n", {"record-foreign"}, 1)

# ---- newer and older
for version in (b"3", b"0", b"-1", b"99999999999999999999", b'"1"'):
    expect(f"version {version.decode()}", good.replace(b'"vyre_record":2', b'"vyre_record":' + version, 1),
           {"record-version"}, 1, 16)

# ---- damaged
edit("other columns", 1, b'"sequence","label"', b'"label","sequence"', {"record-value"})
edit("no columns", 1, b'"columns"', b'"colums"', {"record-value"})
edit("no names", 2, b'"mode":[', b'"made":[', {"record-value"})
edit("no records", 3, b'"records":[', b'"recods":[', {"record-syntax"})
edit("not JSON", row_at, b"[", b"[[", {"record-syntax"})
edit("a short row", row_at, b"[1,", b"[", {"record-value"})
edit("an unknown device", row_at, b"[1,", b"[7,", {"record-value"})
edit("device 0", row_at, b"[1,", b"[0,", {"record-value"})
edit("a fraction", row_at, b"[1,", b"[1.5,", {"record-value"})
edit("a text", row_at, b"[1,", b'["1",', {"record-value"})
edit("too large a number", row_at, b"[1,1,", b"[1,9223372036854775807,", {"record-value"})
edit("larger than 64 bits", row_at, b"[1,1,", b"[1,99999999999999999999,", {"record-syntax"})
edit("a shape of other digits", row_at, b'"feed', b'"FEED', {"record-value"})
edit("a NUL", row_at, b"feed", b"fe\0d", {"record-syntax"})
edit("a NUL, escaped", label_at, b'"text":"', b'"text":"\\u0000', {"record-syntax"})
edit("not UTF-8", label_at, b'"text":"', b'"text":"\xff', {"record-syntax"})
edit("a label out of turn", label_at, b'"label":1,', b'"label":2,', {"record-value"})
edit("a device out of turn", device_at, b'"device":1,', b'"device":3,', {"record-value"})
edit("a key twice", device_at, b'"device":1,', b'"device":1,"device":1,', {"record-syntax"})
edit("no type", device_at, b'"type"', b'"tipe"', {"record-value"})
edit("abilities of another type", device_at, b'"abilities":[[', b'"abilities":[{},[', {"record-value"})
shape_at = next(i for i, line in enumerate(lines) if b'"type":"shape"' in line)
edit("a shape's device", shape_at, b'"device":1,', b'"device":9,', {"record-value"})
edit("a shape's numbers", shape_at, b'"trace_jit":[0,', b'"trace_jit":[', {"record-value"})
edit("a shape's inputs of another type", shape_at, b'"command_reuse":[', b'"command_reuse":{},"x":[', {"record-value"})
edit("a shape's support", shape_at, b'"bindless":[3,2,', b'"bindless":[3,7,', {"record-value"})
edit("a negative number of a shape", shape_at, b'"trace_jit":[0,', b'"trace_jit":[-1,', {"record-value"})
edit("a shape's origins", shape_at, b'"origins":{', b'"origins":[],"x":{', {"record-value"})
edit("a shape without verdicts", shape_at, b'"arms":', b'"legs":', {"record-value"})
end_at = len(lines) - 3
edit("another count", end_at, b'"batches_kept":40', b'"batches_kept":41', {"record-value"})
edit("a comma too many", end_at, b"}", b"},", {"record-syntax"})
expect("something behind it", good + b"{}\n", {"record-syntax"}, len(lines))
deep = list(lines)
deep[row_at] = b"[" * 30000 + b"]" * 30000 + b","
expect("nested deeply", b"\n".join(deep), {"record-syntax"}, row_at + 1)
long_ = list(lines)
long_[row_at] = b"[" + b" " * 70000 + b"],"
expect("a long line", b"\n".join(long_), {"record-size"}, row_at + 1)

# ---- an entry of a kind that is not known is passed over
later = list(lines)
later.insert(row_at, b'{"type":"thermals","celsius":91},')
bad.write_bytes(b"\n".join(later))
test.run(test.vyre, "report", bad, "-o", test.folder / "later.html")

# ---- files
for path, code, ident in [("/nonexistent", 2, "record-open"), (test.folder, 2, "record-open")]:
    done = test.run(test.vyre, "report", path, "-o", test.folder / "never", code=code)
    test.check(f"error[{ident}]" in done.stderr, f"{path}: not {ident}")
huge = test.folder / "huge.json"
with open(huge, "wb") as file:
    os.truncate(file.fileno(), (512 << 20) + 1)
done = test.run(test.vyre, "trace", huge, "-o", test.folder / "never", code=2)
test.check("error[record-size]" in done.stderr, "huge: not record-size")
bad.write_bytes(good)
done = test.run(test.vyre, "report", bad, "-o", "/nonexistent/page.html", code=1)
test.check("error[record-output]" in done.stderr, "no folder: not record-output")
done = test.run(test.vyre, "report", bad, "-o", "/dev/full", code=1)
test.check("error[record-output]" in done.stderr, "full disk: not record-output")
page = test.folder / "page.html"
page.write_bytes(b"as it was")
page.chmod(0o640)
for kib in (1, 32):
    done = test.run_small(kib, test.vyre, "report", bad, "-o", page, code=1)
    test.check("error[record-output]" in done.stderr, "no room: not record-output")
    test.check(page.read_bytes() == b"as it was", "the page that could not be replaced is damaged")
test.equal(sorted(path.name for path in test.folder.glob("page*")), ["page.html"], "files left")
test.run(test.vyre, "report", bad, "-o", page)
test.check(page.stat().st_size > 10000, "the page was not replaced")
test.equal(page.stat().st_mode & 0o777, 0o640, "the mode of the page")
link = test.folder / "link.html"
link.symlink_to(page)
test.run(test.vyre, "trace", bad, "-o", link)
test.check(link.is_symlink() and page.read_bytes().startswith(b"{"), "the link was not followed")
done = test.run(test.vyre, "report", bad, "-o", bad, code=2)
test.check("error[cli-usage]" in done.stderr, "onto itself: not cli-usage")
test.equal(bad.read_bytes(), good, "the record after that")
for command in (["report"], ["trace"], ["report", bad, "--json"], ["report", bad, "extra"],
                ["trace", bad, "-o"]):
    done = test.run(test.vyre, *command, code=2)
    test.check("error[cli-" in done.stderr, f"{command}: not a matter of usage")
for command in ("report", "trace"):
    done = test.run(test.vyre, command, "--help")
    test.check(done.stdout.startswith(f"Usage: vyre {command} "), f"{command} --help")
    done = test.run(test.vyre, command, bad, "-o", "-")
    test.check(len(done.stdout) > 10000, f"{command} -o -")
test.finish()
