/*
 * ticket_cases.c: waiting, polling, results, and the limit of batches in flight.
 */
#include "conformance/conformance.h"

enum { MS = 1000000 };

/* A device whose work waits behind a gate. */
struct gated {
    struct vyre_device *device;
    struct vyre_buffer *door;
    struct vyre_batch *batch; /* the gate alone */
};

static struct gated open_gated(struct fixture *f, struct vyre_device_desc desc)
{
    struct gated gated = {.device = open_async_device(f, desc)};
    gated.door = make_buffer(f, gated.device, 64);
    gated.batch = make_batch(f, gated.device);
    add_gate(gated.batch, make_kernel(f, gated.device, KERNEL_GATE), whole(gated.door),
             &f->gates[0]);
    return gated;
}

/* ---- Waiting ---------------------------------------------------------------------------------- */

static void tickets_count_up(struct fixture *f)
{
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_ticket first = submit_in(f, batch, VYRE_MODE_PLAIN);
    assert_int_equal(first.sequence, 1);
    assert_int_not_equal(first.device, 0);
    for (uint64_t i = 2; i < 50; i++) {
        struct vyre_ticket ticket = submit_in(f, batch, VYRE_MODE_PLAIN);
        assert_int_equal(ticket.sequence, i);
        assert_int_equal(ticket.device, first.device);
    }
    wait_for(f, f->device, first);
    wait_for(f, f->device, first); /* again, as often as one likes */
    assert_ok(f, vyre_ticket_poll(f->device, first, &f->diag));
}

static void pending_ticket_busy_and_times_out(struct fixture *f)
{
    struct gated gated = open_gated(f, (struct vyre_device_desc){0});
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(gated.device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_batch_result result;
        gate_close(&f->gates[0]);
        struct vyre_ticket ticket = submit_in(f, gated.batch, modes[i]);
        assert_refused(f, vyre_ticket_poll(gated.device, ticket, &f->diag),
                       VYRE_DIAG_TICKET_PENDING);
        assert_refused(f, vyre_ticket_wait(gated.device, ticket, 0, &f->diag),
                       VYRE_DIAG_TICKET_TIMEOUT);
        uint64_t start = now_ns();
        assert_refused(f, vyre_ticket_wait(gated.device, ticket, 20 * MS, &f->diag),
                       VYRE_DIAG_TICKET_TIMEOUT);
        assert_true(now_ns() - start >= 20 * MS);
        assert_refused(f, vyre_device_wait_idle(gated.device, 5 * MS, &f->diag),
                       VYRE_DIAG_TICKET_TIMEOUT);
        memset(&result, 0xff, sizeof result);
        assert_refused(f, vyre_ticket_result(gated.device, ticket, &result, &f->diag),
                       VYRE_DIAG_TICKET_PENDING);
        assert_int_equal(result.mode, 0); /* zeroed */
        assert_int_equal(result.device_ns, 0);

        gate_open(&f->gates[0]);
        wait_for(f, gated.device, ticket);
        assert_ok(f, vyre_ticket_poll(gated.device, ticket, &f->diag));
        assert_ok(f, vyre_ticket_wait(gated.device, ticket, 0, &f->diag));
        assert_ok(f, vyre_ticket_result(gated.device, ticket, &result, &f->diag));
        assert_int_equal(result.mode, modes[i]);
        assert_int_equal(read_word(f, gated.door, 0), i + 1);
    }
}

/* A poll alone, without any wait, gets there. */
static void poll_alone_completes(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, 1 << 16);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    add_add(batch, add, whole(data), 1, 1 << 14);
    for (uint32_t i = 0; i < mode_count; i++) {
        struct vyre_ticket ticket = submit_in(f, batch, modes[i]);
        uint64_t end = now_ns() + HANG_LIMIT_NS;
        enum vyre_status status;
        while ((status = vyre_ticket_poll(f->device, ticket, &f->diag)) == VYRE_BUSY &&
               now_ns() < end)
            sleep_ns(100000);
        assert_ok(f, status);
    }
}

