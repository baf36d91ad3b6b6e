#include "jobs/matrix/matrix_grid.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
