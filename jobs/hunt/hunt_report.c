#include "jobs/hunt/hunt_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_members.h"
#include "base/json_write.h"
#include "base/plural.h"
#include "base/printable.h"
#include "base/statistics.h"
#include "report/words.h"

enum { LISTED_MOST = 12, LINES_BYTES = 1 << 20 };

/* ---- finds ---- */

static void write_rate(const struct rig_hunt_find *find, struct rig_buf *out)
{
    if (find->of == 0) {
        rig_buf_add_text(out, "once; no time was left to run it again");
        return;
    }
    const struct rig_interval interval = rig_interval_of_share(find->shown, find->of);
    rig_buf_printf(out, "in %u of %u run%s with new seeds (95 %%: %.0f %% to %.0f %%)", (unsigned)find->shown,
                   (unsigned)find->of, rig_plural(find->of), floor(interval.least * 100), ceil(interval.most * 100));
    if (find->length > 1)
        rig_buf_printf(out, ", each %u times as long as the other runs", (unsigned)find->length);
}

static void write_needs(const struct rig_hunt_facts *facts, const struct rig_hunt_find *find, struct rig_buf *out)
{
    struct rig_buf words;
    const struct rig_hunt_base *base = &facts->space->bases[find->point.base];
    rig_buf_init(&words, 0);
    rig_hunt_point_words(facts->space, &find->point, &words);
    const bool sets_nothing = strcmp(rig_buf_text(&words), "nothing") == 0;
    if (find->point.base > 0)
        rig_buf_printf(out, " The load is that of the recipe %s.", base->name);
    if (find->like > 0)
        rig_buf_printf(out, " It was seen with %s. Find %u needs no more than this: perhaps it is the same bug.",
                       rig_buf_text(&words), (unsigned)find->like);
    else if (sets_nothing && find->point.base > 0)
        rig_buf_add_text(out, " It needs nothing beside that load and the level.");
    else if (sets_nothing)
        rig_buf_printf(out, " It needs no setting beside %s.",
                       facts->space->level_count > 0 ? "the level" : "the plan");
    else if (find->is_explained)
        rig_buf_printf(out, " It needs %s: without one of these settings it was not seen.", rig_buf_text(&words));
    else
        rig_buf_printf(
            out, " It was seen with %s; which of these settings it needs was not found out in the time for a find.",
            rig_buf_text(&words));
    rig_buf_done(&words);
}

/* The runs on the server of --against. */
static void write_against(const struct rig_hunt_find *find, struct rig_buf *out)
{
    if (find->against[0] == '\0')
        return;
    if (find->against_of == 0)
        rig_buf_printf(out, " On %s it could not run.", find->against);
    else if (find->against_shown > 0)
        rig_buf_printf(out, " On %s the promise is broken as well: in %u of %u run%s.", find->against,
                       (unsigned)find->against_shown, (unsigned)find->against_of, rig_plural(find->against_of));
    else
        rig_buf_printf(out, " On %s the promise was kept in %u run%s (95 %%: broken in fewer than %.2g %%).",
                       find->against, (unsigned)find->against_of, rig_plural(find->against_of),
                       rig_interval_most_of_none(find->against_of) * 100);
}

void rig_hunt_find_text(const struct rig_hunt_facts *facts, const struct rig_hunt_find *find, struct rig_buf *out)
{
    struct rig_buf text;
    rig_buf_init(&text, LINES_BYTES);
    rig_buf_printf(&text, "FIND %u: %s at %s, %s: ", (unsigned)find->number, find->anomaly, find->level, find->type);
    rig_words_clean(&text, find->happened, false);
    rig_buf_printf(&text, "%sPromised: %s; broken: %s. It showed ", find->happened[0] != '\0' ? " " : "", find->promise,
                   find->broken[0] != '\0' ? find->broken : "a condition");
    write_rate(find, &text);
    rig_buf_add_char(&text, '.');
    write_needs(facts, find, &text);
    write_against(find, &text);
    if (find->bisection[0] != '\0')
        rig_buf_printf(&text, " %s", find->bisection);
    if (find->known[0] != '\0')
        rig_buf_printf(&text, " It has the shape of the known bug %s (`rig reproduce %s`).", find->known, find->known);
    rig_buf_printf(&text, " All of it is in %s; plan.yaml there shows it again.", find->folder);
    rig_wrap(rig_buf_text(&text), 4, facts->columns, out);
    rig_buf_add_char(out, '\n');
    rig_buf_done(&text);
}

