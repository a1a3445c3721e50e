/*
 * loss_test.c: every call that can lose the device does, at several moments: all that is pending ends
 * with that status, nothing hangs, and the device opens and works again. The same with memory that runs
 * out: a clean error, and the device goes on. What has begun by then is not done twice.
 *
 *   loss_test [spread]     with batches that are large enough for several queues, where there are some
 *
 * Runs with the layer of loss_layer.c, which the Vulkan loader brings in by its environment.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#include "support/test.h"

enum { WORDS = 256, ROUNDS = 12, SPREAD_GROUPS = 640, LOST = -4, NO_DEVICE_MEMORY = -2 };

static const char source[] = "#version 450\n"
                             "layout(local_size_x = 64) in;\n"
                             "layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };\n"
                             "layout(push_constant) uniform Constants { uint value; };\n"
                             "void main() { data[gl_GlobalInvocationID.x] += value; }\n";

static bool spread;

static struct layer {
    void *library;
    int (*arm)(const char *function, int call, int result);
    int (*struck)(void);
    const char *(*name)(int index);
} layer;

static void *symbol(const char *name)
{
    void *found = dlsym(layer.library, name);
    assert_non_null(found);
    return found;
}

static void find_layer(void)
{
    layer.library = dlopen(VYRE_TEST_LOSS_LAYER, RTLD_NOW);
    assert_non_null(layer.library);
    void *arm = symbol("vyre_loss_arm"), *struck = symbol("vyre_loss_struck");
    void *name = symbol("vyre_loss_name");
    memcpy(&layer.arm, &arm, sizeof arm);
    memcpy(&layer.struck, &struck, sizeof struck);
    memcpy(&layer.name, &name, sizeof name);
}

struct work {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *data;
    struct vyre_buffer *beside[2]; /* NULL: not spread */
    struct vyre_batch *batch;
    uint32_t up[WORDS], down[WORDS];
    _Atomic uint32_t called;
    enum vyre_status called_with;
};

static void on_complete(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    struct work *work = user;
    (void)ticket;
    work->called_with = result->status;
    atomic_fetch_add(&work->called, 1);
}

static enum vyre_status prepare(struct work *work, struct vyre_diag *diag)
{
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = source, .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc kernel = {
        .label = "add", .payloads = &payload, .payload_count = 1};
    const struct vyre_device_desc desc = {.backend = "vulkan", .hang_timeout_ns = 60000000000};
    const struct vyre_buffer_desc buffer = {.size_bytes = WORDS * 4};
    enum vyre_status status = vyre_device_open(work->instance, &desc, &work->device, diag);
    if (status == VYRE_OK)
        status = vyre_kernel_create(work->device, &kernel, &work->kernel, diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(work->device, &buffer, &work->data, diag);
    for (int i = 0; spread && status == VYRE_OK && i < 2; i++)
        status = vyre_buffer_create(
            work->device, &(struct vyre_buffer_desc){.size_bytes = SPREAD_GROUPS * 64 * 4},
            &work->beside[i], diag);
    if (status == VYRE_OK)
        status = vyre_batch_create(work->device, NULL, &work->batch, diag);
    return status;
}

static void add_dispatch(struct work *work, struct vyre_buffer *buffer, uint32_t groups,
                         uint32_t value)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = buffer}};
    vyre_batch_dispatch(work->batch, &(struct vyre_dispatch){.kernel = work->kernel,
                                                             .groups = {groups, 1, 1},
                                                             .bindings = &binding,
                                                             .binding_count = 1,
                                                             .constants = &value,
                                                             .constants_size_bytes = 4});
}

/* One batch with all kinds of commands. */
static void build(struct work *work, uint32_t value)
{
    const struct vyre_range whole = {.buffer = work->data};
    vyre_batch_reset(work->batch);
    vyre_batch_upload(work->batch, whole, work->up);
    for (int i = 0; work->beside[0] && i < 2; i++) {
        /* Filled, because what a failed batch wrote cannot be read. */
        vyre_batch_fill(work->batch, (struct vyre_range){.buffer = work->beside[i]}, 1);
        add_dispatch(work, work->beside[i], SPREAD_GROUPS, value);
    }
    add_dispatch(work, work->data, WORDS / 64, value);
    vyre_batch_download(work->batch, whole, work->down);
}

