#include "drivers/mysql/my_answer.h"

#include <string.h>

void rig_my_answer_release(struct rig_my_answer *answer)
{
    mysql_free_result(answer->result);
    if (answer->statement != NULL)
        (void)mysql_stmt_free_result(answer->statement);
    *answer = (struct rig_my_answer){0};
}

static enum rig_my_cell next_prepared(struct rig_buf *cell, MYSQL_STMT *statement, const char **text, size_t *length)
{
    unsigned long size = 0;
    my_bool null = 0;
    if (mysql_stmt_field_count(statement) != 1)
        return RIG_MY_CELL_BAD;
    rig_buf_clear(cell);
    if (rig_buf_reserve(cell, RIG_SQL_INT_BYTES) == NULL)
        return RIG_MY_CELL_BAD;
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                       .buffer = cell->data,
                       .buffer_length = cell->capacity,
                       .length = &size,
                       .is_null = &null};
    if (mysql_stmt_bind_result(statement, &bind) != 0)
        return RIG_MY_CELL_BAD;
    const int fetched = mysql_stmt_fetch(statement);
    if (fetched == MYSQL_NO_DATA)
        return RIG_MY_CELL_NONE;
    if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED)
        return RIG_MY_CELL_BAD;
    if (null)
        return RIG_MY_CELL_NULL;
    if (size > bind.buffer_length) {
        if (rig_buf_reserve(cell, size) == NULL)
            return RIG_MY_CELL_BAD;
        bind.buffer = cell->data;
        bind.buffer_length = cell->capacity;
        if (mysql_stmt_fetch_column(statement, &bind, 0, 0) != 0)
            return RIG_MY_CELL_BAD;
    }
    *text = cell->data;
    *length = size;
    return RIG_MY_CELL_TEXT;
}

enum rig_my_cell rig_my_answer_cell(struct rig_my_connection *connection, const struct rig_my_answer *answer,
                                    const char **text, size_t *length)
{
    if (answer->statement != NULL)
        return next_prepared(&connection->cell, answer->statement, text, length);
    if (answer->result == NULL || mysql_num_fields(answer->result) != 1)
        return RIG_MY_CELL_BAD;
    MYSQL_ROW row = mysql_fetch_row(answer->result);
    if (row == NULL)
        return RIG_MY_CELL_NONE;
    const unsigned long *lengths = mysql_fetch_lengths(answer->result);
    if (row[0] == NULL || lengths == NULL)
        return RIG_MY_CELL_NULL;
    *text = row[0];
    *length = lengths[0];
    return RIG_MY_CELL_TEXT;
}

/* The rows of a sequence: one with all of its elements, or one for each. */
static void take_sequence(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer)
{
    const bool pairs = turn->sql.transaction->ops[op].kind == RIG_OP_READ_WHERE;
    const bool many = pairs || rig_my_schema_has_element_rows(&rig_my_run_of(turn)->schema);
    struct rig_read read = {.state = RIG_READ_NIL, .first_element = turn->sql.transaction->element_count};
    const char *text = NULL;
    size_t length = 0;
    enum rig_my_cell cell;
    for (uint32_t rows = 0;
         (cell = rig_my_answer_cell(rig_my_connection_of(turn), answer, &text, &length)) != RIG_MY_CELL_NONE; rows++) {
        if (cell == RIG_MY_CELL_NULL && rows == 0 && rig_my_run_of(turn)->schema.prefilled) {
            read.state = RIG_READ_SEEN; /* a list without elements */
            continue;
        }
        if (cell != RIG_MY_CELL_TEXT || (rows > 0 && !many)) {
            rig_sql_turn_lose_step(&turn->sql, "a read needs one row or none as its answer");
            return;
        }
        read.state = RIG_READ_SEEN;
        if ((length > 0 || !pairs) &&
            !rig_sql_turn_take_list(&turn->sql, turn->sql.phase, RIG_SQL_LIST_TEXT, text, length,
                                    "a list that this driver cannot have written", &read))
            return;
    }
    if (pairs && read.count == 0)
        read.state = RIG_READ_NIL;
    turn->sql.transaction->reads[op] = read;
}

