/*
 * knowledge.c: moves what a device knows to a store and back.
 */
#include <stdio.h>
#include <string.h>

#include <vyre/knowledge.h>

#include "base/memory.h"
#include "base/sort.h"
#include "runtime/calibration_age.h"
#include "runtime/internal.h"
#include "runtime/refusal_text.h"
#include "runtime/samples.h"

/* A learning's mode and variant are one number in the store. */
#define VARIANT_SHIFT 8

/* ---- Signatures ------------------------------------------------------------------------------- */

void vyre_device_describe(const struct vyre_device_info *info, uint32_t workers,
                          struct vyre_store_device *out_description)
{
    struct vyre_store_device *out = out_description;
    memset(out, 0, sizeof *out);
    snprintf(out->backend, sizeof out->backend, "%s", info->backend ? info->backend : "");
    snprintf(out->name, sizeof out->name, "%s", info->name);
    if (workers)
        snprintf(out->driver, sizeof out->driver, "%.100s, %u workers", info->driver, workers);
    else
        snprintf(out->driver, sizeof out->driver, "%s", info->driver);
    memcpy(out->uuid, info->uuid, sizeof out->uuid);
}

/* Costs measured with one number of workers say little about another. */
static void describe_costs(const struct vyre_device *device, struct vyre_store_device *out)
{
    vyre_device_describe(&device->facts.info, device->workers_asked, out);
}

/* The number of workers does not change what a driver compiles. */
static void describe_driver(const struct vyre_device *device, struct vyre_store_device *out)
{
    vyre_device_describe(&device->facts.info, 0, out);
}

/* ---- Costs ------------------------------------------------------------------------------------ */

static const struct vyre_store_cost *find_cost(const struct vyre_store_calibration *stored,
                                               const char *name)
{
    for (uint32_t i = 0; i < stored->cost_count; i++) {
        if (strcmp(stored->costs[i].name, name) == 0)
            return &stored->costs[i];
    }
    return NULL;
}

/* Costs that this version does not know are left out. The store keeps no confidence as such. */
static void read_costs(const struct vyre_store_calibration *stored, struct vyre_calibration *out)
{
    memset(out, 0, sizeof *out);
    out->taken_s = stored->taken_at > 0 ? (uint64_t)stored->taken_at : 0;
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        const struct vyre_store_cost *cost =
            find_cost(stored, vyre_cost_name((enum vyre_cost_id)i));
        if (!cost)
            continue;
        out->costs[i] = (struct vyre_cost){
            .known = true,
            .noisy = cost->noisy,
            .samples = cost->samples,
            .min_ns = cost->min_ns,
            .median_ns = cost->median_ns,
            .spread_ns = cost->spread_ns,
        };
        out->costs[i].confidence_ns = vyre_cost_interval_ns(&out->costs[i]);
    }
    out->noisy_runs = vyre_calibration_is_noisy(out) ? stored->noisy_runs : 0;
}

static void write_costs(const struct vyre_calibration *calibration,
                        struct vyre_store_calibration *out)
{
    memset(out, 0, sizeof *out);
    out->taken_at = (int64_t)calibration->taken_s;
    out->noisy_runs = calibration->noisy_runs;
    snprintf(out->tool, sizeof out->tool, "vyre %s", vyre_version_string());
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        const struct vyre_cost *cost = &calibration->costs[i];
        struct vyre_store_cost *stored = &out->costs[out->cost_count];
        if (!cost->known)
            continue;
        *stored = (struct vyre_store_cost){
            .min_ns = cost->min_ns,
            .median_ns = cost->median_ns,
            .spread_ns = cost->spread_ns,
            .samples = cost->samples,
            .noisy = cost->noisy,
        };
        snprintf(stored->name, sizeof stored->name, "%s", vyre_cost_name((enum vyre_cost_id)i));
        out->cost_count++;
    }
}

