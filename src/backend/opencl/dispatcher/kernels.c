/*
 * kernels.c: compares the listed kernels with what the caller says about them.
 */
#include "backend/opencl/dispatcher/kernels.h"

#include <string.h>

#include "backend/opencl/dispatcher/ring.h"

struct vyre_cl_span vyre_cl_kernel_parameter(const struct vyre_cl_program *program,
                                             const struct vyre_cl_function *function, size_t index)
{
    uint32_t first = function->open + 1;
    uint32_t end = first;
    for (;;) {
        while (end < function->close && !vyre_cl_is_sign(program, end, ',')) {
            uint32_t other = program->match[end];
            end = other != VYRE_CL_NONE && other > end ? other + 1 : end + 1;
        }
        if (index == 0 || end >= function->close)
            return (struct vyre_cl_span){.first = first, .end = end};
        index--;
        first = ++end;
    }
}

static bool has(const struct vyre_cl_program *program, struct vyre_cl_span span, const char *word,
                const char *other)
{
    for (uint32_t i = span.first; i < span.end; i++) {
        if (vyre_cl_is(program, i, word) || vyre_cl_is(program, i, other))
            return true;
    }
    return false;
}

/* The kind that the source shows. */
static enum vyre_cl_argument_kind shown_kind(const struct vyre_cl_program *program,
                                             struct vyre_cl_span span)
{
    if (!has(program, span, "*", "*"))
        return VYRE_CL_ARGUMENT_SCALAR;
    if (has(program, span, "__global", "global"))
        return VYRE_CL_ARGUMENT_GLOBAL;
    if (has(program, span, "__constant", "constant"))
        return VYRE_CL_ARGUMENT_CONSTANT;
    return has(program, span, "__local", "local") ? VYRE_CL_ARGUMENT_LOCAL : VYRE_CL_ARGUMENT_NONE;
}

/* Only names and stars; the last name is the parameter's own. */
static bool is_plain_parameter(const struct vyre_cl_program *program, struct vyre_cl_span span)
{
    for (uint32_t i = span.first; i < span.end; i++) {
        if (vyre_cl_at(program, i)->kind != VYRE_CL_TOKEN_NAME && !vyre_cl_is_sign(program, i, '*'))
            return false;
    }
    return span.end >= span.first + 2 &&
           vyre_cl_at(program, span.end - 1)->kind == VYRE_CL_TOKEN_NAME;
}

/* The argument's own rules; `constants` is the room for constants after the addresses. */
static const char *check_argument(const struct vyre_cl_argument *argument, uint32_t address_count)
{
    uint32_t size = argument->size_bytes;
    switch (argument->kind) {
    case VYRE_CL_ARGUMENT_GLOBAL:
    case VYRE_CL_ARGUMENT_CONSTANT:
        return argument->address < address_count ? NULL : "more buffers than a slot holds";
    case VYRE_CL_ARGUMENT_LOCAL:
        return size > 0 ? NULL : "local argument without a size";
    case VYRE_CL_ARGUMENT_SCALAR:
        if (size == 0 || size > 16 || (size & (size - 1)) != 0)
            return "argument by value that is no scalar";
        return argument->offset_bytes % size == 0 &&
                       argument->offset_bytes <= VYRE_CONSTANTS_BYTES_MAX - size
                   ? NULL
                   : "constants that do not fit";
    case VYRE_CL_ARGUMENT_NONE:
        break;
    }
    return "argument of another kind than the source shows";
}

static void check_arguments(struct vyre_cl_program *program,
                            const struct vyre_cl_function *function,
                            const struct vyre_cl_dispatcher_kernel *kernel)
{
    if (kernel->argument_count != function->parameter_count) {
        vyre_cl_program_refuse(program, "another number of arguments than the source shows");
        return;
    }
    for (size_t i = 0; !program->reason && i < kernel->argument_count; i++) {
        struct vyre_cl_span span = vyre_cl_kernel_parameter(program, function, i);
        const char *reason = check_argument(&kernel->arguments[i], kernel->address_count);
        if (!is_plain_parameter(program, span))
            vyre_cl_program_refuse(program, "parameter that is not understood");
        else if (shown_kind(program, span) != kernel->arguments[i].kind)
            vyre_cl_program_refuse(program, "argument of another kind than the source shows");
        else if (reason)
            vyre_cl_program_refuse(program, reason);
    }
}

