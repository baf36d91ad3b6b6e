#include "drivers/postgres/pg_replication.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/run_files.h"
#include "drivers/postgres/pg_configuration.h"
#include "drivers/local/local_machine.h"

#define FORKED "past the fork: "

#define MILLISECOND_NS INT64_C(1000000)
#define SECOND_NS      INT64_C(1000000000)
#define ASK_NS         (5 * SECOND_NS)
#define REWOUND_NS     (10 * SECOND_NS)
#define LINE_NS        SECOND_NS

enum rig_rc rig_pg_follow(struct rig_pg_node *node, struct rig_pg_node *primary, struct rig_pg_routes *routes,
                          struct rig_err *err)
{
    struct rig_sql_endpoint endpoint;
    bool follows = node != primary;
    enum rig_rc rc = follows ? rig_pg_routes_find(routes, node, primary, &endpoint, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = rig_pg_configuration_write(node, follows ? &endpoint : NULL, err);
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
    (void)snprintf(sql, sizeof sql, "SELECT pg_promote(true, %lld)", (long long)(timeout_ns / SECOND_NS));
    enum rig_rc rc = rig_pg_node_ask(node, sql, timeout_ns + SECOND_NS, answer, err);
    if (rc == RIG_OK && answer[0] != 't')
        rc = rig_fail(err, RIG_E_CLUSTER, "%s was not promoted within %lld s", node->local.name,
                      (long long)(timeout_ns / SECOND_NS));
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
        const struct timespec step = {.tv_nsec = 10 * MILLISECOND_NS};
        (void)nanosleep(&step, NULL);
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
