/*
 * value.c: the inputs of a policy, from text.
 */
#include "decide/value.h"

#include <inttypes.h>
#include <stdlib.h>

#include "terminal/diag.h"
#include "terminal/message.h"

static enum vyre_status not_a_number(const char *name, struct cli_span text, struct vyre_diag *diag)
{
    if (text.size == 0)
        return cli_diag_set(diag, CLI_DIAG_VALUE_NUMBER, NULL, 0,
                            "`%s` is empty, not a whole unsigned number", name);
    return cli_diag_set(diag, CLI_DIAG_VALUE_NUMBER, NULL, 0,
                        "`%s` is `%s`, not a whole unsigned number", name, cli_quote(text).text);
}

static enum vyre_status out_of_range(const char *name, struct cli_span text, uint64_t maximum,
                                     struct vyre_diag *diag)
{
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_VALUE_RANGE, NULL, 0, "`%s` is %s, above the maximum %" PRIu64,
                     name, cli_quote(text).text, maximum);
    vyre_diag_set_fix(diag, "Use a number up to %" PRIu64 ".", maximum);
    return status;
}

static enum vyre_status parse_number(const char *name, struct cli_span text, uint64_t maximum,
                                     uint64_t *out_number, struct vyre_diag *diag)
{
    uint64_t number = 0;
    bool fits = true;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned)(unsigned char)text.bytes[i] - '0';
        if (digit > 9)
            return not_a_number(name, text, diag);
        /* Goes on after an overflow: a text that is no number is reported as such. */
        fits = fits && (number < maximum / 10 || (number == maximum / 10 && digit <= maximum % 10));
        number = fits ? number * 10 + digit : 0;
    }
    if (text.size == 0)
        return not_a_number(name, text, diag);
    if (!fits)
        return out_of_range(name, text, maximum, diag);
    *out_number = number;
    return VYRE_OK;
}

/* An allowed word and its value. */
struct word {
    const char *text;
    uint64_t number;
};

struct word_list {
    const struct word *words;
    size_t count;
    const char *fix;
};

static const struct word flag_words[] = {{"0", 0}, {"1", 1}};
static const struct word_list flag_list = {flag_words, 2, "Use 0 or 1."};

static const struct word support_words[] = {{"full", VYRE_BINDLESS_FULL},
                                            {"static", VYRE_BINDLESS_STATIC},
                                            {"unsupported", VYRE_BINDLESS_UNSUPPORTED}};
static const struct word_list support_list = {support_words, 3, "Use full, static or unsupported."};

static enum vyre_status parse_word(const char *name, struct cli_span text,
                                   const struct word_list *list, uint64_t *out_number,
                                   struct vyre_diag *diag)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cli_span_equals(text, list->words[i].text)) {
            *out_number = list->words[i].number;
            return VYRE_OK;
        }
    }
    enum vyre_status status = cli_diag_set(diag, CLI_DIAG_VALUE_WORD, NULL, 0,
                                           "`%s` cannot be `%s`", name, cli_quote(text).text);
    vyre_diag_set_fix(diag, "%s", list->fix);
    return status;
}

/* The next bytes up to a space; moves *offset past them. Empty at the end. */
static struct cli_span next_token(struct cli_span text, size_t *offset)
{
    size_t begin = *offset;
    while (begin < text.size && text.bytes[begin] == ' ')
        begin++;
    size_t end = begin;
    while (end < text.size && text.bytes[end] != ' ')
        end++;
    *offset = end;
    struct cli_span token = {text.bytes + begin, end - begin};
    return token;
}

static enum vyre_status empty_set(const char *name, struct vyre_diag *diag)
{
    enum vyre_status status = cli_diag_set(diag, CLI_DIAG_VALUE_NUMBER, NULL, 0,
                                           "`%s` is blank, not a set of slots", name);
    vyre_diag_set_fix(diag, "Use - for the empty set.");
    return status;
}

static enum vyre_status parse_slots(const char *name, struct cli_span text, uint32_t *slots,
                                    struct vyre_slot_set *out_set, size_t *out_offset,
                                    struct vyre_diag *diag)
{
    if (cli_span_equals(text, "-")) {
        vyre_slot_set_clear(out_set);
        return VYRE_OK;
    }
    size_t count = 0;
    size_t offset = 0;
    struct cli_span token = next_token(text, &offset);
    if (token.size == 0)
        return empty_set(name, diag);
    while (token.size > 0) {
        uint64_t slot = 0;
        enum vyre_status status = parse_number(name, token, UINT32_MAX, &slot, diag);
        if (status != VYRE_OK) {
            *out_offset = (size_t)(token.bytes - text.bytes);
            return status;
        }
        slots[count++] = (uint32_t)slot;
        token = next_token(text, &offset);
    }
    return vyre_slot_set_assign(out_set, slots, count, diag);
}

static enum vyre_role role_of(char letter)
{
    switch (letter) {
    case 'I':
        return VYRE_ROLE_INPUT;
    case 'O':
        return VYRE_ROLE_OUTPUT;
    case 'B':
        return VYRE_ROLE_INPUT_OUTPUT;
    case 'U':
        return VYRE_ROLE_UNIFORM;
    case 'S':
        return VYRE_ROLE_SHARED;
    case 'P':
        return VYRE_ROLE_PERSISTENT;
    default:
        return VYRE_ROLE_NONE;
    }
}

