#include "differential/kernels.h"

#include <string.h>

#include "differential/payloads.h" /* generated: payloads/NAME.cl as NAME_cl, NAME.comp as NAME_comp */

/* ---- What the kernels have in common ---------------------------------------------------------- */

static uint32_t linear_group(const struct vyre_host_group *group)
{
    return group->group_id[0] +
           group->group_count[0] *
               (group->group_id[1] + group->group_count[1] * group->group_id[2]);
}

static uint32_t *words_of(const struct vyre_host_group *group, uint32_t buffer)
{
    return group->buffers[buffer].data;
}

/* ---- The kernels ------------------------------------------------------------------------------ */

struct lcg_constants {
    uint32_t increment;
    uint32_t rounds;
};

static void lcg(const struct vyre_host_group *group)
{
    const struct lcg_constants *constants = group->constants;
    uint32_t *words = words_of(group, 0) + (size_t)linear_group(group) * 16;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t value = words[i];
        for (uint32_t round = 0; round <= constants->rounds; round++)
            value = value * 1664525u + constants->increment;
        words[i] = value;
    }
}

static void lcg_faulty(const struct vyre_host_group *group)
{
    lcg(group);
    words_of(group, 0)[(size_t)linear_group(group) * 16] ^= 0x100u;
}

static void add(const struct vyre_host_group *group)
{
    const uint32_t *bias = group->constants;
    size_t first = (size_t)linear_group(group) * 16;
    const uint32_t *left = words_of(group, 0) + first;
    const uint32_t *right = words_of(group, 1) + first;
    uint32_t *out = words_of(group, 2) + first;
    for (uint32_t i = 0; i < 16; i++)
        out[i] = left[i] + 3 * right[i] + *bias;
}

/* No constants at all. */
static void reverse(const struct vyre_host_group *group)
{
    uint32_t *words = words_of(group, 0) + (size_t)linear_group(group) * 32;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t swapped = words[i];
        words[i] = words[31 - i];
        words[31 - i] = swapped;
    }
}

struct stencil_constants {
    uint32_t in_words;
    uint32_t weight;
};

/* Reads beyond its own part of the input, wrapping at the ends. */
static void stencil(const struct vyre_host_group *group)
{
    const struct stencil_constants *constants = group->constants;
    const uint32_t *in = words_of(group, 0);
    uint32_t *out = words_of(group, 1);
    size_t first = (size_t)linear_group(group) * 64;
    for (size_t i = first; i < first + 64; i++) {
        uint32_t before = in[(i + constants->in_words - 1) % constants->in_words];
        uint32_t after = in[(i + 1) % constants->in_words];
        out[i] = before + constants->weight * in[i % constants->in_words] + 7 * after;
    }
}

static void gather(const struct vyre_host_group *group)
{
    const uint32_t *source_words = group->constants;
    size_t first = (size_t)linear_group(group) * 32;
    const uint32_t *indices = words_of(group, 0) + first;
    const uint32_t *source = words_of(group, 1);
    uint32_t *out = words_of(group, 2) + first;
    for (uint32_t i = 0; i < 32; i++)
        out[i] = source[indices[i] % *source_words] ^ i;
}

/* Transposes: the words of one group end up between those of all others. */
static void scatter(const struct vyre_host_group *group)
{
    size_t groups = (size_t)group->group_count[0] * group->group_count[1] * group->group_count[2];
    size_t index = linear_group(group);
    const uint32_t *in = words_of(group, 0) + index * 16;
    uint32_t *out = words_of(group, 1);
    const uint32_t *offset = group->constants;
    for (uint32_t i = 0; i < 16; i++)
        out[i * groups + index] = in[i] + *offset;
}

struct reduce_constants {
    uint32_t factor;
    uint64_t offset;
};

/* Adds 64 words up in local memory, as a tree. */
static void reduce(const struct vyre_host_group *group)
{
    const struct reduce_constants *constants = group->constants;
    size_t index = linear_group(group);
    const uint32_t *in = words_of(group, 0) + index * 64;
    uint32_t *local = words_of(group, 1);
    for (uint32_t i = 0; i < 64; i++)
        local[i] = in[i] * constants->factor;
    for (uint32_t width = 32; width != 0; width /= 2)
        for (uint32_t i = 0; i < width; i++)
            local[i] += local[i + width];
    words_of(group, 2)[index] =
        local[0] + (uint32_t)constants->offset + (uint32_t)(constants->offset >> 32);
}

