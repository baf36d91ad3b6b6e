#include "jobs/matrix/matrix_report.h"

#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/version.h"
#include "report/tell.h"

enum { SCHEMA = 1 };

/* ---- names ---- */

void rig_matrix_say_job(const struct rig_matrix_job *job, struct rig_buf *out)
{
    const size_t before = out->size;
    rig_buf_add_text(out, job->database->name);
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++) {
        const char *name = job->values[axis]->name;
        if (name[0] != '\0')
            rig_buf_printf(out, "%s%s", out->size == before ? "" : axis == RIG_MATRIX_SERVERS ? " " : ", ", name);
    }
    if (job->database->plans.count > 1 || out->size == before) {
        const char *slash = strrchr(job->plan, '/');
        rig_buf_printf(out, "%s%s", out->size == before ? "" : ", ", slash == NULL ? job->plan : slash + 1);
    }
}

/* ---- text ---- */

/* The text, and the blanks that are still missing before the next column. */
static size_t add_padded(struct rig_buf *out, size_t missing, const char *text, size_t width)
{
    const size_t length = strlen(text);
    rig_buf_printf(out, "%*s%s", (int)missing, "", text);
    return (length < width ? width - length : 0) + 2;
}

/* A field of the table as it is written: tables of scenarios have a line for each scenario. */
static void say_field(const struct rig_matrix_table *table, size_t line, size_t column, struct rig_buf *out)
{
    const struct rig_matrix_field field =
        table->of_scenarios ? rig_matrix_field_of(table, column, line) : rig_matrix_field_of(table, line, column);
    rig_buf_clear(out);
    if (field.runs == 0)
        rig_buf_add_char(out, '.');
    rig_matrix_field_say(&field, out);
}

static size_t widest_of(const struct rig_matrix_texts *labels)
{
    size_t widest = 0;
    for (size_t i = 0; i < labels->count; i++)
        widest = strlen(labels->at[i]) > widest ? strlen(labels->at[i]) : widest;
    return widest;
}

static void write_table(const struct rig_matrix_table *table, struct rig_buf *out)
{
    const struct rig_matrix_texts *lines = table->of_scenarios ? &table->columns : &table->rows;
    const struct rig_matrix_texts *columns = table->of_scenarios ? &table->rows : &table->columns;
    struct rig_buf word;
    rig_buf_init(&word, 0);
    for (size_t i = 0; table->of_scenarios && i < columns->count; i++)
        rig_buf_printf(out, "%4zu  %s\n", i + 1, columns->at[i]);
    if (table->of_scenarios)
        rig_buf_add_char(out, '\n');
    size_t widest = widest_of(lines);
    widest = widest < strlen(table->title) ? strlen(table->title) : widest;
    size_t missing = add_padded(out, 0, table->title, widest);
    for (size_t line = 0; line <= lines->count; line++) {
        if (line > 0)
            missing = add_padded(out, 0, lines->at[line - 1], widest);
        for (size_t column = 0; column < columns->count; column++) {
            char number[24];
            size_t width = 0;
            for (size_t other = 0; other < lines->count; other++) {
                say_field(table, other, column, &word);
                width = word.size > width ? word.size : width;
            }
            (void)snprintf(number, sizeof number, "%zu", column + 1);
            const char *heading = table->of_scenarios ? number : columns->at[column];
            width = strlen(heading) > width ? strlen(heading) : width;
            if (line > 0)
                say_field(table, line - 1, column, &word);
            missing = add_padded(out, missing, line == 0 ? heading : rig_buf_text(&word), width);
        }
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_char(out, '\n');
    rig_buf_done(&word);
}

/* The cells that need a look: everything but those that hold and those that were not started. */
static void write_problems(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    for (size_t i = 0; i < facts->cells->count; i++) {
        const struct rig_matrix_cell *cell = &facts->cells->at[i];
        if (cell->state == RIG_MATRIX_HOLDS || cell->state == RIG_MATRIX_NOT_RUN)
            continue;
        rig_buf_printf(out, "%s: ", rig_matrix_state_words(cell->state));
        rig_matrix_say_job(cell->job, out);
        /* One reason often spoils all scenarios of a job. */
        for (; cell->scenario != NULL; cell = &facts->cells->at[++i]) {
            rig_buf_printf(out, ", %s", cell->scenario);
            if (i + 1 == facts->cells->count || cell[1].job != cell->job || cell[1].state != cell->state ||
                strcmp(cell[1].detail, cell->detail) != 0)
                break;
        }
        rig_buf_printf(out, ": %s\n", cell->detail);
    }
}

void rig_matrix_write_text(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    for (size_t i = 0; i < facts->grid->table_count; i++)
        write_table(&facts->grid->tables[i], out);
    write_problems(facts, out);
    if (facts->bisection != NULL)
        rig_bisection_say(facts->bisection, out);
    if (facts->ending != NULL)
        rig_buf_printf(out, "%s\n", facts->ending);
    rig_buf_printf(out, "%s: ", facts->matrix->name);
    rig_matrix_grid_say_counts(facts->grid, out);
    rig_buf_add_char(out, '\n');
}

/* ---- JSON ---- */

static void write_json_cell(const struct rig_matrix_cell *cell, struct rig_json_writer *json)
{
    static const char *const names[] = {"server", "level", "fault", "run"};
    const struct rig_matrix_job *job = cell->job;
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "database: %s, plan: %s", job->database->name, job->plan);
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++)
        rig_json_string(json, names[axis], job->values[axis]->name);
    if (cell->scenario != NULL)
        rig_json_members(json, "scenario: %s, shown: %b", cell->scenario, cell->is_shown);
    rig_json_members(json, "state: %s, word: %s, detail: %s, version: %s", rig_matrix_state_name(cell->state),
                     cell->word, cell->detail, cell->server);
    if (cell->scenario == NULL)
        rig_json_members(json, "seed: %s, acknowledged: %d", cell->seed, cell->acknowledged);
    rig_json_members(json, "seconds: %f, folder: %s", cell->seconds, job->id);
    rig_json_end(json);
}

