#include "drivers/postgres/pg_certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "drivers/postgres/pg_stream.h"

static const int64_t slot_ns = INT64_C(5000000000), read_ns = INT64_C(120000000000);
static const size_t messages_most = (size_t)1 << 30;

void rig_pg_timelines_init(struct rig_pg_timelines *timelines, const struct rig_run_env *env)
{
    *timelines = (struct rig_pg_timelines){.env = env};
}

void rig_pg_timelines_done(struct rig_pg_timelines *timelines)
{
    for (uint32_t i = 0; i < timelines->count; i++)
        rig_buf_done(&timelines->at[i].messages);
    free(timelines->at);
    *timelines = (struct rig_pg_timelines){.count = 0};
}

/* A server begins a timeline at a place; the caller makes its slot and fills in `first_id` or `gap`. NULL when memory
 * runs out, or there are too many: then the certificate ends there. */
static struct rig_pg_timeline *pg_timelines_add(struct rig_pg_timelines *timelines, uint32_t number, uint32_t node,
                                                uint64_t begin)
{
    struct rig_pg_timeline *at =
        timelines->count == RIG_PG_TIMELINES_MOST ? NULL : realloc(timelines->at, (timelines->count + 1) * sizeof *at);
    timelines->overrun |= at == NULL;
    if (at == NULL)
        return NULL;
    timelines->at = at;
    at += timelines->count++;
    *at = (struct rig_pg_timeline){.number = number, .node = node, .begin = begin};
    rig_buf_init(&at->messages, messages_most);
    return at;
}

static void note_gap(const struct rig_pg_timelines *timelines, struct rig_pg_timeline *timeline, const char *why)
{
    rig_pg_one_line(timeline->gap, sizeof timeline->gap, why);
    timelines->env->core->log(1, "postgres", "the certificate ends with timeline %u: %s", timeline->number,
                              timeline->gap);
}

/* ---- promotions ---- */

