/*
 * launch_figures.h: from the launch benchmark's samples to figures and to what was aimed at.
 *
 * A figure is the median over the rounds with its quartiles. A ratio is the median of the ratios of
 * each round, so that drift of the machine between rounds cancels.
 */
#ifndef VYRE_BENCH_LAUNCH_FIGURES_H
#define VYRE_BENCH_LAUNCH_FIGURES_H

#include "launch.h"
#include "sample.h"

struct launch_figure {
    struct sample_summary ns;
    double ratio; /* to the direct loop */
};

/* False: not measured. */
bool launch_get_figure(const struct launch_results *results, size_t contender, uint32_t cell,
                       struct launch_figure *out_figure);

/* The cheapest of Vyre's forced modes in a cell. False: none was measured. */
bool launch_get_best_forced(const struct launch_results *results, uint32_t cell,
                            struct launch_figure *out_figure, size_t *out_contender);

/* The mode in the name of one of Vyre's rows. */
const char *launch_mode_of(const struct launch_results *results, size_t contender);

/* Leaves the samples as they are. */
struct sample_summary launch_summarize(const double *ns, size_t count);

struct launch_verdict {
    bool known;
    double value;
    bool reached;
    char who[40];
};

struct launch_aim {
    char text[64];
    const char *unit;
    double limit;
    bool at_least; /* else: at most */
    struct launch_verdict verdicts[2];
};

#define LAUNCH_AIMS_MAX 16

/* The aims that were measured; returns how many. */
size_t launch_make_aims(const struct launch_results *results,
                        struct launch_aim out_aims[LAUNCH_AIMS_MAX]);

#endif