static enum vyre_status load_costs(struct vyre_device *device, struct vyre_store *store,
                                   struct vyre_knowledge *out, struct vyre_diag *diag)
{
    struct vyre_store_device described;
    struct vyre_store_calibration stored;
    struct vyre_diag reason;
    describe_costs(device, &described);
    enum vyre_status status = vyre_store_get_calibration(
        store, vyre_store_device_signature(&described), &stored, &reason);
    if (status == VYRE_NOT_FOUND)
        return VYRE_OK;
    if (status != VYRE_OK) {
        if (diag)
            *diag = reason;
        return status;
    }
    read_costs(&stored, &out->calibration);
    if (out->calibration.taken_s == 0 ||
        vyre_calibration_age_s(&out->calibration) > VYRE_CALIBRATION_AGE_MAX_S)
        out->costs = VYRE_STORED_COSTS_OLD;
    else if (vyre_device_set_calibration(device, &out->calibration, NULL) != VYRE_OK)
        out->costs = VYRE_STORED_COSTS_WRONG;
    else if (vyre_calibration_age_s(&out->calibration) >
             vyre_calibration_lifetime_s(&out->calibration))
        out->costs = VYRE_STORED_COSTS_DUE;
    else
        out->costs = VYRE_STORED_COSTS_LOADED;
    return VYRE_OK;
}

/* Noisy calibrations of earlier processes count too. */
static uint32_t count_runs(struct vyre_store *store, const struct vyre_store_device *described,
                           const struct vyre_calibration *taken)
{
    struct vyre_store_calibration stored;
    struct vyre_calibration last;
    if (vyre_store_get_calibration(store, vyre_store_device_signature(described), &stored, NULL) !=
        VYRE_OK)
        return taken->noisy_runs;
    read_costs(&stored, &last);
    uint32_t runs = vyre_calibration_count_runs(&last, taken);
    return runs > taken->noisy_runs ? runs : taken->noisy_runs;
}

static enum vyre_status save_costs(struct vyre_device *device, struct vyre_store *store,
                                   struct vyre_diag *diag)
{
    struct vyre_store_device described;
    struct vyre_store_calibration stored;
    struct vyre_calibration taken;
    struct vyre_hash128 signature;
    vyre_lock_acquire(&device->lock);
    bool is_own = device->costs.is_own;
    uint64_t number = device->costs.number;
    taken = device->costs.calibration;
    vyre_lock_release(&device->lock);
    if (!is_own)
        return VYRE_OK; /* the store may by now have newer costs than those loaded */
    describe_costs(device, &described);
    taken.noisy_runs = count_runs(store, &described, &taken);
    write_costs(&taken, &stored);
    enum vyre_status status = vyre_store_put_device(store, &described, &signature, diag);
    if (status == VYRE_OK)
        status = vyre_store_put_calibration(store, signature, &stored, diag);
    if (status != VYRE_OK)
        return status;
    vyre_lock_acquire(&device->lock);
    if (device->costs.number == number) {
        device->costs.is_own = false; /* the store has it now */
        device->costs.calibration.noisy_runs = taken.noisy_runs;
    }
    vyre_lock_release(&device->lock);
    return VYRE_OK;
}

/* ---- Lists ------------------------------------------------------------------------------------ */

/*
 * What a visit of the store, or of a device, collects. Its functions may not call the other of the
 * two, because they would take its lock while holding the first one's.
 */
struct list {
    const struct vyre_allocator *allocator;
    struct vyre_hash128 signature; /* of the device in question */
    void *items;                   /* Owned */
    size_t item_bytes;
    uint32_t count;
    uint32_t capacity;
    bool failed; /* out of memory */
};

static bool add(struct list *list, const void *item)
{
    void *grown = vyre_memory_grow(list->allocator, list->items, list->count, &list->capacity,
                                   list->item_bytes, _Alignof(max_align_t));
    list->failed = !grown;
    if (!grown)
        return false;
    list->items = grown;
    memcpy((unsigned char *)grown + list->count++ * list->item_bytes, item, list->item_bytes);
    return true;
}