static void write_finds(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    if (facts->finds->count == 0)
        return;
    rig_buf_printf(out, "\n%4s  %-24s  %-20s  %-14s  %9s  %5s  %s\n", "find", "anomaly", "level", "type", "shown",
                   "seen", "needs");
    for (uint32_t i = 0; i < facts->finds->count; i++) {
        const struct rig_hunt_find *find = &facts->finds->at[i];
        rig_buf_printf(out, "%4u  %-24s  %-20s  %-14s  %4u of %2u  %5u  ", (unsigned)find->number, find->anomaly,
                       find->level, find->type, (unsigned)find->shown, (unsigned)find->of, (unsigned)find->sightings);
        if (find->like > 0)
            rig_buf_printf(out, "as find %u", (unsigned)find->like);
        else
            rig_hunt_point_words(facts->space, &find->point, out);
        if (find->known[0] != '\0')
            rig_buf_printf(out, "  (known: %s)", find->known);
        if (find->is_old)
            rig_buf_printf(out, "  (an earlier hunt: %s)", find->server);
        rig_buf_add_char(out, '\n');
    }
}

/* ---- what the promises allow ---- */

/* The cyclic anomalies with an order of time in their names repeat those without. */
static void write_allowed_at(const struct rig_hunt_facts *facts, uint32_t level, struct rig_buf *out)
{
    bool is_first = true;
    const char *name = facts->space->level_count > 0 ? facts->space->dimensions[0].values.at[level] : "its level";
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const uint32_t runs = facts->choice->allowed[level][anomaly];
        const char *word = rig_anomaly_info((enum rig_anomaly)anomaly)->name;
        if (runs == 0 || strstr(word, "-process") != NULL || strstr(word, "-realtime") != NULL)
            continue;
        if (is_first)
            rig_buf_printf(out, "  %-20s  ", name);
        rig_buf_printf(out, "%s%s in %u run%s", is_first ? "" : ", ", word, (unsigned)runs, rig_plural(runs));
        is_first = false;
    }
    rig_buf_add_text(out, is_first ? "" : "\n");
}

static void write_allowed(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    struct rig_buf lines;
    rig_buf_init(&lines, LINES_BYTES);
    for (uint32_t level = 0; level == 0 || level < facts->space->level_count; level++)
        write_allowed_at(facts, level, &lines);
    if (lines.size > 0)
        rig_buf_printf(out,
                       "\nSeen, and no find, because the database does not promise more (--level asks for more):\n%s",
                       rig_buf_text(&lines));
    rig_buf_done(&lines);
}

/* ---- silence ---- */

/* "below 12 %": the rule of three. */
static void write_bound(const struct rig_hunt_value_count *value, struct rig_buf *out)
{
    if (value->runs == 0) {
        rig_buf_add_text(out, "not run");
        return;
    }
    rig_buf_printf(out, "%u run%s, below %.2g %% a run", (unsigned)value->runs, rig_plural(value->runs),
                   rig_interval_most_of_none(value->runs) * 100);
    if (value->acknowledged > 0)
        rig_buf_printf(out, "; %" PRIu64 " transaction%s, below %.2g %% each", value->acknowledged,
                       rig_plural(value->acknowledged), rig_interval_most_of_none(value->acknowledged) * 100);
}

