/*
 * binding_plan.c: what a kernel binds, checked and sorted.
 */
#include <vyre/binding_plan.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "plan/account.h"

#define ACCESS_BIT(access) (1u << (access))

/* What a role implies; indexed by enum vyre_role. */
static const struct role_facts {
    const char *name;
    enum vyre_access default_access;
    unsigned allowed; /* ACCESS_BITs */
    bool has_input;
    bool has_output;
} roles[] = {
    [VYRE_ROLE_NONE] = {"none", VYRE_ACCESS_DEFAULT, 0, false, false},
    [VYRE_ROLE_INPUT] = {"input", VYRE_ACCESS_READ, ACCESS_BIT(VYRE_ACCESS_READ), true, false},
    [VYRE_ROLE_OUTPUT] = {"output", VYRE_ACCESS_WRITE,
                          ACCESS_BIT(VYRE_ACCESS_WRITE) | ACCESS_BIT(VYRE_ACCESS_READWRITE), false,
                          true},
    [VYRE_ROLE_INPUT_OUTPUT] = {"input-output", VYRE_ACCESS_READWRITE,
                                ACCESS_BIT(VYRE_ACCESS_READWRITE), true, true},
    [VYRE_ROLE_UNIFORM] = {"uniform", VYRE_ACCESS_READ, ACCESS_BIT(VYRE_ACCESS_READ), true, false},
    [VYRE_ROLE_SHARED] = {"shared", VYRE_ACCESS_READWRITE, ACCESS_BIT(VYRE_ACCESS_READWRITE), false,
                          false},
    [VYRE_ROLE_PERSISTENT] = {"persistent", VYRE_ACCESS_READWRITE,
                              ACCESS_BIT(VYRE_ACCESS_READ) | ACCESS_BIT(VYRE_ACCESS_WRITE) |
                                  ACCESS_BIT(VYRE_ACCESS_READWRITE),
                              false, false},
};

static bool role_is_known(enum vyre_role role)
{
    return role != VYRE_ROLE_NONE && (unsigned)role < sizeof roles / sizeof roles[0];
}

const char *vyre_role_name(enum vyre_role role)
{
    return roles[role_is_known(role) ? role : VYRE_ROLE_NONE].name;
}

const char *vyre_access_name(enum vyre_access access)
{
    switch (access) {
    case VYRE_ACCESS_DEFAULT:
        return "default";
    case VYRE_ACCESS_READ:
        return "read";
    case VYRE_ACCESS_WRITE:
        return "write";
    case VYRE_ACCESS_READWRITE:
        return "readwrite";
    }
    return "none";
}

/* The declared role, or the one that the declared access implies. */
static enum vyre_role role_of(const struct vyre_binding_desc *desc)
{
    static const enum vyre_role by_access[] = {
        [VYRE_ACCESS_DEFAULT] = VYRE_ROLE_NONE,
        [VYRE_ACCESS_READ] = VYRE_ROLE_INPUT,
        [VYRE_ACCESS_WRITE] = VYRE_ROLE_OUTPUT,
        [VYRE_ACCESS_READWRITE] = VYRE_ROLE_INPUT_OUTPUT,
    };
    if (desc->role != VYRE_ROLE_NONE || (unsigned)desc->access > VYRE_ACCESS_READWRITE)
        return desc->role;
    return by_access[desc->access];
}

/* One declaration, checked on its own; the caller gives the indices. */
static enum vyre_status make_binding(const struct vyre_binding_desc *desc,
                                     struct vyre_binding *out_binding, struct vyre_diag *diag)
{
    enum vyre_role declared = role_of(desc);
    if (!role_is_known(declared))
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_ROLE_UNKNOWN, desc->label, 0,
                             "the binding at slot %u has the unknown role %d", desc->slot,
                             (int)desc->role);

    const struct role_facts *role = &roles[declared];
    enum vyre_access access =
        desc->access == VYRE_ACCESS_DEFAULT ? role->default_access : desc->access;
    if ((unsigned)access > VYRE_ACCESS_READWRITE || !(role->allowed & ACCESS_BIT(access)))
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_ROLE_ACCESS, desc->label, 0,
                             "the binding at slot %u has role %s, which does not go with access %s",
                             desc->slot, role->name, vyre_access_name(access));

    if (desc->table && declared == VYRE_ROLE_SHARED)
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_ROLE_ACCESS, desc->label, 0,
                             "the binding at slot %u is shared memory, which cannot be a table",
                             desc->slot);

    size_t element_size = desc->element_size_bytes ? desc->element_size_bytes : 1;
    size_t size;
    if (!vyre_checked_mul_size(element_size, desc->element_count, &size))
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_SIZE_OVERFLOW, desc->label, 0,
                             "the binding at slot %u: %zu elements of %zu bytes do not fit in "
                             "size_t",
                             desc->slot, desc->element_count, element_size);

    *out_binding = (struct vyre_binding){
        .slot = desc->slot,
        .role = declared,
        .access = access,
        .element_size_bytes = element_size,
        .size_bytes = size,
        .input_index = VYRE_NO_INDEX,
        .output_index = VYRE_NO_INDEX,
        .label = desc->label,
        .table = desc->table,
    };
    return VYRE_OK;
}

static int compare_slots(const void *a, const void *b)
{
    const struct vyre_binding *left = a;
    const struct vyre_binding *right = b;
    return (left->slot > right->slot) - (left->slot < right->slot);
}

