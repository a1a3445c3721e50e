/*
 * opens.h: opening a device, working and closing it, and what a process holds, for tests that do that
 * many times.
 */
#ifndef VYRE_TESTS_SUPPORT_OPENS_H
#define VYRE_TESTS_SUPPORT_OPENS_H

#include <dirent.h>
#include <time.h>

#include <vyre/vyre.h>

#include "support/test.h"

/* Entries of a folder: "/proc/self/fd", "/proc/self/task". */
static inline size_t test_entries_of(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Whether there are no more threads than that, or will be soon: a joined one may still be listed. */
static inline bool test_threads_settle(size_t most)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 6000 && test_entries_of("/proc/self/task") > most; i++)
        nanosleep(&pause, NULL);
    return test_entries_of("/proc/self/task") <= most;
}

static inline void test_note_status(void *user, struct vyre_ticket ticket,
                                    const struct vyre_batch_result *result)
{
    (void)ticket;
    *(enum vyre_status *)user = result->status;
}

/* Opens, works with a callback (which starts a thread), closes. */
static inline void test_open_and_close(struct vyre_instance *instance,
                                       const struct vyre_device_desc *desc)
{
    struct vyre_device *device;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    uint32_t words[16] = {0};
    enum vyre_status called_with = VYRE_INTERNAL;
    struct vyre_diag diag;
    assert_int_equal(vyre_device_open(instance, desc, &device, &diag), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(device, &(struct vyre_buffer_desc){.size_bytes = 64}, &buffer, &diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(device, NULL, &batch, &diag), VYRE_OK);
    vyre_batch_fill(batch, (struct vyre_range){.buffer = buffer}, 7);
    vyre_batch_download(batch, (struct vyre_range){.buffer = buffer}, words);
    struct vyre_submit_options options = {
        .mode = VYRE_MODE_REPLAY, .on_complete = test_note_status, .user = &called_with};
    assert_int_equal(vyre_batch_submit(batch, &options, NULL, &diag), VYRE_OK);
    vyre_device_close(&device);
    assert_int_equal(called_with, VYRE_OK);
    assert_int_equal(words[15], 7);
}

#endif
