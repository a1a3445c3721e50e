#!/bin/sh
# demo.sh TOOL SOURCE_DIR: without a driver for OpenCL and Vulkan, what `make run` shows is the CPU, with the reason why
# the others are left out. docs/commands runs it with drivers.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/none"
env HOME="$work" XDG_CACHE_HOME="$work" OCL_ICD_VENDORS="$work/none" VK_ICD_FILENAMES="$work/none/none.json" \
    VK_DRIVER_FILES="$work/none/none.json" "$2/scripts/demo" "$1" >"$work/out" 2>&1 || {
    cat "$work/out"
    echo "demo: fails without drivers"
    exit 1
}
for text in "^decode on cpu 0" "^all digests agree" "error\[backend-absent\].*in opencl" \
    "error\[backend-absent\].*in vulkan" "^Next: "; do
    grep -q "$text" "$work/out" || {
        cat "$work/out"
        echo "demo: does not print: $text"
        exit 1
    }
done
