/*
 * build.c: programs.
 */
#include "backend/opencl/build.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "base/memory.h"
#include "base/text.h"

/* The user's lines keep their numbers. */
static const char prelude[] = "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n";

#define OPTIONS_BYTES 8192
#define LOG_BYTES     16384
#define LINE_BYTES    120
#define ERROR_BYTES   180

/* ---- The log ---------------------------------------------------------------------------------- */

/* The number in ":LINE:COLUMN:" anywhere in a line of a log; 0: none. */
static unsigned long find_place(const char *begin, const char *end, const char **out_behind)
{
    for (const char *colon = begin; (colon = memchr(colon, ':', (size_t)(end - colon))); colon++) {
        char *behind;
        if (!isdigit((unsigned char)colon[1]))
            continue;
        unsigned long line = strtoul(colon + 1, &behind, 10);
        if (line == 0 || *behind != ':' || !isdigit((unsigned char)behind[1]))
            continue;
        (void)strtoul(behind + 1, &behind, 10);
        *out_behind = behind + (*behind == ':');
        return line;
    }
    return 0;
}

/*
 * The first error of a log: its line and its text. Compilers write "FILE:3:7: error: TEXT" or
 * "error: FILE:3:7: TEXT". 0 if there is none.
 */
static unsigned long find_error(const char *log, const char **out_text)
{
    static const char mark[] = "error:";
    for (const char *at = log; (at = strstr(at, mark)) != NULL; at++) {
        const char *begin = at;
        const char *end = strchr(at, '\n');
        const char *behind = at;
        while (begin > log && begin[-1] != '\n')
            begin--;
        unsigned long line = find_place(begin, end ? end : at + strlen(at), &behind);
        *out_text = behind > at ? behind : at + sizeof mark - 1;
        if (line != 0)
            return line;
    }
    return 0;
}

/* Copies one line without the space around it. */
static void copy_line(const char *from, const char *end, char *out, size_t capacity)
{
    size_t length = 0;
    while (from < end && isspace((unsigned char)*from) && *from != '\n')
        from++;
    while (from + length < end && from[length] != '\n' && from[length] != '\0')
        length++;
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    if (length >= capacity)
        length = capacity - 1;
    memcpy(out, from, length);
    out[length] = '\0';
}

static void source_line(const char *source, size_t source_bytes, unsigned long line, char *out,
                        size_t capacity)
{
    const char *end = source + source_bytes;
    out[0] = '\0';
    for (unsigned long i = 1; i < line && source; i++) {
        source = memchr(source, '\n', (size_t)(end - source));
        source = source ? source + 1 : NULL;
    }
    if (source && source < end)
        copy_line(source, end, out, capacity);
}

static void read_log(struct vyre_cl_device *device, cl_program program, char log[LOG_BYTES])
{
    size_t size = 0;
    memset(log, 0, LOG_BYTES);
    cl_int code = device->api->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0,
                                                     NULL, &size);
    if (code != CL_SUCCESS || size == 0)
        return;
    if (size < LOG_BYTES) {
        (void)device->api->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size,
                                                 log, NULL);
        log[LOG_BYTES - 1] = '\0';
        return;
    }
    /*
     * A driver returns a log as a whole or not at all, so even its first part needs room for all of
     * it.
     */
    size_t limit = (size_t)16 << 20;
    char *whole = size <= limit ? vyre_memory_allocate(&device->allocator, size, 1) : NULL;
    if (whole && device->api->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size,
                                                    whole, NULL) == CL_SUCCESS)
        memcpy(log, whole, LOG_BYTES - 1);
    vyre_memory_free(&device->allocator, whole, size, 1);
}

static enum vyre_status build_failed(struct vyre_cl_device *device, cl_program program,
                                     const char *label, const char *source, size_t source_bytes,
                                     cl_int code, struct vyre_diag *diag)
{
    char log[LOG_BYTES];
    char error[ERROR_BYTES];
    char line[LINE_BYTES];
    const char *text = log;
    read_log(device, program, log);
    unsigned long number = find_error(log, &text);
    copy_line(text, log + LOG_BYTES, error, sizeof error);
    if (number == 0)
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_BUILD, label, code, "%s: %s",
                             vyre_cl_code_name(code), error[0] ? error : "the build log is empty");
    source_line(source, source_bytes, number, line, sizeof line);
    return vyre_diag_set(diag, VYRE_DIAG_OPENCL_BUILD, label, code, "line %lu: %s: %s", number,
                         error, line);
}

/* ---- Building --------------------------------------------------------------------------------- */

