# shellcheck shell=sh
# workload_lib.sh: what the tests of run, compare and Ctrl-C share beside lib.sh.

# shellcheck disable=SC2154  # from lib.sh
data=$source_dir/tests/cli/data

if ! command -v jq >/dev/null 2>&1; then
    fail "jq is not installed: JSON was not checked"
    finish
fi

# json WHAT FILTER: the filter holds for the one document in the output.
json() {
    [ "$(jq -s length <"$scratch/out")" = 1 ] || fail "$1: not one JSON document"
    jq -e "$2" <"$scratch/out" >"$scratch/filtered" || fail "$1: not so: $2"
}

# wrong EXIT_CODE ID TEXT ARGUMENT...: a diagnostic with the id and the text, and no output.
wrong() {
    wrong_code=$1 id=$2 text=$3
    shift 3
    run "vyre $*" "$wrong_code" "$vyre" "$@"
    expect_out "vyre $*" ''
    grep -q -F "error[$id]: " "$scratch/err" || fail "vyre $*: no $id: $(head -n 1 "$scratch/err")"
    grep -q -e "$text" "$scratch/err" || fail "vyre $*: no \`$text\`: $(cat "$scratch/err")"
    grep -q '^  fix: .' "$scratch/err" || fail "vyre $*: no fix"
}

# signal_at CALLS OPTION... COMMAND...: a signal at that call of a kernel of build_kernels; see interrupt_at.py for the
# options. The exit code is in $code.
signal_at() {
    rm -f "$scratch/began"
    VYRE_TEST_BEGAN=$scratch/began VYRE_TEST_CALLS=$1
    export VYRE_TEST_BEGAN VYRE_TEST_CALLS
    shift
    signal_options=
    while [ "${1#--}" != "$1" ]; do
        signal_options="$signal_options $1"
        shift
    done
    # shellcheck disable=SC2086 # words
    python3 "$source_dir/tests/cli/interrupt_at.py" $signal_options "$scratch/began" "$@" \
        >"$scratch/out" 2>"$scratch/err"
    code=$?
}

# interrupted WHAT CALLS OPTION... COMMAND...: SIGINT at that call ends the command with exit code 130.
interrupted() {
    what=$1
    shift
    signal_at "$@"
    [ "$code" -eq 130 ] || {
        fail "$what: exit code $code, not 130"
        head -n 5 "$scratch/err" >&2
    }
}

# The host kernels of the tests, as a shared object beside the workloads made here.
build_kernels() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -I"$source_dir/include" \
        "$data/kernels.c" -o "$scratch/kernels.so" || fail "the kernels do not compile"
}

# workload FILE KERNEL CONSTANT TIMES: one dispatch of 64 groups, or of one where slow is run.
workload() {
    groups=64
    [ "$2" = add ] || groups=1
    cat >"$scratch/$1" <<END
{"vyre": 1, "name": "$2",
 "buffers": {"x": {"type": "u32", "count": 64, "init": {"random": 5}}},
 "kernels": {"k": {"host": {"library": "kernels.so", "symbol": "$2"}, "local_size": [1, 1, 1],
   "bindings": [{"slot": 0, "access": "readwrite"}],
   "constants": [{"name": "c", "type": "u32"}]}},
 "batches": {"step": [{"dispatch": "k", "groups": [$groups, 1, 1], "bind": {"0": "x"},
   "constants": {"c": $3}}]},
 "schedule": [{"batch": "step", "times": $4}],
 "outputs": ["x"]}
END
}
