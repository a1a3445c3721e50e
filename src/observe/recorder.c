/*
 * recorder.c: an observer that writes a file of bounded size.
 *
 * Batches are thinned out as the file fills up: the first half of the file takes every batch, then
 * each further quarter of the rest takes half as many as the one before. So the file covers
 * exponentially more batches the longer it runs, and the sums at its end stay exact.
 */
#include <string.h>
#include <time.h>

#include <vyre/observer.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/memory.h"
#include "observe/recorder_file.h"
#include "observe/recorder_labels.h"
#include "observe/recorder_lines.h"

/* Devices open at the same time. Batches of further ones are counted but not kept. */
#define DEVICES_MAX 64

/* Devices in one record. */
#define DEVICES_EVER_MAX 256

#define STRIDE_MAX (UINT64_C(1) << 40)

struct open_device {
    uint64_t identity;
    uint32_t number; /* in the record; 0: the entry is free */
};

struct vyre_recorder {
    struct vyre_allocator allocator;
    struct vyre_lock lock; /* of everything below */
    uint64_t start_ns;
    uint64_t thin_at_bytes; /* the size at which the stride doubles */
    struct vyre_record_totals totals;
    uint64_t batches_written; /* batches_kept and events_kept as the file has them, */
    uint64_t events_written;  /* in case what is in memory cannot be written */
    uint32_t device_count;    /* ever opened */
    struct open_device devices[DEVICES_MAX];
    struct vyre_record_labels labels;
    struct vyre_record_file file;
};

/* ---- The file ---------------------------------------------------------------------------------- */

static size_t format_end(const struct vyre_recorder *recorder, int is_closed,
                         struct vyre_record_text *end)
{
    end->at = end->begin;
    vyre_record_line_end(end, &recorder->totals, vyre_clock_now_ns() - recorder->start_ns,
                         is_closed);
    return (size_t)(end->at - end->begin);
}

static size_t flush(struct vyre_recorder *recorder, int is_closed)
{
    struct vyre_recorder_counters *counters = &recorder->totals.counters;
    char memory[RECORD_END_BYTES];
    struct vyre_record_text end = {memory, memory};
    size_t size = format_end(recorder, is_closed, &end);
    if (vyre_record_file_flush(&recorder->file, memory, size)) {
        recorder->batches_written = counters->batches_kept;
        recorder->events_written = counters->events_kept;
        return size;
    }
    /* The end counts the lines before it. Those in memory are lost. */
    counters->batches_kept = recorder->batches_written;
    counters->events_kept = recorder->events_written;
    size = format_end(recorder, is_closed, &end);
    vyre_record_file_end(&recorder->file, memory, size);
    return size;
}

static struct vyre_record_text begin_line(struct vyre_recorder *recorder)
{
    if (vyre_record_file_is_full(&recorder->file))
        flush(recorder, 0);
    return vyre_record_file_begin(&recorder->file);
}

/* ---- Labels and devices ------------------------------------------------------------------------ */

/* The number of a label, which is defined now if necessary; 0: none, or no room for it. */
static uint32_t label_number(struct vyre_recorder *recorder, const char *label)
{
    size_t size = vyre_record_string_size(label);
    if (size == 0)
        return 0;
    size_t slot;
    uint32_t number = vyre_record_labels_find(&recorder->labels, label, size, &slot);
    if (number != 0)
        return number;
    if (vyre_record_labels_have_room(&recorder->labels, size)) {
        struct vyre_record_text line = begin_line(recorder);
        vyre_record_line_label(&line, recorder->labels.count + 1, label);
        if (vyre_record_file_commit(&recorder->file, &line))
            return vyre_record_labels_add(&recorder->labels, label, size, slot);
    }
    recorder->totals.labels_dropped++;
    return 0;
}

static struct open_device *find_device(struct vyre_recorder *recorder, uint64_t identity)
{
    for (size_t i = 0; i < DEVICES_MAX; i++) {
        if (recorder->devices[i].number != 0 && recorder->devices[i].identity == identity)
            return &recorder->devices[i];
    }
    return NULL;
}

static struct open_device *free_device(struct vyre_recorder *recorder)
{
    for (size_t i = 0; i < DEVICES_MAX; i++) {
        if (recorder->devices[i].number == 0)
            return &recorder->devices[i];
    }
    return NULL;
}

static bool take_opened(struct vyre_recorder *recorder, const struct vyre_event *event,
                        int64_t time_ns)
{
    struct open_device *device = free_device(recorder);
    if (!device || recorder->device_count == DEVICES_EVER_MAX)
        return false;
    struct vyre_record_text line = begin_line(recorder);
    vyre_record_line_opened(&line, recorder->device_count + 1, time_ns, event->as.device_opened);
    if (!vyre_record_file_commit(&recorder->file, &line))
        return false;
    *device = (struct open_device){event->device, ++recorder->device_count};
    return true;
}

