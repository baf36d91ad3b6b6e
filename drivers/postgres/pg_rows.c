#include "drivers/postgres/pg_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/postgres/pg_session.h"

enum { QUERY_VALUES = 32 };

/* ---- statements ---- */

enum rig_rc rig_pg_rows_init(struct rig_pg_rows *rows, const struct rig_row_schema *schema,
                             const struct rig_pg_place *place, struct rig_err *err)
{
    if (schema == NULL)
        return RIG_OK;
    rig_pg_place_prefix(place, rows->prefix);
    rows->dialect =
        (struct rig_sql_dialect){.prefix = rows->prefix, .numbered = true, .returning = true, .for_update = true};
    rows->statements = calloc(schema->statement_count, sizeof *rows->statements);
    if (rows->statements == NULL)
        return rig_no_memory(err, "the statements of the program");
    rows->schema = schema;
    for (uint32_t i = 0; i < schema->statement_count; i++) {
        const struct rig_row_statement *described = &schema->statements[i];
        struct rig_pg_rows_statement *statement = &rows->statements[i];
        struct rig_buf sql;
        rig_buf_init(&sql, 0);
        rig_sql_statement(&rows->dialect, schema, described, &sql);
        (void)snprintf(statement->name, sizeof statement->name, "rig_program_%u", i);
        statement->parameter_count = (int)rig_row_value_count(described, &schema->tables[described->table]);
        statement->text = sql.failed ? NULL : sql.data;
        if (statement->text == NULL) {
            rig_buf_done(&sql);
            return rig_no_memory(err, "the statements of the program");
        }
    }
    return RIG_OK;
}

void rig_pg_rows_done(struct rig_pg_rows *rows)
{
    for (uint32_t i = 0; rows->schema != NULL && i < rows->schema->statement_count; i++)
        free(rows->statements[i].text);
    free(rows->statements);
    *rows = (struct rig_pg_rows){0};
}

/* ---- a transaction ---- */

/* The session's turn as the program's transaction. */
struct pg_open_rows {
    struct rig_rows rows; /* first */
    struct rig_pg_turn *turn;
};

/* Copies the rows of a result; false, and the turn failed, when they are not those of the table. */
static bool take_rows(struct rig_pg_turn *turn, const struct rig_row_table *table, const PGresult *result,
                      struct rig_row_answer *answer)
{
    const size_t rows = (size_t)PQntuples(result), columns = (size_t)PQnfields(result);
    if (rows > 0 && columns != table->column_count) {
        rig_pg_turn_fail(turn, turn->phase, RIG_SQL_PROTOCOL, "the rows have other columns than the table");
        return false;
    }
    if (rows * columns > answer->cell_capacity) {
        rig_pg_turn_fail(turn, turn->phase, RIG_SQL_LIMIT, "a statement of the program gave more rows than rig takes");
        return false;
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            const char *text = PQgetvalue(result, (int)row, (int)column);
            if (!rig_sql_int_parse(text, (size_t)PQgetlength(result, (int)row, (int)column),
                                   &answer->cells[row * columns + column])) {
                rig_pg_turn_fail(turn, turn->phase, RIG_SQL_MALFORMED, text);
                return false;
            }
        }
    }
    answer->count = (uint32_t)rows;
    return true;
}

static bool execute(struct rig_rows *object, uint32_t index, const int64_t *values, struct rig_row_answer *answer)
{
    struct rig_pg_turn *turn = ((struct pg_open_rows *)object)->turn;
    const struct rig_pg_rows *rows = &turn->session->run->rows;
    RIG_REQUIRE(!turn->failed && index < rows->schema->statement_count);
    const struct rig_row_statement *described = &rows->schema->statements[index];
    const struct rig_pg_rows_statement *statement = &rows->statements[index];
    char texts[RIG_ROW_VALUES][RIG_SQL_INT_BYTES];
    const char *pointers[RIG_ROW_VALUES];
    for (int i = 0; i < statement->parameter_count; i++) {
        (void)rig_sql_int_print(values[i], texts[i]);
        pointers[i] = texts[i];
    }
    PGresult *result = NULL;
    if (!rig_pg_turn_perform(turn, statement->name, statement->text, statement->parameter_count, pointers, &result))
        return false;
    bool taken = true;
    if (rig_row_gives_rows(described))
        taken = take_rows(turn, &rows->schema->tables[described->table], result, answer);
    else
        answer->count = (uint32_t)strtoul(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    return taken;
}

static void hold(struct rig_rows *object)
{
    rig_pg_turn_hold(((struct pg_open_rows *)object)->turn);
}

void rig_pg_rows_run(struct rig_pg_turn *turn, struct rig_row_program *program)
{
    struct pg_open_rows open = {.rows = {.execute = execute, .hold = hold}, .turn = turn};
    if (!rig_pg_turn_begin(turn))
        return;
    const bool commits = program->body(program, &open.rows);
    if (turn->failed)
        return;
    if (commits) {
        program->committing(program);
        rig_pg_turn_commit(turn);
    } else {
        rig_pg_turn_fail(turn, RIG_PHASE_OPERATION, RIG_ROWS_ROLLED_BACK, "the program rolled its transaction back");
    }
}

/* ---- before and after the load ---- */

enum rig_rc rig_pg_rows_load(const struct rig_pg_rows *rows, struct rig_pg_connection *connection, int64_t deadline_ns,
                             uint32_t table, const int64_t *cells, uint32_t row_count, struct rig_err *err)
{
    RIG_REQUIRE(table < rows->schema->table_count);
    struct rig_buf sql;
    rig_buf_init(&sql, RIG_PG_ROWS_SCRIPT_MOST);
    rig_sql_insert_rows(&rows->dialect, &rows->schema->tables[table], cells, row_count, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(err, "the rows of the program's tables")
                                : rig_pg_query(connection, rig_buf_text(&sql), deadline_ns, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

static void tell_rows(const PGresult *result, void (*tell)(void *context, const char *const *values, uint32_t count),
                      void *context)
{
    const int columns = PQnfields(result);
    RIG_REQUIRE(columns <= QUERY_VALUES);
    for (int row = 0; row < PQntuples(result); row++) {
        const char *values[QUERY_VALUES];
        for (int column = 0; column < columns; column++)
            values[column] = PQgetvalue(result, row, column);
        tell(context, values, (uint32_t)columns);
    }
}

enum rig_rc rig_pg_rows_query(const struct rig_pg_rows *rows, struct rig_pg_connection *connection, int64_t deadline_ns,
                              const char *query, void (*tell)(void *context, const char *const *values, uint32_t count),
                              void *context, struct rig_err *err)
{
    struct rig_buf sql;
    PGresult *result = NULL;
    rig_buf_init(&sql, RIG_PG_ROWS_SCRIPT_MOST);
    rig_sql_query(&rows->dialect, query, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(err, "a query")
                                : rig_pg_query(connection, rig_buf_text(&sql), deadline_ns, &result, err);
    if (rc == RIG_OK)
        tell_rows(result, tell, context);
    PQclear(result);
    rig_buf_done(&sql);
    return rc;
}
