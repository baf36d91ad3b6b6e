#include "drivers/mysql/my_certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/mysql/my_binlog.h"

static const int64_t wait_ns = INT64_C(10000000000), query_ns = INT64_C(10000000000), pause_ns = 50000000;

/* ---- the beginning ---- */

enum rig_rc rig_my_certificate_check(const struct rig_my_schema *schema, const struct rig_my_options *options,
                                     bool galera, bool full, struct rig_err *err)
{
    if (schema->workload == RIG_WORKLOAD_PREDICATE)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.certificate: rig does not read rows of the workload predicate from the binary log; use "
            "certificate: none");
    if (galera || options->sql.nodes > 1 || options->sql.hosts.count > 1 || options->sql.read_only_hosts.count > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: a certificate has the commits of one server; give one host or node, or "
                        "use certificate: none");
    if (options->sql.row_padding_bytes > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: rig reads key and value from the binary log; leave out "
                        "database.row-padding, or use certificate: none");
    if (options->sql.two_phase > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: the binary log has the changes of a prepared transaction before its "
                        "commit; leave out database.two-phase, or use certificate: none");
    if (full && options->sql.isolation != RIG_SQL_SERIALIZABLE)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.certificate: full needs isolation: serializable, where locks keep what was read: below "
            "it MariaDB does not show which commits a read saw; use certificate: stream");
    if (full && rig_my_pipelines(options))
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: full asks for a place before and after COMMIT; give database.pipeline: "
                        "false, or use certificate: stream");
    if (rig_my_schema_has_element_rows(schema))
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: a certificate needs lists that are texts, not a row for each element");
    return RIG_OK;
}

static void take_place(void *context, const char *const *values, uint32_t count)
{
    struct rig_my_certificate *place = context;
    if (count < 2 || values[0] == NULL || values[1] == NULL)
        return;
    (void)snprintf(place->file, sizeof place->file, "%s", values[0]);
    place->position = strtoull(values[1], NULL, 10);
}

static enum rig_rc find_place(struct rig_my_connection *connection, int64_t deadline_ns,
                              struct rig_my_certificate *place, struct rig_err *err)
{
    *place = (struct rig_my_certificate){.position = 0};
    enum rig_rc rc = rig_my_query_rows(connection, "SHOW MASTER STATUS", deadline_ns, take_place, place, err);
    if (rc == RIG_OK && place->position == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "the server shows no place in its binary log");
    return rc;
}

enum rig_rc rig_my_certificate_begin(struct rig_my_certificate *certificate, struct rig_my_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err)
{
    static const char sql[] =
        "SELECT CONCAT_WS(' ', IF(@@log_bin, 'ON', 'OFF'), @@binlog_format, @@binlog_row_image, @@sync_binlog)";
    char answer[RIG_MY_ANSWER_BYTES];
    enum rig_rc rc = rig_my_query(connection, sql, deadline_ns, answer, err);
    if (rc == RIG_OK && strcmp(answer, "ON ROW FULL 1") != 0)
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "database.certificate: the server has log_bin, binlog_format, binlog_row_image and sync_binlog = "
                      "%.60s; set them to ON, ROW, FULL and 1, or use certificate: none",
                      answer);
    return rc == RIG_OK ? find_place(connection, deadline_ns, certificate, err) : rc;
}

/* ---- draining ---- */

/* Waits for sessions of the run's user, whose transactions may still commit, and for prepared transactions. */
static enum rig_rc wait_for_others(const struct rig_run_env *env, struct rig_my_connection *connection, long *left,
                                   struct rig_err *err)
{
    static const char sql[] = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND "
                              "USER = SUBSTRING_INDEX(USER(), '@', 1)";
    const int64_t until_ns = env->core->now_ns() + wait_ns;
    const struct timespec pause = {.tv_nsec = pause_ns};
    char answer[RIG_MY_ANSWER_BYTES];
    enum rig_rc rc;
    while ((rc = rig_my_query(connection, sql, until_ns + wait_ns, answer, err)) == RIG_OK &&
           (*left = strtol(answer, NULL, 10)) > 0 && env->core->now_ns() < until_ns)
        (void)nanosleep(&pause, NULL);
    return rc;
}