/* ---- Events ------------------------------------------------------------------------------------ */

static void count_batch(struct vyre_record_totals *totals,
                        const struct vyre_event_batch_completed *batch)
{
    totals->counters.batches_seen++;
    if ((unsigned)batch->status < VYRE_STATUS_COUNT)
        totals->by_status[batch->status]++;
    if (batch->decision) {
        if (batch->decision->mode < VYRE_MODE_COUNT)
            totals->by_mode[batch->decision->mode]++;
        if (batch->decision->why < VYRE_WHY_COUNT)
            totals->by_why[batch->decision->why]++;
        totals->saved_ns =
            (int64_t)((uint64_t)totals->saved_ns + (uint64_t)batch->decision->saved_vs_plain_ns);
    }
    for (size_t i = 0; i < VYRE_COMMAND_TYPE_COUNT; i++)
        totals->commands[i] += batch->commands[i];
    totals->copied_bytes += batch->copied_bytes;
    totals->submit_ns += batch->submit_ns;
    totals->device_ns += batch->device_ns;
    totals->wall_ns += vyre_record_wall_ns(batch);
}

static void thin_out(struct vyre_recorder *recorder)
{
    uint64_t size = vyre_record_file_size(&recorder->file);
    uint64_t *stride = &recorder->totals.counters.stride;
    if (size < recorder->thin_at_bytes || *stride >= STRIDE_MAX)
        return;
    *stride *= 2;
    recorder->thin_at_bytes = size + (recorder->file.limit - RECORD_END_BYTES - size) / 4;
}

/* The last eighth is reserved for batches, so that the record shows how the run continued. */
static bool is_scarce(const struct vyre_recorder *recorder)
{
    uint64_t limit = recorder->file.limit;
    return vyre_record_file_size(&recorder->file) > limit - limit / 8;
}

/* Keeps every stride-th batch, and those that failed, which readers look for. */
static void take_batch(struct vyre_recorder *recorder, const struct vyre_event *event)
{
    const struct vyre_event_batch_completed *batch = event->as.batch_completed;
    struct vyre_record_totals *totals = &recorder->totals;
    bool is_turn = (totals->counters.batches_seen & (totals->counters.stride - 1)) == 0;
    count_batch(totals, batch);
    const struct open_device *device = find_device(recorder, event->device);
    bool is_wanted = is_turn || (batch->status != VYRE_OK && !is_scarce(recorder));
    if (!device || !is_wanted || recorder->file.error != 0)
        return;
    struct vyre_record_batch_ids ids = {.device = device->number};
    ids.label = label_number(recorder, batch->label);
    for (uint32_t i = 0; i < batch->kernel_count && i < VYRE_EVENT_KERNELS_MAX; i++)
        ids.kernels[i] = label_number(recorder, batch->kernels[i].label);
    struct vyre_record_text line = begin_line(recorder);
    vyre_record_line_batch(&line, &ids, recorder->start_ns, batch);
    if (vyre_record_file_commit(&recorder->file, &line))
        totals->counters.batches_kept++;
    thin_out(recorder);
}

/* Events of a device that is in the record. */
static bool take_of_device(struct vyre_recorder *recorder, const struct vyre_event *event,
                           int64_t time_ns, struct open_device *device)
{
    uint32_t number = device->number;
    uint32_t label = 0;
    if (event->type == VYRE_EVENT_KERNEL_CREATED)
        label = label_number(recorder, event->as.kernel_created->label);
    struct vyre_record_text line = begin_line(recorder);
    switch (event->type) {
    case VYRE_EVENT_DEVICE_CLOSED:
        vyre_record_line_closed(&line, number, time_ns, event->as.device_closed);
        device->number = 0;
        break;
    case VYRE_EVENT_CALIBRATED:
        vyre_record_line_calibrated(&line, number, time_ns, event->as.calibrated);
        break;
    case VYRE_EVENT_KERNEL_CREATED:
        vyre_record_line_kernel(&line, number, label, recorder->start_ns, event->as.kernel_created);
        break;
    case VYRE_EVENT_LEASE:
        vyre_record_line_lease(&line, number, recorder->start_ns, event->as.lease);
        break;
    case VYRE_EVENT_RECORDING:
        vyre_record_line_recording(&line, number, recorder->start_ns, time_ns, event->as.recording);
        break;
    case VYRE_EVENT_SHAPE:
        vyre_record_line_shape(&line, number, event->as.shape);
        break;
    case VYRE_EVENT_NONE:
    case VYRE_EVENT_DEVICE_OPENED:
    case VYRE_EVENT_BATCH_COMPLETED:
        return false;
    }
    return vyre_record_file_commit(&recorder->file, &line);
}