struct table_constants {
    uint32_t entries;
    uint32_t words; /* of the shortest entry */
    uint32_t salt;
};

static void table_sum(const struct vyre_host_group *group)
{
    const struct table_constants *constants = group->constants;
    uint32_t *const *table = group->buffers[0].data;
    size_t first = (size_t)linear_group(group) * 16;
    uint32_t *out = words_of(group, 1);
    for (size_t i = first; i < first + 16; i++) {
        uint32_t sum = constants->salt;
        for (uint32_t entry = 0; entry < constants->entries; entry++)
            sum = sum * 31 + table[entry][(i + entry) % constants->words];
        out[i] = sum;
    }
}

/* Group g writes the (g / entries)-th run of entry g % entries, if that run exists. */
static void table_write(const struct vyre_host_group *group)
{
    const struct table_constants *constants = group->constants;
    uint32_t *const *table = group->buffers[0].data;
    uint32_t index = linear_group(group);
    const uint32_t *in = words_of(group, 1) + (size_t)index * 16;
    size_t first = (size_t)(index / constants->entries) * 16;
    if (first + 16 > constants->words)
        return;
    uint32_t *out = table[index % constants->entries] + first;
    for (uint32_t i = 0; i < 16; i++)
        out[i] = in[i] ^ constants->salt;
}

/* Each group counts its own words into its own 16 bins. */
static void histogram(const struct vyre_host_group *group)
{
    const uint32_t *shift = group->constants;
    size_t index = linear_group(group);
    const uint32_t *in = words_of(group, 0) + index * 32;
    uint32_t *bins = words_of(group, 1) + index * 16;
    memset(bins, 0, 16 * sizeof *bins);
    for (uint32_t i = 0; i < 32; i++)
        bins[(in[i] >> (*shift % 28)) & 15]++;
}

static void specialized(const struct vyre_host_group *group)
{
    const uint32_t *salt = group->constants;
    uint32_t amount = (uint32_t)group->specialization[1];
    uint32_t *words = words_of(group, 0) + (size_t)linear_group(group) * 16;
    for (uint32_t i = 0; i < 16; i++) {
        switch (group->specialization[0] % 3) {
        case 0:
            words[i] += amount ^ *salt;
            break;
        case 1:
            words[i] = words[i] * (amount | 1) - *salt;
            break;
        default:
            words[i] ^= (words[i] >> (amount % 31 + 1)) + *salt;
            break;
        }
    }
}

struct pattern_constants {
    uint32_t colour;
    uint64_t mix;
};

/* Constants only: tiles of 4 by 4 words in an image of the grid's size, one image per z. */
static void pattern(const struct vyre_host_group *group)
{
    const struct pattern_constants *constants = group->constants;
    size_t width = (size_t)group->group_count[0] * 4;
    size_t height = (size_t)group->group_count[1] * 4;
    uint32_t *image = words_of(group, 0) + width * height * group->group_id[2];
    for (uint32_t y = 0; y < 4; y++) {
        for (uint32_t x = 0; x < 4; x++) {
            size_t row = (size_t)group->group_id[1] * 4 + y;
            size_t column = (size_t)group->group_id[0] * 4 + x;
            uint64_t value = (row * 2654435761u + column) ^ constants->mix;
            image[row * width + column] = (uint32_t)(value >> 7) + constants->colour;
        }
    }
}

/* Sorts its 32 words in scratch memory, which must be the group's own. */
static void sort(const struct vyre_host_group *group)
{
    uint32_t *sorted = group->scratch;
    uint32_t *words = words_of(group, 0) + (size_t)linear_group(group) * 32;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > words[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = words[i];
    }
    memcpy(words, sorted, 32 * sizeof *words);
}

static void palette(const struct vyre_host_group *group)
{
    const uint32_t *rotation = group->constants;
    const uint32_t *colours = words_of(group, 0);
    uint32_t *words = words_of(group, 1) + (size_t)linear_group(group) * 64;
    for (uint32_t i = 0; i < 64; i++)
        words[i] = words[i] * 5 + colours[(words[i] + *rotation) % 16];
}

