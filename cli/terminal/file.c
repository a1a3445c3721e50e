/*
 * file.c: reading whole files.
 */
#include "terminal/file.h"

#include <errno.h>
#include <unistd.h>

ssize_t cli_read_all(int descriptor, char *bytes, size_t capacity)
{
    size_t used = 0;
    while (used < capacity) {
        ssize_t count = read(descriptor, bytes + used, capacity - used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            break;
        used += (size_t)count;
    }
    return (ssize_t)used;
}
