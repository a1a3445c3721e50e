/*
 * errors_page.c: prints docs/errors.md or docs/tool-errors.md from the tables of diagnostics.
 *
 *   errors_page library|tool
 */
#include <stdio.h>
#include <string.h>

#include <vyre/status.h>

struct id {
    int number;
    const char *name;
    enum vyre_status status;
    const char *summary;
    const char *fix;
};

struct range {
    int first;
    int last;
    const char *title;
};

struct page {
    const char *word; /* names it on the command line */
    const char *head;
    const struct id *ids;
    size_t id_count;
    const struct range *ranges;
    size_t range_count;
};

static const struct id library_ids[] = {
#define VYRE_DIAG_ID(symbol, number, name, status, summary, fix) \
    {number, name, status, summary, fix},
#include <vyre/diag_ids.def>
#undef VYRE_DIAG_ID
};

static const struct range library_ranges[] = {
    {1, 99, "General"},    {100, 199, "Policies and plans"},
    {200, 299, "Observe"}, {300, 379, "Runtime and the CPU backend"},
    {380, 399, "OpenCL"},  {400, 449, "SPIR-V and GLSL"},
    {450, 479, "Store"},   {500, 529, "Vulkan"},
};

static const struct id tool_ids[] = {
#define CLI_DIAG_ID(symbol, number, name, status, summary, fix) \
    {number, name, status, summary, fix},
#include "terminal/diag_ids.def"
#undef CLI_DIAG_ID
};

static const struct range tool_ranges[] = {
    {900, 919, "The command line"},
    {920, 939, "Tables of `vyre decide`"},
    {940, 959, "Inputs of policies"},
    {960, 984, "Workload files"},
    {985, 999, "Records"},
    {461, 467, "The store"}, /* in the library's range, which leaves them free */
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const struct page pages[] = {
    {"library",
     "# Errors\n\n"
     "Every diagnostic that the library can give. Ids and names are stable; the wording is not.\n"
     "The tool adds [its own](tool-errors.md). `make docs` writes this page from\n"
     "`include/vyre/diag_ids.def`; do not edit it.\n",
     library_ids, COUNT_OF(library_ids), library_ranges, COUNT_OF(library_ranges)},
    {"tool",
     "# Errors of the tool\n\n"
     "Every diagnostic that only the tool `vyre` gives, about its command line and the files that "
     "it\n"
     "reads. It also passes on those of the [library](errors.md). Ids and names are stable; the\n"
     "wording is not. `make docs` writes this page from `cli/terminal/diag_ids.def`; do not edit "
     "it.\n",
     tool_ids, COUNT_OF(tool_ids), tool_ranges, COUNT_OF(tool_ranges)},
};

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

static void print_row(const struct id *id)
{
    printf("| %d |", id->number);
    print_cell(id->name);
    print_cell(vyre_status_name(id->status));
    print_cell(id->summary);
    print_cell(id->fix);
    putchar('\n');
}

/* Prints the ids of a range in the order of their numbers; returns how many there are. */
static size_t print_range(const struct page *page, const struct range *range)
{
    size_t count = 0;
    for (int number = range->first; number <= range->last; number++) {
        for (size_t i = 0; i < page->id_count; i++) {
            if (page->ids[i].number != number)
                continue;
            if (count++ == 0)
                printf("\n## %s (%d to %d)\n\n"
                       "| id | name | status | what happened | what to do |\n"
                       "| --- | --- | --- | --- | --- |\n",
                       range->title, range->first, range->last);
            print_row(&page->ids[i]);
        }
    }
    return count;
}

static int print_page(const struct page *page)
{
    fputs(page->head, stdout);
    size_t printed = 0;
    for (size_t i = 0; i < page->range_count; i++)
        printed += print_range(page, &page->ranges[i]);
    for (size_t i = 0; i < page->id_count; i++)
        printed += page->ids[i].number == 0; /* "none" is on no page */
    if (printed != page->id_count) {
        fprintf(stderr, "errors_page: an id of the %s lies outside the ranges\n", page->word);
        return 1;
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < COUNT_OF(pages); i++) {
        if (strcmp(argv[1], pages[i].word) == 0)
            return print_page(&pages[i]);
    }
    fprintf(stderr, "usage: errors_page library|tool\n");
    return 2;
}