static enum rig_rc make_slot(const struct rig_pg_timelines *timelines, const struct rig_pg_node *node,
                             struct rig_pg_timeline *timeline, struct rig_err *err)
{
    const struct rig_run_env *env = timelines->env;
    struct rig_pg_connection connection;
    struct rig_sql_waiter waiter = {.core = env->core, .to_the_end = true};
    const int64_t deadline_ns = env->core->now_ns() + slot_ns;
    enum rig_rc rc = rig_pg_node_connect(node, &connection, &waiter, deadline_ns, err);
    /* A prepared transaction that is left over would keep it waiting. */
    if (rc == RIG_OK)
        rc = rig_pg_query(&connection, "SET statement_timeout = '4s'", deadline_ns, NULL, err);
    if (rc == RIG_OK)
        rc = rig_pg_slot_drop(&connection, env->run_name, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_pg_slot_create(&connection, env->run_name, deadline_ns, &timeline->first_id, err);
    rig_pg_disconnect(&connection);
    return rc;
}

/* "0/16B3748"; 0 for anything else. */
static uint64_t read_place(const char *text)
{
    char *slash, *end;
    const unsigned long high = strtoul(text, &slash, 16);
    if (slash == text || *slash != '/' || high > UINT32_MAX)
        return 0;
    const unsigned long low = strtoul(slash + 1, &end, 16);
    return end == slash + 1 || *end != '\0' || low > UINT32_MAX ? 0 : (uint64_t)high << 32 | low;
}

/* No client writes to the node yet: rig_pg_cluster_holds_back(). */
static void promoted(void *context, const struct rig_pg_node *node, const struct rig_pg_line *line)
{
    struct rig_pg_timelines *timelines = context;
    struct rig_err err = {.rc = RIG_OK};
    if (timelines->count == 0)
        return; /* the load has not begun */
    const uint64_t begin = read_place(line->fork);
    struct rig_pg_timeline *timeline = pg_timelines_add(timelines, (uint32_t)line->timeline, node->index, begin);
    if (timeline == NULL)
        return;
    if (begin == 0)
        note_gap(timelines, timeline, "the place where it began is not known");
    else if (make_slot(timelines, node, timeline, &err) != RIG_OK)
        note_gap(timelines, timeline, err.text);
}

/* ---- former primaries ---- */

static struct rig_pg_timeline *find_unread(const struct rig_pg_timelines *timelines, uint32_t node)
{
    for (uint32_t i = timelines->count; i-- > 0;) {
        if (timelines->at[i].node == node)
            return timelines->at[i].read || timelines->at[i].gap[0] != '\0' ? NULL : &timelines->at[i];
    }
    return NULL;
}

static bool wanted(void *context, uint32_t node)
{
    return find_unread(context, node) != NULL;
}

static enum rig_rc keep(void *context, const uint8_t *data, size_t size, struct rig_err *err)
{
    struct rig_buf *messages = context;
    const uint32_t size32 = (uint32_t)size;
    rig_buf_add(messages, &size32, sizeof size32);
    rig_buf_add(messages, data, size);
    return messages->failed || size > UINT32_MAX
               ? rig_fail(err, RIG_E_LIMIT, "more than %zu MiB of commits on a former primary", messages_most >> 20)
               : RIG_OK;
}

static void read_former(void *context, uint32_t node, const struct rig_pg_node *server, const char *failure)
{
    struct rig_pg_timelines *timelines = context;
    const struct rig_run_env *env = timelines->env;
    struct rig_pg_timeline *timeline = find_unread(timelines, node);
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_connection connection;
    struct rig_sql_waiter waiter = {.core = env->core, .to_the_end = true};
    if (server == NULL) {
        note_gap(timelines, timeline, failure);
        return;
    }
    const int64_t start_ns = env->core->now_ns();
    enum rig_rc rc = rig_pg_node_connect(server, &connection, &waiter, start_ns + read_ns, &err);
    if (rc == RIG_OK)
        rc = rig_pg_slot_read(&connection, env, keep, &timeline->messages, &err);
    rig_pg_disconnect(&connection);
    timeline->read = true;
    if (rc != RIG_OK)
        note_gap(timelines, timeline, err.text);
    else
        env->core->log(2, "postgres", "read the commits of timeline %u from the former primary, %zu bytes in %lld ms",
                       timeline->number, timeline->messages.size,
                       (long long)((env->core->now_ns() - start_ns) / 1000000));
}

void rig_pg_timelines_watch(struct rig_pg_timelines *timelines, struct rig_pg_cluster *cluster)
{
    cluster->roles = (struct rig_pg_role_hooks){
        .context = timelines, .promoted = promoted, .wanted = wanted, .read_former = read_former};
}

static enum rig_rc take_message(void *context, const uint8_t *data, size_t size, struct rig_err *err)
{
    return rig_pg_stream_take(context, data, size, err);
}

/* Hands over the messages that were kept of a timeline. */
static enum rig_rc pg_timeline_replay(const struct rig_pg_timeline *timeline,
                                      enum rig_rc (*take)(void *context, const uint8_t *data, size_t size,
                                                          struct rig_err *err),
                                      void *context, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    uint32_t size;
    for (size_t at = 0; rc == RIG_OK && at < timeline->messages.size; at += size) {
        memcpy(&size, timeline->messages.data + at, sizeof size);
        at += sizeof size;
        rc = take(context, (const uint8_t *)timeline->messages.data + at, size, err);
    }
    return rc;
}

enum { SQL_BYTES = 1024 };

static const int64_t wait_ns = INT64_C(10000000000), pause_ns = 50000000;

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
                                     const struct rig_run_env *env, uint32_t node, struct rig_pg_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err)
{
    struct rig_err why = {.rc = RIG_OK};
    uint32_t number = 0;
    uint64_t first_id = 0;
    enum rig_rc rc = check_level(connection, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    if (schema->options->sql.hosts.count > 0)
        remind(certificate, env, connection);
    certificate->made = true;
    rc = publish(schema, env, connection, deadline_ns, &why);
    if (rc == RIG_OK)
        rc = rig_pg_slot_create(connection, env->run_name, deadline_ns, &first_id, &why);
    if (rc == RIG_OK)
        rc = rig_pg_ask_timeline(connection, deadline_ns, &number, &why);
    if (rc == RIG_OK) {
        struct rig_pg_timeline *first = pg_timelines_add(&certificate->timelines, number, node, 0);
        if (first == NULL)
            return rig_no_memory(err, "the certificate");
        first->first_id = first_id;
    }
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
    enum rig_rc rc;
    while ((rc = rig_pg_ask_number(connection, others, 10, until_ns + wait_ns, left, err)) == RIG_OK && *left > 0 &&
           env->core->now_ns() < until_ns)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + pause_ns);
    return rc;
}

static void init_stream(struct rig_pg_stream *stream, const struct rig_pg_schema *schema,
                        const struct rig_certificate_sink *sink)
{
    rig_pg_stream_init(stream, sink);
    stream->is_list = rig_workload_has_sequences(schema->workload);
    stream->run_name = schema->run_name;
    stream->is_rows = schema->workload == RIG_WORKLOAD_PREDICATE;
    stream->form = (enum rig_sql_list_form)schema->options->table_schema;
}

/* The commits of a timeline up to its fork, or to its end; only the last one's slot is read now. */
static enum rig_rc take_timeline(const struct rig_pg_timelines *timelines, uint32_t at, struct rig_pg_stream *stream,
                                 struct rig_pg_connection *connection, struct rig_err *err)
{
    const struct rig_pg_timeline *timeline = &timelines->at[at];
    const bool last = at + 1 == timelines->count;
    stream->timeline = timeline->number;
    stream->last_id = timeline->first_id;
    stream->from = timeline->begin;
    stream->until = last ? 0 : timelines->at[at + 1].begin;
    return last ? rig_pg_slot_read(connection, timelines->env, take_message, stream, err)
                : pg_timeline_replay(timeline, take_message, stream, err);
}

