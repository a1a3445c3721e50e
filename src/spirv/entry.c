/*
 * entry.c: the compute entry point of a module, and the variables that it sees.
 */
#include "spirv/entry.h"

#include "base/memory.h"
#include "base/text.h"
#include "spirv/grammar.h"

#define NAME_OPERAND 3

/* Words of a text with its terminator; 0 if there is none inside the instruction. */
static uint32_t text_words(const struct vyre_spirv_instruction *instruction, uint32_t operand)
{
    uint32_t limit = (instruction->count - operand) * 4;
    for (uint32_t i = 0; i < limit; i++) {
        if (vyre_spirv_text_byte(instruction, operand, i) == '\0')
            return i / 4 + 1;
    }
    return 0;
}

static bool text_is(const struct vyre_spirv_instruction *instruction, uint32_t operand,
                    const char *text)
{
    uint32_t i = 0;
    for (; text[i] != '\0'; i++) {
        if (vyre_spirv_text_byte(instruction, operand, i) != text[i])
            return false;
    }
    return vyre_spirv_text_byte(instruction, operand, i) == '\0';
}

/* A name from the module may hold any bytes; only printable ones go into a message. */
static void append_name(struct vyre_text *list, const struct vyre_spirv_instruction *instruction)
{
    enum { SHOWN_MAX = 40 };
    if (list->length > 0)
        vyre_text_append(list, ", ");
    for (uint32_t i = 0; i < SHOWN_MAX; i++) {
        char byte[2] = {vyre_spirv_text_byte(instruction, NAME_OPERAND, i), '\0'};
        if (byte[0] == '\0')
            return;
        if (byte[0] < ' ' || byte[0] > '~')
            byte[0] = '?';
        vyre_text_append(list, byte);
    }
    vyre_text_append(list, "...");
}

static enum vyre_status refuse_entry(const struct vyre_spirv_module *module, const char *name,
                                     uint32_t compute_count, const char *names)
{
    if (compute_count == 0)
        return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_NO_COMPUTE, module->label, 0,
                             "no entry point of the module is a compute shader's");
    return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_ENTRY, module->label, 0,
                         "no compute entry point is named %.60s; there are: %s", name, names);
}

enum vyre_status vyre_spirv_entry_find(const struct vyre_spirv_module *module, const char *name,
                                       struct vyre_spirv_entry *out_entry)
{
    char names[160];
    struct vyre_text list = vyre_text_begin(names, sizeof names);
    uint32_t compute_count = 0;
    bool found = false;
    *out_entry = (struct vyre_spirv_entry){0};
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(module->words, module->count);
    struct vyre_spirv_instruction instruction;
    while (vyre_spirv_walk_next(&walk, &instruction)) {
        if (instruction.op == SPIRV_OP_FUNCTION)
            break; /* entry points come before the code */
        if (instruction.op != SPIRV_OP_ENTRY_POINT)
            continue;
        uint32_t length = text_words(&instruction, NAME_OPERAND);
        if (length == 0)
            return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_MALFORMED, module->label, 0,
                                 "the name of the entry point at word %zu does not end",
                                 instruction.at);
        out_entry->count++;
        if (instruction.words[1] != SPIRV_MODEL_GL_COMPUTE)
            continue;
        compute_count++;
        if (list.length < sizeof names)
            append_name(&list, &instruction);
        if (found || !text_is(&instruction, NAME_OPERAND, name))
            continue;
        found = true;
        out_entry->function = instruction.words[2];
        out_entry->interface = instruction.words + NAME_OPERAND + length;
        out_entry->interface_count = instruction.count - NAME_OPERAND - length;
    }
    return found ? VYRE_OK : refuse_entry(module, name, compute_count, names);
}

