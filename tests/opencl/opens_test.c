/*
 * opens_test.c: a thousand opens and closes leave no objects, file descriptors or threads.
 *
 *   opens_test DEVICE      a part of the device's name
 *
 * The driver stays loaded from the first open on. What it keeps for itself is not looked at; of ours
 * there must be nothing: memory goes through an allocator that counts.
 */
#include <dirent.h>

#include <vyre/vyre.h>

#include "support/allocator.h"
#include "support/test.h"

static const char *device_name;

static size_t entries_of(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void on_complete(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    (void)ticket;
    *(enum vyre_status *)user = result->status;
}

/* Opens, works with a callback (which starts a thread), closes. */
static void open_and_close(struct vyre_instance *instance)
{
    const struct vyre_device_desc desc = {.backend = "opencl", .name = device_name};
    struct vyre_device *device;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    uint32_t words[16] = {0};
    enum vyre_status called_with = VYRE_INTERNAL;
    struct vyre_diag diag;
    assert_int_equal(vyre_device_open(instance, &desc, &device, &diag), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(device, &(struct vyre_buffer_desc){.size_bytes = 64}, &buffer, &diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(device, NULL, &batch, &diag), VYRE_OK);
    vyre_batch_fill(batch, (struct vyre_range){.buffer = buffer}, 7);
    vyre_batch_download(batch, (struct vyre_range){.buffer = buffer}, words);
    struct vyre_submit_options options = {
        .mode = VYRE_MODE_REPLAY, .on_complete = on_complete, .user = &called_with};
    assert_int_equal(vyre_batch_submit(batch, &options, NULL, &diag), VYRE_OK);
    vyre_device_close(&device);
    assert_int_equal(called_with, VYRE_OK);
    assert_int_equal(words[15], 7);
}

static void thousand_opens_leave_nothing(void **state)
{
    (void)state;
    struct test_allocator counting = {0};
    struct vyre_instance *instance;
    struct vyre_diag diag;
    assert_int_equal(vyre_instance_create(
                         &(struct vyre_instance_desc){.allocator = test_allocator_face(&counting)},
                         &instance, &diag),
                     VYRE_OK);
    for (int i = 0; i < 5; i++)
        open_and_close(instance);
    size_t files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    size_t live = counting.live_count;
    for (int i = 0; i < 1000; i++)
        open_and_close(instance);
    assert_int_equal(entries_of("/proc/self/fd"), files);
    assert_int_equal(entries_of("/proc/self/task"), threads);
    assert_int_equal(counting.live_count, live);
    vyre_instance_destroy(&instance);
    assert_int_equal(counting.live_count, 0);
    assert_int_equal(counting.mismatch_count, 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thousand_opens_leave_nothing)};
    device_name = count > 1 ? arguments[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
