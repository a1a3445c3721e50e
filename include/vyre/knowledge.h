/*
 * knowledge.h: what a device knows, kept in a store for the next process.
 *
 * Words
 *   calibration  the costs that were measured on the device
 *   learnings    what batches of templates took (learning.h)
 *   refusals     generated code that gave wrong bytes (proof.h)
 *
 * A program loads after it has opened a device and saves before it closes it:
 *
 *     if (vyre_store_open(&desc, &store, &diag) != VYRE_OK ||
 *         vyre_device_load(device, store, VYRE_KNOWS_ALL, &knowledge, &diag) != VYRE_OK)
 *         ... say why, and go on without: only time is lost ...
 *     ... work ...
 *     if (store && vyre_device_save(device, store, VYRE_KNOWS_ALL, &diag) != VYRE_OK)
 *         ... say why ...
 *     vyre_store_close(&store);
 *
 * Costs and learnings belong to a device with its driver, and to the number of workers if the desc
 * chose one. Refusals belong to a device with its driver. With another version of the driver
 * nothing is found.
 *
 * The store is a cache: what cannot be read or written costs time, never a result.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_KNOWLEDGE_H
#define VYRE_KNOWLEDGE_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/calibration.h>
#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/proof.h>
#include <vyre/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to load or save; combine with |. */
enum vyre_knows {
    VYRE_KNOWS_CALIBRATION = 1, /* measured costs */
    VYRE_KNOWS_LEARNINGS = 2,   /* what batches took */
    VYRE_KNOWS_REFUSALS = 4,    /* generated code that gave wrong bytes */
};
/* All parts. */
#define VYRE_KNOWS_ALL 7u

/* Costs change with the system: older ones than this, in seconds, are not loaded. */
#define VYRE_CALIBRATION_AGE_MAX_S (UINT64_C(7) * 24 * 3600)

/* Noisy costs are due to be measured again after this many seconds: vyre_calibration_lifetime_s. */
#define VYRE_CALIBRATION_NOISY_AGE_MAX_S UINT64_C(600)

/* A shape is saved once one of its modes was measured this often. */
#define VYRE_LEARNING_COUNT_MIN 8

/* What became of the costs in the store. */
enum vyre_stored_costs {
    VYRE_STORED_COSTS_NONE = 0,   /* the store has none of this device */
    VYRE_STORED_COSTS_OLD = 1,    /* more than 7 days old */
    VYRE_STORED_COSTS_WRONG = 2,  /* no times: the device does not take them */
    VYRE_STORED_COSTS_LOADED = 3, /* auto decides by them */
    VYRE_STORED_COSTS_DUE = 4,    /* the same, until the program measures again: they are noisy */
};

/* What load found. */
struct vyre_knowledge {
    enum vyre_stored_costs costs;
    struct vyre_calibration calibration; /* as stored, loaded or not; zeroed: none */
    uint64_t learning_count;             /* taken in */
    uint64_t refusal_count;
};

/*
 * Gives the device what the store knows of it, and writes nothing. Costs replace those that the
 * device has, also those that it measured. `parts` has bits of enum vyre_knows. All parts are
 * tried, and the first failure is returned. `out_knowledge` may be NULL; `store` may not.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_load(struct vyre_device *device,
                                                          struct vyre_store *store, uint32_t parts,
                                                          struct vyre_knowledge *out_knowledge,
                                                          struct vyre_diag *diag);

/*
 * Puts into the store what the device has found out: costs that it measured and did not save yet,
 * learnings, and refusals that the store lacks. A learning of fewer than 8 measurements does not
 * replace one that has more. A part that has nothing new is not written. `parts` has bits of enum
 * vyre_knows. All parts are tried, and the first failure is returned. `store` may not be NULL.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_save(struct vyre_device *device,
                                                          struct vyre_store *store, uint32_t parts,
                                                          struct vyre_diag *diag);

/*
 * The description under which a store has the costs and learnings of a device. `workers` is the
 * cpu_workers of the desc that vyre_device_open received, not that of vyre_device_get_desc. With 0,
 * not chosen, it is also the description under which refusals are kept.
 */
VYRE_API void vyre_device_describe(const struct vyre_device_info *info, uint32_t workers,
                                   struct vyre_store_device *out_description);

/*
 * Whether an entry of a store, with its bytes, is a refusal; if so, *out_refusal is that refusal.
 */
VYRE_API bool vyre_refusal_read(const struct vyre_store_entry *entry,
                                struct vyre_refusal *out_refusal);

/* Seconds since the calibration was taken; 0 when the clock was set back since. */
VYRE_API uint64_t vyre_calibration_age_s(const struct vyre_calibration *calibration);

/*
 * The age in seconds at which the calibration is due to be measured again. 7 days; if a figure that
 * auto decides by is noisy, 10 minutes, and twice as long after each calibration in a row that was
 * noisy too, up to 7 days.
 */
VYRE_API uint64_t vyre_calibration_lifetime_s(const struct vyre_calibration *calibration);

#ifdef __cplusplus
}
#endif

#endif
