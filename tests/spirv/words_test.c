/*
 * words_test.c: the reader of SPIR-V on modules written word by word, without the optional module.
 */
#include "support/test.h"

#include "base/memory.h"
#include "spirv/assemble.h"
#include "spirv/contraction.h"
#include "spirv/words.h"
#include "support/counting_allocator.h"
#include "support/random.h"

static struct vyre_allocator system_allocator(void)
{
    return vyre_allocator_resolve(&(struct vyre_allocator){0});
}

/* Reads a copy of exactly the module's size, so that the address sanitizer sees its end. */
static enum vyre_status read_words(const uint32_t *words, size_t count, const char *entry,
                                   struct vyre_spirv_reflection *out, struct vyre_diag *diag)
{
    struct vyre_allocator allocator = system_allocator();
    uint32_t *copy = malloc(count ? count * sizeof *copy : 1);
    assert_non_null(copy);
    memcpy(copy, words, count * sizeof *copy);
    memset(diag, 0, sizeof *diag);
    enum vyre_status status =
        vyre_spirv_words_reflect(&allocator, copy, count, entry, "kernel", out, diag);
    free(copy);
    return status;
}

static void refuse_words(const struct assembly *module, const char *entry, enum vyre_diag_id id)
{
    struct vyre_spirv_reflection out, zeroed;
    struct vyre_diag diag;
    memset(&out, 0x5a, sizeof out);
    memset(&zeroed, 0, sizeof zeroed);
    enum vyre_status status = read_words(module->words, module->count, entry, &out, &diag);
    assert_diag(status, diag, id);
    assert_string_equal(diag.label, "kernel");
    assert_memory_equal(&out, &zeroed, sizeof out);
}

static void refuse_kernel(struct kernel_options options, enum vyre_diag_id id)
{
    struct assembly module;
    make_kernel(&module, &options);
    refuse_words(&module, "k", id);
}

