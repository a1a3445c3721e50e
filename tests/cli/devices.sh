#!/bin/sh
# devices.sh: vyre devices, the help of the commands that use devices, and colour.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"

# ---- for people
run "devices" 0 "$vyre" devices
for text in '^cpu$' '^  device 0: ' 'kind cpu, driver ' '^    ability  *value' \
    '^    host-visible  *1$' '^    bindless  *[0-9,]*$' '^    limit  *value$' '^    memory  .*iB$' \
    '^    costs: not calibrated; ' '^vulkan' '^opencl'; do
    grep -q -e "$text" "$scratch/out" || fail "devices: no \`$text\`"
done
[ -s "$scratch/err" ] && fail "devices: standard error is not empty"

# ---- JSON
run "JSON" 0 "$vyre" devices --json
json "backends" '[.backends[].name] | contains(["cpu", "vulkan", "opencl"])'
json "presence" 'all(.backends[]; if .present then .reason == null and (.devices | length) > 0
    else (.reason | length) > 0 and .devices == [] end)'
json "the CPU" '.backends[] | select(.name == "cpu") | .present and (.devices[0] | .index == 0
    and .kind == "cpu" and (.name | length) > 0 and (.driver | length) > 0 and .failure == null)'
json "abilities" 'all(.backends[].devices[].abilities; (keys | sort) == ["arms", "bindless",
    "copy-overlap", "host-visible", "persistent", "replay", "specialize", "timestamps"])
    and all(.backends[].devices[].abilities[]; (.value > 0) == (.reason == null))'
json "what the store knows" 'all(.backends[].devices[]; has("uuid") and has("features")
    and has("memory") and .calibration == null)
    and all(.backends[].devices[].features[]; (.value == null) != (.reason == null))'
json "limits" 'all(.backends[].devices[].limits; .buffer_size_bytes > 0 and .memory_bytes > 0
    and .range_alignment > 0 and (.group_count | length) == 3 and .constants_bytes == 128)'

# ---- wrong command lines
wrong 2 cli-usage 'vyre devices --help' devices cpu
wrong 2 cli-unknown-option 'mean .--json.?' devices --jso
wrong 2 cli-unknown-option 'devices has no option' devices --backend cpu

# ---- help: every command is listed, and every option of its help has its completion and its page
"$vyre" --help >"$scratch/help"
for command in run compare devices probe; do
    grep -q "^  $command " "$scratch/help" || fail "--help: no $command"
    run "$command --help" 0 "$vyre" $command --help
    cp "$scratch/out" "$scratch/command_help"
    run "help $command" 0 "$vyre" help $command
    cmp -s "$scratch/out" "$scratch/command_help" || fail "help $command: not what --help says"
    grep -q "^Usage: vyre $command" "$scratch/out" || fail "$command --help: no usage"
    grep -q '^Examples:' "$scratch/out" || fail "$command --help: no examples"
    # shellcheck disable=SC2013
    for option in $(grep -o -e '--[a-z]*' "$scratch/out" | sort -u); do
        grep -q -e "$option" "$source_dir/completions/vyre.bash" || fail "no completion of $option"
        grep -q -e "Fl Fl ${option#--}" "$source_dir/docs/man/vyre-$command.1" ||
            fail "vyre-$command.1: no $option"
    done
done

# ---- completion, as bash calls it
if command -v bash >/dev/null 2>&1; then
    completed() {
        bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vyre; echo "${COMPREPLY[*]}"' \
            bash "$source_dir/completions/vyre.bash" "$@"
    }
    [ "$(completed vyre com)" = compare ] || fail "completion of com"
    [ "$(completed vyre run x.json --mode re)" = replay ] || fail "completion of --mode re"
    [ "$(completed vyre run x.json --mode = pl)" = plain ] || fail "completion of --mode=pl"
    [ "$(completed vyre run x.json --device int)" = integrated ] || fail "completion of --device int"
    [ "$(completed vyre probe --no)" = --no-store ] || fail "completion of --no"
    [ "$(completed vyre compare --rep)" = --repeat ] || fail "completion of --rep"
    [ "$(completed vyre compare --mo)" = "" ] || fail "compare has no --mode"
    [ "$(completed vyre decide bind)" = bindless ] || fail "completion of bind"
    case $(cd "$data" && completed vyre run tr) in
    *transfers.json*) ;;
    *) fail "completion of a file" ;;
    esac
else
    fail "bash is not installed: completion was not checked"
fi

# ---- man pages
if command -v groff >/dev/null 2>&1; then
    for page in run compare devices probe; do
        groff -ww -mdoc -Tutf8 -z "$source_dir/docs/man/vyre-$page.1" >"$scratch/groff" 2>&1
        [ -s "$scratch/groff" ] && fail "vyre-$page.1: $(head -n 1 "$scratch/groff")"
    done
fi

# ---- colour: on a terminal, but never with NO_COLOR
if command -v script >/dev/null 2>&1; then
    escape=$(printf '\033')
    on_terminal() {
        TERM=$1 NO_COLOR=$2 script -qec "'$vyre' devices" /dev/null </dev/null >"$scratch/out"
        grep -q '^cpu\|mcpu' "$scratch/out" || fail "no output on a terminal"
        grep -q "$escape" "$scratch/out"
    }
    on_terminal xterm '' || fail "no colour on a terminal"
    on_terminal xterm 1 && fail "colour in spite of NO_COLOR"
    on_terminal dumb '' && fail "colour on a dumb terminal"
fi
finish
