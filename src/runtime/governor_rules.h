/*
 * governor_rules.h: every constant of the governor, with its reason.
 *
 * tests/runtime/decide/rules_test.c halves and doubles each of them: the simulated regret hardly
 * moves.
 */
#ifndef VYRE_RUNTIME_GOVERNOR_RULES_H
#define VYRE_RUNTIME_GOVERNOR_RULES_H

/* X(name, value, reason) */
#define VYRE_GOVERNOR_RULES(X)                                                                     \
    /* Windows. */                                                                                 \
    X(window_ns, 2000,                                                                             \
      "a window takes at least this long, so that reading the clock is 1 % of it")                 \
    X(window_depth, 0.25, "batches of a window for each one in flight: their ends come in groups") \
    X(resolve, 0.2, "the noise of batches lets a window show a difference of this part")           \
    X(noisy, 32, "... but it has at most so many batches for that")                                \
    X(window_limit, 1024, "batches of the longest window")                                         \
    X(doublings, 8,                                                                                \
      "a window that cannot tell two candidates apart is doubled so often; then they tie")         \
    X(cold, 2, "batches of a kernel in a mode are not measured: it compiles, it touches memory")   \
    X(patience, 4, "a try ends after so many times its batches, measured or not")                  \
    X(few, 3, "windows do not show their spread, and their mean is sooner wrong than drifted")     \
    X(disturbed, 1.5,                                                                              \
      "a batch counts at most so many times its usual time: other programs run too")               \
    X(lost, 4, "a window that took so many times what the choice takes is over")                   \
    /* Telling candidates apart. */                                                                \
    X(margin, 0.03, "a change must gain at least this part")                                       \
    X(clearly, 1.5, "... and differ by so many standard errors")                                   \
    X(spread, 0.06, "of windows, until three are measured")                                        \
    X(memory, 16, "the mean of the choice covers about so many windows")                           \
    X(memory_others, 6, "... and that of others, whose windows are rare and old")                  \
    X(again_memory, 256, "... and that of what is paid again and again so many batches")           \
    /* Change. */                                                                                  \
    X(band, 1.5, "a window so many times off is an outlier; several in a row are drift")           \
    X(run, 5, "so many; half if they are far off, or the mean rests on few")                       \
    X(lately, 0.16, "the last window in the pace: a clock stays fast or slow for longer")          \
    X(wander, 1.25, "a mean that moved by this factor since the choice: the choice is made again") \
    X(pace, 2, "clocks vary by less than this factor; all candidates follow them")                 \
    /* What is not measured. */                                                                    \
    X(unknown, 2, "octaves between assumed execution times of what at most one unit measured")     \
    X(stale, 1, "... of what was measured before a drift")                                         \
    X(stored, 0.5, "... of what an earlier process measured, or the times of kernels predict")     \
    X(upward, 0.5,                                                                                 \
      "much worse than expected is rarer than much better: octaves above, times this")             \
    X(firsts, 8, "batches may pay a fixed cost until that counts as the candidate's usual time")   \
    X(off, 12, "calibration may be off by this factor without a sign")                             \
    X(fixed_error, 1.45, "... and the fixed cost that one batch paid by this one")                 \
    X(checks, 1.8,                                                                                 \
      "for tries that check this: this part of the time of the first batches, divided by the "     \
      "candidates ...")                                                                            \
    X(checks_first, 64, "... which are so many, and the budget for looks")                         \
    X(checks_hinted, 0.04, "... and of the time announced")                                        \
    X(odds, 16, "... if they would save so many times what they cost")                             \
    X(far_off, 4,                                                                                  \
      "times off: a first batch was cold, a window is measured once more, or a few are drift")     \
    X(first_rest, 0.25, "a first batch is at least to this part not the fixed cost")               \
    X(difference, 0.5, "a difference of two times means something from this part of them on")      \
    X(least, 0.05, "of a batch is execution at least, whatever calibration says")                  \
    X(doubt, 0.6, "octaves by which calibration is off without a sign of it: 30 %")                \
    X(lesson_memory, 8, "what shapes teach each other is a mean over about so many")               \
    X(unreturned, 16, "shapes may be paid for when first seen, until so many have not come back")  \
    /* When to look. */                                                                            \
    X(check_part, 0.03125, "a choice stands for this part of the batches seen ...")                \
    X(check_limit, 256, "... and at most so many")                                                 \
    X(look_part, 0.25, "a window takes at most this part of the batches seen")                     \
    /* Streams. */                                                                                 \
    X(stream, 0.5, "from this part of changes on, the shapes alternate and are judged together")   \
    X(recent, 0.0625, "the share of one batch in what the device did lately")

struct vyre_governor_rules {
#define X(name, value, reason) double name;
    VYRE_GOVERNOR_RULES(X)
#undef X
};

/* The values above. */
extern const struct vyre_governor_rules vyre_governor_rules_default;

#endif