static struct vyre_spirv_reflection accept_kernel(struct kernel_options options, const char *entry)
{
    struct assembly module;
    struct vyre_spirv_reflection out;
    struct vyre_diag diag;
    make_kernel(&module, &options);
    if (read_words(module.words, module.count, entry, &out, &diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    return out;
}

static void reflect_plain_kernel_gives_its_interface(void **state)
{
    (void)state;
    struct vyre_spirv_reflection out = accept_kernel((struct kernel_options){0}, "k");
    const struct vyre_kernel_interface *interface = &out.interface;
    assert_true(interface->has_bindings && interface->has_constants && interface->has_local_size &&
                interface->has_specialization);
    assert_int_equal(interface->binding_count, 1);
    assert_int_equal(interface->bindings[0].slot, 5);
    assert_int_equal(interface->bindings[0].access, VYRE_ACCESS_READWRITE);
    assert_int_equal(interface->bindings[0].role, VYRE_ROLE_NONE);
    assert_int_equal(interface->constants_size_bytes, 0);
    assert_int_equal(interface->local_size[0], 64);
    assert_int_equal(interface->local_size[1], 2);
    assert_int_equal(interface->local_size[2], 1);
    assert_int_equal(interface->specialization_count, 1);
    assert_int_equal(interface->specialization_ids[0], 7);
    assert_int_equal(interface->specialization_defaults[0], 16);
    assert_int_equal(out.specialization_sizes[0], 4);
    assert_int_equal(out.local_size_ids[0], VYRE_SPIRV_NO_ID);
    assert_int_equal(out.version, SPIRV_VERSION_MAX);
    assert_int_equal(out.capability_count, 1);
    assert_int_equal(out.capabilities[0], 1);
    assert_false(out.uses_physical_addresses);
    assert_false(out.local_size_by_id);
}

static void reflect_uniform_block_is_uniform(void **state)
{
    (void)state;
    struct vyre_spirv_reflection out =
        accept_kernel((struct kernel_options){.storage_class = SPIRV_CLASS_UNIFORM}, "k");
    assert_int_equal(out.interface.bindings[0].role, VYRE_ROLE_UNIFORM);
    assert_int_equal(out.interface.bindings[0].access, VYRE_ACCESS_READ);
}

static void reflect_local_size_id_gives_defaults_and_ids(void **state)
{
    (void)state;
    enum size_kind kinds[] = {SIZE_BY_ID, SIZE_COMPOSITE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct vyre_spirv_reflection out =
            accept_kernel((struct kernel_options){.size = kinds[i]}, "k");
        assert_true(out.interface.has_local_size);
        assert_int_equal(out.interface.local_size[0], 16);
        assert_int_equal(out.interface.local_size[1], 4);
        assert_int_equal(out.interface.local_size[2], 2);
        assert_int_equal(out.local_size_ids[0], 7);
        assert_int_equal(out.local_size_ids[1], VYRE_SPIRV_NO_ID);
        assert_int_equal(out.local_size_by_id, kinds[i] == SIZE_BY_ID);
    }
}

static void reflect_local_size_expression_is_unknown(void **state)
{
    (void)state;
    struct vyre_spirv_reflection out =
        accept_kernel((struct kernel_options){.size = SIZE_EXPRESSION}, "k");
    assert_false(out.interface.has_local_size);
    assert_int_equal(out.interface.local_size[0], 0);
}

static void reflect_two_entries_each_sees_its_own_buffer(void **state)
{
    (void)state;
    uint32_t versions[] = {0x00010300, 0x00010500};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct kernel_options options = {.version = versions[i], .two_entries = true};
        struct vyre_spirv_reflection first = accept_kernel(options, "k");
        struct vyre_spirv_reflection second = accept_kernel(options, "s");
        assert_int_equal(first.interface.binding_count, 1);
        assert_int_equal(first.interface.bindings[0].slot, 5);
        assert_int_equal(second.interface.binding_count, 1);
        assert_int_equal(second.interface.bindings[0].slot, 9);
        assert_int_equal(second.interface.local_size[0], 8);
    }
}

/* A body without an end must not take in the next: else many of them take square time. */
static void reflect_function_without_end_stops_at_the_next(void **state)
{
    (void)state;
    struct assembly module;
    struct vyre_spirv_reflection out;
    struct vyre_diag diag;
    make_kernel(&module, &(struct kernel_options){.two_entries = true, .version = 0x00010300});
    for (size_t i = SPIRV_HEADER_WORDS; i < module.count; i += module.words[i] >> 16) {
        if ((module.words[i] & 0xffff) == SPIRV_OP_FUNCTION_END)
            module.words[i] = 1u << 16 | SPIRV_OP_NOP;
    }
    assert_int_equal(read_words(module.words, module.count, "k", &out, &diag), VYRE_OK);
    assert_int_equal(out.interface.binding_count, 1);
    assert_int_equal(out.interface.bindings[0].slot, 5);
}

/* Ids of local memory, behind those of assemble.h. */
enum { LOCAL_TEN = 100, LOCAL_BOOL, LOCAL_VECTOR, LOCAL_ARRAY, LOCAL_STRUCT, LOCAL_NEXT };

/* A module up to its variables, with types for local memory. */
static void begin_local_of(struct assembly *module, const struct kernel_options *options)
{
    emit_header(module, 0x00010300, 200);
    emit(module, SPIRV_OP_ENTRY_POINT, 3, SPIRV_MODEL_GL_COMPUTE, ID_MAIN, short_name("k"));
    emit(module, SPIRV_OP_EXECUTION_MODE, 5, ID_MAIN, SPIRV_MODE_LOCAL_SIZE, 1, 1, 1);
    emit_decorations(module, options);
    emit_types(module, options);
    emit(module, SPIRV_OP_CONSTANT, 3, ID_UINT, LOCAL_TEN, 10);
    emit(module, SPIRV_OP_TYPE_BOOL, 1, LOCAL_BOOL);
    emit(module, SPIRV_OP_TYPE_VECTOR, 3, LOCAL_VECTOR, ID_UINT, 3);
    emit(module, SPIRV_OP_TYPE_ARRAY, 3, LOCAL_ARRAY, ID_UINT, LOCAL_TEN);
    emit(module, SPIRV_OP_TYPE_STRUCT, 4, LOCAL_STRUCT, ID_UINT, LOCAL_BOOL, LOCAL_VECTOR);
}

static void begin_local(struct assembly *module)
{
    begin_local_of(module, &(struct kernel_options){0});
}

/* A variable of a type, with two ids from `id` on. */
static void add_local(struct assembly *module, uint32_t id, uint32_t type)
{
    emit(module, SPIRV_OP_TYPE_POINTER, 3, id, SPIRV_CLASS_WORKGROUP, type);
    emit(module, SPIRV_OP_VARIABLE, 3, id, id + 1, SPIRV_CLASS_WORKGROUP);
}

static struct vyre_spirv_reflection end_local(struct assembly *module)
{
    struct vyre_spirv_reflection out;
    struct vyre_diag diag;
    emit_function(module, ID_MAIN, ID_LABEL, ID_BUFFER, ID_BOUND);
    if (read_words(module->words, module->count, "k", &out, &diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    return out;
}

static void reflect_local_memory_is_counted(void **state)
{
    (void)state;
    struct assembly module;
    begin_local(&module);
    struct vyre_spirv_reflection out = end_local(&module);
    assert_int_equal(out.local_bytes, 0);

    begin_local(&module);
    add_local(&module, 110, ID_UINT);
    add_local(&module, 112, LOCAL_ARRAY);
    add_local(&module, 114, LOCAL_STRUCT);
    out = end_local(&module);
    assert_int_equal(out.local_bytes, 4 + 40 + 4 + 4 + 12);
    assert_int_equal(out.sized_count, 0);

    /* [10][X] of structs, where X is the specialization constant 7. */
    begin_local(&module);
    emit(&module, SPIRV_OP_TYPE_ARRAY, 3, 120, LOCAL_STRUCT, ID_X);
    emit(&module, SPIRV_OP_TYPE_ARRAY, 3, 121, 120, LOCAL_TEN);
    add_local(&module, 122, 121);
    out = end_local(&module);
    assert_int_equal(out.local_bytes, 0);
    assert_int_equal(out.sized_count, 1);
    assert_int_equal(out.sized[0].unit_bytes, 200);
    assert_int_equal(out.sized[0].id_count, 1);
    assert_int_equal(out.sized[0].ids[0], 7);
    assert_int_equal(out.sized[0].defaults[0], 16);
}

/* X and y have one id: a length is the default of its own constant. */
static void reflect_local_memory_keeps_the_default_of_its_constant(void **state)
{
    (void)state;
    struct assembly module;
    begin_local_of(&module, &(struct kernel_options){.second_default = 5});
    emit(&module, SPIRV_OP_TYPE_ARRAY, 3, 120, ID_UINT, ID_Y);
    emit(&module, SPIRV_OP_TYPE_ARRAY, 3, 121, 120, ID_X);
    add_local(&module, 122, 121);
    struct vyre_spirv_reflection out = end_local(&module);
    assert_int_equal(out.sized_count, 1);
    assert_int_equal(out.sized[0].id_count, 2);
    assert_int_equal(out.sized[0].ids[0], 7);
    assert_int_equal(out.sized[0].defaults[0], 16);
    assert_int_equal(out.sized[0].ids[1], 7);
    assert_int_equal(out.sized[0].defaults[1], 5);
}

static void reflect_constants_of_one_id_are_listed_once(void **state)
{
    (void)state;
    const enum size_kind kinds[] = {SIZE_BY_ID, SIZE_COMPOSITE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct vyre_spirv_reflection out =
            accept_kernel((struct kernel_options){.size = kinds[i], .second_default = 3}, "k");
        assert_int_equal(out.interface.specialization_count, 1);
        assert_int_equal(out.interface.specialization_ids[0], 7);
        assert_int_equal(out.interface.specialization_defaults[0], 16);
        assert_int_equal(out.interface.specialization_mixed, 1);
        assert_int_equal(out.fixed_count, 0);
        /* Each dimension has its own default, and both follow the id. */
        assert_int_equal(out.interface.local_size[0], 16);
        assert_int_equal(out.interface.local_size[1], 3);
        assert_int_equal(out.local_size_ids[0], 7);
        assert_int_equal(out.local_size_ids[1], 7);

        out = accept_kernel((struct kernel_options){.size = kinds[i], .second_default = 16}, "k");
        assert_int_equal(out.interface.specialization_count, 1);
        assert_int_equal(out.interface.specialization_mixed, 0);
    }
}

static void reflect_local_memory_of_any_size_ends(void **state)
{
    (void)state;
    struct assembly module;
    /* Each type holds the one before it twice, 60 times: 2^62 bytes; then 2^32 times that. */
    begin_local(&module);
    emit(&module, SPIRV_OP_TYPE_STRUCT, 3, LOCAL_NEXT, ID_UINT, ID_UINT);
    for (uint32_t i = 1; i < 60; i++)
        emit(&module, SPIRV_OP_TYPE_STRUCT, 3, LOCAL_NEXT + i, LOCAL_NEXT + i - 1,
             LOCAL_NEXT + i - 1);
    add_local(&module, 170, LOCAL_NEXT + 59);
    emit(&module, SPIRV_OP_CONSTANT, 3, ID_UINT, 180, UINT32_MAX);
    struct assembly larger = module;
    assert_int_equal(end_local(&module).local_bytes, UINT64_C(1) << 62);
    emit(&larger, SPIRV_OP_TYPE_ARRAY, 3, 181, LOCAL_NEXT + 59, 180);
    add_local(&larger, 182, 181);
    assert_true(end_local(&larger).local_bytes == UINT64_MAX);

    /* A struct and an array that hold themselves. */
    begin_local(&module);
    emit(&module, SPIRV_OP_TYPE_STRUCT, 2, 120, 120);
    emit(&module, SPIRV_OP_TYPE_ARRAY, 3, 121, 121, LOCAL_TEN);
    add_local(&module, 122, 120);
    add_local(&module, 124, 121);
    assert_int_equal(end_local(&module).local_bytes, 0);

    /* More sized ones than are listed: the default of 16 is counted. */
    begin_local(&module);
    emit(&module, SPIRV_OP_TYPE_ARRAY, 3, 120, ID_UINT, ID_X);
    for (uint32_t i = 0; i < VYRE_SPIRV_SIZED_MAX + 1; i++)
        add_local(&module, 130 + 2 * i, 120);
    struct vyre_spirv_reflection out = end_local(&module);
    assert_int_equal(out.sized_count, VYRE_SPIRV_SIZED_MAX);
    assert_int_equal(out.local_bytes, 64);
}

static void reflect_header_wrong_is_refused(void **state)
{
    (void)state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){0});
    module.count = 0;
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_MAGIC);
    make_kernel(&module, &(struct kernel_options){0});
    module.words[0] = 0x464c457f;
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_MAGIC);
    module.words[0] = SPIRV_MAGIC_SWAPPED;
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_ENDIANNESS);
    module.words[0] = SPIRV_MAGIC;
    uint32_t versions[] = {0, 0x00000900, 0x00010600, 0x00020000, 0x00010501, 0x01010500};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        module.words[1] = versions[i];
        refuse_words(&module, "k", VYRE_DIAG_SPIRV_VERSION);
    }
    module.words[1] = SPIRV_VERSION_MAX;
    uint32_t bounds[] = {0, SPIRV_ID_BOUND_MAX + 1, UINT32_MAX, ID_BUFFER};
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        module.words[3] = bounds[i];
        refuse_words(&module, "k", VYRE_DIAG_SPIRV_MALFORMED);
    }
    module.words[3] = ID_BOUND;
    module.count = 4;
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_TRUNCATED);
}