static void write_gates(const struct rig_hunt_facts *facts, const char *key, const char *title, struct rig_buf *out)
{
    const int found = rig_hunt_space_find(facts->space, key, strlen(key));
    if (found < 0)
        return;
    const struct rig_hunt_dimension *dimension = &facts->space->dimensions[found];
    rig_buf_printf(out, "  %s\n", title);
    for (uint32_t v = 0; v < dimension->values.count; v++) {
        const struct rig_hunt_value_count *value = &facts->choice->values[dimension->first + v];
        if (rig_hunt_is_not_to_be_had(value))
            continue; /* listed among those that could not run */
        rig_buf_printf(out, "    %-20s  ", dimension->values.at[v]);
        if (value->finds > 0)
            rig_buf_printf(out, "%u run%s, %u with a find", (unsigned)value->runs, rig_plural(value->runs),
                           (unsigned)value->finds);
        else
            write_bound(value, out);
        rig_buf_add_char(out, '\n');
    }
}

static void write_silence(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    rig_buf_add_text(
        out, "\nWithout a find, a run of such a point has one with less than this probability, and a transaction "
             "of it (95 %,\npoints as this hunt draws them; a bug that needs two rare settings together may still "
             "be there):\n");
    write_gates(facts, rig_hunt_level_key, "level", out);
    write_gates(facts, rig_hunt_type_key, "type of data", out);
}

/* ---- coverage ---- */

static void write_coverage(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    const struct rig_hunt_coverage coverage = rig_hunt_choice_coverage(facts->choice);
    rig_buf_printf(out,
                   "\nCoverage: %u of %u values of %u keys, %" PRIu64 " of %" PRIu64 " pairs of these values; %" PRIu64
                   " earlier and present runs are counted.\n",
                   (unsigned)coverage.values_run, (unsigned)coverage.values, (unsigned)facts->space->dimension_count,
                   coverage.pairs_run, coverage.pairs, (uint64_t)facts->choice->runs.count);
}

/* Values that no run had so far, but those that could not. */
static void write_untried(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    uint32_t keys = 0, more = 0;
    for (uint32_t d = 0; d < facts->space->dimension_count; d++) {
        const struct rig_hunt_dimension *dimension = &facts->space->dimensions[d];
        uint32_t values = 0;
        for (uint32_t v = 0; v < dimension->values.count; v++) {
            const struct rig_hunt_value_count *value = &facts->choice->values[dimension->first + v];
            if (value->runs > 0 || rig_hunt_is_not_to_be_had(value))
                continue;
            if (keys == LISTED_MOST && values == 0) {
                more++;
                continue;
            }
            if (values++ == 0)
                rig_buf_printf(out, "%s%s=", keys++ == 0 ? "\nValues without a run: " : ", ", dimension->key);
            rig_buf_printf(out, "%s%s", values > 1 ? "|" : "", dimension->values.at[v]);
        }
    }
    if (more > 0)
        rig_buf_printf(out, " and %u more (--format json)", (unsigned)more);
    rig_buf_add_text(out, keys > 0 ? "\n" : "");
}

/* The refusal of a setting, without the setting. */
static const char *without_place(const char *why)
{
    const char *end = strncmp(why, "--set ", 6) == 0 ? strstr(why, ": ") : NULL;
    return end == NULL ? why : end + 2;
}

