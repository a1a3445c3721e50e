#!/bin/sh
# Minimises the corpora: of all inputs that libFuzzer found, as few are kept as reach what all of them reach.
#
#   tests/fuzz/minimise.sh BIN_DIR [TARGET]...        BIN_DIR: build/fuzz/bin
#
# Inputs with names of their own always stay. Kept are, as found-<hash>, those of corpus/<target>/found-* and
# of build/fuzz/found/<target> that reach something beyond them. README.md says more.
set -eu
bin=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -eq 0 ]; then
    set -- "$here"/corpus/*
fi
for name in "$@"; do
    name=${name##*/}
    corpus=$here/corpus/$name
    mkdir "$work/$name" "$work/$name.found"
    if [ "$name" = workload ]; then # scripts/run-fuzzers and CMakeLists.txt take them, too
        cp -R "$here/../workloads/broken" "$here/../workloads/valid" "$work/$name"
    fi
    for input in "$corpus"/*; do
        case ${input##*/} in
        found-*) cp "$input" "$work/$name.found" ;;
        *) cp "$input" "$work/$name" ;;
        esac
    done
    for input in "$here/../../build/fuzz/found/$name"/*; do
        case ${input##*/} in
        crash-* | '*') ;;
        *) cp "$input" "$work/$name.found" ;;
        esac
    done
    find "$work/$name" -type f | sort >"$work/named"
    "$bin/${name}_fuzz" -set_cover_merge=1 "$work/$name" "$work/$name.found" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    rm -f "$corpus"/found-*
    find "$work/$name" -type f | sort | comm -13 "$work/named" - | while read -r input; do
        cp "$input" "$corpus/found-$(basename "$input" | cut -c 1-8)"
    done
    printf '%s: %s inputs, ' "$name" "$(find "$corpus" -type f | wc -l)"
    grep 'new features added' "$work/log" | tail -n 1
done
