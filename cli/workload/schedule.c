/*
 * schedule.c: schedule and outputs.
 */
#include "terminal/diag.h"
#include "workload/internal.h"

static bool read_times(struct workload_reader *reader, const struct workload_node *node,
                       struct workload_step *step)
{
    int64_t number;
    bool got = workload_get_integer(reader, node, 1, WORKLOAD_TIMES_MAX, &number);
    step->times = (uint64_t)number;
    return got;
}

/* {"batch": name, "times": rounds} */
static bool read_rounds(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_step *step)
{
    static const char *const keys[] = {"batch", "times"};
    struct workload_node batch = workload_member(node, "batch");
    struct workload_node times = workload_member(node, "times");
    step->batches = workload_take(reader, 1, sizeof *step->batches);
    step->batch_count = 1;
    step->times = 1;
    return step->batches && workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) &&
           workload_get_reference(reader, &batch, reader->batches, "batch", step->batches) &&
           (!times.json || read_times(reader, &times, step));
}

/* {"shuffle": [names], "times": submissions, "seed": seed} */
static bool read_shuffle(struct workload_reader *reader, const struct workload_node *node,
                         struct workload_step *step)
{
    static const char *const keys[] = {"shuffle", "times", "seed"};
    struct workload_node list = workload_member(node, "shuffle");
    struct workload_node times = workload_member(node, "times");
    struct workload_node seed = workload_member(node, "seed");
    int64_t number = 0;
    step->shuffle = true;
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) ||
        !workload_get_array(reader, &list, 1, WORKLOAD_NAMES_MAX, &step->batch_count) ||
        !read_times(reader, &times, step) ||
        (seed.json && !workload_get_integer(reader, &seed, 0, INT64_MAX, &number)))
        return false;
    step->seed = (uint64_t)number;
    step->batches = workload_take(reader, step->batch_count, sizeof *step->batches);
    if (!step->batches)
        return false;
    for (size_t i = 0; i < step->batch_count; i++) {
        struct workload_node item = workload_item(&list, i);
        if (!workload_get_reference(reader, &item, reader->batches, "batch", &step->batches[i]))
            return false;
    }
    return true;
}

static bool read_step(struct workload_reader *reader, const struct workload_node *node,
                      struct workload_step *step)
{
    static const char *const keys[] = {"batch", "shuffle", "times", "seed"};
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)))
        return false;
    bool batch = json_object_get(node->json, "batch") != NULL;
    bool shuffle = json_object_get(node->json, "shuffle") != NULL;
    if (batch && shuffle)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_CONFLICT,
                             "both a `batch` and a `shuffle`");
    if (!batch && !shuffle)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_MISSING,
                             "one of `batch` and `shuffle` is missing");
    return batch ? read_rounds(reader, node, step) : read_shuffle(reader, node, step);
}

bool workload_read_schedule(struct workload_reader *reader, const struct workload_node *node)
{
    struct workload *workload = reader->workload;
    size_t count;
    if (!workload_get_array(reader, node, 1, WORKLOAD_NAMES_MAX, &count))
        return false;
    workload->steps = workload_take(reader, count, sizeof *workload->steps);
    if (!workload->steps)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(node, i);
        if (!read_step(reader, &item, &workload->steps[i]))
            return false;
        workload->step_count++;
    }
    return true;
}

bool workload_read_outputs(struct workload_reader *reader, const struct workload_node *node)
{
    struct workload *workload = reader->workload;
    size_t count;
    if (!node->json)
        return true;
    if (!workload_get_array(reader, node, 0, WORKLOAD_NAMES_MAX, &count))
        return false;
    workload->outputs = workload_take(reader, count, sizeof *workload->outputs);
    bool *seen = workload_take(reader, workload->buffer_count, sizeof *seen);
    if (!workload->outputs || !seen)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(node, i);
        uint32_t *output = &workload->outputs[i];
        if (!workload_get_reference(reader, &item, reader->buffers, "buffer", output))
            return false;
        if (seen[*output])
            return workload_fail(reader, &item, CLI_DIAG_WORKLOAD_DUPLICATE,
                                 "the buffer is already an output");
        seen[*output] = true;
        workload->output_count++;
    }
    return true;
}
