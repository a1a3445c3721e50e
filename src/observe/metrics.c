/*
 * metrics.c: the counters of devices in Prometheus' text format.
 */
#include <stddef.h>
#include <stdint.h>

#include <vyre/observer.h>

#include "base/text.h"

/* A metric with one value per device, at `offset` in struct vyre_metrics. */
struct metric {
    const char *name;
    const char *type;
    const char *help;
    size_t offset;
    size_t width; /* of the field: 4 or 8 */
};

#define METRIC(name, type, field, width, help)                        \
    {                                                                 \
        name, type, help, offsetof(struct vyre_metrics, field), width \
    }

static const struct metric metrics_table[] = {
    METRIC("vyre_batches_submitted_total", "counter", counters.submitted, 8, "Batches submitted."),
    METRIC("vyre_batches_completed_total", "counter", counters.completed, 8, "Batches completed."),
    METRIC("vyre_batches_failed_total", "counter", counters.failed, 8, "Batches that failed."),
    METRIC("vyre_recordings_made_total", "counter", counters.recordings_made, 8,
           "Recordings made."),
    METRIC("vyre_recordings_reused_total", "counter", counters.recordings_reused, 8,
           "Batches that reused a recording."),
    METRIC("vyre_recordings_evicted_total", "counter", counters.recordings_evicted, 8,
           "Recordings evicted."),
    METRIC("vyre_recordings", "gauge", counters.recordings_kept, 4, "Recordings kept."),
    METRIC("vyre_recording_bytes", "gauge", counters.recording_bytes, 8,
           "Memory of the recordings kept."),
    METRIC("vyre_buffer_bytes", "gauge", counters.memory_bytes, 8, "Memory of buffers alive."),
    METRIC("vyre_device_reserved_bytes", "gauge", memory.reserved_bytes, 8,
           "Memory that the device has taken from the driver."),
    METRIC("vyre_decisions_made_total", "counter", decisions.decided, 8, "Decisions made."),
    METRIC("vyre_decision_records_kept_total", "counter", decisions.kept, 8,
           "Decision records kept."),
    METRIC("vyre_decision_records_finished_total", "counter", decisions.finished, 8,
           "Decision records that got their measurements."),
    METRIC("vyre_decision_records_late_total", "counter", decisions.late, 8,
           "Measurements whose decision record was gone."),
    METRIC("vyre_proofs_proven_total", "counter", proofs.proven, 8,
           "Checks that found generated code right."),
    METRIC("vyre_proofs_unstable_total", "counter", proofs.unstable, 8,
           "Of these, checks with bytes that depend on the order of groups."),
    METRIC("vyre_proofs_refused_total", "counter", proofs.refused, 8,
           "Checks that found generated code wrong."),
    METRIC("vyre_proofs_put_off_total", "counter", proofs.put_off, 8,
           "Checks of generated code that were not made."),
    METRIC("vyre_proofs_nanoseconds_total", "counter", proofs.time_ns, 8,
           "Time spent in checks of generated code."),
};

static void head(struct vyre_text *text, const char *name, const char *type, const char *help)
{
    vyre_text_appendf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: \ " and line feeds are escaped, nothing else is. */
static void label(struct vyre_text *text, const char *name, const char *value)
{
    vyre_text_append(text, name);
    vyre_text_append(text, "=\"");
    for (const char *at = value ? value : ""; *at; at++) {
        char piece[2] = {*at, '\0'};
        if (*at == '\\')
            vyre_text_append(text, "\\\\");
        else if (*at == '"')
            vyre_text_append(text, "\\\"");
        else if (*at == '\n')
            vyre_text_append(text, "\\n");
        else
            vyre_text_append(text, piece);
    }
    vyre_text_append(text, "\"");
}

/* The labels that distinguish devices. */
static void device_labels(struct vyre_text *text, const struct vyre_metrics *metrics)
{
    label(text, "{backend", metrics->info.backend);
    vyre_text_append(text, ",index=\"");
    vyre_text_append_u64(text, metrics->info.index);
    vyre_text_append(text, "\"");
    label(text, ",device", metrics->label ? metrics->label : metrics->info.name);
}

static void sample(struct vyre_text *text, const struct vyre_metrics *metrics, const char *name,
                   const char *key, const char *value, uint64_t number)
{
    vyre_text_append(text, name);
    device_labels(text, metrics);
    if (key)
        label(text, key, value);
    vyre_text_append(text, "} ");
    vyre_text_append_u64(text, number);
    vyre_text_append(text, "\n");
}

static uint64_t field(const struct vyre_metrics *metrics, const struct metric *metric)
{
    const char *at = (const char *)metrics + metric->offset;
    return metric->width == 4 ? *(const uint32_t *)(const void *)at
                              : *(const uint64_t *)(const void *)at;
}

static void infos(struct vyre_text *text, const struct vyre_metrics *metrics, size_t count)
{
    head(text, "vyre_device_info", "gauge", "What the device is; always 1.");
    for (size_t i = 0; i < count; i++) {
        vyre_text_append(text, "vyre_device_info");
        device_labels(text, &metrics[i]);
        label(text, ",kind", vyre_device_kind_name(metrics[i].info.kind));
        label(text, ",driver", metrics[i].info.driver);
        vyre_text_append(text, "} 1\n");
    }
}

size_t vyre_metrics_text(const struct vyre_metrics *metrics, size_t count, char *out,
                         size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    infos(&text, metrics, count);
    for (size_t i = 0; i < sizeof metrics_table / sizeof metrics_table[0]; i++) {
        const struct metric *metric = &metrics_table[i];
        head(&text, metric->name, metric->type, metric->help);
        for (size_t j = 0; j < count; j++)
            sample(&text, &metrics[j], metric->name, NULL, NULL, field(&metrics[j], metric));
    }
    head(&text, "vyre_batches_total", "counter", "Batches by the mode that they ran in.");
    for (size_t j = 0; j < count; j++) {
        for (unsigned mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
            sample(&text, &metrics[j], "vyre_batches_total", ",mode",
                   vyre_mode_name((enum vyre_mode)mode), metrics[j].counters.by_mode[mode]);
    }
    head(&text, "vyre_decisions_total", "counter", "Decisions by what made them.");
    for (size_t j = 0; j < count; j++) {
        for (unsigned why = VYRE_WHY_REQUIRED; why < VYRE_WHY_CHOSEN_COUNT; why++)
            sample(&text, &metrics[j], "vyre_decisions_total", ",why",
                   vyre_why_name((enum vyre_why)why), metrics[j].decisions.by_why[why]);
    }
    return text.length;
}
