"""record_seeds.py WRITE_RECORD CORPUS: writes the seeds of record_fuzz, named after what they are."""

import pathlib
import subprocess
import sys
import tempfile

writer, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
corpus.mkdir(parents=True, exist_ok=True)


def record(*words):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([writer, file.name, *words], check=True, stdout=subprocess.DEVNULL)
        return pathlib.Path(file.name).read_bytes()


def seed(name, data):
    (corpus / name).write_bytes(data)


small = record("4")
lines = small.split(b"\n")
row = next(i for i, line in enumerate(lines) if line.startswith(b"["))


def edited(index, old, new):
    changed = list(lines)
    assert old in changed[index], (index, old)
    changed[index] = changed[index].replace(old, new, 1)
    return b"\n".join(changed)


seed("small", small)
seed("hostile", record("3", "hostile"))
seed("no-batches", record("0"))
seed("no-device-times", record("5", "no-device-times"))
seed("thin", record("2000", "limit=16384"))
seed("cut-in-a-row", small[:small.index(b"\n[") + 30])
seed("cut-in-the-head", small[:200])
seed("without-end", b"\n".join(lines[:-3]) + b"\n")
seed("version-2", small.replace(b'"vyre_record":1', b'"vyre_record":2', 1))
seed("foreign", b'{"vyre": 1}\n')
seed("short-row", edited(row, b"[1,", b"["))
seed("unknown-device", edited(row, b"[1,", b"[9,"))
seed("other-columns", edited(1, b'"sequence","label"', b'"label","sequence"'))
seed("large-number", edited(row, b"[1,1,", b"[1,9223372036854775807,"))
seed("markup", edited(2, b'"plain"', b'"</script>"'))
seed("trailing", small + b"{}\n")
shape = next(i for i, line in enumerate(lines) if b'"type":"shape"' in line)
seed("shape-origins", edited(shape, b'"origins":{', b'"origins":[],"x":{'))
seed("shape-short", edited(shape, b'"command_reuse":[', b'"command_reuse":[],"x":['))
