/*
 * bundle.c: asks all six policies about one batch and prints what they say.
 *
 *     cc -std=c11 -o bundle bundle.c $(pkg-config --cflags --libs vyre)
 */
#include <vyre/vyre.h>

#include <stdio.h>

static void print(void *user, const char *bytes, size_t size_bytes)
{
    fwrite(bytes, 1, size_bytes, user);
}

int main(void)
{
    struct vyre_arm scale = {0}; /* reads slot 0, writes slot 1 */
    struct vyre_arm blur = {0};  /* reads slot 0, writes slot 2 */
    struct vyre_audit *audit = NULL;
    struct vyre_diag diag = {0};
    if (vyre_slot_set_add(&scale.reads, 0, &diag) != VYRE_OK ||
        vyre_slot_set_add(&scale.writes, 1, &diag) != VYRE_OK ||
        vyre_slot_set_add(&blur.reads, 0, &diag) != VYRE_OK ||
        vyre_slot_set_add(&blur.writes, 2, &diag) != VYRE_OK ||
        vyre_audit_create(NULL, &audit, &diag) != VYRE_OK) {
        fprintf(stderr, "%s\n  fix: %s\n", diag.message, diag.fix);
        return 1;
    }
    const struct vyre_bundle_input input = {
        .persistent_kernel = {64, 5000, 900, 80000}, /* items, ns: launch, kernel, set-up */
        .first_arm = &scale,
        .second_arm = &blur,
        .copy_arm = &scale, /* a copy into slot 3 is queued next to it */
        .copy_dst_slot = 3,
        .command_reuse = {100, 5000, 25000, 500}, /* repeats, ns: launch, record, replay */
        .bindless = {6, VYRE_BINDLESS_FULL, false},
        .trace_jit = {12, 9000, 200000, 300000}, /* hits, confidence, ns: compile, miss */
    };
    struct vyre_bundle bundle;
    vyre_bundle_decide(&input, &bundle);
    vyre_audit_record_bundle(audit, &bundle);

    struct vyre_audit_event events[VYRE_BUNDLE_EVENTS_MAX];
    struct vyre_audit_snapshot snapshot;
    vyre_audit_snapshot(audit, events, VYRE_BUNDLE_EVENTS_MAX, &snapshot);
    vyre_audit_render_text(&snapshot, events, print, stdout);
    vyre_audit_destroy(&audit);
    return 0;
}
