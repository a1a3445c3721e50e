/*
 * devices.c: `vyre devices`, which lists what is present, and what is absent with the reason.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "devices/details.h"
#include "run/costs.h"
#include "run/options.h"
#include "run/target.h"
#include "terminal/grid.h"
#include "terminal/json.h"
#include "terminal/message.h"
#include "terminal/progress.h"
#include "terminal/units.h"

#define LINE_BYTES 512

/* One device with all that it reports, or the reason why it could not be opened. */
struct device_report {
    struct vyre_device_info info;
    struct vyre_ability abilities[VYRE_ABILITY_COUNT];
    struct vyre_device_limits limits;
    struct device_more more;
    struct vyre_diag failure; /* id NONE: it was opened */
};

/* Writes the list as text or JSON: for each backend a beginning, its devices, and an end. */
struct writer {
    struct cli_output *out;
    struct cli_json *json; /* NULL: text */
    bool colour;
    struct vyre_store *store; /* Borrowed; may be NULL */
};

static void inspect(struct vyre_instance *instance, const char *backend, uint32_t index,
                    struct vyre_store *store, struct device_report *report)
{
    memset(report, 0, sizeof *report);
    report->info = (struct vyre_device_info){.backend = backend, .index = index};
    const struct vyre_device_desc desc = {.backend = backend, .index = index};
    struct vyre_device *device;
    if (vyre_device_open(instance, &desc, &device, &report->failure) != VYRE_OK)
        return;
    vyre_diag_reset(&report->failure);
    vyre_device_get_info(device, &report->info);
    vyre_device_get_limits(device, &report->limits);
    for (unsigned i = 0; i < VYRE_ABILITY_COUNT; i++)
        vyre_device_get_ability(device, (enum vyre_ability_id)i, &report->abilities[i]);
    device_more_read(device, store, &report->more);
    vyre_device_close(&device);
}

/* ---- for people -------------------------------------------------------------------------------
 */

static void print_abilities(const struct writer *writer, const struct device_report *report)
{
    static const char *const heads[] = {"ability", "value", "if absent, why"};
    struct cli_grid grid;
    cli_grid_init(&grid, "lrl", heads, writer->colour);
    for (unsigned i = 0; i < VYRE_ABILITY_COUNT; i++) {
        const struct vyre_ability *ability = &report->abilities[i];
        cli_grid_add(&grid, vyre_ability_name((enum vyre_ability_id)i));
        cli_grid_add(&grid, ability->value ? cli_unit_count(ability->value).text : "absent");
        cli_grid_add(&grid, ability->value ? "" : ability->reason);
    }
    cli_grid_print(&grid, 4, writer->out);
    cli_grid_deinit(&grid);
}

static void print_limits(const struct writer *writer, const struct device_report *report)
{
    static const char *const heads[] = {"limit", "value"};
    const struct vyre_device_limits *limits = &report->limits;
    struct cli_grid grid;
    cli_grid_init(&grid, "lr", heads, writer->colour);
    cli_grid_add(&grid, "memory");
    cli_grid_add(&grid, cli_unit_bytes(limits->memory_bytes).text);
    cli_grid_add(&grid, "largest buffer");
    cli_grid_add(&grid, cli_unit_bytes(limits->buffer_size_bytes).text);
    cli_grid_add(&grid, "alignment of ranges");
    cli_grid_add(&grid, cli_unit_bytes(limits->range_alignment).text);
    cli_grid_add(&grid, "groups");
    cli_grid_addf(&grid, "%u x %u x %u", limits->group_count[0], limits->group_count[1],
                  limits->group_count[2]);
    cli_grid_add(&grid, "invocations of a group");
    cli_grid_add(&grid, cli_unit_count(limits->group_invocations).text);
    cli_grid_add(&grid, "bindings of a kernel");
    cli_grid_add(&grid, cli_unit_count(limits->bindings).text);
    cli_grid_add(&grid, "entries of a table");
    cli_grid_add(&grid, cli_unit_count(limits->table_entries).text);
    cli_grid_add(&grid, "constants");
    cli_grid_add(&grid, cli_unit_bytes(limits->constants_bytes).text);
    cli_grid_add(&grid, "local memory of a group");
    cli_grid_add(&grid, cli_unit_bytes(limits->local_bytes).text);
    cli_grid_print(&grid, 4, writer->out);
    cli_grid_deinit(&grid);
}

