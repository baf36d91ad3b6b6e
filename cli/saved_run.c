#include "cli/saved_run.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/run_files.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/requests.h"
#include "checker/model/level.h"
#include "report/run_facts.h"

enum { PATH_BYTES = 4096, FILE_BYTES_MOST = 1 << 30, PLAN_BYTES_MOST = 1 << 20 };

struct rig_cli_saved_storage {
    json_t *results;
    struct rig_buf plan;
    struct rig_report_latency *latencies;
    struct rig_report_error *errors;
    struct rig_report_moment *moments;
    struct rig_report_setting *settings;
    struct rig_table_condition *conditions;
    struct rig_server_crash *crashes;
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Counts and times are never negative: what is absent or of another type is 0. */
static int64_t number_of(const json_t *object, const char *key)
{
    int64_t number = json_integer_value(json_object_get(object, key));
    return number < 0 ? 0 : number;
}

static bool copy_latencies(const json_t *rows, struct rig_cli_saved_run *saved)
{
    size_t count = json_array_size(rows);
    struct rig_report_latency *latencies = calloc(count + 1, sizeof *latencies);
    if (latencies == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = text_of(row, "name");
        latencies[i] = (struct rig_report_latency){.name = name == NULL ? "" : name,
                                                   .count = (uint64_t)number_of(row, "count"),
                                                   .mean_ns = number_of(row, "mean_ns"),
                                                   .p50_ns = number_of(row, "p50_ns"),
                                                   .p90_ns = number_of(row, "p90_ns"),
                                                   .p99_ns = number_of(row, "p99_ns"),
                                                   .p999_ns = number_of(row, "p999_ns"),
                                                   .max_ns = number_of(row, "max_ns")};
    }
    saved->storage->latencies = latencies;
    saved->run.latencies = latencies;
    saved->run.latency_count = (uint32_t)count;
    return true;
}

static bool copy_errors(const json_t *rows, struct rig_cli_saved_run *saved)
{
    size_t count = json_array_size(rows);
    struct rig_report_error *errors = calloc(count + 1, sizeof *errors);
    if (errors == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *outcome = text_of(row, "outcome"), *code = text_of(row, "code"), *text = text_of(row, "text");
        errors[i] = (struct rig_report_error){.outcome = outcome == NULL ? "" : outcome,
                                              .code = code == NULL ? "" : code,
                                              .text = text == NULL ? "" : text,
                                              .count = (uint64_t)number_of(row, "count")};
    }
    saved->storage->errors = errors;
    saved->run.errors = errors;
    saved->run.error_count = (uint32_t)count;
    return true;
}

static bool copy_moments(const json_t *rows, struct rig_cli_saved_run *saved)
{
    const size_t count = json_array_size(rows);
    struct rig_report_moment *moments = calloc(count + 1, sizeof *moments);
    if (moments == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t row[5] = {0};
        for (size_t j = 0; j < 5; j++)
            row[j] = (int64_t)json_integer_value(json_array_get(json_array_get(rows, i), j));
        moments[i] = (struct rig_report_moment){row[0], (uint64_t)row[1], (uint64_t)row[2], (uint64_t)row[3], row[4]};
    }
    saved->storage->moments = moments;
    saved->run.moments = moments;
    saved->run.moment_count = (uint32_t)count;
    return true;
}

static bool copy_provenance(const json_t *provenance, struct rig_cli_saved_run *saved)
{
    const json_t *rig = json_object_get(provenance, "rig"), *host = json_object_get(provenance, "host");
    const json_t *rows = json_object_get(provenance, "settings");
    const size_t count = json_array_size(rows);
    struct rig_report_setting *settings = calloc(count + 1, sizeof *settings);
    if (settings == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *name = text_of(json_array_get(rows, i), "name"), *value = text_of(json_array_get(rows, i), "value");
        settings[i] = (struct rig_report_setting){name == NULL ? "" : name, value == NULL ? "" : value};
    }
    saved->storage->settings = settings;
    saved->run.provenance = (struct rig_report_provenance){.version = text_of(rig, "version"),
                                                           .commit = text_of(rig, "commit"),
                                                           .kernel = text_of(host, "kernel"),
                                                           .cpu = text_of(host, "cpu"),
                                                           .cores = (uint32_t)number_of(host, "cores"),
                                                           .load = json_number_value(json_object_get(host, "load")),
                                                           .memory_bytes = (uint64_t)number_of(host, "memory_bytes"),
                                                           .file_system = text_of(host, "file_system"),
                                                           .settings = settings,
                                                           .setting_count = (uint32_t)count};
    return true;
}

/* A field that is missing is 0 or NULL. */
static void copy_field(const json_t *object, const struct rig_run_field *field, struct rig_report_run *run)
{
    void *to = (char *)run + field->offset;
    const char *text = text_of(object, field->name);
    switch (field->type) {
    case RIG_RUN_FIELD_TEXT:
        *(const char **)to = text;
        break;
    case RIG_RUN_FIELD_BIG:
        *(uint64_t *)to = text == NULL ? 0 : strtoull(text, NULL, 10);
        break;
    case RIG_RUN_FIELD_COUNT:
        *(uint64_t *)to = (uint64_t)number_of(object, field->name);
        break;
    case RIG_RUN_FIELD_SMALL:
        *(uint32_t *)to = (uint32_t)number_of(object, field->name);
        break;
    case RIG_RUN_FIELD_NUMBER:
        *(double *)to = json_number_value(json_object_get(object, field->name));
        break;
    case RIG_RUN_FIELD_BOOL:
        *(bool *)to = json_is_true(json_object_get(object, field->name));
        break;
    }
}

static bool copy_run(const json_t *run, struct rig_cli_saved_run *saved)
{
    for (size_t i = 0; i < RIG_RUN_FIELDS; i++)
        copy_field(run, &rig_run_fields[i], &saved->run);
    saved->found = true;
    return copy_latencies(json_object_get(run, "latencies"), saved) &&
           copy_errors(json_object_get(run, "errors"), saved) &&
           copy_moments(json_object_get(run, "timeline"), saved) &&
           copy_provenance(json_object_get(run, "provenance"), saved);
}

/* Results of a version that did not measure it have no shares. */
static void copy_effort(const json_t *results, struct rig_cli_saved_run *saved)
{
    const json_t *evidence = json_object_get(results, "evidence");
    const json_t *load = json_object_get(evidence, "load"), *answering = json_object_get(evidence, "answering");
    saved->effort = (struct rig_effort){.known = json_is_number(load) && json_is_number(answering),
                                        .interrupted = saved->run.interrupted,
                                        .acknowledged = (uint64_t)number_of(evidence, "acknowledged"),
                                        .load = json_number_value(load),
                                        .answering = json_number_value(answering),
                                        .planned_faults = saved->run.planned_faults,
                                        .failure = saved->run.failed};
    if (saved->run.error_count > 0) {
        saved->effort.error_code = saved->run.errors[0].code;
        saved->effort.error_text = saved->run.errors[0].text;
        saved->effort.error_count = saved->run.errors[0].count;
    }
}

static void copy_condition(const json_t *row, struct rig_table_condition *condition)
{
    const json_t *levels = json_object_get(row, "guaranteed_by"), *rows = json_object_get(row, "rows");
    const char *name = text_of(row, "name"), *text = text_of(row, "text"), *source = text_of(row, "source");
    *condition = (struct rig_table_condition){.name = name == NULL ? "" : name,
                                              .text = text == NULL ? "" : text,
                                              .source = source == NULL ? "" : source,
                                              .problem = text_of(row, "problem"),
                                              .broken = (uint64_t)number_of(row, "broken")};
    for (size_t i = 0; i < json_array_size(levels); i++) {
        const char *level_name = json_string_value(json_array_get(levels, i));
        enum rig_level level;
        if (level_name != NULL && rig_level_find(level_name, &level))
            condition->guaranteed_by |= RIG_LEVEL_BIT(level);
    }
    for (size_t i = 0; i < json_array_size(rows) && condition->row_count < RIG_CONDITION_ROWS; i++) {
        const char *line = json_string_value(json_array_get(rows, i));
        if (line != NULL)
            condition->rows[condition->row_count++] = line;
    }
}

static bool copy_conditions(const json_t *rows, struct rig_cli_saved_run *saved)
{
    const size_t count = json_array_size(rows);
    struct rig_table_condition *conditions = calloc(count + 1, sizeof *conditions);
    if (conditions == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        copy_condition(json_array_get(rows, i), &conditions[i]);
    saved->storage->conditions = conditions;
    saved->effort.conditions = conditions;
    saved->effort.condition_count = (uint32_t)count;
    return true;
}

static bool copy_crashes(const json_t *rows, struct rig_cli_saved_run *saved)
{
    const size_t count = json_array_size(rows);
    struct rig_server_crash *crashes = calloc(count + 1, sizeof *crashes);
    if (crashes == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *node = text_of(row, "node"), *log_tail = text_of(row, "log");
        crashes[i] = (struct rig_server_crash){.node = node == NULL ? "" : node,
                                               .signal = (int)number_of(row, "signal"),
                                               .exit_status = (int)number_of(row, "exit_status"),
                                               .at_ns = json_integer_value(json_object_get(row, "at_ns")),
                                               .log_tail = log_tail == NULL ? "" : log_tail,
                                               .fault = text_of(row, "fault"),
                                               .fails = json_is_true(json_object_get(row, "fails"))};
    }
    saved->storage->crashes = crashes;
    saved->effort.crashes = crashes;
    saved->effort.crash_count = (uint32_t)count;
    return true;
}

static void copy_requests(const json_t *names, struct rig_cli_saved_run *saved)
{
    struct rig_check_options options = {0};
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name != NULL)
            (void)rig_cli_add_request(name, &options);
    }
    saved->levels = options.levels;
    saved->anomalies = options.anomalies;
}

