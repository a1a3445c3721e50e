/*
 * recorder_lines.c: the lines of a record.
 */
#include "observe/recorder_lines.h"

#include <stdbool.h>
#include <string.h>

#include <vyre/version.h>

typedef struct vyre_record_text line_text;

/* ---- Pieces ------------------------------------------------------------------------------------ */

static void begin_object(line_text *line, const char *type, uint32_t device)
{
    vyre_record_text_append(line, "{\"type\":\"");
    vyre_record_text_append(line, type);
    vyre_record_text_char(line, '"');
    if (device > 0)
        vyre_record_text_member(line, "device", device);
}

static void end_object(line_text *line)
{
    vyre_record_text_append(line, "},\n");
}

static void member_i64(line_text *line, const char *key, int64_t value)
{
    vyre_record_text_append(line, ",\"");
    vyre_record_text_append(line, key);
    vyre_record_text_append(line, "\":");
    vyre_record_text_i64(line, value);
}

static void member_string(line_text *line, const char *key, const char *value)
{
    vyre_record_text_append(line, ",\"");
    vyre_record_text_append(line, key);
    vyre_record_text_append(line, "\":");
    vyre_record_text_string(line, value);
}

/* A moment relative to the start of the record. */
static void moment(line_text *line, uint64_t start_ns, uint64_t time_ns)
{
    if (time_ns == 0)
        vyre_record_text_append(line, "null");
    else
        vyre_record_text_i64(line, (int64_t)(time_ns - start_ns));
}

static void member_moment(line_text *line, const char *key, uint64_t start_ns, uint64_t time_ns)
{
    vyre_record_text_append(line, ",\"");
    vyre_record_text_append(line, key);
    vyre_record_text_append(line, "\":");
    moment(line, start_ns, time_ns);
}

static void numbers(line_text *line, const uint64_t *values, size_t count)
{
    vyre_record_text_char(line, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            vyre_record_text_char(line, ',');
        vyre_record_text_u64(line, values[i]);
    }
    vyre_record_text_char(line, ']');
}

static void member_numbers(line_text *line, const char *key, const uint64_t *values, size_t count)
{
    vyre_record_text_append(line, ",\"");
    vyre_record_text_append(line, key);
    vyre_record_text_append(line, "\":");
    numbers(line, values, count);
}

/* ---- Head and end ------------------------------------------------------------------------------ */

/* A list of names, each from a function of the number. */
#define NAMES(line, key, count, type, name_of)                      \
    do {                                                            \
        vyre_record_text_append((line), (key));                     \
        for (unsigned number = 0; number < (count); number++) {     \
            if (number > 0)                                         \
                vyre_record_text_char((line), ',');                 \
            vyre_record_text_string((line), name_of((type)number)); \
        }                                                           \
        vyre_record_text_char((line), ']');                         \
    } while (0)

static void head_names(line_text *line)
{
    NAMES(line, "\"names\":{\"mode\":[", VYRE_MODE_COUNT, enum vyre_mode, vyre_mode_name);
    NAMES(line, ",\"why\":[", VYRE_WHY_COUNT, enum vyre_why, vyre_why_name);
    NAMES(line, ",\"evidence\":[", VYRE_EVIDENCE_COUNT, enum vyre_evidence, vyre_evidence_name);
    NAMES(line, ",\"status\":[", VYRE_STATUS_COUNT, enum vyre_status, vyre_status_name);
    NAMES(line, ",\"command\":[", VYRE_COMMAND_TYPE_COUNT, enum vyre_command_type,
          vyre_command_type_name);
    NAMES(line, ",\"ability\":[", VYRE_ABILITY_COUNT, enum vyre_ability_id, vyre_ability_name);
    NAMES(line, ",\"cost\":[", VYRE_COST_COUNT, enum vyre_cost_id, vyre_cost_name);
    vyre_record_text_append(line, ",\"state\":[\"out\",\"predicted\",\"measured\"]"
                                  ",\"variant\":[\"serial\",\"driver\"]},\n");
}

