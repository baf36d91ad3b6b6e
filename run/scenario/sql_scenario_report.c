#include "run/scenario/sql_scenario_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_members.h"
#include "base/printable.h"
#include "run/scenario/told.h"

/* ---- differences ---- */

static bool is_compared(const struct rig_sql_scenario_cell *cell)
{
    return cell->outcome != NULL && !cell->outcome->unstable;
}

bool rig_sql_scenario_expects(const struct rig_sql_scenario_cell *cell)
{
    const struct rig_sql_scenario *interleaving = cell->interleaving;
    bool expects = is_compared(cell) || interleaving->final_rows != NULL;
    for (uint32_t i = 0; i < interleaving->step_count; i++)
        expects |= interleaving->steps[i].expected.given;
    return expects;
}

static bool compare_step(const struct rig_sql_scenario_cell *cell, uint32_t step, struct rig_buf *out)
{
    const struct rig_told *told = &cell->performance->steps[step];
    const struct rig_expected *own = &cell->interleaving->steps[step].expected;
    bool same = rig_told_compare(told, own, out);
    if (same && is_compared(cell))
        same = rig_told_compare(told, &cell->outcome->steps[step], out);
    return same;
}

/* The entry of query `number`, of those that the engine has. */
static const struct rig_yaml_node *final_of(const struct rig_yaml_node *list, uint32_t number)
{
    const struct rig_yaml_entry *entry = list == NULL ? NULL : list->first;
    while (entry != NULL && number-- > 0)
        entry = entry->next;
    return entry == NULL ? NULL : entry->value;
}

static bool compare_final(const struct rig_sql_scenario_cell *cell, uint32_t number, struct rig_buf *out)
{
    const struct rig_told *told = &cell->performance->final[number];
    const struct rig_yaml_node *own = final_of(cell->interleaving->final_rows, number);
    const struct rig_yaml_node *of_outcome = is_compared(cell) ? final_of(cell->outcome->final, number) : NULL;
    return (own == NULL || rig_told_compare_final(told, own, out)) &&
           (of_outcome == NULL || rig_told_compare_final(told, of_outcome, out));
}

/* More or fewer queries than the file has tables for. */
static bool compare_final_count(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_yaml_node *list = is_compared(cell) ? cell->outcome->final : NULL;
    if (list == NULL || list->count == cell->performance->final_count)
        return true;
    rig_buf_printf(out, "expected the rows of %zu queries, and %u were sent", list->count,
                   (unsigned)cell->performance->final_count);
    return false;
}

static const struct rig_told *failed_setup(const struct rig_sql_scenario_cell *cell)
{
    const struct rig_sql_scenario_performance *performance = cell->performance;
    const uint32_t count = performance->setup_count;
    return count > 0 && performance->setup[count - 1].failed ? &performance->setup[count - 1] : NULL;
}

static bool compare_setup(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_told *failed = failed_setup(cell);
    const char *wanted = is_compared(cell) ? cell->outcome->setup_error : NULL;
    if (failed == NULL && wanted == NULL)
        return true;
    /* The file is about other databases, so that this one may not know its SQL. */
    if (cell->outcome == NULL && cell->interleaving->outcome_count > 0)
        return true;
    if (failed != NULL && wanted != NULL && rig_told_is_error(failed, wanted))
        return true;
    rig_buf_printf(out, "expected %s%s, not ", wanted == NULL ? "a setup without an error" : "error ",
                   wanted == NULL ? "" : wanted);
    if (failed == NULL)
        rig_buf_add_text(out, "a setup without one");
    else
        rig_told_write(failed, out);
    return false;
}

/* Calls each comparison until one differs. `place`: where. True: none does. */
static bool compare_all(const struct rig_sql_scenario_cell *cell, struct rig_buf *place, struct rig_buf *out)
{
    if (!compare_setup(cell, out)) {
        rig_buf_add_text(place, "setup");
        return false;
    }
    if (failed_setup(cell) != NULL)
        return true;
    for (uint32_t i = 0; i < cell->interleaving->step_count; i++) {
        if (!compare_step(cell, i, out)) {
            rig_buf_printf(place, "step %u", (unsigned)cell->interleaving->steps[i].number);
            return false;
        }
    }
    for (uint32_t i = 0; i < cell->performance->final_count; i++) {
        if (!compare_final(cell, i, out)) {
            rig_buf_printf(place, "final %u", (unsigned)i + 1);
            return false;
        }
    }
    if (compare_final_count(cell, out))
        return true;
    rig_buf_add_text(place, "final");
    return false;
}

