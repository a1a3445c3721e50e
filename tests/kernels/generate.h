/*
 * generate.h: programs from seeds. Nothing here knows a language.
 *
 * Programs have one meaning by construction: integers only, nothing undefined, each work-item
 * writes places of its own, local memory is exchanged across barriers, barriers stand where all
 * work-items of a group come by, and what atomics add to is not read before the end. The oracle
 * checks all of this again.
 */
#ifndef VYRE_TESTS_KERNELS_GENERATE_H
#define VYRE_TESTS_KERNELS_GENERATE_H

#include "kernels/program.h"

void program_generate(struct program *program, uint64_t seed);

#endif
