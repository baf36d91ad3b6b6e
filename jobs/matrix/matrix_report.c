#include "jobs/matrix/matrix_report.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/version.h"
#include "report/tell.h"

struct building {
    const struct rig_matrix_cells *cells;
    struct rig_arena *arena;
    struct rig_matrix_grid *grid;
    uint32_t *table, *row, *column; /* of each cell */
};

/* "a, b" of the texts that are not empty; "as planned" if all are. */
static const char *join_names(struct rig_arena *arena, const char *const *names, size_t count, const char *separator)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] != '\0')
            rig_buf_printf(&text, "%s%s", text.size > 0 ? separator : "", names[i]);
    }
    const char *joined = text.size == 0 ? "as planned" : rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return joined;
}

/* The place of the label, which is added if it is new; UINT32_MAX: out of memory. `most`: room in `labels`. */
static uint32_t place_of(struct rig_arena *arena, struct rig_matrix_texts *labels, size_t most, const char *label)
{
    if (labels->at == NULL)
        labels->at = rig_arena_array(arena, most, sizeof *labels->at);
    if (labels->at == NULL || label == NULL)
        return UINT32_MAX;
    for (size_t i = 0; i < labels->count; i++) {
        if (strcmp(labels->at[i], label) == 0)
            return (uint32_t)i;
    }
    labels->at[labels->count] = label;
    return (uint32_t)labels->count++;
}

static const char *title_of(const struct rig_matrix_cell *cell, struct rig_arena *arena)
{
    if (cell->scenario != NULL)
        return "scenarios";
    const char *slash = strrchr(cell->job->plan, '/'), *base = slash == NULL ? cell->job->plan : slash + 1;
    const char *dot = strrchr(base, '.');
    return rig_arena_text(arena, base, dot == NULL ? strlen(base) : (size_t)(dot - base));
}

static uint32_t table_of(struct building *b, const struct rig_matrix_cell *cell)
{
    const char *title = title_of(cell, b->arena);
    struct rig_matrix_grid *grid = b->grid;
    if (title == NULL)
        return UINT32_MAX;
    for (size_t i = 0; i < grid->table_count; i++) {
        if (strcmp(grid->tables[i].title, title) == 0 && grid->tables[i].of_scenarios == (cell->scenario != NULL))
            return (uint32_t)i;
    }
    grid->tables[grid->table_count] = (struct rig_matrix_table){.title = title, .of_scenarios = cell->scenario != NULL};
    return (uint32_t)grid->table_count++;
}

static bool place_cell(struct building *b, size_t number)
{
    const struct rig_matrix_cell *cell = &b->cells->at[number];
    const struct rig_matrix_job *job = cell->job;
    const char *server[] = {job->database->name, job->values[RIG_MATRIX_SERVERS]->name};
    const char *level = job->values[RIG_MATRIX_LEVELS]->name, *fault = job->values[RIG_MATRIX_FAULTS]->name;
    b->table[number] = table_of(b, cell);
    if (b->table[number] == UINT32_MAX)
        return false;
    struct rig_matrix_table *table = &b->grid->tables[b->table[number]];
    const char *of_server = join_names(b->arena, server, 2, " ");
    if (of_server == NULL)
        return false;
    const char *const row[] = {of_server, cell->scenario == NULL ? "" : level, cell->scenario == NULL ? "" : fault};
    const char *const column[] = {level, fault};
    const char *row_label = join_names(b->arena, row, 3, ", ");
    const char *column_label = cell->scenario != NULL ? cell->scenario : join_names(b->arena, column, 2, ", ");
    b->row[number] = place_of(b->arena, &table->rows, b->cells->count, row_label);
    b->column[number] = place_of(b->arena, &table->columns, b->cells->count, column_label);
    return b->row[number] != UINT32_MAX && b->column[number] != UINT32_MAX;
}

