/*
 * no_openmp.c: stands in when the compiler has no OpenMP.
 */
#include "../launch.h"

static void open_absent(const char *name, struct launch_contender *out_contender)
{
    out_contender->name = name;
    snprintf(out_contender->absent, LAUNCH_ABSENT_BYTES, "built without OpenMP");
}

void launch_open_openmp(struct launch_contender *out_contender)
{
    open_absent("OpenMP", out_contender);
}

void launch_open_openmp_if(struct launch_contender *out_contender)
{
    open_absent("OpenMP if(groups>=256)", out_contender);
}

void launch_open_openmp_active(struct launch_contender *out_contender)
{
    open_absent("OpenMP active", out_contender);
}

int launch_openmp_child(void)
{
    return 1;
}