bool rig_sql_scenario_is_as_expected(const struct rig_sql_scenario_cell *cell)
{
    struct rig_buf place, out;
    rig_buf_init(&place, 0);
    rig_buf_init(&out, 0);
    const bool same = compare_all(cell, &place, &out);
    rig_buf_done(&place);
    rig_buf_done(&out);
    return same;
}

void rig_sql_scenario_write_word(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    struct rig_buf ignored;
    rig_buf_init(&ignored, 0);
    if (compare_all(cell, out, &ignored))
        rig_buf_add_text(out, rig_sql_scenario_expects(cell) ? "as said" : "played");
    rig_buf_done(&ignored);
}

/* ---- text ---- */

static void write_line(const char *text, int width, struct rig_buf *out)
{
    char line[400];
    (void)snprintf(line, sizeof line, "%s", text);
    rig_printable_line(line);
    rig_buf_printf(out, "%-*s  ", width, line);
}

static void write_wait(const struct rig_told *told, struct rig_buf *out)
{
    if (told->starts_after == RIG_AFTER_THE_END)
        rig_buf_add_text(out, " (sent after the last step)");
    else if (told->starts_after != RIG_AFTER_NOTHING)
        rig_buf_printf(out, " (sent after step %u)", (unsigned)told->starts_after);
    if (told->waits && !told->stuck && told->after == RIG_AFTER_THE_END)
        rig_buf_add_text(out, " (waited until after the last step)");
    else if (told->waits && !told->stuck)
        rig_buf_printf(out, " (waited until step %u)", (unsigned)told->after);
}

static void write_difference(const char *text, struct rig_buf *out)
{
    if (text[0] != '\0')
        rig_buf_printf(out, "       %s\n", text);
}

enum { STATEMENT_WIDTH = 60 };

static int statement_width(const struct rig_sql_scenario_cell *cell)
{
    size_t widest = 0;
    for (uint32_t i = 0; i < cell->interleaving->step_count; i++) {
        const size_t length = strlen(cell->performance->steps[i].statement);
        widest = length > widest && length <= STATEMENT_WIDTH ? length : widest;
    }
    return (int)widest;
}

static void write_steps(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_sql_scenario *interleaving = cell->interleaving;
    const int width = statement_width(cell);
    size_t name = 0;
    for (uint32_t i = 0; i < interleaving->session_count; i++)
        name = strlen(interleaving->sessions[i]) > name ? strlen(interleaving->sessions[i]) : name;
    for (uint32_t i = 0; i < interleaving->step_count; i++) {
        const struct rig_sql_scenario_step *step = &interleaving->steps[i];
        const struct rig_told *told = &cell->performance->steps[i];
        struct rig_buf difference;
        if (told->skipped)
            continue;
        rig_buf_printf(out, "  %3u  %-*s  ", (unsigned)step->number, (int)name, interleaving->sessions[step->session]);
        write_line(step->act == RIG_STEP_UNTIL ? "(until it has returned)" : told->statement, width, out);
        rig_told_write(told, out);
        write_wait(told, out);
        rig_buf_add_char(out, '\n');
        rig_buf_init(&difference, 0);
        if (!compare_step(cell, i, &difference))
            write_difference(rig_buf_text(&difference), out);
        rig_buf_done(&difference);
    }
}

static void write_finals(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    for (uint32_t i = 0; i < cell->performance->final_count; i++) {
        const struct rig_told *told = &cell->performance->final[i];
        struct rig_buf difference;
        rig_buf_printf(out, "final  ");
        write_line(told->statement, 0, out);
        rig_told_write(told, out);
        rig_buf_add_char(out, '\n');
        rig_buf_init(&difference, 0);
        if (!compare_final(cell, i, &difference))
            write_difference(rig_buf_text(&difference), out);
        rig_buf_done(&difference);
    }
}