static void deinit(struct list *list)
{
    vyre_memory_free(list->allocator, list->items, list->capacity * list->item_bytes,
                     _Alignof(max_align_t));
}

static enum vyre_status out_of_memory(const struct vyre_device *device, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                         "no memory for what a device knows");
}

/* ---- Learnings -------------------------------------------------------------------------------- */

static bool on_stored_learning(void *user, struct vyre_hash128 device,
                               const struct vyre_store_learning *stored,
                               const struct vyre_store_heat *heat)
{
    struct list *list = user;
    (void)heat;
    return !vyre_hash128_equal(device, list->signature) || add(list, stored);
}

static enum vyre_status load_learnings(struct vyre_device *device, struct vyre_store *store,
                                       struct vyre_knowledge *out, struct vyre_diag *diag)
{
    struct vyre_store_device described;
    describe_costs(device, &described);
    struct list list = {.allocator = &device->allocator,
                        .signature = vyre_store_device_signature(&described),
                        .item_bytes = sizeof(struct vyre_store_learning)};
    const struct vyre_store_visitor visitor = {.user = &list, .learning = on_stored_learning};
    enum vyre_status status = vyre_store_visit(store, &visitor, diag);
    if (status == VYRE_OK && list.failed)
        status = out_of_memory(device, diag);
    const struct vyre_store_learning *stored = list.items;
    for (uint32_t i = 0; i < list.count; i++) {
        const struct vyre_learning learning = {
            .shape = stored[i].shape,
            .mode = (enum vyre_mode)(stored[i].candidate & ((1u << VARIANT_SHIFT) - 1)),
            .variant = stored[i].candidate >> VARIANT_SHIFT,
            .mean_ns = stored[i].mean_ns,
            .count = stored[i].count,
        };
        /* A learning that the device does not accept is ignored. */
        out->learning_count += vyre_device_import_learning(device, &learning, NULL) == VYRE_OK;
    }
    deinit(&list);
    return status;
}

static bool on_learned(void *user, const struct vyre_learning *learning)
{
    const struct vyre_store_learning learned = {
        .shape = learning->shape,
        .candidate = (uint32_t)learning->mode | learning->variant << VARIANT_SHIFT,
        .count = learning->count,
        .mean_ns = learning->mean_ns,
    };
    return add(user, &learned);
}

/* By shape, then by candidate; the one with the most measurements first. */
static int compare_learnings(const void *left, const void *right)
{
    const struct vyre_store_learning *a = left;
    const struct vyre_store_learning *b = right;
    if (a->shape.hi != b->shape.hi)
        return a->shape.hi < b->shape.hi ? -1 : 1;
    if (a->shape.lo != b->shape.lo)
        return a->shape.lo < b->shape.lo ? -1 : 1;
    if (a->candidate != b->candidate)
        return a->candidate < b->candidate ? -1 : 1;
    return (a->count < b->count) - (a->count > b->count);
}

/* Whether the store has a better-founded learning of the same shape and candidate. */
static bool is_known_better(struct vyre_store *store, struct vyre_hash128 device,
                            const struct vyre_store_learning *learning)
{
    struct vyre_store_learning known[VYRE_CANDIDATES_MAX];
    size_t count = 0;
    if (learning->count >= VYRE_LEARNING_COUNT_MIN ||
        vyre_store_get_learnings(store, device, learning->shape, known, VYRE_CANDIDATES_MAX, &count,
                                 NULL) != VYRE_OK)
        return false;
    for (size_t i = 0; i < count && i < VYRE_CANDIDATES_MAX; i++) {
        if (known[i].candidate == learning->candidate && known[i].count > learning->count)
            return true;
    }
    return false;
}

/*
 * Moves what is worth keeping to the front and returns how much there is. A mode that was tried
 * once and dropped is worth keeping if another mode of the shape is well founded: it need not be
 * tried again.
 */
