#version 450
// identify.comp: counts the visits of every group; writes its id and the number of groups.
layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Visits { uint visits[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Ids { uint ids[]; };

void main()
{
    uvec3 id = gl_WorkGroupID;
    uvec3 count = gl_NumWorkGroups;
    uint at = (id.z * count.y + id.y) * count.x + id.x;
    if (at >= visits.length())
        return; // no such group: its visit is missing elsewhere
    visits[at] += 1u;
    for (uint i = 0; i < 3; i++) {
        ids[6 * at + i] = id[i];
        ids[6 * at + 3 + i] = count[i];
    }
}