static void reflect_instruction_wrong_is_refused(void **state)
{
    (void)state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){0});
    module.words[module.count++] = SPIRV_OP_NOP; /* a length of 0 */
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_MALFORMED);
    module.words[module.count - 1] = 2u << 16 | SPIRV_OP_NOP;
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_TRUNCATED);
    module.count--;
    emit(&module, SPIRV_OP_TYPE_INT, 1, ID_SIZE);
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_MALFORMED);
    make_kernel(&module, &(struct kernel_options){0});
    emit(&module, SPIRV_OP_TYPE_VOID, 1, ID_UINT);
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_MALFORMED);
    refuse_kernel((struct kernel_options){.group = true}, VYRE_DIAG_SPIRV_MALFORMED);
}

static void reflect_name_without_end_is_refused(void **state)
{
    (void)state;
    struct assembly module;
    emit_header(&module, SPIRV_VERSION_MAX, ID_BOUND);
    emit(&module, SPIRV_OP_ENTRY_POINT, 3, SPIRV_MODEL_GL_COMPUTE, ID_MAIN, 0x61616161u);
    refuse_words(&module, "aaaa", VYRE_DIAG_SPIRV_MALFORMED);
}

static void reflect_entry_wrong_is_refused(void **state)
{
    (void)state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){0});
    refuse_words(&module, "kk", VYRE_DIAG_SPIRV_ENTRY);
    refuse_words(&module, "", VYRE_DIAG_SPIRV_ENTRY);
    refuse_words(&module, NULL, VYRE_DIAG_SPIRV_ENTRY); /* "main" */
    refuse_kernel((struct kernel_options){.model = 4}, VYRE_DIAG_SPIRV_NO_COMPUTE);
    emit_header(&module, SPIRV_VERSION_MAX, ID_BOUND);
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_NO_COMPUTE);
}

