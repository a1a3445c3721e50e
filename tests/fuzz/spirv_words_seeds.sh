#!/bin/sh
# Writes the seeds of spirv_words_fuzz into the directory given (corpus/spirv_words): small kernels,
# compiled by glslangValidator, for old and new versions of SPIR-V, and a few broken files.
set -eu
mkdir -p "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seed NAME TARGET: the GLSL on standard input.
seed() {
    { echo "#version 450"; cat; } >"$work/kernel.comp"
    glslangValidator -V --target-env "$2" -o "$1" "$work/kernel.comp" >/dev/null
}
cd "$1"
for target in vulkan1.0 vulkan1.1 vulkan1.2; do
    seed "bindings-$target" "$target" <<'GLSL'
layout(local_size_x = 8) in;
layout(set = 0, binding = 3) readonly buffer A { uint v[]; } a;
layout(set = 0, binding = 1) writeonly buffer B { uint v[]; } b;
layout(set = 0, binding = 2) uniform C { uint v; } c;
void main() { b.v[0] = a.v[0] + c.v; }
GLSL
done
seed constants vulkan1.2 <<'GLSL'
layout(local_size_x_id = 4, local_size_y = 2) in;
layout(constant_id = 1) const double d = 1.5;
layout(constant_id = 2) const bool t = true;
struct S { vec2 a; mat2 m; };
layout(push_constant) uniform P { uint n; float f[2]; S s; } p;
layout(set = 0, binding = 0) buffer B { float v[]; } b;
void main() { if (t) b.v[p.n] = p.f[0] * p.s.m[0].x + float(d); }
GLSL
seed addresses vulkan1.2 <<'GLSL'
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference) buffer R { uint v[]; };
layout(push_constant) uniform P { R r; uint n; } p;
void main() { p.r.v[p.n] = 1; }
GLSL
seed image vulkan1.0 <<'GLSL'
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D i;
void main() { imageStore(i, ivec2(0), uvec4(1)); }
GLSL
seed set-1 vulkan1.2 <<'GLSL'
layout(local_size_x = 1) in;
layout(set = 1, binding = 0) buffer B { uint v; } b;
void main() { b.v = 1; }
GLSL
head -c 20 constants >header-only
head -c 403 constants >odd-size
head -c 400 constants >cut
printf '\007\043\002\003\000\001\005\000' >swapped
printf '#version 450' >text
: >empty
