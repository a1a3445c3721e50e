#version 450
// pattern.comp: tiles of 4 by 4 words in an image of the grid's size, one image per z.
layout(local_size_x = 4, local_size_y = 4) in;

layout(std430, set = 0, binding = 0) writeonly buffer Images { uint images[]; };
layout(push_constant) uniform Constants {
    uint colour;
    uvec2 salt; // 64 bits, the low word first
};

void main()
{
    uint row = gl_GlobalInvocationID.y;
    uint column = gl_GlobalInvocationID.x;
    uint width = gl_NumWorkGroups.x * 4;
    uint height = gl_NumWorkGroups.y * 4;
    // row * 2654435761 + column in 64 bits
    uint low, high, carry;
    umulExtended(row, 2654435761u, high, low);
    low = uaddCarry(low, column, carry);
    high += carry;
    uvec2 value = uvec2(low, high) ^ salt;
    images[width * height * gl_WorkGroupID.z + row * width + column] =
        (value.x >> 7 | value.y << 25) + colour;
}
