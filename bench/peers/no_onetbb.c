/*
 * no_onetbb.c: stands in when oneTBB or a C++ compiler is missing.
 */
#include "../launch.h"

void launch_open_onetbb(struct launches_row *out_row)
{
    out_row->name = "oneTBB";
    snprintf(out_row->absent, BENCH_ABSENT_BYTES, "built without oneTBB");
}

void launch_stream_open_onetbb(struct launch_streamer *out_streamer)
{
    out_streamer->name = "oneTBB task_group";
    snprintf(out_streamer->absent, BENCH_ABSENT_BYTES, "built without oneTBB");
}
