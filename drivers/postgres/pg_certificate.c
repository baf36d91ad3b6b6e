#include "drivers/postgres/pg_certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "drivers/postgres/pg_stream.h"

/* Changes asked for at a time; the server ends a batch with a whole transaction. */
enum { BATCH = 500, SQL_BYTES = 1024 };

static const int64_t batch_answer_most = INT64_C(1) << 30;
static const int64_t wait_ns = INT64_C(10000000000), pause_ns = 50000000, batch_ns = INT64_C(120000000000);

/* The first row's first column as a number in the base. */
static enum rig_rc ask_number(struct rig_pg_connection *connection, const char *sql, int base, int64_t deadline_ns,
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

static enum rig_rc find_timeline(struct rig_pg_connection *connection, int64_t deadline_ns, uint32_t *timeline,
                                 struct rig_err *err)
{
    uint64_t number;
    const enum rig_rc rc = ask_number(connection, "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)", 16,
                                      deadline_ns, &number, err);
    if (rc == RIG_OK)
        *timeline = (uint32_t)number;
    return rc;
}

/* ---- the beginning ---- */

static void remind(struct rig_pg_certificate *certificate, const struct rig_run_env *env,
                   const struct rig_pg_connection *connection)
{
    char text[RIG_ERR_TEXT_BYTES];
    (void)snprintf(
        text, sizeof text,
        "a replication slot of a run is on PostgreSQL at %.250s:%.6s, database %.63s, and keeps the server's "
        "log from being removed: `SELECT pg_drop_replication_slot('%s')` and `DROP PUBLICATION %s` remove it",
        PQhost(connection->pg), PQport(connection->pg), PQdb(connection->pg), env->run_name, env->run_name);
    certificate->reminder = env->core->remind(text);
}

static enum rig_rc check_level(struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection, "SHOW wal_level", deadline_ns, &result, err);
    if (rc == RIG_OK && (PQntuples(result) != 1 || strcmp(PQgetvalue(result, 0, 0), "logical") != 0))
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "database.certificate: the server has wal_level = %.20s; set wal_level = logical and restart it, "
                      "or use certificate: none",
                      PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : "?");
    PQclear(result);
    return rc;
}

