#include "drivers/mysql/my_rows.h"

#include <string.h>

#include "base/bug.h"
#include "drivers/mysql/my_batch.h"
#include "drivers/sql/sql_values.h"

enum { SCRIPT_MOST = 16 << 20 };

/* The session's turn as the program's transaction. */
struct open_rows {
    struct rig_rows rows; /* first */
    struct rig_my_turn *turn;
};

/* ---- rows of an answer ---- */

static bool has_room(struct rig_my_turn *turn, const struct rig_row_answer *answer, const struct rig_row_table *table)
{
    if ((size_t)(answer->count + 1) * table->column_count <= answer->cell_capacity)
        return true;
    rig_my_turn_fail(turn, turn->phase, RIG_SQL_LIMIT, "a statement of the program gave more rows than rig takes");
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
                rig_my_turn_fail(turn, turn->phase, RIG_SQL_MALFORMED, "a cell that is no number");
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
    rig_my_turn_fail(turn, turn->phase, RIG_SQL_MALFORMED, "a row that cannot be read");
    return false;
}

static bool take_rows(struct rig_my_turn *turn, const struct rig_row_table *table, const struct rig_my_answer *from,
                      struct rig_row_answer *answer)
{
    const unsigned columns = from->statement != NULL ? mysql_stmt_field_count(from->statement)
                             : from->result != NULL  ? mysql_num_fields(from->result)
                                                     : 0;
    answer->count = 0;
    if (columns != table->column_count) {
        rig_my_turn_lose_step(turn, "the rows have other columns than the table");
        return false;
    }
    return from->statement != NULL ? take_prepared_rows(turn, table, from->statement, answer)
                                   : take_text_rows(turn, table, from->result, answer);
}

/* ---- statements ---- */

/* The rows that an update changed, as they are now. */
static bool select_updated(struct rig_my_turn *turn, uint32_t statement, const int64_t *values, uint64_t changed,
                           struct rig_row_answer *answer)
{
    const struct rig_my_schema *schema = &turn->session->run->schema;
    const struct rig_row_statement *described = &schema->rows->statements[statement];
    const struct rig_row_table *table = &schema->rows->tables[described->table];
    const uint32_t assigned = rig_row_value_count(described, table) - described->condition_count;
    struct rig_my_answer found;
    if (changed == 0) {
        answer->count = 0;
        return true;
    }
    bool taken = rig_my_turn_perform(turn, schema->row_statements[statement].selection, values + assigned, &found);
    taken = taken && take_rows(turn, table, &found, answer);
    rig_my_answer_release(&found);
    if (!taken || answer->count == changed)
        return taken;
    rig_my_turn_fail(turn, RIG_PHASE_OPERATION, RIG_MY_CHANGED, NULL);
    return false;
}

static bool execute(struct rig_rows *object, uint32_t index, const int64_t *values, struct rig_row_answer *answer)
{
    struct rig_my_turn *turn = ((struct open_rows *)object)->turn;
    const struct rig_my_schema *schema = &turn->session->run->schema;
    RIG_REQUIRE(!turn->failed && index < schema->rows->statement_count);
    const struct rig_row_statement *described = &schema->rows->statements[index];
    struct rig_my_answer done;
    bool taken = rig_my_turn_perform(turn, schema->row_statements[index].number, values, &done);
    const uint64_t affected = done.affected;
    if (taken && described->act == RIG_ROW_SELECT)
        taken = take_rows(turn, &schema->rows->tables[described->table], &done, answer);
    rig_my_answer_release(&done);
    if (!taken || described->act == RIG_ROW_SELECT)
        return taken;
    if (rig_row_gives_rows(described))
        return select_updated(turn, index, values, affected, answer);
    answer->count = (uint32_t)affected;
    return true;
}

static void hold(struct rig_rows *object)
{
    rig_my_turn_hold(((struct open_rows *)object)->turn);
}

void rig_my_rows_run(struct rig_my_turn *turn, struct rig_row_program *program)
{
    struct open_rows open = {.rows = {.execute = execute, .hold = hold}, .turn = turn};
    if (!rig_my_turn_begin(turn))
        return;
    const bool commits = program->body(program, &open.rows);
    if (turn->failed)
        return;
    if (commits) {
        program->committing(program);
        rig_my_turn_commit(turn);
    } else {
        rig_my_turn_fail(turn, RIG_PHASE_OPERATION, RIG_ROWS_ROLLED_BACK, "the program rolled its transaction back");
    }
}

/* ---- before and after the load ---- */

enum rig_rc rig_my_rows_load(const struct rig_my_schema *schema, struct rig_my_connection *connection,
                             int64_t deadline_ns, uint32_t table, const int64_t *cells, uint32_t row_count,
                             struct rig_err *err)
{
    RIG_REQUIRE(table < schema->rows->table_count);
    const struct rig_sql_dialect dialect = rig_my_schema_dialect(schema);
    struct rig_buf sql;
    rig_buf_init(&sql, SCRIPT_MOST);
    rig_sql_insert_rows(&dialect, &schema->rows->tables[table], cells, row_count, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(err, "the rows of the program's tables")
                                : rig_my_query(connection, rig_buf_text(&sql), deadline_ns, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

enum rig_rc rig_my_rows_query(const struct rig_my_schema *schema, struct rig_my_connection *connection,
                              int64_t deadline_ns, const char *query,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err)
{
    const struct rig_sql_dialect dialect = rig_my_schema_dialect(schema);
    struct rig_buf sql;
    rig_buf_init(&sql, SCRIPT_MOST);
    rig_sql_query(&dialect, query, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(err, "a query")
                                : rig_my_query_rows(connection, rig_buf_text(&sql), deadline_ns, tell, context, err);
    rig_buf_done(&sql);
    return rc;
}
