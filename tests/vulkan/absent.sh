#!/bin/sh
# absent.sh: without a Vulkan loader, without a driver or with a broken one, the tool lists the Vulkan
# backend as absent with a reason, and does not crash.
#   $1  the vyre binary
#   $2  the source directory
#   $3  the folder with the broken drivers
set -u
broken=${3:?usage: absent.sh VYRE SOURCE_DIR BROKEN_ICDS}
set -- "$1" "$2"
# Used by the library.
# shellcheck disable=SC2034
backend=vulkan loader=libvulkan.so.1
# shellcheck source-path=SCRIPTDIR source=../support/absent_lib.sh
. "$2/tests/support/absent_lib.sh"

# ---- as it is: what follows is due to what is taken away
run "as it is" 0 timeout 120 "$vyre" devices --json
json "as it is: there" '.backends[] | select(.name == "vulkan") | .present'

absent_without_loader

# ---- no driver, and drivers of no use
absent "drivers nowhere" VK_ICD_FILENAMES=/nonexistent
for kind in missing text hollow refuses fails empty lists_nothing malformed; do
    [ -f "$broken/$kind.json" ] || fail "$broken/$kind.json is not there"
    absent "the driver \`$kind\`" VK_ICD_FILENAMES="$broken/$kind.json"
done

# ---- a layer that is asked for and is not there: the device, or the reason
run "no such layer" 0 timeout 120 env VK_INSTANCE_LAYERS=VK_LAYER_VYRE_none \
    "$vyre" devices --json
json "no such layer" '.backends[] | select(.name == "vulkan")
    | if .present then (.devices | length) > 0 else (.reason | length) > 0 end'
finish
