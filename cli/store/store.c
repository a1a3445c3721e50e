/*
 * store.c: `vyre store`: lists, exports, imports, prunes and checks what runs have learned.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "store/json.h"
#include "store/list.h"
#include "store/options.h"
#include "terminal/diag.h"
#include "terminal/file.h"
#include "terminal/json.h"
#include "terminal/message.h"
#include "terminal/units.h"

/* The work of one action. */
struct job {
    const struct cli_store_command *command;
    const char *path;
    bool present; /* the file exists */
    struct vyre_store *store;
    struct cli_output *out;
};

/* ---- check ------------------------------------------------------------------------------------
 */

static void on_problem(void *user, const char *text)
{
    struct cli_json *json = user;
    if (json)
        cli_json_text(json, NULL, text);
    else
        fprintf(stderr, "vyre: %s\n", text);
}

static enum cli_exit check(const struct job *job, struct vyre_diag *diag)
{
    struct cli_json json;
    struct vyre_store_info info;
    struct vyre_store_check found;
    bool as_json = job->command->json;
    vyre_store_get_info(job->store, &info);
    cli_json_init(&json, job->out);
    if (as_json) {
        cli_json_object(&json, NULL);
        cli_json_text(&json, "path", job->path);
        cli_json_flag(&json, "present", job->present);
        cli_json_array(&json, "problems");
        if (info.reason.id != VYRE_DIAG_NONE)
            cli_json_text(&json, NULL, info.reason.message);
    }
    enum vyre_status status =
        vyre_store_check(job->store, on_problem, as_json ? &json : NULL, &found, diag);
    bool fine = status == VYRE_OK && found.problem_count == 0 && found.damaged_count == 0 &&
                info.reason.id == VYRE_DIAG_NONE;
    if (as_json) {
        cli_json_end_array(&json);
        cli_json_u64(&json, "entries", found.entry_count);
        cli_json_u64(&json, "damaged", found.damaged_count);
        cli_json_flag(&json, "ok", fine);
        cli_json_end_object(&json);
        cli_json_finish(&json);
    } else if (fine) {
        cli_output_text(job->out, job->path);
        cli_output_text(job->out, job->present ? ": sound, " : ": no store yet, ");
        cli_output_text(job->out, cli_unit_count(found.entry_count).text);
        cli_output_text(job->out, " checksums compared\n");
    }
    if (status != VYRE_OK)
        cli_message_print(diag, NULL);
    return fine ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

/* ---- export, import ---------------------------------------------------------------------------
 */

static enum cli_exit export_all(const struct job *job, struct vyre_diag *diag)
{
    uint64_t damaged;
    if (cli_store_export(job->store, job->out, &damaged, diag) != VYRE_OK) {
        cli_message_print(diag, NULL);
        return CLI_EXIT_FAILED;
    }
    if (damaged == 0)
        return CLI_EXIT_DONE;
    (void)vyre_diag_set(diag, VYRE_DIAG_STORE_CHECKSUM, NULL, 0,
                        "%llu entries do not match their checksum and were left out",
                        (unsigned long long)damaged);
    cli_message_print(diag, NULL);
    return CLI_EXIT_FAILED;
}

/* The whole file in memory that the caller frees; on failure NULL, with the diagnostic set. */
static char *read_file(const char *path, size_t *out_size, struct vyre_diag *diag)
{
    int descriptor = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    size_t capacity = 65536, used = 0;
    char *bytes = descriptor >= 0 ? malloc(capacity) : NULL;
    ssize_t taken = descriptor >= 0 && bytes ? 0 : -1;
    while (taken >= 0) {
        taken = cli_read_all(descriptor, bytes + used, capacity - used);
        used += taken > 0 ? (size_t)taken : 0;
        if (taken < 0 || used < capacity || capacity > CLI_STORE_IMPORT_BYTES)
            break;
        char *grown = realloc(bytes, 2 * capacity);
        taken = grown ? taken : -1;
        bytes = grown ? grown : bytes;
        capacity *= 2;
    }
    if (taken < 0) {
        (void)cli_diag_set(diag, CLI_DIAG_STORE_IMPORT_OPEN, NULL, errno, "cannot read `%s`: %s",
                           path, strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (descriptor >= 0)
        close(descriptor);
    *out_size = used;
    return bytes;
}

static void print_import(const struct job *job, const struct cli_store_import *import)
{
    if (job->command->json) {
        struct cli_json json;
        cli_json_init(&json, job->out);
        cli_json_object(&json, NULL);
        cli_json_text(&json, "path", job->path);
        cli_json_u64(&json, "read", import->read_count);
        cli_json_u64(&json, "written", import->written_count);
        cli_json_end_object(&json);
        cli_json_finish(&json);
        return;
    }
    cli_output_text(job->out, job->path);
    cli_output_text(job->out, ": ");
    cli_output_text(job->out, cli_unit_count(import->written_count).text);
    cli_output_text(job->out, " of ");
    cli_output_text(job->out, cli_unit_count(import->read_count).text);
    cli_output_text(job->out, " records written\n");
}

static enum cli_exit import_file(const struct job *job, struct vyre_diag *diag)
{
    struct cli_store_import import;
    size_t size;
    char *bytes = read_file(job->command->file, &size, diag);
    if (!bytes) {
        cli_message_print(diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    enum vyre_status status = cli_store_import(bytes, size, job->store, &import, diag);
    bool bad_input = status == VYRE_INVALID || status == VYRE_LIMIT;
    if (status == VYRE_OK)
        status = vyre_store_flush(job->store, diag);
    free(bytes);
    if (bad_input) {
        cli_message_print_file(diag, job->command->file);
        return CLI_EXIT_BAD_INPUT;
    }
    if (status != VYRE_OK) {
        cli_message_print(diag, NULL);
        return CLI_EXIT_FAILED;
    }
    print_import(job, &import);
    return CLI_EXIT_DONE;
}

/* ---- prune, list ------------------------------------------------------------------------------
 */

static enum cli_exit prune(const struct job *job, struct vyre_diag *diag)
{
    uint64_t removed = 0;
    if (vyre_store_prune(job->store, &job->command->prune, &removed, diag) != VYRE_OK) {
        cli_message_print(diag, NULL);
        return CLI_EXIT_FAILED;
    }
    struct vyre_store_info info;
    vyre_store_get_info(job->store, &info);
    if (job->command->json) {
        struct cli_json json;
        cli_json_init(&json, job->out);
        cli_json_object(&json, NULL);
        cli_json_text(&json, "path", job->path);
        cli_json_u64(&json, "removed", removed);
        cli_json_u64(&json, "size_bytes", info.size_bytes);
        cli_json_end_object(&json);
        cli_json_finish(&json);
        return CLI_EXIT_DONE;
    }
    cli_output_text(job->out, job->path);
    cli_output_text(job->out, ": ");
    cli_output_text(job->out, cli_unit_count(removed).text);
    cli_output_text(job->out, " records removed, ");
    cli_output_text(job->out, cli_unit_bytes(info.size_bytes).text);
    cli_output_text(job->out, " left\n");
    return CLI_EXIT_DONE;
}

static enum cli_exit list(const struct job *job, struct vyre_diag *diag)
{
    if (cli_store_list(job->store, job->path, job->present, job->command->json, job->out, diag) ==
        VYRE_OK)
        return CLI_EXIT_DONE;
    cli_message_print(diag, NULL);
    return CLI_EXIT_FAILED;
}

/* ---- the command ------------------------------------------------------------------------------
 */

static enum cli_exit act(const struct job *job, struct vyre_diag *diag)
{
    switch (job->command->action) {
    case CLI_STORE_LIST:
        return list(job, diag);
    case CLI_STORE_EXPORT:
        return export_all(job, diag);
    case CLI_STORE_IMPORT:
        return import_file(job, diag);
    case CLI_STORE_PRUNE:
        return prune(job, diag);
    case CLI_STORE_CHECK:
        return check(job, diag);
    case CLI_STORE_NOTHING:
        break;
    }
    return CLI_EXIT_BAD_INPUT;
}

/* Whether the file is open, or does not exist. If not, the log has said why. */
static bool is_usable(struct vyre_store *store)
{
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    return info.schema_version != 0 || info.reason.id == VYRE_DIAG_NONE;
}

/* Only import creates a store; only import and prune change one. */
static enum cli_exit work(const struct cli_store_command *command,
                          const struct cli_store_place *place, struct cli_output *out,
                          struct vyre_diag *diag)
{
    struct stat facts;
    struct job job = {command, place->path, stat(place->path, &facts) == 0, NULL, out};
    bool imports = command->action == CLI_STORE_IMPORT;
    bool writes = imports || (command->action == CLI_STORE_PRUNE && job.present);
    if (imports && place->is_default)
        cli_store_make_folder(place->path);
    const struct vyre_store_desc desc = {.path = writes || job.present ? place->path : NULL,
                                         .read_only = !writes,
                                         .busy_timeout_ms = 5000,
                                         .log = cli_store_log};
    if (vyre_store_open(&desc, &job.store, diag) != VYRE_OK) {
        cli_message_print(diag, NULL);
        return CLI_EXIT_FAILED;
    }
    /* A file that cannot be read is not an empty store. Check reports it as a problem. */
    bool acts = command->action == CLI_STORE_CHECK || is_usable(job.store);
    enum cli_exit result = acts ? act(&job, diag) : CLI_EXIT_FAILED;
    vyre_store_close(&job.store);
    return result;
}

enum cli_exit cli_store_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    struct cli_store_command command;
    struct cli_store_place place;
    vyre_diag_reset(&diag);
    if (cli_store_options_read(arguments, count, &command, &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (command.help) {
        cli_store_help(out);
        return CLI_EXIT_DONE;
    }
    if (cli_store_find(&command.place, cli_store_environment, &place, &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    return work(&command, &place, out, &diag);
}

void cli_store_help(struct cli_output *out)
{
    cli_output_text(
        out,
        "Usage: vyre store list   [--store PATH] [--json]\n"
        "       vyre store export [--store PATH]\n"
        "       vyre store import [--store PATH] [--json] FILE\n"
        "       vyre store prune  [--store PATH] [--json] [--older-than DAYS] [--device SIG]\n"
        "                         [--size BYTES] [--all]\n"
        "       vyre store check  [--store PATH] [--json]\n"
        "\n"
        "The store keeps what was measured and learned about each device for later runs.\n"
        "\n"
        "  list    show the devices and how much is known about each\n"
        "  export  print the whole store as one JSON document\n"
        "  import  merge an exported FILE (- reads standard input); of two records the later "
        "stays\n"
        "  prune   remove records; with several options, those that meet all of them\n"
        "  check   check the structure of the file and every checksum\n"
        "\n"
        "      --store PATH       the store's file, instead of $VYRE_STORE or\n"
        "                         $XDG_CACHE_HOME/vyre/store.db (~/.cache/vyre/store.db)\n"
        "      --json             print one JSON document\n"
        "      --older-than DAYS  prune what has not been used for this long\n"
        "      --device SIG       prune what belongs to the device with this signature\n"
        "      --size BYTES       then prune the least used, until the file is about this small\n"
        "      --all              prune everything\n"
        "  -h, --help             print this help\n"
        "\n"
        "Examples:\n"
        "  vyre store list\n"
        "  vyre store export >learned.json\n"
        "  vyre store prune --older-than 90\n");
}