/* The commits of former timelines that their forks lost, up to the first timeline with a gap. */
static enum rig_rc take_lost(const struct rig_pg_timelines *timelines, const struct rig_pg_schema *schema,
                             const struct rig_certificate_sink *sink, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 1; i < timelines->count && timelines->at[i - 1].gap[0] == '\0' && rc == RIG_OK; i++) {
        if (!sink->fork(sink->context, timelines->at[i - 1].number, timelines->at[i].begin, timelines->at[i].number))
            rc = rig_fail(err, RIG_E_CLUSTER, "timeline %" PRIu32 " forked before timeline %" PRIu32 " began",
                          timelines->at[i].number, timelines->at[i - 1].number);
    }
    for (uint32_t i = 1; i < timelines->count && timelines->at[i - 1].gap[0] == '\0' && rc == RIG_OK; i++) {
        struct rig_pg_stream stream;
        init_stream(&stream, schema, sink);
        stream.lost = true;
        stream.timeline = timelines->at[i - 1].number;
        stream.last_id = timelines->at[i - 1].first_id;
        stream.from = timelines->at[i].begin;
        rc = pg_timeline_replay(&timelines->at[i - 1], take_message, &stream, err);
        rig_pg_stream_done(&stream);
    }
    return rc;
}

/* `*gap`: the first timeline whose commits are not known, or the number of timelines. */
static enum rig_rc take_all(const struct rig_pg_timelines *timelines, const struct rig_pg_schema *schema,
                            struct rig_pg_connection *connection, const struct rig_certificate_sink *sink,
                            uint32_t *gap, struct rig_err *err)
{
    struct rig_pg_stream stream;
    uint32_t at = 0;
    enum rig_rc rc = RIG_OK;
    init_stream(&stream, schema, sink);
    for (; at < timelines->count && timelines->at[at].gap[0] == '\0' && rc == RIG_OK; at++)
        rc = take_timeline(timelines, at, &stream, connection, err);
    rig_pg_stream_done(&stream);
    *gap = at;
    return rc == RIG_OK ? take_lost(timelines, schema, sink, err) : rc;
}

static enum rig_rc check_timeline(const struct rig_pg_timelines *timelines, const struct rig_run_env *env,
                                  struct rig_pg_connection *connection, struct rig_err *err)
{
    uint32_t number = 0;
    const uint32_t last = timelines->at[timelines->count - 1].number;
    const enum rig_rc rc = rig_pg_ask_timeline(connection, env->core->now_ns() + wait_ns, &number, err);
    if (rc != RIG_OK || (number == last && !timelines->overrun))
        return rc;
    return rig_fail(err, RIG_E_CLUSTER, "the server went from timeline %" PRIu32 " to %" PRIu32 " in a failover", last,
                    number);
}

enum rig_rc rig_pg_certificate_drain(struct rig_pg_certificate *certificate, struct rig_pg_views *views,
                                     const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                     struct rig_pg_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err)
{
    const struct rig_pg_timelines *timelines = &certificate->timelines;
    uint64_t left = 0;
    uint32_t gap = 0;
    char ending[256] = "";
    enum rig_rc rc = wait_for_others(env, connection, &left, err);
    if (rc == RIG_OK)
        rc = check_timeline(timelines, env, connection, err);
    if (rc == RIG_OK)
        rc = take_all(timelines, schema, connection, sink, &gap, err);
    /* Another timeline uses the numbers of transactions again. */
    if (rc == RIG_OK && timelines->count == 1)
        rc = rig_pg_views_give(views, sink, err);
    if (rc != RIG_OK)
        return rc;
    if (gap < timelines->count)
        (void)snprintf(ending, sizeof ending, "it ends with timeline %" PRIu32 ": %s", timelines->at[gap].number,
                       timelines->at[gap].gap);
    else if (left > 0)
        (void)snprintf(ending, sizeof ending,
                       "%" PRIu64 " sessions of the run's user, or prepared transactions, were left on the server",
                       left);
    sink->end(sink->context, ending[0] == '\0', ending);
    return RIG_OK;
}

/* ---- the end ---- */

enum rig_rc rig_pg_certificate_end(const struct rig_run_env *env, struct rig_pg_connection *connection,
                                   int64_t deadline_ns, struct rig_err *err)
{
    char sql[SQL_BYTES];
    const enum rig_rc rc = rig_pg_slot_drop(connection, env->run_name, deadline_ns, err);
    (void)snprintf(sql, sizeof sql, "DROP PUBLICATION IF EXISTS %s", env->run_name);
    return rc == RIG_OK ? rig_pg_query(connection, sql, deadline_ns, NULL, err) : rc;
}
