#!/bin/sh
# validated.sh COMMAND [ARGUMENT]...: runs a command with the Vulkan validation layer, synchronization
# validation included, and fails when the command fails, when the layer says anything, or when it was
# not there. The library reads no environment: the Vulkan loader and the layer do.
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
cat >"$scratch/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.log_filename = $log
khronos_validation.report_flags = error,warn,perf
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.enable_message_limit = true
khronos_validation.duplicate_message_limit = 4
END

status=0
VK_LAYER_SETTINGS_PATH=$scratch VK_INSTANCE_LAYERS=$layer "$@" || status=$?
if [ ! -f "$log" ]; then
    echo "validated: the layer was not loaded: nothing was checked" >&2
    exit 1
fi
if [ -s "$log" ]; then
    echo "validated: the layer has messages:" >&2
    head -c 6000 "$log" >&2
    exit 1
fi
exit "$status"
