/*
 * diag.c: the tool's own diagnostics, all from diag_ids.def.
 */
#include "terminal/diag.h"

#include <stdarg.h>
#include <stdio.h>

struct diag_facts {
    enum cli_diag_id id;
    enum vyre_status status;
    const char *name;
    const char *fix;
};

static const struct diag_facts facts_table[] = {
#define CLI_DIAG_ID(symbol, number, name, status, summary, fix) \
    {CLI_DIAG_##symbol, status, name, fix},
#include "terminal/diag_ids.def"
#undef CLI_DIAG_ID
};

/* NULL if the id is not the tool's. */
static const struct diag_facts *find_facts(int id)
{
    for (size_t i = 0; i < sizeof facts_table / sizeof facts_table[0]; i++) {
        if ((int)facts_table[i].id == id)
            return &facts_table[i];
    }
    return NULL;
}

enum vyre_status cli_diag_set(struct vyre_diag *diag, enum cli_diag_id id, const char *label,
                              int64_t native_code, const char *message, ...)
{
    const struct diag_facts *facts = find_facts((int)id);
    if (!diag)
        return facts->status;
    /* Larger than a diagnostic's message, so that the library notices and marks a text that is cut. */
    char text[VYRE_DIAG_MESSAGE_BYTES + 8];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    (void)vyre_diag_set(diag, (enum vyre_diag_id)id, label, native_code, "%s", text);
    vyre_diag_set_fix(diag, "%s", facts->fix);
    diag->status = facts->status;
    return facts->status;
}

bool cli_diag_is(const struct vyre_diag *diag, enum cli_diag_id id)
{
    return (int)diag->id == (int)id;
}

const char *cli_diag_name(const struct vyre_diag *diag)
{
    const struct diag_facts *facts = find_facts((int)diag->id);
    return facts ? facts->name : vyre_diag_id_name(diag->id);
}
