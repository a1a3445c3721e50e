/*
 * ring.c: batches in flight on the CPU. The protocol is in ring.h.
 */
#include "backend/cpu/ring.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/memory.h"

#define SEQUENCE_SHIFT 24
#define HELPABLE_BIT   (UINT64_C(1) << 23)
#define LEFT_MASK      (HELPABLE_BIT - 1)

/* A task that waits for others spins, then yields its core, then sleeps a little. */
#define WAIT_SPINS    2000
#define WAIT_YIELDS   100
#define WAIT_SLEEP_NS 50000

enum vyre_status vyre_cpu_ring_init(struct vyre_cpu_ring *ring,
                                    const struct vyre_allocator *allocator, uint32_t limit)
{
    uint64_t size = 1;
    while (size < limit)
        size *= 2;
    *ring = (struct vyre_cpu_ring){.mask = size - 1};
    ring->jobs = vyre_memory_allocate(allocator, size * sizeof *ring->jobs, VYRE_CPU_LINE_BYTES);
    if (!ring->jobs)
        return VYRE_OUT_OF_MEMORY;
    return VYRE_OK;
}

void vyre_cpu_ring_deinit(struct vyre_cpu_ring *ring, const struct vyre_allocator *allocator)
{
    for (uint64_t i = 0; ring->jobs && i <= ring->mask; i++)
        vyre_cpu_program_destroy(ring->jobs[i].own);
    vyre_memory_free(allocator, ring->jobs, (ring->mask + 1) * sizeof *ring->jobs,
                     VYRE_CPU_LINE_BYTES);
    ring->jobs = NULL;
}

void vyre_cpu_ring_publish(struct vyre_cpu_ring *ring, struct vyre_cpu_job *job, bool helpable)
{
    atomic_store_explicit(&job->done, 0, memory_order_relaxed);
    uint64_t word =
        job->sequence << SEQUENCE_SHIFT | (helpable ? HELPABLE_BIT : 0) | job->ticket_count;
    /* (A) release: pairs with (B). */
    atomic_store_explicit(&job->word, word, memory_order_release);
    /* (A) and (G). */
    atomic_store_explicit(&ring->head, job->sequence, memory_order_seq_cst);
    /* A worker's core had the next slot last: fetch it while the caller does something else. */
    __builtin_prefetch(vyre_cpu_ring_slot(ring, job->sequence + 1), 1);
}

