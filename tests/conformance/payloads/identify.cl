// CL1.2
// identify.cl: counts the visits of every group; writes its id and the number of groups.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void identify(__global uint *visits, __global uint *ids)
{
    uint groups = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
    uint at = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) +
              get_group_id(0);
    if (at >= groups)
        return; // no such group: its visit is missing elsewhere
    visits[at] += 1;
    for (uint i = 0; i < 3; i++) {
        ids[6 * at + i] = get_group_id(i);
        ids[6 * at + 3 + i] = get_num_groups(i);
    }
}
