/*
 * machine.c: whether figures taken now can be trusted: is the machine quiet, does it give two full cores?
 * All benchmarks print the same before and after they measure.
 */
#include "harness/bench.h"

int main(int argc, char **argv)
{
    static const struct bench_desc desc = {.name = "machine", .rounds = 1, .rounds_quick = 1};
    struct bench bench;
    return bench_begin(&bench, &desc, argc, argv) ? bench_end(&bench) : 2;
}
