/*
 * driver_check.c: waiting for what was submitted, and comparing it with the model.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "differential/driver.h"

enum { SHORT_TIMEOUT_NS = 30000 };
#define PATIENCE_NS UINT64_C(300000000000) /* against a hang */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Asks again and again, by poll or by wait with a short time-out, until the ticket is complete. */
static bool ask_until_complete(struct driver *driver, struct vyre_ticket ticket, bool polling)
{
    uint64_t end = now_ns() + PATIENCE_NS;
    for (;;) {
        struct vyre_diag diag = {0};
        enum vyre_status status =
            polling ? vyre_ticket_poll(driver->device, ticket, &diag)
                    : vyre_ticket_wait(driver->device, ticket, SHORT_TIMEOUT_NS, &diag);
        if (status != (polling ? VYRE_BUSY : VYRE_TIMEOUT))
            return driver_expect_ok(driver, status, &diag, polling ? "poll" : "wait");
        if (now_ns() > end)
            return driver_broken(driver, "ticket %" PRIu64 " was not complete after 300 s of %s",
                                 ticket.sequence, polling ? "polling" : "short waits");
        if (polling)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static bool wait_one(struct driver *driver, uint32_t index)
{
    struct vyre_diag diag = {0};
    enum vyre_status status =
        vyre_ticket_wait(driver->device, driver->tickets[index].ticket, VYRE_FOREVER, &diag);
    return driver_expect_ok(driver, status, &diag, "vyre_ticket_wait");
}

static bool wait_as_asked(struct driver *driver, enum wait_kind kind)
{
    uint32_t count = driver->ticket_count;
    struct vyre_diag diag = {0};
    switch (kind) {
    case WAIT_IDLE:
        return driver_expect_ok(driver, vyre_device_wait_idle(driver->device, VYRE_FOREVER, &diag),
                                &diag, "vyre_device_wait_idle");
    case WAIT_LAST:
        return count == 0 || wait_one(driver, count - 1);
    case WAIT_EACH:
        for (uint32_t i = 0; i < count; i++)
            if (!wait_one(driver, i))
                return false;
        return true;
    case WAIT_EACH_BACKWARDS:
        for (uint32_t i = count; i-- > 0;)
            if (!wait_one(driver, i))
                return false;
        return true;
    case WAIT_POLLING:
    case WAIT_SHORT_TIMEOUTS:
        for (uint32_t i = 0; i < count; i++)
            if (!ask_until_complete(driver, driver->tickets[i].ticket, kind == WAIT_POLLING))
                return false;
        return true;
    case WAIT_BY_READ:
        return driver_expect_ok(driver,
                                vyre_buffer_read(driver->buffers[0], 0, driver->scratch, 4, &diag),
                                &diag, "vyre_buffer_read");
    }
    return false;
}

/* Everything that was waited for ended well, and in the mode that was required. */
static bool check_result(struct driver *driver, uint32_t index)
{
    const struct driver_ticket *ticket = &driver->tickets[index];
    uint32_t kept = driver->program->in_flight_limit == 0 ? 256 : driver->program->in_flight_limit;
    struct vyre_batch_result result;
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_ticket_result(driver->device, ticket->ticket, &result, &diag);
    if (status == VYRE_NOT_FOUND && driver->ticket_count - index > kept)
        return true;
    if (!driver_expect_ok(driver, status, &diag, "vyre_ticket_result"))
        return false;
    if (result.status != VYRE_OK || result.mode == VYRE_MODE_AUTO ||
        (ticket->required != VYRE_MODE_AUTO && result.mode != ticket->required))
        return driver_broken(driver, "required %s, ran in %s, ended with %s",
                             vyre_mode_name(ticket->required), vyre_mode_name(result.mode),
                             vyre_status_name(result.status));
    return true;
}

bool driver_wait(struct driver *driver, enum wait_kind kind)
{
    if (!wait_as_asked(driver, kind))
        return false;
    for (uint32_t i = 0; i < driver->ticket_count; i++)
        if (!check_result(driver, i))
            return false;
    driver->ticket_count = 0;
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++)
        driver->objects[i].in_flight = false;
    return true;
}

static bool compare_bytes(struct driver *driver, const char *what, uint32_t number,
                          const unsigned char *got, const unsigned char *expected, size_t size)
{
    if (memcmp(got, expected, size) == 0)
        return true;
    size_t first = size;
    size_t last = 0;
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (got[i] == expected[i])
            continue;
        first = first == size ? i : first;
        last = i;
        count++;
    }
    return driver_broken(
        driver,
        "%s %" PRIu32 ": %zu of %zu bytes differ, from byte %zu to byte %zu; byte %zu is "
        "0x%02x, should be 0x%02x",
        what, number, count, size, first, last, first, got[first], expected[first]);
}

bool driver_compare(struct driver *driver, const struct model *model)
{
    const struct program *program = driver->program;
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        size_t size = program->buffer_bytes[i];
        struct vyre_diag diag = {0};
        enum vyre_status status =
            vyre_buffer_read(driver->buffers[i], 0, driver->scratch, size, &diag);
        if (!driver_expect_ok(driver, status, &diag, "vyre_buffer_read") ||
            !compare_bytes(driver, "buffer", i, driver->scratch, model->buffers[i], size))
            return false;
    }
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++)
        if (!compare_bytes(driver, "downloads of batch", i, driver->objects[i].downloads,
                           model->objects[i].downloads, program->host_bytes))
            return false;
    return true;
}
