/* The object `run` of results.json: its fields (run_facts.h), and its tables. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json_members.h"
#include "report/run_facts.h"

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
