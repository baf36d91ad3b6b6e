#include "drivers/postgres/pg_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"

enum { COLUMNS_MOST = 1664 }; /* of a table or a list of PostgreSQL */

static struct rig_pg_connection *connection_of(struct rig_sql_connection *connection)
{
    return (struct rig_pg_connection *)connection;
}

/* ---- the space ---- */

static const char *space(const struct rig_sql_run *run)
{
    return ((const struct rig_pg_run *)run)->schema.place.schema;
}

/* A transaction that a play left prepared holds its locks. On a server of others it may be one of theirs. */
static enum rig_rc roll_prepared_back(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_pg_connection *connection = connection_of(own->connection);
    PGresult *result = NULL;
    if (!rig_sql_run_is_local(own->run))
        return RIG_OK;
    enum rig_rc rc = rig_pg_query(connection,
                                  "SELECT 'ROLLBACK PREPARED ' || quote_literal(gid) FROM pg_prepared_xacts WHERE "
                                  "database = current_database()",
                                  own->deadline_ns, &result, err);
    for (int i = 0; rc == RIG_OK && i < PQntuples(result); i++)
        rc = rig_pg_query(connection, PQgetvalue(result, i, 0), own->deadline_ns, NULL, err);
    PQclear(result);
    return rc;
}

static enum rig_rc clear(struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_pg_run *run = (const struct rig_pg_run *)own->run;
    const char *schema = run->schema.place.schema;
    char sql[4 * RIG_PG_SCHEMA_NAME_BYTES + 256];
    if (!run->schema.place.own)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.schema: a scenario needs a schema of its own, which rig makes and drops; leave it out");
    (void)snprintf(sql, sizeof sql,
                   "DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; COMMENT ON SCHEMA %s IS 'rig run %s'", schema,
                   schema, schema, run->sql.env->run_name);
    const enum rig_rc rc = roll_prepared_back(own, err);
    return rc != RIG_OK ? rc : rig_pg_query(connection_of(own->connection), sql, own->deadline_ns, NULL, err);
}

enum rig_rc rig_pg_text_prepare(const struct rig_pg_run *run, struct rig_pg_connection *connection, int64_t deadline_ns,
                                struct rig_err *err)
{
    char sql[RIG_PG_SCHEMA_NAME_BYTES + 256];
    (void)snprintf(sql, sizeof sql,
                   "SET search_path = %s, public; SET default_transaction_isolation = '%s'; SET client_min_messages = "
                   "error; SET extra_float_digits = 1",
                   run->schema.place.schema, rig_sql_isolation_sql[run->options->sql.isolation]);
    return rig_pg_query(connection, sql, deadline_ns, NULL, err);
}

/* ---- answers ---- */

/* By the numbers that types have in each PostgreSQL. */
static enum rig_text_kind kind_of(Oid type)
{
    switch (type) {
    case 20:
    case 21:
    case 23:
    case 26:
        return RIG_TEXT_INTEGER;
    case 700:
    case 701:
        return RIG_TEXT_REAL;
    case 1700:
        return RIG_TEXT_DECIMAL;
    case 16:
        return RIG_TEXT_BOOLEAN;
    case 1082: /* date, time, timestamp, with a time zone */
    case 1083:
    case 1114:
    case 1184:
    case 1266:
    case 1186: /* interval */
        return RIG_TEXT_MOMENT;
    default:
        return RIG_TEXT_OTHER;
    }
}

static struct rig_text_cell cell_of(const PGresult *result, int row, int column)
{
    struct rig_text_cell cell = {.kind = kind_of(PQftype(result, column))};
    if (PQgetisnull(result, row, column) != 0)
        return (struct rig_text_cell){.kind = RIG_TEXT_NULL};
    cell.text = PQgetvalue(result, row, column);
    cell.length = (size_t)PQgetlength(result, row, column);
    if (cell.kind == RIG_TEXT_BOOLEAN) {
        cell.text = cell.text[0] == 't' ? "true" : "false";
        cell.length = strlen(cell.text);
    }
    return cell;
}

static void give_rows(const PGresult *result, struct rig_text_answer *answer)
{
    const char *names[COLUMNS_MOST];
    struct rig_text_cell cells[COLUMNS_MOST];
    const int columns = PQnfields(result) < COLUMNS_MOST ? PQnfields(result) : COLUMNS_MOST;
    bool goes_on = true;
    answer->has_rows = true;
    for (int i = 0; i < columns; i++)
        names[i] = PQfname(result, i);
    if (answer->columns != NULL)
        goes_on = answer->columns(answer->context, names, (uint32_t)columns);
    for (int row = 0; goes_on && answer->row != NULL && row < PQntuples(result); row++) {
        for (int i = 0; i < columns; i++)
            cells[i] = cell_of(result, row, i);
        goes_on = answer->row(answer->context, cells, (uint32_t)columns);
    }
}

