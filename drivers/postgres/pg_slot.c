#include "drivers/postgres/pg_slot.h"

#include <stdio.h>
#include <stdlib.h>

/* Changes asked for at a time; the server ends a batch with a whole transaction. */
enum { BATCH = 500, SQL_BYTES = 1024, MESSAGES_SINCE = 140000 /* pgoutput hands over logical messages */ };

static const int64_t batch_answer_most = INT64_C(1) << 30, batch_ns = INT64_C(120000000000);

enum rig_rc rig_pg_ask_number(struct rig_pg_connection *connection, const char *sql, int base, int64_t deadline_ns,
                              uint64_t *number, struct rig_err *err)
{
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, &result, err);
    char *end = NULL;
    if (rc == RIG_OK) {
        const char *text = PQntuples(result) == 1 && PQnfields(result) == 1 ? PQgetvalue(result, 0, 0) : "";
        *number = strtoull(text, &end, base);
        if (end == text || *end != '\0')
            rc = rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: `%.120s`: the result is not a number", sql);
    }
    PQclear(result);
    return rc;
}

enum rig_rc rig_pg_ask_timeline(struct rig_pg_connection *connection, int64_t deadline_ns, uint32_t *timeline,
                                struct rig_err *err)
{
    uint64_t number;
    const enum rig_rc rc = rig_pg_ask_number(connection, "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)",
                                             16, deadline_ns, &number, err);
    if (rc == RIG_OK)
        *timeline = (uint32_t)number;
    return rc;
}

enum rig_rc rig_pg_slot_create(struct rig_pg_connection *connection, const char *run_name, int64_t deadline_ns,
                               uint64_t *first_id, struct rig_err *err)
{
    char sql[SQL_BYTES];
    (void)snprintf(sql, sizeof sql, "SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", run_name);
    const enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, NULL, err);
    return rc != RIG_OK ? rc
                        : rig_pg_ask_number(connection, "SELECT pg_snapshot_xmax(pg_current_snapshot())", 10,
                                            deadline_ns, first_id, err);
}

enum rig_rc rig_pg_slot_drop(struct rig_pg_connection *connection, const char *run_name, int64_t deadline_ns,
                             struct rig_err *err)
{
    char sql[SQL_BYTES];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '%s'",
                   run_name);
    return rig_pg_query(connection, sql, deadline_ns, NULL, err);
}

/* ---- reading ---- */

static int nibble(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes `\x0123...` in place; returns its bytes, SIZE_MAX for anything else. */
static size_t unhex(char *text, size_t length)
{
    if (length < 2 || text[0] != '\\' || text[1] != 'x' || length % 2 != 0)
        return SIZE_MAX;
    for (size_t i = 2; i < length; i += 2) {
        const int high = nibble(text[i]), low = nibble(text[i + 1]);
        if (high < 0 || low < 0)
            return SIZE_MAX;
        text[i / 2 - 1] = (char)(high << 4 | low);
    }
    return length / 2 - 1;
}

enum rig_rc rig_pg_slot_read(struct rig_pg_connection *connection, const struct rig_run_env *env,
                             enum rig_rc (*take)(void *context, const uint8_t *data, size_t size, struct rig_err *err),
                             void *context, struct rig_err *err)
{
    char sql[SQL_BYTES];
    int rows = 1;
    /* A commit that is flushed: the slot is read at least up to here. */
    enum rig_rc rc = rig_pg_query(connection,
                                  "SET bytea_output = hex; SET synchronous_commit = local; "
                                  "SELECT pg_logical_emit_message(true, 'rig', 'end of the load')",
                                  env->core->now_ns() + batch_ns, NULL, err);
    connection->answer_most = batch_answer_most;
    (void)snprintf(sql, sizeof sql,
                   "SELECT data FROM pg_logical_slot_get_binary_changes('%s', NULL, %d, 'proto_version', '1', "
                   "'publication_names', '%s'%s)",
                   env->run_name, BATCH, env->run_name,
                   PQserverVersion(connection->pg) >= MESSAGES_SINCE ? ", 'messages', 'true'" : "");
    while (rc == RIG_OK && rows > 0) {
        PGresult *result = NULL;
        rc = rig_pg_query(connection, sql, env->core->now_ns() + batch_ns, &result, err);
        rows = rc == RIG_OK ? PQntuples(result) : 0;
        for (int row = 0; row < rows && rc == RIG_OK; row++) {
            char *data = PQgetvalue(result, row, 0);
            const size_t size = unhex(data, (size_t)PQgetlength(result, row, 0));
            rc = size == SIZE_MAX ? rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: a message of the slot is not binary")
                                  : take(context, (const uint8_t *)data, size, err);
        }
        PQclear(result);
    }
    return rc;
}