static enum rig_rc load_results(const char *path, struct rig_cli_saved_run *saved, struct rig_err *err)
{
    if (access(path, F_OK) != 0)
        return RIG_OK;
    struct rig_buf text;
    rig_buf_init(&text, FILE_BYTES_MOST);
    enum rig_rc rc = rig_buf_read_file(&text, path, err);
    if (rc == RIG_OK) {
        json_error_t error;
        saved->storage->results = json_loadb(rig_buf_text(&text), text.size, 0, &error);
        if (saved->storage->results == NULL)
            rc = rig_fail(err, RIG_E_INPUT, "%s:%d:%d: is not the result of a run: %s", path, error.line, error.column,
                          error.text);
        else if (!json_is_object(saved->storage->results))
            rc = rig_fail(err, RIG_E_INPUT, "%s: is not the result of a run", path);
    }
    rig_buf_done(&text);
    if (rc != RIG_OK)
        return rc;
    copy_requests(json_object_get(saved->storage->results, "requested"), saved);
    const json_t *run = json_object_get(saved->storage->results, "run");
    if (json_is_object(run) && !copy_run(run, saved))
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", path);
    copy_effort(saved->storage->results, saved);
    if (!copy_conditions(json_object_get(saved->storage->results, "conditions"), saved) ||
        !copy_crashes(json_object_get(saved->storage->results, "server_crashes"), saved))
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", path);
    return RIG_OK;
}

