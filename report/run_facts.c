#include "report/run_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/plural.h"
#include "checker/explain/sentence.h"
#include "report/tell.h"
#include "report/words.h"

/* The object `run` of results.json: its fields (run_facts.h), and its tables. */

static void add_latencies(struct rig_json_writer *w, const struct rig_report_run *run)
{
    rig_json_begin_array(w, "latencies");
    for (uint32_t i = 0; i < run->latency_count; i++) {
        const struct rig_report_latency *latency = &run->latencies[i];
        rig_json_object(w, NULL,
                        "name: %s, count: %d, mean_ns: %d, p50_ns: %d, p90_ns: %d, p99_ns: %d, p999_ns: %d, max_ns: %d",
                        latency->name, latency->count, latency->mean_ns, latency->p50_ns, latency->p90_ns,
                        latency->p99_ns, latency->p999_ns, latency->max_ns);
    }
    rig_json_end(w);
}

static void add_errors(struct rig_json_writer *w, const struct rig_report_run *run)
{
    rig_json_begin_array(w, "errors");
    for (uint32_t i = 0; i < run->error_count; i++) {
        const struct rig_report_error *error = &run->errors[i];
        rig_json_object(w, NULL, "outcome: %s, code: %s, text: %s, count: %d", error->outcome, error->code, error->text,
                        error->count);
    }
    rig_json_end(w);
}

/* Rows of at_ns, ok, fail, info, p99_ns. */
static void add_moments(struct rig_json_writer *w, const struct rig_report_run *run)
{
    if (run->moment_count == 0)
        return;
    rig_json_begin_array(w, "timeline");
    for (uint32_t i = 0; i < run->moment_count; i++) {
        const struct rig_report_moment *moment = &run->moments[i];
        rig_json_begin_array(w, NULL);
        rig_json_int(w, NULL, moment->at_ns);
        rig_json_int(w, NULL, (int64_t)moment->ok);
        rig_json_int(w, NULL, (int64_t)moment->fail);
        rig_json_int(w, NULL, (int64_t)moment->info);
        rig_json_int(w, NULL, moment->p99_ns);
        rig_json_end(w);
    }
    rig_json_end(w);
}

static void add_provenance(struct rig_json_writer *w, const struct rig_report_provenance *provenance)
{
    rig_json_begin_object(w, "provenance");
    rig_json_object(w, "rig", "version: %s, commit: %s", provenance->version, provenance->commit);
    rig_json_object(w, "host", "kernel: %s, cpu: %s, cores: %d, load: %f, memory_bytes: %d, file_system: %s",
                    provenance->kernel, provenance->cpu, provenance->cores, provenance->load, provenance->memory_bytes,
                    provenance->file_system);
    rig_json_begin_array(w, "settings");
    for (uint32_t i = 0; i < provenance->setting_count; i++)
        rig_json_object(w, NULL, "name: %s, value: %s", provenance->settings[i].name, provenance->settings[i].value);
    rig_json_end(w);
    rig_json_end(w);
}

/* A field of the run from where it stands in `at`. */
static void add_value(struct rig_json_writer *w, const struct rig_run_field *field, const void *at)
{
    char digits[24];
    switch (field->type) {
    case RIG_RUN_FIELD_TEXT:
        rig_json_text(w, field->name, *(const char *const *)at);
        break;
    case RIG_RUN_FIELD_BIG:
        (void)snprintf(digits, sizeof digits, "%" PRIu64, *(const uint64_t *)at);
        rig_json_string(w, field->name, digits);
        break;
    case RIG_RUN_FIELD_COUNT:
        rig_json_int(w, field->name, (int64_t) * (const uint64_t *)at);
        break;
    case RIG_RUN_FIELD_SMALL:
        rig_json_int(w, field->name, *(const uint32_t *)at);
        break;
    case RIG_RUN_FIELD_NUMBER:
        rig_json_number(w, field->name, *(const double *)at);
        break;
    case RIG_RUN_FIELD_BOOL:
        rig_json_bool(w, field->name, *(const bool *)at);
        break;
    }
}