/* All events from the place on to the end of the last file. */
static enum rig_rc take_all(const struct rig_my_certificate *from, MARIADB_RPL *rpl, struct rig_my_binlog *binlog,
                            struct rig_err *err)
{
    MARIADB_RPL_EVENT *event = NULL;
    enum rig_rc rc = RIG_OK;
    if (mariadb_rpl_optionsv(rpl, MARIADB_RPL_FILENAME, from->file, strlen(from->file)) != 0 ||
        mariadb_rpl_optionsv(rpl, MARIADB_RPL_START, (unsigned long)from->position) != 0 ||
        mariadb_rpl_optionsv(rpl, MARIADB_RPL_SERVER_ID, 0U) != 0 ||
        mariadb_rpl_optionsv(rpl, MARIADB_RPL_FLAGS, (unsigned)MARIADB_RPL_BINLOG_DUMP_NON_BLOCK) != 0 ||
        mariadb_rpl_open(rpl) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "the binary log cannot be read: %.300s", mariadb_rpl_error(rpl));
    while (rc == RIG_OK && (event = mariadb_rpl_fetch(rpl, event)) != NULL)
        rc = rig_my_binlog_take(binlog, event, err);
    if (rc == RIG_OK && mariadb_rpl_errno(rpl) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "the binary log cannot be read on: %.300s", mariadb_rpl_error(rpl));
    mariadb_free_rpl_event(event);
    return rc;
}

static enum rig_rc read_log(const struct rig_my_certificate *from, const struct rig_my_certificate *to,
                            struct rig_my_connection *connection, struct rig_my_binlog *binlog, struct rig_err *err)
{
    MARIADB_RPL *rpl = mariadb_rpl_init(connection->my);
    if (rpl == NULL)
        return rig_no_memory(err, "the certificate");
    enum rig_rc rc = take_all(from, rpl, binlog, err);
    const uint64_t last = rig_my_binlog_number(to->file);
    if (rc == RIG_OK && (binlog->file < last || (binlog->file == last && binlog->read_to < to->position)))
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "the binary log was read up to position %" PRIu64 " of file %" PRIu64 ", not to %" PRIu64
                      " of %" PRIu64,
                      binlog->read_to, binlog->file, to->position, last);
    mariadb_rpl_close(rpl);
    return rc;
}

enum rig_rc rig_my_certificate_drain(const struct rig_my_certificate *certificate, struct rig_my_views *views,
                                     const struct rig_my_schema *schema, const struct rig_run_env *env,
                                     struct rig_my_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err)
{
    /* The library expects the server's own checksums; with MariaDB's own events (4: global transaction ids). */
    static const char capable[] =
        "SET @master_binlog_checksum = @@global.binlog_checksum, @mariadb_slave_capability = 4";
    struct rig_my_certificate end;
    struct rig_my_binlog binlog;
    char ending[128] = "";
    long left = 0;
    rig_my_binlog_init(&binlog, sink, schema->place.database, schema->place.stem,
                       rig_workload_has_sequences(schema->workload), certificate->file);
    enum rig_rc rc = wait_for_others(env, connection, &left, err);
    if (rc == RIG_OK)
        rc = find_place(connection, env->core->now_ns() + query_ns, &end, err);
    if (rc == RIG_OK)
        rc = rig_my_query(connection, capable, env->core->now_ns() + query_ns, NULL, err);
    if (rc == RIG_OK)
        rc = read_log(certificate, &end, connection, &binlog, err);
    if (rc == RIG_OK)
        rc = rig_my_views_give(views, sink, err);
    if (left > 0)
        (void)snprintf(ending, sizeof ending, "%ld sessions of the run's user were left on the server", left);
    if (rc == RIG_OK)
        sink->end(sink->context, left == 0, ending);
    rig_my_binlog_done(&binlog);
    return rc;
}
