/*
 * explain.c: `vyre explain`: how each batch of a workload would run, or ran, and why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "explain/print.h"
#include "explain/record.h"
#include "explain/repeats.h"
#include "run/knowledge.h"
#include "run/options.h"
#include "run/schedule.h"
#include "run/session.h"
#include "run/target.h"
#include "terminal/diag.h"
#include "terminal/message.h"
#include "terminal/units.h"

#define EXPLAIN_TAKES                                                                             \
    (CLI_TAKES_FILE | CLI_TAKES_BACKEND | CLI_TAKES_DEVICE | CLI_TAKES_WORKERS | CLI_TAKES_HINT | \
     CLI_TAKES_BATCH | CLI_TAKES_CALIBRATE | CLI_TAKES_STORE | CLI_TAKES_PROOF)

#define LINE_BYTES 1024

/* One batch of the workload. */
struct entry {
    struct vyre_explanation explanation;
    uint32_t hint;
    uint32_t alike; /* the first batch with the same explanation, or this batch itself */
    char repeats[EXPLAIN_TEXT_BYTES];
};

/* All that an explanation holds; released in one place. */
struct explaining {
    struct cli_options options;
    struct workload *workload;
    struct vyre_instance *instance;
    struct cli_knowledge knowledge;
    struct session *session;
    struct vyre_ability absent[VYRE_MODE_COUNT]; /* by mode */
    struct entry *entries;                       /* Owned: by batch */
};

static void release(struct explaining *all)
{
    free(all->entries);
    session_destroy(&all->session);
    cli_knowledge_close(&all->knowledge);
    vyre_instance_destroy(&all->instance);
    workload_destroy(&all->workload);
}

static enum vyre_status set_up(struct explaining *all, struct vyre_diag *diag)
{
    struct vyre_device *device = NULL;
    enum vyre_status status = workload_load(all->options.file, &all->workload, diag);
    if (status == VYRE_OK)
        status = vyre_instance_create(NULL, &all->instance, diag);
    if (status == VYRE_OK)
        status = cli_device_open(all->instance, &all->options, &device, diag);
    if (status == VYRE_OK) {
        /* No schedule runs, so only --calibrate makes a calibration worth its time: 0 batches. */
        status = cli_knowledge_give(&all->knowledge, device, &all->options, 0, diag);
        if (status != VYRE_OK)
            vyre_device_close(&device);
    }
    if (status == VYRE_OK) {
        vyre_device_get_ability(device, VYRE_ABILITY_REPLAY, &all->absent[VYRE_MODE_REPLAY]);
        vyre_device_get_ability(device, VYRE_ABILITY_PERSISTENT,
                                &all->absent[VYRE_MODE_PERSISTENT]);
        status = session_create(all->workload, device, 1, &all->session, diag);
    }
    return status;
}

/* ---- What is known of the batches ------------------------------------------------------------- */

static struct explain_subject subject_of(const struct explaining *all, const struct entry *entry)
{
    struct explain_subject subject = {
        .explanation = &entry->explanation,
        .repeat_hint = entry->hint,
        .has_policies = true,
        .repeats = entry->repeats,
    };
    for (int mode = 0; mode < VYRE_MODE_COUNT; mode++) {
        if (all->absent[mode].value == 0)
            subject.absent[mode] = all->absent[mode].reason;
    }
    return subject;
}

static bool same_inputs(const struct vyre_explanation *a, const struct vyre_explanation *b)
{
    struct explain_input left[EXPLAIN_INPUTS_MAX], right[EXPLAIN_INPUTS_MAX];
    size_t count = explain_inputs(a, left);
    bool same = explain_inputs(b, right) == count;
    for (size_t i = 0; same && i < count; i++)
        same = left[i].value == right[i].value && left[i].origin == right[i].origin;
    return same;
}

static bool same_next(const struct vyre_decision_record *a, const struct vyre_decision_record *b)
{
    bool same = a->mode == b->mode && a->variant == b->variant && a->why == b->why &&
                a->predicted_ns == b->predicted_ns && a->candidate_count == b->candidate_count;
    for (uint32_t i = 0; same && i < a->candidate_count; i++) {
        const struct vyre_decision_candidate *left = &a->candidates[i];
        const struct vyre_decision_candidate *right = &b->candidates[i];
        same = left->predicted_ns == right->predicted_ns && left->state == right->state &&
               left->why == right->why && left->measured_ns == right->measured_ns &&
               left->count == right->count;
    }
    return same;
}

/* Whether both have the same explanation. */
static bool are_alike(const struct entry *a, const struct entry *b)
{
    const struct vyre_bundle *left = &a->explanation.verdicts;
    const struct vyre_bundle *right = &b->explanation.verdicts;
    return a->hint == b->hint && same_inputs(&a->explanation, &b->explanation) &&
           left->arms.choice == right->arms.choice && left->arms.conflict == right->arms.conflict &&
           left->copy.choice == right->copy.choice &&
           same_next(&a->explanation.next, &b->explanation.next) &&
           strcmp(a->repeats, b->repeats) == 0;
}

