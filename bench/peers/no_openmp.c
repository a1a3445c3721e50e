/*
 * no_openmp.c: stands in when the compiler has no OpenMP.
 */
#include "../launch.h"

static void open_absent(const char *name, struct launches_row *out_row)
{
    out_row->name = name;
    snprintf(out_row->absent, BENCH_ABSENT_BYTES, "built without OpenMP");
}

void launch_open_openmp(struct launches_row *out_row)
{
    open_absent("OpenMP", out_row);
}

void launch_open_openmp_if(struct launches_row *out_row)
{
    open_absent("OpenMP if(groups>=256)", out_row);
}

void launch_open_openmp_active(struct launches_row *out_row)
{
    open_absent("OpenMP active", out_row);
}

int launch_openmp_child(void)
{
    return 1;
}
