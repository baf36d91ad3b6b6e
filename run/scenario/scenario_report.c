#include "base/json_members.h"
#include "run/scenario/scenario_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"

static void add_clean(struct rig_buf *out, const char *text)
{
    char line[RIG_ERROR_TEXT_BYTES];
    (void)snprintf(line, sizeof line, "%s", text);
    rig_printable_line(line);
    rig_buf_add_text(out, line);
}

static void add_rows(const struct rig_scenario_rows *rows, uint32_t column_count, struct rig_buf *out)
{
    if (rows->count == 0)
        rig_buf_add_text(out, "no rows");
    for (uint32_t row = 0; row < rows->count; row++) {
        for (uint32_t column = 0; column < column_count; column++)
            rig_buf_printf(out, "%s%" PRId64,
                           column > 0 ? ", "
                           : row > 0  ? " ("
                                      : "(",
                           rows->cells[(size_t)row * column_count + column]);
        rig_buf_add_char(out, ')');
    }
}

static void add_result(const struct rig_scenario *scenario, const struct rig_played_step *played, uint32_t number,
                       struct rig_buf *out)
{
    const struct rig_scenario_step *step = &scenario->steps[number];
    const bool selects =
        step->act == RIG_SCENARIO_STATEMENT && scenario->statements[step->statement].act == RIG_ROW_SELECT;
    switch (played->state) {
    case RIG_PLAYED_NOT:
        rig_buf_add_text(out, "not sent: the transaction is over");
        break;
    case RIG_PLAYED_DONE:
        if (played->line != NULL)
            add_clean(out, played->line);
        else if (selects)
            add_rows(&played->rows, scenario->table.column_count, out);
        else
            rig_buf_add_text(out, "done");
        break;
    case RIG_PLAYED_FAILED:
        add_clean(out, played->code);
        rig_buf_add_text(out, ": ");
        add_clean(out, played->text);
        break;
    case RIG_PLAYED_STUCK:
        rig_buf_add_text(out, "did not return, and was interrupted");
        break;
    }
    if (played->until != UINT32_MAX && played->state != RIG_PLAYED_NOT)
        rig_buf_printf(out, " (waited until step %u)", (unsigned)played->until + 1);
}

void rig_scenario_write_word(const struct rig_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_performance *performance = cell->performance;
    const struct rig_scenario *scenario = cell->scenario;
    bool waited = false;
    if (performance->shows && cell->played > 1)
        rig_buf_printf(out, "%u/%u", (unsigned)cell->shown, (unsigned)cell->played);
    else if (performance->shows)
        rig_buf_add_text(out, "shown");
    if (performance->shows)
        return;
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const struct rig_played_step *played = &performance->steps[i];
        if (played->state == RIG_PLAYED_FAILED || played->state == RIG_PLAYED_STUCK) {
            add_clean(out, played->state == RIG_PLAYED_STUCK ? "stuck" : played->code);
            return;
        }
        waited |= played->state == RIG_PLAYED_DONE && played->until != UINT32_MAX;
    }
    rig_buf_add_text(out, waited ? "waits" : "no");
}

/* The steps of which rig sees the answer alone. */
static void add_texts(const struct rig_scenario *scenario, struct rig_buf *out)
{
    const char *separator = "  rig does not understand step ";
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        if (scenario->steps[i].act != RIG_SCENARIO_TEXT)
            continue;
        rig_buf_printf(out, "%s%u", separator, (unsigned)i + 1);
        separator = ", ";
    }
    if (separator[0] == ',')
        rig_buf_add_text(out, ": the answers that the file expects decide\n");
}

void rig_scenario_write_text(const struct rig_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_scenario *scenario = cell->scenario;
    size_t widest = 0, name = 0;
    rig_buf_printf(out, "%s: %s (%s), on %s", scenario->name, scenario->title, scenario->anomaly, cell->server);
    rig_buf_printf(out, "%s%s\n", cell->column == NULL ? "" : ", ", cell->column == NULL ? "" : cell->column);
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const size_t length = strlen(scenario->steps[i].text);
        widest = length > widest ? length : widest;
    }
    for (uint32_t i = 0; i < scenario->session_count; i++)
        name = strlen(scenario->sessions[i]) > name ? strlen(scenario->sessions[i]) : name;
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const struct rig_scenario_step *step = &scenario->steps[i];
        rig_buf_printf(out, "  %3u  %-*s  %-*s  ", (unsigned)i + 1, (int)name, scenario->sessions[step->session],
                       (int)widest, step->text);
        add_result(scenario, &cell->performance->steps[i], i, out);
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_text(out, cell->performance->shows ? "  the anomaly is shown" : "  the anomaly is not shown");
    if (cell->performance->overlaps)
        rig_buf_add_text(out, ": a transaction that had to end before another one began did not");
    if (cell->played > 1)
        rig_buf_printf(out, " (in %u of %u plays)", (unsigned)cell->shown, (unsigned)cell->played);
    rig_buf_add_char(out, '\n');
    add_texts(scenario, out);
}

