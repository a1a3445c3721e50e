/*
 * interface_agree.c: compares a kernel's declaration with what its payload says.
 */
#include "plan/interface_agree.h"

uint32_t vyre_scalar_size(enum vyre_scalar scalar)
{
    switch (scalar) {
    case VYRE_SCALAR_U32:
    case VYRE_SCALAR_I32:
    case VYRE_SCALAR_F32:
        return 4;
    case VYRE_SCALAR_U64:
    case VYRE_SCALAR_I64:
    case VYRE_SCALAR_F64:
        return 8;
    case VYRE_SCALAR_NONE:
        break;
    }
    return 0;
}

static uint32_t align_up(uint32_t size, uint32_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

uint32_t vyre_scalars_layout(const enum vyre_scalar *scalars, size_t count, uint32_t *out_alignment)
{
    uint32_t size = 0;
    *out_alignment = 4;
    for (size_t i = 0; i < count; i++) {
        uint32_t scalar = vyre_scalar_size(scalars[i]);
        if (scalar == 0)
            return UINT32_MAX;
        size = align_up(size, scalar) + scalar;
        if (size > VYRE_CONSTANTS_BYTES_MAX)
            return UINT32_MAX;
        if (scalar > *out_alignment)
            *out_alignment = scalar;
    }
    return align_up(size, *out_alignment);
}

static const struct vyre_binding_desc *find_declared(const struct vyre_kernel_desc *declared,
                                                     uint32_t slot)
{
    for (size_t i = 0; i < declared->binding_count; i++) {
        if (declared->bindings[i].slot == slot)
            return &declared->bindings[i];
    }
    return NULL;
}

static bool is_reflected(const struct vyre_kernel_interface *reflected, uint32_t slot)
{
    for (uint32_t i = 0; i < reflected->binding_count; i++) {
        if (reflected->bindings[i].slot == slot)
            return true;
    }
    return false;
}

/* Role and access with their defaults filled in. */
static enum vyre_status resolve(const struct vyre_binding_desc *desc, struct vyre_binding *out,
                                struct vyre_diag *diag)
{
    struct vyre_binding_plan plan;
    return vyre_binding_plan_build(desc, 1, out, 1, &plan, diag);
}

static const char *label_of(const struct vyre_kernel_desc *declared,
                            const struct vyre_binding_desc *binding)
{
    return binding->label ? binding->label : declared->label;
}

static enum vyre_status agree_on_slot(const struct vyre_kernel_desc *declared,
                                      const struct vyre_binding_desc *mine,
                                      const struct vyre_binding_desc *theirs,
                                      struct vyre_diag *diag)
{
    struct vyre_binding want, have;
    enum vyre_status status = resolve(mine, &want, diag);
    if (status == VYRE_OK)
        status = resolve(theirs, &have, diag);
    if (status != VYRE_OK)
        return status;

    const char *label = label_of(declared, mine);
    bool want_local = want.role == VYRE_ROLE_SHARED;
    bool have_local = have.role == VYRE_ROLE_SHARED;
    if (want_local != have_local)
        return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_KIND, label, 0,
                             "slot %u is declared as %s, but is %s in the payload", want.slot,
                             want_local ? "local memory" : "a buffer",
                             have_local ? "local memory" : "a buffer");
    if (want.table && have.role == VYRE_ROLE_UNIFORM)
        return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_KIND, label, 0,
                             "slot %u is declared as a table, but is a uniform buffer in the "
                             "payload",
                             want.slot);
    if (want.role == VYRE_ROLE_UNIFORM && have.access != VYRE_ACCESS_READ)
        return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_KIND, label, 0,
                             "slot %u is declared as uniform, but the payload may %s it", want.slot,
                             have.access == VYRE_ACCESS_WRITE ? "write" : "read and write");
    if (!want.table && ((unsigned)have.access & ~(unsigned)want.access) != 0)
        return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_ACCESS, label, 0,
                             "slot %u is declared %s, but the payload has it as %s", want.slot,
                             vyre_access_name(want.access), vyre_access_name(have.access));
    return VYRE_OK;
}

/* A slot that only one side has. */
static enum vyre_status refuse_slot(const char *label, uint32_t slot, bool is_declared,
                                    struct vyre_diag *diag)
{
    enum vyre_status status =
        vyre_diag_set(diag, VYRE_DIAG_INTERFACE_SLOT, label, 0,
                      is_declared ? "slot %u is declared, but the payload does not bind it"
                                  : "the payload binds slot %u, which is not declared",
                      slot);
    vyre_diag_set_fix(diag,
                      is_declared
                          ? "Leave slot %u out of the declaration, or use it in the payload."
                          : "Declare slot %u as well, or no slots at all.",
                      slot);
    return status;
}

