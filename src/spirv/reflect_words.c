/*
 * reflect_words.c: what a kernel takes, read from its words.
 */
#include <string.h>

#include "spirv/constants_layout.h"
#include "spirv/entry.h"
#include "spirv/grammar.h"
#include "spirv/local_memory.h"
#include "spirv/specialization.h"

/* Further members count as readable and writable; the flags mean "all members are". */
#define TRACKED_MEMBERS 1024

struct member_set {
    uint64_t bits[TRACKED_MEMBERS / 64];
};

struct reader {
    struct vyre_spirv_module module;
    struct vyre_spirv_reflection *out; /* Borrowed */
    bool has_constants;
    struct vyre_spirv_local_reader local;
};

static enum vyre_status refuse(const struct reader *reader, enum vyre_diag_id id, const char *what,
                               uint32_t number)
{
    return vyre_diag_set(reader->module.diag, id, reader->module.label, 0, "%s (id %u)", what,
                         number);
}

/* ---- Bindings --------------------------------------------------------------------------------- */

static void add_member(struct member_set *set, uint32_t member)
{
    if (member < TRACKED_MEMBERS)
        set->bits[member / 64] |= UINT64_C(1) << member % 64;
}

static bool has_members(const struct member_set *set, uint32_t count)
{
    if (count == 0 || count > TRACKED_MEMBERS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!(set->bits[i / 64] >> i % 64 & 1))
            return false;
    }
    return true;
}

/* What the decorations say about one buffer. */
struct buffer_facts {
    bool has_set, has_binding, block, buffer_block, no_write, no_read;
    uint32_t set, binding;
};

static void read_variable_decoration(const struct vyre_spirv_instruction *decoration,
                                     struct buffer_facts *facts)
{
    bool has_operand = decoration->count > 3;
    switch (decoration->words[2]) {
    case SPIRV_DECORATION_DESCRIPTOR_SET:
        facts->has_set = has_operand;
        facts->set = has_operand ? decoration->words[3] : 0;
        break;
    case SPIRV_DECORATION_BINDING:
        facts->has_binding = has_operand;
        facts->binding = has_operand ? decoration->words[3] : 0;
        break;
    case SPIRV_DECORATION_NON_WRITABLE:
        facts->no_write = true;
        break;
    case SPIRV_DECORATION_NON_READABLE:
        facts->no_read = true;
        break;
    default:
        break;
    }
}

static struct buffer_facts read_decorations(const struct vyre_spirv_module *module,
                                            uint32_t variable,
                                            const struct vyre_spirv_instruction *type)
{
    struct buffer_facts facts = {0};
    struct member_set no_write = {{0}}, no_read = {{0}};
    struct vyre_spirv_walk walk = vyre_spirv_module_annotations(module);
    struct vyre_spirv_instruction found;
    while (vyre_spirv_walk_next(&walk, &found)) {
        if (found.op == SPIRV_OP_DECORATE && found.words[1] == variable) {
            read_variable_decoration(&found, &facts);
        } else if (found.op == SPIRV_OP_DECORATE && found.words[1] == type->words[1]) {
            facts.block |= found.words[2] == SPIRV_DECORATION_BLOCK;
            facts.buffer_block |= found.words[2] == SPIRV_DECORATION_BUFFER_BLOCK;
        } else if (found.op == SPIRV_OP_MEMBER_DECORATE && found.words[1] == type->words[1]) {
            if (found.words[3] == SPIRV_DECORATION_NON_WRITABLE)
                add_member(&no_write, found.words[2]);
            else if (found.words[3] == SPIRV_DECORATION_NON_READABLE)
                add_member(&no_read, found.words[2]);
        }
    }
    facts.no_write |= has_members(&no_write, type->count - 2);
    facts.no_read |= has_members(&no_read, type->count - 2);
    return facts;
}