static enum vyre_status explain_all(struct explaining *all, struct vyre_diag *diag)
{
    uint32_t count = (uint32_t)all->workload->batch_count;
    enum vyre_status status = VYRE_OK;
    all->entries = calloc((size_t)count + 1, sizeof *all->entries);
    if (!all->entries)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the batches");
    for (uint32_t i = 0; status == VYRE_OK && i < count; i++) {
        struct entry *entry = &all->entries[i];
        struct vyre_batch *batch = all->session->batches[i];
        entry->hint = all->options.has_hint ? all->options.repeat_hint
                                            : schedule_repeats(all->workload, 1, i);
        status = vyre_batch_explain(batch, entry->hint, &entry->explanation, diag);
        if (status == VYRE_OK)
            status = explain_repeats(batch, entry->hint, entry->repeats, diag);
        for (entry->alike = 0; entry->alike < i; entry->alike++) {
            if (are_alike(&all->entries[entry->alike], entry))
                break;
        }
    }
    return status;
}

/* ---- For people ------------------------------------------------------------------------------- */

/* "batch a", "batches a and b", "batches a, b and 14 more like them". */
static void print_names(const struct explaining *all, uint32_t first, struct cli_output *out)
{
    const struct workload *workload = all->workload;
    uint32_t others = 0, second = first;
    for (uint32_t i = first + 1; i < workload->batch_count; i++) {
        if (all->entries[i].alike != first)
            continue;
        second = others++ == 0 ? i : second;
    }
    char line[LINE_BYTES], more[64] = "";
    const struct cli_quote name = cli_quote(cli_span_of(workload->batches[first].name));
    const struct cli_quote next = cli_quote(cli_span_of(workload->batches[second].name));
    if (others > 1)
        snprintf(more, sizeof more, " and %s more like them", cli_unit_count(others - 1).text);
    if (others == 0)
        snprintf(line, sizeof line, "\nbatch %s", name.text);
    else
        snprintf(line, sizeof line, "\nbatches %s%s%s%s", name.text, others > 1 ? ", " : " and ",
                 next.text, more);
    cli_output_text(out, line);
}

static void print_batch(const struct explaining *all, uint32_t batch, struct cli_output *out)
{
    const struct entry *entry = &all->entries[batch];
    const struct vyre_decision_record *next = &entry->explanation.next;
    const struct explain_subject subject = subject_of(all, entry);
    char line[LINE_BYTES], way[EXPLAIN_TEXT_BYTES], hint[64] = "not announced";
    if (entry->hint == 1)
        snprintf(hint, sizeof hint, "announced once");
    else if (entry->hint)
        snprintf(hint, sizeof hint, "announced %s times", cli_unit_count(entry->hint).text);
    print_names(all, batch, out);
    snprintf(line, sizeof line, ": %s command%s, %s\n", cli_unit_count(next->command_count).text,
             next->command_count == 1 ? "" : "s", hint);
    cli_output_text(out, line);
    explain_way(next->mode, next->variant, way);
    snprintf(line, sizeof line, "Would begin with %s, predicted at %s the first time: %s.", way,
             cli_unit_ns(next->predicted_ns).text, explain_why(next->why));
    explain_wrapped(out, 2, line);
    explain_print_policies(&subject, out);
    explain_print_candidates(&subject, out);
    explain_print_turns(&subject, out);
}

