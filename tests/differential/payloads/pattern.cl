// CL1.2
// pattern.cl: tiles of 4 by 4 words in an image of the grid's size, one image per z.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void pattern(__global uint *images, uint colour, long salt)
{
    ulong row = get_global_id(1);
    ulong column = get_global_id(0);
    ulong width = get_global_size(0);
    ulong height = get_global_size(1);
    ulong value = (row * 2654435761u + column) ^ as_ulong(salt);
    images[width * height * get_global_id(2) + row * width + column] = (uint)(value >> 7) + colour;
}
