/*
 * calibrate.c: measures what launching costs on a live device, and gives it the costs to decide by.
 *
 * Every figure is measured once. Those that are noisy then are measured again after all the others:
 * by then the work that disturbed them may have ended. Effort is bounded by rounds and by time.
 */
#include <string.h>
#include <time.h>

#include "runtime/calibration_age.h"
#include "runtime/emit.h"
#include "runtime/probe.h"
#include "runtime/samples.h"

#define DEFAULT_TIME_NS UINT64_C(3000000000)
#define WARM_UP_ROUNDS  3
#define AGAIN_ROUNDS    3
#define GOOD_PERCENT    5.0
#define NOISY_PERCENT   10.0

struct measuring {
    struct vyre_probe probe;
    const struct vyre_calibration_options *options;
    struct vyre_cost *costs;      /* Borrowed: the result */
    bool taken[VYRE_PROBE_STEPS]; /* steps that the device can take */
    uint32_t done;                /* figures */
};

/* ---- One step --------------------------------------------------------------------------------- */

static bool has_second(const struct vyre_probe_step *step)
{
    return step->second != (enum vyre_cost_id)VYRE_COST_COUNT;
}

static void sample_until_good(struct vyre_probe *probe, const struct vyre_probe_step *step,
                              struct vyre_cost out_costs[2])
{
    struct vyre_samples samples[2] = {{.count = 0}, {.count = 0}};
    uint64_t end_ns = vyre_device_now_ns(probe->device) + probe->figure_ns;
    bool good = false;
    while (probe->status == VYRE_OK && !good && samples[0].count < step->most) {
        double values[2] = {0.0, 0.0};
        step->sample(probe, step->way, values);
        for (int i = 0; i < 2; i++) {
            vyre_samples_add(&samples[i], values[i]);
            out_costs[i] = vyre_samples_cost(&samples[i]);
        }
        good = samples[0].count >= VYRE_SAMPLES_MIN &&
               vyre_cost_within(&out_costs[0], GOOD_PERCENT) &&
               vyre_cost_within(&out_costs[1], GOOD_PERCENT);
        if (vyre_device_now_ns(probe->device) > end_ns && samples[0].count >= 3)
            break;
    }
}

/* Warms up and samples. Few samples, as of a compile, are not worth a warm-up. */
static void take(struct vyre_probe *probe, const struct vyre_probe_step *step,
                 struct vyre_cost out_costs[2])
{
    for (int i = 0; i < WARM_UP_ROUNDS && step->most > WARM_UP_ROUNDS; i++) {
        double unused[2];
        step->sample(probe, step->way, unused);
    }
    sample_until_good(probe, step, out_costs);
    for (int i = 0; i < 2; i++)
        out_costs[i].noisy = !vyre_cost_within(&out_costs[i], NOISY_PERCENT);
}

static void report(struct measuring *measuring, enum vyre_cost_id id)
{
    const struct vyre_calibration_options *options = measuring->options;
    struct vyre_probe *probe = &measuring->probe;
    if (probe->status == VYRE_OK && options->progress &&
        !options->progress(options->user, measuring->done, VYRE_COST_COUNT, id,
                           &measuring->costs[id]))
        vyre_probe_fail(probe,
                        vyre_diag_set(probe->diag, VYRE_DIAG_CALIBRATION_STOPPED,
                                      probe->device->label, 0, "stopped after %u of %d figures",
                                      measuring->done, VYRE_COST_COUNT));
}

/* One that is not noisy, else the one with the narrower interval. */
static bool is_better(const struct vyre_cost *cost, const struct vyre_cost *than)
{
    if (cost->noisy != than->noisy)
        return than->noisy;
    return cost->confidence_ns < than->confidence_ns;
}

static void keep(struct measuring *measuring, enum vyre_cost_id id, const struct vyre_cost *cost)
{
    struct vyre_cost *best = &measuring->costs[id];
    bool first = !best->known;
    if (measuring->probe.status != VYRE_OK || !cost->known)
        return;
    if (first || is_better(cost, best))
        *best = *cost;
    measuring->done += first;
    report(measuring, id);
}

static void measure(struct measuring *measuring, const struct vyre_probe_step *step)
{
    struct vyre_cost costs[2] = {{.known = false}, {.known = false}};
    take(&measuring->probe, step, costs);
    keep(measuring, step->first, &costs[0]);
    if (has_second(step))
        keep(measuring, step->second, &costs[1]);
}

/* ---- All of them ------------------------------------------------------------------------------ */

static bool is_noisy(const struct measuring *measuring, const struct vyre_probe_step *step)
{
    return measuring->costs[step->first].noisy ||
           (has_second(step) && measuring->costs[step->second].noisy);
}

