/*
 * module_fixture.h: the optional module, loaded, and both reflections of a kernel side by side.
 */
#ifndef VYRE_TESTS_SPIRV_MODULE_FIXTURE_H
#define VYRE_TESTS_SPIRV_MODULE_FIXTURE_H

#include "support/test.h"

#include "base/memory.h"
#include "spirv/tools_load.h"
#include "spirv/words.h"

#define HEAD     "#version 450\nlayout(local_size_x = 64) in;\n"
#define EMPTY    "void main() {}\n"
#define BUFFER_0 "layout(set = 0, binding = 0) buffer B { uint v[]; } b;\n"

struct fixture {
    struct vyre_spirv_tools tools;
    struct vyre_allocator allocator;
};

static inline int fixture_open(void **state)
{
    static struct fixture fixture;
    struct vyre_diag diag = {0};
    fixture.allocator = vyre_allocator_resolve(&(struct vyre_allocator){0});
    if (vyre_spirv_tools_load(VYRE_TEST_MODULE, &fixture.tools, &diag) != VYRE_OK) {
        print_error("%s\n", diag.message);
        return 1;
    }
    *state = &fixture;
    return 0;
}

static inline int fixture_close(void **state)
{
    struct fixture *fixture = *state;
    vyre_spirv_tools_unload(&fixture->tools);
    return 0;
}

static inline struct vyre_spirv_words compile_text(struct fixture *fixture, const char *text)
{
    struct vyre_glsl_source source = {.label = "test", .text = text, .size_bytes = strlen(text)};
    struct vyre_spirv_words words;
    struct vyre_diag diag = {0};
    if (fixture->tools.table->compile_glsl(&fixture->allocator, &source, &words, &diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    return words;
}

static inline void assert_same_reflection(const struct vyre_spirv_reflection *a,
                                          const struct vyre_spirv_reflection *b)
{
    const struct vyre_kernel_interface *x = &a->interface, *y = &b->interface;
    assert_int_equal(x->has_bindings, y->has_bindings);
    assert_int_equal(x->has_constants, y->has_constants);
    assert_int_equal(x->has_local_size, y->has_local_size);
    assert_int_equal(x->has_specialization, y->has_specialization);
    assert_int_equal(x->binding_count, y->binding_count);
    for (uint32_t i = 0; i < x->binding_count; i++) {
        assert_int_equal(x->bindings[i].slot, y->bindings[i].slot);
        assert_int_equal(x->bindings[i].role, y->bindings[i].role);
        assert_int_equal(x->bindings[i].access, y->bindings[i].access);
        assert_int_equal(x->bindings[i].table, y->bindings[i].table);
        assert_null(x->bindings[i].label);
        assert_null(y->bindings[i].label);
    }
    assert_int_equal(x->constants_size_bytes, y->constants_size_bytes);
    assert_int_equal(x->constant_count, y->constant_count);
    assert_memory_equal(x->constants, y->constants, sizeof x->constants);
    assert_memory_equal(x->local_size, y->local_size, sizeof x->local_size);
    assert_int_equal(x->specialization_count, y->specialization_count);
    assert_memory_equal(x->specialization_ids, y->specialization_ids, sizeof x->specialization_ids);
    assert_memory_equal(x->specialization_defaults, y->specialization_defaults,
                        sizeof x->specialization_defaults);
    assert_int_equal(x->specialization_mixed, y->specialization_mixed);
    assert_int_equal(a->fixed_count, b->fixed_count);
    assert_memory_equal(a->fixed_ids, b->fixed_ids, sizeof a->fixed_ids);
    assert_int_equal(a->sized_count, b->sized_count);
    assert_memory_equal(a->sized, b->sized, sizeof a->sized);
    assert_memory_equal(a->specialization_sizes, b->specialization_sizes,
                        sizeof a->specialization_sizes);
    assert_memory_equal(a->local_size_ids, b->local_size_ids, sizeof a->local_size_ids);
    assert_int_equal(a->local_size_by_id, b->local_size_by_id);
    assert_int_equal(a->uses_physical_addresses, b->uses_physical_addresses);
    assert_int_equal(a->capability_count, b->capability_count);
}

/* Both readers on valid words; they must agree. */
static inline struct vyre_spirv_reflection reflect_words(struct fixture *fixture,
                                                         const uint32_t *words, size_t count,
                                                         const char *entry)
{
    struct vyre_spirv_reflection by_module, by_words;
    struct vyre_diag diag = {0};
    if (fixture->tools.table->reflect(&fixture->allocator, words, count, entry, "test", &by_module,
                                      &diag) != VYRE_OK ||
        vyre_spirv_words_reflect(&fixture->allocator, words, count, entry, "test", &by_words,
                                 &diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    assert_same_reflection(&by_module, &by_words);
    return by_module;
}

static inline struct vyre_spirv_reflection reflect_text(struct fixture *fixture, const char *text)
{
    struct vyre_spirv_words words = compile_text(fixture, text);
    struct vyre_spirv_reflection out = reflect_words(fixture, words.words, words.count, NULL);
    fixture->tools.table->free_words(&fixture->allocator, &words);
    return out;
}

/* Both readers refuse with the same id and leave nothing behind. */
static inline void refuse_words(struct fixture *fixture, const uint32_t *words, size_t count,
                                const char *entry, enum vyre_diag_id id)
{
    struct vyre_spirv_reflection out, zeroed;
    struct vyre_diag diag = {0};
    memset(&zeroed, 0, sizeof zeroed);
    memset(&out, 0x5a, sizeof out);
    assert_diag(fixture->tools.table->reflect(&fixture->allocator, words, count, entry, "test",
                                              &out, &diag),
                diag, id);
    assert_string_equal(diag.label, "test");
    assert_memory_equal(&out, &zeroed, sizeof out);
    memset(&out, 0x5a, sizeof out);
    assert_diag(
        vyre_spirv_words_reflect(&fixture->allocator, words, count, entry, "test", &out, &diag),
        diag, id);
    assert_memory_equal(&out, &zeroed, sizeof out);
}

static inline void refuse_text(struct fixture *fixture, const char *text, const char *entry,
                               enum vyre_diag_id id)
{
    struct vyre_spirv_words words = compile_text(fixture, text);
    refuse_words(fixture, words.words, words.count, entry, id);
    fixture->tools.table->free_words(&fixture->allocator, &words);
}

#endif
