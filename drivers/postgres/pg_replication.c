#include "drivers/postgres/pg_replication.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/run_files.h"
#include "drivers/local/local_machine.h"

#define LOOPBACK "127.0.0.1"

void rig_pg_routes_init(struct rig_pg_routes *routes)
{
    (void)pthread_mutex_init(&routes->mutex, NULL);
    memset(routes->table, 0, sizeof routes->table);
}

void rig_pg_routes_done(struct rig_pg_routes *routes)
{
    (void)pthread_mutex_destroy(&routes->mutex);
}

static enum rig_rc ask_core(const struct rig_core *core, const char *from, const char *to, struct rig_pg_route *route,
                            uint16_t port, struct rig_err *err)
{
    uint16_t via = port;
    enum rig_rc rc = RIG_OK;
    if (core->routed != NULL && core->routed())
        rc = core->route(from, to, LOOPBACK, port, &via, err);
    if (rc == RIG_OK)
        *route = (struct rig_pg_route){.port = port, .via = via};
    return rc;
}

enum rig_rc rig_pg_routes_find(struct rig_pg_routes *routes, const struct rig_pg_node *from,
                               const struct rig_pg_node *to, struct rig_sql_endpoint *endpoint, struct rig_err *err)
{
    if (!to->site->tcp) {
        rig_pg_node_socket(to, endpoint);
        return RIG_OK;
    }
    uint16_t port = (uint16_t)atomic_load(&to->port);
    struct rig_pg_route *route = &routes->table[from == NULL ? RIG_NODES_MOST : from->index][to->index];
    enum rig_rc rc = RIG_OK;
    (void)pthread_mutex_lock(&routes->mutex);
    if (route->port != port)
        rc = ask_core(to->site->local.env->core, from == NULL ? "client" : from->local.name, to->local.name, route,
                      port, err);
    uint16_t via = route->via;
    (void)pthread_mutex_unlock(&routes->mutex);
    if (rc != RIG_OK)
        return rc;
    *endpoint = (struct rig_sql_endpoint){LOOPBACK, {0}};
    (void)snprintf(endpoint->port, sizeof endpoint->port, "%u", (unsigned)via);
    return RIG_OK;
}

/*
 * The configuration of a local server: rig's own settings, the plan's, and the primary of a standby.
 *
 * It is in rig.conf in the data folder, which postgresql.conf includes at its end. It is written before each start and
 * each change of roles, because pg_rewind and base backups copy that of another node.
 */

enum { CONNECTIONS_LEAST = 200, CONFIGURATION_MOST = 64 * 1024 };

#define PATH_BYTES (RIG_LOCAL_PATH_BYTES + 32)

/* name = 'value', with the value's quotes doubled. */
static void add_setting(struct rig_buf *text, const char *name, const char *value)
{
    size_t length = strlen(value);
    /* A value that is already quoted, as in postgresql.conf. */
    if (length >= 2 && value[0] == '\'' && value[length - 1] == '\'') {
        rig_buf_printf(text, "%s = %s\n", name, value);
        return;
    }
    rig_buf_printf(text, "%s = '", name);
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '\'' || *p == '\\')
            rig_buf_add_char(text, *p);
        rig_buf_add_char(text, *p);
    }
    rig_buf_add_text(text, "'\n");
}

