/*
 * oracle.h: runs a program without any driver, and says whether it is one.
 *
 * All work-items of a group run in lockstep: each statement for every work-item that is active in
 * it, as a mask of 64 bits. Programs are free of races, so this order gives the bytes of any order.
 * That they are is checked on the way, for every access: two work-items that touch a place with no
 * barrier between them, one of them writing; local memory that is read before it was written; a
 * barrier that not all work-items of the group reach; an index out of range. A program with one of
 * these is no program: the generator may not make it, and the shrinker may not keep it.
 */
#ifndef VYRE_TESTS_KERNELS_ORACLE_H
#define VYRE_TESTS_KERNELS_ORACLE_H

#include "kernels/program.h"

enum { ORACLE_REASON_BYTES = 128 };

/*
 * Fills in the bytes of all buffers after the last batch. False, with the reason, for what is no
 * program or takes too many steps.
 */
bool oracle_run(const struct program *program, unsigned char *bytes,
                char out_reason[ORACLE_REASON_BYTES]);

#endif
