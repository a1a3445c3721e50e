#!/usr/bin/env python3
"""Writes the canonical workload files next to this folder; what it writes is committed.

    generate/generate.py            writes all
    generate/generate.py --check    exits with 1 if a committed file is not what would be written

tests/workloads/reference holds the same numbers again, on purpose: the reference must not be derived
from what it checks.
"""
import json
import os
import sys

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# ---- Parts of a workload ---------------------------------------------------------------------------

def buffer(type_, count, **init):
    return {"type": type_, "count": count, "init": init}


def range_(name, offset, size):
    return {"buffer": name, "offset": offset, "size": size}


def kernel(workload, name, local, access, constants=(), specialize=()):
    """Payload files and the host function follow from the names; access: by slot, "table read" and so on
    for tables."""
    def binding(slot, words):
        table, _, kind = words.rpartition(" ")
        return {"slot": slot, "access": kind, **({"table": True} if table else {})}

    k = {
        "glsl": f"{workload}/{name}.comp",
        "opencl": f"{workload}/{workload}.cl",
        "host": f"{workload.replace('-', '_')}_{name}",
        "entry": name,
        "local_size": local,
        "bindings": [binding(i, a) for i, a in enumerate(access)],
    }
    if constants:
        k["constants"] = [{"name": n, "type": t} for n, t in constants]
    if specialize:
        k["specialize"] = [{"id": i, "name": n, "type": "u32", "default": d}
                           for i, (n, d) in enumerate(specialize)]
    return k


def dispatch(name, groups, binds, **constants):
    c = {"dispatch": name, "groups": groups, "bind": {str(i): b for i, b in enumerate(binds)}}
    if constants:
        c["constants"] = constants
    return c


def upload(target, seed):
    return {"upload": target, "init": {"random": seed}}


def fill(target, value):
    return {"fill": target, "value": value}


# ---- decode ----------------------------------------------------------------------------------------

