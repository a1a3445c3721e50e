/*
 * tools_test.c: GLSL, validation and reflection through the optional module, each reflection held
 * against that of the library's own reader.
 */
#include "spirv/module_fixture.h"

#include <dirent.h>

#include "spirv/assemble.h"
#include "support/counting_allocator.h"

/* ---- Reflection ------------------------------------------------------------------------------- */

static void reflect_bindings_have_slot_role_and_access(void **state)
{
    struct vyre_spirv_reflection out = reflect_text(
        *state,
        HEAD "layout(set = 0, binding = 7) readonly buffer A { uint v[]; } a;\n"
             "layout(set = 0, binding = 2) writeonly buffer B { uint v[]; } b;\n"
             "layout(set = 0, binding = 40) buffer C { uint n; uint v[]; } c;\n"
             "layout(set = 0, binding = 5) uniform D { uvec4 v; } d;\n"
             "layout(set = 0, binding = 9) buffer E { readonly uint n; uint m; } e;\n"
             "layout(set = 0, binding = 10) buffer F { readonly uint n; readonly uint m; } f;\n"
             "layout(set = 0, binding = 11) buffer G { uint m; } unused;\n"
             "shared uint s[64];\n"
             "void main() { s[0] = f.n; b.v[0] = a.v[0] + c.n + d.v.x + e.n + s[1]; }\n");
    const struct {
        uint32_t slot;
        enum vyre_role role;
        enum vyre_access access;
    } expected[] = {
        {2, VYRE_ROLE_NONE, VYRE_ACCESS_WRITE},      {5, VYRE_ROLE_UNIFORM, VYRE_ACCESS_READ},
        {7, VYRE_ROLE_NONE, VYRE_ACCESS_READ},       {9, VYRE_ROLE_NONE, VYRE_ACCESS_READWRITE},
        {10, VYRE_ROLE_NONE, VYRE_ACCESS_READ},      {11, VYRE_ROLE_NONE, VYRE_ACCESS_READWRITE},
        {40, VYRE_ROLE_NONE, VYRE_ACCESS_READWRITE},
    };
    assert_int_equal(out.interface.binding_count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(out.interface.bindings[i].slot, expected[i].slot);
        assert_int_equal(out.interface.bindings[i].role, expected[i].role);
        assert_int_equal(out.interface.bindings[i].access, expected[i].access);
    }
    assert_int_equal(out.interface.local_size[0], 64);
    assert_false(out.uses_physical_addresses);
}

static void reflect_constants_lists_scalars_where_it_can(void **state)
{
    const struct {
        const char *members;
        uint32_t count, size;
    } cases[] = {
        {"uint a; float b; int c;", 3, 12},
        {"uint a; double b; uint c;", 3, 24}, /* padded as a C struct is */
        {"uint64_t a; int64_t b;", 2, 16},
        {"vec4 a; uint b;", 0, 20},
        {"uint a[4];", 0, 16},
        {"mat4 a;", 0, 64},
        {"layout(row_major) mat3x2 a;", 0, 32}, /* 2 rows of 16 bytes */
        {"mat3x2 a;", 0, 24},
        {"uint a; S s; uint b;", 0, 16},
        {"S s[3];", 0, 24},
        {"layout(offset = 8) uint a;", 0, 12},
        {"uint a; layout(offset = 16) uint b;", 0, 20},
        {"mat4 a; mat4 b;", 0, 128},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable\n"
                 "layout(local_size_x = 1) in;\nstruct S { uint x; float y; };\n"
                 "layout(push_constant) uniform P { %s } p;\n" EMPTY,
                 cases[i].members);
        struct vyre_spirv_reflection out = reflect_text(*state, text);
        assert_int_equal(out.interface.constant_count, cases[i].count);
        assert_int_equal(out.interface.constants_size_bytes, cases[i].size);
    }
}

