/*
 * soak.c: what a device holds over a long run.
 *
 * A run has SOAK_CHECKS parts. The first half may fill tables, caches and the driver's pools. After that the
 * least that was held in the last quarter is compared with the most that was held in the second: a leak grows
 * from part to part, and a moment at which much is held changes nothing.
 */
#include "differential/soak.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB UINT64_C(1048576)

enum vyre_status soak_open(struct soak *soak, const struct config *config, struct vyre_diag *diag)
{
    memset(soak, 0, sizeof *soak);
    struct program *defaults = calloc(1, sizeof *defaults);
    if (!defaults)
        abort();
    struct vyre_instance_desc desc = {.allocator = counting_allocator_face(&soak->allocator)};
    enum vyre_status status =
        driver_open(config, defaults, &desc, &soak->kept.instance, &soak->kept.device, diag);
    free(defaults);
    return status;
}

static uint64_t resident_bytes(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2)
        abort();
    fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

void soak_look(struct soak *soak, uint64_t done, uint64_t total)
{
    if (soak->held_count == SOAK_CHECKS || done < total / SOAK_CHECKS * (soak->held_count + 1))
        return;
    struct vyre_device_memory memory;
    vyre_device_get_memory(soak->kept.device, &memory);
    soak->held[soak->held_count++] = (struct soak_held){
        .host = (uint64_t)atomic_load(&soak->allocator.live_bytes),
        .device = memory.reserved_bytes,
        .resident = resident_bytes(),
    };
}

static uint64_t field(const struct soak_held *held, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)held + offset, sizeof value);
    return value;
}

static bool stays(const struct soak *soak, const char *what, size_t offset, uint64_t slack)
{
    uint64_t early = 0, late = UINT64_MAX;
    printf("  %s, KiB:", what);
    for (uint32_t i = 0; i < soak->held_count; i++) {
        uint64_t value = field(&soak->held[i], offset);
        printf(" %" PRIu64, value / 1024);
        if (i >= SOAK_CHECKS / 4 && i < SOAK_CHECKS / 2 && value > early)
            early = value;
        if (i >= SOAK_CHECKS * 3 / 4 && value < late)
            late = value;
    }
    bool good = soak->held_count == SOAK_CHECKS && late <= early + slack;
    printf("%s\n", good ? "" : ": it grows");
    return good;
}

bool soak_close(struct soak *soak)
{
    bool good = stays(soak, "held by the host", offsetof(struct soak_held, host), MIB / 16);
    good &= stays(soak, "held by the device", offsetof(struct soak_held, device), MIB);
    good &= stays(soak, "resident", offsetof(struct soak_held, resident), 32 * MIB);
    vyre_device_close(&soak->kept.device);
    vyre_instance_destroy(&soak->kept.instance);
    if (atomic_load(&soak->allocator.live_count) != 0) {
        printf("error: %lld allocations left\n",
               (long long)atomic_load(&soak->allocator.live_count));
        good = false;
    }
    return good;
}
