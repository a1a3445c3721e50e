#!/bin/sh
# Builds and runs examples/embed against an installed prefix, as its README says: through pkg-config
# and through CMake. The program compares its images with a plain loop by itself.
# $1 = build dir, $2 = source dir.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
embed=$source_dir/examples/embed

# The summary is there: all images compared, every frame in some mode, a time, what auto decided.
check() {
    "$@" >"$work/said" || fail "$*: exit code $?"
    for text in '^603 frames, 12 images equal ' '^median device time of a frame: [0-9.]* us$' \
        '^verdicts command_reuse plain-launches=[0-9]* record-and-replay=[0-9]*$'; do
        grep -q "$text" "$work/said" || { cat "$work/said"; fail "$*: no \`$text\`"; }
    done
    frames=$(awk '/^modes: plain [0-9]+ replay [0-9]+ persistent [0-9]+$/ { print $3 + $5 + $7 }' "$work/said")
    [ "$frames" = 603 ] || fail "$*: $frames frames in the modes"
}

by_pkg_config "$embed" embed
check env LD_LIBRARY_PATH="$libdir" "$work/embed"
by_cmake "$embed"
check "$work/build/embed"