static uint32_t select_learnings(const struct list *list, struct vyre_store *store)
{
    struct vyre_store_learning *items = list->items;
    uint32_t kept = 0;
    for (uint32_t first = 0, next; first < list->count; first = next) {
        bool founded = false;
        for (next = first;
             next < list->count && vyre_hash128_equal(items[next].shape, items[first].shape);
             next++)
            founded = founded || items[next].count >= VYRE_LEARNING_COUNT_MIN;
        for (uint32_t i = first; founded && i < next; i++) {
            bool again = i > first && items[i].candidate == items[i - 1].candidate;
            if (!again && !is_known_better(store, list->signature, &items[i]))
                items[kept++] = items[i];
        }
    }
    return kept;
}

static enum vyre_status save_learnings(struct vyre_device *device, struct vyre_store *store,
                                       struct vyre_diag *diag)
{
    struct vyre_store_device described;
    struct vyre_hash128 signature;
    describe_costs(device, &described);
    struct list list = {.allocator = &device->allocator,
                        .signature = vyre_store_device_signature(&described),
                        .item_bytes = sizeof(struct vyre_store_learning)};
    (void)vyre_device_export_learnings(device, on_learned, &list);
    vyre_sort(list.items, list.count, list.item_bytes, compare_learnings);
    uint32_t kept = select_learnings(&list, store);
    enum vyre_status status = list.failed ? out_of_memory(device, diag) : VYRE_OK;
    if (status == VYRE_OK && kept > 0)
        status = vyre_store_put_device(store, &described, &signature, diag);
    if (status == VYRE_OK && kept > 0)
        status = vyre_store_put_learnings(store, signature, list.items, kept, diag);
    deinit(&list);
    return status;
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    struct list *list = user;
    struct vyre_refusal refusal;
    (void)heat;
    if (!matches_checksum || !vyre_hash128_equal(entry->device, list->signature) ||
        !vyre_refusal_read(entry, &refusal))
        return true;
    return add(list, &refusal) && list->count < VYRE_REFUSALS_MAX;
}

static enum vyre_status load_refusals(struct vyre_device *device, struct vyre_store *store,
                                      struct vyre_knowledge *out, struct vyre_diag *diag)
{
    struct vyre_store_device driver;
    describe_driver(device, &driver);
    struct list list = {.allocator = &device->allocator,
                        .signature = vyre_store_device_signature(&driver),
                        .item_bytes = sizeof(struct vyre_refusal)};
    const struct vyre_store_visitor visitor = {.user = &list, .entry = on_entry};
    enum vyre_status status = vyre_store_visit(store, &visitor, diag);
    if (status == VYRE_OK && list.failed)
        status = out_of_memory(device, diag);
    const struct vyre_refusal *refusals = list.items;
    /* If the device has no memory for a refusal, a check will find it again. */
    for (uint32_t i = 0; i < list.count; i++)
        out->refusal_count += vyre_device_import_refusal(device, &refusals[i], NULL) == VYRE_OK;
    deinit(&list);
    return status;
}

/* Whether the store has a refusal of the code. */
static bool is_stored(struct vyre_store *store, struct vyre_hash128 signature,
                      struct vyre_hash128 code)
{
    char text[VYRE_REFUSAL_TEXT_BYTES];
    struct vyre_store_entry entry;
    struct vyre_refusal refusal;
    if (vyre_store_get_entry(store, VYRE_STORE_TUNING, signature, code, text, sizeof text, &entry,
                             NULL) != VYRE_OK)
        return false;
    entry.bytes = text;
    return vyre_refusal_read(&entry, &refusal);
}

