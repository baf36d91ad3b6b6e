/*
 * The answers of a turn's statements (program_statement.h): numbers, lists, pairs and rows from cells that are texts.
 */
#include <string.h>

#include "drivers/sql/program_statement.h"

/* A cell as a text; NULL for a null, and for what is no text. */
const char *rig_sql_cell_text(const json_t *row, size_t column, size_t *length)
{
    const json_t *cell = json_array_get(row, column);
    *length = json_string_length(cell);
    return json_string_value(cell);
}

bool rig_sql_cell_number(const json_t *row, size_t column, int64_t *number)
{
    size_t length = 0;
    const char *text = rig_sql_cell_text(row, column, &length);
    return text != NULL && rig_sql_int_parse(text, length, number);
}

bool rig_sql_turn_malformed(struct rig_sql_turn *turn)
{
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MALFORMED, NULL);
    return false;
}

/* Each element comes after a comma. */
static bool take_list(struct rig_sql_turn *turn, const char *text, size_t length, struct rig_read *read)
{
    struct rig_transaction *transaction = turn->transaction;
    struct rig_read list = {.state = RIG_READ_SEEN, .first_element = transaction->element_count};
    if (length > 0 && text[0] != ',')
        return rig_sql_turn_malformed(turn);
    if (length > 0 &&
        !rig_sql_turn_take_list(turn, RIG_PHASE_OPERATION, RIG_SQL_LIST_TEXT, text + 1, length - 1, NULL, &list))
        return false;
    *read = list;
    return true;
}

static bool take_value(struct rig_sql_turn *turn, uint32_t op, const json_t *row)
{
    struct rig_read *read = &turn->transaction->reads[op];
    const bool sequence = rig_op_reads_sequence(turn->transaction->ops[op].kind);
    const bool prefilled = turn->session->run->env->prefilled_keys > 0;
    size_t length = 0;
    const json_t *cell = json_array_get(row, 0);
    const char *text = rig_sql_cell_text(row, 0, &length);
    if (json_array_size(row) != 1 || (text == NULL && !(json_is_null(cell) && prefilled)))
        return rig_sql_turn_malformed(turn);
    if (sequence)
        return take_list(turn, text == NULL ? "" : text, length, read);
    if (text == NULL) {
        read->state = RIG_READ_NIL; /* a row without a value */
        return true;
    }
    int64_t value = 0;
    if (!rig_sql_int_parse(text, length, &value))
        return rig_sql_turn_malformed(turn);
    *read = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
    return true;
}

bool rig_sql_turn_take_read(struct rig_sql_turn *turn, uint32_t op, json_t *answer)
{
    const json_t *rows = json_object_get(answer, "rows");
    if (answer == NULL)
        return false;
    bool taken = true;
    if (!json_is_array(rows) || json_array_size(rows) > 1) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "a read needs one row or none as its answer");
        taken = false;
    } else if (json_array_size(rows) == 0) {
        turn->transaction->reads[op].state = RIG_READ_NIL;
    } else {
        taken = take_value(turn, op, json_array_get(rows, 0));
    }
    json_decref(answer);
    return taken;
}

bool rig_sql_turn_take_count(struct rig_sql_turn *turn, json_t *answer, int64_t *count)
{
    const json_t *told = json_object_get(answer, "count");
    if (answer == NULL)
        return false;
    *count = json_is_integer(told) ? json_integer_value(told) : -1;
    json_decref(answer);
    if (*count < 0)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, RIG_SQL_UNCOUNTED);
    return *count >= 0;
}

/* Rows of two numbers; of a sum the first one counts as 0. */
bool rig_sql_turn_take_pairs(struct rig_sql_turn *turn, uint32_t op, bool sums, json_t *answer, size_t *row_count)
{
    struct rig_transaction *transaction = turn->transaction;
    const json_t *rows = json_object_get(answer, "rows");
    if (answer == NULL)
        return false;
    const size_t count = json_array_size(rows);
    *row_count = count;
    if (json_is_array(rows) && count == 0) {
        transaction->reads[op].state = RIG_READ_NIL;
        json_decref(answer);
        return true;
    }
    const size_t pairs = json_array_size(json_array_get(rows, 0)) / 2; /* of a row: two with that of its partner */
    int64_t *room = turn->session->run->env->core->elements(transaction, count * pairs * 2);
    size_t taken_pairs = 0;
    bool taken = json_is_array(rows) && room != NULL && count <= UINT32_MAX / 2;
    if (!taken)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, room == NULL ? RIG_SQL_LIMIT : RIG_SQL_PROTOCOL, NULL);
    for (size_t i = 0; taken && i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        taken = pairs > 0 && json_array_size(row) == 2 * pairs;
        for (size_t pair = 0; taken && pair < pairs; pair++) {
            if (pair > 0 && json_is_null(json_array_get(row, 2 * pair))) /* there is no partner */
                continue;
            taken = rig_sql_cell_number(row, 2 * pair, &room[2 * taken_pairs]) &&
                    rig_sql_cell_number(row, 2 * pair + 1, &room[2 * taken_pairs + 1]);
            if (taken && sums)
                room[2 * taken_pairs] = 0;
            taken_pairs++;
        }
        if (!taken)
            (void)rig_sql_turn_malformed(turn);
    }
    json_decref(answer);
    if (!taken)
        return false;
    transaction->reads[op] = (struct rig_read){
        .state = RIG_READ_SEEN, .count = (uint32_t)(taken_pairs * 2), .first_element = transaction->element_count};
    transaction->element_count += taken_pairs * 2;
    return true;
}

/* ---- rows of programs ---- */

bool rig_sql_turn_take_rows(struct rig_sql_turn *turn, const struct rig_row_table *table, json_t *answer,
                            struct rig_row_answer *rows_of)
{
    const json_t *rows = json_object_get(answer, "rows");
    if (answer == NULL)
        return false;
    const size_t count = json_array_size(rows);
    bool taken = json_is_array(rows);
    if (!taken)
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, "a selection was answered without rows");
    if (taken && count * table->column_count > rows_of->cell_capacity) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_LIMIT,
                          "a statement of the program gave more rows than rig takes");
        taken = false;
    }
    for (size_t i = 0; taken && i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        taken = json_array_size(row) == table->column_count;
        for (uint32_t k = 0; taken && k < table->column_count; k++)
            taken = rig_sql_cell_number(row, k, &rows_of->cells[i * table->column_count + k]);
        if (!taken)
            rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_MALFORMED,
                              "a row with other cells than the table's numbers");
    }
    rows_of->count = (uint32_t)count;
    json_decref(answer);
    return taken;
}
