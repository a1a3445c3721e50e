#!/bin/sh
# Checks the model of the CPU ring with spin, and that the checker finds two protocols that are
# wrong on purpose. $1 = source dir.
set -eu
model=$1/tests/model/ring.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check EXPECTED_ERRORS FLAGS...: builds the verifier and compares the number of errors.
check() {
    expected=$1
    shift
    spin "$@" -a "$model" >spin.log 2>&1 || { cat spin.log; echo "model: spin failed: $*"; exit 1; }
    # Optimising the verifier takes longer than it saves. States take 640 MB without -DCOLLAPSE, which costs time.
    cc -O0 -DSAFETY -DMEMLIM=3000 -o pan pan.c >cc.log 2>&1 || { cat cc.log; exit 1; }
    ./pan -m200000 >pan.log 2>&1 || true
    if grep -q 'max search depth too small\|out of memory\|reached -DMEMLIM' pan.log; then
        echo "model: the search was not complete: $*"
        exit 1
    fi
    errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
    echo "model: $* -> $errors errors, $states states"
    [ "$errors" = "$expected" ] || { cat pan.log; exit 1; }
}

check 0 -DWORKERS=1 -DJOBS=3 -DSLOTS=2
check 0 -DWORKERS=1 -DJOBS=3 -DSLOTS=2 -DLOSS
check 0 -DWORKERS=2 -DJOBS=2 -DSLOTS=1
check 0 -DWORKERS=2 -DJOBS=2 -DSLOTS=1 -DLOSS
check 1 -DWORKERS=2 -DJOBS=2 -DSLOTS=1 -DBREAK_SLEEP
check 1 -DWORKERS=2 -DJOBS=3 -DSLOTS=1 -DBREAK_TAKE