void rig_matrix_write_json(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    struct rig_json_writer json;
    rig_json_init_indented(&json, out, 2, 2);
    rig_json_begin_object(&json, NULL);
    rig_json_int(&json, "schema", SCHEMA);
    rig_json_object(&json, "rig", "version: %s, commit: %s", rig_version(), rig_commit());
    rig_json_members(&json, "name: %s, title: %s, started: %s, folder: %s, status: %d, ending: %s", facts->matrix->name,
                     facts->matrix->title, facts->started_utc, facts->folder, rig_matrix_grid_status(facts->grid),
                     facts->ending);
    if (facts->bisection != NULL)
        rig_bisection_json(facts->bisection, &json);
    rig_json_begin_object(&json, "counts");
    for (int state = 0; state < RIG_MATRIX_STATE_COUNT; state++)
        rig_json_int(&json, rig_matrix_state_name((enum rig_matrix_state)state), facts->grid->counts[state]);
    rig_json_end(&json);
    rig_json_begin_array(&json, "cells");
    for (size_t i = 0; i < facts->cells->count; i++)
        write_json_cell(&facts->cells->at[i], &json);
    rig_json_end(&json);
    if (facts->skipped_count > 0) {
        rig_json_begin_array(&json, "skipped");
        for (size_t i = 0; i < facts->skipped_count; i++)
            rig_json_object(&json, NULL, "level: %s, reason: %s", facts->skipped[i].level->name,
                            facts->skipped[i].reason);
        rig_json_end(&json);
    }
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}

/* ---- JUnit ---- */

static void add_attribute(struct rig_buf *out, const char *name, const char *text)
{
    rig_tell(out, " %s=\"%h\"", name, text);
}

static void write_case(const struct rig_matrix_facts *facts, const struct rig_matrix_cell *cell, struct rig_buf *out)
{
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_matrix_say_job(cell->job, &name);
    rig_buf_add_text(out, "    <testcase");
    if (cell->scenario == NULL) {
        add_attribute(out, "classname", facts->matrix->name);
        add_attribute(out, "name", rig_buf_text(&name));
    } else {
        rig_tell(out, " classname=\"%h.%h\"", facts->matrix->name, rig_buf_text(&name));
        add_attribute(out, "name", cell->scenario);
    }
    rig_buf_done(&name);
    /* All scenarios of a job share its time. */
    const size_t share = cell->scenario == NULL ? 1 : cell->job->database->scenarios.count;
    rig_buf_printf(out, " time=\"%.3f\">", cell->seconds / (double)share);
    if (cell->state != RIG_MATRIX_HOLDS) {
        const bool fails = cell->state == RIG_MATRIX_ANOMALIES;
        rig_buf_printf(out, "\n      <%s", fails ? "failure" : "error");
        add_attribute(out, "type", fails && cell->scenario == NULL ? cell->word : rig_matrix_state_name(cell->state));
        add_attribute(out, "message", cell->detail);
        rig_tell(out, ">%h</%s>\n    ", cell->steps, fails ? "failure" : "error");
    }
    rig_buf_add_text(out, "</testcase>\n");
}

void rig_matrix_write_junit(const struct rig_matrix_facts *facts, const struct rig_matrix_job *job, struct rig_buf *out)
{
    unsigned tests = 0, failures = 0, errors = 0;
    double seconds = 0;
    for (size_t i = 0; i < facts->cells->count; i++) {
        const struct rig_matrix_cell *cell = &facts->cells->at[i];
        if (job != NULL && cell->job != job)
            continue;
        tests++;
        failures += cell->state == RIG_MATRIX_ANOMALIES;
        errors += cell->state != RIG_MATRIX_ANOMALIES && cell->state != RIG_MATRIX_HOLDS;
        seconds += cell->seconds / (cell->scenario == NULL ? 1.0 : (double)cell->job->database->scenarios.count);
    }
    rig_buf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    add_attribute(out, "name", facts->matrix->name);
    rig_buf_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%.3f\">\n", tests, failures,
                   errors, seconds);
    for (size_t i = 0; i < facts->cells->count; i++) {
        if (job == NULL || facts->cells->at[i].job == job)
            write_case(facts, &facts->cells->at[i], out);
    }
    rig_buf_add_text(out, "  </testsuite>\n</testsuites>\n");
}
