#!/usr/bin/env python3
"""Writes the seeds of binding_plan_fuzz into the directory given (corpus/binding_plan)."""
import pathlib
import sys

ROLES = {"N": 0, "I": 1, "O": 2, "B": 3, "U": 4, "S": 5, "P": 6, "?": 15}
ACCESS = {"default": 0, "read": 1, "write": 2, "readwrite": 3, "bad": 4}
HALF_UP, MAX = 209, 211  # SIZE_MAX / 2 + 1 and SIZE_MAX in the target's table of edges


def decl(slot, role, access="default", size=0, count=0, label=False, off=0, huge=False):
    wide = slot > 255
    flags = int(wide) | label << 1 | (off > 0) << 2 | (off < 0) << 3 | huge << 4
    kinds = ACCESS[access] << 4 | ROLES[role]
    return bytes([flags]) + slot.to_bytes(4 if wide else 1, "big") + bytes([kinds, size, count])


def plan(*decls, shortage=0):
    return bytes([shortage]) + b"".join(decls)


seeds = {
    "empty": b"",
    "no-bindings": plan(),
    "memory-byte-only": b"\xff",
    "header-example": plan(decl(7, "O"), decl(2, "I"), decl(5, "B")),
    "every-role": plan(*(decl(9 - i, r, size=4, count=10) for i, r in enumerate("IOBUSP"))),
    "every-role-open": plan(*(decl(i, r, size=4) for i, r in enumerate("IOBUSP"))),
    "sparse-slots": plan(decl(0xFFFFFFFF, "I"), decl(0, "O"), decl(0x80000000, "B"), decl(65536, "U")),
    "labels": plan(decl(1, "I", label=True), decl(0, "O", label=True)),
    "accesses": plan(decl(0, "O", "readwrite"), decl(1, "P", "read"), decl(2, "P", "write"),
                     decl(3, "I", "read"), decl(4, "B", "readwrite"), decl(5, "S", "readwrite")),
    "access-contradicts": plan(decl(0, "I", "write")),
    "access-output-read": plan(decl(0, "I"), decl(1, "O", "read", label=True)),
    "access-outside": plan(decl(0, "P", "bad")),
    "role-none": plan(decl(0, "I"), decl(1, "N")),
    "role-unknown": plan(decl(0, "?")),
    "duplicate-neighbours": plan(decl(3, "I"), decl(3, "O")),
    "duplicate-far": plan(decl(3, "I"), decl(1, "O"), decl(2, "U"), decl(300, "P"), decl(3, "B")),
    "memory-short": plan(decl(0, "I"), decl(1, "O"), decl(2, "B"), shortage=1),
    "size-overflow": plan(decl(0, "I", size=2, count=HALF_UP)),
    "size-maximum": plan(decl(0, "I", size=1, count=MAX)),
    "account-overflow": plan(decl(0, "I", size=1, count=MAX), decl(1, "P", size=1, count=1)),
    "account-overflow-shared": plan(decl(0, "S", size=MAX, count=1), decl(1, "S", size=1, count=1)),
    "account-overflow-open": plan(decl(0, "I", huge=True), decl(1, "U", huge=True)),
    "length-long": plan(decl(0, "I", size=4, count=10, off=1)),
    "length-short": plan(decl(0, "I", size=4, count=10, off=-1)),
    "length-part-of-an-element": plan(decl(0, "B", size=8, off=1)),
    "length-zero": plan(decl(0, "I", size=1, off=-1)),
    "cut-declaration": plan(decl(0, "I"), decl(256, "O"))[:-3],
    "only-shared": plan(*(decl(i, "S", size=16, count=8) for i in range(5))),
    "descending-200": plan(*(decl(199 - i, "IOBUSP"[i % 6], size=i % 9, count=i) for i in range(200))),
    "scattered-700": plan(*(decl(i * 2654435761 % 2**32, "IOBUSP"[i % 6], count=i % 200)
                            for i in range(700))),
}

directory = pathlib.Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
for name, data in seeds.items():
    (directory / name).write_bytes(data)
print(f"{len(seeds)} seeds")