static void reflect_constants_keeps_the_types(void **state)
{
    struct vyre_spirv_reflection out = reflect_text(
        *state, "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable\n"
                "layout(local_size_x = 1) in;\nlayout(push_constant) uniform P {\n"
                "uint a; int b; float c; uint64_t d; int64_t e; double f; };\n" EMPTY);
    const enum vyre_scalar expected[] = {VYRE_SCALAR_U32, VYRE_SCALAR_I32, VYRE_SCALAR_F32,
                                         VYRE_SCALAR_U64, VYRE_SCALAR_I64, VYRE_SCALAR_F64};
    assert_int_equal(out.interface.constant_count, COUNT_OF(expected));
    assert_memory_equal(out.interface.constants, expected, sizeof expected);
    assert_int_equal(out.interface.constants_size_bytes, 40);
}

static void reflect_specialization_gives_ids_defaults_and_sizes(void **state)
{
    struct vyre_spirv_reflection out = reflect_text(
        *state, "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : enable\n"
                "layout(local_size_x = 8) in;\n"
                "layout(constant_id = 9) const uint a = 0xffffffffu;\n"
                "layout(constant_id = 1) const int b = -2;\n"
                "layout(constant_id = 4) const float c = 1.5;\n"
                "layout(constant_id = 6) const double d = -0.5;\n"
                "layout(constant_id = 7) const bool e = true;\n"
                "layout(constant_id = 8) const bool f = false;\n"
                "layout(constant_id = 3) const int16_t h = int16_t(-3);\n"
                "layout(constant_id = 5) const uint64_t g = 0x123456789abcdef0ul;\n" EMPTY);
    const struct {
        uint32_t id;
        uint64_t bits;
        uint32_t size;
    } expected[] = {
        {1, 0xfffffffe, 4},         {3, 0xfffd, 2}, {4, 0x3fc00000, 4}, {5, 0x123456789abcdef0, 8},
        {6, 0xbfe0000000000000, 8}, {7, 1, 4},      {8, 0, 4},          {9, 0xffffffff, 4},
    };
    assert_int_equal(out.interface.specialization_count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(out.interface.specialization_ids[i], expected[i].id);
        assert_int_equal(out.interface.specialization_defaults[i], expected[i].bits);
        assert_int_equal(out.specialization_sizes[i], expected[i].size);
    }
}

#define SHARED_SIZE "#version 450\nlayout(local_size_x_id = 3) in;\n"
#define ARITHMETIC  "#extension GL_EXT_shader_explicit_arithmetic_types : enable\n"

/* The local size and constants of the shader have one id, as many shaders that are about do. */
static void reflect_constants_of_one_id_and_size_are_one_value(void **state)
{
    struct vyre_spirv_reflection out = reflect_text(
        *state, SHARED_SIZE "layout(constant_id = 3) const uint N = 32;\n"
                            "layout(constant_id = 5) const uint M = 1;\n"
                            "shared uint words[N];\n" BUFFER_0
                            "void main() { words[N - 1u] = gl_WorkGroupSize.x; b.v[0] = "
                            "words[N - 1u] + M; }\n");
    assert_int_equal(out.interface.specialization_count, 2);
    assert_int_equal(out.interface.specialization_ids[0], 3);
    assert_int_equal(out.interface.specialization_ids[1], 5);
    assert_int_equal(out.interface.specialization_mixed, 1);
    assert_int_equal(out.specialization_sizes[0], 4);
    assert_int_equal(out.fixed_count, 0);
    assert_int_equal(out.interface.local_size[0], 1);
    assert_int_equal(out.local_size_ids[0], 3);
    assert_int_equal(out.sized_count, 1);
    assert_int_equal(out.sized[0].defaults[0], 32);

    out = reflect_text(*state, SHARED_SIZE "layout(constant_id = 3) const uint N = 1;\n" EMPTY);
    assert_int_equal(out.interface.specialization_count, 1);
    assert_int_equal(out.interface.specialization_defaults[0], 1);
    assert_int_equal(out.interface.specialization_mixed, 0);

    static const char *const others[] = {"int N = -1", "float N = 2.0", "bool N = false"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char text[256];
        snprintf(text, sizeof text, SHARED_SIZE "layout(constant_id = 3) const %s;\n" EMPTY,
                 others[i]);
        out = reflect_text(*state, text);
        assert_int_equal(out.interface.specialization_count, 1);
        assert_int_equal(out.interface.specialization_mixed, 1);
        assert_int_equal(out.specialization_sizes[0], 4);
    }
}