enum rig_rc rig_cli_saved_run_load(const char *folder, struct rig_cli_saved_run *saved, struct rig_err *err)
{
    *saved = (struct rig_cli_saved_run){.storage = calloc(1, sizeof *saved->storage)};
    if (saved->storage == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the facts of the run", folder);
    rig_buf_init(&saved->storage->plan, PLAN_BYTES_MOST);
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/" RIG_RUN_RESULTS, folder);
    if (length < 0 || (size_t)length >= sizeof path)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", folder);
    enum rig_rc rc = load_results(path, saved, err);
    if (rc != RIG_OK)
        return rc;
    saved->effort.lost = !saved->found;
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_PLAN, folder);
    if (access(path, F_OK) == 0)
        rc = rig_buf_read_file(&saved->storage->plan, path, err);
    saved->run.plan_yaml = rig_buf_text(&saved->storage->plan);
    return rc;
}

/* False where the folder has no plan: its text is empty then. */
static bool read_check(const struct rig_cli_saved_run *saved, struct rig_check_section *check)
{
    const char *text = saved->run.plan_yaml;
    return text != NULL && text[0] != '\0' &&
           rig_plan_parse_check("plan.yaml", text, strlen(text), check, NULL) == RIG_OK;
}

void rig_cli_saved_run_options(const struct rig_cli_saved_run *saved, struct rig_check_options *options)
{
    struct rig_check_section check = {.lattice = RIG_LATTICE_EXACT};
    (void)read_check(saved, &check);
    *options = (struct rig_check_options){.levels = saved->found ? saved->levels : check.levels,
                                          .anomalies = saved->found ? saved->anomalies : check.anomalies,
                                          .assumptions = check.assumptions,
                                          .total = check.total,
                                          .initial = check.initial,
                                          .lattice = check.lattice,
                                          .budget_ns = check.budget_ns,
                                          .max_witnesses = (uint32_t)check.max_witnesses,
                                          .durability = (enum rig_promise)check.durability};
}