/* Values that no run had, although they were drawn several times, each with the last reason. */
static void write_not_run(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    uint32_t listed = 0, more = 0;
    for (uint32_t d = 0; d < facts->space->dimension_count; d++) {
        const struct rig_hunt_dimension *dimension = &facts->space->dimensions[d];
        for (uint32_t v = 0; v < dimension->values.count; v++) {
            const struct rig_hunt_value_count *value = &facts->choice->values[dimension->first + v];
            if (!rig_hunt_is_not_to_be_had(value))
                continue;
            if (listed == LISTED_MOST) {
                more++;
                continue;
            }
            rig_buf_add_text(out, listed++ == 0 ? "\nThese values could not run:\n" : "");
            rig_buf_printf(out, "  %s=%s: ", dimension->key, dimension->values.at[v]);
            rig_words_clean(out, without_place(value->why), false);
            rig_buf_add_char(out, '\n');
        }
    }
    if (more > 0)
        rig_buf_printf(out, "  and %u more (--format json)\n", (unsigned)more);
    for (uint32_t base = 0; base < facts->space->base_count; base++) {
        if (facts->choice->base_why[base][0] == '\0')
            continue;
        rig_buf_printf(out, "  recipe %s: ", facts->space->bases[base].name);
        rig_words_clean(out, facts->choice->base_why[base], false);
        rig_buf_add_char(out, '\n');
    }
}

static void write_no_effect(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    bool is_first = true;
    for (uint32_t d = 0; d < facts->space->dimension_count; d++) {
        uint32_t with;
        if (!rig_hunt_choice_has_no_effect(facts->choice, d, &with))
            continue;
        rig_buf_printf(out, "%s%s (%u runs)",
                       is_first ? "\nKeys without an effect on throughput and latency, so perhaps not covered: " : ", ",
                       facts->space->dimensions[d].key, (unsigned)with);
        is_first = false;
    }
    rig_buf_add_text(out, is_first ? "" : "\n");
}

void rig_hunt_report_text(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    rig_buf_printf(out, "\n%s%s%s: %" PRIu64 " run%s in ", facts->target, facts->server[0] != '\0' ? ", " : "",
                   facts->server, facts->runs, rig_plural(facts->runs));
    rig_words_duration(out, (int64_t)(facts->took_s * 1e9));
    rig_buf_add_text(out, ", ");
    rig_words_duration(out, (int64_t)(facts->explaining_s * 1e9));
    rig_buf_add_text(out, " of it to confirm and explain; ");
    if (facts->kept_runs > 0)
        rig_buf_printf(out, "%" PRIu64 " on servers that were kept between runs; ", facts->kept_runs);
    rig_buf_printf(out, "%" PRIu64 " failed; seed %" PRIu64 "; load average %.0f%s\n", facts->failed, facts->seed,
                   facts->load, facts->interrupted ? "; ended by a signal" : "");
    rig_buf_printf(out, "%u find%s%s\n", (unsigned)facts->finds->count, rig_plural(facts->finds->count),
                   facts->finds->count > 0 ? ":" : "");
    write_finds(facts, out);
    write_allowed(facts, out);
    write_silence(facts, out);
    write_coverage(facts, out);
    write_untried(facts, out);
    write_not_run(facts, out);
    write_no_effect(facts, out);
    rig_buf_printf(out, "\nThe memory of this hunt is in %s: the next one on this target goes on from it.\n",
                   facts->folder);
}

/* ---- JSON ---- */

static void add_find(const struct rig_hunt_facts *facts, const struct rig_hunt_find *find, struct rig_json_writer *json)
{
    struct rig_buf words;
    rig_buf_init(&words, 0);
    rig_hunt_point_words(facts->space, &find->point, &words);
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "number: %d, anomaly: %s, level: %s, type: %s, promise: %s, broken: %s, happened: %s",
                     find->number, find->anomaly, find->level, find->type, find->promise, find->broken, find->happened);
    rig_json_members(json, "server: %s, folder: %s, plan: %s, needs: %s, explained: %b, of: %d, shown: %d, length: %d",
                     find->server, find->folder, facts->space->bases[find->point.base].name, rig_buf_text(&words),
                     find->is_explained, find->of, find->shown, find->length);
    rig_json_members(json, "earlier: %b, sightings: %d", find->is_old, find->sightings);
    if (find->like > 0)
        rig_json_int(json, "like", find->like);
    if (find->known[0] != '\0')
        rig_json_string(json, "known", find->known);
    if (find->against[0] != '\0')
        rig_json_object(json, "against", "on: %s, of: %d, shown: %d", find->against, find->against_of,
                        find->against_shown);
    if (find->bisection[0] != '\0')
        rig_json_object(json, "bisection", "bad: %s, good: %s, text: %s", find->bad, find->good, find->bisection);
    rig_json_end(json);
    rig_buf_done(&words);
}