/* No value has two sizes: such an id is not listed, and its constants keep their defaults. */
static void reflect_constants_of_one_id_and_several_sizes_take_no_value(void **state)
{
    static const char *const others[] = {"uint64_t N = 1ul", "double N = 1.0",
                                         "uint16_t N = uint16_t(1)"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "#version 450\n" ARITHMETIC "layout(local_size_x_id = 3) in;\n"
                 "layout(constant_id = 3) const %s;\n"
                 "layout(constant_id = 4) const uint M = 8;\n" EMPTY,
                 others[i]);
        struct vyre_spirv_reflection out = reflect_text(*state, text);
        assert_int_equal(out.interface.specialization_count, 1);
        assert_int_equal(out.interface.specialization_ids[0], 4);
        assert_int_equal(out.interface.specialization_mixed, 0);
        assert_int_equal(out.fixed_count, 1);
        assert_int_equal(out.fixed_ids[0], 3);
        assert_int_equal(out.interface.local_size[0], 1);
    }
}

static void reflect_local_size_follows_specialization(void **state)
{
    struct vyre_spirv_reflection out =
        reflect_text(*state, "#version 450\n"
                             "layout(local_size_x_id = 11, local_size_y = 4) in;\n" BUFFER_0
                             "void main() { b.v[0] = gl_WorkGroupSize.x; }\n");
    assert_int_equal(out.interface.local_size[0], 1);
    assert_int_equal(out.interface.local_size[1], 4);
    assert_int_equal(out.local_size_ids[0], 11);
    assert_int_equal(out.local_size_ids[1], VYRE_SPIRV_NO_ID);
    assert_int_equal(out.interface.specialization_count, 1);
    assert_int_equal(out.interface.specialization_ids[0], 11);

    enum size_kind kinds[] = {SIZE_BY_ID, SIZE_COMPOSITE, SIZE_LITERAL, SIZE_EXPRESSION};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct assembly module;
        make_kernel(&module, &(struct kernel_options){.size = kinds[i]});
        out = reflect_words(*state, module.words, module.count, "k");
        assert_int_equal(out.interface.has_local_size, kinds[i] != SIZE_EXPRESSION);
        assert_int_equal(out.local_size_by_id,
                         kinds[i] == SIZE_BY_ID || kinds[i] == SIZE_EXPRESSION);
    }
}

static void reflect_buffer_reference_is_seen(void **state)
{
    struct vyre_spirv_reflection out = reflect_text(
        *state, "#version 450\n#extension GL_EXT_buffer_reference : require\n"
                "layout(local_size_x = 1) in;\n"
                "layout(buffer_reference, std430, buffer_reference_align = 4) buffer R { uint v[]; "
                "};\nlayout(set = 0, binding = 0) readonly buffer T { R refs[]; } t;\n"
                "layout(push_constant) uniform P { R one; uint n; } p;\n"
                "void main() { t.refs[0].v[0] = p.one.v[p.n]; }\n");
    assert_true(out.uses_physical_addresses);
    assert_int_equal(out.interface.binding_count, 1);
    assert_int_equal(out.interface.bindings[0].access, VYRE_ACCESS_READ);
    assert_int_equal(out.interface.constant_count, 2);
    assert_int_equal(out.interface.constants[0], VYRE_SCALAR_U64);
    assert_int_equal(out.interface.constants[1], VYRE_SCALAR_U32);
    assert_int_equal(out.interface.constants_size_bytes, 16);
}

