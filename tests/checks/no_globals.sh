#!/bin/sh
# no_globals.sh LIBRARY: no object of the static library holds writable data.
#
# Constant tables of pointers sit in .data.rel.ro*, which is read-only once the program is loaded;
# nm's letters are the same for them and for .data, so the sections are looked at.
set -eu
listing=$(nm --format=sysv "$1")
printf '%s\n' "$listing" | awk -F'|' '
/^Symbols from/ { objects++; object = $0; sub(/^Symbols from /, "", object) }
NF >= 7 {
    symbols++
    name = $1; section = $7
    gsub(/ /, "", name); gsub(/ /, "", section)
    writable = section ~ /^\.(data|bss|tdata|tbss|ldata|lbss)(\.|$)/ || section ~ /COM/
    if (writable && section !~ /^\.data\.rel\.ro(\.|$)/) {
        printf "%s %s is writable data (%s)\n", object, name, section
        failures++
    }
}
END {
    if (objects == 0 || symbols == 0) {
        print "no_globals: the library has no symbols"
        exit 1
    }
    exit failures > 0
}'