static bool write_options(const struct vyre_cl_device *device,
                          const struct vyre_cl_defines *defines, char out[OPTIONS_BYTES])
{
    struct vyre_text text = vyre_text_begin(out, OPTIONS_BYTES);
    vyre_text_appendf(&text, "-cl-kernel-arg-info -cl-std=CL%u.%u", device->traits.c_version / 100,
                      device->traits.c_version / 10 % 10);
    if (device->traits.correct_divide)
        vyre_text_append(&text, " -cl-fp32-correctly-rounded-divide-sqrt");
    for (uint32_t i = 0; defines && i < defines->count; i++)
        vyre_text_appendf(&text, " -D %s", defines->text[i]);
    return text.length < OPTIONS_BYTES;
}

enum vyre_status vyre_cl_build_program(struct vyre_cl_device *device, const char *label,
                                       const char *source, size_t source_bytes,
                                       const struct vyre_cl_defines *defines,
                                       cl_program *out_program, struct vyre_diag *diag)
{
    char options[OPTIONS_BYTES];
    const char *texts[] = {prelude, source};
    const size_t sizes[] = {sizeof prelude - 1, source_bytes};
    cl_int code = CL_SUCCESS;
    *out_program = NULL;
    if (!write_options(device, defines, options))
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_BUILD, label, 0,
                             "the build options take more than %d bytes", OPTIONS_BYTES);
    cl_program program =
        device->api->clCreateProgramWithSource(device->context, 2, texts, sizes, &code);
    if (!program)
        return vyre_cl_failed(diag, label, code, "clCreateProgramWithSource");
    code = device->api->clBuildProgram(program, 1, &device->id, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        enum vyre_status status =
            build_failed(device, program, label, source, source_bytes, code, diag);
        (void)device->api->clReleaseProgram(program);
        return status;
    }
    *out_program = program;
    return VYRE_OK;
}

/*
 * Whether the source may call get_work_dim, by its name, by a name that macros put together, or in
 * an included file. For such a source all launches have three dimensions. Other sources cannot see
 * it when a launch has fewer, which drivers run faster.
 */
static bool may_show_dimensions(const char *source, size_t source_bytes)
{
    static const char *const words[] = {"work_dim", "##", "%:", "??", "\\\n", "include"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(source, words[i]))
            return true;
    }
    return strlen(source) != source_bytes;
}

bool vyre_cl_defines_equal(const struct vyre_cl_defines *a, const struct vyre_cl_defines *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++)
        equal = strcmp(a->text[i], b->text[i]) == 0;
    return equal;
}

struct vyre_cl_built *vyre_cl_build_look(const struct vyre_cl_device *device, const char *source,
                                         size_t source_bytes, const struct vyre_cl_defines *defines)
{
    struct vyre_cl_built *built = device->builds;
    while (built && !(built->source_bytes == source_bytes &&
                      memcmp(built->source, source, source_bytes) == 0 &&
                      vyre_cl_defines_equal(&built->defines, defines)))
        built = built->next;
    return built;
}

enum vyre_status vyre_cl_build_acquire(struct vyre_cl_device *device, const char *label,
                                       const char *source, size_t source_bytes,
                                       const struct vyre_cl_defines *defines,
                                       struct vyre_cl_built **out_built, struct vyre_diag *diag)
{
    struct vyre_cl_built *built = vyre_cl_build_look(device, source, source_bytes, defines);
    *out_built = built;
    if (built) {
        built->users++;
        return VYRE_OK;
    }
    size_t size = sizeof(struct vyre_cl_built) + source_bytes + 1;
    built = vyre_memory_allocate(&device->allocator, size, _Alignof(struct vyre_cl_built));
    if (!built)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0, "no memory for a program");
    enum vyre_status status =
        vyre_cl_build_program(device, label, source, source_bytes, defines, &built->program, diag);
    if (status != VYRE_OK) {
        vyre_memory_free(&device->allocator, built, size, _Alignof(struct vyre_cl_built));
        return status;
    }
    built->users = 1;
    built->defines = *defines;
    built->source_bytes = source_bytes;
    memcpy(built->source, source, source_bytes);
    built->shows_dimensions = may_show_dimensions(built->source, source_bytes);
    built->next = device->builds;
    device->builds = built;
    *out_built = built;
    return VYRE_OK;
}

void vyre_cl_build_release(struct vyre_cl_device *device, struct vyre_cl_built *built)
{
    if (!built || --built->users > 0)
        return;
    struct vyre_cl_built **link = &device->builds;
    while (*link != built)
        link = &(*link)->next;
    *link = built->next;
    (void)device->api->clReleaseProgram(built->program);
    vyre_memory_free(&device->allocator, built, sizeof *built + built->source_bytes + 1,
                     _Alignof(struct vyre_cl_built));
}
