/*
 * kernels.c: see kernels.h. A host function runs all invocations of its group in a loop.
 */
#include "conformance/kernels.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "conformance/payloads.h" /* generated: payloads/NAME.cl as NAME_cl, NAME.comp as NAME_comp */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Functions -------------------------------------------------------------------------------- */

static uint32_t first_of(const struct vyre_host_group *group)
{
    return group->group_id[0] * group->local_size[0];
}

static uint32_t end_of(const struct vyre_host_group *group, uint32_t count)
{
    uint32_t end = first_of(group) + group->local_size[0];
    return end < count ? end : count;
}

static uint32_t linear_id(const struct vyre_host_group *group)
{
    const uint32_t *id = group->group_id;
    const uint32_t *count = group->group_count;
    return (id[2] * count[1] + id[1]) * count[0] + id[0];
}

static void run_add(const struct vyre_host_group *group)
{
    const struct add_constants *constants = group->constants;
    uint32_t *data = group->buffers[0].data;
    for (uint32_t i = first_of(group); i < end_of(group, constants->count); i++)
        data[i] += constants->value;
}

static void run_mix_words(const struct vyre_host_group *group)
{
    const struct mix_constants *constants = group->constants;
    const uint32_t *from = group->buffers[0].data;
    uint32_t *to = group->buffers[1].data;
    for (uint32_t i = first_of(group); i < end_of(group, constants->count); i++)
        to[i] = to[i] * constants->factor + from[i] + i;
}

static void run_append(const struct vyre_host_group *group)
{
    const struct append_constants *constants = group->constants;
    uint32_t *log = group->buffers[0].data;
    uint32_t used = log[0] + 1;
    if (used < constants->words) {
        log[0] = used;
        log[used] = constants->value;
    }
}

static void run_identify(const struct vyre_host_group *group)
{
    uint32_t *visits = group->buffers[0].data;
    uint32_t *ids = group->buffers[1].data;
    uint32_t at = linear_id(group);
    if (at >= group->buffers[0].size_bytes / sizeof *visits)
        return; /* no such group: its visit is missing elsewhere */
    visits[at]++;
    memcpy(&ids[6 * (size_t)at], group->group_id, sizeof group->group_id);
    memcpy(&ids[6 * (size_t)at + 3], group->group_count, sizeof group->group_count);
}

static void run_echo(const struct vyre_host_group *group)
{
    struct echo_constants constants;
    uint64_t *out = group->buffers[0].data;
    uint32_t float_bits;
    memcpy(&constants, group->constants, sizeof constants);
    memcpy(&float_bits, &constants.e, sizeof float_bits);
    out[0] = constants.a;
    out[1] = constants.b;
    out[2] = (uint32_t)constants.c;
    memcpy(&out[3], &constants.d, sizeof out[3]);
    out[4] = float_bits;
    out[5] = (uint64_t)constants.f;
}

static void run_wide(const struct vyre_host_group *group)
{
    memcpy(group->buffers[0].data, group->constants, VYRE_CONSTANTS_BYTES_MAX);
}

static void run_specialized(const struct vyre_host_group *group)
{
    uint64_t *out = group->buffers[0].data;
    out[0] = group->specialization_count;
    for (uint32_t i = 0; i < group->specialization_count; i++)
        out[1 + i] = group->specialization[i];
}

static void run_reverse(const struct vyre_host_group *group)
{
    const uint32_t *in = group->buffers[0].data;
    uint32_t *out = group->buffers[1].data;
    uint32_t *local = group->buffers[2].data;
    for (uint32_t i = 0; i < LOCAL_SIZE; i++)
        local[i] = in[first_of(group) + i];
    for (uint32_t i = 0; i < LOCAL_SIZE; i++)
        out[first_of(group) + i] = local[LOCAL_SIZE - 1 - i];
}

static void run_table_sum(const struct vyre_host_group *group)
{
    const struct table_constants *constants = group->constants;
    void *const *table = group->buffers[0].data;
    uint32_t *out = group->buffers[1].data;
    for (uint32_t i = first_of(group); i < end_of(group, constants->count); i++) {
        out[i] = 0;
        for (uint32_t j = 0; j < constants->table_count; j++)
            out[i] += ((const uint32_t *)table[j])[i];
    }
}

static void run_table_add(const struct vyre_host_group *group)
{
    void *const *table = group->buffers[0].data;
    uint32_t *data = table[group->group_id[0]];
    for (uint32_t i = 0; i < TABLE_ADD_WORDS; i++)
        data[i] += group->group_id[0] + 1;
}

static void run_sparse(const struct vyre_host_group *group)
{
    const uint32_t *a = group->buffers[0].data; /* slot 2 */
    const uint32_t *b = group->buffers[1].data; /* slot 5 */
    uint32_t *out = group->buffers[2].data;     /* slot 9 */
    for (uint32_t i = first_of(group); i < first_of(group) + LOCAL_SIZE; i++)
        out[i] = 1000 * a[i] + b[i];
}

static bool holds(const unsigned char *bytes, size_t size_bytes, unsigned char mark)
{
    size_t i = 0;
    while (i < size_bytes && bytes[i] == mark)
        i++;
    return i == size_bytes;
}

