/*
 * wrong_layer.c: an OpenCL layer whose compiler gets generated code wrong, for tests.
 *
 * In programs that Vyre generated, and in no others, it reads each 0x5eed as 0x5eee. Users name it in
 * OPENCL_LAYERS.
 */
#include <stdlib.h>
#include <string.h>

#include <CL/cl_layer.h>

#define EXPORTED __attribute__((visibility("default")))

/* A layer has no other place for what it is given. */
static const cl_icd_dispatch *driver;
static cl_icd_dispatch table;

/* The texts as one; NULL when there is no memory. */
static char *join(cl_uint count, const char **texts, const size_t *sizes)
{
    size_t total = 0, used = 0;
    for (cl_uint i = 0; i < count; i++)
        total += sizes && sizes[i] ? sizes[i] : strlen(texts[i]);
    char *joined = malloc(total + 1);
    for (cl_uint i = 0; joined && i < count; i++) {
        size_t size = sizes && sizes[i] ? sizes[i] : strlen(texts[i]);
        memcpy(joined + used, texts[i], size);
        used += size;
    }
    if (joined)
        joined[total] = '\0';
    return joined;
}

static CL_API_ENTRY cl_program CL_API_CALL create_program(cl_context context, cl_uint count,
                                                          const char **texts, const size_t *sizes,
                                                          cl_int *code)
{
    char *source = join(count, texts, sizes);
    if (!source || !strstr(source, "vyre_u_")) {
        free(source);
        return driver->clCreateProgramWithSource(context, count, texts, sizes, code);
    }
    for (char *at = strstr(source, "0x5eed"); at; at = strstr(at, "0x5eed"))
        at[strlen("0x5eed") - 1] = 'e';
    const char *text = source;
    cl_program program = driver->clCreateProgramWithSource(context, 1, &text, NULL, code);
    free(source);
    return program;
}

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t capacity, void *out,
                                           size_t *out_size)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char label[] = "wrong";
    const void *value = name == CL_LAYER_API_VERSION ? (const void *)&version : label;
    size_t size = name == CL_LAYER_API_VERSION ? sizeof version : sizeof label;
    if ((name != CL_LAYER_API_VERSION && name != CL_LAYER_NAME) || (out && capacity < size))
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, size);
    if (out_size)
        *out_size = size;
    return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
                                        cl_uint *out_count, const cl_icd_dispatch **out_table)
{
    if (count < sizeof *target / sizeof(void *) || !out_count || !out_table)
        return CL_INVALID_VALUE;
    driver = target;
    table = *target;
    table.clCreateProgramWithSource = create_program;
    *out_count = sizeof table / sizeof(void *);
    *out_table = &table;
    return CL_SUCCESS;
}
