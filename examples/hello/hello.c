/*
 * hello.c: y = a x + y, on the first device found. One buffer holds x in its first half and y in its
 * second. Every failure is reported with a fix.
 */
#include <stdio.h>
#include <vyre/vyre.h>

/* One work-group, here of one element; larger groups loop over their local size. */
static void saxpy(const struct vyre_host_group *g)
{
    float *x = g->buffers[0].data, *y = g->buffers[1].data, a = *(const float *)g->constants;
    y[g->group_id[0]] += a * x[g->group_id[0]];
}

int main(void)
{
    float a = 2, xy[2][1024] = {{[7] = 1, [1023] = 20}, {[1023] = 2}};
    struct vyre_instance *instance = NULL;
    struct vyre_device *device = NULL;
    struct vyre_buffer *b;
    struct vyre_kernel *kernel;
    struct vyre_batch *batch;
    struct vyre_diag why;
    struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = saxpy};
    struct vyre_binding_desc bindings[] = {{0, VYRE_ROLE_INPUT}, {1, VYRE_ROLE_INPUT_OUTPUT}};
    enum vyre_scalar constants[] = {VYRE_SCALAR_F32};
    struct vyre_kernel_desc desc = {"saxpy", &payload, 1, {1, 1, 1}, bindings, 2, constants, 1};
    if (vyre_instance_create(NULL, &instance, &why) ||
        vyre_device_open(instance, NULL, &device, &why) ||
        vyre_buffer_create(device, &(struct vyre_buffer_desc){sizeof xy}, &b, &why) ||
        vyre_buffer_write(b, 0, xy, sizeof xy, &why) ||
        vyre_kernel_create(device, &desc, &kernel, &why) ||
        vyre_batch_create(device, NULL, &batch, &why))
        return fprintf(stderr, "hello: %s\n  fix: %s\n", why.message, why.fix) ? 1 : 2;
    struct vyre_slot_binding slots[] = {{0, {b, 0, 4096}}, {1, {b, 4096, 4096}}};
    struct vyre_dispatch dispatch = {kernel, {1024, 1, 1}, slots, 2, &a, sizeof a};
    vyre_batch_dispatch(batch, &dispatch); /* an error here is kept; submit returns it */
    if (vyre_batch_submit(batch, NULL, NULL, &why) || vyre_buffer_read(b, 0, xy, sizeof xy, &why))
        return fprintf(stderr, "hello: %s\n  fix: %s\n", why.message, why.fix) ? 1 : 2;
    printf("y[7] = %g, y[1023] = %g\n", xy[1][7], xy[1][1023]);
    vyre_device_close(&device);
    vyre_instance_destroy(&instance);
}
