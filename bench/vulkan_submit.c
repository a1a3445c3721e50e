/*
 * vulkan_submit.c: see vulkan_submit.h.
 *
 * What is timed is the submit call alone, on an idle device; the wait follows untimed. The claim is
 * that it does not grow with the batch: a recording is handed to the driver as one thing. The driver's thread
 * wakes up beside the call and may take its core, so single times scatter; the interval shows by how much.
 */
#include "vulkan_submit.h"

#include <stdio.h>

#include "launches/vyre_row.h"

#define BY_HAND    "by hand, vkQueueSubmit"
#define VYRE       "vyre_batch_submit, replay"
#define GROWTH_MAX 1.5 /* of 5,000 dispatches against 10; timing of a few us is not better */

static const uint32_t sizes[] = {10, 100, 1000, 5000};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* The last of three submits: the first one of a size records and compiles. */
static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    struct hand_device *device = context;
    struct launches_row *replay = contender->state;
    double ns = -1;
    if (replay)
        vyre_row_prepare_submit(replay->state, sizes[cell]);
    else if (!hand_prepare_submit(device, sizes[cell]))
        return -1;
    for (int i = 0; i < 3; i++) {
        bench_settle();
        if (replay ? !vyre_row_time_submit(replay->state, &ns) : !hand_time_submit(device, &ns))
            return -1;
    }
    return ns;
}

void submit_run(struct bench *bench, struct hand_device *device, struct launches_row *replay,
                const char *device_title)
{
    struct bench_table table;
    char title[400];
    snprintf(title, sizeof title, "host time of submitting a recorded batch: %s", device_title);
    bench_table_init(&table, title, "ns per submit");
    table.measure = measure;
    table.context = device;
    bench_add_contender(&table, BY_HAND, BENCH_BASE);
    struct bench_contender *own = bench_add_contender(&table, VYRE, BENCH_OWN);
    own->state = replay;
    if (!replay)
        snprintf(own->absent, sizeof own->absent, "the row in replay mode is absent");
    for (size_t i = 0; i < SIZES; i++) {
        char group[32];
        snprintf(group, sizeof group, "%u dispatches", sizes[i]);
        bench_add_cell(&table, group, "");
    }
    const struct bench_aim aim = {.kind = BENCH_GROWTH_AT_MOST,
                                  .contender = VYRE,
                                  .cell = SIZES - 1,
                                  .base_cell = 0,
                                  .limit = GROWTH_MAX};
    bench_run(bench, &table);
    bench_report(bench, &table, &aim, 1);
    bench_table_deinit(&table);
}