static bool is_nothing(const struct rig_run_field *field, const void *at)
{
    switch (field->type) {
    case RIG_RUN_FIELD_TEXT:
        return *(const char *const *)at == NULL;
    case RIG_RUN_FIELD_BIG:
    case RIG_RUN_FIELD_COUNT:
        return *(const uint64_t *)at == 0;
    case RIG_RUN_FIELD_SMALL:
        return *(const uint32_t *)at == 0;
    case RIG_RUN_FIELD_NUMBER:
    case RIG_RUN_FIELD_BOOL:
        break;
    }
    return false;
}

static void add_field(struct rig_json_writer *w, const struct rig_report_run *run, const struct rig_run_field *field)
{
    const void *at = (const char *)run + field->offset;
    if (!field->optional || !is_nothing(field, at))
        add_value(w, field, at);
}

void rig_run_json(struct rig_json_writer *w, const struct rig_report_run *run)
{
    rig_json_begin_object(w, "run");
    for (size_t i = 0; i < RIG_RUN_FIELDS; i++)
        add_field(w, run, &rig_run_fields[i]);
    add_latencies(w, run);
    add_errors(w, run);
    add_moments(w, run);
    add_provenance(w, &run->provenance);
    rig_json_end(w);
}

/* -- lines --------------------------------------------------------------------------------------------------------- */

static void add_known(struct rig_buf *line, const char *text)
{
    if (text != NULL)
        rig_buf_add_text(line, text);
}

#define TEXT_LINE(member)                                                                                              \
    static void write_##member(struct rig_buf *line, const struct rig_verdict *verdict,                                \
                               const struct rig_report_run *run)                                                       \
    {                                                                                                                  \
        (void)verdict;                                                                                                 \
        add_known(line, run->member);                                                                                  \
    }
TEXT_LINE(name)
TEXT_LINE(folder)
TEXT_LINE(started_utc)
TEXT_LINE(driver)
TEXT_LINE(server)
TEXT_LINE(isolation)

static void write_host(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)verdict;
    if (run->provenance.version != NULL)
        rig_words_provenance(line, &run->provenance);
}

static void write_rig(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)verdict;
    if (run->provenance.version != NULL)
        rig_tell(line, "%s (%s)", run->provenance.version,
                 run->provenance.commit == NULL ? "unknown" : run->provenance.commit);
}

static void write_settings(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)verdict;
    if (run->provenance.version == NULL)
        return;
    for (uint32_t i = 0; i < run->provenance.setting_count; i++)
        rig_tell(line, "%s%s=%s", i == 0 ? "" : "; ", run->provenance.settings[i].name,
                 run->provenance.settings[i].value);
}

static void write_load(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    const uint64_t ok = verdict->effort.acknowledged;
    rig_buf_printf(line, "%" PRIu32 " client%s for %.1f s", run->client_count, rig_plural(run->client_count),
                   run->load_s);
    if (run->load_s > 0)
        rig_tell(line, ", %n ok a second", (uint64_t)((double)ok / run->load_s + 0.5));
    if (run->stopped_by != NULL)
        rig_tell(line, ", stopped at the first %s", run->stopped_by);
    if (run->final_reads > 0)
        rig_tell(line, ", and %n final read%p", run->final_reads, run->final_reads);
}

static void write_evidence(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)run;
    rig_words_evidence(line, verdict);
}

static void write_unread(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)verdict;
    if (run->unread > 0)
        rig_words_unread(line, run->unread, run->unread_text);
}

/* A race plan perturbs the scheduling, and has a chance only where threads run at the same time. */
static void write_processors(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    static const char *const perturbing[] = {"jitter", "stutter"};
    bool is_race = false;
    for (size_t i = 0; i < verdict->scope.fault_count; i++) {
        for (size_t j = 0; j < sizeof perturbing / sizeof perturbing[0]; j++)
            is_race |= strcmp(verdict->scope.faults[i].fault, perturbing[j]) == 0;
    }
    if (!is_race || verdict->valid == RIG_VALID_FALSE || run->provenance.cores == 0)
        return;
    rig_tell(line, "%n", run->provenance.cores);
    if (run->provenance.load > 0)
        rig_buf_printf(line, ", which %.1f threads of the whole machine wanted at the end", run->provenance.load);
    rig_buf_add_text(line, ": a race that was not found may need more of them");
}

