/*
 * probe.c: `vyre probe`, which measures what launching costs on each device and keeps it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "run/costs.h"
#include "run/knowledge.h"
#include "run/options.h"
#include "run/target.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress.h"

#define PROBE_TAKES (CLI_TAKES_BACKEND | CLI_TAKES_DEVICE | CLI_TAKES_QUIET | CLI_TAKES_STORE)

#define DEVICES_MAX 64
#define LINE_BYTES  512

/* One device: its costs, or the reason why there are none. */
struct probed {
    struct vyre_device_info info;
    struct vyre_hash128 signature;
    struct vyre_calibration calibration;
    struct vyre_diag failure;    /* id NONE: it was measured */
    struct vyre_diag not_stored; /* id NONE: it was stored, or the store has said why not */
    bool stored;
};

struct probe {
    struct cli_options options;
    struct vyre_instance *instance;
    struct cli_store_place place;
    struct vyre_store *store; /* NULL: --no-store */
    struct cli_progress progress;
    struct probed *devices; /* Owned: DEVICES_MAX */
    size_t count;           /* devices found */
    size_t done;            /* devices tried */
};

/* ---- measuring --------------------------------------------------------------------------------
 */

static enum vyre_status find_devices(struct probe *probe, struct vyre_diag *diag)
{
    struct vyre_device_info infos[DEVICES_MAX];
    const char *backend = probe->options.backend;
    size_t all = vyre_instance_devices(probe->instance, infos, DEVICES_MAX);
    for (size_t i = 0; i < all && i < DEVICES_MAX; i++) {
        if (!backend || strcmp(infos[i].backend, backend) == 0)
            probe->devices[probe->count++].info = infos[i];
    }
    if (probe->count > 0)
        return VYRE_OK;
    /* Opening one the usual way reports why there is none. */
    struct vyre_device *device;
    enum vyre_status status = cli_device_open(probe->instance, &probe->options, &device, diag);
    vyre_device_close(&device);
    return status;
}

/* Finds the one device that --device names. */
static enum vyre_status find_device(struct probe *probe, struct vyre_device **out_device,
                                    struct vyre_diag *diag)
{
    enum vyre_status status = cli_device_open(probe->instance, &probe->options, out_device, diag);
    if (status == VYRE_OK)
        vyre_device_get_info(*out_device, &probe->devices[probe->count++].info);
    return status;
}

/* Opens the device if it is NULL, measures and closes it. False: Ctrl-C came before a result. */
static bool measure(struct probe *probe, struct probed *probed, struct vyre_device *device)
{
    const struct vyre_device_desc desc = {.backend = probed->info.backend,
                                          .index = probed->info.index};
    enum vyre_status status = VYRE_OK;
    if (!device)
        status = vyre_device_open(probe->instance, &desc, &device, &probed->failure);
    if (status == VYRE_OK) {
        vyre_device_get_info(device, &probed->info);
        status = cli_calibrate(device, 0, &probe->progress, probe->done * VYRE_COST_COUNT,
                               &probed->calibration, &probed->failure);
    }
    struct vyre_store_device described;
    vyre_device_describe(&probed->info, 0, &described);
    probed->signature = vyre_store_device_signature(&described);
    if (status == VYRE_OK) {
        vyre_diag_reset(&probed->failure);
        if (probe->store)
            probed->stored = cli_calibration_keep(probe->store, device, &probed->not_stored);
        vyre_device_get_calibration(device, &probed->calibration); /* counts earlier noisy ones */
    }
    vyre_device_close(&device);
    return probed->failure.id != VYRE_DIAG_CALIBRATION_STOPPED;
}

static enum vyre_status measure_all(struct probe *probe, struct vyre_diag *diag)
{
    struct vyre_device *named = NULL;
    enum vyre_status status =
        probe->options.device ? find_device(probe, &named, diag) : find_devices(probe, diag);
    if (status != VYRE_OK)
        return status;
    cli_progress_begin(&probe->progress, probe->options.quiet, probe->count * VYRE_COST_COUNT);
    cli_progress_set_unit(&probe->progress, "figures");
    for (size_t i = 0; i < probe->count && !cli_interrupted(); i++) {
        probe->done += measure(probe, &probe->devices[i], named);
        named = NULL;
    }
    cli_progress_clear(&probe->progress);
    vyre_device_close(&named);
    return VYRE_OK;
}