def decode():
    layers, dim, heads, head_dim, hidden, vocab, context = 6, 64, 4, 16, 192, 256, 64
    first, tokens, rounds = 48, 16, 50
    # sqrt(12 / columns), to the nearest 1/16: keeps the variance of uniform weights at one.
    dim_scale, hidden_scale = 0.4375, 0.25

    def k(*args, **kw):
        return kernel("decode", *args, **kw)

    u, f = "u32", "f32"
    kernels = {
        "embed": k("embed", [64, 1, 1], ["read", "read", "write"], [("position", u), ("dim", u)]),
        "rmsnorm": k("rmsnorm", [64, 1, 1], ["read", "read", "write"], [("dim", u)]),
        "matvec": k("matvec", [64, 1, 1], ["read", "read", "write"],
                    [("columns", u), ("first", u), ("scale", f)]),
        "rope": k("rope", [8, 1, 1], ["read", "write"], [("position", u), ("first", u)]),
        "scores": k("scores", [64, 1, 1], ["read", "read", "write"],
                    [("position", u), ("dim", u), ("head_dim", u), ("scale", f)]),
        "softmax": k("softmax", [64, 1, 1], ["read", "write"], [("position", u)]),
        "attend": k("attend", [16, 1, 1], ["read", "read", "write"],
                    [("position", u), ("dim", u), ("context", u)]),
        "residual": k("residual", [64, 1, 1], ["readwrite", "read"]),
        "silu_gate": k("silu_gate", [64, 1, 1], ["read", "read", "write"]),
        "argmax": k("argmax", [1, 1, 1], ["read", "readwrite"], [("position", u), ("count", u)]),
    }

    # These seeds give tokens that depend on more than the token before, and none by a narrow margin.
    buffers = {
        "tokens": buffer("u32", 128, ramp=[0, 1]),
        "embedding": buffer("f32", vocab * dim, random=313),
        "unembedding": buffer("f32", vocab * dim, random=314),
        "final-gain": buffer("f32", dim, ramp=[0.5, 0.0078125]),
    }
    for name, count in [("x", dim), ("normed", dim), ("q", dim), ("k", dim), ("q-rotated", dim),
                        ("scores", heads * context), ("weights", heads * context),
                        ("attended", dim), ("projected", dim), ("gate", hidden), ("up", hidden),
                        ("activated", hidden), ("logits", vocab)]:
        buffers[name] = buffer("f32", count, value=0)
    for layer in range(layers):
        seed = 100 * (layer + 1)
        buffers[f"attention-gain-{layer}"] = buffer("f32", dim, ramp=[0.5, 0.0078125])
        buffers[f"ffn-gain-{layer}"] = buffer("f32", dim, ramp=[0.5, 0.0078125])
        for i, name in enumerate(["wq", "wk", "wv", "wo"]):
            buffers[f"{name}-{layer}"] = buffer("f32", dim * dim, random=seed + i)
        for i, name in enumerate(["wgate", "wup", "wdown"]):
            buffers[f"{name}-{layer}"] = buffer("f32", dim * hidden, random=seed + 4 + i)
        # The prompt's part of the cache is there already.
        buffers[f"keys-{layer}"] = buffer("f32", context * dim, random=seed + 7)
        buffers[f"values-{layer}"] = buffer("f32", context * dim, random=seed + 8)

    def matvec(weights, source, target, rows, columns, first=0):
        scale = dim_scale if columns == dim else hidden_scale
        return dispatch("matvec", [rows // 64, 1, 1], [weights, source, target],
                        columns=columns, first=first, scale=scale)

    def token(position):
        at = position * dim
        out = [dispatch("embed", [dim // 64, 1, 1], ["tokens", "embedding", "x"],
                        position=position, dim=dim)]
        for n in range(layers):
            out += [
                dispatch("rmsnorm", [dim // 64, 1, 1], ["x", f"attention-gain-{n}", "normed"],
                         dim=dim),
                matvec(f"wq-{n}", "normed", "q", dim, dim),
                matvec(f"wk-{n}", "normed", "k", dim, dim),
                matvec(f"wv-{n}", "normed", f"values-{n}", dim, dim, at),
                dispatch("rope", [heads, 1, 1], ["q", "q-rotated"], position=position, first=0),
                dispatch("rope", [heads, 1, 1], ["k", f"keys-{n}"], position=position, first=at),
                dispatch("scores", [heads, 1, 1], ["q-rotated", f"keys-{n}", "scores"],
                         position=position, dim=dim, head_dim=head_dim, scale=0.25),
                dispatch("softmax", [heads, 1, 1], ["scores", "weights"], position=position),
                dispatch("attend", [heads, 1, 1], ["weights", f"values-{n}", "attended"],
                         position=position, dim=dim, context=context),
                matvec(f"wo-{n}", "attended", "projected", dim, dim),
                dispatch("residual", [dim // 64, 1, 1], ["x", "projected"]),
                dispatch("rmsnorm", [dim // 64, 1, 1], ["x", f"ffn-gain-{n}", "normed"], dim=dim),
                matvec(f"wgate-{n}", "normed", "gate", hidden, dim),
                matvec(f"wup-{n}", "normed", "up", hidden, dim),
                dispatch("silu_gate", [hidden // 64, 1, 1], ["gate", "up", "activated"]),
                matvec(f"wdown-{n}", "activated", "projected", dim, hidden),
                dispatch("residual", [dim // 64, 1, 1], ["x", "projected"]),
            ]
        out += [
            dispatch("rmsnorm", [dim // 64, 1, 1], ["x", "final-gain", "normed"], dim=dim),
            matvec("unembedding", "normed", "logits", vocab, dim),
            dispatch("argmax", [1, 1, 1], ["logits", "tokens"], position=position, count=vocab),
        ]
        return out

    names = [f"token-{i:02}" for i in range(tokens)]
    return {
        "buffers": buffers, "kernels": kernels,
        "batches": {name: token(first + i) for i, name in enumerate(names)},
        "schedule": [{"batch": name, "times": 1} for _ in range(rounds) for name in names],
        "outputs": ["tokens", "logits", "x", f"keys-{layers - 1}", f"values-{layers - 1}"],
    }


# ---- scan-jobs -------------------------------------------------------------------------------------

LOG_BYTES = 65536
SIGNATURES = ["ERROR", "timeout", "retry", "10.0.0.7", "user=root", "disk full", "GET /admin",
              "status=500", "status=404", "panic", "WARN", "refused", "checksum", "evicted",
              "node-13", "ms]"]


def scan_log():
    """A service's log, made up of fixed phrases picked by a multiplicative generator."""
    levels = ["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"]
    texts = ["GET /index", "GET /admin", "connection refused by peer", "cache entry evicted",
             "disk full on /var", "checksum mismatch", "request done", "retry scheduled",
             "timeout waiting for lock", "session opened user=root", "session opened user=ana",
             "panic recovered", "heartbeat"]
    state = 20240229
    lines, size = [], 0

    def pick(n):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % n

    while size < LOG_BYTES:
        line = (f"{pick(24):02}:{pick(60):02}:{pick(60):02} node-{pick(20):02} "
                f"{levels[pick(len(levels))]} 10.0.0.{pick(12)} {texts[pick(len(texts))]} "
                f"status={[200, 200, 200, 204, 304, 404, 500][pick(7)]} [{pick(900)}ms]\n")
        lines.append(line)
        size += len(line)
    return "".join(lines)[:LOG_BYTES - 1] + "\n"


def scan_signatures():
    """16 bytes each, filled up with newlines."""
    return "".join(s + "\n" * (16 - len(s)) for s in SIGNATURES)


def scan_jobs():
    jobs, row_bytes, mask_bytes = 64, 256, 8192
    kernels = {
        "match": kernel("scan-jobs", "match", [64, 1, 1], ["read", "read", "write"],
                        [("length", "u32")]),
        "tally": kernel("scan-jobs", "tally", [16, 1, 1], ["read", "readwrite"],
                        [("length", "u32")]),
    }
    buffers = {
        "text": buffer("u8", LOG_BYTES, file="scan-jobs/log.txt"),
        "signatures": buffer("u8", 256, file="scan-jobs/signatures.txt"),
        "masks": buffer("u32", jobs * mask_bytes // 4, value=0),
        "results": buffer("u32", jobs * row_bytes // 4, value=0),
    }
    batches = {"reset": [fill("results", 0)]}
    names = []
    for j in range(jobs):
        length = 256 + j * 397 % 1537   # 256 to 1,792; 1 KiB on average
        offset = j * 37 % 248 * 256
        text = range_("text", offset, (length + 3) // 4 * 4)
        masks = range_("masks", j * mask_bytes, mask_bytes)
        names.append(f"job-{j:02}")
        batches[names[-1]] = [
            dispatch("match", [(length + 63) // 64, 1, 1], [text, "signatures", masks],
                     length=length),
            dispatch("tally", [1, 1, 1], [masks, range_("results", j * row_bytes, row_bytes)],
                     length=length),
        ]
    return {"buffers": buffers, "kernels": kernels, "batches": batches,
            "schedule": [{"batch": "reset", "times": 1},
                         {"shuffle": names, "times": 10000, "seed": 7}],
            "outputs": ["results"]}


# ---- fan-out ---------------------------------------------------------------------------------------

def fan_out():
    tracks, samples = 16, 1024
    size = samples * 4
    one_to_one = ["read", "write"]
    kernels = {
        "gain": kernel("fan-out", "gain", [64, 1, 1], one_to_one, [("gain", "i32")]),
        "lowpass": kernel("fan-out", "lowpass", [64, 1, 1], one_to_one),
        "echo": kernel("fan-out", "echo", [64, 1, 1], one_to_one,
                       [("delay", "u32"), ("feedback", "i32")]),
        "limit": kernel("fan-out", "limit", [64, 1, 1], one_to_one, [("threshold", "i32")]),
        "mix_tracks": kernel("fan-out", "mix_tracks", [64, 1, 1], ["read", "readwrite"],
                             [("tracks", "u32"), ("samples", "u32")]),
    }
    buffers = {
        "source": buffer("u32", tracks * samples, random=11),
        "ping": buffer("i32", tracks * samples, value=0),
        "pong": buffer("i32", tracks * samples, value=0),
        "mixed": buffer("u32", samples, value=0),
    }
    groups = [samples // 64, 1, 1]
    block = []
    # Step by step, not track by track: the arms have to be found.
    steps = [("gain", "source", "ping", lambda t: {"gain": 128 + 16 * t}),
             ("lowpass", "ping", "pong", lambda t: {}),
             ("echo", "pong", "ping", lambda t: {"delay": 17 + 23 * t, "feedback": 64 + 8 * t}),
             ("limit", "ping", "pong", lambda t: {"threshold": 8000 + 1000 * t})]
    for name, source, target, constants in steps:
        for t in range(tracks):
            block.append(dispatch(name, groups,
                                  [range_(source, t * size, size), range_(target, t * size, size)],
                                  **constants(t)))
    block.append(dispatch("mix_tracks", groups, ["pong", "mixed"], tracks=tracks, samples=samples))
    return {"buffers": buffers, "kernels": kernels,
            "batches": {"reset": [fill("mixed", 0)], "block": block},
            "schedule": [{"batch": "reset", "times": 1}, {"batch": "block", "times": 2000}],
            "outputs": ["mixed", "pong"]}


# ---- stream-upload ---------------------------------------------------------------------------------

def stream_upload():
    width, height, frames = 256, 256, 8
    extent = [("width", "u32"), ("height", "u32")]
    kernels = {
        "box": kernel("stream-upload", "box", [64, 1, 1], ["read", "write"], extent),
        "sobel": kernel("stream-upload", "sobel", [64, 1, 1], ["read", "write"], extent),
        "fold": kernel("stream-upload", "fold", [64, 1, 1], ["read", "readwrite"]),
    }
    buffers = {"trace": buffer("u32", width * height // 4, value=0)}
    for side in "ab":
        # A batch starts by filtering the last frame of the batch before.
        buffers[f"frame-{side}"] = buffer("u8", width * height, random=100 + frames - 1)
        buffers[f"smooth-{side}"] = buffer("u8", width * height, value=0)
        buffers[f"edges-{side}"] = buffer("u8", width * height, value=0)
    groups = [width * height // 4 // 64, 1, 1]
    batch = []
    for i in range(frames):
        now, before = ("a", "b") if i % 2 == 0 else ("b", "a")
        batch += [
            upload(f"frame-{now}", 100 + i),
            dispatch("box", groups, [f"frame-{before}", f"smooth-{before}"],
                     width=width, height=height),
            dispatch("sobel", groups, [f"smooth-{before}", f"edges-{before}"],
                     width=width, height=height),
            dispatch("fold", groups, [f"edges-{before}", "trace"]),
        ]
    return {"buffers": buffers, "kernels": kernels,
            "batches": {"reset": [fill("trace", 0)], "frames": batch},
            "schedule": [{"batch": "reset", "times": 1}, {"batch": "frames", "times": 50}],
            "outputs": ["trace", "edges-a", "edges-b"]}


# ---- gather-64 -------------------------------------------------------------------------------------

def gather_64():
    shards, shard_words, samples, per_sample, row = 128, 1024, 64, 8, 16
    dispatches = 8
    names = [f"shard-{i:03}" for i in range(shards)]
    tables = {
        "low": names[:64],
        "high": names[:63:-1],      # 127 down to 64
        "even": names[::2],
    }
    kernels = {
        "lookup": kernel("gather-64", "lookup", [64, 1, 1], ["table read", "read", "readwrite"],
                         [("first", "u32")]),
        "update": kernel("gather-64", "update", [64, 1, 1], ["table readwrite"],
                         [("words", "u32"), ("addend", "u32")]),
    }
    buffers = {
        "ids": buffer("u32", dispatches * samples * per_sample, random=21),
        "sums": buffer("u32", dispatches * samples * row, value=0),
    }
    for i, name in enumerate(names):
        buffers[name] = buffer("u32", shard_words, random=1000 + i)
    batches = {"reset": [fill("sums", 0)] + [upload(n, 1000 + i) for i, n in enumerate(names)]}
    part = samples * row * 4
    for key, members in tables.items():
        batches[f"lookup-{key}"] = [
            dispatch("lookup", [samples * row // 64, 1, 1],
                     [{"table": members, "access": "read"}, "ids",
                      range_("sums", d * part, part)], first=d * samples)
            for d in range(dispatches)]
        batches[f"update-{key}"] = [
            dispatch("update", [64, 1, 1], [{"table": members, "access": "readwrite"}],
                     words=shard_words, addend=len(key))]
    schedule = [{"batch": "reset", "times": 1}]
    for key in ["low", "high", "even", "low", "even", "high"]:
        schedule += [{"batch": f"lookup-{key}", "times": 500},
                     {"batch": f"update-{key}", "times": 10}]
    return {"buffers": buffers, "kernels": kernels, "batches": batches, "schedule": schedule,
            "outputs": ["sums", "shard-000", "shard-062", "shard-127"]}


# ---- shape-shift -----------------------------------------------------------------------------------

def shape_shift():
    count, longest = 4096, 384
    lengths = [16, 32, 48, 64, 96, 128, 192, 256, 320, 384]
    kernels = {
        "correlate": kernel("shape-shift", "correlate", [64, 1, 1],
                            ["read", "read", "read", "readwrite"], [("salt", "u32")],
                            [("TILE", 8), ("LENGTH", 64)]),
    }
    buffers = {
        "signal": buffer("u32", count + longest, random=31),
        "taps": buffer("u32", longest, random=32),
        "scales": buffer("u32", longest // 8, random=33),
        "out": buffer("u32", count, value=0),
    }
    batches = {"reset": [fill("out", 0)]}
    for length in lengths:
        tile = 8 if length < 64 else 16
        c = dispatch("correlate", [count // 64, 1, 1], ["signal", "taps", "scales", "out"],
                     salt=length * 7)
        c["specialize"] = {"TILE": tile, "LENGTH": length}
        batches[f"length-{length:03}"] = [c]
    schedule = [{"batch": "reset", "times": 1}]
    for times in [40, 20, 20, 20]:
        schedule += [{"batch": f"length-{length:03}", "times": times} for length in lengths]
    return {"buffers": buffers, "kernels": kernels, "batches": batches, "schedule": schedule,
            "outputs": ["out"]}


# ---- big-kernels -----------------------------------------------------------------------------------

def big_kernels():
    n, width, height = 256, 1024, 1024
    kernels = {
        "matmul": kernel("big-kernels", "matmul", [16, 16, 1], ["read", "read", "write"],
                         [("n", "u32")]),
        "stencil": kernel("big-kernels", "stencil", [64, 4, 1], ["read", "write"],
                          [("width", "u32"), ("height", "u32")]),
    }
    buffers = {
        "a": buffer("u32", n * n, random=41),
        "b": buffer("u32", n * n, random=42),
        "c": buffer("u32", n * n, value=0),
        "grid-0": buffer("u32", width * height, random=43),
        "grid-1": buffer("u32", width * height, value=0),
    }
    tiles = [n // 16, n // 16, 1]
    cells = [width // 64, height // 4, 1]
    step = [
        dispatch("matmul", tiles, ["a", "b", "c"], n=n),
        dispatch("stencil", cells, ["grid-0", "grid-1"], width=width, height=height),
        dispatch("matmul", tiles, ["c", "b", "a"], n=n),
        dispatch("stencil", cells, ["grid-1", "grid-0"], width=width, height=height),
    ]
    return {"buffers": buffers, "kernels": kernels,
            "batches": {"reset": [upload("a", 41), upload("grid-0", 43)], "step": step},
            "schedule": [{"batch": "reset", "times": 1}, {"batch": "step", "times": 20}],
            "outputs": ["a", "c", "grid-0"]}


# ---- Writing ---------------------------------------------------------------------------------------

def text_of(name, workload):
    """JSON with one buffer, kernel, command or step to a line."""
    def flat(value):
        return json.dumps(value, ensure_ascii=True)

    def members(items, indent):
        return ",\n".join(f"{indent}{flat(k)}: {flat(v)}" for k, v in items.items())

    def lines(values, indent):
        return ",\n".join(indent + flat(v) for v in values)

    batches = ",\n".join(f"    {flat(k)}: [\n{lines(v, '      ')}\n    ]"
                         for k, v in workload["batches"].items())
    return (f'{{\n  "vyre": 1,\n  "name": {flat(name)},\n'
            f'  "buffers": {{\n{members(workload["buffers"], "    ")}\n  }},\n'
            f'  "kernels": {{\n{members(workload["kernels"], "    ")}\n  }},\n'
            f'  "batches": {{\n{batches}\n  }},\n'
            f'  "schedule": [\n{lines(workload["schedule"], "    ")}\n  ],\n'
            f'  "outputs": {flat(workload["outputs"])}\n}}\n')


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    files = {"scan-jobs/log.txt": scan_log(), "scan-jobs/signatures.txt": scan_signatures()}
    for name, make in [("decode", decode), ("scan-jobs", scan_jobs), ("fan-out", fan_out),
                       ("stream-upload", stream_upload), ("gather-64", gather_64),
                       ("shape-shift", shape_shift), ("big-kernels", big_kernels)]:
        files[f"{name}.json"] = text_of(name, make())
    stale = False
    for path, text in files.items():
        full = os.path.join(FOLDER, path)
        if check:
            with open(full, encoding="ascii", newline="") as f:
                if f.read() != text:
                    print(f"{path}: not what generate.py writes", file=sys.stderr)
                    stale = True
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="ascii", newline="\n") as f:
            f.write(text)
    sys.exit(1 if stale else 0)


main()