void rig_cli_saved_run_ask(const struct rig_cli_saved_run *saved, const struct rig_arguments *args,
                           struct rig_check_options *options, struct rig_minimum *minimum)
{
    struct rig_check_section check = {0};
    const bool is_planned = read_check(saved, &check);
    if (is_planned) {
        if ((options->assumptions & RIG_ASSUMPTIONS_OF_VERSIONS) == 0)
            options->assumptions |= check.assumptions;
        options->assumptions |= check.assumptions & ~RIG_ASSUMPTIONS_OF_VERSIONS;
        if (!options->total.known)
            options->total = check.total;
        if (!options->initial.known)
            options->initial = check.initial;
        options->lattice = check.lattice;
        options->budget_ns = check.budget_ns;
        options->durability = (enum rig_promise)check.durability;
        (void)rig_cli_read_decision(args,
                                    options); /* over what the plan says; it was read without a complaint before */
        if (minimum != NULL) {
            *minimum = check.minimum;
            (void)rig_cli_read_minimum(args, minimum); /* over what the plan says, as above */
        }
    }
    const bool asked = rig_arguments_has(args, "level") || rig_arguments_has(args, "anomaly");
    if (!asked && (saved->found || is_planned)) {
        options->levels = saved->found ? saved->levels : check.levels;
        options->anomalies = saved->found ? saved->anomalies : check.anomalies;
    }
    if (!asked && !saved->found && !is_planned)
        rig_cli_complain("%s: neither results.json nor plan.yaml contains the requests of the run",
                         args->positionals[0]);
}

static uint64_t count_of(const struct rig_cli_saved_run *saved, rig_anomaly_set anomalies)
{
    const json_t *found = saved->storage == NULL ? NULL : json_object_get(saved->storage->results, "anomalies");
    uint64_t count = 0;
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        if ((anomalies & RIG_ANOMALY_BIT(one)) != 0)
            count +=
                (uint64_t)number_of(json_object_get(found, rig_anomaly_info((enum rig_anomaly)one)->name), "count");
    }
    return count;
}