static void reflect_kernel_not_taken_is_refused(void **state)
{
    (void)state;
    const struct {
        struct kernel_options options;
        enum vyre_diag_id id;
    } cases[] = {
        {{.set = 1}, VYRE_DIAG_SPIRV_SET},
        {{.no_set = true}, VYRE_DIAG_SPIRV_BINDING},
        {{.no_binding = true}, VYRE_DIAG_SPIRV_BINDING},
        {{.storage_class = SPIRV_CLASS_UNIFORM, .no_block = true}, VYRE_DIAG_SPIRV_MALFORMED},
        {{.storage_class = 3}, VYRE_DIAG_SPIRV_RESOURCE},  /* Output */
        {{.storage_class = 10}, VYRE_DIAG_SPIRV_RESOURCE}, /* AtomicCounter */
        {{.storage_class = 11}, VYRE_DIAG_SPIRV_RESOURCE}, /* Image */
        {{.storage_class = 5349}, VYRE_DIAG_SPIRV_RESOURCE},
        {{.size = SIZE_NONE}, VYRE_DIAG_SPIRV_LOCAL_SIZE},
        {{.zero_size = true}, VYRE_DIAG_SPIRV_LOCAL_SIZE},
        {{.spec_id_of_constant = true}, VYRE_DIAG_SPIRV_SPECIALIZATION},
        {{.storage_class = SPIRV_CLASS_PUSH_CONSTANT}, VYRE_DIAG_SPIRV_CONSTANTS},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        refuse_kernel(cases[i].options, cases[i].id);
}

static void reflect_struct_that_holds_itself_ends(void **state)
{
    (void)state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){.storage_class = SPIRV_CLASS_PUSH_CONSTANT});
    /* The struct's only member becomes the struct itself. */
    for (size_t i = SPIRV_HEADER_WORDS; i < module.count; i += module.words[i] >> 16) {
        if ((module.words[i] & 0xffff) == SPIRV_OP_TYPE_STRUCT)
            module.words[i + 2] = ID_BLOCK;
    }
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_CONSTANTS);
}

