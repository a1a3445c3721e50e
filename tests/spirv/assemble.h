/*
 * assemble.h: small SPIR-V modules written word by word, right ones and wrong ones.
 */
#ifndef VYRE_TESTS_SPIRV_ASSEMBLE_H
#define VYRE_TESTS_SPIRV_ASSEMBLE_H

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "spirv/grammar.h"

struct assembly {
    uint32_t words[8192];
    size_t count;
};

/* One instruction with `operand_count` operands. */
static inline void emit(struct assembly *module, uint32_t op, unsigned operand_count, ...)
{
    va_list operands;
    va_start(operands, operand_count);
    module->words[module->count++] = (operand_count + 1) << 16 | op;
    for (unsigned i = 0; i < operand_count; i++)
        module->words[module->count++] = va_arg(operands, uint32_t);
    va_end(operands);
}

static inline void emit_header(struct assembly *module, uint32_t version, uint32_t bound)
{
    memset(module, 0, sizeof *module);
    module->words[0] = SPIRV_MAGIC;
    module->words[1] = version;
    module->words[3] = bound;
    module->count = SPIRV_HEADER_WORDS;
}

/* Names of up to 3 letters are one word. */
static inline uint32_t short_name(const char *name)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < 3 && name[i]; i++)
        word |= (uint32_t)(unsigned char)name[i] << 8 * i;
    return word;
}

/* Ids of the modules that are made here. */
enum {
    ID_MAIN = 1,
    ID_VOID,
    ID_FUNCTION_TYPE,
    ID_LABEL,
    ID_UINT,
    ID_ARRAY,
    ID_BLOCK,
    ID_POINTER,
    ID_BUFFER,
    ID_X,
    ID_Y,
    ID_Z,
    ID_SECOND,
    ID_SECOND_LABEL,
    ID_OTHER_BUFFER,
    ID_VECTOR,
    ID_SIZE,
    ID_BOUND
};

enum size_kind { SIZE_LITERAL, SIZE_BY_ID, SIZE_COMPOSITE, SIZE_NONE, SIZE_EXPRESSION };

/* What a kernel of one buffer should be; zeroes make a valid one of SPIR-V 1.5 named "k". */
struct kernel_options {
    uint32_t version; /* 0: 1.5 */
    uint32_t model;   /* 0: GLCompute */
    enum size_kind size;
    uint32_t set;
    uint32_t storage_class; /* 0: storage buffer */
    bool no_set, no_binding, no_block, zero_size, two_entries, group;
    bool spec_id_of_constant; /* on what is no specialization constant */
    uint32_t second_default;  /* not 0: y is a specialization constant, too, and has the id of x */
};

static inline void emit_entries(struct assembly *module, const struct kernel_options *options)
{
    uint32_t model = options->model ? options->model : SPIRV_MODEL_GL_COMPUTE;
    bool listed = module->words[1] >= SPIRV_VERSION_1_4;
    if (listed)
        emit(module, SPIRV_OP_ENTRY_POINT, 4, model, ID_MAIN, short_name("k"), ID_BUFFER);
    else
        emit(module, SPIRV_OP_ENTRY_POINT, 3, model, ID_MAIN, short_name("k"));
    if (options->two_entries && listed)
        emit(module, SPIRV_OP_ENTRY_POINT, 4, model, ID_SECOND, short_name("s"), ID_OTHER_BUFFER);
    else if (options->two_entries)
        emit(module, SPIRV_OP_ENTRY_POINT, 3, model, ID_SECOND, short_name("s"));
    if (options->size == SIZE_BY_ID || options->size == SIZE_EXPRESSION)
        emit(module, SPIRV_OP_EXECUTION_MODE_ID, 5, ID_MAIN, SPIRV_MODE_LOCAL_SIZE_ID, ID_X, ID_Y,
             ID_Z);
    else if (options->size != SIZE_NONE)
        emit(module, SPIRV_OP_EXECUTION_MODE, 5, ID_MAIN, SPIRV_MODE_LOCAL_SIZE,
             options->zero_size ? 0 : 64, 2, 1);
    if (options->two_entries)
        emit(module, SPIRV_OP_EXECUTION_MODE, 5, ID_SECOND, SPIRV_MODE_LOCAL_SIZE, 8, 1, 1);
}