void rig_cli_saved_run_size(const struct rig_cli_saved_run *saved, uint64_t *txns, uint64_t *ops)
{
    const json_t *history = saved->storage == NULL ? NULL : json_object_get(saved->storage->results, "history");
    *txns = (uint64_t)number_of(history, "transactions");
    *ops = (uint64_t)number_of(history, "operations");
}

static rig_anomaly_set with_cases(enum rig_anomaly anomaly)
{
    return rig_anomaly_cases(anomaly) | RIG_ANOMALY_BIT(anomaly);
}

uint64_t rig_cli_saved_run_count(const struct rig_cli_saved_run *saved, enum rig_anomaly anomaly)
{
    return count_of(saved, with_cases(anomaly));
}

static uint64_t levels_refuted(const struct rig_cli_saved_run *saved)
{
    const json_t *levels = saved->storage == NULL ? NULL : json_object_get(saved->storage->results, "levels");
    uint64_t refuted = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const char *fate = text_of(levels, rig_level_info((enum rig_level)level)->name);
        if (fate != NULL && strcmp(fate, "refuted") == 0)
            refuted |= RIG_LEVEL_BIT(level);
    }
    return refuted;
}

bool rig_cli_saved_run_shape(const struct rig_cli_saved_run *saved, enum rig_anomaly anomaly, enum rig_anomaly *chosen,
                             struct rig_known_anomaly *shape)
{
    enum rig_anomaly first = anomaly;
    for (unsigned one = 0; anomaly == RIG_ANOMALY_COUNT && first == RIG_ANOMALY_COUNT && one < RIG_ANOMALY_COUNT;
         one++) {
        const enum rig_anomaly candidate = (enum rig_anomaly)one;
        const bool is_forbidden = (rig_levels_refuted_by(RIG_LATTICE_EXACT, candidate, true) & saved->levels) != 0 ||
                                  (saved->anomalies & RIG_ANOMALY_BIT(candidate)) != 0;
        if (is_forbidden && count_of(saved, RIG_ANOMALY_BIT(candidate)) > 0)
            first = candidate;
    }
    if (first == RIG_ANOMALY_COUNT || rig_cli_saved_run_count(saved, first) == 0)
        return false;
    *chosen = first;
    *shape = (struct rig_known_anomaly){.anomalies = with_cases(first), .keeps = ~levels_refuted(saved)};
    return true;
}

uint64_t rig_cli_saved_run_shows(const struct rig_cli_saved_run *saved, const struct rig_known_anomaly *shape)
{
    return (levels_refuted(saved) & shape->keeps) != 0 ? 0 : count_of(saved, shape->anomalies);
}

void rig_cli_saved_run_done(struct rig_cli_saved_run *saved)
{
    if (saved->storage != NULL) {
        json_decref(saved->storage->results);
        rig_buf_done(&saved->storage->plan);
        free(saved->storage->latencies);
        free(saved->storage->errors);
        free(saved->storage->conditions);
        free(saved->storage->crashes);
        free(saved->storage->moments);
        free(saved->storage->settings);
        free(saved->storage);
    }
    *saved = (struct rig_cli_saved_run){0};
}

enum rig_rc rig_cli_saved_run_take(const char *given, const struct rig_arguments *args,
                                   struct rig_check_options *options, struct rig_minimum *minimum,
                                   struct rig_cli_saved_run *saved, struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES];
    struct stat status;
    *saved = (struct rig_cli_saved_run){.storage = NULL};
    if (stat(given, &status) != 0 || !S_ISDIR(status.st_mode))
        return RIG_OK;
    if (rig_cli_find_run(given, folder, NULL) != RIG_OK)
        return RIG_OK; /* the history of another program */
    enum rig_rc rc = rig_cli_saved_run_load(folder, saved, err);
    if (rc == RIG_OK)
        rig_cli_saved_run_ask(saved, args, options, minimum);
    return rc;
}
