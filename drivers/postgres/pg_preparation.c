#include "drivers/postgres/pg_preparation.h"

#include <stdio.h>

#include "base/bug.h"
#include "drivers/postgres/pg_join.h"

/*
 * The server notices within a second that rig has closed the connection, also while a statement waits: else the session of
 * a transaction that timed out would keep its locks until its statement ends. Not on every platform.
 */
static void end_with_client(struct rig_pg_connection *connection, int64_t deadline_ns)
{
    struct rig_err ignored = {.rc = RIG_OK};
    if (PQserverVersion(connection->pg) >= 140000)
        (void)rig_pg_query(connection, "SET client_connection_check_interval = 1000", deadline_ns, NULL, &ignored);
}

enum rig_rc rig_pg_preparation_set(struct rig_pg_connection *connection, const struct rig_pg_options *options,
                                   int64_t deadline_ns, struct rig_err *err)
{
    static const char *const scans[] = {
        [RIG_PG_SCAN_SEQUENTIAL] =
            "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;",
        [RIG_PG_SCAN_INDEX] = "SET enable_seqscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;",
        [RIG_PG_SCAN_INDEX_ONLY] = "SET enable_seqscan = off; SET enable_bitmapscan = off;",
        [RIG_PG_SCAN_BITMAP] = "SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;"};
    char sql[768];
    size_t length = 0;
    sql[0] = '\0';
    end_with_client(connection, deadline_ns);
    if (options->sql.statement_timeout_ns > 0)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET statement_timeout = %lld;",
                                   (long long)(options->sql.statement_timeout_ns + 999999) / 1000000);
    if (options->sql.lock_timeout_ns > 0)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET lock_timeout = %lld;",
                                   (long long)(options->sql.lock_timeout_ns + 999999) / 1000000);
    if (options->synchronous_commit != RIG_PG_SYNC_SERVER_DEFAULT)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET synchronous_commit = %s;",
                                   rig_pg_synchronous_commit_words[options->synchronous_commit]);
    if (options->row_scan != RIG_PG_SCAN_ANY)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "%s", scans[options->row_scan]);
    length += (size_t)snprintf(sql + length, sizeof sql - length, "%s", rig_pg_join_settings((int)options->row_join));
    /* A plan that has to use what these settings avoid looks costly, and would be compiled for each statement. */
    const bool steered = options->row_scan != RIG_PG_SCAN_ANY || options->row_join > RIG_PG_JOIN_ANY;
    if (steered && PQserverVersion(connection->pg) >= 110000)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "SET jit = off;");
    RIG_INVARIANT(length < sizeof sql);
    return length == 0 ? RIG_OK : rig_pg_query(connection, sql, deadline_ns, NULL, err);
}

/* Waits for the results of one prepared statement, or of the Sync, in pipeline mode. */
static enum rig_rc take_prepared(struct rig_pg_connection *connection, ExecStatusType expected, int64_t deadline_ns,
                                 struct rig_err *err)
{
    PGresult *result = NULL;
    const char *reason = rig_pg_next(connection, deadline_ns, &result);
    ExecStatusType status = result == NULL ? PGRES_FATAL_ERROR : PQresultStatus(result);
    if (reason != NULL || status != expected) {
        char line[512];
        rig_pg_one_line(line, sizeof line,
                        reason != NULL   ? reason
                        : result != NULL ? PQresultErrorMessage(result)
                                         : PQerrorMessage(connection->pg));
        (void)rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", line);
    }
    PQclear(result);
    if (reason != NULL || status != expected)
        return RIG_E_CLUSTER;
    /* The results of a statement end with NULL, those of a Sync do not. */
    if (expected == PGRES_COMMAND_OK && rig_pg_next(connection, deadline_ns, &result) != NULL)
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: no answer");
    return RIG_OK;
}

enum rig_rc rig_pg_preparation_statements(struct rig_pg_connection *connection, const struct rig_pg_run *run,
                                          int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_pg_schema *schema = &run->schema;
    PGconn *pg = connection->pg;
    size_t count = 0;
    bool sent = PQenterPipelineMode(pg) == 1;
    for (size_t i = 0; sent && i < schema->statement_count; i++) {
        if (!rig_pg_schema_uses(schema, i))
            continue;
        sent = PQsendPrepare(pg, schema->statements[i].name, schema->statements[i].text, 0, NULL) == 1;
        count++;
    }
    for (uint32_t i = 0; sent && run->rows.schema != NULL && i < run->rows.schema->statement_count; i++) {
        sent = PQsendPrepare(pg, run->rows.statements[i].name, run->rows.statements[i].text, 0, NULL) == 1;
        count++;
    }
    if (!sent || PQpipelineSync(pg) != 1)
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", PQerrorMessage(pg));
    const char *reason = rig_pg_flush(connection, deadline_ns);
    if (reason != NULL)
        return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", reason);
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < count; i++)
        rc = take_prepared(connection, PGRES_COMMAND_OK, deadline_ns, err);
    if (rc == RIG_OK)
        rc = take_prepared(connection, PGRES_PIPELINE_SYNC, deadline_ns, err);
    if (rc == RIG_OK && PQexitPipelineMode(pg) != 1)
        rc = rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: preparing statements: %s", PQerrorMessage(pg));
    return rc;
}