static void reflect_entries_of_old_modules_are_distinguished(void **state)
{
    uint32_t versions[] = {0x00010300, 0x00010500};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct assembly module;
        make_kernel(&module, &(struct kernel_options){.version = versions[i], .two_entries = true});
        struct vyre_spirv_reflection out = reflect_words(*state, module.words, module.count, "k");
        assert_int_equal(out.interface.bindings[0].slot, 5);
        out = reflect_words(*state, module.words, module.count, "s");
        assert_int_equal(out.interface.binding_count, 1);
        assert_int_equal(out.interface.bindings[0].slot, 9);
    }
}

/* SPIRV-Cross knows a function by one name only and throws, through C, when asked for the other. */
static void reflect_function_of_two_names_is_refused_not_thrown(void **state)
{
    struct fixture *fixture = *state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){.two_entries = true});
    size_t mode = 0;
    for (size_t i = SPIRV_HEADER_WORDS; i < module.count; i += module.words[i] >> 16) {
        uint32_t *words = module.words + i;
        if ((words[0] & 0xffff) == SPIRV_OP_ENTRY_POINT && words[2] == ID_SECOND) {
            words[2] = ID_MAIN;
            words[4] = ID_BUFFER;
        } else if ((words[0] & 0xffff) == SPIRV_OP_EXECUTION_MODE && words[1] == ID_SECOND) {
            mode = i;
        }
    }
    assert_int_not_equal(mode, 0);
    module.count -= 6; /* the second function is no entry point any more */
    memmove(module.words + mode, module.words + mode + 6, (module.count - mode) * 4);
    struct vyre_spirv_reflection out;
    struct vyre_diag diag = {0};
    assert_int_equal(fixture->tools.table->reflect(&fixture->allocator, module.words, module.count,
                                                   "k", NULL, &out, &diag),
                     VYRE_OK);
    assert_diag(fixture->tools.table->reflect(&fixture->allocator, module.words, module.count, "s",
                                              NULL, &out, &diag),
                diag, VYRE_DIAG_SPIRV_ENTRY);
}

static void reflect_not_taken_is_refused(void **state)
{
    const struct {
        const char *declaration;
        enum vyre_diag_id id;
    } cases[] = {
        {"layout(set = 1, binding = 0) buffer B { uint v[]; } b;", VYRE_DIAG_SPIRV_SET},
        {"layout(set = 3, binding = 0) uniform B { uint v; } b;", VYRE_DIAG_SPIRV_SET},
        {"layout(set = 0, binding = 0, r32f) uniform image2D i;", VYRE_DIAG_SPIRV_RESOURCE},
        {"layout(set = 0, binding = 0) uniform sampler2D i;", VYRE_DIAG_SPIRV_RESOURCE},
        {"layout(set = 0, binding = 0) uniform texture2D i;", VYRE_DIAG_SPIRV_RESOURCE},
        {"layout(set = 0, binding = 0) uniform sampler i;", VYRE_DIAG_SPIRV_RESOURCE},
        {"layout(set = 0, binding = 0) buffer B { uint v[]; } b[2];", VYRE_DIAG_SPIRV_RESOURCE},
        {"layout(set = 0, binding = 0) uniform B { uint v; } b[2];", VYRE_DIAG_SPIRV_RESOURCE},
        {"layout(set = 0, binding = 0) buffer B { uint v[]; } b;"
         "layout(set = 0, binding = 0) buffer C { uint v[]; } c;",
         VYRE_DIAG_SPIRV_BINDING},
        {"layout(push_constant) uniform P { vec4 a[8]; uint b; } p;", VYRE_DIAG_SPIRV_CONSTANTS},
        {"layout(push_constant) uniform P { uint a[40]; } p;", VYRE_DIAG_SPIRV_CONSTANTS},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "%s\n" EMPTY, cases[i].declaration);
        refuse_text(*state, text, NULL, cases[i].id);
    }
    refuse_text(*state, HEAD EMPTY, "other", VYRE_DIAG_SPIRV_ENTRY);
}