static void reflect_too_many_is_refused(void **state)
{
    (void)state;
    struct assembly module;
    emit_header(&module, 0x00010000, 300);
    emit(&module, SPIRV_OP_ENTRY_POINT, 3, SPIRV_MODEL_GL_COMPUTE, ID_MAIN, short_name("k"));
    for (uint32_t i = 0; i <= VYRE_SPIRV_CAPABILITIES_MAX; i++)
        emit(&module, SPIRV_OP_CAPABILITY, 1, i);
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_LIMIT);

    emit_header(&module, 0x00010000, 300);
    emit(&module, SPIRV_OP_ENTRY_POINT, 3, SPIRV_MODEL_GL_COMPUTE, ID_MAIN, short_name("k"));
    for (uint32_t i = 0; i <= VYRE_KERNEL_BINDINGS_MAX; i++) {
        emit(&module, SPIRV_OP_DECORATE, 3, 100 + i, SPIRV_DECORATION_DESCRIPTOR_SET, 0);
        emit(&module, SPIRV_OP_DECORATE, 3, 100 + i, SPIRV_DECORATION_BINDING, 1000 - i);
    }
    emit_types(&module, &(struct kernel_options){0});
    module.count -= 4; /* its own variable */
    for (uint32_t i = 0; i <= VYRE_KERNEL_BINDINGS_MAX; i++)
        emit(&module, SPIRV_OP_VARIABLE, 3, ID_POINTER, 100 + i, SPIRV_CLASS_STORAGE_BUFFER);
    refuse_words(&module, "k", VYRE_DIAG_SPIRV_LIMIT);
}

