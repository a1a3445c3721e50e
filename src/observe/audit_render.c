/*
 * audit_render.c: audit events for people and for programs.
 *
 * Every word comes from a fixed table of plain identifiers, so JSON needs no escaping here.
 */
#include <vyre/audit.h>

#include "base/text.h"
#include "policy/verdict_text.h"

/* Enough for one event or one counter line in either form. */
#define LINE_BYTES 320

size_t vyre_audit_event_format(const struct vyre_audit_event *event, char *out, size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_append_u64(&text, event->sequence);
    vyre_text_appendf(&text, " %s %s %s saved_ns=", vyre_policy_name(event->event.policy),
                      vyre_policy_action_name(event->event.action),
                      vyre_policy_detail_name(event->event.detail));
    vyre_text_append_u128(&text, event->event.saved_ns);
    return text.length;
}

size_t vyre_audit_event_format_json(const struct vyre_audit_event *event, char *out,
                                    size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_append(&text, "{\"sequence\":");
    vyre_text_append_u64(&text, event->sequence);
    vyre_text_append(&text, ",\"time_ns\":");
    vyre_text_append_u64(&text, event->time_ns);
    vyre_text_appendf(&text, ",\"policy\":\"%s\",\"action\":\"%s\",\"detail\":\"%s\",\"saved_ns\":",
                      vyre_policy_name(event->event.policy),
                      vyre_policy_action_name(event->event.action),
                      vyre_policy_detail_name(event->event.detail));
    vyre_text_append_u128(&text, event->event.saved_ns);
    vyre_text_append(&text, "}");
    return text.length;
}

static void emit(vyre_text_sink *sink, void *user, const struct vyre_text *line)
{
    sink(user, line->out, line->length < line->capacity ? line->length : line->capacity - 1);
}

void vyre_audit_render_text(const struct vyre_audit_snapshot *snapshot,
                            const struct vyre_audit_event *events, vyre_text_sink *sink, void *user)
{
    char memory[LINE_BYTES];
    for (size_t i = 0; i < snapshot->count; i++) {
        struct vyre_text line = vyre_text_begin(memory, sizeof memory);
        line.length = vyre_audit_event_format(&events[i], memory, sizeof memory);
        vyre_text_append(&line, "\n");
        emit(sink, user, &line);
    }
    for (size_t policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        struct vyre_text line = vyre_text_begin(memory, sizeof memory);
        vyre_text_appendf(&line, "verdicts %s", vyre_policy_name((enum vyre_policy)policy));
        for (size_t choice = 1; choice < VYRE_AUDIT_CHOICES; choice++) {
            vyre_text_appendf(&line,
                              " %s=", vyre_choice_name((enum vyre_policy)policy, (unsigned)choice));
            vyre_text_append_u64(&line, snapshot->counters.verdicts[policy][choice]);
        }
        vyre_text_append(&line, "\n");
        emit(sink, user, &line);
    }
    struct vyre_text line = vyre_text_begin(memory, sizeof memory);
    vyre_text_append(&line, "recorded=");
    vyre_text_append_u64(&line, snapshot->recorded);
    vyre_text_append(&line, " dropped=");
    vyre_text_append_u64(&line, snapshot->dropped);
    vyre_text_appendf(&line, " limit=%u\n", snapshot->event_limit);
    emit(sink, user, &line);
}

static void render_counters_json(const struct vyre_audit_snapshot *snapshot, vyre_text_sink *sink,
                                 void *user)
{
    char memory[LINE_BYTES];
    for (size_t policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        struct vyre_text line = vyre_text_begin(memory, sizeof memory);
        vyre_text_appendf(&line, "%s\"%s\":{", policy > 1 ? "," : "",
                          vyre_policy_name((enum vyre_policy)policy));
        for (size_t choice = 1; choice < VYRE_AUDIT_CHOICES; choice++) {
            vyre_text_appendf(&line, "%s\"%s\":", choice > 1 ? "," : "",
                              vyre_choice_name((enum vyre_policy)policy, (unsigned)choice));
            vyre_text_append_u64(&line, snapshot->counters.verdicts[policy][choice]);
        }
        vyre_text_append(&line, "}");
        emit(sink, user, &line);
    }
}

void vyre_audit_render_json(const struct vyre_audit_snapshot *snapshot,
                            const struct vyre_audit_event *events, vyre_text_sink *sink, void *user)
{
    char memory[LINE_BYTES];
    struct vyre_text line = vyre_text_begin(memory, sizeof memory);
    vyre_text_append(&line, "{\"recorded\":");
    vyre_text_append_u64(&line, snapshot->recorded);
    vyre_text_append(&line, ",\"dropped\":");
    vyre_text_append_u64(&line, snapshot->dropped);
    vyre_text_appendf(&line, ",\"limit\":%u,\"verdicts\":{", snapshot->event_limit);
    emit(sink, user, &line);
    render_counters_json(snapshot, sink, user);
    line = vyre_text_begin(memory, sizeof memory);
    vyre_text_append(&line, "},\"events\":[");
    emit(sink, user, &line);
    for (size_t i = 0; i < snapshot->count; i++) {
        line = vyre_text_begin(memory, sizeof memory);
        vyre_text_append(&line, i > 0 ? "," : "");
        line.length += vyre_audit_event_format_json(&events[i], memory + line.length,
                                                    sizeof memory - line.length);
        emit(sink, user, &line);
    }
    line = vyre_text_begin(memory, sizeof memory);
    vyre_text_append(&line, "]}\n");
    emit(sink, user, &line);
}
