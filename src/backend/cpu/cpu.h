/*
 * cpu.h: the CPU backend: the embedded default, and the reference for all others.
 *
 *   submit ── small, known, nothing in flight ──> run here, on the caller      (inline)
 *      │
 *      └── program: tasks with barriers ──> ring ──> workers, and a caller that waits and helps
 *
 * Waking a sleeping thread costs more than most kernels, so small work runs on the caller. Workers
 * are woken once the time that they would have saved exceeds the cost of waking them (see pool.h).
 *
 *   kernel.h   host kernels, and what they cost, measured
 *   program.h  a batch cut into tasks
 *   run.h      carrying out commands
 *   ring.h     batches in flight: tickets, completion
 *   pool.h     threads that take tickets: residency, leases, sleep
 *   device.h   the device: opening (device.c), submitting (launch.c), waiting (wait.c)
 */
#ifndef VYRE_BACKEND_CPU_CPU_H
#define VYRE_BACKEND_CPU_CPU_H

#include <vyre/backend.h>

extern const struct vyre_backend_ops vyre_cpu_backend_ops;

#endif