static void take_number(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer)
{
    struct rig_read *read = &turn->sql.transaction->reads[op];
    const char *text = NULL;
    size_t length = 0;
    int64_t value = 0;
    enum rig_my_cell cell = rig_my_answer_cell(rig_my_connection_of(turn), answer, &text, &length);
    if (cell == RIG_MY_CELL_NULL &&
        rig_my_run_of(turn)->schema.prefilled) /* a row without a value is the only one, too */
        cell = rig_my_answer_cell(rig_my_connection_of(turn), answer, &text, &length) == RIG_MY_CELL_NONE
                   ? RIG_MY_CELL_NONE
                   : RIG_MY_CELL_BAD;
    if (cell == RIG_MY_CELL_NONE) {
        read->state = RIG_READ_NIL;
        return;
    }
    if (cell == RIG_MY_CELL_TEXT && !rig_sql_int_parse(text, length, &value))
        rig_sql_turn_fail(&turn->sql, turn->sql.phase, RIG_SQL_MALFORMED,
                          "a value that this driver cannot have written");
    else if (cell != RIG_MY_CELL_TEXT)
        rig_sql_turn_lose_step(&turn->sql, "a read needs a value as its answer");
    else if (rig_my_answer_cell(rig_my_connection_of(turn), answer, &text, &length) != RIG_MY_CELL_NONE)
        rig_sql_turn_lose_step(&turn->sql, "a read needs one row or none as its answer");
    else
        *read = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
}

void rig_my_answer_take(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer)
{
    const enum rig_op_kind kind = turn->sql.transaction->ops[op].kind;
    if (rig_sql_compares(turn->sql.transaction, op) && answer->affected == 0)
        rig_sql_turn_fail(&turn->sql, turn->sql.phase, RIG_SQL_MISMATCH, NULL);
    if (!rig_op_reads(kind))
        return;
    if (kind == RIG_OP_DEQUEUE || kind == RIG_OP_POP)
        turn->sql.transaction->reads[op] = (struct rig_read){
            .state = answer->affected == 0 ? RIG_READ_NIL : RIG_READ_SEEN, .value = (int64_t)answer->insert_id};
    else if (rig_op_reads_sequence(kind))
        take_sequence(turn, op, answer);
    else
        take_number(turn, op, answer);
}

/* ---- rows of programs ---- */

static bool has_room(struct rig_my_turn *turn, const struct rig_row_answer *answer, const struct rig_row_table *table)
{
    if ((size_t)(answer->count + 1) * table->column_count <= answer->cell_capacity)
        return true;
    rig_sql_turn_fail(&turn->sql, turn->sql.phase, RIG_SQL_LIMIT,
                      "a statement of the program gave more rows than rig takes");
    return false;
}

static bool take_text_rows(struct rig_my_turn *turn, const struct rig_row_table *table, MYSQL_RES *result,
                           struct rig_row_answer *answer)
{
    MYSQL_ROW row;
    while ((row = mysql_fetch_row(result)) != NULL) {
        const unsigned long *lengths = mysql_fetch_lengths(result);
        if (!has_room(turn, answer, table))
            return false;
        for (uint32_t i = 0; i < table->column_count; i++) {
            int64_t *cell = &answer->cells[(size_t)answer->count * table->column_count + i];
            if (row[i] == NULL || !rig_sql_int_parse(row[i], lengths[i], cell)) {
                rig_sql_turn_fail(&turn->sql, turn->sql.phase, RIG_SQL_MALFORMED, "a cell that is no number");
                return false;
            }
        }
        answer->count++;
    }
    return true;
}

static bool take_prepared_rows(struct rig_my_turn *turn, const struct rig_row_table *table, MYSQL_STMT *statement,
                               struct rig_row_answer *answer)
{
    int64_t cells[RIG_ROW_COLUMNS];
    MYSQL_BIND binds[RIG_ROW_COLUMNS];
    memset(binds, 0, sizeof binds);
    for (uint32_t i = 0; i < table->column_count; i++) {
        binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
        binds[i].buffer = &cells[i];
    }
    bool good = mysql_stmt_bind_result(statement, binds) == 0;
    int fetched = 0;
    while (good && (fetched = mysql_stmt_fetch(statement)) == 0) {
        if (!has_room(turn, answer, table))
            return false;
        memcpy(&answer->cells[(size_t)answer->count * table->column_count], cells,
               table->column_count * sizeof cells[0]);
        answer->count++;
    }
    if (good && fetched == MYSQL_NO_DATA)
        return true;
    rig_sql_turn_fail(&turn->sql, turn->sql.phase, RIG_SQL_MALFORMED, "a row that cannot be read");
    return false;
}

bool rig_my_answer_take_rows(struct rig_my_turn *turn, const struct rig_row_table *table,
                             const struct rig_my_answer *from, struct rig_row_answer *answer)
{
    const unsigned columns = from->statement != NULL ? mysql_stmt_field_count(from->statement)
                             : from->result != NULL  ? mysql_num_fields(from->result)
                                                     : 0;
    answer->count = 0;
    if (columns != table->column_count) {
        rig_sql_turn_lose_step(&turn->sql, "the rows have other columns than the table");
        return false;
    }
    return from->statement != NULL ? take_prepared_rows(turn, table, from->statement, answer)
                                   : take_text_rows(turn, table, from->result, answer);
}
