/*
 * ring.h: batches in flight on the CPU: tickets, completion.
 *
 *   head ── published by submit          completed ── published by the thread that ends a job
 *     v                                     v
 *   [job 5: done][job 6: 3 of 8 left][job 7: 1 left][free] ...        job s lives in slot s % size
 *
 * A job is one submission; its tasks (program.h) are handed out as tickets, in order. The word of a
 * job packs all that is needed to take a ticket, so that a slow thread can never take one from a
 * job that has replaced the one it read:
 *
 *   word = sequence << 24 | helpable << 23 | tickets left
 *
 * Everything else in a job is written before the word is stored and read only by the holder of a
 * ticket. A slot is refilled only after its job is complete.
 *
 * Progress: tickets are taken in order, and a task waits only for earlier tasks, whose tickets
 * running threads hold. A job waits until the job before it is complete.
 *
 * Orders, each with its pair (there are no stand-alone fences):
 *   (A) word stored, release; head stored, seq_cst       by submit
 *   (B) head loaded, acquire/seq_cst; word taken, acquire   pairs with (A)
 *   (C) done added, acq_rel                              a task's effects, seen by ...
 *   (D) done loaded, acquire                             ... a task that waits for it; pairs with (C)
 *   (E) completed stored, seq_cst                        by the thread that completed `done`
 *   (F) completed loaded, acquire/seq_cst                pairs with (E)
 *   (G) sleepers counted and (A)/(E) stored, all seq_cst: either the sleeper sees the change or the
 *       thread that made it sees the sleeper
 *
 * The protocol is model-checked: tests/model/ring.pml.
 */
#ifndef VYRE_BACKEND_CPU_RING_H
#define VYRE_BACKEND_CPU_RING_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

#include "backend/common/loss.h"
#include "backend/cpu/program.h"
#include "backend/cpu/run.h"

#define VYRE_CPU_LINE_BYTES 64

struct vyre_cpu_job {
    /* One line for all that a job of one task needs: it moves between two cores once. */
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint64_t word;
    _Atomic uint32_t done; /* finished tasks */
    uint32_t ticket_count;
    uint64_t sequence;
    const struct vyre_batch_view *view;
    const struct vyre_cpu_program *program; /* `own`, a recording's, or NULL: one task, all of it */
    uint64_t start_ns;
    bool timed;
    bool learn;                   /* measure kernels that were never run */
    bool sampled;                 /* give the times of its commands: see `asked` of the ring */
    struct vyre_cpu_program *own; /* Owned: a program that only this job uses, or NULL */
};

struct vyre_cpu_ring {
    struct vyre_cpu_job *jobs; /* Owned */
    uint64_t mask;
    struct vyre_cpu_times
        asked; /* by the one job that is sampled; written before it is published */
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint64_t head;      /* the last published job */
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint64_t completed; /* all jobs up to this one */
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint32_t end_word;  /* changes with completed: futex */
    _Atomic uint32_t end_sleepers;
    struct vyre_loss loss; /* when lost, nothing further may be taken */
};

/* The position of a thread that takes tickets. A zeroed cursor looks at everything. */
struct vyre_cpu_cursor {
    uint64_t next; /* the job to look at next */
    /* the ring's head when last read: while jobs are left, it need not be read again */
    uint64_t head;
};

struct vyre_cpu_ticket {
    struct vyre_cpu_job *job;
    uint32_t index; /* the task */
};

/* VYRE_OUT_OF_MEMORY leaves nothing behind. `limit` jobs in flight at most. */
enum vyre_status vyre_cpu_ring_init(struct vyre_cpu_ring *ring,
                                    const struct vyre_allocator *allocator, uint32_t limit);
void vyre_cpu_ring_deinit(struct vyre_cpu_ring *ring, const struct vyre_allocator *allocator);

/* The slot of the next job, free to be filled. */
static inline struct vyre_cpu_job *vyre_cpu_ring_slot(struct vyre_cpu_ring *ring, uint64_t sequence)
{
    return &ring->jobs[sequence & ring->mask];
}

/* Publishes a filled job. */
void vyre_cpu_ring_publish(struct vyre_cpu_ring *ring, struct vyre_cpu_job *job, bool helpable);

/*
 * Takes the next ticket of the jobs up to `last`. `only_helpable` skips jobs that a caller's thread
 * must not run. The cursor belongs to the calling thread. False: there is none.
 */
bool vyre_cpu_ring_take(struct vyre_cpu_ring *ring, struct vyre_cpu_cursor *cursor, uint64_t last,
                        bool only_helpable, struct vyre_cpu_ticket *out_ticket);

/*
 * Waits until the ticket's task may start, runs it, and counts it as done. Returns true if that
 * completed the job: the caller then ends it (vyre_cpu_ring_end). False also on a lost device.
 */
bool vyre_cpu_ring_run(struct vyre_cpu_ring *ring, struct vyre_cpu_runner *runner,
                       const struct vyre_cpu_ticket *ticket);

/* The job is complete and has been reported: the next one may start, and sleepers are woken. */
void vyre_cpu_ring_end(struct vyre_cpu_ring *ring, uint64_t sequence);

static inline bool vyre_cpu_ring_is_complete(const struct vyre_cpu_ring *ring, uint64_t sequence)
{
    /* (F) acquire: pairs with (E). */
    return atomic_load_explicit(&ring->completed, memory_order_acquire) >= sequence;
}

#endif
