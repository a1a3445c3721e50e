/*
 * conformance_subjects.c: how to dispatch the kernels of the conformance suite.
 */
#include "conformance/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "payloads/payloads.h"

/* Words by binding, in the order of slots; what is not named is in the kernel's row. */
static const struct recipe {
    bool any; /* there is a recipe */
    uint32_t words[3];
    uint32_t words_per_group[3];
    enum subject_use uses[2];
    uint32_t counted_binding; /* of SUBJECT_WORDS */
    bool one_group, flat, partial, counted;
    enum subject_members members;
} recipes[KERNEL_COUNT] = {
    [KERNEL_ADD] = {.any = true,
                    .words_per_group = {LOCAL_SIZE},
                    .uses = {SUBJECT_RANDOM, SUBJECT_WORDS},
                    .flat = true,
                    .partial = true},
    [KERNEL_MIX] = {.any = true,
                    .words_per_group = {LOCAL_SIZE, LOCAL_SIZE},
                    .uses = {SUBJECT_RANDOM, SUBJECT_WORDS},
                    .flat = true,
                    .partial = true},
    [KERNEL_APPEND] = {.any = true,
                       .uses = {SUBJECT_RANDOM, SUBJECT_WORDS},
                       .one_group = true,
                       .counted = true},
    [KERNEL_IDENTIFY] = {.any = true, .words_per_group = {1, 6}},
    [KERNEL_ECHO] = {.any = true, .words = {2 * ECHO_WORDS64}, .one_group = true},
    [KERNEL_WIDE] = {.any = true, .words = {VYRE_CONSTANTS_BYTES_MAX / 4}, .one_group = true},
    [KERNEL_SPECIALIZED] = {.any = true, .words = {8}, .one_group = true},
    [KERNEL_REVERSE] = {.any = true,
                        .words = {0, 0, LOCAL_SIZE},
                        .words_per_group = {LOCAL_SIZE, LOCAL_SIZE},
                        .flat = true},
    [KERNEL_TABLE_SUM] = {.any = true,
                          .words_per_group = {0, LOCAL_SIZE},
                          .uses = {SUBJECT_TABLE_COUNT, SUBJECT_WORDS},
                          .counted_binding = 1,
                          .flat = true,
                          .partial = true,
                          .members = MEMBERS_AS_BINDING_1},
    [KERNEL_TABLE_ADD] = {.any = true, .flat = true, .members = MEMBERS_16_ONE_PER_GROUP},
    [KERNEL_SPARSE] = {.any = true,
                       .words_per_group = {LOCAL_SIZE, LOCAL_SIZE, LOCAL_SIZE},
                       .flat = true},
};

static const char *text_of(const struct kernel_plan *plan, enum vyre_target target)
{
    for (size_t i = 0; i < plan->desc.payload_count; i++)
        if (plan->payloads[i].target == target)
            return plan->payloads[i].bytes;
    return NULL;
}

static int by_slot(const void *a, const void *b)
{
    const struct subject_binding *left = a, *right = b;
    return (left->slot > right->slot) - (left->slot < right->slot);
}

static void add_bindings(struct subject *subject, const struct vyre_kernel_desc *desc,
                         const struct recipe *recipe)
{
    subject->binding_count = (uint32_t)desc->binding_count;
    for (size_t i = 0; i < desc->binding_count; i++)
        subject->bindings[i] =
            (struct subject_binding){.slot = desc->bindings[i].slot,
                                     .table = desc->bindings[i].table,
                                     .local = desc->bindings[i].role == VYRE_ROLE_SHARED};
    qsort(subject->bindings, desc->binding_count, sizeof subject->bindings[0], by_slot);
    for (size_t i = 0; i < desc->binding_count; i++) {
        subject->bindings[i].words = recipe->words[i];
        subject->bindings[i].words_per_group = recipe->words_per_group[i];
    }
}

size_t conformance_subjects(struct subject *subjects, size_t count)
{
    for (uint32_t id = 0; id < KERNEL_COUNT; id++) {
        const struct recipe *recipe = &recipes[id];
        struct subject *subject = &subjects[count++];
        struct kernel_plan plan;
        kernel_plan_init(&plan, (enum kernel_id)id);
        *subject = (struct subject){.suite = "conformance",
                                    .name = plan.desc.label,
                                    .host_only = kernel_host_only_reason((enum kernel_id)id),
                                    .host = plan.payloads[0].function,
                                    .opencl_c = text_of(&plan, VYRE_TARGET_OPENCL_C),
                                    .glsl = text_of(&plan, VYRE_TARGET_GLSL)};
        if (!recipe->any)
            continue;
        for (uint32_t i = 0; i < 3; i++)
            subject->local_size[i] = plan.desc.local_size[i] ? plan.desc.local_size[i] : 1;
        add_bindings(subject, &plan.desc, recipe);
        subject->constant_count = (uint32_t)plan.desc.constant_count;
        for (size_t i = 0; i < plan.desc.constant_count; i++)
            subject->constants[i] = (struct subject_constant){
                plan.desc.constants[i], i < 2 ? recipe->uses[i] : SUBJECT_RANDOM,
                recipe->counted_binding};
        subject->specialization_count = (uint32_t)plan.desc.specialization_count;
        for (size_t i = 0; i < plan.desc.specialization_count; i++)
            subject->specialization_defaults[i] = plan.desc.specialization_defaults[i];
        subject->one_group = recipe->one_group;
        subject->flat = recipe->flat;
        subject->partial = recipe->partial;
        subject->counted = recipe->counted;
        subject->members = recipe->members;
    }
    return count;
}