/* Writes over the whole scratch and local memory, then reads both back; they must be apart. */
static void run_scratch(const struct vyre_host_group *group)
{
    uint32_t *out = group->buffers[0].data;
    unsigned char *scratch = group->scratch, *local = group->buffers[1].data;
    unsigned char mark = (unsigned char)(group->group_id[0] * 2 + 1);
    unsigned char other = (unsigned char)(mark + 1);
    bool right = scratch && local && group->scratch_bytes >= GROUP_SCRATCH_BYTES &&
                 group->buffers[1].size_bytes >= LOCAL_SIZE && (uintptr_t)scratch % 64 == 0;
    if (right) {
        memset(scratch, mark, GROUP_SCRATCH_BYTES);
        memset(local, other, LOCAL_SIZE);
        right = holds(scratch, GROUP_SCRATCH_BYTES, mark) && holds(local, LOCAL_SIZE, other);
    }
    out[group->group_id[0]] = right;
}

static void run_abi(const struct vyre_host_group *group)
{
    uint64_t *out = group->buffers[0].data;
    uint32_t groups = group->group_count[0] * group->group_count[1] * group->group_count[2];
    if (linear_id(group) != groups - 1)
        return;
    out[ABI_SIZE_BYTES] = group->size_bytes;
    out[ABI_BUFFER_COUNT] = group->buffer_count;
    for (uint32_t i = 0; i < 3; i++) {
        out[ABI_GROUP_ID + i] = group->group_id[i];
        out[ABI_GROUP_COUNT + i] = group->group_count[i];
        out[ABI_LOCAL_SIZE + i] = group->local_size[i];
        out[ABI_BUFFER_SIZES + i] = group->buffers[i].size_bytes;
    }
    out[ABI_SPECIALIZATION_COUNT] = group->specialization_count;
    out[ABI_CONSTANTS_SKEW] = (uintptr_t)group->constants % 16;
    out[ABI_CONSTANT] = *(const uint32_t *)group->constants;
    out[ABI_SCRATCH_BYTES] = group->scratch_bytes;
}

static void run_gate(const struct vyre_host_group *group)
{
    uint32_t *data = group->buffers[0].data;
    uint64_t address;
    memcpy(&address, group->constants, sizeof address);
    struct gate *gate = (struct gate *)(uintptr_t)address;
    atomic_store_explicit(&gate->thread, (uint64_t)pthread_self(), memory_order_relaxed);
    atomic_fetch_add_explicit(&gate->entered, 1, memory_order_release); /* pairs: gate_await */
    while (!atomic_load_explicit(&gate->open, memory_order_acquire))    /* pairs: gate_open */
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    data[0]++;
}

/* ---- The table -------------------------------------------------------------------------------- */

#define READ(number)                                                          \
    {                                                                         \
        .slot = (number), .access = VYRE_ACCESS_READ, .element_size_bytes = 4 \
    }
#define WRITE(number)                                                          \
    {                                                                          \
        .slot = (number), .access = VYRE_ACCESS_WRITE, .element_size_bytes = 4 \
    }
#define READWRITE(number)                                                          \
    {                                                                              \
        .slot = (number), .access = VYRE_ACCESS_READWRITE, .element_size_bytes = 4 \
    }

static const struct vyre_binding_desc binds_data[] = {READWRITE(0)};
static const struct vyre_binding_desc binds_out[] = {WRITE(0)};
static const struct vyre_binding_desc binds_from_to[] = {READ(0), READWRITE(1)};
static const struct vyre_binding_desc binds_identify[] = {READWRITE(0), WRITE(1)};
static const struct vyre_binding_desc binds_reverse[] = {
    READ(0), WRITE(1), {.slot = 2, .role = VYRE_ROLE_SHARED, .element_size_bytes = 4}};
static const struct vyre_binding_desc binds_scratch[] = {
    WRITE(0), {.slot = 1, .role = VYRE_ROLE_SHARED, .element_count = LOCAL_SIZE}};
static const struct vyre_binding_desc binds_table_sum[] = {
    {.slot = 0, .access = VYRE_ACCESS_READ, .table = true}, WRITE(1)};
static const struct vyre_binding_desc binds_table_add[] = {
    {.slot = 0, .access = VYRE_ACCESS_READWRITE, .table = true}};
static const struct vyre_binding_desc binds_sparse[] = {WRITE(9), READ(2), READ(5)};
static const struct vyre_binding_desc binds_abi[] = {WRITE(0), READ(1), READ(2)};

static const enum vyre_scalar one_u32[] = {VYRE_SCALAR_U32};
static const enum vyre_scalar two_u32[] = {VYRE_SCALAR_U32, VYRE_SCALAR_U32};
static const enum vyre_scalar one_u64[] = {VYRE_SCALAR_U64};
static const enum vyre_scalar mixed[] = {VYRE_SCALAR_U32, VYRE_SCALAR_U64, VYRE_SCALAR_I32,
                                         VYRE_SCALAR_F64, VYRE_SCALAR_F32, VYRE_SCALAR_I64};
