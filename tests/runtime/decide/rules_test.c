/*
 * rules_test.c: no constant of the governor is finely tuned: with any of them halved or doubled, the 90th percentile of
 * the simulated regret stays where it is.
 */
#include "runtime/decide/cost_simulation.h"
#include "runtime/governor_rules.h"
#include "support/test.h"

#define DRAWS 300
#define MOVES 0.02

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double p90_of(const struct vyre_governor_rules *rules, bool hinted)
{
    static double ratio[DRAWS];
    const struct sim_options options = {.hinted = hinted,
                                        .explore_bps = 300,
                                        .execution = SIM_EXECUTION_ALIKE,
                                        .calibration = SIM_CALIBRATION_NOISY,
                                        .noisy = true,
                                        .rules = rules};
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct sim_draw draw;
        struct sim_result result;
        sim_draw_make(&draw, i + 1, &options);
        sim_draw_run(&draw, &options, &result);
        ratio[i] = result.auto_ns / result.best_fixed_ns;
    }
    qsort(ratio, DRAWS, sizeof ratio[0], compare);
    return ratio[DRAWS * 9 / 10];
}

struct rule {
    const char *name;
    size_t offset;
};

static const struct rule rules[] = {
#define X(name, value, reason) {#name, offsetof(struct vyre_governor_rules, name)},
    VYRE_GOVERNOR_RULES(X)
#undef X
};

static void halving_or_doubling_a_rule_changes_little(void **state)
{
    (void)state;
    unsigned moved = 0;
    for (int hinted = 0; hinted < 2; hinted++) {
        double usual = p90_of(&vyre_governor_rules_default, hinted);
        printf("%s: p90 %.3f\n", hinted ? "hint" : "no hint", usual);
        for (size_t i = 0; i < COUNT_OF(rules); i++) {
            double p90[2];
            for (int twice = 0; twice < 2; twice++) {
                struct vyre_governor_rules other = vyre_governor_rules_default;
                double *rule = (double *)(void *)((char *)&other + rules[i].offset);
                *rule *= twice ? 2.0 : 0.5;
                p90[twice] = p90_of(&other, hinted);
            }
            bool far = p90[0] > usual + MOVES || p90[1] > usual + MOVES;
            moved += far;
            printf("    %-16s halved %.3f, doubled %.3f%s\n", rules[i].name, p90[0], p90[1],
                   far ? "  moves" : "");
        }
    }
    fflush(stdout);
    assert_int_equal(moved, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halving_or_doubling_a_rule_changes_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