/* Returns whether a figure was noisy and there was time. */
static bool measure_noisy(struct measuring *measuring, uint64_t end_ns)
{
    struct vyre_probe *probe = &measuring->probe;
    bool again = false;
    for (int i = 0; i < VYRE_PROBE_STEPS; i++) {
        const struct vyre_probe_step *step = &vyre_probe_steps[i];
        if (!measuring->taken[i] || step->most < VYRE_SAMPLES_MIN || !is_noisy(measuring, step))
            continue;
        if (probe->status != VYRE_OK || vyre_device_now_ns(probe->device) >= end_ns)
            return false;
        measure(measuring, step);
        again = true;
    }
    return again;
}

static void measure_all(struct measuring *measuring, uint64_t end_ns)
{
    struct vyre_probe *probe = &measuring->probe;
    for (int i = 0; i < VYRE_PROBE_STEPS && probe->status == VYRE_OK; i++) {
        measuring->taken[i] = vyre_probe_can(probe, &vyre_probe_steps[i]);
        if (measuring->taken[i])
            measure(measuring, &vyre_probe_steps[i]);
    }
    for (int i = 0; i < AGAIN_ROUNDS && measure_noisy(measuring, end_ns); i++)
        ;
}

/* ---- The costs that a device uses ------------------------------------------------------------- */

static bool is_sane(const struct vyre_cost *cost)
{
    /* Not-a-number compares false. */
    return !cost->known ||
           (cost->min_ns >= 0.0 && cost->median_ns >= 0.0 && cost->median_ns < 1e15 &&
            cost->spread_ns >= 0.0 && cost->confidence_ns >= 0.0);
}

static enum vyre_status adopt(struct vyre_device *device,
                              const struct vyre_calibration *calibration, bool is_own,
                              struct vyre_diag *diag)
{
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        if (!is_sane(&calibration->costs[i]))
            return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                                 "the cost %s is no time", vyre_cost_name((enum vyre_cost_id)i));
    }
    vyre_lock_acquire(&device->lock);
    device->costs.calibration = *calibration;
    device->costs.is_own = is_own;
    device->costs.number++;
    vyre_candidates_price(&device->candidates, &device->facts, calibration);
    for (uint32_t i = 0; i < device->shapes.used; i++) {
        struct vyre_shape *shape = vyre_shapes_at(&device->shapes, i);
        vyre_governor_reopen(shape); /* the inputs of the policies have changed */
        if (shape->profile)
            shape->profile->compared = false;
    }
    if (device->emit)
        vyre_emit_calibrated_locked(device);
    vyre_lock_release(&device->lock);
    return VYRE_OK;
}

enum vyre_status vyre_device_calibrate(struct vyre_device *device,
                                       const struct vyre_calibration_options *options,
                                       struct vyre_calibration *out_calibration,
                                       struct vyre_diag *diag)
{
    static const struct vyre_calibration_options defaults = {0};
    uint64_t start_ns = vyre_device_now_ns(device);
    struct vyre_calibration calibration = {.taken_s = (uint64_t)time(NULL)};
    struct vyre_calibration last;
    struct measuring measuring = {
        .probe = {.device = device, .diag = diag, .salt = start_ns},
        .options = options ? options : &defaults,
        .costs = calibration.costs,
    };
    struct vyre_probe *probe = &measuring.probe;
    uint64_t time_ns = measuring.options->time_ns ? measuring.options->time_ns : DEFAULT_TIME_NS;
    probe->figure_ns = time_ns / VYRE_COST_COUNT;
    memset(out_calibration, 0, sizeof *out_calibration);
    vyre_builds_drain(device);
    vyre_emit_mute(device, true);
    vyre_probe_set_up(probe);
    if (probe->status == VYRE_OK)
        measure_all(&measuring, start_ns + 2 * time_ns);
    vyre_probe_tear_down(probe);
    vyre_emit_mute(device, false);
    if (probe->status != VYRE_OK)
        return probe->status;
    calibration.took_ns = vyre_device_now_ns(device) - start_ns;
    vyre_device_get_calibration(device, &last);
    calibration.noisy_runs = vyre_calibration_count_runs(&last, &calibration);
    *out_calibration = calibration;
    return adopt(device, &calibration, true, diag);
}

enum vyre_status vyre_device_set_calibration(struct vyre_device *device,
                                             const struct vyre_calibration *calibration,
                                             struct vyre_diag *diag)
{
    return adopt(device, calibration, false, diag);
}

void vyre_device_get_calibration(struct vyre_device *device,
                                 struct vyre_calibration *out_calibration)
{
    vyre_lock_acquire(&device->lock);
    *out_calibration = device->costs.calibration;
    vyre_lock_release(&device->lock);
}