/* ---- The table -------------------------------------------------------------------------------- */

#define WORDS(slot_, role_, per_group)                                                 \
    {                                                                                  \
        .desc = {.slot = (slot_), .role = VYRE_ROLE_##role_, .element_size_bytes = 4}, \
        .words_per_group = (per_group)                                                 \
    }
#define EXACT(slot_, role_, count)     \
    {                                  \
        .desc = {                      \
            .slot = (slot_),           \
            .role = VYRE_ROLE_##role_, \
            .element_size_bytes = 4,   \
            .element_count = (count)   \
        }                              \
    }
#define TABLE(slot_, role_)            \
    {                                  \
        .desc = {                      \
            .slot = (slot_),           \
            .role = VYRE_ROLE_##role_, \
            .element_size_bytes = 4,   \
            .table = true              \
        }                              \
    }

#define NAMED(name_) .name = #name_, .host = (name_), .opencl_c = name_##_cl, .glsl = name_##_comp

const struct test_kernel test_kernels[KERNEL_COUNT] = {
    [KERNEL_LCG] = {NAMED(lcg), .local_size = {16, 1, 1}, .bindings = {WORDS(0, INPUT_OUTPUT, 16)},
                    .binding_count = 1,
                    .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0},
                                  {VYRE_SCALAR_U32, USE_ROUNDS, 0}},
                    .constant_count = 2},
    [KERNEL_ADD] = {NAMED(add), .local_size = {16, 1, 1},
                    .bindings = {WORDS(1, INPUT, 16), WORDS(4, INPUT, 16), WORDS(9, OUTPUT, 16)},
                    .binding_count = 3, .constants = {{VYRE_SCALAR_I32, USE_RANDOM, 0}},
                    .constant_count = 1},
    [KERNEL_REVERSE] = {NAMED(reverse), .local_size = {32, 1, 1},
                        .bindings = {WORDS(3, INPUT_OUTPUT, 32)}, .binding_count = 1},
    [KERNEL_STENCIL] = {NAMED(stencil), .local_size = {64, 1, 1},
                        .bindings = {WORDS(0, INPUT, 0), WORDS(1, OUTPUT, 64)}, .binding_count = 2,
                        .constants = {{VYRE_SCALAR_U32, USE_WORDS, 0},
                                      {VYRE_SCALAR_U32, USE_RANDOM, 0}},
                        .constant_count = 2},
    [KERNEL_GATHER] = {NAMED(gather), .local_size = {8, 4, 1},
                       .bindings = {WORDS(0, INPUT, 32), WORDS(2, INPUT, 0), WORDS(5, OUTPUT, 32)},
                       .binding_count = 3, .constants = {{VYRE_SCALAR_U32, USE_WORDS, 1}},
                       .constant_count = 1},
    [KERNEL_SCATTER] = {NAMED(scatter), .local_size = {16, 1, 1},
                        .bindings = {WORDS(0, INPUT, 16), WORDS(7, OUTPUT, 16)}, .binding_count = 2,
                        .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0}}, .constant_count = 1},
    [KERNEL_REDUCE] = {NAMED(reduce), .local_size = {64, 1, 1},
                       .bindings = {WORDS(0, INPUT, 64), WORDS(1, SHARED, 0), WORDS(2, OUTPUT, 1)},
                       .binding_count = 3,
                       .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0},
                                     {VYRE_SCALAR_U64, USE_RANDOM, 0}},
                       .constant_count = 2},
    [KERNEL_TABLE_SUM] = {NAMED(table_sum), .local_size = {16, 1, 1},
                          .bindings = {TABLE(0, INPUT), WORDS(1, OUTPUT, 16)}, .binding_count = 2,
                          .constants = {{VYRE_SCALAR_U32, USE_TABLE_COUNT, 0},
                                        {VYRE_SCALAR_U32, USE_TABLE_WORDS, 0},
                                        {VYRE_SCALAR_U32, USE_RANDOM, 0}},
                          .constant_count = 3},
    [KERNEL_TABLE_WRITE] = {NAMED(table_write), .local_size = {16, 1, 1},
                            .bindings = {TABLE(0, OUTPUT), WORDS(1, INPUT, 16)}, .binding_count = 2,
                            .constants = {{VYRE_SCALAR_U32, USE_TABLE_COUNT, 0},
                                          {VYRE_SCALAR_U32, USE_TABLE_WORDS, 0},
                                          {VYRE_SCALAR_U32, USE_RANDOM, 0}},
                            .constant_count = 3},
    [KERNEL_HISTOGRAM] = {NAMED(histogram), .local_size = {32, 1, 1},
                          .bindings = {WORDS(0, INPUT, 32), WORDS(1, OUTPUT, 16)},
                          .binding_count = 2, .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0}},
                          .constant_count = 1},
    [KERNEL_SPECIALIZED] = {NAMED(specialized), .local_size = {16, 1, 1},
                            .bindings = {WORDS(6, INPUT_OUTPUT, 16)}, .binding_count = 1,
                            .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0}}, .constant_count = 1,
                            .specialization_defaults = {1, 12345}, .specialization_count = 2},
    [KERNEL_PATTERN] = {NAMED(pattern), .local_size = {4, 4, 1}, .bindings = {WORDS(0, OUTPUT, 16)},
                        .binding_count = 1,
                        .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0},
                                      {VYRE_SCALAR_I64, USE_RANDOM, 0}},
                        .constant_count = 2},
    [KERNEL_SORT] = {NAMED(sort), .local_size = {32, 1, 1}, .bindings = {WORDS(5, PERSISTENT, 32)},
                     .binding_count = 1, .scratch_bytes = 32 * sizeof(uint32_t)},
    [KERNEL_PALETTE] = {NAMED(palette), .local_size = {64, 1, 1},
                        .bindings = {EXACT(0, UNIFORM, 16), WORDS(2, INPUT_OUTPUT, 64)},
                        .binding_count = 2, .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0}},
                        .constant_count = 1},
};

