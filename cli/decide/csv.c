/*
 * csv.c: reads a table line by line in constant memory.
 */
#include "decide/csv.h"

#include <errno.h>
#include <string.h>

#include "terminal/diag.h"

void cli_csv_init(struct cli_csv *csv, cli_csv_read *read, void *user)
{
    csv->read = read;
    csv->user = user;
    csv->line = 0;
    csv->column = 1;
    csv->start = 0;
    csv->end = 0;
    csv->at_end = false;
    csv->text = csv->buffer;
    csv->length = 0;
    csv->position = 1;
}

/* Reads ahead into the free part of the buffer, which must not be empty. */
static enum vyre_status read_ahead(struct cli_csv *csv, struct vyre_diag *diag)
{
    ssize_t count;
    do {
        count = csv->read(csv->user, csv->buffer + csv->end, sizeof csv->buffer - csv->end);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        int error = errno;
        csv->column = csv->end - csv->start + 1;
        return cli_diag_set(diag, CLI_DIAG_CSV_OPEN, NULL, error, "cannot read the table: %s",
                            strerror(error));
    }
    csv->at_end = count == 0;
    csv->end += (size_t)count;
    return VYRE_OK;
}

/*
 * Reads until the unread bytes contain a line feed, the buffer is full, or the input ends. *out_size is
 * the number of bytes before the line feed, or of all unread bytes.
 */
static enum vyre_status find_line_end(struct cli_csv *csv, size_t *out_size, bool *out_line_feed,
                                      struct vyre_diag *diag)
{
    size_t searched = 0;
    *out_line_feed = false;
    for (;;) {
        char *unread = csv->buffer + csv->start;
        size_t size = csv->end - csv->start;
        char *found = memchr(unread + searched, '\n', size - searched);
        *out_size = found ? (size_t)(found - unread) : size;
        *out_line_feed = found != NULL;
        if (found || csv->at_end || size == sizeof csv->buffer)
            return VYRE_OK;

        searched = size;
        if (csv->start > 0)
            memmove(csv->buffer, unread, size);
        csv->start = 0;
        csv->end = size;
        enum vyre_status status = read_ahead(csv, diag);
        if (status != VYRE_OK)
            return status;
    }
}

/* Skips a byte order mark; reads on as long as the first bytes may be the beginning of one. */
static enum vyre_status skip_byte_order_mark(struct cli_csv *csv, struct vyre_diag *diag)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    while (csv->end < sizeof mark && !csv->at_end) {
        enum vyre_status status = read_ahead(csv, diag);
        if (status != VYRE_OK)
            return status;
    }
    if (csv->end >= sizeof mark && memcmp(csv->buffer, mark, sizeof mark) == 0)
        csv->start = sizeof mark;
    return VYRE_OK;
}

/* Looks for a NUL first: for a binary file that is a better error than a long line. */
static enum vyre_status check_line(struct cli_csv *csv, struct vyre_diag *diag)
{
    size_t allowed = csv->length < CLI_CSV_LINE_BYTES ? csv->length : CLI_CSV_LINE_BYTES;
    const char *nul = memchr(csv->text, '\0', allowed);
    if (nul) {
        csv->column = (size_t)(nul - csv->text) + 1;
        return cli_diag_set(diag, CLI_DIAG_CSV_NUL, NULL, 0, "the line contains a NUL byte");
    }
    if (csv->length > CLI_CSV_LINE_BYTES) {
        csv->column = CLI_CSV_LINE_BYTES + 1;
        return cli_diag_set(diag, CLI_DIAG_CSV_LINE_LONG, NULL, 0,
                            "the line is longer than %d bytes", CLI_CSV_LINE_BYTES);
    }
    return VYRE_OK;
}

enum vyre_status cli_csv_next_line(struct cli_csv *csv, bool *out_found, struct vyre_diag *diag)
{
    *out_found = false;
    csv->line++;
    csv->column = 1;
    enum vyre_status status = VYRE_OK;
    if (csv->line == 1)
        status = skip_byte_order_mark(csv, diag);
    size_t size = 0;
    bool line_feed = false;
    if (status == VYRE_OK)
        status = find_line_end(csv, &size, &line_feed, diag);
    if (status != VYRE_OK)
        return status;
    if (size == 0 && !line_feed)
        return VYRE_OK;

    csv->text = csv->buffer + csv->start;
    csv->start += size + line_feed;
    csv->length = size > 0 && csv->text[size - 1] == '\r' ? size - 1 : size;
    csv->position = 0;
    status = check_line(csv, diag);
    *out_found = status == VYRE_OK;
    return status;
}

static enum vyre_status quote_error(struct cli_csv *csv, size_t position, const char *what,
                                    struct vyre_diag *diag)
{
    csv->column = position + 1;
    return cli_diag_set(diag, CLI_DIAG_CSV_QUOTE, NULL, 0, "%s", what);
}

/* Takes a quoted field and closes the gaps that doubled quotes leave. */
static enum vyre_status take_quoted(struct cli_csv *csv, struct cli_field *out_field,
                                    struct vyre_diag *diag)
{
    char *text = csv->text;
    size_t from = csv->position + 1;
    size_t to = from;
    for (;;) {
        char *quote = memchr(text + from, '"', csv->length - from);
        if (!quote)
            return quote_error(csv, csv->position, "the quoted field does not end", diag);
        size_t size = (size_t)(quote - text) - from;
        memmove(text + to, text + from, size);
        to += size;
        from += size + 1;
        if (from == csv->length || text[from] != '"')
            break;
        text[to++] = '"';
        from++;
    }
    if (from < csv->length && text[from] != ',')
        return quote_error(csv, from, "the field continues after its closing quote", diag);

    out_field->text.bytes = text + csv->position + 1;
    out_field->text.size = to - csv->position - 1;
    csv->position = from + 1;
    return VYRE_OK;
}

static void take_bare(struct cli_csv *csv, struct cli_field *out_field)
{
    char *text = csv->text + csv->position;
    size_t left = csv->length - csv->position;
    char *comma = memchr(text, ',', left);
    out_field->text.bytes = text;
    out_field->text.size = comma ? (size_t)(comma - text) : left;
    csv->position += out_field->text.size + 1;
}

enum vyre_status cli_csv_next_field(struct cli_csv *csv, bool *out_found,
                                    struct cli_field *out_field, struct vyre_diag *diag)
{
    *out_found = csv->position <= csv->length;
    if (!*out_found)
        return VYRE_OK;
    out_field->column = csv->position + 1;
    out_field->quoted = csv->position < csv->length && csv->text[csv->position] == '"';
    if (out_field->quoted)
        return take_quoted(csv, out_field, diag);
    take_bare(csv, out_field);
    return VYRE_OK;
}