static void reflect_module_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){.two_entries = true, .version = 0x00010300});
    struct vyre_spirv_reflection out;
    struct vyre_diag diag;
    size_t refused = 0;
    for (size_t count = 0; count < module.count; count++) {
        if (read_words(module.words, count, "k", &out, &diag) != VYRE_OK)
            refused++;
    }
    /* Cut between two instructions of the code behind all that is read, it may pass. */
    assert_true(refused > module.count * 3 / 4);
}

static void reflect_random_bits_never_reads_outside(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(20);
    enum size_kind sizes[] = {SIZE_LITERAL, SIZE_BY_ID, SIZE_COMPOSITE};
    size_t passed = 0, refused = 0;
    for (int round = 0; round < 10000; round++) {
        struct assembly module;
        make_kernel(&module, &(struct kernel_options){
                                 .version = round & 1 ? 0x00010300 : 0x00010500,
                                 .two_entries = round & 2,
                                 .size = sizes[round % 3],
                                 .storage_class = round % 5 ? 0 : SPIRV_CLASS_PUSH_CONSTANT});
        for (uint64_t flips = 1 + rng_next(&rng) % 4; flips > 0; flips--) {
            uint64_t bit = rng_next(&rng) % (module.count * 32);
            if (bit / 32 == 3) /* a bound of millions is only slow */
                bit %= 8;
            module.words[bit / 32] ^= 1u << bit % 32;
        }
        struct vyre_spirv_reflection out;
        struct vyre_diag diag;
        if (read_words(module.words, module.count, "k", &out, &diag) == VYRE_OK)
            passed++;
        else
            refused++;
    }
    assert_true(passed > 100 && refused > 100);
}

static void reflect_without_memory_says_so(void **state)
{
    (void)state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){.two_entries = true, .version = 0x00010300});
    struct counting_allocator counts = {0};
    struct vyre_allocator allocator = counting_allocator_face(&counts);
    struct vyre_spirv_reflection out;
    struct vyre_diag diag = {0};
    assert_int_equal(
        vyre_spirv_words_reflect(&allocator, module.words, module.count, "k", NULL, &out, &diag),
        VYRE_OK);
    assert_int_equal(counts.live_count, 0);
    assert_int_equal(counts.mismatch_count, 0);
    assert_int_equal(counts.taken_count, 3);
    counts.fails = true;
    assert_diag(
        vyre_spirv_words_reflect(&allocator, module.words, module.count, "k", NULL, &out, &diag),
        diag, VYRE_DIAG_OUT_OF_MEMORY);
    struct vyre_spirv_words words;
    assert_diag(vyre_spirv_words_copy(&allocator, "....", 4, NULL, &words, &diag), diag,
                VYRE_DIAG_OUT_OF_MEMORY);
}

static void copy_checks_the_size(void **state)
{
    (void)state;
    struct counting_allocator counts = {0};
    struct vyre_allocator allocator = counting_allocator_face(&counts);
    struct vyre_spirv_words words = {NULL, 9};
    struct vyre_diag diag = {0};
    const char bytes[] = "xabcdefgh";
    assert_diag(vyre_spirv_words_copy(&allocator, bytes, 0, NULL, &words, &diag), diag,
                VYRE_DIAG_SPIRV_MAGIC);
    assert_diag(vyre_spirv_words_copy(&allocator, bytes, 7, NULL, &words, &diag), diag,
                VYRE_DIAG_SPIRV_TRUNCATED);
    assert_diag(vyre_spirv_words_copy(&allocator, bytes, (VYRE_SPIRV_WORDS_MAX + (size_t)1) * 4,
                                      NULL, &words, &diag),
                diag, VYRE_DIAG_SPIRV_LIMIT);
    assert_null(words.words);
    assert_int_equal(words.count, 0);
    assert_int_equal(vyre_spirv_words_copy(&allocator, bytes + 1, 8, NULL, &words, &diag), VYRE_OK);
    assert_int_equal(words.count, 2);
    assert_memory_equal(words.words, bytes + 1, 8);
    vyre_spirv_words_free(&allocator, &words);
    vyre_spirv_words_free(&allocator, &words);
    assert_int_equal(counts.live_count, 0);
    assert_int_equal(counts.mismatch_count, 0);
}