static enum rig_rc publish(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                           struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_buf sql;
    rig_buf_init(&sql, (size_t)1 << 20);
    rig_buf_printf(&sql, "CREATE PUBLICATION %s FOR TABLE ", env->run_name);
    for (uint32_t table = 0; table < rig_pg_schema_table_count(schema); table++) {
        char name[RIG_PG_TABLE_BYTES];
        rig_pg_schema_table(schema, table, name);
        rig_buf_printf(&sql, "%s%s", table == 0 ? "" : ", ", name);
    }
    enum rig_rc rc = sql.failed ? rig_no_memory(err, "the certificate")
                                : rig_pg_query(connection, rig_buf_text(&sql), deadline_ns, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

enum rig_rc rig_pg_certificate_begin(struct rig_pg_certificate *certificate, const struct rig_pg_schema *schema,
                                     const struct rig_run_env *env, struct rig_pg_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err)
{
    char sql[SQL_BYTES];
    struct rig_err why = {.rc = RIG_OK};
    enum rig_rc rc = check_level(connection, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    if (schema->options->hosts.count > 0)
        remind(certificate, env, connection);
    certificate->made = true;
    rc = publish(schema, env, connection, deadline_ns, &why);
    (void)snprintf(sql, sizeof sql, "SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", env->run_name);
    if (rc == RIG_OK)
        rc = rig_pg_query(connection, sql, deadline_ns, NULL, &why);
    if (rc == RIG_OK)
        rc = find_timeline(connection, deadline_ns, &certificate->timeline, &why);
    if (rc == RIG_OK)
        rc = ask_number(connection, "SELECT pg_snapshot_xmax(pg_current_snapshot())", 10, deadline_ns,
                        &certificate->first_id, &why);
    return rc == RIG_OK ? RIG_OK
                        : rig_fail(err, rc,
                                   "%.700s: a certificate needs a user with REPLICATION and CREATE on the database; "
                                   "certificate: none does without it",
                                   why.text);
}

/* ---- draining ---- */

/* Those that may still commit: sessions of the run's user, and prepared transactions. */
static const char others[] =
    "SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    " AND datname = current_database() AND usename = session_user)"
    " + (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database())";

static enum rig_rc wait_for_others(const struct rig_run_env *env, struct rig_pg_connection *connection, uint64_t *left,
                                   struct rig_err *err)
{
    const int64_t until_ns = env->core->now_ns() + wait_ns;
    const struct timespec pause = {.tv_nsec = pause_ns};
    enum rig_rc rc;
    while ((rc = ask_number(connection, others, 10, until_ns + wait_ns, left, err)) == RIG_OK && *left > 0 &&
           env->core->now_ns() < until_ns)
        (void)nanosleep(&pause, NULL);
    return rc;
}

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

static enum rig_rc take_batch(struct rig_pg_stream *stream, const PGresult *result, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int row = 0; row < PQntuples(result) && rc == RIG_OK; row++) {
        char *data = PQgetvalue(result, row, 0);
        const size_t size = unhex(data, (size_t)PQgetlength(result, row, 0));
        rc = size == SIZE_MAX ? rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: a message of the slot is not binary")
                              : rig_pg_stream_take(stream, (const uint8_t *)data, size, err);
    }
    return rc;
}

static enum rig_rc take_all(struct rig_pg_stream *stream, const struct rig_run_env *env,
                            struct rig_pg_connection *connection, struct rig_err *err)
{
    char sql[SQL_BYTES];
    int rows;
    enum rig_rc rc;
    connection->answer_most = batch_answer_most;
    (void)snprintf(sql, sizeof sql,
                   "SELECT data FROM pg_logical_slot_get_binary_changes('%s', NULL, %d, 'proto_version', '1', "
                   "'publication_names', '%s')",
                   env->run_name, BATCH, env->run_name);
    do {
        PGresult *result = NULL;
        rc = rig_pg_query(connection, sql, env->core->now_ns() + batch_ns, &result, err);
        rows = rc == RIG_OK ? PQntuples(result) : 0;
        if (rc == RIG_OK)
            rc = take_batch(stream, result, err);
        PQclear(result);
    } while (rc == RIG_OK && rows > 0);
    return rc;
}

enum rig_rc rig_pg_certificate_drain(const struct rig_pg_certificate *certificate, struct rig_pg_views *views,
                                     const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                     struct rig_pg_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err)
{
    uint64_t left = 0;
    uint32_t timeline = 0;
    char ending[256] = "";
    struct rig_pg_stream stream;
    rig_pg_stream_init(&stream, sink);
    stream.is_list = rig_workload_has_sequences(schema->workload);
    stream.form = (enum rig_sql_list_form)schema->options->table_schema;
    enum rig_rc rc = wait_for_others(env, connection, &left, err);
    /* A commit that is flushed: the slot is drained at least up to here. */
    if (rc == RIG_OK)
        rc = rig_pg_query(connection,
                          "SET bytea_output = hex; SET synchronous_commit = local; "
                          "SELECT pg_logical_emit_message(true, 'rig', 'end of the load')",
                          env->core->now_ns() + batch_ns, NULL, err);
    if (rc == RIG_OK)
        rc = find_timeline(connection, env->core->now_ns() + batch_ns, &timeline, err);
    stream.timeline = timeline;
    stream.last_id = certificate->first_id;
    if (rc == RIG_OK && timeline != certificate->timeline)
        rc = rig_fail(err, RIG_E_CLUSTER, "the server went from timeline %" PRIu32 " to %" PRIu32 " in a failover",
                      certificate->timeline, timeline);
    if (rc == RIG_OK)
        rc = take_all(&stream, env, connection, err);
    if (rc == RIG_OK)
        rc = rig_pg_views_give(views, sink, err);
    if (rc == RIG_OK && left > 0)
        (void)snprintf(ending, sizeof ending,
                       "%" PRIu64 " sessions of the run's user, or prepared transactions, were left on the server",
                       left);
    rig_pg_stream_done(&stream);
    if (rc == RIG_OK)
        sink->end(sink->context, left == 0, ending);
    return rc;
}

/* ---- the end ---- */

enum rig_rc rig_pg_certificate_end(const struct rig_run_env *env, struct rig_pg_connection *connection,
                                   int64_t deadline_ns, struct rig_err *err)
{
    char sql[SQL_BYTES];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '%s'",
                   env->run_name);
    enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, NULL, err);
    (void)snprintf(sql, sizeof sql, "DROP PUBLICATION IF EXISTS %s", env->run_name);
    return rc == RIG_OK ? rig_pg_query(connection, sql, deadline_ns, NULL, err) : rc;
}