static inline void emit_decorations(struct assembly *module, const struct kernel_options *options)
{
    if (!options->no_block)
        emit(module, SPIRV_OP_DECORATE, 2, ID_BLOCK, SPIRV_DECORATION_BLOCK);
    emit(module, SPIRV_OP_MEMBER_DECORATE, 4, ID_BLOCK, 0, SPIRV_DECORATION_OFFSET, 0);
    emit(module, SPIRV_OP_DECORATE, 3, ID_ARRAY, SPIRV_DECORATION_ARRAY_STRIDE, 4);
    if (!options->no_set)
        emit(module, SPIRV_OP_DECORATE, 3, ID_BUFFER, SPIRV_DECORATION_DESCRIPTOR_SET,
             options->set);
    if (!options->no_binding)
        emit(module, SPIRV_OP_DECORATE, 3, ID_BUFFER, SPIRV_DECORATION_BINDING, 5);
    if (options->two_entries) {
        emit(module, SPIRV_OP_DECORATE, 3, ID_OTHER_BUFFER, SPIRV_DECORATION_DESCRIPTOR_SET, 0);
        emit(module, SPIRV_OP_DECORATE, 3, ID_OTHER_BUFFER, SPIRV_DECORATION_BINDING, 9);
    }
    emit(module, SPIRV_OP_DECORATE, 3, ID_X, SPIRV_DECORATION_SPEC_ID, 7);
    if (options->second_default || options->spec_id_of_constant)
        emit(module, SPIRV_OP_DECORATE, 3, ID_Y, SPIRV_DECORATION_SPEC_ID, 7);
    if (options->size == SIZE_COMPOSITE)
        emit(module, SPIRV_OP_DECORATE, 3, ID_SIZE, SPIRV_DECORATION_BUILTIN,
             SPIRV_BUILTIN_WORKGROUP_SIZE);
    if (options->group)
        emit(module, SPIRV_OP_GROUP_DECORATE, 2, ID_SIZE, ID_BUFFER);
}

static inline void emit_types(struct assembly *module, const struct kernel_options *options)
{
    uint32_t storage = options->storage_class ? options->storage_class : SPIRV_CLASS_STORAGE_BUFFER;
    emit(module, SPIRV_OP_TYPE_VOID, 1, ID_VOID);
    emit(module, SPIRV_OP_TYPE_FUNCTION, 2, ID_FUNCTION_TYPE, ID_VOID);
    emit(module, SPIRV_OP_TYPE_INT, 3, ID_UINT, 32, 0);
    emit(module, SPIRV_OP_SPEC_CONSTANT, 3, ID_UINT, ID_X, 16);
    emit(module, options->second_default ? SPIRV_OP_SPEC_CONSTANT : SPIRV_OP_CONSTANT, 3, ID_UINT,
         ID_Y, options->second_default ? options->second_default : 4);
    if (options->size == SIZE_EXPRESSION)
        emit(module, SPIRV_OP_SPEC_CONSTANT_OP, 5, ID_UINT, ID_Z, 128, ID_X, ID_Y); /* IAdd */
    else
        emit(module, SPIRV_OP_CONSTANT, 3, ID_UINT, ID_Z, 2);
    if (options->size == SIZE_COMPOSITE) {
        emit(module, SPIRV_OP_TYPE_VECTOR, 3, ID_VECTOR, ID_UINT, 3);
        emit(module, SPIRV_OP_SPEC_CONSTANT_COMPOSITE, 5, ID_VECTOR, ID_SIZE, ID_X, ID_Y, ID_Z);
    }
    emit(module, SPIRV_OP_TYPE_RUNTIME_ARRAY, 2, ID_ARRAY, ID_UINT);
    emit(module, SPIRV_OP_TYPE_STRUCT, 2, ID_BLOCK, ID_ARRAY);
    emit(module, SPIRV_OP_TYPE_POINTER, 3, ID_POINTER, storage, ID_BLOCK);
    emit(module, SPIRV_OP_VARIABLE, 3, ID_POINTER, ID_BUFFER, storage);
    if (options->two_entries)
        emit(module, SPIRV_OP_VARIABLE, 3, ID_POINTER, ID_OTHER_BUFFER, storage);
}

/* A function that asks for the length of `buffer`, which is a use of it. */
static inline void emit_function(struct assembly *module, uint32_t function, uint32_t label,
                                 uint32_t buffer, uint32_t length)
{
    enum { OP_LABEL = 248, OP_RETURN = 253, OP_ARRAY_LENGTH = 68 };
    emit(module, SPIRV_OP_FUNCTION, 4, ID_VOID, function, 0, ID_FUNCTION_TYPE);
    emit(module, OP_LABEL, 1, label);
    emit(module, OP_ARRAY_LENGTH, 4, ID_UINT, length, buffer, 0);
    emit(module, OP_RETURN, 0);
    emit(module, SPIRV_OP_FUNCTION_END, 0);
}

static inline void make_kernel(struct assembly *module, const struct kernel_options *options)
{
    uint32_t version = options->version ? options->version : SPIRV_VERSION_MAX;
    emit_header(module, version, ID_BOUND + 2);
    emit(module, SPIRV_OP_CAPABILITY, 1, 1); /* Shader */
    emit(module, SPIRV_OP_MEMORY_MODEL, 2, 0, 1);
    emit_entries(module, options);
    emit_decorations(module, options);
    emit_types(module, options);
    emit_function(module, ID_MAIN, ID_LABEL, ID_BUFFER, ID_BOUND);
    if (options->two_entries)
        emit_function(module, ID_SECOND, ID_SECOND_LABEL, ID_OTHER_BUFFER, ID_BOUND + 1);
}

#endif