static void write_conclusion(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_sql_scenario *interleaving = cell->interleaving;
    struct rig_buf place, difference;
    rig_buf_init(&place, 0);
    rig_buf_init(&difference, 0);
    const bool same = compare_all(cell, &place, &difference);
    if (!same)
        rig_buf_printf(out, "  not as the file says: %s: %s", rig_buf_text(&place), rig_buf_text(&difference));
    else if (rig_sql_scenario_expects(cell))
        rig_buf_add_text(out, "  as the file says");
    else if (cell->outcome != NULL && cell->outcome->unstable)
        rig_buf_add_text(out, "  not compared: the file calls this outcome unstable");
    else if (interleaving->outcome_count > 0)
        rig_buf_printf(out, "  not compared: the file has no outcome for %s%s%s", cell->server,
                       cell->level[0] == '\0' ? "" : " at ", cell->level);
    else
        rig_buf_add_text(out, "  not compared: the file expects nothing");
    if (cell->outcome != NULL && rig_engine_fit(cell->outcome->engine, cell->server) == 1)
        rig_buf_printf(out, " (its outcome is one of %s)", cell->outcome->engine);
    if (cell->played > 1)
        rig_buf_printf(out, " (in %u of %u plays)", (unsigned)cell->as_expected, (unsigned)cell->played);
    rig_buf_add_text(out, "\n  rig draws no dependencies from texts: the expectations decide\n");
    rig_buf_done(&place);
    rig_buf_done(&difference);
}

void rig_sql_scenario_write_text(const struct rig_sql_scenario_cell *cell, struct rig_buf *out)
{
    const struct rig_sql_scenario *interleaving = cell->interleaving;
    const struct rig_told *failed = failed_setup(cell);
    rig_buf_printf(out, "%s%s%s, on %s%s%s", interleaving->name, interleaving->title[0] == '\0' ? "" : ": ",
                   interleaving->title, cell->server, cell->level[0] == '\0' ? "" : ", ", cell->level);
    rig_buf_printf(out, "%s%s\n", cell->column == NULL ? "" : ", ", cell->column == NULL ? "" : cell->column);
    if (failed != NULL) {
        rig_buf_add_text(out, "setup  ");
        write_line(failed->statement, 0, out);
        rig_told_write(failed, out);
        rig_buf_add_char(out, '\n');
    } else {
        write_steps(cell, out);
        write_finals(cell, out);
    }
    write_conclusion(cell, out);
}

/* ---- JSON ---- */

static void write_json_cell(const struct rig_text_cell *cell, struct rig_json_writer *json)
{
    const bool is_number = cell->kind == RIG_TEXT_INTEGER || cell->kind == RIG_TEXT_REAL;
    /* Infinity and what is no number have no form in JSON. */
    if (is_number && cell->text[strspn(cell->text, "+-.0123456789eE")] == '\0')
        rig_json_plain(json, NULL, cell->text);
    else if (cell->kind == RIG_TEXT_BOOLEAN)
        rig_json_bool(json, NULL, strcmp(cell->text, "true") == 0);
    else if (cell->kind == RIG_TEXT_NULL)
        rig_json_null(json, NULL);
    else
        rig_json_string(json, NULL, cell->text);
}

static void write_json_rows(const struct rig_told *told, struct rig_json_writer *json)
{
    if (told->columns != NULL) {
        rig_json_begin_array(json, "columns");
        for (uint32_t i = 0; i < told->column_count; i++)
            rig_json_string(json, NULL, told->columns[i]);
        rig_json_end(json);
    }
    rig_json_begin_array(json, "rows");
    for (size_t row = 0; row < told->row_count; row++) {
        rig_json_begin_array(json, NULL);
        for (uint32_t i = 0; i < told->column_count; i++)
            write_json_cell(&told->cells[row * told->column_count + i], json);
        rig_json_end(json);
    }
    rig_json_end(json);
}

static void write_json_after(const char *name, uint32_t after, struct rig_json_writer *json)
{
    if (after == RIG_AFTER_THE_END)
        rig_json_string(json, name, "end");
    else
        rig_json_int(json, name, after);
}