static enum vyre_status put_refusals(struct vyre_store *store,
                                     const struct vyre_store_device *driver,
                                     const struct vyre_refusal *refusals, size_t count,
                                     struct vyre_diag *diag)
{
    struct vyre_hash128 signature = vyre_store_device_signature(driver);
    enum vyre_status status = VYRE_OK;
    bool is_first = true;
    for (size_t i = 0; status == VYRE_OK && i < count; i++) {
        char text[VYRE_REFUSAL_TEXT_BYTES];
        if (is_stored(store, signature, refusals[i].code))
            continue;
        const struct vyre_store_entry entry = {
            .kind = VYRE_STORE_TUNING,
            .device = signature,
            .key = refusals[i].code,
            .bytes = text,
            .size_bytes = vyre_refusal_write(&refusals[i], text),
        };
        if (is_first)
            status = vyre_store_put_device(store, driver, &signature, diag);
        is_first = false;
        if (status == VYRE_OK)
            status = vyre_store_put_entry(store, &entry, diag);
    }
    return status;
}

static enum vyre_status save_refusals(struct vyre_device *device, struct vyre_store *store,
                                      struct vyre_diag *diag)
{
    struct vyre_store_device driver;
    const size_t bytes = VYRE_REFUSALS_MAX * sizeof(struct vyre_refusal);
    if (vyre_device_refusals(device, NULL, 0) == 0)
        return VYRE_OK;
    struct vyre_refusal *refusals =
        vyre_memory_allocate(&device->allocator, bytes, _Alignof(struct vyre_refusal));
    if (!refusals)
        return out_of_memory(device, diag);
    size_t count = vyre_device_refusals(device, refusals, VYRE_REFUSALS_MAX);
    describe_driver(device, &driver);
    enum vyre_status status = put_refusals(
        store, &driver, refusals, count < VYRE_REFUSALS_MAX ? count : VYRE_REFUSALS_MAX, diag);
    vyre_memory_free(&device->allocator, refusals, bytes, _Alignof(struct vyre_refusal));
    return status;
}

/* ---- All of it -------------------------------------------------------------------------------- */

static enum vyre_status check_parts(const struct vyre_device *device, uint32_t parts,
                                    struct vyre_diag *diag)
{
    if ((parts & ~VYRE_KNOWS_ALL) == 0)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                         "there is no part 0x%x of what a device knows", parts & ~VYRE_KNOWS_ALL);
}

/* The parts are independent: all are tried, and the first failure is returned. */
static void note(enum vyre_status part, enum vyre_status *inout_status,
                 struct vyre_diag **inout_diag)
{
    if (part == VYRE_OK || *inout_status != VYRE_OK)
        return;
    *inout_status = part;
    *inout_diag = NULL;
}

enum vyre_status vyre_device_load(struct vyre_device *device, struct vyre_store *store,
                                  uint32_t parts, struct vyre_knowledge *out_knowledge,
                                  struct vyre_diag *diag)
{
    struct vyre_knowledge found = {.costs = VYRE_STORED_COSTS_NONE};
    enum vyre_status status = check_parts(device, parts, diag);
    if (status == VYRE_OK) {
        if (parts & VYRE_KNOWS_REFUSALS)
            note(load_refusals(device, store, &found, diag), &status, &diag);
        if (parts & VYRE_KNOWS_LEARNINGS)
            note(load_learnings(device, store, &found, diag), &status, &diag);
        if (parts & VYRE_KNOWS_CALIBRATION)
            note(load_costs(device, store, &found, diag), &status, &diag);
    }
    if (out_knowledge)
        *out_knowledge = found;
    return status;
}

enum vyre_status vyre_device_save(struct vyre_device *device, struct vyre_store *store,
                                  uint32_t parts, struct vyre_diag *diag)
{
    enum vyre_status status = check_parts(device, parts, diag);
    if (status != VYRE_OK)
        return status;
    if (parts & VYRE_KNOWS_REFUSALS)
        note(save_refusals(device, store, diag), &status, &diag);
    if (parts & VYRE_KNOWS_CALIBRATION)
        note(save_costs(device, store, diag), &status, &diag);
    if (parts & VYRE_KNOWS_LEARNINGS)
        note(save_learnings(device, store, diag), &status, &diag);
    return status;
}
