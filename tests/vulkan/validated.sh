#!/bin/sh
# validated.sh COMMAND [ARGUMENT]...: runs a command with the Vulkan validation layer, synchronization
# validation included, and fails when the command fails, when the layer says anything, or when it was
# not there. The library reads no environment: the Vulkan loader and the layer do. Layers that are asked
# for already stay, closer to the command.
set -eu

layer=VK_LAYER_KHRONOS_validation
found=
for folder in /usr/share/vulkan /usr/local/share/vulkan /etc/vulkan "${XDG_DATA_HOME:-/nonexistent}/vulkan"; do
    [ -f "$folder/explicit_layer.d/VkLayer_khronos_validation.json" ] && found=$folder
done
if [ -z "$found" ]; then
    echo "validated: $layer is not installed (Debian: vulkan-validationlayers)" >&2
    exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
log=$scratch/messages
# The layer opens its log anew for each VkInstance, which would empty a file: so it writes to a pipe.
# `info` makes it say once for each instance what it checks.
cat >"$scratch/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.log_filename = /proc/self/fd/9
khronos_validation.report_flags = error,warn,perf,info
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.enable_message_limit = true
khronos_validation.duplicate_message_limit = 4
END

VK_LAYER_SETTINGS_PATH=$scratch
VK_INSTANCE_LAYERS=${VK_INSTANCE_LAYERS:+$VK_INSTANCE_LAYERS:}$layer
export VK_LAYER_SETTINGS_PATH VK_INSTANCE_LAYERS
{
    {
        status=0
        "$@" 9>&1 >&8 || status=$?
        echo "$status" >"$scratch/status"
    } | cat >"$log"
} 8>&1
status=$(cat "$scratch/status")
if ! grep -q 'Current Enables:.*SYNCHRONIZATION_VALIDATION' "$log"; then
    echo "validated: the layer was not loaded, or without synchronization: nothing was checked" >&2
    exit 1
fi
if grep -E '\([A-Z]+ / [A-Z]+\): msgNum' "$log" | grep -qv '(INFO / '; then
    echo "validated: the layer has messages:" >&2
    grep -v '(INFO / ' "$log" | head -c 6000 >&2
    exit 1
fi
exit "$status"
