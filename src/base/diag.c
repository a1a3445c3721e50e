/*
 * diag.c: diagnostics and the facts about their ids, all from diag_ids.def.
 */
#include <vyre/diag.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The end of a text that did not fit. */
#define CUT_MARK       "..."
#define UTF8_MAX_BYTES 4

struct diag_facts {
    enum vyre_diag_id id;
    enum vyre_status status;
    const char *name;
    const char *summary;
    const char *fix;
};

static const struct diag_facts facts_table[] = {
#define VYRE_DIAG_ID(symbol, number, name, status, summary, fix) \
    {VYRE_DIAG_##symbol, status, name, summary, fix},
#include <vyre/diag_ids.def>
#undef VYRE_DIAG_ID
};

static const struct diag_facts *find_facts(enum vyre_diag_id id)
{
    for (size_t i = 0; i < sizeof facts_table / sizeof facts_table[0]; i++) {
        if (facts_table[i].id == id)
            return &facts_table[i];
    }
    static const struct diag_facts unknown = {VYRE_DIAG_NONE, VYRE_INTERNAL, "unknown", "", ""};
    return &unknown;
}

/*
 * Marks a text that was cut, so that it is not mistaken for the whole. Splits no UTF-8 character.
 */
static void mark_cut(char *text, size_t capacity, size_t length)
{
    if (length < capacity)
        return;
    size_t cut = capacity - sizeof CUT_MARK;
    for (int i = 1; i < UTF8_MAX_BYTES && ((unsigned char)text[cut] & 0xc0) == 0x80; i++)
        cut--; /* a continuation byte: remove its whole character */
    memcpy(text + cut, CUT_MARK, sizeof CUT_MARK);
}

VYRE_PRINTF(3, 0)
static void set_text(char *out, size_t capacity, const char *format, va_list arguments)
{
    int length = vsnprintf(out, capacity, format, arguments);
    if (length < 0)
        out[0] = '\0';
    else
        mark_cut(out, capacity, (size_t)length);
}

static void copy_text(char *out, size_t capacity, const char *text)
{
    struct vyre_text copy = vyre_text_begin(out, capacity);
    vyre_text_append(&copy, text);
    mark_cut(out, capacity, copy.length);
}

void vyre_diag_reset(struct vyre_diag *diag)
{
    if (diag)
        memset(diag, 0, sizeof *diag);
}

enum vyre_status vyre_diag_set(struct vyre_diag *diag, enum vyre_diag_id id, const char *label,
                               int64_t native_code, const char *message, ...)
{
    const struct diag_facts *facts = find_facts(id);
    if (!diag)
        return facts->status;

    diag->status = facts->status;
    diag->id = id;
    diag->native_code = native_code;
    copy_text(diag->label, sizeof diag->label, label ? label : "");
    copy_text(diag->fix, sizeof diag->fix, facts->fix);
    va_list arguments;
    va_start(arguments, message);
    set_text(diag->message, sizeof diag->message, message, arguments);
    va_end(arguments);
    return facts->status;
}

void vyre_diag_set_fix(struct vyre_diag *diag, const char *fix, ...)
{
    if (!diag)
        return;
    va_list arguments;
    va_start(arguments, fix);
    set_text(diag->fix, sizeof diag->fix, fix, arguments);
    va_end(arguments);
}

size_t vyre_diag_format(const struct vyre_diag *diag, char *out, size_t capacity)
{
    return vyre_diag_format_named(diag, vyre_diag_id_name(diag->id), out, capacity);
}

size_t vyre_diag_format_named(const struct vyre_diag *diag, const char *name, char *out,
                              size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_appendf(&text, "error[%s]: %s", name, diag->message);
    if (diag->label[0] != '\0')
        vyre_text_appendf(&text, " (in %s)", diag->label);
    if (diag->native_code != 0)
        vyre_text_appendf(&text, " (native code %lld)", (long long)diag->native_code);
    if (diag->fix[0] != '\0')
        vyre_text_appendf(&text, "\n  fix: %s", diag->fix);
    return text.length;
}

const char *vyre_diag_id_name(enum vyre_diag_id id)
{
    return find_facts(id)->name;
}

enum vyre_status vyre_diag_id_status(enum vyre_diag_id id)
{
    return find_facts(id)->status;
}

const char *vyre_diag_id_summary(enum vyre_diag_id id)
{
    return find_facts(id)->summary;
}

const char *vyre_diag_id_fix(enum vyre_diag_id id)
{
    return find_facts(id)->fix;
}
