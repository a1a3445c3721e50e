#!/bin/sh
# absent.sh: without a Vulkan loader, without a driver or with a broken one, the tool lists the Vulkan
# backend as absent with a reason, and does not crash.
#   $1  the vyre binary
#   $2  the source directory
#   $3  the folder with the broken drivers
set -u
broken=${3:?usage: absent.sh VYRE SOURCE_DIR BROKEN_ICDS}
set -- "$1" "$2"
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$2/tests/cli/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../cli/workload_lib.sh
. "$2/tests/cli/workload_lib.sh"

# absent WHAT ASSIGNMENT...: with these in the environment Vulkan is absent, with a reason.
absent() {
    what=$1
    shift
    run "$what" 0 timeout 20 env "$@" "$vyre" devices --json
    json "$what: the CPU" '.backends[] | select(.name == "cpu") | .present'
    json "$what: absent" '.backends[] | select(.name == "vulkan") | .present == false
        and (.reason | length) > 0 and .devices == []'
    run "$what, for people" 0 timeout 20 env "$@" "$vyre" devices
    grep -q '^vulkan: absent: .' "$scratch/out" || fail "$what: not listed as absent, with why"
    run "$what, asked for" 77 timeout 20 env "$@" "$vyre" run --backend vulkan \
        "$scratch/work.json"
}

build_kernels
workload work.json add 1 1

# ---- as it is: what follows is due to what is taken away
run "as it is" 0 timeout 20 "$vyre" devices --json
json "as it is: there" '.backends[] | select(.name == "vulkan") | .present'

# ---- no loader: a file that is found first and is no library
mkdir "$scratch/empty" "$scratch/text" "$scratch/strange"
: >"$scratch/empty/libvulkan.so.1"
# longer than the header of a library, so that it is read
printf '%0200d\n' 0 >"$scratch/text/libvulkan.so.1"
printf 'int vyre_test_nothing;\n' >"$scratch/strange.c"
${CC:-cc} -shared -fPIC "$scratch/strange.c" -o "$scratch/strange/libvulkan.so.1" ||
    fail "the library without symbols does not compile"
absent "an empty loader" LD_LIBRARY_PATH="$scratch/empty"
absent "a loader that is text" LD_LIBRARY_PATH="$scratch/text"
absent "a loader without symbols" LD_LIBRARY_PATH="$scratch/strange"

# ---- no driver, and drivers of no use
absent "drivers nowhere" VK_ICD_FILENAMES=/nonexistent
for kind in missing text hollow refuses fails empty lists_nothing malformed; do
    [ -f "$broken/$kind.json" ] || fail "$broken/$kind.json is not there"
    absent "the driver \`$kind\`" VK_ICD_FILENAMES="$broken/$kind.json"
done

# ---- a layer that is asked for and is not there: the device, or the reason
run "no such layer" 0 timeout 20 env VK_INSTANCE_LAYERS=VK_LAYER_VYRE_none \
    "$vyre" devices --json
json "no such layer" '.backends[] | select(.name == "vulkan")
    | if .present then (.devices | length) > 0 else (.reason | length) > 0 end'
finish
