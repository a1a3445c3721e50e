# shellcheck shell=sh
# absent_lib.sh: for tests of a backend whose loader or drivers are missing or broken. Sourced after `backend`
# and `loader`, the file name of the driver's loader, are set, with the test's arguments:
#   $1  the vyre binary
#   $2  the source directory
: "${backend:?}" "${loader:?}"
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$2/tests/cli/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../cli/workload_lib.sh
. "$2/tests/cli/workload_lib.sh"

build_kernels
workload work.json add 1 1

# devices WHAT ASSIGNMENT...: lists the devices with these in the environment; at most 20 seconds.
devices() {
    what=$1
    shift
    run "$what" 0 timeout 120 env "$@" "$vyre" devices --json
    json "$what: the CPU" '.backends[] | select(.name == "cpu") | .present'
}

# absent WHAT ASSIGNMENT...: and the backend is absent, with a reason.
absent() {
    devices "$@"
    json "$1: absent" ".backends[] | select(.name == \"$backend\") | .present == false
        and (.reason | length) > 0 and .devices == []"
    what=$1
    shift
    run "$what, for people" 0 timeout 120 env "$@" "$vyre" devices
    grep -q "^$backend: absent: ." "$scratch/out" || fail "$what: not listed as absent, with why"
    run "$what, asked for" 77 timeout 120 env "$@" "$vyre" run --backend "$backend" \
        "$scratch/work.json"
}

# absent_without_loader: a file that is found first and is no loader. Leaves two of them behind:
# $scratch/text/$loader, which is text, and $scratch/strange/$loader, a library without symbols.
absent_without_loader() {
    mkdir "$scratch/empty" "$scratch/text" "$scratch/strange"
    : >"$scratch/empty/$loader"
    # longer than the header of a library, so that it is read
    printf '%0200d\n' 0 >"$scratch/text/$loader"
    printf 'int vyre_test_nothing;\n' >"$scratch/strange.c"
    ${CC:-cc} -shared -fPIC "$scratch/strange.c" -o "$scratch/strange/$loader" ||
        fail "the library without symbols does not compile"
    absent "an empty loader" LD_LIBRARY_PATH="$scratch/empty"
    absent "a loader that is text" LD_LIBRARY_PATH="$scratch/text"
    absent "a loader without symbols" LD_LIBRARY_PATH="$scratch/strange"
}