void vyre_record_line_head(struct vyre_record_text *line, uint64_t start_ns, uint64_t start_unix_ns,
                           uint64_t limit_bytes)
{
    vyre_record_text_append(line, "{\"vyre_record\":2,\"vyre\":");
    vyre_record_text_string(line, vyre_version_string());
    vyre_record_text_member(line, "start_ns", start_ns);
    vyre_record_text_member(line, "start_unix_ns", start_unix_ns);
    vyre_record_text_member(line, "limit_bytes", limit_bytes);
    vyre_record_text_append(
        line, ",\n\"columns\":{\"batch\":[\"device\",\"sequence\",\"label\",\"status\",\"mode\","
              "\"variant\",\"why\",\"settled\",\"decision\",\"shape\",\"repeat_hint\","
              "\"repeats_seen\",\"predicted_ns\",\"wall_ns\",\"saved_ns\",\"submit_begin_ns\","
              "\"submit_ns\",\"device_begin_ns\",\"device_ns\",\"complete_ns\",\"commands\","
              "\"copied_bytes\",\"kernels\",\"candidates\",\"wanted\",\"wanted_variant\","
              "\"wanted_out\",\"evidence\"],"
              "\"kernel\":[\"label\",\"dispatches\"],"
              "\"candidate\":[\"mode\",\"variant\",\"state\",\"why\",\"predicted_ns\","
              "\"measured_ns\",\"count\",\"windows\",\"error_bps\",\"look_at\"],"
              "\"cost\":[\"known\",\"noisy\",\"samples\",\"min_ns\",\"median_ns\",\"spread_ns\","
              "\"confidence_ns\"],"
              "\"ability\":[\"value\",\"reason\"],"
              "\"persistent_kernel\":[\"batch_size\",\"per_launch_overhead_ns\","
              "\"per_item_kernel_ns\",\"persistent_setup_overhead_ns\"],"
              "\"command_reuse\":[\"per_launch_overhead_ns\",\"record_overhead_ns\","
              "\"replay_overhead_ns\"],"
              "\"bindless\":[\"resource_count\",\"support\",\"dynamic_indexing\"],"
              "\"trace_jit\":[\"shader_hit_count\",\"prediction_confidence_bps\","
              "\"speculative_spec_cost_ns\",\"miss_cost_ns\"]},\n");
    head_names(line);
    vyre_record_text_append(line, "\"records\":[\n");
}

void vyre_record_line_end(struct vyre_record_text *line, const struct vyre_record_totals *totals,
                          uint64_t time_ns, int is_closed)
{
    begin_object(line, "end", 0);
    vyre_record_text_append(line, is_closed ? ",\"closed\":true" : ",\"closed\":false");
    vyre_record_text_member(line, "time_ns", time_ns);
    vyre_record_text_member(line, "batches_seen", totals->counters.batches_seen);
    vyre_record_text_member(line, "batches_kept", totals->counters.batches_kept);
    vyre_record_text_member(line, "stride", totals->counters.stride);
    vyre_record_text_member(line, "events_seen", totals->counters.events_seen);
    vyre_record_text_member(line, "events_kept", totals->counters.events_kept);
    vyre_record_text_member(line, "labels_dropped", totals->labels_dropped);
    member_numbers(line, "by_mode", totals->by_mode, VYRE_MODE_COUNT);
    member_numbers(line, "by_why", totals->by_why, VYRE_WHY_COUNT);
    member_numbers(line, "by_status", totals->by_status, VYRE_STATUS_COUNT);
    member_numbers(line, "commands", totals->commands, VYRE_COMMAND_TYPE_COUNT);
    vyre_record_text_member(line, "copied_bytes", totals->copied_bytes);
    vyre_record_text_member(line, "submit_ns", totals->submit_ns);
    vyre_record_text_member(line, "device_ns", totals->device_ns);
    vyre_record_text_member(line, "wall_ns", totals->wall_ns);
    member_i64(line, "saved_ns", totals->saved_ns);
    vyre_record_text_append(line, "}\n]}\n");
}

/* ---- Everything except batches ----------------------------------------------------------------- */

void vyre_record_line_label(struct vyre_record_text *line, uint32_t number, const char *label)
{
    begin_object(line, "label", 0);
    vyre_record_text_member(line, "label", number);
    member_string(line, "text", label);
    end_object(line);
}

/* Costs are whole ns: fractions are far below the clock's resolution. */
static uint64_t whole(double ns)
{
    return ns >= 0.5 && ns < 9e18 ? (uint64_t)(ns + 0.5) : 0;
}