static enum vyre_status insert_binding(struct reader *reader, uint32_t id,
                                       const struct vyre_binding_desc *binding)
{
    struct vyre_kernel_interface *interface = &reader->out->interface;
    if (interface->binding_count == VYRE_KERNEL_BINDINGS_MAX)
        return vyre_diag_set(reader->module.diag, VYRE_DIAG_SPIRV_LIMIT, reader->module.label, 0,
                             "the kernel has more than %d bindings", VYRE_KERNEL_BINDINGS_MAX);
    uint32_t at = interface->binding_count;
    while (at > 0 && interface->bindings[at - 1].slot > binding->slot)
        at--;
    if (at > 0 && interface->bindings[at - 1].slot == binding->slot)
        return refuse(reader, VYRE_DIAG_SPIRV_BINDING, "two buffers have one binding number", id);
    memmove(&interface->bindings[at + 1], &interface->bindings[at],
            (interface->binding_count - at) * sizeof *binding);
    interface->bindings[at] = *binding;
    interface->binding_count++;
    return VYRE_OK;
}

static enum vyre_status read_buffer(struct reader *reader,
                                    const struct vyre_spirv_instruction *variable,
                                    const struct vyre_spirv_instruction *type)
{
    uint32_t id = variable->words[2];
    struct buffer_facts facts = read_decorations(&reader->module, id, type);
    if (!facts.has_binding || !facts.has_set)
        return refuse(reader, VYRE_DIAG_SPIRV_BINDING, "a buffer has no set or binding number", id);
    if (facts.set != 0)
        return vyre_diag_set(reader->module.diag, VYRE_DIAG_SPIRV_SET, reader->module.label, 0,
                             "binding %u is in set %u, only set 0 is taken", facts.binding,
                             facts.set);
    bool storage = variable->words[3] == SPIRV_CLASS_STORAGE_BUFFER || facts.buffer_block;
    if (!storage && !facts.block)
        return refuse(reader, VYRE_DIAG_SPIRV_MALFORMED, "a buffer is not decorated as a block",
                      id);
    struct vyre_binding_desc binding = {.slot = facts.binding, .access = VYRE_ACCESS_READWRITE};
    if (!storage) {
        binding.role = VYRE_ROLE_UNIFORM;
        binding.access = VYRE_ACCESS_READ;
    } else if (facts.no_write) {
        binding.access = VYRE_ACCESS_READ;
    } else if (facts.no_read) {
        binding.access = VYRE_ACCESS_WRITE;
    }
    return insert_binding(reader, id, &binding);
}

/* ---- Variables -------------------------------------------------------------------------------- */

static const char *resource_name(const struct vyre_spirv_module *module, uint32_t type_id)
{
    enum { OP_IMAGE = 25, OP_SAMPLER = 26, OP_SAMPLED_IMAGE = 27 };
    struct vyre_spirv_instruction type;
    if (!vyre_spirv_module_find(module, type_id, &type))
        return "a resource that is no buffer";
    switch (type.op) {
    case OP_IMAGE:
        return "an image, which is no buffer";
    case OP_SAMPLER:
        return "a sampler, which is no buffer";
    case OP_SAMPLED_IMAGE:
        return "a sampled image, which is no buffer";
    case SPIRV_OP_TYPE_ARRAY:
    case SPIRV_OP_TYPE_RUNTIME_ARRAY:
        return "an array of resources; a table of addresses does the same";
    default:
        return "a resource that is no buffer";
    }
}

static enum vyre_status read_constants(struct reader *reader, uint32_t variable, uint32_t block)
{
    if (reader->has_constants)
        return refuse(reader, VYRE_DIAG_SPIRV_CONSTANTS,
                      "the kernel has a second block of push constants", variable);
    reader->has_constants = true;
    return vyre_spirv_constants_layout(&reader->module, block, &reader->out->interface);
}

static enum vyre_status read_variable(void *user, const struct vyre_spirv_instruction *variable)
{
    struct reader *reader = user;
    const struct vyre_spirv_module *module = &reader->module;
    uint32_t id = variable->words[2];
    uint32_t storage = variable->words[3];
    if (storage == SPIRV_CLASS_INPUT || storage == SPIRV_CLASS_PRIVATE)
        return VYRE_OK;
    if (storage == SPIRV_CLASS_WORKGROUP)
        return vyre_spirv_local_add(&reader->local, module, variable, reader->out);