static enum vyre_status agree_on_bindings(const struct vyre_kernel_desc *declared,
                                          const struct vyre_kernel_interface *reflected,
                                          struct vyre_diag *diag)
{
    if (!reflected->has_bindings || declared->binding_count == 0)
        return VYRE_OK;
    for (uint32_t i = 0; i < reflected->binding_count; i++) {
        const struct vyre_binding_desc *theirs = &reflected->bindings[i];
        const struct vyre_binding_desc *mine = find_declared(declared, theirs->slot);
        if (!mine)
            return refuse_slot(declared->label, theirs->slot, false, diag);
        enum vyre_status status = agree_on_slot(declared, mine, theirs, diag);
        if (status != VYRE_OK)
            return status;
    }
    for (size_t i = 0; i < declared->binding_count; i++) {
        const struct vyre_binding_desc *mine = &declared->bindings[i];
        if (mine->role != VYRE_ROLE_SHARED && !is_reflected(reflected, mine->slot))
            return refuse_slot(label_of(declared, mine), mine->slot, true, diag);
    }
    return VYRE_OK;
}

static enum vyre_status agree_on_members(const struct vyre_kernel_desc *declared,
                                         const struct vyre_kernel_interface *reflected,
                                         struct vyre_diag *diag)
{
    if (declared->constant_count != reflected->constant_count)
        return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_CONSTANTS, declared->label, 0,
                             "%zu constants are declared, the payload has %u",
                             declared->constant_count, reflected->constant_count);
    for (uint32_t i = 0; i < reflected->constant_count; i++) {
        uint32_t mine = vyre_scalar_size(declared->constants[i]);
        uint32_t theirs = vyre_scalar_size(reflected->constants[i]);
        if (mine != theirs)
            return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_CONSTANTS, declared->label, 0,
                                 "constant %u is declared with %u bytes, the payload's has %u", i,
                                 mine, theirs);
    }
    return VYRE_OK;
}

static enum vyre_status agree_on_constants(const struct vyre_kernel_desc *declared,
                                           const struct vyre_kernel_interface *reflected,
                                           struct vyre_diag *diag)
{
    if (!reflected->has_constants || declared->constant_count == 0)
        return VYRE_OK;
    if (reflected->constant_count > 0)
        return agree_on_members(declared, reflected, diag);

    uint32_t alignment;
    uint32_t size = vyre_scalars_layout(declared->constants, declared->constant_count, &alignment);
    /* A C struct is padded at its end; a block of push constants is not. */
    if (size == UINT32_MAX || size != align_up(reflected->constants_size_bytes, alignment))
        return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_CONSTANTS, declared->label, 0,
                             "the %zu declared constants do not take the payload's %u bytes",
                             declared->constant_count, reflected->constants_size_bytes);
    return VYRE_OK;
}

static enum vyre_status agree_on_local_size(const struct vyre_kernel_desc *declared,
                                            const struct vyre_kernel_interface *reflected,
                                            struct vyre_diag *diag)
{
    const uint32_t *mine = declared->local_size;
    const uint32_t *theirs = reflected->local_size;
    if (!reflected->has_local_size || (mine[0] | mine[1] | mine[2]) == 0)
        return VYRE_OK;
    for (int i = 0; i < 3; i++) {
        if ((mine[i] ? mine[i] : 1) != theirs[i])
            return vyre_diag_set(diag, VYRE_DIAG_INTERFACE_LOCAL_SIZE, declared->label, 0,
                                 "a local size of %u x %u x %u is declared, the payload has %u x "
                                 "%u x %u",
                                 mine[0] ? mine[0] : 1, mine[1] ? mine[1] : 1,
                                 mine[2] ? mine[2] : 1, theirs[0], theirs[1], theirs[2]);
    }
    return VYRE_OK;
}

enum vyre_status vyre_interface_agree(const struct vyre_kernel_desc *declared,
                                      const struct vyre_kernel_interface *reflected,
                                      struct vyre_diag *diag)
{
    enum vyre_status status = agree_on_bindings(declared, reflected, diag);
    if (status == VYRE_OK)
        status = agree_on_constants(declared, reflected, diag);
    if (status == VYRE_OK)
        status = agree_on_local_size(declared, reflected, diag);
    return status;
}