/* Runs rounds in both modes, with a callback now and then; the first failure ends it. */
static enum vyre_status run(struct work *work, uint32_t *out_asked, struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    *out_asked = 0;
    for (uint32_t i = 0; status == VYRE_OK && i < ROUNDS; i++) {
        struct vyre_ticket ticket;
        struct vyre_submit_options options = {
            .mode = i % 2 ? VYRE_MODE_REPLAY : VYRE_MODE_PLAIN,
            .timed = i % 3 == 0,
            .on_complete = i % 4 == 3 ? on_complete : NULL,
            .user = work,
        };
        for (uint32_t j = 0; j < WORDS; j++)
            work->up[j] = i + j;
        build(work, 100);
        status = vyre_batch_submit(work->batch, &options, &ticket, diag);
        if (status != VYRE_OK)
            break;
        *out_asked += options.on_complete != NULL;
        if (i % 3 == 2)
            continue; /* some stay in flight */
        status = vyre_ticket_wait(work->device, ticket, VYRE_FOREVER, diag);
        for (uint32_t j = 0; status == VYRE_OK && j < WORDS; j++)
            assert_int_equal(work->down[j], i + j + 100);
    }
    return status;
}

static void finish(struct work *work)
{
    vyre_device_close(&work->device);
    work->kernel = NULL;
    work->data = NULL;
    work->beside[0] = work->beside[1] = NULL;
    work->batch = NULL;
}

/* All of it once, from open to close. */
static enum vyre_status live(struct work *work, struct vyre_diag *diag)
{
    uint32_t asked = 0;
    atomic_store(&work->called, 0);
    vyre_diag_reset(diag);
    enum vyre_status status = prepare(work, diag);
    if (status == VYRE_OK)
        status = run(work, &asked, diag);
    if (status == VYRE_OK)
        status = vyre_device_wait_idle(work->device, VYRE_FOREVER, diag);
    if (work->device && status == VYRE_DEVICE_LOST) {
        /* Nothing further works, and says so at once. */
        struct vyre_buffer *another;
        assert_int_equal(vyre_buffer_create(work->device,
                                            &(struct vyre_buffer_desc){.size_bytes = 64}, &another,
                                            NULL),
                         VYRE_DEVICE_LOST);
    }
    finish(work);
    assert_int_equal(atomic_load(&work->called), asked);
    return status;
}

static void lose_everywhere(void)
{
    const int result = LOST;
    const enum vyre_status wanted = VYRE_DEVICE_LOST;
    struct work work = {0};
    struct vyre_diag diag;
    assert_int_equal(vyre_instance_create(NULL, &work.instance, &diag), VYRE_OK);
    assert_int_equal(live(&work, &diag), VYRE_OK);
    find_layer();
    uint32_t met = 0;
    for (int i = 0; layer.name(i); i++) {
        uint32_t met_here = 0;
        for (int call = 0; call < 40; call += call < 6 ? 1 : 7) {
            assert_int_equal(layer.arm(layer.name(i), call, result), 0);
            enum vyre_status status = live(&work, &diag);
            bool struck = layer.struck() > 0;
            layer.arm(NULL, 0, 0);
            if (!struck)
                break;
            /* Some calls are not worth failing for: what they would have said is left out. */
            if (status != VYRE_OK) {
                if (status != wanted)
                    print_error("%s call %d: %s\n", layer.name(i), call, vyre_status_name(status));
                assert_int_equal(status, wanted);
                met_here++;
            }
            if (live(&work, &diag) != VYRE_OK)
                fail_msg("after %s call %d: %s", layer.name(i), call, diag.message);
        }
        printf("%s: %u failures\n", layer.name(i), met_here);
        met += met_here;
    }
    assert_true(met > 20);
    vyre_instance_destroy(&work.instance);
}

static void loss_at_every_call_ends_everything_and_reopens(void **state)
{
    (void)state;
    lose_everywhere();
}