static void print_device(const struct writer *writer, const struct device_report *report)
{
    char line[LINE_BYTES];
    if (report->failure.id != VYRE_DIAG_NONE) {
        snprintf(line, sizeof line, "  device %u cannot be opened: %s\n", report->info.index,
                 report->failure.message);
        cli_output_text(writer->out, line);
        return;
    }
    bool has_uuid = !cli_uuid_is_none(report->info.uuid);
    snprintf(line, sizeof line, "  device %u: %s\n    kind %s, driver %s\n%s%s%s\n",
             report->info.index, report->info.name, vyre_device_kind_name(report->info.kind),
             report->info.driver, has_uuid ? "    UUID " : "",
             has_uuid ? cli_uuid_format(report->info.uuid).text : "", has_uuid ? "\n" : "");
    cli_output_text(writer->out, line);
    print_abilities(writer, report);
    cli_output_text(writer->out, "\n");
    print_limits(writer, report);
    device_more_print(&report->more, writer->colour, writer->out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void limits_json(struct cli_json *json, const struct vyre_device_limits *limits)
{
    cli_json_object(json, "limits");
    cli_json_u64(json, "buffer_size_bytes", limits->buffer_size_bytes);
    cli_json_u64(json, "memory_bytes", limits->memory_bytes);
    cli_json_u64(json, "range_alignment", limits->range_alignment);
    cli_json_array(json, "group_count");
    for (int i = 0; i < 3; i++)
        cli_json_u64(json, NULL, limits->group_count[i]);
    cli_json_end_array(json);
    cli_json_u64(json, "group_invocations", limits->group_invocations);
    cli_json_u64(json, "bindings", limits->bindings);
    cli_json_u64(json, "table_entries", limits->table_entries);
    cli_json_u64(json, "constants_bytes", limits->constants_bytes);
    cli_json_u64(json, "local_bytes", limits->local_bytes);
    cli_json_end_object(json);
}

static void device_json(struct cli_json *json, const struct device_report *report)
{
    bool opened = report->failure.id == VYRE_DIAG_NONE;
    cli_json_object(json, NULL);
    cli_json_u64(json, "index", report->info.index);
    cli_json_text(json, "failure", opened ? NULL : report->failure.message);
    if (opened) {
        cli_json_text(json, "name", report->info.name);
        cli_json_text(json, "kind", vyre_device_kind_name(report->info.kind));
        cli_json_text(json, "driver", report->info.driver);
        cli_json_text(
            json, "uuid",
            cli_uuid_is_none(report->info.uuid) ? NULL : cli_uuid_format(report->info.uuid).text);
        cli_json_object(json, "abilities");
        for (unsigned i = 0; i < VYRE_ABILITY_COUNT; i++) {
            const struct vyre_ability *ability = &report->abilities[i];
            cli_json_object(json, vyre_ability_name((enum vyre_ability_id)i));
            cli_json_u64(json, "value", ability->value);
            cli_json_text(json, "reason", ability->value ? NULL : ability->reason);
            cli_json_end_object(json);
        }
        cli_json_end_object(json);
        limits_json(json, &report->limits);
        device_more_json(&report->more, json);
    }
    cli_json_end_object(json);
}

/* ---- backends ---------------------------------------------------------------------------------
 */

static void begin_backend(const struct writer *writer, const char *name, const char *reason)
{
    if (writer->json) {
        cli_json_object(writer->json, NULL);
        cli_json_text(writer->json, "name", name);
        cli_json_flag(writer->json, "present", reason == NULL);
        cli_json_text(writer->json, "reason", reason);
        cli_json_array(writer->json, "devices");
        return;
    }
    cli_output_text(writer->out, writer->colour ? "\x1b[1m" : "");
    cli_output_text(writer->out, name);
    cli_output_text(writer->out, writer->colour ? "\x1b[0m" : "");
    if (reason) {
        cli_output_text(writer->out, ": absent: ");
        cli_output_text(writer->out, reason);
    }
    cli_output_text(writer->out, "\n");
}

static void end_backend(const struct writer *writer)
{
    if (writer->json) {
        cli_json_end_array(writer->json);
        cli_json_end_object(writer->json);
    }
}

static void list_backend(const struct writer *writer, struct vyre_instance *instance,
                         const struct vyre_backend_info *backend)
{
    bool absent = backend->reason.id != VYRE_DIAG_NONE;
    begin_backend(writer, backend->name, absent ? backend->reason.message : NULL);
    for (uint32_t i = 0; !absent && i < backend->device_count; i++) {
        struct device_report report;
        inspect(instance, backend->name, i, writer->store, &report);
        if (writer->json)
            device_json(writer->json, &report);
        else
            print_device(writer, &report);
    }
    end_backend(writer);
}

static void list_all(const struct writer *writer, struct vyre_instance *instance)
{
    struct vyre_backend_info infos[VYRE_BACKENDS_MAX];
    size_t count = vyre_instance_backends(instance, infos, VYRE_BACKENDS_MAX);
    for (size_t i = 0; i < count && i < VYRE_BACKENDS_MAX; i++)
        list_backend(writer, instance, &infos[i]);
    for (size_t i = 0; i < cli_known_backend_count; i++) {
        if (cli_backend_find(instance, cli_known_backends[i], infos))
            continue;
        begin_backend(writer, cli_known_backends[i], "not built into this tool");
        end_backend(writer);
    }
}

enum cli_exit cli_devices_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct cli_options options;
    if (cli_options_read("devices", CLI_TAKES_STORE, arguments, count, &options, &diag) !=
        VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (options.help) {
        cli_devices_help(out);
        return CLI_EXIT_DONE;
    }
    struct vyre_instance *instance;
    if (vyre_instance_create(NULL, &instance, &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_FAILED;
    }
    struct vyre_store *store = NULL;
    if (!options.store.none && cli_store_peek(&options.store, &store, &diag) != VYRE_OK)
        cli_message_print(&diag, NULL); /* the devices are listed all the same */
    struct cli_json json;
    cli_json_init(&json, out);
    struct writer writer = {out, options.json ? &json : NULL, cli_colour_wanted(STDOUT_FILENO),
                            store};
    if (options.json) {
        cli_json_object(&json, NULL);
        cli_json_array(&json, "backends");
    }
    list_all(&writer, instance);
    if (options.json) {
        cli_json_end_array(&json);
        cli_json_end_object(&json);
        cli_json_finish(&json);
    }
    vyre_instance_destroy(&instance);
    vyre_store_close(&store);
    return CLI_EXIT_DONE;
}

void cli_devices_help(struct cli_output *out)
{
    cli_output_text(
        out, "Usage: vyre devices [--store PATH] [--no-store] [--json]\n"
             "\n"
             "Lists the backends and their devices: what each can do, its limits, the reason\n"
             "for what is absent, and what launching costs, if `vyre probe` has measured it.\n"
             "\n"
             "      --store PATH  the store's file; see `vyre store --help`\n"
             "      --no-store    show no costs\n"
             "      --json        print one JSON document\n"
             "  -h, --help        print this help\n"
             "\n"
             "Examples:\n"
             "  vyre devices\n"
             "  vyre devices --json | jq '.backends[] | select(.present) | .name'\n");
}
