# shellcheck shell=sh
# lib.sh: what the tests of the installed package share. Sourced, with the test's arguments:
#   $1  a build directory
#   $2  the source directory
# It installs the build into an empty prefix and moves that: a package must not remember where it was.
# Then there are
#   $work     a folder that is removed at the end
#   $prefix   where the package is, $libdir its libraries, $pc the folder of vyre.pc
set -eu
test_name=$(basename "$0" .sh)
work=$(mktemp -d "${TMPDIR:-/tmp}/vyre-package.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "$test_name: $*" >&2
    exit 1
}

cmake --install "$1" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix
# Used by the tests that source this file.
# shellcheck disable=SC2034
source_dir=$2
pc=$(dirname "$(find "$prefix" -name vyre.pc)")
# shellcheck disable=SC2034
libdir=$(dirname "$pc")

# by_cmake PROJECT: builds a user's project in $work/build.
by_cmake() {
    if ! { cmake -S "$1" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$work/build"; } >"$work/log" 2>&1; then
        cat "$work/log"
        fail "does not build through CMake"
    fi
}

# by_pkg_config EXAMPLE FILE: builds $work/FILE with the `cc` line of the example's README, so that the
# line cannot go stale.
by_pkg_config() {
    line=$(awk '/^    cc / { on = 1 } on { sub(/^    /, ""); print } on && !/\\$/ { exit }' "$1/README.md")
    case $line in
    *"-o $2 "*) ;;
    *) fail "the README has no line that compiles $2" ;;
    esac
    line=$(printf '%s\n' "$line" | sed "s#-o $2 #-o '$work/$2' #")
    (cd "$1" && PKG_CONFIG_PATH=$pc sh -c "$line") || fail "does not build through pkg-config"
}