#define EIGHT_U32                                                                        \
    VYRE_SCALAR_U32, VYRE_SCALAR_U32, VYRE_SCALAR_U32, VYRE_SCALAR_U32, VYRE_SCALAR_U32, \
        VYRE_SCALAR_U32, VYRE_SCALAR_U32, VYRE_SCALAR_U32
static const enum vyre_scalar most_u32[] = {EIGHT_U32, EIGHT_U32, EIGHT_U32, EIGHT_U32};

static const uint64_t three_defaults[] = {11, 22, 33};

static const struct row {
    const char *name; /* of the OpenCL kernel, too */
    vyre_host_function *host;
    const char *opencl_c;
    const char *glsl;
    const char *host_only; /* the reason why the other two are NULL */
    uint32_t local_size[3];
    const struct vyre_binding_desc *bindings;
    size_t binding_count;
    const enum vyre_scalar *constants;
    size_t constant_count;
    const uint64_t *specialization_defaults;
    size_t specialization_count;
    size_t scratch_bytes;
} rows[KERNEL_COUNT] = {
#define NAMED(name)      #name, run_##name, name##_cl, name##_comp
#define BINDINGS(array)  .bindings = (array), .binding_count = COUNT(array)
#define CONSTANTS(array) .constants = (array), .constant_count = COUNT(array)
    [KERNEL_ADD] = {NAMED(add), .local_size = {LOCAL_SIZE, 1, 1}, BINDINGS(binds_data),
                    CONSTANTS(two_u32)},
    [KERNEL_MIX] = {NAMED(mix_words), .local_size = {LOCAL_SIZE, 1, 1}, BINDINGS(binds_from_to),
                    CONSTANTS(two_u32)},
    [KERNEL_APPEND] = {NAMED(append), BINDINGS(binds_data), CONSTANTS(two_u32)},
    [KERNEL_IDENTIFY] = {NAMED(identify), BINDINGS(binds_identify)},
    [KERNEL_ECHO] = {NAMED(echo), BINDINGS(binds_out), CONSTANTS(mixed)},
    [KERNEL_WIDE] = {NAMED(wide), BINDINGS(binds_out), CONSTANTS(most_u32)},
    [KERNEL_SPECIALIZED] = {NAMED(specialized), BINDINGS(binds_out),
                            .specialization_defaults = three_defaults,
                            .specialization_count = COUNT(three_defaults)},
    [KERNEL_REVERSE] = {NAMED(reverse), .local_size = {LOCAL_SIZE, 1, 1}, BINDINGS(binds_reverse)},
    [KERNEL_TABLE_SUM] = {NAMED(table_sum), .local_size = {LOCAL_SIZE, 1, 1},
                          BINDINGS(binds_table_sum), CONSTANTS(two_u32)},
    [KERNEL_TABLE_ADD] = {NAMED(table_add), BINDINGS(binds_table_add)},
    [KERNEL_SPARSE] = {NAMED(sparse), .local_size = {LOCAL_SIZE, 1, 1}, BINDINGS(binds_sparse)},
    [KERNEL_SCRATCH] = {"scratch", run_scratch,
                        .host_only = "scratch memory is given to host kernels alone",
                        BINDINGS(binds_scratch), .scratch_bytes = GROUP_SCRATCH_BYTES},
    [KERNEL_ABI] = {"abi", run_abi, .host_only = "it looks at struct vyre_host_group itself",
                    .local_size = {8, 4, 2}, BINDINGS(binds_abi), CONSTANTS(one_u32)},
    [KERNEL_GATE] = {"gate", run_gate,
                     .host_only = "it waits for the test's memory and asks which thread it is on",
                     BINDINGS(binds_data), CONSTANTS(one_u64)},
#undef NAMED
#undef BINDINGS
#undef CONSTANTS
};

const char *kernel_host_only_reason(enum kernel_id id)
{
    return rows[id].host_only;
}

static void add_source(struct kernel_plan *plan, enum vyre_target target, const char *text,
                       const char *entry)
{
    if (text)
        plan->payloads[plan->desc.payload_count++] = (struct vyre_payload){
            .target = target, .entry = entry, .bytes = text, .size_bytes = strlen(text)};
}

void kernel_plan_init(struct kernel_plan *plan, enum kernel_id id)
{
    const struct row *row = &rows[id];
    *plan = (struct kernel_plan){
        .payloads = {{.target = VYRE_TARGET_HOST, .function = row->host}},
        .desc = {.label = row->name,
                 .payloads = plan->payloads,
                 .payload_count = 1,
                 .local_size = {row->local_size[0], row->local_size[1], row->local_size[2]},
                 .bindings = row->bindings,
                 .binding_count = row->binding_count,
                 .constants = row->constants,
                 .constant_count = row->constant_count,
                 .specialization_defaults = row->specialization_defaults,
                 .specialization_count = row->specialization_count,
                 .scratch_bytes = row->scratch_bytes},
    };
    add_source(plan, VYRE_TARGET_OPENCL_C, row->opencl_c, row->name);
    add_source(plan, VYRE_TARGET_GLSL, row->glsl, "main");
}