const struct test_kernel kernel_lcg_faulty = {
    NAMED(lcg_faulty),
    .local_size = {16, 1, 1},
    .bindings = {WORDS(0, INPUT_OUTPUT, 16)},
    .binding_count = 1,
    .constants = {{VYRE_SCALAR_U32, USE_RANDOM, 0}, {VYRE_SCALAR_U32, USE_ROUNDS, 0}},
    .constant_count = 2,
};

/* ---- What follows from the table -------------------------------------------------------------- */

static uint32_t scalar_size(enum vyre_scalar scalar)
{
    bool wide = scalar == VYRE_SCALAR_U64 || scalar == VYRE_SCALAR_I64 || scalar == VYRE_SCALAR_F64;
    return wide ? 8 : 4;
}

uint32_t kernel_constant_offset(const struct test_kernel *kernel, uint32_t constant)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i <= constant; i++) {
        uint32_t size = scalar_size(kernel->constants[i].scalar);
        offset = (offset + size - 1) / size * size;
        if (i == constant)
            break;
        offset += size;
    }
    return offset;
}

uint32_t kernel_constants_size(const struct test_kernel *kernel)
{
    if (kernel->constant_count == 0)
        return 0;
    uint32_t last = kernel->constant_count - 1;
    return kernel_constant_offset(kernel, last) + scalar_size(kernel->constants[last].scalar);
}

bool kernel_binding_is_local(const struct kernel_binding *binding)
{
    return binding->desc.role == VYRE_ROLE_SHARED;
}

enum vyre_access kernel_binding_access(const struct kernel_binding *binding)
{
    switch (binding->desc.role) {
    case VYRE_ROLE_INPUT:
    case VYRE_ROLE_UNIFORM:
        return VYRE_ACCESS_READ;
    case VYRE_ROLE_OUTPUT:
        return VYRE_ACCESS_WRITE;
    case VYRE_ROLE_INPUT_OUTPUT:
    case VYRE_ROLE_PERSISTENT:
        return VYRE_ACCESS_READWRITE;
    case VYRE_ROLE_NONE:
    case VYRE_ROLE_SHARED:
        break;
    }
    return VYRE_ACCESS_DEFAULT;
}