static enum vyre_status bad_role(const char *name, struct cli_span letter, struct vyre_diag *diag)
{
    enum vyre_status status;
    if (letter.size == 0)
        status = cli_diag_set(diag, CLI_DIAG_VALUE_WORD, NULL, 0, "`%s` is empty", name);
    else
        status =
            cli_diag_set(diag, CLI_DIAG_VALUE_WORD, NULL, 0,
                         "`%s` contains `%s`, which is not a role", name, cli_quote(letter).text);
    vyre_diag_set_fix(diag, "Use the letters I O B U S P, or - for no bindings.");
    return status;
}

static enum vyre_status parse_roles(const char *name, struct cli_span text,
                                    struct cli_bindings *out_bindings, size_t *out_offset,
                                    struct vyre_diag *diag)
{
    out_bindings->count = 0;
    if (cli_span_equals(text, "-"))
        return VYRE_OK;
    if (text.size == 0)
        return bad_role(name, text, diag);
    for (size_t i = 0; i < text.size; i++) {
        enum vyre_role role = role_of(text.bytes[i]);
        if (role == VYRE_ROLE_NONE) {
            struct cli_span letter = {text.bytes + i, 1};
            *out_offset = i;
            return bad_role(name, letter, diag);
        }
        out_bindings->descs[i].role = role;
    }
    out_bindings->count = text.size;
    return VYRE_OK;
}

const char *cli_value_type_name(enum cli_value_type type)
{
    switch (type) {
    case CLI_VALUE_U32:
        return "u32";
    case CLI_VALUE_U64:
        return "u64";
    case CLI_VALUE_FLAG:
        return "0|1";
    case CLI_VALUE_SUPPORT:
        return "full|static|unsupported";
    case CLI_VALUE_SLOTS:
        return "slots";
    case CLI_VALUE_ROLES:
        return "roles";
    }
    return "";
}

static size_t count_of_type(const struct cli_values *values, enum cli_value_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < values->count; i++)
        count += values->inputs[i].type == type;
    return count;
}

/* Gives each set and each list of bindings its share of the memory. */
static void distribute(struct cli_values *values)
{
    uint32_t *set_memory = values->slots;
    for (size_t i = 0; i < values->count; i++) {
        if (values->inputs[i].type == CLI_VALUE_SLOTS) {
            set_memory += CLI_VALUE_SLOTS_MAX;
            vyre_slot_set_init(&values->value[i].slots, set_memory, CLI_VALUE_SLOTS_MAX);
        } else if (values->inputs[i].type == CLI_VALUE_ROLES) {
            values->value[i].bindings.descs = values->descs;
            values->value[i].bindings.memory = values->bindings;
        }
    }
    for (uint32_t i = 0; values->descs && i < CLI_VALUE_ROLES_MAX; i++)
        values->descs[i].slot = i;
}

enum vyre_status cli_values_init(struct cli_values *values, const struct cli_input *inputs,
                                 size_t count, struct vyre_diag *diag)
{
    memset(values, 0, sizeof *values);
    values->inputs = inputs;
    values->count = count;
    size_t set_count = count_of_type(values, CLI_VALUE_SLOTS);
    bool has_roles = count_of_type(values, CLI_VALUE_ROLES) > 0;
    if (set_count > 0)
        values->slots = calloc((set_count + 1) * CLI_VALUE_SLOTS_MAX, sizeof *values->slots);
    if (has_roles) {
        values->descs = calloc(CLI_VALUE_ROLES_MAX, sizeof *values->descs);
        values->bindings = calloc(CLI_VALUE_ROLES_MAX, sizeof *values->bindings);
    }
    if ((set_count > 0 && !values->slots) || (has_roles && (!values->descs || !values->bindings))) {
        cli_values_deinit(values);
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory for the inputs of the policy");
    }
    distribute(values);
    return VYRE_OK;
}

void cli_values_deinit(struct cli_values *values)
{
    free(values->slots);
    free(values->descs);
    free(values->bindings);
    memset(values, 0, sizeof *values);
}

enum vyre_status cli_values_parse(struct cli_values *values, size_t index, struct cli_span text,
                                  size_t *out_offset, struct vyre_diag *diag)
{
    const char *name = values->inputs[index].name;
    struct cli_value *value = &values->value[index];
    *out_offset = 0;
    if (text.size > CLI_VALUE_TEXT_BYTES)
        return cli_diag_set(diag, CLI_DIAG_VALUE_LONG, NULL, 0, "`%s` has %zu bytes, more than %d",
                            name, text.size, CLI_VALUE_TEXT_BYTES);
    switch (values->inputs[index].type) {
    case CLI_VALUE_U32:
        return parse_number(name, text, UINT32_MAX, &value->number, diag);
    case CLI_VALUE_U64:
        return parse_number(name, text, UINT64_MAX, &value->number, diag);
    case CLI_VALUE_FLAG:
        return parse_word(name, text, &flag_list, &value->number, diag);
    case CLI_VALUE_SUPPORT:
        return parse_word(name, text, &support_list, &value->number, diag);
    case CLI_VALUE_SLOTS:
        return parse_slots(name, text, values->slots, &value->slots, out_offset, diag);
    case CLI_VALUE_ROLES:
        return parse_roles(name, text, &value->bindings, out_offset, diag);
    }
    return VYRE_INTERNAL;
}