static void reflect_up_to_the_limits(void **state)
{
    struct fixture *fixture = *state;
    for (int over = 0; over < 2; over++) {
        static char buffers[16384], constants[16384];
        size_t used = (size_t)snprintf(buffers, sizeof buffers, HEAD);
        for (int i = 0; i < VYRE_KERNEL_BINDINGS_MAX + over; i++)
            used += (size_t)snprintf(buffers + used, sizeof buffers - used,
                                     "layout(set = 0, binding = %d) buffer B%d { uint v; } b%d;\n",
                                     200 - i, i, i);
        snprintf(buffers + used, sizeof buffers - used, EMPTY);
        used = (size_t)snprintf(constants, sizeof constants, HEAD);
        for (int i = 0; i < VYRE_SPECIALIZATION_VALUES_MAX + over; i++)
            used +=
                (size_t)snprintf(constants + used, sizeof constants - used,
                                 "layout(constant_id = %d) const uint c%d = %d;\n", 99 - i, i, i);
        snprintf(constants + used, sizeof constants - used, EMPTY);
        if (over) {
            refuse_text(fixture, buffers, NULL, VYRE_DIAG_SPIRV_LIMIT);
            refuse_text(fixture, constants, NULL, VYRE_DIAG_SPIRV_LIMIT);
            continue;
        }
        struct vyre_spirv_reflection out = reflect_text(fixture, buffers);
        assert_int_equal(out.interface.binding_count, VYRE_KERNEL_BINDINGS_MAX);
        assert_int_equal(out.interface.bindings[0].slot, 200 - (VYRE_KERNEL_BINDINGS_MAX - 1));
        out = reflect_text(fixture, constants);
        assert_int_equal(out.interface.specialization_count, VYRE_SPECIALIZATION_VALUES_MAX);
        assert_int_equal(out.interface.specialization_defaults[0],
                         VYRE_SPECIALIZATION_VALUES_MAX - 1);
    }
}

