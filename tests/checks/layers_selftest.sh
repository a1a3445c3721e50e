#!/bin/sh
# layers_selftest.sh LAYERS_SH: the check passes a good tree and fails on each kind of bad include.
. "${0%/*}/selftest.sh"
check=$1
tree=$work/tree

# A small good tree.
start() {
    rm -rf "$tree"
    mkdir -p "$tree/include/vyre" "$tree/src/base" "$tree/src/policy" "$tree/src/backend/cpu" "$tree/cli"
    printf '#include <stddef.h>\n#include <vyre/status.h>\n' >"$tree/include/vyre/diag.h"
    printf '#include "base/b.h"\n#include <vyre/diag.h>\n' >"$tree/src/base/b.c"
    printf '#include "base/b.h"\n#include "policy/p.h"\n' >"$tree/src/policy/p.c"
    printf '#include "backend/cpu/c.h"\n# include "policy/p.h"\n' >"$tree/src/backend/cpu/c.c"
    printf '/* none */\n' >"$tree/cli/csv.h"
    printf '#include "csv.h"\n#include <vyre/vyre.h>\n' >"$tree/cli/main.c"
}

# refuse FILE LINE: the good tree with one more line is refused.
refuse() {
    start
    printf '%s\n' "$2" >>"$tree/$1"
    expect fail "$1: $2" sh "$check" "$tree"
}

start
expect pass "the good tree" sh "$check" "$tree"
refuse src/base/b.c '#include "policy/p.h"'
refuse src/policy/p.c '#include "backend/cpu/c.h"'
refuse src/policy/p.c '#  include	"runtime/device.h"'
refuse src/policy/p.c '#include "p.h"'
refuse src/policy/p.c '#include "../base/b.h"'
refuse src/policy/p.c '#include "base/b.c"'
refuse src/policy/p.c '#include <base/b.h>'
refuse src/policy/p.c '#include "vyre/diag.h"'
refuse src/policy/p.c '#include "csv.h"'
refuse src/policy/p.c '#include HEADER'
refuse include/vyre/diag.h '#include "base/b.h"'
refuse include/vyre/diag.h '#include <base/b.h>'
refuse include/vyre/diag.h '#include "status.h"'
refuse cli/main.c '#include "base/b.h"'
refuse cli/main.c '#include <policy/p.h>'
refuse cli/main.c '#include "missing.h"'
refuse cli/main.c '#include "../src/base/b.h"'
refuse src/stray.c '/* in no layer */'
start
mkdir "$tree/src/other"
echo '/* in an unknown layer */' >"$tree/src/other/o.c"
expect fail "an unknown layer" sh "$check" "$tree"
rm -rf "${tree:?}"/*
expect fail "an empty tree" sh "$check" "$tree"
finish
