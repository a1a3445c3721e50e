/*
 * generate.c: a whole program.
 */
#include "kernels/generate.h"

#include <string.h>

#include "kernels/generator.h"

static void choose_local_size(struct generator *g)
{
    static const uint32_t sizes[][3] = {
        {64, 1, 1}, {64, 1, 1}, {64, 1, 1}, {16, 1, 1}, {8, 1, 1}, {3, 1, 1}, {1, 1, 1},
        {33, 1, 1}, {32, 1, 1}, {5, 1, 1},  {8, 8, 1},  {8, 8, 1}, {8, 8, 1}, {4, 4, 1},
        {5, 3, 1},  {16, 4, 1}, {8, 4, 1},  {4, 4, 4},  {2, 2, 2}, {3, 3, 3},
    };
    uint32_t choice = draw(g, sizeof sizes / sizeof sizes[0]);
    memcpy(g->local_size, sizes[choice], sizeof g->local_size);
    g->dimensions = sizes[choice][2] > 1 ? 3 : sizes[choice][1] > 1 ? 2 : 1;
    g->items = g->local_size[0] * g->local_size[1] * g->local_size[2];
}

static void choose_out_type(struct generator *g)
{
    uint32_t roll = draw(g, 20);
    g->out_type = type_uint();
    if (roll >= 14 && roll < 17)
        g->out_type = generate_stored_type(g);
    if (roll < 17 || g->tree->structure_count == 0)
        return;
    const struct structure *first = &g->tree->structures[0];
    for (uint32_t i = 0; i < first->field_count; i++) /* a gap would have any bytes */
        if (first->fields[i].base != BASE_UINT)
            return;
    g->out_type = (struct type){.base = BASE_STRUCT, .width = 1};
}

/* Kernels with equal tails, tails that differ in constants or have them in common, and others. */
static void generate_kernels(struct generator *g)
{
    struct tail_plan common;
    common.structure_seed = rng_next(&g->rng);
    common.constant_seed = rng_next(&g->rng);
    common.behind_barrier = chance(g, 60);
    static const uint8_t counts[] = {1, 2, 2, 2, 3, 3, 4};
    for (uint32_t i = counts[draw(g, sizeof counts)]; i > 0; i--) {
        struct tail_plan tail = common;
        uint32_t roll = draw(g, 10);
        if (roll < 5)
            feature(g, FEATURE_EQUAL_TAILS);
        else if (roll < 7)
            feature(g, FEATURE_SIMILAR_TAILS);
        else if (roll < 9)
            feature(g, FEATURE_EQUAL_CONSTANTS);
        if (roll == 5 || roll == 6 || roll == 9)
            tail.constant_seed = rng_next(&g->rng);
        if (roll >= 7)
            tail.structure_seed = rng_next(&g->rng);
        if (chance(g, 40))
            tail.behind_barrier = chance(g, 50);
        tail.behind_barrier &= g->has_barriers;
        bool is_small = chance(g, 45);
        generate_kernel(g, &tail, is_small);
    }
}

void program_generate(struct program *program, uint64_t seed)
{
    struct generator g = {.program = program, .tree = &program->tree};
    memset(program, 0, sizeof *program);
    program->seed = seed;
    g.rng = rng_seeded(seed);
    choose_local_size(&g);
    g.has_barriers = chance(&g, 85);
    if (!g.has_barriers)
        feature(&g, FEATURE_NO_BARRIER);
    if (chance(&g, 15)) {
        g.tree->specialized_count = 1 + draw(&g, SPECIALIZED_MAX);
        for (uint32_t i = 0; i < g.tree->specialized_count; i++)
            program->specialized[i] = draw(&g, 20);
    }
    generate_structures(&g);
    generate_macros(&g);
    choose_out_type(&g);
    for (uint32_t i = draw(&g, 5); i > 0; i--)
        generate_function(&g);
    generate_kernels(&g);
    generate_batches(&g);
}