/* The answer, as members of an object. */
static void write_json_told(const struct rig_told *told, struct rig_json_writer *json)
{
    const char *state = !told->sent ? "not-sent" : told->stuck ? "stuck" : told->failed ? "failed" : "done";
    rig_json_members(json, "statement: %s, state: %s", told->statement, state);
    if (told->has_rows)
        write_json_rows(told, json);
    if (told->count >= 0)
        rig_json_int(json, "count", told->count);
    if (told->failed) {
        rig_json_members(json, "error: %s, text: %s, conflict: %b", told->code, told->text, told->conflict);
        if (told->state[0] != '\0')
            rig_json_string(json, "sqlstate", told->state);
        if (told->native != 0)
            rig_json_int(json, "native", told->native);
    }
    if (told->rolled_back)
        rig_json_bool(json, "rolled-back", true);
    if (told->sent)
        rig_json_bool(json, "waits", told->waits);
    if (told->waits && told->after != RIG_AFTER_NOTHING)
        write_json_after("returns-after", told->after, json);
    if (told->starts_after != RIG_AFTER_NOTHING)
        write_json_after("starts-after", told->starts_after, json);
}

static void write_json_difference(bool same, const struct rig_buf *difference, struct rig_json_writer *json)
{
    if (!same)
        rig_json_string(json, "difference", rig_buf_text(difference));
}

static void write_json_steps(const struct rig_sql_scenario_cell *cell, struct rig_json_writer *json)
{
    const struct rig_sql_scenario *interleaving = cell->interleaving;
    rig_json_begin_array(json, "steps");
    for (uint32_t i = 0; failed_setup(cell) == NULL && i < interleaving->step_count; i++) {
        const struct rig_sql_scenario_step *step = &interleaving->steps[i];
        const struct rig_told *told = &cell->performance->steps[i];
        struct rig_buf difference;
        if (told->skipped)
            continue;
        rig_json_begin_object(json, NULL);
        rig_json_members(json, "step: %d, session: %s", step->number, interleaving->sessions[step->session]);
        if (interleaving->nodes[step->session] != NULL)
            rig_json_string(json, "node", interleaving->nodes[step->session]);
        if (step->act == RIG_STEP_UNTIL)
            rig_json_bool(json, "until", true);
        write_json_told(told, json);
        rig_buf_init(&difference, 0);
        write_json_difference(compare_step(cell, i, &difference), &difference, json);
        rig_buf_done(&difference);
        rig_json_end(json);
    }
    rig_json_end(json);
}

static void write_json_finals(const struct rig_sql_scenario_cell *cell, struct rig_json_writer *json)
{
    rig_json_begin_array(json, "final");
    for (uint32_t i = 0; i < cell->performance->final_count; i++) {
        struct rig_buf difference;
        rig_json_begin_object(json, NULL);
        write_json_told(&cell->performance->final[i], json);
        rig_buf_init(&difference, 0);
        write_json_difference(compare_final(cell, i, &difference), &difference, json);
        rig_buf_done(&difference);
        rig_json_end(json);
    }
    rig_json_end(json);
}

void rig_sql_scenario_write_json(const struct rig_sql_scenario_cell *cell, struct rig_json_writer *json)
{
    const struct rig_sql_scenario *interleaving = cell->interleaving;
    const struct rig_told *failed = failed_setup(cell);
    struct rig_buf place, difference;
    rig_buf_init(&place, 0);
    rig_buf_init(&difference, 0);
    const bool same = compare_all(cell, &place, &difference), expects = rig_sql_scenario_expects(cell);
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "scenario: %s, title: %s", interleaving->name, interleaving->title);
    if (cell->column != NULL)
        rig_json_string(json, "column", cell->column);
    rig_json_members(json, "server: %s, level: %s, dependencies: %b, compared: %b", cell->server, cell->level, false,
                     expects);
    if (cell->outcome != NULL)
        rig_json_string(json, "outcome-of", cell->outcome->engine);
    if (expects || !same)
        rig_json_bool(json, "as-expected", same);
    if (!same)
        rig_json_members(json, "difference: %s, place: %s", rig_buf_text(&difference), rig_buf_text(&place));
    rig_json_members(json, "plays: %d, plays-as-expected: %d", cell->played, cell->as_expected);
    if (failed != NULL) {
        rig_json_begin_object(json, "setup");
        write_json_told(failed, json);
        rig_json_end(json);
    }
    write_json_steps(cell, json);
    write_json_finals(cell, json);
    rig_json_end(json);
    rig_buf_done(&place);
    rig_buf_done(&difference);
}
