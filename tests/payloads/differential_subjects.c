/*
 * differential_subjects.c: the kernels of the differential test, whose table says how to dispatch them.
 */
#include "differential/kernels.h"
#include "payloads/payloads.h"

static enum subject_use use_of(enum constant_use use)
{
    switch (use) {
    case USE_RANDOM:
        return SUBJECT_RANDOM;
    case USE_ROUNDS:
        return SUBJECT_ROUNDS;
    case USE_WORDS:
        return SUBJECT_WORDS;
    case USE_TABLE_COUNT:
        return SUBJECT_TABLE_COUNT;
    case USE_TABLE_WORDS:
        return SUBJECT_TABLE_WORDS;
    }
    return SUBJECT_RANDOM;
}

static struct subject subject_of(const struct test_kernel *kernel)
{
    struct subject subject = {.suite = "differential",
                              .name = kernel->name,
                              .host = kernel->host,
                              .opencl_c = kernel->opencl_c,
                              .glsl = kernel->glsl,
                              .binding_count = kernel->binding_count,
                              .constant_count = kernel->constant_count,
                              .specialization_count = kernel->specialization_count,
                              .scratch_bytes = kernel->scratch_bytes};
    for (uint32_t i = 0; i < 3; i++)
        subject.local_size[i] = kernel->local_size[i];
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const struct kernel_binding *binding = &kernel->bindings[i];
        subject.bindings[i] =
            (struct subject_binding){.slot = binding->desc.slot,
                                     .table = binding->desc.table,
                                     .local = kernel_binding_is_local(binding),
                                     .words = (uint32_t)binding->desc.element_count,
                                     .words_per_group = binding->words_per_group};
        if (subject.bindings[i].local)
            subject.bindings[i].words = 64; /* the least that the generator gives */
    }
    for (uint32_t i = 0; i < kernel->constant_count; i++)
        subject.constants[i] =
            (struct subject_constant){kernel->constants[i].scalar, use_of(kernel->constants[i].use),
                                      kernel->constants[i].binding};
    for (uint32_t i = 0; i < kernel->specialization_count; i++)
        subject.specialization_defaults[i] = kernel->specialization_defaults[i];
    return subject;
}

size_t differential_subjects(struct subject *subjects, size_t count)
{
    for (uint32_t i = 0; i < KERNEL_COUNT; i++)
        subjects[count++] = subject_of(&test_kernels[i]);
    subjects[count++] = subject_of(&kernel_lcg_faulty);
    /* That the comparison can fail. */
    subjects[count] = subject_of(&kernel_lcg_faulty);
    subjects[count].host = test_kernels[KERNEL_LCG].host;
    subjects[count++].differs = true;
    return count;
}
