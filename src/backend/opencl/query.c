/*
 * query.c: questions with bounded answers.
 */
#include "backend/opencl/query.h"

#include <stdio.h>
#include <string.h>

/* Cuts a raw answer of at most `raw_bytes` to the caller's text; control characters become spaces. */
static void take_text(const char *raw, size_t raw_bytes, char *out, size_t capacity)
{
    size_t length = strnlen(raw, raw_bytes);
    if (length >= capacity)
        length = capacity - 1;
    for (size_t i = 0; i < length; i++) {
        bool control = (unsigned char)raw[i] < 0x20 || raw[i] == 0x7f;
        out[i] = raw[i];
        if (control)
            out[i] = ' ';
    }
    while (length > 0 && out[length - 1] == ' ')
        length--;
    out[length] = '\0';
}

void vyre_cl_device_text(const struct vyre_cl_api *api, cl_device_id device, cl_device_info what,
                         char *out, size_t capacity)
{
    char raw[VYRE_CL_TEXT_BYTES_MAX];
    size_t size = 0;
    out[0] = '\0';
    if (api->clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS || size == 0 ||
        size > sizeof raw)
        return;
    memset(raw, 0, size);
    if (api->clGetDeviceInfo(device, what, size, raw, NULL) == CL_SUCCESS)
        take_text(raw, size, out, capacity);
}

void vyre_cl_platform_text(const struct vyre_cl_api *api, cl_platform_id platform,
                           cl_platform_info what, char *out, size_t capacity)
{
    char raw[VYRE_CL_TEXT_BYTES_MAX];
    size_t size = 0;
    out[0] = '\0';
    if (api->clGetPlatformInfo(platform, what, 0, NULL, &size) != CL_SUCCESS || size == 0 ||
        size > sizeof raw)
        return;
    memset(raw, 0, size);
    if (api->clGetPlatformInfo(platform, what, size, raw, NULL) == CL_SUCCESS)
        take_text(raw, size, out, capacity);
}

bool vyre_cl_device_value(const struct vyre_cl_api *api, cl_device_id device, cl_device_info what,
                          void *out, size_t size_bytes)
{
    size_t size = 0;
    memset(out, 0, size_bytes);
    if (api->clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS || size != size_bytes)
        return false;
    if (api->clGetDeviceInfo(device, what, size_bytes, out, NULL) == CL_SUCCESS)
        return true;
    memset(out, 0, size_bytes);
    return false;
}

bool vyre_cl_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length) {
        bool starts = at == words || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

unsigned vyre_cl_version_of(const char *text)
{
    unsigned major = 0;
    unsigned minor = 0;
    if (sscanf(text, "OpenCL C %u.%u", &major, &minor) != 2 &&
        sscanf(text, "OpenCL %u.%u", &major, &minor) != 2)
        return 0;
    return major > 9 || minor > 9 ? 0 : major * 100 + minor * 10;
}
