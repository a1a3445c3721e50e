/*
 * launch_json.c: the launch benchmark's results as one JSON document.
 */
#include "launch_figures.h"

/* Names and reasons are ours, but a reason may quote a path. */
static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void put_summary(FILE *out, const char *prefix, const struct sample_summary *ns)
{
    fprintf(out, ",\"%smin_ns\":%.2f,\"%slow_ns\":%.2f,\"%smedian_ns\":%.2f,\"%shigh_ns\":%.2f",
            prefix, ns->min, prefix, ns->low, prefix, ns->median, prefix, ns->high);
}

static void put_cells(const struct launch_results *results, FILE *out)
{
    const char *comma = "";
    fprintf(out, ",\"cells\":[");
    for (uint32_t cell = 0; cell < LAUNCH_CELLS; cell++) {
        const struct launch_cell *c = &results->cells[cell];
        for (size_t i = 0; i < results->contender_count; i++) {
            struct launch_figure figure;
            if (!launch_get_figure(results, i, cell, &figure))
                continue;
            fprintf(out, "%s\n{\"groups\":%u,\"pattern\":\"%s\",\"launches\":%u,\"repeats\":%u,",
                    comma, c->groups, launch_pattern_name(c->pattern), c->launches, c->repeats);
            fprintf(out, "\"contender\":");
            put_string(out, results->contenders[i].name);
            put_summary(out, "", &figure.ns);
            fprintf(out, ",\"ratio_to_direct\":%.4f", figure.ratio);
            if (i == results->auto_row) {
                const uint64_t *modes = launch_vyre_modes(&results->contenders[i], cell);
                fprintf(out, ",\"batches_by_mode\":{");
                for (int m = VYRE_MODE_PLAIN; m < VYRE_MODE_COUNT; m++)
                    fprintf(out, "%s\"%s\":%llu", m > VYRE_MODE_PLAIN ? "," : "",
                            vyre_mode_name((enum vyre_mode)m), (unsigned long long)modes[m]);
                fputc('}', out);
            }
            fputc('}', out);
            comma = ",";
        }
    }
    fprintf(out, "]");
}

static void put_streams(const struct launch_results *results, FILE *out)
{
    const char *comma = "";
    fprintf(out, ",\"streaming\":[");
    for (size_t s = 0; s < results->streamer_count && results->stream_rounds > 0; s++) {
        if (results->streamers[s].absent[0])
            continue;
        struct sample_summary item =
            launch_summarize(results->stream_ns[s], results->stream_rounds);
        struct sample_summary trip =
            launch_summarize(results->round_trip_ns[s], results->stream_rounds);
        fprintf(out, "%s\n{\"contender\":", comma);
        put_string(out, results->streamers[s].name);
        put_summary(out, "item_", &item);
        put_summary(out, "round_trip_", &trip);
        fputc('}', out);
        comma = ",";
    }
    fprintf(out, "]");
}

static void put_aims(const struct launch_results *results, FILE *out)
{
    struct launch_aim aims[LAUNCH_AIMS_MAX];
    size_t count = launch_make_aims(results, aims);
    const char *comma = "";
    fprintf(out, ",\"aims\":[");
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < 2; r++) {
            const struct launch_verdict *result = &aims[i].verdicts[r];
            if (!result->known)
                continue;
            fprintf(out,
                    "%s\n{\"aim\":\"%s\",\"comparison\":\"%s\",\"limit\":%g,\"unit\":\"%s\","
                    "\"contender\":\"%s\",\"value\":%.3f,\"reached\":%s}",
                    comma, aims[i].text, aims[i].at_least ? ">=" : "<=", aims[i].limit,
                    aims[i].unit, result->who, result->value, result->reached ? "true" : "false");
            comma = ",";
        }
    }
    fprintf(out, "]");
}

static void put_absent(const struct launch_results *results, FILE *out)
{
    const char *comma = "";
    fprintf(out, ",\"absent\":[");
    for (size_t c = 0; c < results->contender_count; c++) {
        if (!results->contenders[c].absent[0])
            continue;
        fprintf(out, "%s\n{\"contender\":", comma);
        put_string(out, results->contenders[c].name);
        fprintf(out, ",\"reason\":");
        put_string(out, results->contenders[c].absent);
        fputc('}', out);
        comma = ",";
    }
    fprintf(out, "]");
}

void launch_report_json(const struct launch_results *results, FILE *out)
{
    fprintf(out,
            "{\"bench\":\"launch\",\"rounds\":%zu,\"rounds_wanted\":%zu,\"load\":%.2f,"
            "\"digests_agree\":true",
            results->rounds, results->rounds_wanted, results->load);
    put_absent(results, out);
    put_cells(results, out);
    put_streams(results, out);
    put_aims(results, out);
    fprintf(out, "}\n");
}