static void wait_idle_waits_for_all(struct fixture *f)
{
    struct gated gated = open_gated(f, (struct vyre_device_desc){0});
    struct gate_opener opener;
    struct vyre_ticket tickets[5];
    assert_ok(f, vyre_device_wait_idle(gated.device, 0, &f->diag)); /* nothing there */
    for (size_t i = 0; i < 5; i++)
        tickets[i] = submit_in(f, gated.batch, VYRE_MODE_PLAIN);
    gate_opener_start(&opener, &f->gates[0], 20 * MS);
    enum vyre_status status = vyre_device_wait_idle(gated.device, VYRE_FOREVER, &f->diag);
    bool opened = atomic_load(&opener.opened);
    gate_opener_join(&opener);
    assert_ok(f, status);
    assert_true(opened);
    for (size_t i = 0; i < 5; i++)
        assert_ok(f, vyre_ticket_poll(gated.device, tickets[i], &f->diag));
    assert_int_equal(counters_of(gated.device).completed, 5);
    assert_int_equal(read_word(f, gated.door, 0), 5);
}

/* Batches complete in submit order. */
static void later_ticket_complete_means_earlier_too(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, 4096);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    struct vyre_ticket tickets[40];
    add_add(batch, add, whole(data), 1, 1024);
    for (size_t i = 0; i < COUNT_OF(tickets); i++)
        tickets[i] = submit_in(f, batch, modes[i % mode_count]);
    wait_for(f, f->device, tickets[COUNT_OF(tickets) - 1]);
    for (size_t i = 0; i < COUNT_OF(tickets); i++)
        assert_ok(f, vyre_ticket_poll(f->device, tickets[i], &f->diag));
}

/* ---- Wrong tickets ---------------------------------------------------------------------------- */

static void refuse_ticket(struct fixture *f, struct vyre_ticket ticket)
{
    struct vyre_batch_result result;
    memset(&result, 0xff, sizeof result);
    assert_refused(f, vyre_ticket_wait(f->device, ticket, 0, &f->diag), VYRE_DIAG_TICKET_FOREIGN);
    assert_refused(f, vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag),
                   VYRE_DIAG_TICKET_FOREIGN);
    assert_refused(f, vyre_ticket_poll(f->device, ticket, &f->diag), VYRE_DIAG_TICKET_FOREIGN);
    assert_refused(f, vyre_ticket_result(f->device, ticket, &result, &f->diag),
                   VYRE_DIAG_TICKET_FOREIGN);
    assert_int_equal(result.mode, 0);
}

static void foreign_ticket_refused(struct fixture *f)
{
    struct vyre_device *other = open_device(f, NULL);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_ticket mine = submit_in(f, batch, VYRE_MODE_PLAIN);
    struct vyre_ticket theirs = submit_in(f, make_batch(f, other), VYRE_MODE_PLAIN);
    wait_for(f, f->device, mine);
    wait_for(f, other, theirs);
    assert_int_not_equal(mine.device, theirs.device);
    refuse_ticket(f, theirs);
    refuse_ticket(f, (struct vyre_ticket){0});
    refuse_ticket(f, (struct vyre_ticket){mine.device, 0});
    refuse_ticket(f, (struct vyre_ticket){mine.device, mine.sequence + 1}); /* not submitted yet */
    refuse_ticket(f, (struct vyre_ticket){mine.device, UINT64_MAX});
    refuse_ticket(f, (struct vyre_ticket){0, mine.sequence});
}

/* A device opened anew is another device. */
static void ticket_of_closed_device_refused(struct fixture *f)
{
    struct vyre_device *other = open_device(f, NULL);
    struct vyre_ticket old = submit_in(f, make_batch(f, other), VYRE_MODE_PLAIN);
    close_device(f, &other);
    other = open_device(f, NULL);
    struct vyre_ticket now = submit_in(f, make_batch(f, other), VYRE_MODE_PLAIN);
    wait_for(f, other, now);
    assert_int_not_equal(old.device, now.device);
    assert_refused(f, vyre_ticket_poll(other, old, &f->diag), VYRE_DIAG_TICKET_FOREIGN);
}

/* ---- Results ---------------------------------------------------------------------------------- */

static void results_kept_then_forgotten(struct fixture *f)
{
    enum { LIMIT = 8, COUNT = 5000 };
    struct vyre_device *device =
        open_device(f, &(struct vyre_device_desc){.in_flight_limit = LIMIT});
    struct vyre_batch *batch = make_batch(f, device);
    struct vyre_ticket ticket = {0};
    struct vyre_batch_result result;
    for (size_t i = 0; i < COUNT; i++)
        ticket = submit_in(f, batch, VYRE_MODE_PLAIN);
    wait_for(f, device, ticket);
    for (uint64_t i = 0; i < LIMIT; i++) {
        struct vyre_ticket recent = {ticket.device, ticket.sequence - i};
        assert_ok(f, vyre_ticket_result(device, recent, &result, &f->diag));
        assert_int_equal(result.mode, VYRE_MODE_PLAIN);
    }
    struct vyre_ticket old = {ticket.device, 1};
    memset(&result, 0xff, sizeof result);
    assert_refused(f, vyre_ticket_result(device, old, &result, &f->diag),
                   VYRE_DIAG_TICKET_FORGOTTEN);
    assert_int_equal(result.mode, 0);
    assert_ok(f, vyre_ticket_wait(device, old, VYRE_FOREVER, &f->diag)); /* complete all the same */
    assert_ok(f, vyre_ticket_poll(device, old, &f->diag));
}

