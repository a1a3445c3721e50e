/*
 * index.c: a module with an index of its ids.
 */
#include "spirv/index.h"

#include "base/memory.h"
#include "spirv/grammar.h"

/* The least length of an instruction, and which word holds the id that it defines. */
struct form {
    uint32_t words;  /* at least */
    uint32_t result; /* 0: it defines nothing that is looked up */
};

static struct form type_form(uint32_t op)
{
    switch (op) {
    case SPIRV_OP_TYPE_INT:
    case SPIRV_OP_TYPE_VECTOR:
    case SPIRV_OP_TYPE_MATRIX:
    case SPIRV_OP_TYPE_ARRAY:
    case SPIRV_OP_TYPE_POINTER:
        return (struct form){4, 1};
    case SPIRV_OP_TYPE_FLOAT:
    case SPIRV_OP_TYPE_RUNTIME_ARRAY:
    case SPIRV_OP_TYPE_FUNCTION:
        return (struct form){3, 1};
    default:
        return (struct form){2, 1};
    }
}

static struct form form_of(uint32_t op)
{
    /* The last of the core types, for pipes; the next opcode declares a pointer before its type. */
    enum { LAST_TYPE = 38 };
    if (op >= SPIRV_OP_TYPE_VOID && op <= LAST_TYPE)
        return type_form(op);
    switch (op) {
    case SPIRV_OP_CONSTANT_TRUE:
    case SPIRV_OP_CONSTANT_FALSE:
    case SPIRV_OP_CONSTANT_COMPOSITE:
    case SPIRV_OP_CONSTANT_NULL:
    case SPIRV_OP_SPEC_CONSTANT_TRUE:
    case SPIRV_OP_SPEC_CONSTANT_FALSE:
    case SPIRV_OP_SPEC_CONSTANT_COMPOSITE:
        return (struct form){3, 2};
    case SPIRV_OP_CONSTANT:
    case SPIRV_OP_SPEC_CONSTANT:
    case SPIRV_OP_SPEC_CONSTANT_OP:
    case SPIRV_OP_VARIABLE:
        return (struct form){4, 2};
    case SPIRV_OP_FUNCTION:
        return (struct form){5, 2};
    case SPIRV_OP_ENTRY_POINT:
    case SPIRV_OP_FUNCTION_CALL:
    case SPIRV_OP_MEMBER_DECORATE:
        return (struct form){4, 0};
    case SPIRV_OP_MEMORY_MODEL:
    case SPIRV_OP_EXECUTION_MODE:
    case SPIRV_OP_EXECUTION_MODE_ID:
    case SPIRV_OP_DECORATE:
        return (struct form){3, 0};
    case SPIRV_OP_CAPABILITY:
        return (struct form){2, 0};
    default:
        return (struct form){1, 0};
    }
}

static bool is_annotation(uint32_t op)
{
    return op == SPIRV_OP_DECORATE || op == SPIRV_OP_MEMBER_DECORATE;
}

static enum vyre_status malformed(const struct vyre_spirv_module *module,
                                  const struct vyre_spirv_instruction *instruction, const char *why)
{
    return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_MALFORMED, module->label, 0,
                         "the instruction at word %zu (opcode %u) %s", instruction->at,
                         instruction->op, why);
}

static enum vyre_status index_instruction(struct vyre_spirv_module *module,
                                          const struct vyre_spirv_instruction *instruction)
{
    if (instruction->op == SPIRV_OP_GROUP_DECORATE ||
        instruction->op == SPIRV_OP_GROUP_MEMBER_DECORATE)
        return malformed(module, instruction,
                         "decorates by groups, which are deprecated and not read");
    struct form form = form_of(instruction->op);
    if (instruction->count < form.words)
        return malformed(module, instruction, "lacks operands");
    if (is_annotation(instruction->op)) {
        if (module->annotations_begin == 0)
            module->annotations_begin = instruction->at;
        module->annotations_end = instruction->at + instruction->count;
    }
    if (form.result == 0)
        return VYRE_OK;
    uint32_t id = instruction->words[form.result];
    if (id == 0 || id >= module->bound)
        return malformed(module, instruction, "defines an id outside the module's bound");
    if (module->definitions[id] != 0)
        return malformed(module, instruction, "defines an id for the second time");
    module->definitions[id] = (uint32_t)instruction->at;
    return VYRE_OK;
}

