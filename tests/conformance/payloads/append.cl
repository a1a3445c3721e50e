// CL1.2
// append.cl: log[++log[0]] = value, unless the log is full. One group of one.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void append(__global uint *log, uint value, uint words)
{
    uint used = log[0] + 1;
    if (used < words) {
        log[0] = used;
        log[used] = value;
    }
}
