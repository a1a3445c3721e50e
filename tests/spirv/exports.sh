#!/bin/sh
# exports.sh MODULE LIBRARY: the module exports its table alone, has a SONAME and does not need
# libvyre; the library does not need C++.
set -eu
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | grep -v '^__\(asan\|ubsan\|odr_asan\)' || true)
if [ "$exported" != vyre_spirv_tools_table ]; then
    echo "exports: the module exports: $exported"
    exit 1
fi
if ! readelf -d "$1" | grep -q 'SONAME.*\[libvyre-spirv-tools\.so\.[0-9]*\]'; then
    echo "exports: the module has no SONAME"
    exit 1
fi
if readelf -d "$1" | grep 'NEEDED.*libvyre'; then
    echo "exports: the module needs libvyre"
    exit 1
fi
if readelf -d "$2" | grep -E 'NEEDED.*(stdc|shaderc|spirv)'; then
    echo "exports: the library needs C++"
    exit 1
fi