/* ---- for people -------------------------------------------------------------------------------
 */

/* When later runs measure again. */
static void print_again(const struct vyre_calibration *calibration, struct cli_output *out)
{
    char line[LINE_BYTES];
    struct cli_unit after = cli_unit_age(vyre_calibration_lifetime_s(calibration));
    if (calibration->noisy_runs > 1)
        snprintf(line, sizeof line, "due again after %s: noisy, %u times in a row\n", after.text,
                 calibration->noisy_runs);
    else
        snprintf(line, sizeof line, "due again after %s%s\n", after.text,
                 calibration->noisy_runs > 0 ? ": noisy" : "");
    cli_output_text(out, line);
}

static void print_device(const struct probe *probe, const struct probed *probed, bool colour,
                         struct cli_output *out)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s %u, %s (%s)\n", probed->info.backend, probed->info.index,
             probed->info.name, probed->info.driver);
    cli_output_text(out, line);
    if (probed->failure.id != VYRE_DIAG_NONE)
        return; /* standard error says why */
    uint32_t noisy = cli_costs_noisy_count(&probed->calibration);
    snprintf(line, sizeof line, "%u costs in %s, %u noisy; %s\n",
             cli_costs_count(&probed->calibration), cli_unit_ns(probed->calibration.took_ns).text,
             noisy,
             probed->stored  ? "stored"
             : !probe->store ? "not stored, as requested"
                             : "NOT STORED");
    cli_output_text(out, line);
    if (probed->stored)
        print_again(&probed->calibration, out);
    cli_output_text(out, "\n");
    cli_costs_print(&probed->calibration, true, colour, 2, out);
    uint32_t absent = VYRE_COST_COUNT - cli_costs_count(&probed->calibration);
    if (absent > 0) {
        snprintf(line, sizeof line,
                 "  %u more costs do not apply to this device; `vyre devices` says why\n", absent);
        cli_output_text(out, line);
    }
    cli_output_text(out, "\n");
}

