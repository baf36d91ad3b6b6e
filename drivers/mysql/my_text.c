#include "drivers/mysql/my_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sql/sql_run.h"

enum { COLUMNS_MOST = 4096 }; /* of a table or a list of MariaDB */

static struct rig_my_connection *connection_of(struct rig_sql_connection *connection)
{
    return (struct rig_my_connection *)connection;
}

/* ---- the space ---- */

static const char *space(const struct rig_sql_run *run)
{
    return ((const struct rig_my_run *)run)->schema.place.database;
}

enum { TRANSACTION_NAMES_MOST = 64, TRANSACTION_NAME_BYTES = 160 };

struct prepared {
    char names[TRANSACTION_NAMES_MOST][TRANSACTION_NAME_BYTES];
    uint32_t count;
};

/* A row of XA RECOVER: the format, the lengths of both parts, the parts. */
static void take_prepared(void *context, const char *const *values, uint32_t count)
{
    struct prepared *prepared = context;
    if (count == 4 && strcmp(values[2], "0") == 0 && prepared->count < TRANSACTION_NAMES_MOST &&
        strchr(values[3], '\'') == NULL)
        (void)snprintf(prepared->names[prepared->count++], TRANSACTION_NAME_BYTES, "%s", values[3]);
}

/* A transaction that a play left prepared holds its locks. On a server of others it may be one of theirs. */
static enum rig_rc roll_prepared_back(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_my_connection *connection = connection_of(own->connection);
    struct prepared *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return rig_no_memory(err, "the names of prepared transactions");
    enum rig_rc rc = rig_sql_run_is_local(own->run)
                         ? rig_my_query_rows(connection, "XA RECOVER", own->deadline_ns, take_prepared, prepared, err)
                         : RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < prepared->count; i++) {
        char sql[TRANSACTION_NAME_BYTES + 32];
        struct rig_err ignored = {.rc = RIG_OK}; /* it may have ended meanwhile */
        (void)snprintf(sql, sizeof sql, "XA ROLLBACK '%s'", prepared->names[i]);
        (void)rig_my_query(connection, sql, own->deadline_ns, NULL, &ignored);
    }
    free(prepared);
    return rc;
}

static enum rig_rc clear(struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_my_schema *schema = &((const struct rig_my_run *)own->run)->schema;
    const char *database = schema->place.database;
    char sql[2 * RIG_MY_DATABASE_BYTES + 96];
    if (!schema->place.own)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.dbname: a scenario needs a database of its own, which rig makes and drops; leave it out");
    (void)snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS `%s`; CREATE DATABASE `%s` CHARACTER SET utf8mb4",
                   database, database);
    const enum rig_rc rc = roll_prepared_back(own, err);
    return rc != RIG_OK ? rc : rig_my_query(connection_of(own->connection), sql, own->deadline_ns, NULL, err);
}

static long long seconds_of(int64_t ns)
{
    return (long long)((ns + 999999999) / 1000000000);
}

enum rig_rc rig_my_text_prepare(const struct rig_my_run *run, struct rig_my_connection *connection, int64_t deadline_ns,
                                struct rig_err *err)
{
    const struct rig_my_options *options = run->options;
    const int64_t lock_ns =
        options->sql.lock_timeout_ns > 0 ? options->sql.lock_timeout_ns : run->sql.env->texts->lock_wait_ns;
    struct rig_buf *sql = &connection->request;
    rig_buf_init(sql, RIG_MY_REQUEST_MOST);
    rig_buf_init(&connection->cell, 0);
    rig_buf_printf(sql, "USE `%s`; SET NAMES utf8mb4; SET SESSION TRANSACTION ISOLATION LEVEL %s; SET ",
                   run->schema.place.database, rig_sql_isolation_sql[options->sql.isolation]);
    rig_buf_printf(sql, "SESSION innodb_lock_wait_timeout = %lld, SESSION lock_wait_timeout = %lld",
                   seconds_of(lock_ns), seconds_of(lock_ns));
    rig_my_schema_settings(options, sql);
    return sql->failed ? rig_no_memory(err, "a session's settings")
                       : rig_my_query(connection, rig_buf_text(sql), deadline_ns, NULL, err);
}

/* ---- answers ---- */

static enum rig_text_kind kind_of(const MYSQL_FIELD *field)
{
    switch ((int)field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        return RIG_TEXT_INTEGER;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        return RIG_TEXT_REAL;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:
        return RIG_TEXT_DECIMAL;
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
        return RIG_TEXT_MOMENT;
    default:
        return RIG_TEXT_OTHER;
    }
}

static void give_row(const MYSQL_FIELD *fields, unsigned columns, MYSQL_RES *result, MYSQL_ROW row,
                     struct rig_text_cell *cells)
{
    const unsigned long *lengths = mysql_fetch_lengths(result);
    for (unsigned i = 0; i < columns; i++)
        cells[i] = row[i] == NULL
                       ? (struct rig_text_cell){.kind = RIG_TEXT_NULL}
                       : (struct rig_text_cell){.kind = kind_of(&fields[i]), .text = row[i], .length = lengths[i]};
}