static void take_other(struct vyre_recorder *recorder, const struct vyre_event *event)
{
    int64_t time_ns = (int64_t)(event->time_ns - recorder->start_ns);
    struct open_device *device = find_device(recorder, event->device);
    bool is_kept = false;
    if (event->type == VYRE_EVENT_DEVICE_OPENED)
        is_kept = !device && take_opened(recorder, event, time_ns);
    else if (device && (event->type == VYRE_EVENT_DEVICE_CLOSED || !is_scarce(recorder)))
        is_kept = take_of_device(recorder, event, time_ns, device);
    recorder->totals.counters.events_seen++;
    recorder->totals.counters.events_kept += is_kept;
    thin_out(recorder);
}

static void take(void *user, const struct vyre_event *event)
{
    struct vyre_recorder *recorder = user;
    vyre_lock_acquire(&recorder->lock);
    if (event->type == VYRE_EVENT_BATCH_COMPLETED)
        take_batch(recorder, event);
    else if (event->type != VYRE_EVENT_NONE)
        take_other(recorder, event);
    vyre_lock_release(&recorder->lock);
}

/* ---- The recorder ------------------------------------------------------------------------------ */

static void write_head(struct vyre_recorder *recorder)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    recorder->start_ns = vyre_clock_now_ns();
    uint64_t unix_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    struct vyre_record_text line = vyre_record_file_begin(&recorder->file);
    vyre_record_line_head(&line, recorder->start_ns, unix_ns, recorder->file.limit);
    (void)vyre_record_file_commit(&recorder->file, &line);
    flush(recorder, 0);
    recorder->thin_at_bytes = recorder->file.limit / 2;
}

static enum vyre_status write_failure(const struct vyre_record_file *file, struct vyre_diag *diag)
{
    if (file->error == 0)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_RECORDER_WRITE, NULL, file->error,
                         "the record could not be written: %s", strerror(file->error));
}

static void destroy(struct vyre_recorder *recorder)
{
    struct vyre_allocator allocator = recorder->allocator;
    vyre_memory_free(&allocator, recorder, sizeof *recorder, _Alignof(struct vyre_recorder));
}

enum vyre_status vyre_recorder_open(const char *path, const struct vyre_recorder_options *options,
                                    struct vyre_recorder **out_recorder, struct vyre_diag *diag)
{
    static const struct vyre_recorder_options no_options;
    if (!path || !out_recorder)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_NULL, NULL, 0,
                             "vyre_recorder_open needs a path and a place for the recorder");
    *out_recorder = NULL;
    options = options ? options : &no_options;
    uint64_t limit = options->limit_bytes ? options->limit_bytes : VYRE_RECORDER_DEFAULT_BYTES;
    if (limit < VYRE_RECORDER_MIN_BYTES || limit > INT64_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, NULL, 0,
                             "limit_bytes of a recorder is not between 16 KiB and 2^63 - 1");
    struct vyre_allocator allocator = vyre_allocator_resolve(&options->allocator);
    struct vyre_recorder *recorder =
        vyre_memory_allocate(&allocator, sizeof *recorder, _Alignof(struct vyre_recorder));
    if (!recorder)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for a recorder");
    recorder->allocator = allocator;
    recorder->totals.counters.stride = 1;
    enum vyre_status status = vyre_record_file_open(&recorder->file, path, limit, diag);
    if (status != VYRE_OK) {
        destroy(recorder);
        return status;
    }
    write_head(recorder);
    status = write_failure(&recorder->file, diag);
    if (status != VYRE_OK) {
        vyre_record_file_close(&recorder->file, 0);
        destroy(recorder);
        return status;
    }
    *out_recorder = recorder;
    return VYRE_OK;
}

struct vyre_observer vyre_recorder_observer(struct vyre_recorder *recorder)
{
    return (struct vyre_observer){sizeof(struct vyre_observer), recorder, take};
}

void vyre_recorder_get_counters(struct vyre_recorder *recorder,
                                struct vyre_recorder_counters *out_counters)
{
    vyre_lock_acquire(&recorder->lock);
    *out_counters = recorder->totals.counters;
    out_counters->size_bytes = vyre_record_file_size(&recorder->file);
    vyre_lock_release(&recorder->lock);
}

enum vyre_status vyre_recorder_close(struct vyre_recorder **recorder, struct vyre_diag *diag)
{
    if (!recorder || !*recorder)
        return VYRE_OK;
    struct vyre_recorder *closing = *recorder;
    *recorder = NULL;
    size_t end_size = flush(closing, 1);
    vyre_record_file_close(&closing->file, end_size);
    enum vyre_status status = write_failure(&closing->file, diag);
    destroy(closing);
    return status;
}
