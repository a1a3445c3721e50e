/*
 * table.c: host kernels by name.
 */
#include "host_kernels/host_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "host_kernels/kernels.h"

struct entry {
    const char *name;
    vyre_host_function *function;
};

#define ENTRY(name) {#name, name},
static const struct entry entries[] = {HOST_KERNELS(ENTRY)};
#undef ENTRY

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

static int compare(const void *name, const void *entry)
{
    return strcmp(name, ((const struct entry *)entry)->name);
}

vyre_host_function *host_kernel_find(const char *name)
{
    const struct entry *found = bsearch(name, entries, ENTRY_COUNT, sizeof entries[0], compare);
    return found ? found->function : NULL;
}

const char *host_kernel_name(size_t index)
{
    return index < ENTRY_COUNT ? entries[index].name : NULL;
}
