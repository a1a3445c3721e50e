/*
 * ring.h: the memory that the host and a resident OpenCL dispatcher share.
 *
 *   [control: 9 lines][slot 0][slot 1] ... [slot capacity - 1]        item i lives in slot i & mask
 *
 *   head ── items published by the host        completion ── items done, in order, by the device
 *
 * The block is in fine-grained SVM with atomics. Only this header knows the layout: the generated
 * OpenCL C takes every offset from these structs (prelude.c).
 *
 * Counters are free-running and compared by unsigned difference. Each control word has a cache line
 * of its own; a slot's payload is packed, so that a small item moves between two cores in one line:
 *
 *   slot    [kernel, flags, groups, total, done, finished][addresses 0 .. n-1][pad to 16][constants]
 *
 * An item is taken as tickets, one per group and in order. A single resident group needs no
 * tickets: it walks the items with a counter of its own. With several, `cursor` packs item << 32 |
 * group and moves by compare-and-exchange, so that a slow group can never take a ticket of an item
 * that has replaced the one it read.
 *
 * Progress: a group waits only for earlier tickets, which running groups hold. A group that has
 * taken a ticket of an item leaves only when all tickets of that item are taken. So once every
 * group has left, each item is either done or untouched, and the untouched ones are [completion,
 * head).
 *
 * Orders, each with its pair (there are no stand-alone fences):
 *   (A) head stored, release              by the host, after the slot is filled
 *   (B) head loaded, acquire              by the device; pairs with (A)
 *   (C) done added, acq_rel               the effects of a group, seen by the group that adds the last
 *   (D) finished exchanged, completion exchanged, both seq_cst: of two groups that end neighbouring
 *       items one sees the other's mark
 *   (E) completion stored, release        by the device when it is alone
 *   (F) completion loaded, acquire        by the host before it reads results or refills a slot, and by
 *                                         a group before an item that must wait; pairs with (D), (E)
 *   (G) exited added, release             the last thing that a group does
 *   (H) exited loaded, acquire            by the host before it launches again or falls back
 *   (K) head stored, then exited loaded, by the thread that publishes; exited loaded, then head, by the
 *       thread that tends the dispatcher and may sleep while the ring is empty; all seq_cst: one of the
 *       two makes sure that an item published after a dispatcher's exit is run
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_RING_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <vyre/kernel.h>

#define VYRE_CL_LINE_BYTES         64
#define VYRE_CL_SLOT_ADDRESSES_MAX 32
#define VYRE_CL_SLOT_PAYLOAD_BYTES (8 * VYRE_CL_SLOT_ADDRESSES_MAX + VYRE_CONSTANTS_BYTES_MAX)

/* Bits of a slot's flags. */
#define VYRE_CL_SLOT_AFTER_ALL 1u /* start only when all items before this one are done */

/* Why a dispatcher left. */
enum vyre_cl_exit {
    VYRE_CL_EXIT_NONE = 0,
    VYRE_CL_EXIT_IDLE = 1,  /* idle_polls without work */
    VYRE_CL_EXIT_LEASE = 2, /* lease_turns polls and tickets */
    VYRE_CL_EXIT_STOP = 3,  /* the host asked */
};

struct vyre_cl_control {
    /* Written by the host. */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t head; /* items published */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t stop; /* not 0: leave at the next item */
    /* Written by the host while no dispatcher runs. */
    _Alignas(VYRE_CL_LINE_BYTES) uint32_t slot_mask; /* capacity - 1; capacity a power of two */
    uint32_t idle_polls;                             /* leave after this many polls without work */
    uint32_t lease_turns;                            /* leave after this many polls and tickets */
    /* Written by the device. */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t completion; /* items done: all before are too */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t heartbeat; /* changes with each poll and ticket */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t started;   /* resident groups that began */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t exited;    /* resident groups that left */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint32_t leaving;   /* enum vyre_cl_exit of the first */
    _Alignas(VYRE_CL_LINE_BYTES) _Atomic uint64_t cursor;    /* next ticket: item << 32 | group */
};

struct vyre_cl_slot {
    /* Written by the host before it publishes the item. */
    _Alignas(VYRE_CL_LINE_BYTES) uint32_t kernel; /* index in the dispatcher's list */
    uint32_t flags;
    uint32_t groups[3];
    uint32_t group_total;      /* product of `groups`; 0: the item does nothing */
    _Atomic uint32_t done;     /* groups done; the host zeroes it, many resident groups count it */
    _Atomic uint32_t finished; /* written only by the device: item + 1 when all groups are done */
    _Alignas(16) unsigned char payload[VYRE_CL_SLOT_PAYLOAD_BYTES];
};

/* The device computes slots from this size. Words that both sides access must be lock-free. */
static_assert(sizeof(struct vyre_cl_control) == (size_t)9 * VYRE_CL_LINE_BYTES,
              "one line per word");
static_assert(sizeof(struct vyre_cl_slot) == (size_t)7 * VYRE_CL_LINE_BYTES, "whole lines");
static_assert(offsetof(struct vyre_cl_slot, payload) == 32, "a small item fits in one line");
static_assert(offsetof(struct vyre_cl_slot, payload) % 16 == 0, "constants are aligned to 16");
static_assert(sizeof(_Atomic uint32_t) == 4 && sizeof(_Atomic uint64_t) == 8, "as on the device");
static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2, "as on the device");

/* Bytes of a ring of `capacity` slots. */
static inline size_t vyre_cl_ring_bytes(uint32_t capacity)
{
    return sizeof(struct vyre_cl_control) + (size_t)capacity * sizeof(struct vyre_cl_slot);
}

static inline struct vyre_cl_slot *vyre_cl_ring_slot(struct vyre_cl_control *control, uint32_t item)
{
    return (struct vyre_cl_slot *)(void *)(control + 1) + (item & control->slot_mask);
}

/* Where a kernel's constants are in the payload, after its addresses. */
static inline uint32_t vyre_cl_slot_constants_offset(uint32_t address_count)
{
    return (8 * address_count + 15u) & ~15u;
}

/* Prepares memory for the first launch; item numbers begin at `first`. */
static inline void vyre_cl_ring_init(struct vyre_cl_control *control, uint32_t capacity,
                                     uint32_t first)
{
    memset((void *)control, 0, vyre_cl_ring_bytes(capacity));
    control->slot_mask = capacity - 1;
    atomic_init(&control->head, first);
    atomic_init(&control->completion, first);
    atomic_init(&control->cursor, (uint64_t)first << 32);
    /* `finished` must not look like the mark of the slot's first item. */
    for (uint32_t i = 0; i < capacity; i++)
        atomic_init(&vyre_cl_ring_slot(control, first + i)->finished, first + i);
}

/* Prepares for another launch. Only after all groups of the last one have left (H). */
static inline void vyre_cl_ring_rearm(struct vyre_cl_control *control)
{
    atomic_store_explicit(&control->stop, 0, memory_order_relaxed);
    atomic_store_explicit(&control->started, 0, memory_order_relaxed);
    atomic_store_explicit(&control->exited, 0, memory_order_relaxed);
    atomic_store_explicit(&control->leaving, 0, memory_order_relaxed);
}

#endif