static void contraction_decorates_each_result_once(void **state)
{
    (void)state;
    struct assembly module;
    emit_header(&module, SPIRV_VERSION_MAX, 20);
    emit(&module, SPIRV_OP_CAPABILITY, 1, 1);
    emit(&module, SPIRV_OP_DECORATE, 2, 11, SPIRV_DECORATION_NO_CONTRACTION);
    size_t place = module.count;
    emit(&module, SPIRV_OP_TYPE_VOID, 1, 2);
    emit(&module, SPIRV_OP_F_ADD, 4, 1, 10, 5, 6);
    emit(&module, SPIRV_OP_F_MUL, 4, 1, 11, 5, 6);
    emit(&module, 128, 4, 1, 12, 5, 6); /* IAdd */
    emit(&module, SPIRV_OP_DOT, 4, 1, 13, 5, 6);
    struct vyre_allocator allocator = system_allocator();
    struct vyre_spirv_words made, again;
    struct vyre_diag diag = {0};
    assert_int_equal(
        vyre_spirv_forbid_contraction(&allocator, module.words, module.count, NULL, &made, &diag),
        VYRE_OK);
    const uint32_t added[] = {3u << 16 | SPIRV_OP_DECORATE, 10, SPIRV_DECORATION_NO_CONTRACTION,
                              3u << 16 | SPIRV_OP_DECORATE, 13, SPIRV_DECORATION_NO_CONTRACTION};
    assert_int_equal(made.count, module.count + COUNT_OF(added));
    assert_memory_equal(made.words, module.words, place * 4);
    assert_memory_equal(made.words + place, added, sizeof added);
    assert_memory_equal(made.words + place + COUNT_OF(added), module.words + place,
                        (module.count - place) * 4);
    assert_int_equal(
        vyre_spirv_forbid_contraction(&allocator, made.words, made.count, NULL, &again, &diag),
        VYRE_OK);
    assert_int_equal(again.count, made.count);
    vyre_spirv_words_free(&allocator, &again);
    vyre_spirv_words_free(&allocator, &made);

    emit(&module, SPIRV_OP_F_ADD, 4, 1, 10, 5, 6);
    assert_diag(
        vyre_spirv_forbid_contraction(&allocator, module.words, module.count, NULL, &made, &diag),
        diag, VYRE_DIAG_SPIRV_MALFORMED);
    module.words[0] = 0;
    assert_diag(
        vyre_spirv_forbid_contraction(&allocator, module.words, module.count, NULL, &made, &diag),
        diag, VYRE_DIAG_SPIRV_MAGIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reflect_plain_kernel_gives_its_interface),
        cmocka_unit_test(reflect_uniform_block_is_uniform),
        cmocka_unit_test(reflect_local_size_id_gives_defaults_and_ids),
        cmocka_unit_test(reflect_local_size_expression_is_unknown),
        cmocka_unit_test(reflect_two_entries_each_sees_its_own_buffer),
        cmocka_unit_test(reflect_function_without_end_stops_at_the_next),
        cmocka_unit_test(reflect_local_memory_is_counted),
        cmocka_unit_test(reflect_local_memory_keeps_the_default_of_its_constant),
        cmocka_unit_test(reflect_constants_of_one_id_are_listed_once),
        cmocka_unit_test(reflect_local_memory_of_any_size_ends),
        cmocka_unit_test(reflect_header_wrong_is_refused),
        cmocka_unit_test(reflect_instruction_wrong_is_refused),
        cmocka_unit_test(reflect_name_without_end_is_refused),
        cmocka_unit_test(reflect_entry_wrong_is_refused),
        cmocka_unit_test(reflect_kernel_not_taken_is_refused),
        cmocka_unit_test(reflect_struct_that_holds_itself_ends),
        cmocka_unit_test(reflect_too_many_is_refused),
        cmocka_unit_test(reflect_module_cut_anywhere_is_refused),
        cmocka_unit_test(reflect_random_bits_never_reads_outside),
        cmocka_unit_test(reflect_without_memory_says_so),
        cmocka_unit_test(copy_checks_the_size),
        cmocka_unit_test(contraction_decorates_each_result_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