static void add_basics(struct rig_buf *text, const struct rig_pg_site *site)
{
    unsigned connections = site->local.env->client_count * 10;
    char socket_folder[sizeof site->local.folder + 2];
    (void)snprintf(socket_folder, sizeof socket_folder, "\"%s\"", site->local.folder);
    rig_buf_add_text(text, "# Written by rig; the last of equal names wins.\n");
    add_setting(text, "listen_addresses", site->tcp ? "127.0.0.1" : "");
    add_setting(text, "unix_socket_directories", socket_folder);
    rig_buf_add_text(text, "unix_socket_permissions = 0700\n");
    /* In the data folder, which rig removes: files of a killed server in /dev/shm would stay. */
    rig_buf_add_text(text, "dynamic_shared_memory_type = mmap\n");
    /* Far above the number in use: serializable keeps ten transactions a connection before it summarises the oldest,
     * which costs it precision and rig the names of the conflicts. */
    rig_buf_printf(text, "max_connections = %u\n", connections < CONNECTIONS_LEAST ? CONNECTIONS_LEAST : connections);
    rig_buf_add_text(text, "max_pred_locks_per_transaction = 256\n");
    if (site->options->sql.two_phase > 0 || site->local.env->texts != NULL)
        rig_buf_printf(text, "max_prepared_transactions = %u\n",
                       connections < CONNECTIONS_LEAST ? CONNECTIONS_LEAST : connections);
    /* Upserts of several keys in random order deadlock all the time; at the default 1 s they would dominate the run. */
    rig_buf_add_text(text, "deadlock_timeout = 10ms\n");
    /* Sessions of clients log their first errors only (pg_session.h): serialization failures would fill the disk. */
    rig_buf_add_text(text, "log_min_messages = warning\n");
    rig_buf_add_text(text, "log_line_prefix = '%m [%p] '\n");
}

/* ANY k of all the other nodes, on every node: each may become the primary. */
static void add_synchronous_standbys(struct rig_buf *text, const struct rig_pg_node *node)
{
    const struct rig_pg_site *site = node->site;
    const struct rig_pg_options *options = site->options;
    if (options->sql.replication == RIG_PG_ASYNC)
        return;
    rig_buf_printf(text, "synchronous_commit = %s\n", rig_pg_replication_words[options->sql.replication]);
    rig_buf_printf(text, "synchronous_standby_names = 'ANY %lld (", (long long)options->synchronous_standbys);
    bool first = true;
    for (uint32_t i = 0; i < site->node_count; i++) {
        if (i == node->index)
            continue;
        rig_buf_printf(text, "%s\"pg-%u\"", first ? "" : ", ", i + 1);
        first = false;
    }
    rig_buf_add_text(text, ")'\n");
}

static void add_replication(struct rig_buf *text, const struct rig_pg_node *node)
{
    /* pg_rewind needs the hints in the log, and followers that come back the log itself. */
    rig_buf_add_text(text, "wal_log_hints = on\n"
                           "wal_keep_size = 512MB\n"
                           "max_wal_senders = 32\n"
                           "max_replication_slots = 32\n"
                           "hot_standby = on\n"
                           "hot_standby_feedback = on\n"
                           /* Faults come every few seconds: followers must notice them, and come back, in less time. */
                           "wal_retrieve_retry_interval = 100ms\n"
                           "wal_receiver_status_interval = 1s\n"
                           "wal_receiver_timeout = 5s\n"
                           "wal_sender_timeout = 5s\n");
    add_synchronous_standbys(text, node);
}

static void add_primary(struct rig_buf *text, const struct rig_pg_node *node, const struct rig_sql_endpoint *primary)
{
    rig_buf_printf(text,
                   "primary_conninfo = 'host=%s port=%s user=" RIG_PG_SUPERUSER " password=%s application_name=%s "
                   "connect_timeout=3 gssencmode=disable sslmode=disable'\n",
                   primary->host, primary->port, node->site->password, node->local.name);
}

static enum rig_rc compose(struct rig_buf *text, const struct rig_pg_node *node, const struct rig_sql_endpoint *primary,
                           struct rig_err *err)
{
    const struct rig_pg_options *options = node->site->options;
    add_basics(text, node->site);
    if (node->site->local.env->certificate != RIG_CERTIFICATE_NONE)
        rig_buf_add_text(text, "wal_level = logical\n");
    if (node->site->node_count > 1)
        add_replication(text, node);
    enum rig_rc rc = rig_sql_settings_add(&options->sql.settings, add_setting, text, err);
    if (rc == RIG_OK && rig_pg_node_is_standby(node))
        rc = rig_sql_settings_add(&options->standby_settings, add_setting, text, err);
    if (primary != NULL)
        add_primary(text, node, primary);
    if (rc == RIG_OK && text->failed)
        rc = rig_fail(err, RIG_E_LIMIT, "settings longer than %d bytes", CONFIGURATION_MOST);
    return rc;
}

