/*
 * target.c: the device that a command line asks for.
 */
#include "run/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "terminal/message.h"
#include "terminal/suggest.h"

/* Enough for what `vyre run` prints about its decisions. */
#define DECISIONS_KEPT 1024

const char *const cli_known_backends[] = {"cpu", "vulkan", "opencl"};
const size_t cli_known_backend_count = sizeof cli_known_backends / sizeof cli_known_backends[0];

const struct vyre_backend_info *cli_backend_find(struct vyre_instance *instance, const char *name,
                                                 struct vyre_backend_info infos[VYRE_BACKENDS_MAX])
{
    size_t count = vyre_instance_backends(instance, infos, VYRE_BACKENDS_MAX);
    for (size_t i = 0; i < count && i < VYRE_BACKENDS_MAX; i++) {
        if (strcmp(infos[i].name, name) == 0)
            return &infos[i];
    }
    return NULL;
}

/* The instance does not have the backend: its name is unknown, or it is not built in. */
static enum vyre_status refuse_backend(const char *name, struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(name)};
    for (size_t i = 0; i < cli_known_backend_count; i++) {
        if (strcmp(name, cli_known_backends[i]) == 0)
            return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, NULL, 0,
                                 "the backend %s is not built into this tool", name);
        cli_suggestion_offer(&suggestion, cli_known_backends[i]);
    }
    enum vyre_status status =
        vyre_diag_set(diag, VYRE_DIAG_BACKEND_UNKNOWN, NULL, 0, "there is no backend `%s`",
                      cli_quote(suggestion.wanted).text);
    vyre_diag_set_fix(diag, "`vyre devices` lists the backends.");
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? `vyre devices` lists the backends.",
                          suggestion.nearest);
    return status;
}

static enum vyre_status refuse_uuid(const char *text, struct vyre_diag *diag)
{
    enum vyre_status status =
        vyre_diag_set(diag, VYRE_DIAG_DEVICE_UNKNOWN, NULL, 0, "no device has the UUID %s", text);
    vyre_diag_set_fix(diag, "`vyre devices` lists the devices.");
    return status;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 9;
}

static int hex_digit(char letter)
{
    static const char digits[] = "0123456789abcdef";
    static const char capitals[] = "0123456789ABCDEF";
    const char *found = letter ? strchr(digits, letter) : NULL;
    if (found)
        return (int)(found - digits);
    found = letter ? strchr(capitals, letter) : NULL;
    return found ? (int)(found - capitals) : -1;
}

/* 8-4-4-4-12 hexadecimal digits, or all 32 without the dashes. */
static bool read_uuid(const char *text, uint8_t out_uuid[VYRE_UUID_BYTES])
{
    size_t length = strlen(text);
    size_t digits = 0;
    memset(out_uuid, 0, VYRE_UUID_BYTES);
    if (length != 32 && length != 36)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool dash = length == 36 && (i == 8 || i == 13 || i == 18 || i == 23);
        int digit = hex_digit(text[i]);
        if (dash ? text[i] != '-' : digit < 0)
            return false;
        if (dash)
            continue;
        out_uuid[digits / 2] = (uint8_t)(out_uuid[digits / 2] << 4 | digit);
        digits++;
    }
    return true;
}

/* ANY when the word is not a kind that --device accepts. */
static enum vyre_device_kind read_kind(const char *text)
{
    for (int kind = VYRE_DEVICE_KIND_CPU; kind <= VYRE_DEVICE_KIND_SOFTWARE; kind++) {
        if (strcasecmp(text, vyre_device_kind_name((enum vyre_device_kind)kind)) == 0)
            return (enum vyre_device_kind)kind;
    }
    return VYRE_DEVICE_KIND_ANY;
}

/* Reads --device. False for the UUID of zeros: it stands for "none", and no device has it. */
static bool describe_device(const char *text, uint8_t uuid[VYRE_UUID_BYTES],
                            struct vyre_device_desc *desc)
{
    static const uint8_t none[VYRE_UUID_BYTES] = {0};
    if (read_uuid(text, uuid)) {
        desc->uuid = uuid;
        return memcmp(uuid, none, sizeof none) != 0;
    }
    if (is_number(text))
        desc->index = (uint32_t)strtoul(text, NULL, 10);
    else if (read_kind(text) != VYRE_DEVICE_KIND_ANY)
        desc->kind = read_kind(text);
    else
        desc->name = text;
    return true;
}

enum vyre_status cli_device_open(struct vyre_instance *instance, const struct cli_options *options,
                                 struct vyre_device **out_device, struct vyre_diag *diag)
{
    *out_device = NULL;
    struct vyre_backend_info infos[VYRE_BACKENDS_MAX];
    if (options->backend && !cli_backend_find(instance, options->backend, infos))
        return refuse_backend(options->backend, diag);
    struct vyre_device_desc desc = {
        .backend = options->backend,
        .cpu_workers = options->workers,
        .decision_limit = DECISIONS_KEPT,
        .no_proof = options->no_proof,
    };
    uint8_t uuid[VYRE_UUID_BYTES];
    if (options->device && !describe_device(options->device, uuid, &desc))
        return refuse_uuid(options->device, diag);
    enum vyre_status status = vyre_device_open(instance, &desc, out_device, diag);
    if (status != VYRE_OK && diag->id == VYRE_DIAG_DEVICE_UNKNOWN && desc.uuid)
        return refuse_uuid(options->device, diag);
    if (status != VYRE_OK && diag->id == VYRE_DIAG_DEVICE_UNKNOWN)
        vyre_diag_set_fix(diag, "`vyre devices` lists the devices.");
    return status;
}

enum vyre_status cli_mode_check(const struct vyre_device *device, enum vyre_mode mode,
                                struct vyre_diag *diag)
{
    if (mode != VYRE_MODE_REPLAY && mode != VYRE_MODE_PERSISTENT)
        return VYRE_OK;
    struct vyre_ability ability;
    vyre_device_get_ability(
        device, mode == VYRE_MODE_REPLAY ? VYRE_ABILITY_REPLAY : VYRE_ABILITY_PERSISTENT, &ability);
    if (ability.value != 0)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, NULL, 0, "no %s mode: %s",
                         vyre_mode_name(mode), ability.reason);
}

static bool is_absent(const struct vyre_diag *diag)
{
    return diag->id == VYRE_DIAG_BACKEND_ABSENT || diag->id == VYRE_DIAG_DEVICE_UNKNOWN ||
           diag->id == VYRE_DIAG_SUBMIT_MODE;
}

enum cli_exit cli_exit_of_setup(const struct vyre_diag *diag)
{
    if (is_absent(diag))
        return CLI_EXIT_ABSENT;
    if (diag->id == VYRE_DIAG_MEMORY_LIMIT)
        return CLI_EXIT_BAD_INPUT;
    bool failed = diag->status == VYRE_OUT_OF_MEMORY || diag->status == VYRE_INTERNAL ||
                  diag->status == VYRE_DRIVER || diag->status == VYRE_DEVICE_LOST ||
                  diag->status == VYRE_BUSY || diag->status == VYRE_TIMEOUT;
    return failed ? CLI_EXIT_FAILED : CLI_EXIT_BAD_INPUT;
}

enum cli_exit cli_exit_of_work(const struct vyre_diag *diag)
{
    return is_absent(diag) ? CLI_EXIT_ABSENT : CLI_EXIT_FAILED;
}
