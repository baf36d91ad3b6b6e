#include "drivers/mysql/my_galera.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/run_files.h"

#define STATUS_NS INT64_C(1000000000)
#define SETTLE_NS (10 * STATUS_NS) /* twice the time after which members drop one that is silent */

enum { PATH_BYTES = RIG_LOCAL_PATH_BYTES + 64 };

enum rig_rc rig_my_galera_prepare(struct rig_my_cluster *cluster, struct rig_err *err)
{
    char group[sizeof cluster->nodes[0].group] = "";
    size_t length = 0;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++) {
        rc = rig_my_node_choose_ports(&cluster->nodes[i], false, err);
        length += (size_t)snprintf(group + length, sizeof group - length, "%s127.0.0.1:%u", i == 0 ? "" : ",",
                                   (unsigned)rig_my_node_port(&cluster->nodes[i], RIG_MY_PORT_GROUP));
    }
    for (uint32_t i = 0; i < cluster->sql.count; i++)
        memcpy(cluster->nodes[i].group, group, sizeof group);
    cluster->nodes[0].bootstraps = true;
    return rc;
}

enum rig_rc rig_my_galera_start(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    cluster->nodes[0].bootstraps = false;
    for (uint32_t i = 1; rc == RIG_OK && i < cluster->sql.count; i++)
        rc = rig_my_node_start(&cluster->nodes[i], false, deadline_ns, err);
    return rc;
}

/* ---- a group of which no node runs ---- */

/* The number of the last transaction in the node's data; -1: not known. */
static long long last_transaction(struct rig_my_node *node, int64_t deadline_ns)
{
    static const char found[] = "Recovered position: ";
    struct rig_my_site *site = node->site;
    struct rig_err ignored = {.rc = RIG_OK};
    char path[PATH_BYTES], file[PATH_BYTES + 32], log[RIG_LOCAL_NAME_BYTES + 32], tail[RIG_LOCAL_TAIL_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s.cnf", site->local.folder, node->local.name);
    (void)snprintf(file, sizeof file, "--defaults-file=%s", path);
    (void)snprintf(log, sizeof log, RIG_RUN_LOG_OF_RECOVERY, node->local.name);
    const char *const arguments[] = {site->server, file, "--wsrep-recover", NULL};
    if (rig_my_configuration_write(node, path, &ignored) != RIG_OK ||
        rig_local_run(&site->local, arguments, log, true, deadline_ns, &ignored) != RIG_OK)
        return -1;
    rig_local_log_tail(site->local.env, log, tail);
    const char *at = strstr(tail, found);
    at = at == NULL ? NULL : strchr(at + sizeof found - 1, ':');
    return at == NULL ? -1 : strtoll(at + 1, NULL, 10);
}

/* Galera refuses to make a group of data whose node was killed, unless its state file allows that. */
static enum rig_rc allow_bootstrap(struct rig_my_node *node, struct rig_err *err)
{
    static const char refused[] = "safe_to_bootstrap: 0";
    char path[PATH_BYTES];
    struct rig_buf text;
    (void)snprintf(path, sizeof path, "%s/gvwstate.dat", node->local.data);
    (void)unlink(path); /* the group that was */
    (void)snprintf(path, sizeof path, "%s/grastate.dat", node->local.data);
    rig_buf_init(&text, 64 * 1024);
    enum rig_rc rc = rig_buf_read_file(&text, path, err);
    char *at = rc == RIG_OK && text.size > 0 ? strstr(text.data, refused) : NULL;
    if (at != NULL) {
        at[sizeof refused - 2] = '1';
        rc = rig_local_write(&node->site->local, path, O_TRUNC, text.data, err);
    }
    rig_buf_done(&text);
    return rc;
}

static enum rig_rc make_group(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_my_node *latest = &cluster->nodes[0];
    long long most = last_transaction(latest, deadline_ns);
    for (uint32_t i = 1; i < cluster->sql.count; i++) {
        const long long number = last_transaction(&cluster->nodes[i], deadline_ns);
        if (number > most) {
            latest = &cluster->nodes[i];
            most = number;
        }
    }
    cluster->site.local.env->core->log(2, "mysql", "no node runs: %s makes a new group, from transaction %lld",
                                       latest->local.name, most);
    enum rig_rc rc = allow_bootstrap(latest, err);
    latest->bootstraps = true;
    if (rc == RIG_OK)
        rc = rig_my_node_start(latest, true, deadline_ns, err);
    latest->bootstraps = false;
    return rc;
}

/* ---- a group that lost nodes ---- */

enum membership { MEMBERS_UNKNOWN, MEMBERS_PRIMARY, MEMBERS_NO_QUORUM };

/* As the node sees its group; unknown while that has more members than `running` nodes. */
static enum membership membership_of(const struct rig_my_node *node, uint32_t running)
{
    static const char sql[] = "SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME SEPARATOR ' ') FROM "
                              "information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('wsrep_cluster_size', "
                              "'wsrep_cluster_status')";
    char answer[RIG_MY_ANSWER_BYTES];
    char *status = NULL;
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_my_node_ask(node, sql, STATUS_NS, answer, &ignored) != RIG_OK || strtoul(answer, &status, 10) > running ||
        *status != ' ')
        return MEMBERS_UNKNOWN;
    return strcmp(status + 1, "Primary") == 0 ? MEMBERS_PRIMARY : MEMBERS_NO_QUORUM;
}