/* Memory runs out at some call: the same device works right after. */
static void memory_gone_at_every_call_is_survived(void **state)
{
    static const char *const functions[] = {
        "vkAllocateMemory",         "vkCreateBuffer",      "vkBindBufferMemory",
        "vkAllocateDescriptorSets", "vkCreateCommandPool", "vkBeginCommandBuffer",
        "vkEndCommandBuffer",       "vkQueueSubmit",       "vkCreateComputePipelines",
    };
    (void)state;
    find_layer();
    uint32_t met = 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        for (int call = 0; call < 6; call++) {
            struct work work = {0};
            struct vyre_diag diag;
            uint32_t asked;
            assert_int_equal(vyre_instance_create(NULL, &work.instance, &diag), VYRE_OK);
            assert_int_equal(prepare(&work, &diag), VYRE_OK);
            assert_int_equal(layer.arm(functions[i], call, NO_DEVICE_MEMORY), 0);
            enum vyre_status status = run(&work, &asked, &diag);
            layer.arm(NULL, 0, 0);
            if (status != VYRE_OK) {
                met++;
                assert_int_equal(status, VYRE_OUT_OF_MEMORY);
                if (!spread) /* a batch that had begun ends so later */
                    assert_int_equal(diag.native_code, NO_DEVICE_MEMORY);
            }
            assert_int_equal(run(&work, &asked, &diag), VYRE_OK);
            assert_int_equal(vyre_device_wait_idle(work.device, VYRE_FOREVER, &diag), VYRE_OK);
            finish(&work);
            vyre_instance_destroy(&work.instance);
        }
    }
    assert_true(met > 10);
}

enum { MANY_PARTS = 20 }; /* more than go to the queue at once with a timer */

/*
 * A batch of several parts: each adds to the data and downloads them; the uploads between take the bytes
 * that came down, if they are to meet, or others.
 */
static void build_parts(struct work *work, uint32_t parts, bool meet)
{
    const struct vyre_range whole = {.buffer = work->data};
    const struct vyre_slot_binding binding = {.slot = 0, .range = whole};
    const uint32_t one = 1;
    vyre_batch_reset(work->batch);
    for (uint32_t i = 0; i < parts; i++) {
        if (i > 0)
            vyre_batch_upload_borrowed(work->batch, whole, meet ? work->down : work->up);
        vyre_batch_dispatch(work->batch, &(struct vyre_dispatch){.kernel = work->kernel,
                                                                 .groups = {WORDS / 64, 1, 1},
                                                                 .bindings = &binding,
                                                                 .binding_count = 1,
                                                                 .constants = &one,
                                                                 .constants_size_bytes = 4});
        vyre_batch_download(work->batch, whole, work->down);
    }
}

static void replay_parts(struct work *work, enum vyre_status wanted)
{
    struct vyre_diag diag;
    struct vyre_ticket ticket;
    vyre_diag_reset(&diag);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_REPLAY, .timed = true};
    assert_int_equal(vyre_batch_submit(work->batch, &options, &ticket, &diag), VYRE_OK);
    assert_int_equal(vyre_ticket_wait(work->device, ticket, VYRE_FOREVER, &diag), wanted);
}

/* The queue takes the first part of a replay and has no memory for the second. */
static void fail_second_part(uint32_t parts, bool meet)
{
    struct work work = {0};
    struct vyre_diag diag;
    const uint32_t zeros[WORDS] = {0};
    assert_int_equal(vyre_instance_create(NULL, &work.instance, &diag), VYRE_OK);
    assert_int_equal(prepare(&work, &diag), VYRE_OK);
    build_parts(&work, parts, meet);
    replay_parts(&work, VYRE_OK);
    assert_int_equal(work.down[0], meet ? parts : 1);
    assert_int_equal(layer.arm("vkQueueSubmit", 1, NO_DEVICE_MEMORY), 0);
    replay_parts(&work, VYRE_OUT_OF_MEMORY);
    assert_true(layer.struck() > 0);
    layer.arm(NULL, 0, 0);
    /* What it should have written cannot be read, until it is written anew; then all is as before. */
    assert_int_equal(vyre_buffer_read(work.data, 0, work.down, sizeof work.down, &diag),
                     VYRE_OUT_OF_MEMORY);
    assert_int_equal(vyre_buffer_write(work.data, 0, zeros, sizeof zeros, &diag), VYRE_OK);
    for (int i = 0; i < 4; i++)
        replay_parts(&work, VYRE_OK);
    assert_int_equal(work.down[0], meet ? parts * 4 : 1);
    finish(&work);
    vyre_instance_destroy(&work.instance);
}

static void memory_gone_inside_replay_ends_it_badly(void **state)
{
    (void)state;
    find_layer();
    fail_second_part(3, true);
    fail_second_part(MANY_PARTS, false);
}

int main(int count, char **arguments)
{
    spread = count > 1 && strcmp(arguments[1], "spread") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_at_every_call_ends_everything_and_reopens),
        cmocka_unit_test(memory_gone_at_every_call_is_survived),
        cmocka_unit_test(memory_gone_inside_replay_ends_it_badly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