static void give_rows(MYSQL_RES *result, struct rig_text_answer *answer)
{
    const unsigned all = mysql_num_fields(result), columns = all < COLUMNS_MOST ? all : COLUMNS_MOST;
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    const char **names = calloc(columns + 1, sizeof *names);
    struct rig_text_cell *cells = calloc(columns + 1, sizeof *cells);
    bool goes_on = names != NULL && cells != NULL;
    answer->has_rows = true;
    for (unsigned i = 0; goes_on && i < columns; i++)
        names[i] = fields[i].name;
    if (goes_on && answer->columns != NULL)
        goes_on = answer->columns(answer->context, names, columns);
    for (MYSQL_ROW row; goes_on && answer->row != NULL && (row = mysql_fetch_row(result)) != NULL;) {
        give_row(fields, columns, result, row, cells);
        goes_on = answer->row(answer->context, cells, columns);
    }
    free(names);
    free(cells);
}

/* After these the server has rolled the transaction back: a deadlock, a changed record, an XA branch, too many locks.
 * */
static bool ends_transaction(unsigned number)
{
    return number == 1213 || number == 1020 || number == 1613 || number == 1614 || number == 1206;
}

static void take_error(const struct rig_my_connection *connection, struct rig_text_answer *answer)
{
    const unsigned number = mysql_errno(connection->my);
    const bool lost =
        connection->reason != NULL || number == 0 || rig_my_is_client_error(number) || number == 1053 || number == 1927;
    char code[16];
    (void)snprintf(code, sizeof code, "%u", number);
    answer->ended = ends_transaction(number);
    if (connection->reason != NULL)
        rig_sql_text_fail(answer, &rig_my_outcomes, connection->reason, NULL, 0, "the wait was ended", true);
    else
        rig_sql_text_fail(answer, &rig_my_outcomes, number == 0 ? RIG_SQL_PROTOCOL : code,
                          mysql_sqlstate(connection->my), (int64_t)number, mysql_error(connection->my), lost);
}

struct taking {
    struct rig_my_connection *connection;
    const char *sql;
    struct rig_text_answer *answer;
};

static void take(void *context, MYSQL_RES *result)
{
    const struct taking *taking = context;
    if (result != NULL)
        give_rows(result, taking->answer);
    else if (rig_sql_text_changes_rows(taking->sql))
        taking->answer->count = (int64_t)mysql_affected_rows(taking->connection->my);
}

static void execute(struct rig_sql_session *session, const char *sql, int64_t deadline_ns,
                    struct rig_text_answer *answer)
{
    struct rig_my_connection *connection = connection_of(session->main);
    struct taking taking = {connection, sql, answer};
    const bool done = rig_my_each_answer(connection, sql, deadline_ns, take, &taking);
    if (answer->has_rows)
        answer->count = -1;
    if (!done)
        take_error(connection, answer);
}

/* ---- waits ---- */

struct asked {
    struct rig_sql_session *const *sessions;
    uint32_t count;
    struct rig_text_wait *waits;
};

static void take_wait(void *context, const char *const *values, uint32_t count)
{
    const struct asked *asked = context;
    const uint32_t of = count == 2 ? rig_sql_text_session_of(asked->sessions, asked->count, values[0]) : UINT32_MAX;
    if (of != UINT32_MAX)
        asked->waits[of].kind = strcmp(values[1], "1") == 0 ? RIG_TEXT_WAITS : RIG_TEXT_RUNS;
}

static bool look(struct rig_sql_session *watch, struct rig_sql_session *const *sessions, uint32_t count,
                 struct rig_text_wait *waits)
{
    const int64_t deadline_ns = watch->run->env->core->now_ns() + watch->run->options->connect_timeout_ns;
    struct asked asked = {sessions, count, waits};
    char list[1536], sql[2560];
    struct rig_err ignored = {.rc = RIG_OK};
    rig_sql_text_backends(sessions, count, list, sizeof list);
    (void)snprintf(sql, sizeof sql,
                   "SELECT p.ID, p.COMMAND <> 'Sleep' AND (IFNULL(t.trx_state, '') = 'LOCK WAIT' OR p.STATE LIKE "
                   "'Waiting for %%' OR p.STATE IN ('User lock', 'User sleep')) FROM information_schema.PROCESSLIST p "
                   "LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID WHERE p.ID IN (%s)",
                   list);
    return rig_my_query_rows(connection_of(watch->main), sql, deadline_ns, take_wait, &asked, &ignored) == RIG_OK;
}

const struct rig_sql_texts rig_my_texts = {.clear = clear, .space = space, .execute = execute, .look = look};