    struct vyre_spirv_instruction pointer, type;
    if (!vyre_spirv_module_find_op(module, variable->words[1], SPIRV_OP_TYPE_POINTER, &pointer))
        return refuse(reader, VYRE_DIAG_SPIRV_MALFORMED, "a variable's type is no pointer", id);
    if (storage == SPIRV_CLASS_PUSH_CONSTANT)
        return read_constants(reader, id, pointer.words[3]);
    if (storage != SPIRV_CLASS_UNIFORM && storage != SPIRV_CLASS_STORAGE_BUFFER &&
        storage != SPIRV_CLASS_UNIFORM_CONSTANT)
        return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_RESOURCE, module->label, 0,
                             "the variable of id %u has the storage class %u, which kernels do not "
                             "have",
                             id, storage);
    if (storage == SPIRV_CLASS_UNIFORM_CONSTANT ||
        !vyre_spirv_module_find_op(module, pointer.words[3], SPIRV_OP_TYPE_STRUCT, &type))
        return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_RESOURCE, module->label, 0,
                             "the variable of id %u is %s", id,
                             resource_name(module, pointer.words[3]));
    return read_buffer(reader, variable, &type);
}

/* ---- Local size ------------------------------------------------------------------------------- */

/* The size that three constants give; unknown if one is an expression. */
static void read_size_ids(struct reader *reader, const uint32_t *ids)
{
    struct vyre_spirv_reflection *out = reader->out;
    out->interface.has_local_size = true;
    for (int i = 0; i < 3; i++) {
        out->local_size_ids[i] = VYRE_SPIRV_NO_ID;
        if (!vyre_spirv_module_constant(&reader->module, ids[i], &out->interface.local_size[i]))
            out->interface.has_local_size = false;
        else
            (void)vyre_spirv_module_decoration(&reader->module, ids[i], SPIRV_DECORATION_SPEC_ID,
                                               &out->local_size_ids[i]);
    }
}

/*
 * The composite that is decorated WorkgroupSize, which takes precedence over every execution mode.
 */
static bool find_size_composite(const struct vyre_spirv_module *module,
                                struct vyre_spirv_instruction *out)
{
    struct vyre_spirv_walk walk = vyre_spirv_module_annotations(module);
    struct vyre_spirv_instruction found;
    while (vyre_spirv_walk_next(&walk, &found)) {
        if (found.op == SPIRV_OP_DECORATE && found.words[2] == SPIRV_DECORATION_BUILTIN &&
            found.count > 3 && found.words[3] == SPIRV_BUILTIN_WORKGROUP_SIZE &&
            vyre_spirv_module_find(module, found.words[1], out) &&
            (out->op == SPIRV_OP_CONSTANT_COMPOSITE || out->op == SPIRV_OP_SPEC_CONSTANT_COMPOSITE))
            return out->count == 6;
    }
    return false;
}

/* The execution modes of the entry point; false if none gives a size. */
static bool read_execution_modes(struct reader *reader, uint32_t function)
{
    bool found = false;
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(reader->module.words, reader->module.count);
    struct vyre_spirv_instruction mode;
    while (vyre_spirv_walk_next(&walk, &mode) && mode.op != SPIRV_OP_FUNCTION) {
        bool by_id = mode.op == SPIRV_OP_EXECUTION_MODE_ID;
        if ((mode.op != SPIRV_OP_EXECUTION_MODE && !by_id) || mode.words[1] != function ||
            mode.count != 6)
            continue;
        if (!by_id && mode.words[2] == SPIRV_MODE_LOCAL_SIZE) {
            memcpy(reader->out->interface.local_size, mode.words + 3, 3 * sizeof(uint32_t));
            reader->out->interface.has_local_size = true;
            found = true;
        } else if (by_id && mode.words[2] == SPIRV_MODE_LOCAL_SIZE_ID) {
            read_size_ids(reader, mode.words + 3);
            reader->out->local_size_by_id = true;
            found = true;
        }
    }
    return found;
}

