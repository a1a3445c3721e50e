/*
 * opens_test.c: a thousand opens and closes leave no file descriptors and no threads.
 *
 * The driver is pinned in the process: it leaks a little per load of its own, which is not looked at.
 */
#include <dlfcn.h>

#include <vyre/vyre.h>

#include "support/opens.h"
#include "support/test.h"

static void thousand_opens_leave_nothing(void **state)
{
    (void)state;
    const struct vyre_device_desc desc = {.backend = "vulkan"};
    struct vyre_instance *instance;
    struct vyre_diag diag;
    assert_int_equal(vyre_instance_create(NULL, &instance, &diag), VYRE_OK);
    for (int i = 0; i < 20; i++)
        test_open_and_close(instance, &desc);
    (void)dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    size_t files = test_entries_of("/proc/self/fd"), threads = test_entries_of("/proc/self/task");
    for (int i = 0; i < 1000; i++)
        test_open_and_close(instance, &desc);
    assert_int_equal(test_entries_of("/proc/self/fd"), files);
    assert_true(test_threads_settle(threads));
    vyre_instance_destroy(&instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thousand_opens_leave_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
