/*
 * candidates.c: the ways in which a device can run a batch, and what each costs.
 */
#include "runtime/candidates.h"

/* Until a device is calibrated, a batch is assumed to cost as much as this many of its commands. */
#define COMMANDS_IN_A_BATCH 2

static void add(struct vyre_candidates *candidates, enum vyre_mode mode, uint32_t variant)
{
    if (candidates->count < VYRE_CANDIDATES_MAX)
        candidates->list[candidates->count++] =
            (struct vyre_candidate){.mode = mode, .variant = variant};
}

void vyre_candidates_init(struct vyre_candidates *candidates, const struct vyre_device_facts *facts)
{
    candidates->count = 0;
    for (int mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++) {
        uint32_t offered = facts->variants[mode];
        for (uint32_t variant = 0; variant <= VYRE_VARIANT_MASK; variant++) {
            if ((variant & ~offered) == 0)
                add(candidates, (enum vyre_mode)mode, variant);
        }
    }
}

static double known(const struct vyre_calibration *calibration, enum vyre_cost_id id, double other)
{
    const struct vyre_cost *cost = &calibration->costs[id];
    return cost->known ? cost->median_ns : other;
}

static struct vyre_candidate_costs price_plain(const struct vyre_launch_costs *stated,
                                               const struct vyre_calibration *calibration)
{
    double command = (double)(stated->plain_command_ns + stated->plan_command_ns);
    return (struct vyre_candidate_costs){
        .batch_ns = known(calibration, VYRE_COST_PLAIN_BATCH, COMMANDS_IN_A_BATCH * command),
        .command_ns = known(calibration, VYRE_COST_PLAIN_COMMAND, command),
    };
}

static struct vyre_candidate_costs price_replay(const struct vyre_launch_costs *stated,
                                                const struct vyre_calibration *calibration,
                                                enum vyre_cost_id record_batch, bool bakes)
{
    double command = (double)stated->replay_command_ns;
    double record = (double)stated->record_command_ns;
    const enum vyre_cost_id record_command = (enum vyre_cost_id)(record_batch + 1);
    const enum vyre_cost_id replay_batch = (enum vyre_cost_id)(record_batch + 2);
    const enum vyre_cost_id replay_command = (enum vyre_cost_id)(record_batch + 3);
    const enum vyre_cost_id update = (enum vyre_cost_id)(record_batch + 4);
    return (struct vyre_candidate_costs){
        .fixed_batch_ns = known(calibration, record_batch, record),
        .fixed_command_ns = known(calibration, record_command, record),
        .batch_ns = known(calibration, replay_batch, COMMANDS_IN_A_BATCH * command),
        .command_ns = known(calibration, replay_command, command),
        .update_ns = known(calibration, update, bakes ? record : 0.0),
    };
}

static struct vyre_candidate_costs price_persistent(const struct vyre_launch_costs *stated,
                                                    const struct vyre_calibration *calibration)
{
    double command = (double)stated->replay_command_ns;
    return (struct vyre_candidate_costs){
        .fixed_batch_ns =
            known(calibration, VYRE_COST_PERSISTENT_SETUP, (double)stated->persistent_setup_ns),
        .batch_ns = known(calibration, VYRE_COST_PERSISTENT_BATCH, COMMANDS_IN_A_BATCH * command),
        .command_ns = known(calibration, VYRE_COST_PERSISTENT_COMMAND, command),
    };
}

void vyre_candidates_price(struct vyre_candidates *candidates,
                           const struct vyre_device_facts *facts,
                           const struct vyre_calibration *calibration)
{
    for (uint32_t i = 0; i < candidates->count; i++) {
        bool driver = candidates->list[i].variant & VYRE_VARIANT_DRIVER;
        uint32_t bakes = driver ? facts->driver_bakes : facts->bakes;
        struct vyre_candidate_costs *costs = &candidates->list[i].costs;
        if (candidates->list[i].mode == VYRE_MODE_PLAIN)
            *costs = price_plain(&facts->costs, calibration);
        else if (candidates->list[i].mode == VYRE_MODE_REPLAY)
            *costs = price_replay(&facts->costs, calibration,
                                  driver ? VYRE_COST_DRIVER_RECORD_BATCH : VYRE_COST_RECORD_BATCH,
                                  bakes & VYRE_BAKES_CONSTANTS);
        else
            *costs = price_persistent(&facts->costs, calibration);
    }
}