/* Whether postgresql.conf already includes rig.conf: template and backups may not. */
static bool is_included(const char *path)
{
    struct rig_buf text;
    struct rig_err ignored = {.rc = RIG_OK};
    rig_buf_init(&text, 1024 * 1024);
    bool included =
        rig_buf_read_file(&text, path, &ignored) == RIG_OK && strstr(rig_buf_text(&text), "include 'rig.conf'") != NULL;
    rig_buf_done(&text);
    return included;
}

/* In one step, since a server may read it at any time. */
static enum rig_rc replace(const struct rig_pg_node *node, const char *text, struct rig_err *err)
{
    char path[PATH_BYTES];
    char fresh[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/rig.conf", node->local.data);
    (void)snprintf(fresh, sizeof fresh, "%s/rig.conf.new", node->local.data);
    (void)unlink(fresh);
    enum rig_rc rc = rig_local_write(&node->site->local, fresh, O_CREAT | O_EXCL, text, err);
    if (rc == RIG_OK && rename(fresh, path) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    return rc;
}

/* `primary`: the address of the node's primary when it is a standby; NULL: it is none. */
static enum rig_rc pg_configuration_write(const struct rig_pg_node *node, const struct rig_sql_endpoint *primary,
                                          struct rig_err *err)
{
    char path[PATH_BYTES];
    struct rig_buf text;
    rig_buf_init(&text, CONFIGURATION_MOST);
    enum rig_rc rc = compose(&text, node, primary, err);
    if (rc == RIG_OK)
        rc = replace(node, rig_buf_text(&text), err);
    rig_buf_done(&text);
    (void)snprintf(path, sizeof path, "%s/postgresql.conf", node->local.data);
    if (rc == RIG_OK && !is_included(path))
        rc = rig_local_write(&node->site->local, path, O_APPEND, "include 'rig.conf'\n", err);
    return rc;
}

#define FORKED "past the fork: "

#define ASK_NS     (5 * RIG_NS_PER_S)
#define REWOUND_NS (10 * RIG_NS_PER_S)
#define LINE_NS    RIG_NS_PER_S

enum rig_rc rig_pg_follow(struct rig_pg_node *node, struct rig_pg_node *primary, struct rig_pg_routes *routes,
                          struct rig_err *err)
{
    struct rig_sql_endpoint endpoint;
    bool follows = node != primary;
    enum rig_rc rc = follows ? rig_pg_routes_find(routes, node, primary, &endpoint, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = pg_configuration_write(node, follows ? &endpoint : NULL, err);
    pid_t pid = rig_child_pid(&node->local.server);
    if (rc == RIG_OK && pid > 0)
        (void)kill(pid, SIGHUP);
    return rc;
}

/* The last line of a timeline's history is "<the previous timeline>\t<position of the fork>\t<reason>"; the first has
 * none. */
enum rig_rc rig_pg_find_line(const struct rig_pg_node *primary, struct rig_pg_line *line, struct rig_err *err)
{
    static const char sql[] =
        "SELECT concat(('x' || t)::bit(32)::int, ' ', coalesce((regexp_match("
        "pg_read_file('pg_wal/' || t || '.history', 0, 100000, true), '\\t([0-9A-F]+/[0-9A-F]+)\\t[^\\n]*\\n*$'))[1], "
        "'0/0')) FROM (SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)) timeline(t)";
    char answer[RIG_PG_ANSWER_BYTES];
    char *fork = NULL;
    enum rig_rc rc = rig_pg_node_ask(primary, sql, ASK_NS, answer, err);
    if (rc == RIG_OK) {
        line->timeline = (int)strtol(answer, &fork, 10);
        (void)snprintf(line->fork, sizeof line->fork, "%s", *fork == ' ' ? fork + 1 : "0/0");
    }
    return rc;
}

enum rig_rc rig_pg_promote(struct rig_pg_node *node, int64_t timeout_ns, struct rig_pg_line *line, struct rig_err *err)
{
    char answer[RIG_PG_ANSWER_BYTES];
    char sql[64];
    (void)snprintf(sql, sizeof sql, "SELECT pg_promote(true, %lld)", (long long)(timeout_ns / RIG_NS_PER_S));
    enum rig_rc rc = rig_pg_node_ask(node, sql, timeout_ns + RIG_NS_PER_S, answer, err);
    if (rc == RIG_OK && answer[0] != 't')
        rc = rig_fail(err, RIG_E_CLUSTER, "%s was not promoted within %lld s", node->local.name,
                      (long long)(timeout_ns / RIG_NS_PER_S));
    return rc != RIG_OK ? rc : rig_pg_find_line(node, line, err);
}

enum rig_rc rig_pg_await_caught_up(const struct rig_pg_node *node, const char *position, const struct rig_pg_line *line,
                                   int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    char answer[RIG_PG_ANSWER_BYTES] = "";
    char sql[768];
    (void)snprintf(
        sql, sizeof sql,
        "SELECT CASE WHEN r.status = 'streaming' AND r.received_tli = %d AND"
        " CASE WHEN current_setting('recovery_min_apply_delay') = '0' THEN pg_last_wal_replay_lsn()"
        " ELSE pg_last_wal_receive_lsn() END >= '%s' THEN 'yes' ELSE concat(CASE WHEN r.received_tli < %d AND"
        " greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) > '%s' THEN '" FORKED "' END,"
        " coalesce(r.status, 'not streaming'), ', timeline ', r.received_tli, ', at ', pg_last_wal_replay_lsn()) END"
        " FROM (SELECT 1) o LEFT JOIN pg_stat_wal_receiver r ON true",
        line->timeline, position, line->timeline, line->fork);
    for (;;) {
        struct rig_err attempt = {.rc = RIG_OK};
        enum rig_rc rc = rig_pg_node_ask(node, sql, ASK_NS, answer, &attempt);
        if (rc == RIG_OK && strcmp(answer, "yes") == 0)
            return RIG_OK;
        const bool forked = rc == RIG_OK && strncmp(answer, FORKED, sizeof FORKED - 1) == 0;
        if (forked || core->now_ns() > deadline_ns || !rig_local_node_runs(&node->local))
            return rig_fail(err, RIG_E_CLUSTER, "%s does not catch up with the primary (timeline %d, %s): %s",
                            node->local.name, line->timeline, position, rc == RIG_OK ? answer : attempt.text);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 10 * RIG_NS_PER_MS);
    }
}

bool rig_pg_has_line(const struct rig_pg_node *node, const struct rig_pg_node *primary, struct rig_pg_routes *routes)
{
    const struct rig_core *core = node->site->local.env->core;
    struct rig_err ignored = {.rc = RIG_OK};
    struct rig_sql_endpoint endpoint;
    if (rig_pg_routes_find(routes, node, primary, &endpoint, &ignored) != RIG_OK)
        return false;
    const struct rig_pg_target target = {.endpoint = &endpoint,
                                         .user = RIG_PG_SUPERUSER,
                                         .dbname = RIG_PG_SUPERUSER,
                                         .password = node->site->password,
                                         .application = "rig control"};
    struct rig_sql_waiter waiter = {.core = core, .to_the_end = true};
    struct rig_pg_connection connection;
    const bool reached = rig_pg_connect(&connection, &target, &waiter, core->now_ns() + LINE_NS, &ignored) == RIG_OK;
    rig_pg_disconnect(&connection);
    return reached;
}

/* ---- rejoining ---- */

/* False when the data cannot be rewound, for example because the required log is gone. */
static bool rewind_data(struct rig_pg_node *node, const char *source, const char *log_name, int64_t deadline_ns)
{
    char path[RIG_LOCAL_PATH_BYTES + 32];
    const char *const arguments[] = {"pg_rewind", "-D", node->local.data, "--source-server", source, "--no-sync", NULL};
    struct rig_err err = {.rc = RIG_OK};
    /* It may have to run the server by itself first, to recover from a crash, which a standby cannot do. */
    (void)snprintf(path, sizeof path, "%s/standby.signal", node->local.data);
    (void)unlink(path);
    if (rig_pg_site_run(node->site, arguments, log_name, true, deadline_ns, &err) == RIG_OK)
        return true;
    node->site->local.env->core->log(2, "postgres", "%s is created again: %s", node->local.name, err.text);
    return false;
}

static enum rig_rc back_up(struct rig_pg_node *node, const char *source, const char *log_name, int64_t deadline_ns,
                           struct rig_err *err)
{
    const char *const arguments[] = {"pg_basebackup", "-D", node->local.data, "-d",        source, "-X",
                                     "stream",        "-c", "fast",           "--no-sync", NULL};
    const char *const programs[] = {arguments[0], NULL};
    if (!rig_local_has_programs(node->site->bin_dir, programs))
        return rig_fail(
            err, RIG_E_CLUSTER,
            "%s: its data diverged from the primary's, and %.400s has no pg_basebackup to rebuild it: use a server "
            "that has",
            node->local.name, node->site->bin_dir);
    rig_folder_remove(node->local.data);
    return rig_pg_site_run(node->site, arguments, log_name, true, deadline_ns, err);
}

static enum rig_rc start_as_standby(struct rig_pg_node *node, struct rig_pg_node *primary, struct rig_pg_routes *routes,
                                    int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = rig_pg_node_make_standby(node, err);
    if (rc == RIG_OK)
        rc = rig_pg_follow(node, primary, routes, err);
    return rc != RIG_OK ? rc : rig_pg_node_start(node, true, deadline_ns, err);
}

/* Rewound data become consistent soon, or never. */
static int64_t sooner_ns(const struct rig_pg_node *node, int64_t deadline_ns)
{
    int64_t soon_ns = node->site->local.env->core->now_ns() + REWOUND_NS;
    return soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

enum rig_rc rig_pg_rejoin(struct rig_pg_node *node, struct rig_pg_node *primary, struct rig_pg_routes *routes,
                          bool anew, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_sql_endpoint socket;
    struct rig_err attempt = {.rc = RIG_OK};
    char source[512];
    char log_name[40];
    rig_pg_node_socket(primary, &socket);
    (void)snprintf(source, sizeof source,
                   "host=%s port=%s user=" RIG_PG_SUPERUSER " dbname=" RIG_PG_SUPERUSER " connect_timeout=10",
                   socket.host, socket.port);
    (void)snprintf(log_name, sizeof log_name, RIG_RUN_LOG_OF_REJOIN, node->local.name);
    enum rig_node_end how = rig_pg_node_is_standby(node) ? RIG_NODE_FAST : RIG_NODE_IMMEDIATE;
    enum rig_rc rc = rig_pg_node_stop(node, how, err);
    /* pg_rewind uses the timeline in the primary's control file, which is that of its last checkpoint. */
    if (rc == RIG_OK)
        rc = rig_pg_node_ask(primary, "CHECKPOINT", node->site->options->sql.start_timeout_ns, NULL, err);
    if (rc != RIG_OK)
        return rc;
    if (!anew && rewind_data(node, source, log_name, deadline_ns) &&
        start_as_standby(node, primary, routes, sooner_ns(node, deadline_ns), &attempt) == RIG_OK)
        return RIG_OK;
    rc = back_up(node, source, log_name, deadline_ns, err);
    return rc != RIG_OK ? rc : start_as_standby(node, primary, routes, deadline_ns, err);
}