/* The value of a whole number without a sign; false if the text is something else. */
static bool read_number(const char *text, size_t size, uint64_t *out)
{
    *out = 0;
    size_t i = 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9' && *out < UINT32_MAX; i++)
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    bool octal = size > 1 && text[0] == '0';
    while (i < size && strchr("uUlL", text[i]))
        i++;
    return i == size && i > 0 && !octal;
}

bool vyre_cl_kernel_shape(const struct vyre_cl_program *program,
                          const struct vyre_cl_function *function, struct vyre_cl_span *out)
{
    for (uint32_t i = function->first; i < function->body; i++) {
        bool shape = vyre_cl_is(program, i, "reqd_work_group_size") ||
                     vyre_cl_is(program, i, "__reqd_work_group_size__");
        if (shape && vyre_cl_is_sign(program, i + 1, '(')) {
            *out = (struct vyre_cl_span){.first = i + 2, .end = program->match[i + 1]};
            return true;
        }
    }
    return false;
}

/* Three plain numbers are compared here; anything else is left to the compiler, in the output. */
static void check_shape(struct vyre_cl_program *program, const struct vyre_cl_function *function,
                        const uint32_t local_size[3])
{
    struct vyre_cl_span span;
    if (!vyre_cl_kernel_shape(program, function, &span) || span.end != span.first + 5)
        return;
    for (uint32_t i = 0; i < 3; i++) {
        const struct vyre_cl_token *token = vyre_cl_at(program, span.first + 2 * i);
        uint64_t value;
        if (token->kind == VYRE_CL_TOKEN_NUMBER &&
            read_number(program->tokens.text + token->offset, token->size, &value) &&
            value != local_size[i])
            vyre_cl_program_refuse(program, "reqd_work_group_size differs from the local size");
    }
}

static void check_kernel(struct vyre_cl_program *program,
                         const struct vyre_cl_dispatcher_kernel *kernel,
                         const uint32_t local_size[3])
{
    const struct vyre_cl_function *function = vyre_cl_program_kernel(program, kernel->entry);
    if (!function || !function->is_kernel) {
        vyre_cl_program_refuse(program, "kernel that is not visible in the source");
        return;
    }
    check_arguments(program, function, kernel);
    check_shape(program, function, local_size);
}

/* Bodies of kernels: each at most once where it is read. */
static void check_body(struct vyre_cl_program *program, const struct vyre_cl_function *function)
{
    if (function->body == VYRE_CL_NONE || vyre_cl_at(program, function->name_token)->skipped)
        return;
    for (uint32_t i = function->next_of_name; i != VYRE_CL_NONE;
         i = program->functions[i].next_of_name) {
        const struct vyre_cl_function *other = &program->functions[i];
        if (other->body != VYRE_CL_NONE && !vyre_cl_at(program, other->name_token)->skipped)
            vyre_cl_program_refuse(program, "kernel that is defined twice");
    }
}

/* A kernel whose local variables would have to be passed along is not called. */
static void check_definitions(struct vyre_cl_program *program)
{
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct vyre_cl_function *function = &program->functions[i];
        const struct vyre_cl_name_facts *facts = &program->facts[function->name];
        if (function->local_count > 0 && facts->is_called)
            vyre_cl_program_refuse(program, "call of a kernel that has local variables");
        if (facts->is_entry)
            check_body(program, function);
    }
}

void vyre_cl_program_kernels(struct vyre_cl_program *program,
                             const struct vyre_cl_dispatcher_input *input)
{
    if (program->reason)
        return;
    check_definitions(program);
    for (size_t i = 0; !program->reason && i < input->kernel_count; i++)
        check_kernel(program, &input->kernels[i], input->local_size);
}