static void costs(line_text *line, const struct vyre_calibration *calibration)
{
    vyre_record_text_append(line, ",\"calibration\":{\"taken_s\":");
    vyre_record_text_u64(line, calibration->taken_s);
    vyre_record_text_member(line, "took_ns", calibration->took_ns);
    vyre_record_text_append(line, ",\"costs\":[");
    for (size_t i = 0; i < VYRE_COST_COUNT; i++) {
        const struct vyre_cost *cost = &calibration->costs[i];
        const uint64_t row[] = {cost->known,
                                cost->noisy,
                                cost->samples,
                                whole(cost->min_ns),
                                whole(cost->median_ns),
                                whole(cost->spread_ns),
                                whole(cost->confidence_ns)};
        if (i > 0)
            vyre_record_text_char(line, ',');
        numbers(line, row, sizeof row / sizeof row[0]);
    }
    vyre_record_text_append(line, "]}");
}

static void identity(line_text *line, const struct vyre_device_info *info)
{
    static const char hex[] = "0123456789abcdef";
    member_string(line, "backend", info->backend);
    vyre_record_text_member(line, "index", info->index);
    member_string(line, "kind", vyre_device_kind_name(info->kind));
    member_string(line, "name", info->name);
    member_string(line, "driver", info->driver);
    vyre_record_text_append(line, ",\"uuid\":\"");
    for (size_t i = 0; i < VYRE_UUID_BYTES; i++) {
        vyre_record_text_char(line, hex[info->uuid[i] >> 4]);
        vyre_record_text_char(line, hex[info->uuid[i] & 15]);
    }
    vyre_record_text_char(line, '"');
}

void vyre_record_line_opened(struct vyre_record_text *line, uint32_t device, int64_t time_ns,
                             const struct vyre_event_device_opened *opened)
{
    begin_object(line, "device", device);
    member_i64(line, "time_ns", time_ns);
    member_string(line, "label", opened->label);
    if (opened->info)
        identity(line, opened->info);
    vyre_record_text_append(line, ",\"abilities\":[");
    size_t count = opened->abilities ? opened->ability_count : 0;
    for (size_t i = 0; i < count && i < VYRE_ABILITY_COUNT; i++) {
        vyre_record_text_append(line, i > 0 ? ",[" : "[");
        vyre_record_text_u64(line, opened->abilities[i].value);
        vyre_record_text_char(line, ',');
        vyre_record_text_string(line, opened->abilities[i].reason);
        vyre_record_text_char(line, ']');
    }
    vyre_record_text_char(line, ']');
    if (opened->calibration && opened->calibration->taken_s != 0)
        costs(line, opened->calibration);
    end_object(line);
}

void vyre_record_line_closed(struct vyre_record_text *line, uint32_t device, int64_t time_ns,
                             const struct vyre_event_device_closed *closed)
{
    const struct vyre_device_counters *counters = closed->counters;
    begin_object(line, "closed", device);
    member_i64(line, "time_ns", time_ns);
    if (counters) {
        vyre_record_text_member(line, "submitted", counters->submitted);
        vyre_record_text_member(line, "completed", counters->completed);
        vyre_record_text_member(line, "failed", counters->failed);
        member_numbers(line, "by_mode", counters->by_mode, VYRE_MODE_COUNT);
        vyre_record_text_member(line, "recordings_made", counters->recordings_made);
        vyre_record_text_member(line, "recordings_reused", counters->recordings_reused);
        vyre_record_text_member(line, "recordings_evicted", counters->recordings_evicted);
    }
    if (closed->decisions) {
        vyre_record_text_member(line, "decided", closed->decisions->decided);
        member_numbers(line, "by_why", closed->decisions->by_why, VYRE_WHY_COUNT);
    }
    end_object(line);
}

void vyre_record_line_calibrated(struct vyre_record_text *line, uint32_t device, int64_t time_ns,
                                 const struct vyre_event_calibrated *calibrated)
{
    begin_object(line, "calibrated", device);
    member_i64(line, "time_ns", time_ns);
    costs(line, calibrated->calibration);
    end_object(line);
}

void vyre_record_line_kernel(struct vyre_record_text *line, uint32_t device, uint32_t label,
                             uint64_t start_ns, const struct vyre_event_kernel_created *kernel)
{
    begin_object(line, "kernel", device);
    vyre_record_text_member(line, "label", label);
    member_moment(line, "begin_ns", start_ns, kernel->begin_ns);
    vyre_record_text_member(line, "compile_ns", kernel->compile_ns);
    end_object(line);
}