static void print_text(const struct explaining *all, struct cli_output *out)
{
    struct vyre_device_info info;
    char line[LINE_BYTES];
    vyre_device_get_info(all->session->device, &info);
    snprintf(line, sizeof line, "%s on %s %u, %s (%s); nothing was run\n", all->workload->name,
             info.backend, info.index, info.name, info.driver);
    cli_output_text(out, line);
    cli_knowledge_print(&all->knowledge, out);
    for (uint32_t i = 0; i < all->workload->batch_count; i++) {
        if (all->entries[i].alike == i)
            print_batch(all, i, out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void batch_json(const struct explaining *all, uint32_t batch, struct cli_json *json)
{
    const struct entry *entry = &all->entries[batch];
    const struct vyre_explanation *explanation = &entry->explanation;
    const struct vyre_decision_record *next = &explanation->next;
    const struct explain_subject subject = subject_of(all, entry);
    cli_json_object(json, NULL);
    cli_json_text(json, "name", all->workload->batches[batch].name);
    cli_json_u64(json, "commands", next->command_count);
    cli_json_u64(json, "repeat_hint", entry->hint);
    cli_json_u64(json, "repeats_seen", explanation->repeats_seen);
    cli_json_text(json, "mode", vyre_mode_name((enum vyre_mode)next->mode));
    cli_json_u64(json, "variant", next->variant);
    cli_json_text(json, "why", vyre_why_name((enum vyre_why)next->why));
    cli_json_u64(json, "predicted_ns", next->predicted_ns);
    cli_json_text(json, "wanted", vyre_mode_name(explanation->wanted));
    explain_turns_json(&subject, json);
    cli_json_text(json, "repeats", entry->repeats);
    explain_policies_json(&subject, json);
    explain_candidates_json(&subject, json);
    cli_json_end_object(json);
}

static void print_json(const struct explaining *all, struct cli_output *out)
{
    struct vyre_device_info info;
    struct vyre_calibration calibration;
    struct cli_json json;
    vyre_device_get_info(all->session->device, &info);
    vyre_device_get_calibration(all->session->device, &calibration);
    cli_json_init(&json, out);
    cli_json_object(&json, NULL);
    cli_json_text(&json, "workload", all->workload->name);
    cli_json_text(&json, "backend", info.backend);
    cli_json_text(&json, "device", info.name);
    cli_json_flag(&json, "calibrated", calibration.taken_s != 0);
    cli_knowledge_json(&all->knowledge, &json);
    cli_json_array(&json, "batches");
    for (uint32_t i = 0; i < all->workload->batch_count; i++)
        batch_json(all, i, &json);
    cli_json_end_array(&json);
    cli_json_end_object(&json);
    cli_json_finish(&json);
}

/* ---- The command ------------------------------------------------------------------------------ */

static bool is_record(const char *path)
{
    static const char head[] = "{\"vyre_record\":";
    char bytes[sizeof head] = "";
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    return size == sizeof head - 1 && memcmp(bytes, head, size) == 0;
}

static enum cli_exit misuse(const char *message, const char *fix)
{
    struct vyre_diag diag;
    (void)cli_diag_set(&diag, CLI_DIAG_USAGE, NULL, 0, "%s", message);
    vyre_diag_set_fix(&diag, "%s", fix);
    cli_message_print(&diag, NULL);
    return CLI_EXIT_BAD_INPUT;
}

static enum cli_exit explain_record(const struct cli_options *options, struct cli_output *out)
{
    bool others = options->backend || options->device || options->has_hint || options->calibrate ||
                  options->workers || options->store.path || options->store.none ||
                  options->no_proof;
    if (others)
        return misuse("--batch explains a record, which has its own device and hints",
                      "Leave out all other options except --json.");
    return cli_explain_record(options->file, options->batch, options->json, out);
}

static enum cli_exit explain_workload(struct explaining *all, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    if (is_record(all->options.file))
        return misuse("the file is a record: explain needs the number of a batch",
                      "Add --batch N; `vyre report` and `vyre run --record` show the numbers.");
    enum vyre_status status = set_up(all, &diag);
    if (status == VYRE_OK)
        status = explain_all(all, &diag);
    if (status != VYRE_OK) {
        cli_message_print_file(&diag, all->options.file);
        return cli_exit_of_setup(&diag);
    }
    if (all->options.json)
        print_json(all, out);
    else
        print_text(all, out);
    return CLI_EXIT_DONE;
}

enum cli_exit cli_explain_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct explaining all = {.workload = NULL};
    if (cli_options_read("explain", EXPLAIN_TAKES, arguments, count, &all.options, &diag) !=
        VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (all.options.help) {
        cli_explain_help(out);
        return CLI_EXIT_DONE;
    }
    enum cli_exit result =
        all.options.batch ? explain_record(&all.options, out) : explain_workload(&all, out);
    release(&all);
    return result;
}

void cli_explain_help(struct cli_output *out)
{
    cli_output_text(
        out,
        "Usage: vyre explain FILE [--backend B] [--device D] [--repeat-hint N]\n"
        "                    [--calibrate] [--store PATH] [--no-store] [--no-proof] [--workers N]\n"
        "                    [--json]\n"
        "       vyre explain OUT.json --batch N [--json]\n"
        "\n"
        "Shows how each batch of the workload FILE would be launched and why, without running\n"
        "it: the inputs of the policies and their origin, the verdicts, every way to run the\n"
        "batch with its predicted cost or the reason why it cannot run, and what would change\n"
        "the choice. With --batch, shows the same for a batch that ran, from a record of\n"
        "`vyre run --record`.\n"
        "\n"
        "      --backend B       cpu, vulkan or opencl; by default the first that has a device\n"
        "      --device D        its number, UUID, kind or a part of its name; see `vyre devices`\n"
        "      --repeat-hint N   as if each batch were announced to run N times; 0: not\n"
        "                        announced; by default as often as it is in the schedule\n"
        "      --calibrate       measure the device's costs first; this runs probes\n"
        "      --store PATH      the file with costs and learnings; see `vyre store`\n"
        "      --no-store        use no store\n"
        "      --no-proof        as if generated code needed no proof\n"
        "      --workers N       threads of the cpu backend in addition to the caller's\n"
        "      --batch N         the batch with this number in a record\n"
        "      --json            print one JSON document\n"
        "  -h, --help            print this help\n"
        "\n"
        "Examples:\n"
        "  vyre explain examples/workloads/decode.json --calibrate\n"
        "  vyre explain work.json --repeat-hint 3\n"
        "  vyre explain out.json --batch 17\n");
}