static void print_text(const struct probe *probe, struct cli_output *out)
{
    bool colour = cli_colour_wanted(STDOUT_FILENO);
    char line[LINE_BYTES];
    for (size_t i = 0; i < probe->done; i++)
        print_device(probe, &probe->devices[i], colour, out);
    if (cli_interrupted()) {
        snprintf(line, sizeof line, "interrupted: %zu of %zu devices were measured\n", probe->done,
                 probe->count);
        cli_output_text(out, line);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void device_json(struct cli_json *json, const struct probed *probed)
{
    bool measured = probed->failure.id == VYRE_DIAG_NONE;
    char signature[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(probed->signature, signature);
    cli_json_object(json, NULL);
    cli_json_text(json, "backend", probed->info.backend);
    cli_json_u64(json, "index", probed->info.index);
    cli_json_text(json, "name", probed->info.name);
    cli_json_text(json, "kind", vyre_device_kind_name(probed->info.kind));
    cli_json_text(json, "driver", probed->info.driver);
    cli_json_text(json, "uuid",
                  cli_uuid_is_none(probed->info.uuid) ? NULL
                                                      : cli_uuid_format(probed->info.uuid).text);
    cli_json_text(json, "signature", signature);
    cli_json_text(json, "failure", measured ? NULL : probed->failure.message);
    cli_json_flag(json, "stored", probed->stored);
    if (measured) {
        cli_json_u64(json, "taken_at", probed->calibration.taken_s);
        cli_json_u64(json, "took_ns", probed->calibration.took_ns);
        cli_json_u64(json, "again_at", cli_costs_again_at(&probed->calibration));
        cli_json_u64(json, "noisy_runs", probed->calibration.noisy_runs);
        cli_costs_json(json, &probed->calibration, true);
    }
    cli_json_end_object(json);
}

static void print_json(const struct probe *probe, struct cli_output *out)
{
    struct cli_json json;
    cli_json_init(&json, out);
    cli_json_object(&json, NULL);
    cli_json_text(&json, "store", probe->place.none ? NULL : probe->place.path);
    cli_json_flag(&json, "interrupted", cli_interrupted());
    cli_json_array(&json, "devices");
    for (size_t i = 0; i < probe->done; i++)
        device_json(&json, &probe->devices[i]);
    cli_json_end_array(&json);
    cli_json_end_object(&json);
    cli_json_finish(&json);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* Prints each failure on standard error, and shows what could be measured all the same. */
static enum cli_exit conclude(const struct probe *probe, struct cli_output *out)
{
    enum cli_exit result = CLI_EXIT_DONE;
    if (probe->options.json)
        print_json(probe, out);
    else if (!probe->options.quiet)
        print_text(probe, out);
    cli_output_flush(out);
    for (size_t i = 0; i < probe->done; i++) {
        if (probe->devices[i].not_stored.id != VYRE_DIAG_NONE)
            cli_message_print(&probe->devices[i].not_stored, NULL);
        if (probe->devices[i].failure.id == VYRE_DIAG_NONE)
            continue;
        cli_message_print(&probe->devices[i].failure, NULL);
        result = CLI_EXIT_FAILED;
    }
    return cli_interrupted() ? CLI_EXIT_INTERRUPTED : result;
}

static enum vyre_status set_up(struct probe *probe, struct vyre_diag *diag)
{
    struct vyre_diag note;
    probe->devices = calloc(DEVICES_MAX, sizeof *probe->devices);
    if (!probe->devices)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the costs");
    if (cli_store_find(&probe->options.store, cli_store_environment, &probe->place, &note) !=
        VYRE_OK)
        probe->place = (struct cli_store_place){.none = true};
    enum vyre_status status = vyre_instance_create(NULL, &probe->instance, diag);
    if (status == VYRE_OK)
        status = measure_all(probe, diag);
    return status;
}

static enum cli_exit execute(struct probe *probe, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    enum vyre_status status = VYRE_OK;
    if (!probe->options.store.none)
        status = cli_store_open(&probe->options.store, &probe->store, &diag);
    if (status == VYRE_OK)
        status = set_up(probe, &diag);
    if (status == VYRE_OK)
        return conclude(probe, out);
    cli_message_print(&diag, NULL);
    return cli_exit_of_setup(&diag);
}

enum cli_exit cli_probe_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct probe probe = {.count = 0};
    if (cli_options_read("probe", PROBE_TAKES, arguments, count, &probe.options, &diag) !=
        VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (probe.options.help) {
        cli_probe_help(out);
        return CLI_EXIT_DONE;
    }
    enum cli_exit result = execute(&probe, out);
    vyre_instance_destroy(&probe.instance);
    vyre_store_close(&probe.store);
    free(probe.devices);
    return result;
}

void cli_probe_help(struct cli_output *out)
{
    cli_output_text(
        out,
        "Usage: vyre probe [--backend B] [--device D] [--store PATH] [--no-store] [--json]\n"
        "                  [--quiet]\n"
        "\n"
        "Measures what launching costs on each device, shows it and puts it into the store,\n"
        "where `vyre run` and `vyre compare` find it for 7 days. Takes some seconds for each\n"
        "device. Other work on the machine makes the figures noisy; they are then due to be\n"
        "measured again after 10 minutes, or longer if they stay noisy.\n"
        "\n"
        "      --backend B     only the devices of cpu, vulkan or opencl\n"
        "      --device D      only this one: its number, a part of its name, its UUID or its\n"
        "                      kind (cpu, integrated, discrete, software)\n"
        "      --store PATH    the store's file; see `vyre store --help`\n"
        "      --no-store      show the costs, keep nothing\n"
        "      --json          print one JSON document\n"
        "      --quiet         print no table and no progress\n"
        "  -h, --help          print this help\n"
        "\n"
        "Examples:\n"
        "  vyre probe\n"
        "  vyre probe --backend cpu --json | jq '.devices[0].costs.\"plain-command\"'\n");
}