void vyre_record_line_lease(struct vyre_record_text *line, uint32_t device, uint64_t start_ns,
                            const struct vyre_event_lease *lease)
{
    begin_object(line, "lease", device);
    vyre_record_text_member(line, "lease", lease->lease);
    member_moment(line, "begin_ns", start_ns, lease->begin_ns);
    member_moment(line, "end_ns", start_ns, lease->end_ns);
    vyre_record_text_append(line, lease->is_derived ? ",\"derived\":true" : ",\"derived\":false");
    if (lease->why != VYRE_RESIDENCY_NONE)
        member_string(line, "why", vyre_residency_end_name((enum vyre_residency_end)lease->why));
    end_object(line);
}

void vyre_record_line_recording(struct vyre_record_text *line, uint32_t device, uint64_t start_ns,
                                int64_t time_ns, const struct vyre_event_recording *recording)
{
    begin_object(line, "recording", device);
    member_string(line, "change", recording->change == VYRE_RECORDING_EVICTED ? "evicted" : "made");
    member_i64(line, "time_ns", time_ns);
    vyre_record_text_append(line, ",\"shape\":");
    vyre_record_text_hash(line, recording->shape_hi, recording->shape_lo);
    vyre_record_text_member(line, "size_bytes", recording->size_of_recording_bytes);
    member_moment(line, "begin_ns", start_ns, recording->begin_ns);
    vyre_record_text_member(line, "record_ns", recording->record_ns);
    end_object(line);
}

static void origin(line_text *line, const char *key, enum vyre_origin of)
{
    vyre_record_text_append(line, key);
    vyre_record_text_string(line, vyre_origin_name(of));
}

void vyre_record_line_shape(struct vyre_record_text *line, uint32_t device,
                            const struct vyre_event_shape *shape)
{
    const struct vyre_explanation *said = shape->explanation;
    const struct vyre_persistent_kernel_input *resident = &said->persistent_kernel;
    const struct vyre_command_reuse_input *reuse = &said->command_reuse;
    const struct vyre_bindless_input *bindless = &said->bindless;
    const struct vyre_trace_jit_input *jit = &said->trace_jit;
    const uint64_t resident_row[] = {resident->batch_size, resident->per_launch_overhead_ns,
                                     resident->per_item_kernel_ns,
                                     resident->persistent_setup_overhead_ns};
    const uint64_t reuse_row[] = {reuse->per_launch_overhead_ns, reuse->record_overhead_ns,
                                  reuse->replay_overhead_ns};
    const uint64_t bindless_row[] = {bindless->resource_count, (uint64_t)bindless->support,
                                     bindless->dynamic_indexing};
    const uint64_t jit_row[] = {jit->shader_hit_count, jit->prediction_confidence_bps,
                                jit->speculative_spec_cost_ns, jit->miss_cost_ns};
    char arms[VYRE_VERDICT_TEXT_BYTES] = "", copy[VYRE_VERDICT_TEXT_BYTES] = "";
    vyre_arm_independence_format(&said->verdicts.arms, arms, sizeof arms);
    vyre_copy_overlap_format(&said->verdicts.copy, copy, sizeof copy);
    begin_object(line, "shape", device);
    vyre_record_text_append(line, ",\"shape\":");
    vyre_record_text_hash(line, shape->shape_hi, shape->shape_lo);
    member_numbers(line, "persistent_kernel", resident_row, 4);
    vyre_record_text_member(line, "arm_count", said->arm_count);
    member_string(line, "arms", arms);
    member_string(line, "copy", copy);
    member_numbers(line, "command_reuse", reuse_row, 3);
    member_numbers(line, "bindless", bindless_row, 3);
    member_numbers(line, "trace_jit", jit_row, 4);
    origin(line, ",\"origins\":{\"plain\":", said->plain_origin);
    origin(line, ",\"replay\":", said->replay_origin);
    origin(line, ",\"persistent\":", said->persistent_origin);
    vyre_record_text_char(line, '}');
    member_string(line, "unfit", said->unfit_reason);
    end_object(line);
}

/* ---- Batches ----------------------------------------------------------------------------------- */