static enum vyre_status read_local_size(struct reader *reader, uint32_t function)
{
    struct vyre_spirv_reflection *out = reader->out;
    for (int i = 0; i < 3; i++)
        out->local_size_ids[i] = VYRE_SPIRV_NO_ID;
    struct vyre_spirv_instruction composite;
    bool found = read_execution_modes(reader, function);
    if (find_size_composite(&reader->module, &composite)) {
        read_size_ids(reader, composite.words + 3);
        found = true;
    }
    if (!found)
        return refuse(reader, VYRE_DIAG_SPIRV_LOCAL_SIZE, "the entry point has no local size",
                      function);
    uint32_t *size = out->interface.local_size;
    if (!out->interface.has_local_size)
        memset(size, 0, sizeof out->interface.local_size);
    else if (size[0] == 0 || size[1] == 0 || size[2] == 0)
        return vyre_diag_set(reader->module.diag, VYRE_DIAG_SPIRV_LOCAL_SIZE, reader->module.label,
                             0, "the local size is %u x %u x %u", size[0], size[1], size[2]);
    return VYRE_OK;
}

/* ---- The whole -------------------------------------------------------------------------------- */

static enum vyre_status read_capabilities(struct reader *reader)
{
    struct vyre_spirv_reflection *out = reader->out;
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(reader->module.words, reader->module.count);
    struct vyre_spirv_instruction found;
    while (vyre_spirv_walk_next(&walk, &found) && found.op != SPIRV_OP_FUNCTION) {
        if (found.op == SPIRV_OP_MEMORY_MODEL)
            out->uses_physical_addresses |=
                found.words[1] == SPIRV_ADDRESSING_PHYSICAL_STORAGE_BUFFER;
        if (found.op != SPIRV_OP_CAPABILITY)
            continue;
        if (out->capability_count == VYRE_SPIRV_CAPABILITIES_MAX)
            return vyre_diag_set(reader->module.diag, VYRE_DIAG_SPIRV_LIMIT, reader->module.label,
                                 0, "the module has more than %d capabilities",
                                 VYRE_SPIRV_CAPABILITIES_MAX);
        out->capabilities[out->capability_count++] = found.words[1];
        out->uses_physical_addresses |= found.words[1] == SPIRV_CAPABILITY_PHYSICAL_STORAGE_BUFFER;
    }
    return VYRE_OK;
}

static enum vyre_status read_all(struct reader *reader, const char *entry_name)
{
    struct vyre_spirv_entry entry;
    enum vyre_status status = vyre_spirv_entry_find(&reader->module, entry_name, &entry);
    if (status == VYRE_OK)
        status = read_capabilities(reader);
    if (status == VYRE_OK)
        status = vyre_spirv_entry_visit(&reader->module, &entry, read_variable, reader);
    if (status == VYRE_OK)
        status = vyre_spirv_specialization_read(&reader->module, reader->out);
    if (status == VYRE_OK)
        status = read_local_size(reader, entry.function);
    return status;
}

enum vyre_status vyre_spirv_words_reflect(const struct vyre_allocator *allocator,
                                          const uint32_t *words, size_t count, const char *entry,
                                          const char *label,
                                          struct vyre_spirv_reflection *out_reflection,
                                          struct vyre_diag *diag)
{
    struct reader reader = {.out = out_reflection};
    memset(out_reflection, 0, sizeof *out_reflection);
    enum vyre_status status =
        vyre_spirv_module_open(allocator, words, count, label, diag, &reader.module);
    if (status == VYRE_OK) {
        out_reflection->version = reader.module.version;
        status = read_all(&reader, entry ? entry : "main");
    }
    vyre_spirv_local_deinit(&reader.local, &reader.module);
    vyre_spirv_module_close(&reader.module);
    if (status != VYRE_OK) {
        memset(out_reflection, 0, sizeof *out_reflection);
        return status;
    }
    out_reflection->interface.has_bindings = true;
    out_reflection->interface.has_constants = true;
    out_reflection->interface.has_specialization = true;
    return VYRE_OK;
}