/* Every GLSL file of the example workloads is taken, and both readers see the same in it. */
static void reflect_examples_agree(void **state)
{
    struct fixture *fixture = *state;
    size_t seen = 0;
    DIR *top = opendir(VYRE_TEST_EXAMPLES);
    assert_non_null(top);
    for (struct dirent *folder; (folder = readdir(top)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", VYRE_TEST_EXAMPLES, folder->d_name);
        DIR *inner = folder->d_name[0] == '.' ? NULL : opendir(path);
        for (struct dirent *file; inner && (file = readdir(inner)) != NULL;) {
            static char text[65536];
            char name[4096 + 256];
            size_t length = strlen(file->d_name);
            if (length < 5 || strcmp(file->d_name + length - 5, ".comp") != 0)
                continue;
            snprintf(name, sizeof name, "%s/%s", path, file->d_name);
            FILE *stream = fopen(name, "rb");
            assert_non_null(stream);
            text[fread(text, 1, sizeof text - 1, stream)] = '\0';
            fclose(stream);
            struct vyre_spirv_reflection out = reflect_text(fixture, text);
            assert_true(out.interface.binding_count > 0);
            seen++;
        }
        if (inner)
            closedir(inner);
    }
    closedir(top);
    assert_true(seen >= 20);
}

/* ---- Validation ------------------------------------------------------------------------------- */

static void validate_refuses_what_the_reader_would_take(void **state)
{
    struct fixture *fixture = *state;
    struct assembly module;
    struct vyre_diag diag = {0};
    make_kernel(&module, &(struct kernel_options){0});
    assert_int_equal(fixture->tools.table->validate(module.words, module.count, NULL, &diag),
                     VYRE_OK);
    /* The type of the code's results is not what its operands need. */
    for (size_t i = SPIRV_HEADER_WORDS; i < module.count; i += module.words[i] >> 16) {
        if ((module.words[i] & 0xffff) == 68)
            module.words[i + 1] = ID_VOID;
    }
    assert_diag(fixture->tools.table->validate(module.words, module.count, "test", &diag), diag,
                VYRE_DIAG_SPIRV_INVALID);
    assert_true(diag.native_code != 0);
    struct vyre_spirv_reflection out;
    assert_diag(fixture->tools.table->reflect(&fixture->allocator, module.words, module.count, "k",
                                              "test", &out, &diag),
                diag, VYRE_DIAG_SPIRV_INVALID);
    assert_int_equal(vyre_spirv_words_reflect(&fixture->allocator, module.words, module.count, "k",
                                              "test", &out, &diag),
                     VYRE_OK);
}

static void validate_frame_wrong_has_the_readers_id(void **state)
{
    struct fixture *fixture = *state;
    struct assembly module;
    make_kernel(&module, &(struct kernel_options){0});
    refuse_words(fixture, module.words, 0, "k", VYRE_DIAG_SPIRV_MAGIC);
    refuse_words(fixture, module.words, 3, "k", VYRE_DIAG_SPIRV_TRUNCATED);
    refuse_words(fixture, module.words, module.count - 4, "k", VYRE_DIAG_SPIRV_TRUNCATED);
    module.words[0] = SPIRV_MAGIC_SWAPPED;
    refuse_words(fixture, module.words, module.count, "k", VYRE_DIAG_SPIRV_ENDIANNESS);
    module.words[0] = SPIRV_MAGIC;
    module.words[1] = 0x00010600;
    refuse_words(fixture, module.words, module.count, "k", VYRE_DIAG_SPIRV_VERSION);
}

/* ---- GLSL ------------------------------------------------------------------------------------- */

static void refuse_source(struct fixture *fixture, const struct vyre_glsl_source *source,
                          enum vyre_diag_id id, struct vyre_diag *diag)
{
    struct vyre_spirv_words words;
    memset(&words, 0x5a, sizeof words);
    memset(diag, 0, sizeof *diag);
    assert_diag(fixture->tools.table->compile_glsl(&fixture->allocator, source, &words, diag),
                *diag, id);
    assert_null(words.words);
    assert_int_equal(words.count, 0);
}

static void refuse_glsl(struct fixture *fixture, const char *text, int64_t line, const char *part)
{
    struct vyre_diag diag;
    struct vyre_glsl_source source = {.label = "blur", .text = text, .size_bytes = strlen(text)};
    refuse_source(fixture, &source, VYRE_DIAG_GLSL_COMPILE, &diag);
    assert_string_equal(diag.label, "blur");
    assert_int_equal(diag.native_code, line);
    assert_contains(diag.message, part);
}

static void compile_error_names_and_shows_the_line(void **state)
{
    refuse_glsl(*state, HEAD "void main()\n{\n    uint x = missing + 1;\n}\n", 5,
                "uint x = missing + 1;");
    refuse_glsl(*state, HEAD "void main()\n{\n    uint x = missing + 1;\n}\n", 5, "line 5: ");
    refuse_glsl(*state, HEAD "void main() { x\n", 3, "line 3");
    refuse_glsl(*state, HEAD "#include \"secret.h\"\n" EMPTY, 3, "line 3");
    refuse_glsl(*state, HEAD "void other() {}\n", 0, "");
    refuse_glsl(*state, HEAD "\x01\xff\xfe nonsense", 3, "line 3");
}

static void compile_version_must_come_first_and_be_known(void **state)
{
    static const char *const bad[] = {
        "float x;\nvoid main() {}\n",
        "void main() {}\n#version 450\n",
        "#version 110\nvoid main() {}\n",
        "#version 420\nvoid main() {}\n",
        "#version 310\nvoid main() {}\n",
        "#version 300 es\nvoid main() {}\n",
        "#version 450 compatibility\nvoid main() {}\n",
        "#version 450 es\nvoid main() {}\n",
        "#version 999\nvoid main() {}\n",
        "#version 4500\nvoid main() {}\n",
        "#versions 450\nvoid main() {}\n",
        "#version 450/**/\nvoid main() {}\n",
        "#version\n450\nvoid main() {}\n",
        "/* #version 450\n",
        "// #version 450",
        "#",
        "\x01\xff\xfe nonsense",
    };
    struct vyre_diag diag;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct vyre_glsl_source source = {.text = bad[i], .size_bytes = strlen(bad[i])};
        refuse_source(*state, &source, VYRE_DIAG_GLSL_VERSION, &diag);
    }
    static const char *const good[] = {
        "#version 450 core\nlayout(local_size_x = 2) in;\n" EMPTY,
        "\n // a\n/* b\n*/ # version 460 // c\nlayout(local_size_x = 2) in;\n" EMPTY,
        "#version 430\r\nlayout(local_size_x = 2) in;\n" EMPTY,
        "#version 310 es\nlayout(local_size_x = 2) in;\n" EMPTY,
        "#version 320 es /**/\nlayout(local_size_x = 2) in;\n" EMPTY,
    };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_int_equal(reflect_text(*state, good[i]).interface.local_size[0], 2);
}

