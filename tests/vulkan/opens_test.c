/*
 * opens_test.c: a thousand opens and closes leave no file descriptors and no threads.
 *
 * The driver is pinned in the process: it leaks a little per load of its own, which is not looked at.
 */
#include <dirent.h>
#include <dlfcn.h>

#include <vyre/vyre.h>

#include "support/test.h"

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

/* Opens, works in both modes with a callback (which starts a thread), closes. */
static void open_and_close(struct vyre_instance *instance)
{
    const struct vyre_device_desc desc = {.backend = "vulkan"};
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
    struct vyre_instance *instance;
    struct vyre_diag diag;
    assert_int_equal(vyre_instance_create(NULL, &instance, &diag), VYRE_OK);
    for (int i = 0; i < 20; i++)
        open_and_close(instance);
    (void)dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    size_t files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    for (int i = 0; i < 1000; i++)
        open_and_close(instance);
    assert_int_equal(entries_of("/proc/self/fd"), files);
    assert_int_equal(entries_of("/proc/self/task"), threads);
    vyre_instance_destroy(&instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thousand_opens_leave_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