/* "INSERT 0 3": the number of rows. */
static void take_tag(PGresult *result, const char *sql, struct rig_text_answer *answer)
{
    static const char *const counted[] = {"INSERT ", "UPDATE ", "DELETE ", "MERGE "};
    const char *tag = PQcmdStatus(result), *number = PQcmdTuples(result);
    char word[RIG_SQL_WORD_BYTES];
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        if (strncmp(tag, counted[i], strlen(counted[i])) == 0)
            answer->count = strtoll(number, NULL, 10);
    }
    rig_sql_text_word(sql, word);
    answer->rolled_back = strcmp(tag, "ROLLBACK") == 0 &&
                          (strcmp(word, "commit") == 0 || strcmp(word, "end") == 0 || strcmp(word, "prepare") == 0);
}

static void take_error(const struct rig_pg_connection *connection, const PGresult *result,
                       struct rig_text_answer *answer)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const bool lost = PQstatus(connection->pg) == CONNECTION_BAD;
    answer->ended = PQtransactionStatus(connection->pg) == PQTRANS_INERROR;
    rig_sql_text_fail(answer, &rig_pg_outcomes, state == NULL ? RIG_SQL_LOST : state, state, 0,
                      text == NULL ? PQerrorMessage(connection->pg) : text, lost);
}

/* The last result, or the first one that is an error; NULL with the reason where the wait ended. */
static const char *await_last(struct rig_pg_connection *connection, int64_t deadline_ns, PGresult **last)
{
    const char *reason = rig_pg_flush(connection, deadline_ns);
    while (reason == NULL) {
        PGresult *result = NULL;
        reason = rig_pg_next(connection, deadline_ns, &result);
        if (reason != NULL || result == NULL)
            break;
        if (*last != NULL && PQresultStatus(*last) == PGRES_FATAL_ERROR) {
            PQclear(result);
            if (PQstatus(connection->pg) == CONNECTION_BAD)
                break;
            continue;
        }
        PQclear(*last);
        *last = result;
    }
    return reason;
}

static void execute(struct rig_sql_session *session, const char *sql, int64_t deadline_ns,
                    struct rig_text_answer *answer)
{
    struct rig_pg_connection *connection = connection_of(session->main);
    PGresult *last = NULL;
    const char *reason = NULL;
    connection->answer_bytes = connection->value_bytes = 0;
    if (PQsendQuery(connection->pg, sql) == 1)
        reason = await_last(connection, deadline_ns, &last);
    const ExecStatusType status = PQresultStatus(last);
    if (reason != NULL)
        rig_sql_text_fail(answer, &rig_pg_outcomes, reason, NULL, 0,
                          "no answer that rig could wait for; COPY from or to the client is not supported", true);
    else if (last == NULL || status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE)
        take_error(connection, last, answer);
    else if (status == PGRES_TUPLES_OK)
        give_rows(last, answer);
    else if (status == PGRES_COMMAND_OK)
        take_tag(last, sql, answer);
    PQclear(last);
}

/* ---- waits ---- */

/* A list of processes, which are bits then. */
static uint64_t blockers_of(struct rig_sql_session *const *sessions, uint32_t count, const char *list)
{
    uint64_t blockers = 0;
    for (const char *at = list; at != NULL && *at != '\0'; at = strchr(at, ',') == NULL ? NULL : strchr(at, ',') + 1) {
        const uint32_t of = rig_sql_text_session_of(sessions, count, at);
        blockers |= of == UINT32_MAX ? 0 : UINT64_C(1) << of;
    }
    return blockers;
}

static bool look(struct rig_sql_session *watch, struct rig_sql_session *const *sessions, uint32_t count,
                 struct rig_text_wait *waits)
{
    struct rig_pg_connection *connection = connection_of(watch->main);
    const int64_t deadline_ns = watch->run->env->core->now_ns() + watch->run->options->connect_timeout_ns;
    char list[1024], sql[2048];
    PGresult *result = NULL;
    struct rig_err ignored = {.rc = RIG_OK};
    rig_sql_text_backends(sessions, count, list, sizeof list);
    (void)snprintf(
        sql, sizeof sql,
        "SELECT pid, state = 'active' AND (wait_event_type IN ('Lock', 'Timeout', 'BufferPin') OR wait_event "
        "= 'SafeSnapshot'), array_to_string(pg_blocking_pids(pid), ',') FROM pg_stat_activity WHERE pid IN "
        "(%s)",
        list);
    if (rig_pg_query(connection, sql, deadline_ns, &result, &ignored) != RIG_OK)
        return false;
    for (int row = 0; row < PQntuples(result); row++) {
        const uint32_t of = rig_sql_text_session_of(sessions, count, PQgetvalue(result, row, 0));
        if (of == UINT32_MAX)
            continue;
        waits[of].kind = PQgetvalue(result, row, 1)[0] == 't' ? RIG_TEXT_WAITS : RIG_TEXT_RUNS;
        waits[of].blockers = blockers_of(sessions, count, PQgetvalue(result, row, 2));
    }
    PQclear(result);
    return true;
}

const struct rig_sql_texts rig_pg_texts = {.clear = clear, .space = space, .execute = execute, .look = look};
