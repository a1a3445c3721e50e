#!/bin/sh
# absent.sh TOOL: the tool lists the Vulkan backend as absent, with the reason, when there is no
# driver and when the driver is broken.
set -eu
tool=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo 'not a library' >"$scratch/broken.so"
cat >"$scratch/broken.json" <<END
{"file_format_version": "1.0.0", "ICD": {"library_path": "$scratch/broken.so", "api_version": "1.2.0"}}
END
echo '{"file_format_version"' >"$scratch/cut.json"
for icd in "$scratch/nowhere.json" "$scratch/broken.json" "$scratch/cut.json"; do
    VK_ICD_FILENAMES=$icd "$tool" devices >"$scratch/out" 2>/dev/null
    grep -q '^vulkan: absent: vkCreateInstance returned VK_ERROR' "$scratch/out" || {
        echo "absent: with $icd the tool says:" >&2
        cat "$scratch/out" >&2
        exit 1
    }
done