enum vyre_status vyre_spirv_module_open(const struct vyre_allocator *allocator,
                                        const uint32_t *words, size_t count, const char *label,
                                        struct vyre_diag *diag,
                                        struct vyre_spirv_module *out_module)
{
    *out_module = (struct vyre_spirv_module){
        .allocator = allocator, .words = words, .count = count, .label = label, .diag = diag};
    enum vyre_status status = vyre_spirv_words_check(words, count, label, diag);
    if (status != VYRE_OK)
        return status;
    out_module->version = words[1];
    out_module->bound = words[3];
    out_module->definitions =
        vyre_memory_allocate(allocator, out_module->bound * sizeof(uint32_t), _Alignof(uint32_t));
    if (!out_module->definitions)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0,
                             "no memory for an index of %u ids", out_module->bound);
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(words, count);
    struct vyre_spirv_instruction instruction;
    while (status == VYRE_OK && vyre_spirv_walk_next(&walk, &instruction))
        status = index_instruction(out_module, &instruction);
    return status;
}

void vyre_spirv_module_close(struct vyre_spirv_module *module)
{
    vyre_memory_free(module->allocator, module->definitions, module->bound * sizeof(uint32_t),
                     _Alignof(uint32_t));
    module->definitions = NULL;
}

bool vyre_spirv_module_find(const struct vyre_spirv_module *module, uint32_t id,
                            struct vyre_spirv_instruction *out)
{
    if (id >= module->bound || module->definitions[id] == 0)
        return false;
    struct vyre_spirv_walk walk = {
        .words = module->words, .count = module->count, .at = module->definitions[id]};
    return vyre_spirv_walk_next(&walk, out);
}

bool vyre_spirv_module_find_op(const struct vyre_spirv_module *module, uint32_t id, uint32_t op,
                               struct vyre_spirv_instruction *out)
{
    return vyre_spirv_module_find(module, id, out) && out->op == op;
}

struct vyre_spirv_walk vyre_spirv_module_annotations(const struct vyre_spirv_module *module)
{
    return (struct vyre_spirv_walk){
        .words = module->words, .count = module->annotations_end, .at = module->annotations_begin};
}

bool vyre_spirv_module_decoration(const struct vyre_spirv_module *module, uint32_t id,
                                  uint32_t decoration, uint32_t *out_operand)
{
    struct vyre_spirv_walk walk = vyre_spirv_module_annotations(module);
    struct vyre_spirv_instruction found;
    while (vyre_spirv_walk_next(&walk, &found)) {
        if (found.op != SPIRV_OP_DECORATE || found.words[1] != id || found.words[2] != decoration)
            continue;
        *out_operand = found.count > 3 ? found.words[3] : 0;
        return true;
    }
    return false;
}

bool vyre_spirv_module_constant(const struct vyre_spirv_module *module, uint32_t id,
                                uint32_t *out_value)
{
    struct vyre_spirv_instruction constant, type;
    if (!vyre_spirv_module_find(module, id, &constant) ||
        (constant.op != SPIRV_OP_CONSTANT && constant.op != SPIRV_OP_SPEC_CONSTANT) ||
        !vyre_spirv_module_find_op(module, constant.words[1], SPIRV_OP_TYPE_INT, &type))
        return false;
    *out_value = constant.words[3];
    return true;
}

char vyre_spirv_text_byte(const struct vyre_spirv_instruction *instruction, uint32_t operand,
                          uint32_t index)
{
    uint32_t word = operand + index / 4;
    if (word >= instruction->count)
        return '\0';
    return (char)(instruction->words[word] >> index % 4 * 8 & 0xff);
}