static void add_json_rows(const struct rig_scenario_rows *rows, uint32_t column_count, struct rig_json_writer *json)
{
    rig_json_begin_array(json, "rows");
    for (uint32_t row = 0; row < rows->count; row++) {
        rig_json_begin_array(json, NULL);
        for (uint32_t column = 0; column < column_count; column++)
            rig_json_int(json, NULL, rows->cells[(size_t)row * column_count + column]);
        rig_json_end(json);
    }
    rig_json_end(json);
}

static void add_json_step(const struct rig_scenario_cell *cell, uint32_t number, struct rig_json_writer *json)
{
    static const char *const states[] = {[RIG_PLAYED_NOT] = "not-sent",
                                         [RIG_PLAYED_DONE] = "done",
                                         [RIG_PLAYED_FAILED] = "failed",
                                         [RIG_PLAYED_STUCK] = "stuck"};
    const struct rig_scenario *scenario = cell->scenario;
    const struct rig_scenario_step *step = &scenario->steps[number];
    const struct rig_played_step *played = &cell->performance->steps[number];
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "session: %s, statement: %s, state: %s", scenario->sessions[step->session], step->text,
                     states[played->state]);
    if (played->until != UINT32_MAX && played->state != RIG_PLAYED_NOT)
        rig_json_int(json, "waited-until", (int64_t)played->until + 1);
    if (played->line != NULL)
        rig_json_string(json, "answer", played->line);
    if (played->rows.cells != NULL)
        add_json_rows(&played->rows, scenario->table.column_count, json);
    if (played->state == RIG_PLAYED_FAILED)
        rig_json_bool(json, "conflict", played->conflict);
    if (played->state == RIG_PLAYED_FAILED)
        rig_json_string(json, "code", played->code);
    if (played->state == RIG_PLAYED_FAILED)
        rig_json_string(json, "text", played->text);
    rig_json_end(json);
}

void rig_scenario_write_json(const struct rig_scenario_cell *cell, struct rig_json_writer *json)
{
    const struct rig_scenario *scenario = cell->scenario;
    struct rig_buf word;
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "scenario: %s, title: %s, anomaly: %s, level: %s", scenario->name, scenario->title,
                     scenario->anomaly, scenario->level);
    if (cell->column != NULL)
        rig_json_string(json, "column", cell->column);
    rig_json_members(json, "server: %s, shown: %b, forbidden: %b", cell->server, cell->performance->shows,
                     cell->forbidden);
    rig_buf_init(&word, 0);
    rig_scenario_write_word(cell, &word);
    rig_json_string(json, "word", rig_buf_text(&word));
    rig_buf_done(&word);
    rig_json_members(json, "plays: %d, plays-shown: %d", cell->played, cell->shown);
    rig_json_begin_array(json, "steps");
    for (uint32_t i = 0; i < scenario->step_count; i++)
        add_json_step(cell, i, json);
    rig_json_end(json);
    rig_json_end(json);
}

/* The columns of the grid are as wide as their widest words. */
static size_t width_of(const struct rig_scenario_grid *grid)
{
    size_t widest = 0;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        struct rig_buf word;
        rig_buf_init(&word, 0);
        grid->word(grid->context, i / grid->column_count, i % grid->column_count, &word);
        widest = word.size > widest ? word.size : widest;
        rig_buf_done(&word);
    }
    return widest;
}

/* The text, and the blanks that are still missing before the next column. */
static size_t add_padded(struct rig_buf *out, size_t missing, const char *text, size_t width)
{
    const size_t length = strlen(text);
    rig_buf_printf(out, "%*s%s", (int)missing, "", text);
    return (length < width ? width - length : 0) + 2;
}

void rig_scenario_write_grid(const struct rig_scenario_grid *grid, struct rig_buf *out)
{
    const size_t width = width_of(grid);
    size_t widest = strlen("scenario");
    for (size_t row = 0; row < grid->row_count; row++) {
        const size_t length = strlen(grid->row(grid->context, row));
        widest = length > widest ? length : widest;
    }
    for (size_t column = 0; column < grid->column_count; column++) {
        rig_buf_printf(out, "%4u  ", (unsigned)column + 1);
        grid->column(grid->context, column, out);
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_char(out, '\n');
    size_t missing = add_padded(out, 0, "scenario", widest);
    for (size_t column = 0; column < grid->column_count; column++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%zu", column + 1);
        missing = add_padded(out, missing, number, width);
    }
    rig_buf_add_char(out, '\n');
    for (size_t row = 0; row < grid->row_count; row++) {
        missing = add_padded(out, 0, grid->row(grid->context, row), widest);
        for (size_t column = 0; column < grid->column_count; column++) {
            struct rig_buf word;
            rig_buf_init(&word, 0);
            grid->word(grid->context, row, column, &word);
            missing = add_padded(out, missing, rig_buf_text(&word), width);
            rig_buf_done(&word);
        }
        rig_buf_add_char(out, '\n');
    }
}
