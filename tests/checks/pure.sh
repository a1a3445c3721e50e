#!/bin/sh
# pure.sh OBJECT...: policies and plans work on what they are given: the objects need nothing that
# allocates, reads a clock, does I/O or keeps state.
#
# They may call the library (except its memory, arena and clock) and the functions of the C library
# listed here, none of which allocates.
set -eu
[ $# -gt 0 ] || { echo "pure: no object was given"; exit 1; }
needed=$(nm -u -A -- "$@")
printf '%s\n' "$needed" | awk '
BEGIN {
    count = split("memcpy memmove memset memcmp strlen bsearch __stack_chk_fail " \
                  "_GLOBAL_OFFSET_TABLE_", words, " ")
    for (i = 1; i <= count; i++)
        allowed[words[i]] = 1
}
NF > 0 {
    name = $NF
    sub(/@.*/, "", name)
    library = name ~ /^vyre_/ && name !~ /^vyre_(memory|allocator|arena|clock)_/
    if (!library && !(name in allowed)) {
        print "pure: " $0
        failures++
    }
}
END { exit failures > 0 }'
