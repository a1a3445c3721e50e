"""lib.py: what the tests of records share. Each takes VYRE WRITE_RECORD SOURCE_DIR."""

import json
import pathlib
import subprocess
import sys
import tempfile


class Test:
    def __init__(self):
        if len(sys.argv) != 4:
            sys.exit(f"usage: {sys.argv[0]} VYRE WRITE_RECORD SOURCE_DIR")
        self.vyre, self.writer, source = sys.argv[1:]
        self.source = pathlib.Path(source)
        self.failures = 0
        self.scratch = tempfile.TemporaryDirectory(prefix="vyre-report.")
        self.folder = pathlib.Path(self.scratch.name)

    def check(self, condition, what):
        if not condition:
            print(f"FAILED: {what}", file=sys.stderr)
            self.failures += 1

    def equal(self, found, expected, what):
        self.check(found == expected, f"{what}: {found!r}, not {expected!r}")

    def run(self, *command, code=0):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.equal(done.returncode, code, f"exit code of {' '.join(map(str, command))[:120]}")
        return done

    def run_small(self, kib, *command, code=0):
        """As on a full disk: no file grows past so many KiB."""
        return self.run("sh", "-c", f"trap '' XFSZ; ulimit -f {kib * 2}; exec \"$@\"", "sh",
                        *command, code=code)

    def write_record(self, name, batches, *words):
        path = self.folder / name
        self.run(self.writer, path, str(batches), *words)
        return path

    def finish(self):
        self.scratch.cleanup()
        sys.exit(1 if self.failures else 0)


class Record:
    """A record as any program would read it: by its columns."""

    def __init__(self, path):
        self.document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        columns = self.document["columns"]
        self.names = self.document["names"]
        entries = self.document["records"]
        self.batches = [dict(zip(columns["batch"], entry)) for entry in entries
                        if isinstance(entry, list)]
        for batch in self.batches:
            batch["kernels"] = [dict(zip(columns["kernel"], row)) for row in batch["kernels"]]
            batch["candidates"] = [dict(zip(columns["candidate"], row))
                                   for row in batch["candidates"]]
        self.entries = [entry for entry in entries if isinstance(entry, dict)]
        self.labels = {0: ""} | {entry["label"]: entry["text"] for entry in self.of("label")}
        self.end = entries[-1]

    def of(self, kind):
        return [entry for entry in self.entries if entry["type"] == kind]

    def regret_ns(self):
        """What batches took longer than the way that measured best in their shape's last comparison."""
        best = {}
        for batch in self.batches:
            measured = [c for c in batch["candidates"] if c["measured_ns"] > 0]
            if measured:
                best[batch["device"], batch["shape"]] = min(measured, key=lambda c: c["measured_ns"])
        total = 0
        for batch in self.batches:
            way = best.get((batch["device"], batch["shape"]))
            if way and (way["mode"], way["variant"]) != (batch["mode"], batch["variant"]):
                total += max(0, batch["wall_ns"] - way["measured_ns"])
        return total