static void write_seed(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)verdict;
    rig_tell(line, "%d", run->seed);
}

/* A run has the time of its own start. */
static void write_recorded(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    char utc[RIG_UTC_BYTES];
    if (run == NULL && rig_answered_utc(verdict->scope.start_utc_ns, 0, utc))
        rig_buf_add_text(line, utc);
}

static void write_outcomes(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    const uint64_t all = verdict->ok_count + verdict->fail_count + verdict->info_count;
    (void)run;
    rig_tell(line, "%n: %n ok, %n fail, %n unknown (", all, verdict->ok_count, verdict->fail_count,
             verdict->info_count);
    rig_words_share(line, verdict->info_count, all);
    rig_buf_add_char(line, ')');
}

static void write_omitted(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)run;
    rig_words_left_out(&verdict->scope, line);
}

static void write_ranks(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)run;
    rig_words_ranks(&verdict->scope, line);
}

static void write_reused(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)run;
    rig_words_reused(&verdict->scope, line);
}

static void write_sorted(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    (void)run;
    if (verdict->scope.sorted)
        rig_buf_add_text(line, rig_words_sorted(&verdict->scope));
}

const struct rig_run_line rig_run_lines[RIG_RUN_LINES] = {
    {"name", "Name", write_name},
    {"folder", NULL, write_folder},
    {"started", "Started", write_started_utc},
    {"driver", "Driver", write_driver},
    {"server", "Server", write_server},
    {"requested isolation", "Requested isolation", write_isolation},
    {"host", "Host", write_host},
    {"rig", "rig", write_rig},
    {"settings", NULL, write_settings},
    {"load", "Load", write_load},
    {"evidence", "Evidence", write_evidence},
    {"final reads", "Final reads", write_unread},
    {"processors", "Processors", write_processors},
    {"seed", "Seed", write_seed},
};

const struct rig_run_line rig_history_lines[RIG_HISTORY_LINES] = {
    {"recorded from", "Recorded from", write_recorded},
    {"transactions", "Transactions", write_outcomes},
    {"omitted", "Omitted", write_omitted},
    {"ranks", "Ranks", write_ranks},
    {"warning", NULL, write_reused},
    {"warning", "Warning", write_sorted},
    {NULL, "Warning", write_reused},
};

/* -- fields -------------------------------------------------------------------------------------------------------- */

#define FIELD(name, type, optional, member)                                                                            \
    {                                                                                                                  \
        name, RIG_RUN_FIELD_##type, optional, offsetof(struct rig_report_run, member)                                  \
    }

const struct rig_run_field rig_run_fields[RIG_RUN_FIELDS] = {
    FIELD("name", TEXT, false, name),
    FIELD("started", TEXT, false, started_utc),
    FIELD("driver", TEXT, false, driver),
    FIELD("server", TEXT, false, server),
    FIELD("isolation", TEXT, false, isolation),
    FIELD("seed", BIG, false, seed),
    FIELD("clients", SMALL, false, client_count),
    FIELD("load_s", NUMBER, false, load_s),
    FIELD("took_s", NUMBER, false, took_s),
    FIELD("final_reads", COUNT, false, final_reads),
    FIELD("planned_faults", SMALL, true, planned_faults),
    FIELD("unread", COUNT, true, unread),
    FIELD("unread_text", TEXT, true, unread_text),
    FIELD("interrupted", BOOL, false, interrupted),
    FIELD("failed", TEXT, false, failed),
    FIELD("stopped_by", TEXT, false, stopped_by),
    FIELD("plan_path", TEXT, true, plan_path),
    FIELD("plan_line", SMALL, true, plan_line),
};
