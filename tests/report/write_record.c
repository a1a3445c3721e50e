/*
 * write_record.c: writes the record of a story, through the recorder that programs use.
 *
 *   vyre_write_record OUT.json BATCHES [hostile] [no-device-times] [limit=BYTES] [seed=N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story.h"

static int fail(const struct vyre_diag *diag)
{
    char text[1024];
    vyre_diag_format(diag, text, sizeof text);
    fprintf(stderr, "vyre_write_record: %s\n", text);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: vyre_write_record OUT.json BATCHES [WORD]...\n");
        return 2;
    }
    struct story_options story = {.batch_count = strtoull(argv[2], NULL, 10), .seed = 1};
    struct vyre_recorder_options options;
    memset(&options, 0, sizeof options);
    for (int i = 3; i < argc; i++) {
        story.hostile |= strcmp(argv[i], "hostile") == 0;
        story.no_device_times |= strcmp(argv[i], "no-device-times") == 0;
        if (strncmp(argv[i], "limit=", 6) == 0)
            options.limit_bytes = strtoull(argv[i] + 6, NULL, 10);
        if (strncmp(argv[i], "seed=", 5) == 0)
            story.seed = strtoull(argv[i] + 5, NULL, 10);
    }
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct vyre_recorder *recorder;
    if (vyre_recorder_open(argv[1], &options, &recorder, &diag) != VYRE_OK)
        return fail(&diag);
    story.start_ns = vyre_clock_ns();
    uint64_t begin_ns = vyre_clock_ns();
    story_tell(&story, vyre_recorder_observer(recorder));
    uint64_t took_ns = vyre_clock_ns() - begin_ns;
    struct vyre_recorder_counters counters;
    vyre_recorder_get_counters(recorder, &counters);
    if (vyre_recorder_close(&recorder, &diag) != VYRE_OK)
        return fail(&diag);
    printf("%llu of %llu batches kept, %llu bytes, %llu ns a batch with the story's own work\n",
           (unsigned long long)counters.batches_kept, (unsigned long long)counters.batches_seen,
           (unsigned long long)counters.size_bytes,
           (unsigned long long)(story.batch_count ? took_ns / story.batch_count : 0));
    return 0;
}