static enum vyre_status sort_by_slot(struct vyre_binding *bindings, size_t count,
                                     struct vyre_diag *diag)
{
    vyre_sort(bindings, count, sizeof *bindings, compare_slots);
    for (size_t i = 1; i < count; i++) {
        if (bindings[i - 1].slot == bindings[i].slot)
            return vyre_diag_set(diag, VYRE_DIAG_BINDING_SLOT_DUPLICATE, bindings[i].label, 0,
                                 "slot %u is declared more than once", bindings[i].slot);
    }
    return VYRE_OK;
}

enum vyre_status vyre_binding_plan_build(const struct vyre_binding_desc *descs, size_t count,
                                         struct vyre_binding *memory, size_t memory_count,
                                         struct vyre_binding_plan *out_plan, struct vyre_diag *diag)
{
    memset(out_plan, 0, sizeof *out_plan);
    if (count > memory_count)
        return vyre_diag_set(diag, VYRE_DIAG_CAPACITY, NULL, 0,
                             "%zu bindings do not fit in memory for %zu", count, memory_count);

    struct vyre_binding_plan plan = {.bindings = memory, .binding_count = count};
    for (size_t i = 0; i < count; i++) {
        enum vyre_status status = make_binding(&descs[i], &memory[i], diag);
        if (status != VYRE_OK)
            return status;
        if (roles[memory[i].role].has_input)
            memory[i].input_index = plan.input_count++;
        if (roles[memory[i].role].has_output)
            memory[i].output_index = plan.output_count++;
    }
    enum vyre_status status = sort_by_slot(memory, count, diag);
    if (status == VYRE_OK)
        *out_plan = plan;
    return status;
}

const struct vyre_binding *vyre_binding_plan_find(const struct vyre_binding_plan *plan,
                                                  uint32_t slot)
{
    if (plan->binding_count == 0)
        return NULL;
    const struct vyre_binding key = {.slot = slot};
    return bsearch(&key, plan->bindings, plan->binding_count, sizeof key, compare_slots);
}

static enum vyre_status check_length(const struct vyre_binding *binding, size_t length_bytes,
                                     struct vyre_diag *diag)
{
    if (binding->size_bytes != 0 && length_bytes != binding->size_bytes)
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_INPUT_LENGTH, binding->label, 0,
                             "input %zu (slot %u) has %zu bytes, its binding wants %zu",
                             binding->input_index, binding->slot, length_bytes,
                             binding->size_bytes);
    if (length_bytes == 0 || length_bytes % binding->element_size_bytes != 0)
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_INPUT_LENGTH, binding->label, 0,
                             "input %zu (slot %u) has %zu bytes, which is not a whole positive "
                             "number of elements of %zu bytes",
                             binding->input_index, binding->slot, length_bytes,
                             binding->element_size_bytes);
    return VYRE_OK;
}

enum vyre_status vyre_binding_plan_check_inputs(const struct vyre_binding_plan *plan,
                                                const size_t *lengths_bytes, size_t count,
                                                struct vyre_diag *diag)
{
    if (count != plan->input_count)
        return vyre_diag_set(diag, VYRE_DIAG_BINDING_INPUT_COUNT, NULL, 0,
                             "%zu inputs were given, the plan has %zu", count, plan->input_count);
    for (size_t i = 0; i < plan->binding_count; i++) {
        const struct vyre_binding *binding = &plan->bindings[i];
        if (binding->input_index == VYRE_NO_INDEX)
            continue;
        enum vyre_status status = check_length(binding, lengths_bytes[binding->input_index], diag);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

/* Adds one binding of `bytes` to the sums that it belongs to. */
static enum vyre_status account_binding(const struct vyre_account *account,
                                        const struct vyre_binding *binding, size_t bytes,
                                        struct vyre_transfer_account *sums)
{
    if (binding->role == VYRE_ROLE_SHARED)
        return vyre_account_add(account, "shared bytes", bytes, &sums->shared_bytes);

    enum vyre_status status = vyre_account_add(account, "device bytes", bytes, &sums->device_bytes);
    if (status == VYRE_OK && binding->input_index != VYRE_NO_INDEX) {
        status = vyre_account_add(account, "upload count", 1, &sums->upload_count);
        if (status == VYRE_OK)
            status = vyre_account_add(account, "upload bytes", bytes, &sums->upload_bytes);
    }
    if (status == VYRE_OK && binding->output_index != VYRE_NO_INDEX) {
        status = vyre_account_add(account, "readback count", 1, &sums->readback_count);
        if (status == VYRE_OK)
            status = vyre_account_add(account, "readback bytes", bytes, &sums->readback_bytes);
    }
    return status;
}

enum vyre_status vyre_binding_plan_account(const struct vyre_binding_plan *plan,
                                           const size_t *input_lengths_bytes,
                                           struct vyre_transfer_account *out_account,
                                           struct vyre_diag *diag)
{
    const struct vyre_account account = {
        .plan = "binding plan", .fix = "Split the work into smaller dispatches.", .diag = diag};
    struct vyre_transfer_account sums = {0};
    memset(out_account, 0, sizeof *out_account);
    for (size_t i = 0; i < plan->binding_count; i++) {
        const struct vyre_binding *binding = &plan->bindings[i];
        size_t bytes = binding->size_bytes;
        if (bytes == 0 && binding->input_index != VYRE_NO_INDEX) {
            if (!input_lengths_bytes)
                return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_NULL, binding->label, 0,
                                     "input %zu (slot %u) is open, but no lengths were given",
                                     binding->input_index, binding->slot);
            bytes = input_lengths_bytes[binding->input_index];
        }
        enum vyre_status status = account_binding(&account, binding, bytes, &sums);
        if (status != VYRE_OK)
            return status;
    }
    *out_account = sums;
    return VYRE_OK;
}
