/*
 * vulkan_submit.c: see vulkan_submit.h.
 *
 * What is timed is the submit call alone, on an idle device; the wait follows untimed. The claim is
 * that it does not grow with the batch: a recording is handed to the driver as one thing. Judged by
 * the first quartile, because the driver's thread wakes up beside the call and may take its core.
 */
#include "vulkan_submit.h"

#define SIZES       4
#define SAMPLES     31
#define SAMPLES_BIG 11  /* from 1,000 dispatches on, which take long to run */
#define GROWTH_MAX  1.5 /* of 5,000 dispatches against 10; timing of a few us is not better */

struct samples {
    size_t count;
    double own[SAMPLES];
    double hand[SAMPLES];
};

/* Two of each that are not kept: the first records and compiles. */
static bool measure(struct hand_device *device, struct gpu_contender *replay, uint32_t dispatches,
                    struct samples *samples)
{
    const size_t dropped = 2;
    samples->count = dispatches >= 1000 ? SAMPLES_BIG : SAMPLES;
    if (!hand_prepare_submit(device, dispatches))
        return false;
    if (replay)
        gpu_vyre_prepare_submit(replay, dispatches);
    for (size_t i = 0; i < samples->count + dropped; i++) {
        size_t kept = i < dropped ? 0 : i - dropped;
        gpu_settle();
        if (!hand_time_submit(device, &samples->hand[kept]))
            return false;
        gpu_settle();
        if (replay && !gpu_vyre_time_submit(replay, &samples->own[kept]))
            return false;
    }
    return true;
}

static void print_summary(struct sample_summary ns, FILE *out)
{
    char quartiles[24];
    snprintf(quartiles, sizeof quartiles, "[%.0f %.0f]", ns.low, ns.high);
    fprintf(out, " %9.0f %-18s", ns.median, quartiles);
}

static double growth(const double low[SIZES])
{
    return low[SIZES - 1] / low[0];
}

bool submit_report(struct hand_device *device, struct gpu_contender *replay, FILE *out)
{
    static const uint32_t sizes[SIZES] = {10, 100, 1000, 5000};
    double own[SIZES] = {0};
    double hand[SIZES] = {0};
    bool has_own = !replay->absent[0] && !replay->failed;
    fprintf(out,
            "\nhost time of submitting a recorded batch, ns: median [quartiles]\n%10s  %-28s%s\n",
            "dispatches", " by hand, vkQueueSubmit", has_own ? "  vyre_batch_submit, replay" : "");
    for (size_t s = 0; s < SIZES; s++) {
        struct samples samples;
        if (!measure(device, has_own ? replay : NULL, sizes[s], &samples))
            return false;
        struct sample_summary summary = sample_summarize(samples.hand, samples.count);
        hand[s] = summary.low;
        fprintf(out, "%10u ", sizes[s]);
        print_summary(summary, out);
        if (has_own) {
            summary = sample_summarize(samples.own, samples.count);
            own[s] = summary.low;
            print_summary(summary, out);
        }
        fputc('\n', out);
    }
    fprintf(out, "by first quartile, 5,000 dispatches take %.2f times the host time of 10 by hand",
            growth(hand));
    if (has_own)
        fprintf(out, " and %.2f times in Vyre; aim <= %.1f: %s", growth(own), GROWTH_MAX,
                growth(own) <= GROWTH_MAX ? "reached" : "MISSED");
    fputc('\n', out);
    return true;
}