static void compile_bad_source_is_refused(void **state)
{
    struct vyre_diag diag;
    struct vyre_glsl_source source = {.text = NULL, .size_bytes = 9};
    refuse_source(*state, &source, VYRE_DIAG_GLSL_SIZE, &diag);
    source = (struct vyre_glsl_source){.text = HEAD, .size_bytes = 0};
    refuse_source(*state, &source, VYRE_DIAG_GLSL_SIZE, &diag);
    source.size_bytes = VYRE_GLSL_BYTES_MAX + 1;
    refuse_source(*state, &source, VYRE_DIAG_GLSL_SIZE, &diag);

    source.size_bytes = sizeof HEAD - 1;
    const struct vyre_glsl_macro bad[] = {{NULL, "1"},  {"", "1"},     {"1A", "1"},
                                          {"A B", "1"}, {"A(x)", "1"}, {"A", "1\n#error x"}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        source.macros = &bad[i];
        source.macro_count = 1;
        refuse_source(*state, &source, VYRE_DIAG_GLSL_MACRO, &diag);
    }
    source.macro_count = VYRE_GLSL_MACROS_MAX + 1;
    refuse_source(*state, &source, VYRE_DIAG_GLSL_MACRO, &diag);
}

static void compile_macros_are_defined(void **state)
{
    struct fixture *fixture = *state;
    const char text[] = "#version 450\n#ifndef ON\n#error off\n#endif\n"
                        "layout(local_size_x = SIZE) in;\n" EMPTY "not read";
    const struct vyre_glsl_macro macros[] = {{"SIZE", "32"}, {"ON", NULL}};
    struct vyre_glsl_source source = {.text = text,
                                      .size_bytes = sizeof text - sizeof "not read",
                                      .macros = macros,
                                      .macro_count = 2};
    struct vyre_spirv_words words;
    struct vyre_diag diag = {0};
    if (fixture->tools.table->compile_glsl(&fixture->allocator, &source, &words, &diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    struct vyre_spirv_reflection out = reflect_words(fixture, words.words, words.count, NULL);
    assert_int_equal(out.interface.local_size[0], 32);
    fixture->tools.table->free_words(&fixture->allocator, &words);
    assert_null(words.words);
}

static void compile_forbids_contraction(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_spirv_words words =
        compile_text(fixture, HEAD "layout(set = 0, binding = 0) buffer B { vec4 v[]; } b;\n"
                                   "void main() { b.v[0] = b.v[1] * b.v[2] + b.v[3] * 2.0; "
                                   "b.v[1].x = dot(b.v[0], b.v[1]) - b.v[2].x; }\n");
    size_t arithmetic = 0, decorated = 0;
    for (size_t i = SPIRV_HEADER_WORDS; i < words.count; i += words.words[i] >> 16) {
        uint32_t op = words.words[i] & 0xffff;
        arithmetic += op == SPIRV_OP_F_ADD || op == SPIRV_OP_F_MUL || op == SPIRV_OP_F_SUB ||
                      op == SPIRV_OP_DOT || op == SPIRV_OP_VECTOR_TIMES_SCALAR;
        decorated +=
            op == SPIRV_OP_DECORATE && words.words[i + 2] == SPIRV_DECORATION_NO_CONTRACTION;
    }
    assert_int_equal(arithmetic, 5);
    assert_int_equal(decorated, 5);
    fixture->tools.table->free_words(&fixture->allocator, &words);
}

static void compile_takes_memory_from_the_allocator_alone(void **state)
{
    struct fixture *fixture = *state;
    struct counting_allocator counts = {0};
    struct vyre_allocator allocator = counting_allocator_face(&counts);
    struct vyre_glsl_source source = {.text = HEAD EMPTY, .size_bytes = sizeof HEAD EMPTY - 1};
    struct vyre_spirv_words words;
    struct vyre_spirv_reflection out;
    struct vyre_diag diag = {0};
    assert_int_equal(fixture->tools.table->compile_glsl(&allocator, &source, &words, &diag),
                     VYRE_OK);
    assert_int_equal(counts.live_bytes, words.count * 4);
    assert_int_equal(fixture->tools.table->reflect(&allocator, words.words, words.count, NULL, NULL,
                                                   &out, &diag),
                     VYRE_OK);
    assert_int_equal(counts.live_count, 1);
    fixture->tools.table->free_words(&allocator, &words);
    assert_int_equal(counts.live_count, 0);
    assert_int_equal(counts.mismatch_count, 0);
    counts.fails = true;
    assert_diag(fixture->tools.table->compile_glsl(&allocator, &source, &words, &diag), diag,
                VYRE_DIAG_OUT_OF_MEMORY);
    assert_null(words.words);
}

static void compile_deep_nesting_does_not_crash(void **state)
{
    struct fixture *fixture = *state;
    enum { DEPTH = 2000 };
    static char text[4 * DEPTH];
    size_t used = (size_t)snprintf(text, sizeof text, HEAD "void main() { uint x = ");
    memset(text + used, '(', DEPTH);
    used += DEPTH;
    text[used++] = '1';
    memset(text + used, ')', DEPTH);
    used += DEPTH;
    used += (size_t)snprintf(text + used, sizeof text - used, "; }\n");
    struct vyre_glsl_source source = {.text = text, .size_bytes = used};
    struct vyre_spirv_words words;
    struct vyre_diag diag = {0};
    if (fixture->tools.table->compile_glsl(&fixture->allocator, &source, &words, &diag) != VYRE_OK)
        assert_int_equal(diag.id, VYRE_DIAG_GLSL_COMPILE);
    fixture->tools.table->free_words(&fixture->allocator, &words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reflect_bindings_have_slot_role_and_access),
        cmocka_unit_test(reflect_constants_lists_scalars_where_it_can),
        cmocka_unit_test(reflect_constants_keeps_the_types),
        cmocka_unit_test(reflect_specialization_gives_ids_defaults_and_sizes),
        cmocka_unit_test(reflect_constants_of_one_id_and_size_are_one_value),
        cmocka_unit_test(reflect_constants_of_one_id_and_several_sizes_take_no_value),
        cmocka_unit_test(reflect_local_size_follows_specialization),
        cmocka_unit_test(reflect_buffer_reference_is_seen),
        cmocka_unit_test(reflect_entries_of_old_modules_are_distinguished),
        cmocka_unit_test(reflect_function_of_two_names_is_refused_not_thrown),
        cmocka_unit_test(reflect_not_taken_is_refused),
        cmocka_unit_test(reflect_up_to_the_limits),
        cmocka_unit_test(reflect_examples_agree),
        cmocka_unit_test(validate_refuses_what_the_reader_would_take),
        cmocka_unit_test(validate_frame_wrong_has_the_readers_id),
        cmocka_unit_test(compile_error_names_and_shows_the_line),
        cmocka_unit_test(compile_version_must_come_first_and_be_known),
        cmocka_unit_test(compile_bad_source_is_refused),
        cmocka_unit_test(compile_macros_are_defined),
        cmocka_unit_test(compile_forbids_contraction),
        cmocka_unit_test(compile_takes_memory_from_the_allocator_alone),
        cmocka_unit_test(compile_deep_nesting_does_not_crash),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
