/*
 * loss_test.c: the loss of a device: its first reason, and what is reported.
 */
#include "backend/common/loss.h"

#include "support/test.h"

struct seen {
    uint32_t calls;
    struct vyre_diag reason;
};

static void on_lost(void *context, const struct vyre_diag *reason)
{
    struct seen *seen = context;
    seen->calls++;
    seen->reason = *reason;
}

static struct vyre_diag reason_of(enum vyre_diag_id id)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, id, NULL, -4, "a made-up reason");
    return reason;
}

static void loss_that_did_not_happen_is_not_reported(void **state)
{
    struct seen seen = {0};
    const struct vyre_device_host host = {.context = &seen, .lost = on_lost};
    struct vyre_loss loss = {.host = &host};
    (void)state;
    assert_false(vyre_is_lost(&loss));
    vyre_loss_report(&loss);
    assert_int_equal(seen.calls, 0);
}

static void loss_first_reason_is_kept(void **state)
{
    struct seen seen = {0};
    const struct vyre_device_host host = {.context = &seen, .lost = on_lost};
    const struct vyre_diag first = reason_of(VYRE_DIAG_VULKAN_LOST);
    struct vyre_loss loss = {.host = &host};
    struct vyre_diag diag;
    (void)state;
    vyre_loss_set(&loss, &first);
    vyre_loss_set_hang(&loss, 5000000);
    assert_true(vyre_is_lost(&loss));
    assert_int_equal(seen.calls, 0); /* finding a loss does not report it */
    vyre_loss_report(&loss);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.reason.id, VYRE_DIAG_VULKAN_LOST);
    assert_int_equal(seen.reason.native_code, -4);
    assert_diag(vyre_loss_status(&loss, &diag), diag, VYRE_DIAG_VULKAN_LOST);
    assert_int_equal(vyre_loss_status(&loss, NULL), VYRE_DEVICE_LOST);
}

static void loss_by_a_hang_has_its_own_reason(void **state)
{
    const struct vyre_device_host host = {0};
    struct vyre_loss loss = {.host = &host};
    struct vyre_diag diag;
    (void)state;
    vyre_loss_set_hang(&loss, UINT64_C(2500000000));
    assert_true(vyre_is_lost(&loss));
    assert_diag(vyre_loss_status(&loss, &diag), diag, VYRE_DIAG_DEVICE_HANG);
    assert_contains(diag.message, "2500 ms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_that_did_not_happen_is_not_reported),
        cmocka_unit_test(loss_first_reason_is_kept),
        cmocka_unit_test(loss_by_a_hang_has_its_own_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