/* Sorts the cells of the table by field, by counting. */
static bool fill_table(const struct building *b, uint32_t number)
{
    struct rig_matrix_table *table = &b->grid->tables[number];
    const size_t fields = table->rows.count * table->columns.count;
    table->first = rig_arena_alloc(b->arena, (fields + 2) * sizeof *table->first);
    table->cells = rig_arena_array(b->arena, b->cells->count, sizeof *table->cells);
    if (table->first == NULL || table->cells == NULL)
        return false;
    uint32_t *next = table->first + 1; /* while they are filled in: where the field's next cell goes */
    for (size_t i = 0; i < b->cells->count; i++) {
        if (b->table[i] == number)
            next[b->row[i] * table->columns.count + b->column[i] + 1]++;
    }
    for (size_t field = 1; field <= fields; field++)
        next[field] += next[field - 1];
    for (size_t i = 0; i < b->cells->count; i++) {
        if (b->table[i] == number)
            table->cells[next[b->row[i] * table->columns.count + b->column[i]]++] = &b->cells->at[i];
    }
    return true;
}

enum rig_rc rig_matrix_grid_init(const struct rig_matrix *matrix, const struct rig_matrix_cells *cells,
                                 struct rig_arena *arena, struct rig_matrix_grid *grid, struct rig_err *err)
{
    size_t most = 1;
    for (size_t i = 0; i < matrix->database_count; i++)
        most += matrix->databases[i].plans.count;
    *grid = (struct rig_matrix_grid){.tables = rig_arena_array(arena, most, sizeof *grid->tables)};
    struct building b = {.cells = cells, .arena = arena, .grid = grid};
    b.table = rig_arena_array(arena, cells->count + 1, sizeof *b.table);
    b.row = rig_arena_array(arena, cells->count + 1, sizeof *b.row);
    b.column = rig_arena_array(arena, cells->count + 1, sizeof *b.column);
    bool fits = grid->tables != NULL && b.table != NULL && b.row != NULL && b.column != NULL;
    for (size_t i = 0; i < cells->count && fits; i++) {
        fits = place_cell(&b, i);
        grid->counts[cells->at[i].state]++;
    }
    for (uint32_t i = 0; fits && i < grid->table_count; i++)
        fits = fill_table(&b, i);
    return fits ? RIG_OK : rig_no_memory(err, "the tables of the matrix");
}

struct rig_matrix_field rig_matrix_field_of(const struct rig_matrix_table *table, size_t row, size_t column)
{
    const size_t place = row * table->columns.count + column;
    struct rig_matrix_field field = {.runs = table->first[place + 1] - table->first[place]};
    for (uint32_t i = table->first[place]; i < table->first[place + 1]; i++) {
        const struct rig_matrix_cell *cell = table->cells[i];
        field.is_shown |= cell->is_shown;
        if (field.worst == NULL || cell->state > field.worst->state ||
            (cell->state == field.worst->state && cell->is_shown && !field.worst->is_shown)) {
            field.like_it = field.worst == NULL || cell->state > field.worst->state ? 0 : field.like_it;
            field.worst = cell;
        }
        field.like_it += cell->state == field.worst->state;
    }
    return field;
}

void rig_matrix_field_say(const struct rig_matrix_field *field, struct rig_buf *out)
{
    if (field->runs == 0)
        return;
    const enum rig_matrix_state state = field->worst->state;
    const bool loud = state == RIG_MATRIX_FAILED || (state == RIG_MATRIX_ANOMALIES && field->worst->scenario != NULL);
    for (const char *at = field->worst->word; *at != '\0'; at++)
        rig_buf_add_char(out, loud ? (char)toupper((unsigned char)*at) : *at);
    if (state == RIG_MATRIX_UNDECIDED && field->worst->scenario != NULL)
        rig_buf_add_char(out, '?');
    if (field->runs > 1 && field->like_it < field->runs)
        rig_buf_printf(out, " (%u of %u runs)", field->like_it, field->runs);
    else if (field->runs > 1)
        rig_buf_printf(out, " (%u runs)", field->runs);
}