bool vyre_cpu_ring_take(struct vyre_cpu_ring *ring, struct vyre_cpu_cursor *cursor, uint64_t last,
                        bool only_helpable, struct vyre_cpu_ticket *out_ticket)
{
    uint64_t sequence = cursor->next;
    if (sequence >= cursor->head) {
        /* (B) acquire: pairs with (A). Read again when its job is reached. */
        cursor->head = atomic_load_explicit(&ring->head, memory_order_acquire);
        uint64_t completed = atomic_load_explicit(&ring->completed, memory_order_acquire);
        sequence = sequence > completed ? sequence : completed + 1;
    }
    last = last < cursor->head ? last : cursor->head;
    while (sequence <= last) {
        struct vyre_cpu_job *job = vyre_cpu_ring_slot(ring, sequence);
        uint64_t word = atomic_load_explicit(&job->word, memory_order_relaxed);
        uint64_t left = word & LEFT_MASK;
        bool same = word >> SEQUENCE_SHIFT == (sequence & (UINT64_MAX >> SEQUENCE_SHIFT));
        if (same && only_helpable && !(word & HELPABLE_BIT))
            return false; /* jobs are in order: later ones cannot start either */
        if (!same || left == 0) {
            sequence++; /* complete and replaced, or all taken */
            continue;
        }
        /* (B) acquire: pairs with (A). On failure look again. */
        if (atomic_compare_exchange_strong_explicit(&job->word, &word, word - 1,
                                                    memory_order_acquire, memory_order_relaxed)) {
            cursor->next = sequence;
            out_ticket->job = job;
            out_ticket->index = job->ticket_count - (uint32_t)left;
            return true;
        }
    }
    cursor->next = sequence;
    return false;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static bool may_start(const struct vyre_cpu_ring *ring, const struct vyre_cpu_job *job,
                      uint32_t wait_for)
{
    if (!vyre_cpu_ring_is_complete(ring, job->sequence - 1))
        return false;
    /* (D) acquire: pairs with (C). */
    return wait_for == 0 || atomic_load_explicit(&job->done, memory_order_acquire) >= wait_for;
}

/* False if the device was lost meanwhile. */
static bool wait_to_start(const struct vyre_cpu_ring *ring, struct vyre_cpu_runner *runner,
                          const struct vyre_cpu_job *job, uint32_t wait_for)
{
    for (uint32_t round = 0; !may_start(ring, job, wait_for); round++) {
        if (vyre_is_lost(&ring->loss))
            return false;
        if (round < WAIT_SPINS) {
            vyre_spin_pause();
        } else if (round < WAIT_SPINS + WAIT_YIELDS) {
            sched_yield();
        } else {
            const struct timespec moment = {.tv_nsec = WAIT_SLEEP_NS};
            nanosleep(&moment, NULL);
            if (runner->on_wait)
                runner->on_wait(runner->user);
        }
    }
    return !vyre_is_lost(&ring->loss);
}

static bool is_unknown(const struct vyre_command *command)
{
    if (command->type != VYRE_COMMAND_DISPATCH)
        return false;
    const struct vyre_cpu_kernel *kernel = command->kernel;
    return atomic_load_explicit(&kernel->group_cost, memory_order_relaxed) == 0;
}

static void run_task(const struct vyre_cpu_ring *ring, struct vyre_cpu_runner *runner,
                     const struct vyre_cpu_job *job, const struct vyre_cpu_task *task)
{
    const struct vyre_batch_view *view = job->view;
    if (job->sampled && !job->program) {
        uint32_t count = view->command_count ? view->command_count : 1;
        vyre_cpu_run_timed(runner, view, (uint32_t)(job->sequence % count), &ring->asked);
        return;
    }
    if (task->group_end > 0) {
        const struct vyre_command *command = &view->commands[task->first];
        if (job->sampled || (job->learn && is_unknown(command)))
            (void)vyre_cpu_run_measured(runner, view, command, task->group_begin, task->group_end);
        else
            vyre_cpu_run_groups(runner, view, command, task->group_begin, task->group_end);
        vyre_cpu_count_step(runner);
        return;
    }
    if (!task->ordered && !job->learn) {
        vyre_cpu_run_commands(runner, view, task->first, task->count);
        return;
    }
    for (uint32_t i = 0; i < task->count; i++) {
        uint32_t index = task->ordered ? job->program->order[task->first + i] : task->first + i;
        const struct vyre_command *command = &view->commands[index];
        if (job->learn && is_unknown(command))
            (void)vyre_cpu_run_measured(runner, view, command, 0, vyre_cpu_command_groups(command));
        else
            vyre_cpu_run_commands(runner, view, index, 1);
        if (atomic_load_explicit(runner->lost, memory_order_acquire))
            return;
    }
}

bool vyre_cpu_ring_run(struct vyre_cpu_ring *ring, struct vyre_cpu_runner *runner,
                       const struct vyre_cpu_ticket *ticket)
{
    struct vyre_cpu_job *job = ticket->job;
    const struct vyre_cpu_task whole = {.first = 0, .count = job->view->command_count};
    const struct vyre_cpu_task *task = job->program ? &job->program->tasks[ticket->index] : &whole;
    if (!wait_to_start(ring, runner, job, task->wait_for))
        return false;
    if (ticket->index == 0 && job->timed)
        job->start_ns = vyre_clock_now_ns();
    run_task(ring, runner, job, task);
    if (vyre_is_lost(&ring->loss))
        return false;
    uint32_t ticket_count = job->ticket_count; /* the job may be gone after the next line */
    if (ticket_count == 1)
        return true; /* no other thread counts: the end of the task is the end of the job */
    /* (C) acq_rel: pairs with (D), and the last one sees what all the others did. */
    return atomic_fetch_add_explicit(&job->done, 1, memory_order_acq_rel) + 1 == ticket_count;
}

void vyre_cpu_ring_end(struct vyre_cpu_ring *ring, uint64_t sequence)
{
    /* (E) and (G). */
    atomic_store_explicit(&ring->completed, sequence, memory_order_seq_cst);
    if (atomic_load_explicit(&ring->end_sleepers, memory_order_seq_cst) == 0)
        return;
    atomic_fetch_add_explicit(&ring->end_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&ring->end_word, UINT32_MAX >> 1);
}