/* ---- In flight -------------------------------------------------------------------------------- */

static void full_device_busy_when_asked(struct fixture *f)
{
    enum { LIMIT = 3 };
    struct gated gated =
        open_gated(f, (struct vyre_device_desc){.in_flight_limit = LIMIT, .busy_when_full = true});
    for (size_t i = 0; i < LIMIT; i++)
        submit_in(f, gated.batch, VYRE_MODE_PLAIN);
    for (size_t i = 0; i < 3; i++) {
        struct vyre_ticket ticket = {7, 7};
        assert_refused(f, vyre_batch_submit(gated.batch, NULL, &ticket, &f->diag),
                       VYRE_DIAG_SUBMIT_FULL);
        assert_int_equal(ticket.device, 0);
        assert_int_equal(ticket.sequence, 0);
    }
    assert_int_equal(counters_of(gated.device).submitted, LIMIT);
    gate_open(&f->gates[0]);
    assert_ok(f, vyre_device_wait_idle(gated.device, VYRE_FOREVER, &f->diag));
    struct vyre_ticket ticket = submit_in(f, gated.batch, VYRE_MODE_PLAIN);
    assert_int_equal(ticket.sequence, LIMIT + 1);
    wait_for(f, gated.device, ticket);
    assert_int_equal(read_word(f, gated.door, 0), LIMIT + 1); /* what was refused did not run */
}

static void full_device_blocks_by_default(struct fixture *f)
{
    enum { LIMIT = 3 };
    struct gated gated = open_gated(f, (struct vyre_device_desc){.in_flight_limit = LIMIT});
    struct gate_opener opener;
    for (size_t i = 0; i < LIMIT; i++)
        submit_in(f, gated.batch, VYRE_MODE_PLAIN);
    gate_opener_start(&opener, &f->gates[0], 30 * MS);
    enum vyre_status status = vyre_batch_submit(gated.batch, NULL, NULL, &f->diag);
    bool opened = atomic_load(&opener.opened);
    gate_opener_join(&opener);
    assert_ok(f, status);
    assert_true(opened);
    assert_int_equal(read_word(f, gated.door, 0), LIMIT + 1);
}

static void limit_of_one_still_streams(struct fixture *f)
{
    enum vyre_mode modes[3];
    struct vyre_device *device = open_device(f, &(struct vyre_device_desc){.in_flight_limit = 1});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, 256);
    struct vyre_batch *batch = make_batch(f, device);
    size_t mode_count = device_modes(device, modes);
    add_add(batch, add, whole(data), 1, 64);
    for (size_t i = 0; i < 300; i++)
        submit_in(f, batch, modes[i % mode_count]);
    assert_all_words(f, data, 300, 64);
}

static const struct conformance_case cases[] = {
    {"tickets_count_up", tickets_count_up, 0},
    {"pending_ticket_busy_and_times_out", pending_ticket_busy_and_times_out, NEEDS_ASYNC},
    {"poll_alone_completes", poll_alone_completes, 0},
    {"wait_idle_waits_for_all", wait_idle_waits_for_all, NEEDS_ASYNC},
    {"later_ticket_complete_means_earlier_too", later_ticket_complete_means_earlier_too, 0},
    {"foreign_ticket_refused", foreign_ticket_refused, 0},
    {"ticket_of_closed_device_refused", ticket_of_closed_device_refused, 0},
    {"results_kept_then_forgotten", results_kept_then_forgotten, 0},
    {"full_device_busy_when_asked", full_device_busy_when_asked, NEEDS_ASYNC},
    {"full_device_blocks_by_default", full_device_blocks_by_default, NEEDS_ASYNC},
    {"limit_of_one_still_streams", limit_of_one_still_streams, 0},
};

const struct conformance_group ticket_cases = {"ticket", cases, COUNT_OF(cases)};
