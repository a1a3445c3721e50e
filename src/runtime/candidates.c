/*
 * candidates.c: the ways in which a device can run a batch, and what each costs.
 */
#include "runtime/candidates.h"

#include "runtime/samples.h"

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

bool vyre_candidates_use(enum vyre_cost_id id)
{
    return id >= VYRE_COST_PLAIN_BATCH && id <= VYRE_COST_PERSISTENT_COMMAND;
}

bool vyre_candidates_take_stated(const struct vyre_cost *cost, double stated_ns)
{
    return !cost->known || (stated_ns > 0.0 && stated_ns < vyre_cost_bound_ns(cost));
}

/* Fills one cost with its error. `stated_ns` is 0 if the backend states none. */
static void price(const struct vyre_calibration *calibration, enum vyre_cost_id id,
                  double stated_ns, double *out_cost_ns, double *out_error_ns)
{
    const struct vyre_cost *cost = &calibration->costs[id];
    double bound_ns = vyre_cost_bound_ns(cost);
    if (vyre_candidates_take_stated(cost, stated_ns))
        *out_cost_ns = stated_ns;
    else
        *out_cost_ns = bound_ns > 0.0 ? bound_ns : cost->median_ns;
    *out_error_ns = cost->known ? vyre_cost_error_ns(cost) : stated_ns;
}

static void price_plain(const struct vyre_launch_costs *stated,
                        const struct vyre_calibration *calibration,
                        struct vyre_candidate_costs *costs, struct vyre_candidate_costs *errors)
{
    double command = (double)(stated->plain_command_ns + stated->plan_command_ns);
    price(calibration, VYRE_COST_PLAIN_BATCH, COMMANDS_IN_A_BATCH * command, &costs->batch_ns,
          &errors->batch_ns);
    price(calibration, VYRE_COST_PLAIN_COMMAND, command, &costs->command_ns, &errors->command_ns);
}

static void price_replay(const struct vyre_launch_costs *stated,
                         const struct vyre_calibration *calibration, enum vyre_cost_id record_batch,
                         bool bakes, struct vyre_candidate_costs *costs,
                         struct vyre_candidate_costs *errors)
{
    double command = (double)stated->replay_command_ns;
    double record = (double)stated->record_command_ns;
    const enum vyre_cost_id record_command = (enum vyre_cost_id)(record_batch + 1);
    const enum vyre_cost_id replay_batch = (enum vyre_cost_id)(record_batch + 2);
    const enum vyre_cost_id replay_command = (enum vyre_cost_id)(record_batch + 3);
    const enum vyre_cost_id update = (enum vyre_cost_id)(record_batch + 4);
    price(calibration, record_batch, record, &costs->fixed_batch_ns, &errors->fixed_batch_ns);
    price(calibration, record_command, record, &costs->fixed_command_ns, &errors->fixed_command_ns);
    price(calibration, replay_batch, COMMANDS_IN_A_BATCH * command, &costs->batch_ns,
          &errors->batch_ns);
    price(calibration, replay_command, command, &costs->command_ns, &errors->command_ns);
    price(calibration, update, bakes ? record : 0.0, &costs->update_ns, &errors->update_ns);
}

static void price_persistent(const struct vyre_launch_costs *stated,
                             const struct vyre_calibration *calibration,
                             struct vyre_candidate_costs *costs,
                             struct vyre_candidate_costs *errors)
{
    double command = (double)stated->replay_command_ns;
    price(calibration, VYRE_COST_PERSISTENT_SETUP, (double)stated->persistent_setup_ns,
          &costs->fixed_batch_ns, &errors->fixed_batch_ns);
    price(calibration, VYRE_COST_PERSISTENT_BATCH, COMMANDS_IN_A_BATCH * command, &costs->batch_ns,
          &errors->batch_ns);
    price(calibration, VYRE_COST_PERSISTENT_COMMAND, command, &costs->command_ns,
          &errors->command_ns);
}

void vyre_candidates_price(struct vyre_candidates *candidates,
                           const struct vyre_device_facts *facts,
                           const struct vyre_calibration *calibration)
{
    for (uint32_t i = 0; i < candidates->count; i++) {
        bool driver = candidates->list[i].variant & VYRE_VARIANT_DRIVER;
        uint32_t bakes = driver ? facts->driver_bakes : facts->bakes;
        struct vyre_candidate_costs costs = {0};
        struct vyre_candidate_costs errors = {0};
        if (candidates->list[i].mode == VYRE_MODE_PLAIN)
            price_plain(&facts->costs, calibration, &costs, &errors);
        else if (candidates->list[i].mode == VYRE_MODE_REPLAY)
            price_replay(&facts->costs, calibration,
                         driver ? VYRE_COST_DRIVER_RECORD_BATCH : VYRE_COST_RECORD_BATCH,
                         bakes & VYRE_BAKES_CONSTANTS, &costs, &errors);
        else
            price_persistent(&facts->costs, calibration, &costs, &errors);
        candidates->list[i].costs = costs;
        candidates->list[i].errors = errors;
    }
}