static enum vyre_status visit_interface(const struct vyre_spirv_module *module,
                                        const struct vyre_spirv_entry *entry,
                                        vyre_spirv_variable_visit *visit, void *user)
{
    for (uint32_t i = 0; i < entry->interface_count; i++) {
        struct vyre_spirv_instruction variable;
        if (!vyre_spirv_module_find_op(module, entry->interface[i], SPIRV_OP_VARIABLE, &variable))
            return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_MALFORMED, module->label, 0,
                                 "the entry point's interface names %u, which is no variable",
                                 entry->interface[i]);
        enum vyre_status status = visit(user, &variable);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

/* Variables at module scope; with `used`, only those marked there. */
static enum vyre_status visit_all(const struct vyre_spirv_module *module, const uint8_t *used,
                                  vyre_spirv_variable_visit *visit, void *user)
{
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(module->words, module->count);
    struct vyre_spirv_instruction instruction;
    while (vyre_spirv_walk_next(&walk, &instruction)) {
        if (instruction.op == SPIRV_OP_FUNCTION)
            break;
        if (instruction.op != SPIRV_OP_VARIABLE || (used && !used[instruction.words[2]]))
            continue;
        enum vyre_status status = visit(user, &instruction);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

/* Functions to look at, each once, in the order in which they are found. */
struct reach {
    const struct vyre_spirv_module *module;
    uint32_t *queue;
    uint32_t queued;
    uint8_t *marks; /* by id: a function that was queued or a variable that is named */
};

static void queue_function(struct reach *reach, uint32_t id)
{
    struct vyre_spirv_instruction function;
    if (!vyre_spirv_module_find_op(reach->module, id, SPIRV_OP_FUNCTION, &function) ||
        reach->marks[id])
        return;
    reach->marks[id] = 1;
    reach->queue[reach->queued++] = id;
}

/*
 * Marks what a function's body names. Only the full grammar says which operands are ids, so a
 * literal that equals a variable's id counts as a use. That can only add a binding.
 */
static void mark_body(struct reach *reach, uint32_t id)
{
    const struct vyre_spirv_module *module = reach->module;
    struct vyre_spirv_walk walk = {
        .words = module->words, .count = module->count, .at = module->definitions[id]};
    struct vyre_spirv_instruction instruction, found;
    while (vyre_spirv_walk_next(&walk, &instruction)) {
        /*
         * The next function is looked at separately: otherwise bodies without an end would take
         * quadratic time.
         */
        if (instruction.op == SPIRV_OP_FUNCTION_END ||
            (instruction.op == SPIRV_OP_FUNCTION && instruction.at != module->definitions[id]))
            break;
        if (instruction.op == SPIRV_OP_FUNCTION_CALL)
            queue_function(reach, instruction.words[3]);
        for (uint32_t i = 1; i < instruction.count; i++) {
            if (vyre_spirv_module_find_op(module, instruction.words[i], SPIRV_OP_VARIABLE, &found))
                reach->marks[instruction.words[i]] = 1;
        }
    }
}

static enum vyre_status visit_reached(const struct vyre_spirv_module *module,
                                      const struct vyre_spirv_entry *entry,
                                      vyre_spirv_variable_visit *visit, void *user)
{
    size_t queue_bytes = module->bound * sizeof(uint32_t);
    struct reach reach = {.module = module};
    reach.queue = vyre_memory_allocate(module->allocator, queue_bytes, _Alignof(uint32_t));
    reach.marks = vyre_memory_allocate(module->allocator, module->bound, 1);
    enum vyre_status status;
    if (reach.queue && reach.marks) {
        queue_function(&reach, entry->function);
        for (uint32_t i = 0; i < reach.queued; i++)
            mark_body(&reach, reach.queue[i]);
        status = visit_all(module, reach.marks, visit, user);
    } else {
        status = vyre_diag_set(module->diag, VYRE_DIAG_OUT_OF_MEMORY, module->label, 0,
                               "no memory to follow %u ids", module->bound);
    }
    vyre_memory_free(module->allocator, reach.queue, queue_bytes, _Alignof(uint32_t));
    vyre_memory_free(module->allocator, reach.marks, module->bound, 1);
    return status;
}

enum vyre_status vyre_spirv_entry_visit(const struct vyre_spirv_module *module,
                                        const struct vyre_spirv_entry *entry,
                                        vyre_spirv_variable_visit *visit, void *user)
{
    if (module->version >= SPIRV_VERSION_1_4)
        return visit_interface(module, entry, visit, user);
    if (entry->count == 1)
        return visit_all(module, NULL, visit, user);
    return visit_reached(module, entry, visit, user);
}
