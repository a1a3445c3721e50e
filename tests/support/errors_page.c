/*
 * errors_page.c: prints docs/errors.md from diag_ids.def and the library's tables.
 */
#include <stdio.h>

#include <vyre/diag.h>

static const struct range {
    int first;
    int last;
    const char *title;
} ranges[] = {
    {0, 99, "General"},
    {100, 199, "Policies and plans"},
    {200, 299, "Observe"},
    {300, 379, "Runtime and the CPU backend"},
    {380, 399, "OpenCL"},
    {400, 449, "SPIR-V and GLSL"},
    {450, 479, "Store"},
    {500, 529, "Vulkan"},
    {900, 999, "The command-line tool"},
};

static const enum vyre_diag_id ids[] = {
#define VYRE_DIAG_ID(symbol, number, name, status, summary, fix) VYRE_DIAG_##symbol,
#include <vyre/diag_ids.def>
#undef VYRE_DIAG_ID
};

enum { ID_COUNT = sizeof ids / sizeof ids[0], RANGE_COUNT = sizeof ranges / sizeof ranges[0] };

/* A cell of a table; a bar would end it. */
static void print_cell(const char *text)
{
    fputs(" ", stdout);
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
    fputs(" |", stdout);
}

static void print_row(enum vyre_diag_id id)
{
    printf("| %d |", (int)id);
    print_cell(vyre_diag_id_name(id));
    print_cell(vyre_status_name(vyre_diag_id_status(id)));
    print_cell(vyre_diag_id_summary(id));
    print_cell(vyre_diag_id_fix(id));
    putchar('\n');
}

/* Prints the ids of a range in the order of their numbers; returns how many there are. */
static int print_range(const struct range *range)
{
    int count = 0;
    for (int number = range->first; number <= range->last; number++) {
        for (int i = 0; i < ID_COUNT; i++) {
            if ((int)ids[i] != number || ids[i] == VYRE_DIAG_NONE)
                continue;
            if (count++ == 0)
                printf("\n## %s (%d to %d)\n\n"
                       "| id | name | status | what happened | what to do |\n"
                       "| --- | --- | --- | --- | --- |\n",
                       range->title, range->first, range->last);
            print_row(ids[i]);
        }
    }
    return count;
}

int main(void)
{
    printf(
        "# Errors\n\n"
        "Every diagnostic that Vyre can give. Ids and names are stable, the wording is not. This "
        "page\nis made from `include/vyre/diag_ids.def` by `make docs`; do not edit it.\n");
    int printed = 0;
    for (int i = 0; i < RANGE_COUNT; i++)
        printed += print_range(&ranges[i]);
    if (printed != ID_COUNT - 1) { /* all but "none" */
        fprintf(stderr, "errors_page: an id of diag_ids.def lies outside the ranges\n");
        return 1;
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