static void add_value(const struct rig_hunt_dimension *dimension, uint32_t v, const struct rig_hunt_value_count *value,
                      struct rig_json_writer *json)
{
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "value: %s, runs: %d, finds: %d, failed: %d, refused: %d, acknowledged: %d",
                     dimension->values.at[v], value->runs, value->finds, value->failed, value->refused,
                     value->acknowledged);
    if (value->runs > 0 && value->finds == 0)
        rig_json_number(json, "below", rig_interval_most_of_none(value->runs));
    if (value->acknowledged > 0 && value->finds == 0)
        rig_json_number(json, "below-a-transaction", rig_interval_most_of_none(value->acknowledged));
    if (value->why[0] != '\0')
        rig_json_string(json, "why", value->why);
    rig_json_end(json);
}

static void add_allowed(const struct rig_hunt_facts *facts, struct rig_json_writer *json)
{
    rig_json_begin_array(json, "allowed");
    for (uint32_t level = 0; level == 0 || level < facts->space->level_count; level++) {
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
            if (facts->choice->allowed[level][anomaly] > 0)
                rig_json_object(json, NULL, "level: %s, anomaly: %s, runs: %d",
                                facts->space->level_count > 0 ? facts->space->dimensions[0].values.at[level] : "",
                                rig_anomaly_info((enum rig_anomaly)anomaly)->name,
                                facts->choice->allowed[level][anomaly]);
        }
    }
    rig_json_end(json);
}

static void add_keys(const struct rig_hunt_facts *facts, struct rig_json_writer *json)
{
    rig_json_begin_array(json, "keys");
    for (uint32_t d = 0; d < facts->space->dimension_count; d++) {
        const struct rig_hunt_dimension *dimension = &facts->space->dimensions[d];
        uint32_t with;
        rig_json_begin_object(json, NULL);
        rig_json_string(json, "key", dimension->key);
        rig_json_bool(json, "without-effect", rig_hunt_choice_has_no_effect(facts->choice, d, &with));
        rig_json_begin_array(json, "values");
        for (uint32_t v = 0; v < dimension->values.count; v++)
            add_value(dimension, v, &facts->choice->values[dimension->first + v], json);
        rig_json_end(json);
        rig_json_end(json);
    }
    rig_json_end(json);
}

void rig_hunt_report_json(const struct rig_hunt_facts *facts, struct rig_buf *out)
{
    struct rig_json_writer json;
    const struct rig_hunt_coverage coverage = rig_hunt_choice_coverage(facts->choice);
    rig_json_init_indented(&json, out, 2, 3);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json,
                     "target: %s, server: %s, folder: %s, seed: %d, runs: %d, kept-runs: %d, finding-runs: %d, "
                     "failed: %d",
                     facts->target, facts->server, facts->folder, facts->seed, facts->runs, facts->kept_runs,
                     facts->finding_runs, facts->failed);
    rig_json_members(&json, "took_s: %f, explaining_s: %f, load: %f, interrupted: %b", facts->took_s,
                     facts->explaining_s, facts->load, facts->interrupted);
    rig_json_begin_array(&json, "finds");
    for (uint32_t i = 0; i < facts->finds->count; i++)
        add_find(facts, &facts->finds->at[i], &json);
    rig_json_end(&json);
    rig_json_object(&json, "coverage", "values: %d, values-run: %d, pairs: %d, pairs-run: %d", coverage.values,
                    coverage.values_run, coverage.pairs, coverage.pairs_run);
    add_allowed(facts, &json);
    add_keys(facts, &json);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}