uint64_t vyre_record_wall_ns(const struct vyre_event_batch_completed *batch)
{
    if (batch->decision && batch->decision->wall_ns != 0)
        return batch->decision->wall_ns;
    bool is_known = batch->submit_begin_ns != 0 && batch->complete_ns > batch->submit_begin_ns;
    return is_known ? batch->complete_ns - batch->submit_begin_ns : 0;
}

static inline void cell(line_text *line, uint64_t value)
{
    vyre_record_text_char(line, ',');
    vyre_record_text_u64(line, value);
}

static void cell_moment(line_text *line, uint64_t start_ns, uint64_t time_ns)
{
    vyre_record_text_char(line, ',');
    moment(line, start_ns, time_ns);
}

static void candidates(line_text *line, const struct vyre_decision_record *decision)
{
    uint32_t count = decision->settled ? 0 : decision->candidate_count;
    vyre_record_text_append(line, ",[");
    for (uint32_t i = 0; i < count && i < VYRE_CANDIDATES_MAX; i++) {
        const struct vyre_decision_candidate *candidate = &decision->candidates[i];
        if (i > 0)
            vyre_record_text_char(line, ',');
        vyre_record_text_char(line, '[');
        vyre_record_text_u64(line, candidate->mode);
        cell(line, candidate->variant);
        cell(line, candidate->state);
        cell(line, candidate->why);
        cell(line, candidate->predicted_ns);
        cell(line, candidate->measured_ns);
        cell(line, candidate->count);
        cell(line, candidate->windows);
        cell(line, candidate->error_bps);
        cell(line, candidate->look_at);
        vyre_record_text_char(line, ']');
    }
    vyre_record_text_char(line, ']');
}

static void decision_cells(line_text *line, const struct vyre_decision_record *decision,
                           uint64_t wall_ns)
{
    cell(line, decision->mode);
    cell(line, decision->variant);
    cell(line, decision->why);
    cell(line, decision->settled);
    cell(line, decision->sequence);
    vyre_record_text_char(line, ',');
    vyre_record_text_hash(line, decision->shape_hi, decision->shape_lo);
    cell(line, decision->repeat_hint);
    cell(line, decision->repeats_seen);
    cell(line, decision->predicted_ns);
    cell(line, wall_ns);
    vyre_record_text_char(line, ',');
    vyre_record_text_i64(line, decision->saved_vs_plain_ns);
}

void vyre_record_line_batch(struct vyre_record_text *line, const struct vyre_record_batch_ids *ids,
                            uint64_t start_ns, const struct vyre_event_batch_completed *batch)
{
    static const struct vyre_decision_record no_decision = {.settled = 1};
    const struct vyre_decision_record *decision = batch->decision ? batch->decision : &no_decision;
    vyre_record_text_char(line, '[');
    vyre_record_text_u64(line, ids->device);
    cell(line, batch->sequence);
    cell(line, ids->label);
    cell(line, (uint64_t)batch->status);
    decision_cells(line, decision, vyre_record_wall_ns(batch));
    cell_moment(line, start_ns, batch->submit_begin_ns);
    cell(line, batch->submit_ns);
    cell_moment(line, start_ns, batch->device_begin_ns);
    cell(line, batch->device_ns);
    cell_moment(line, start_ns, batch->complete_ns);
    for (size_t i = 0; i < VYRE_COMMAND_TYPE_COUNT; i++) {
        vyre_record_text_append(line, i == 0 ? ",[" : ",");
        vyre_record_text_u64(line, batch->commands[i]);
    }
    vyre_record_text_char(line, ']');
    cell(line, batch->copied_bytes);
    vyre_record_text_append(line, ",[");
    for (uint32_t i = 0; i < batch->kernel_count && i < VYRE_EVENT_KERNELS_MAX; i++) {
        vyre_record_text_append(line, i > 0 ? ",[" : "[");
        vyre_record_text_u64(line, ids->kernels[i]);
        cell(line, batch->kernels[i].dispatch_count);
        vyre_record_text_char(line, ']');
    }
    vyre_record_text_char(line, ']');
    candidates(line, decision);
    cell(line, decision->wanted);
    cell(line, decision->wanted_variant);
    cell(line, decision->wanted_out);
    cell(line, decision->evidence);
    vyre_record_text_append(line, "],\n");
}
