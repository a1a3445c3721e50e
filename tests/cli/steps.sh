#!/bin/sh
# steps.sh: examples/steps gives the bytes of a plain loop, on OpenCL and on Vulkan, in every mode there.
#   $1  the vyre binary
#   $2  the source directory
#
# The factors are powers of two, so that no device may round in another way: digests are compared.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"

cat >"$scratch/smooth.c" <<'END'
#include <vyre/kernel.h>

void smooth(const struct vyre_host_group *group)
{
    const float *from = group->buffers[0].data;
    float *to = group->buffers[1].data;
    for (int i = 0; i < 64; i++)
        to[i] = 0.25f * from[(i + 63) % 64] + 0.5f * from[i] + 0.25f * from[(i + 1) % 64];
}
END
${CC:-cc} -std=c11 -O1 -shared -fPIC -I"$source_dir/include" "$scratch/smooth.c" -o "$scratch/smooth.so" ||
    fail "the plain loop does not compile"
cp "$source_dir"/examples/steps/steps.* "$scratch"
# Three frames: after thousands all cells are equal.
jq '.schedule[0].times = 3 | .kernels.smooth.host = {"library": "smooth.so", "symbol": "smooth"}' \
    "$source_dir/examples/steps/steps.json" >"$scratch/three.json"

# digests BACKEND MODE: of the outputs, in $found.
digests() {
    run "$1, $2" 0 "$vyre" run --json --quiet --backend "$1" --mode "$2" "$scratch/three.json"
    json "$1, $2" '.batches == 3 and (.digests.a | length) == 32'
    found=$(jq -c .digests "$scratch/out")
}

digests cpu plain
plain_loop=$found
for way in opencl/plain opencl/replay opencl/persistent opencl/auto vulkan/plain vulkan/replay vulkan/auto; do
    digests "${way%/*}" "${way#*/}"
    [ "$found" = "$plain_loop" ] || fail "$way: $found, not $plain_loop"
done
finish