/*
 * When too many nodes have ended at once, the others wait for them as the group without a quorum, and those wait for
 * the group when they come back. One of the waiting nodes is told to go on: they have all that was acknowledged. Not
 * while one does not answer: it may be a group of its own.
 */
enum rig_rc rig_my_galera_settle(struct rig_my_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->site.local.env->core;
    const int64_t deadline_ns = core->now_ns() + SETTLE_NS;
    do {
        uint32_t running = 0, without = 0;
        const struct rig_my_node *any = NULL;
        for (uint32_t i = 0; i < cluster->sql.count; i++)
            running += rig_local_node_runs(&cluster->nodes[i].local);
        if (running == cluster->sql.count || running == 0)
            return RIG_OK;
        for (uint32_t i = 0; i < cluster->sql.count; i++) {
            const struct rig_my_node *node = &cluster->nodes[i];
            const enum membership found =
                rig_local_node_runs(&node->local) ? membership_of(node, running) : MEMBERS_UNKNOWN;
            if (found == MEMBERS_PRIMARY)
                return RIG_OK;
            if (found == MEMBERS_NO_QUORUM) {
                any = node;
                without++;
            }
        }
        if (any != NULL && without == running) {
            core->log(2, "mysql", "%s has no quorum: it goes on as the group", any->local.name);
            return rig_my_node_ask(any, "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'", 5 * STATUS_NS, NULL,
                                   err);
        }
        rig_clock_sleep_until_ns(rig_clock_now_ns() + STATUS_NS / 10);
    } while (core->now_ns() < deadline_ns);
    return RIG_OK;
}

/* ---- nodes ---- */

enum rig_rc rig_my_galera_start_node(struct rig_my_cluster *cluster, uint32_t node, int64_t deadline_ns,
                                     struct rig_err *err)
{
    bool runs = false;
    for (uint32_t i = 0; i < cluster->sql.count; i++)
        runs = runs || rig_local_node_runs(&cluster->nodes[i].local);
    enum rig_rc rc = runs ? rig_my_galera_settle(cluster, err) : make_group(cluster, deadline_ns, err);
    return rc == RIG_OK ? rig_my_node_start(&cluster->nodes[node], true, deadline_ns, err) : rc;
}

enum rig_rc rig_my_galera_restore(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cluster->sql.count; i++)
        rc = rig_my_galera_start_node(cluster, i, deadline_ns, err);
    return rc;
}

void rig_my_galera_judge(struct rig_my_cluster *cluster, uint32_t index, struct rig_node_status *status)
{
    static const char sql[] = "SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME SEPARATOR ', ') FROM "
                              "information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('wsrep_cluster_status', "
                              "'wsrep_local_state_comment', 'wsrep_ready')";
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_my_node_ask(&cluster->nodes[index], sql, STATUS_NS, answer, &ignored) != RIG_OK)
        return;
    status->healthy = strcmp(answer, "Primary, Synced, ON") == 0;
    (void)snprintf(status->role, sizeof status->role, "%s",
                   strncmp(answer, "Primary", 7) == 0 ? "member" : "no quorum");
    if (!status->healthy)
        (void)snprintf(status->detail, sizeof status->detail, "%.100s", answer);
}