void rig_matrix_grid_say_counts(const struct rig_matrix_grid *grid, struct rig_buf *out)
{
    static const char *const words[] = {[RIG_MATRIX_HOLDS] = "hold",
                                        [RIG_MATRIX_NOT_RUN] = "not run",
                                        [RIG_MATRIX_UNDECIDED] = "undecided",
                                        [RIG_MATRIX_FAILED] = "failed",
                                        [RIG_MATRIX_ANOMALIES] = "with forbidden anomalies"};
    static const enum rig_matrix_state order[] = {RIG_MATRIX_HOLDS, RIG_MATRIX_ANOMALIES, RIG_MATRIX_FAILED,
                                                  RIG_MATRIX_UNDECIDED, RIG_MATRIX_NOT_RUN};
    const size_t before = out->size;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (grid->counts[order[i]] > 0)
            rig_buf_printf(out, "%s%u %s", out->size > before ? ", " : "", grid->counts[order[i]], words[order[i]]);
    }
}

int rig_matrix_grid_status(const struct rig_matrix_grid *grid)
{
    if (grid->counts[RIG_MATRIX_ANOMALIES] > 0)
        return 1;
    if (grid->counts[RIG_MATRIX_FAILED] > 0)
        return 3;
    return grid->counts[RIG_MATRIX_UNDECIDED] + grid->counts[RIG_MATRIX_NOT_RUN] > 0 ||
                   grid->counts[RIG_MATRIX_HOLDS] == 0
               ? 2
               : 0;
}

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

/* The width of a column with its heading. */
static size_t column_width(const struct rig_matrix_table *table, size_t column, size_t line_count, const char *heading)
{
    struct rig_buf word;
    size_t width = strlen(heading);
    rig_buf_init(&word, 0);
    for (size_t line = 0; line < line_count; line++) {
        say_field(table, line, column, &word);
        width = word.size > width ? word.size : width;
    }
    rig_buf_done(&word);
    return width;
}

/* A table that is wider than the terminal: a row a field, below the name of its line. */
static void write_list(const struct rig_matrix_table *table, const struct rig_matrix_texts *lines,
                       const struct rig_matrix_texts *columns, struct rig_buf *out)
{
    const size_t widest = widest_of(columns);
    struct rig_buf word;
    rig_buf_init(&word, 0);
    rig_buf_printf(out, "%s\n", table->title);
    for (size_t line = 0; line < lines->count; line++) {
        rig_buf_printf(out, "%s\n", lines->at[line]);
        for (size_t column = 0; column < columns->count; column++) {
            say_field(table, line, column, &word);
            rig_buf_printf(out, "  %-*s  %s\n", (int)widest, columns->at[column], rig_buf_text(&word));
        }
    }
    rig_buf_add_char(out, '\n');
    rig_buf_done(&word);
}

static void write_table(const struct rig_matrix_table *table, size_t columns_most, struct rig_buf *out)
{
    const struct rig_matrix_texts *lines = table->of_scenarios ? &table->columns : &table->rows;
    const struct rig_matrix_texts *columns = table->of_scenarios ? &table->rows : &table->columns;
    char number[24] = "";
    size_t whole = widest_of(lines) > strlen(table->title) ? widest_of(lines) : strlen(table->title);
    for (size_t column = 0; column < columns->count; column++) {
        (void)snprintf(number, sizeof number, "%zu", column + 1);
        whole += 2 + column_width(table, column, lines->count, table->of_scenarios ? number : columns->at[column]);
    }
    if (columns_most > 0 && whole > columns_most) {
        write_list(table, lines, columns, out);
        return;
    }
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
            (void)snprintf(number, sizeof number, "%zu", column + 1);
            const char *heading = table->of_scenarios ? number : columns->at[column];
            const size_t width = column_width(table, column, lines->count, heading);
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
        write_table(&facts->grid->tables[i], facts->columns, out);
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
