#include "drivers/mysql/my_fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "drivers/mysql/my_galera.h"
#include "drivers/mysql/my_session.h"

/*
 * Faults of a Galera cluster.
 *
 * desync: a node leaves flow control (wsrep_desync), as a donor or a node under backup does: it may fall behind, and
 * its reads with it. Evidence: its state is Donor/Desynced.
 *
 * flow-control: a node asks the group to pause whenever a transaction waits to be applied (gcs.fc_limit). Evidence: it
 * sent such requests.
 *
 * state-transfer: a node loses its data and takes them from a donor, by rsync. During the transfer the joiner or the
 * donor can be killed. Evidence: a node is the donor. Heal starts what is down, and waits until it is synchronised.
 */

static struct rig_my_cluster *my_fault_cluster(const struct rig_fault_site *site)
{
    return &((struct rig_my_run *)site->run)->cluster;
}

static enum rig_rc require_galera(const struct rig_fault_site *site, uint32_t least, const char *fault,
                                  struct rig_err *err)
{
    const struct rig_my_cluster *cluster = my_fault_cluster(site);
    if (!rig_my_site_is_galera(&cluster->site) || cluster->sql.count < least)
        return rig_fail(err, RIG_E_CLUSTER,
                        "%s is a fault of a Galera cluster with %u nodes or more: give "
                        "database.cluster.local.replication: galera",
                        fault, least);
    return RIG_OK;
}

static const int64_t step_ns = 20 * RIG_NS_PER_MS;

/*
 * Asks the node until the first value of the answer is `wanted`, or, with NULL, anything but "" and "0". `answer` has
 * the last one. RIG_E_CLUSTER with `missing` when it does not come in RIG_MY_FAULT_NS, or the node does not answer
 * then; RIG_E_INTERRUPTED when the run ends first, unless `always`.
 */
static enum rig_rc my_fault_await(const struct rig_my_node *node, const char *sql, const char *wanted, bool always,
                                  const char *missing, char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    const int64_t deadline_ns = core->now_ns() + RIG_MY_FAULT_NS;
    for (;;) {
        struct rig_err problem = {.rc = RIG_OK};
        const enum rig_rc rc = rig_my_node_ask(node, sql, RIG_NS_PER_S, answer, &problem);
        if (rc == RIG_OK &&
            (wanted != NULL ? strcmp(answer, wanted) == 0 : answer[0] != '\0' && strcmp(answer, "0") != 0))
            return RIG_OK;
        if (core->stopping() && !always)
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
        if (core->now_ns() > deadline_ns || !rig_local_node_runs(&node->local))
            return rig_fail(err, RIG_E_CLUSTER, "%s: %s%s%s", node->local.name, missing, rc != RIG_OK ? ": " : "",
                            rc != RIG_OK ? problem.text : "");
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
}

/* Sets variables of the node back. One that has ended has lost them. */
static enum rig_rc set_back(const struct rig_my_node *node, const char *sql, const char *check, const char *wanted,
                            struct rig_err *err)
{
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err problem = {.rc = RIG_OK};
    enum rig_rc rc = rig_my_node_ask(node, sql, RIG_MY_FAULT_NS / 4, NULL, &problem);
    if (rc == RIG_OK)
        rc = my_fault_await(node, check, wanted, true, "it was not set back", answer, &problem);
    if (rc == RIG_OK || !rig_local_node_runs(&node->local))
        return RIG_OK;
    return rig_fail(err, rc, "%s: %s", node->local.name, problem.text);
}

/* ---- desync ---- */

/* Galera's own state of the node: "Synced", "Donor/Desynced", ... */
#define MY_FAULT_STATE                                                                                                 \
    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_local_state_comment'"

static enum rig_rc desync(const struct rig_fault_site *site, uint32_t i, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    char answer[RIG_MY_ANSWER_BYTES];
    (void)state;
    enum rig_rc rc = require_galera(site, 2, "desync", err);
    if (rc == RIG_OK)
        rc = rig_my_node_ask(node, "SET GLOBAL wsrep_desync = ON", RIG_MY_FAULT_NS / 4, NULL, err);
    if (rc == RIG_OK)
        rc = my_fault_await(node, MY_FAULT_STATE, "Donor/Desynced", false, "it is not desynchronised", answer, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: its state is %s", node->local.name, answer);
    return rc;
}

static enum rig_rc resync(const struct rig_fault_site *site, uint32_t i, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    (void)state, (void)evidence;
    return set_back(node, "SET GLOBAL wsrep_desync = OFF", MY_FAULT_STATE, "Synced", err);
}

static const struct rig_fault my_fault_desync = {
    .name = "desync",
    .summary = "takes a Galera node out of flow control, so that it may fall behind",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = desync,
    .heal_node = resync,
};

/* ---- flow-control ---- */

#define LIMIT "SELECT TRIM(SUBSTRING_INDEX(SUBSTRING_INDEX(@@wsrep_provider_options, 'gcs.fc_limit = ', -1), ';', 1))"
#define SENT                                                                                                           \
    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_flow_control_sent'"

struct limits {
    long before[RIG_NODES_MOST]; /* of each target plus one; 0: unchanged */
};

static enum rig_rc slow_down(const struct rig_fault_site *site, uint32_t i, void *object, struct rig_evidence *evidence,
                             struct rig_err *err)
{
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    struct limits *limits = object;
    char answer[RIG_MY_ANSWER_BYTES];
    char sql[256];
    long long sent = 0;
    enum rig_rc rc = require_galera(site, 2, "flow-control", err);
    if (rc == RIG_OK)
        rc = rig_my_node_ask(node, SENT, RIG_MY_FAULT_NS / 4, answer, err);
    if (rc == RIG_OK) {
        sent = strtoll(answer, NULL, 10);
        rc = rig_my_node_ask(node, LIMIT, RIG_MY_FAULT_NS / 4, answer, err);
    }
    if (rc == RIG_OK) {
        limits->before[i] = strtol(answer, NULL, 10) + 1;
        rc = rig_my_node_ask(node, "SET GLOBAL wsrep_provider_options = 'gcs.fc_limit=1'", RIG_MY_FAULT_NS / 4, NULL,
                             err);
    }
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(sql, sizeof sql,
                   "SELECT VARIABLE_VALUE - %lld FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
                   "'wsrep_flow_control_sent'",
                   sent);
    rc = my_fault_await(node, sql, NULL, false, "it asked for no pause", answer, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: at first %.0f requests to pause", node->local.name, strtod(answer, NULL));
    return rc;
}

static enum rig_rc speed_up(const struct rig_fault_site *site, uint32_t i, void *object, struct rig_evidence *evidence,
                            struct rig_err *err)
{
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    struct limits *limits = object;
    char sql[128], wanted[32];
    (void)evidence;
    if (limits->before[i] == 0)
        return RIG_OK;
    (void)snprintf(wanted, sizeof wanted, "%ld", limits->before[i] - 1);
    (void)snprintf(sql, sizeof sql, "SET GLOBAL wsrep_provider_options = 'gcs.fc_limit=%s'", wanted);
    const enum rig_rc rc = set_back(node, sql, LIMIT, wanted, err);
    if (rc == RIG_OK)
        limits->before[i] = 0;
    return rc;
}

static const struct rig_fault my_fault_flow_control = {
    .name = "flow-control",
    .summary = "lets a Galera node pause the group whenever a transaction waits to be applied",
    .needs = RIG_NEED_PROCESSES,
    .state_size = sizeof(struct limits),
    .inject_node = slow_down,
    .heal_node = speed_up,
};

/* ---- state-transfer ---- */

enum victim { VICTIM_NONE, VICTIM_JOINER, VICTIM_DONOR };

struct transfer_options {
    int64_t kill; /* enum victim */
};

static const char *const victims[] = {"none", "joiner", "donor", NULL};

static const struct rig_option transfer_table[] = {
    {.name = "kill",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct transfer_options, kill),
     .default_text = "none",
     .choices = victims,
     .help = "the node that is killed during the transfer"},
    {.name = NULL},
};

struct transfer {
    bool begun;
    uint32_t donor; /* plus one; 0: none was killed */
};

/* The number of the donor plus one; 0: none yet. */
static uint32_t find_donor(struct rig_my_cluster *cluster, uint32_t joiner)
{
    for (uint32_t i = 0; i < cluster->sql.count; i++) {
        char state[RIG_MY_ANSWER_BYTES] = "";
        struct rig_err ignored = {.rc = RIG_OK};
        if (i != joiner && rig_local_node_runs(&cluster->nodes[i].local) &&
            rig_my_node_ask(&cluster->nodes[i], MY_FAULT_STATE, RIG_NS_PER_S, state, &ignored) == RIG_OK &&
            strcmp(state, "Donor/Desynced") == 0)
            return i + 1;
    }
    return 0;
}

static enum rig_rc await_donor(const struct rig_fault_site *site, const struct rig_my_node *joiner, uint32_t *donor,
                               struct rig_err *err)
{
    struct rig_my_cluster *cluster = my_fault_cluster(site);
    const int64_t deadline_ns = site->core->now_ns() + RIG_MY_FAULT_NS;
    while ((*donor = find_donor(cluster, joiner->index)) == 0) {
        if (site->core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", joiner->local.name);
        if (site->core->now_ns() > deadline_ns || !rig_local_node_runs(&joiner->local))
            return rig_fail(err, RIG_E_CLUSTER, "%s: no node became its donor", joiner->local.name);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_MS);
    }
    return RIG_OK;
}

static enum rig_rc transfer(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                            struct rig_err *err)
{
    const struct transfer_options *options = site->options;
    struct transfer *state = object;
    struct rig_my_cluster *cluster = my_fault_cluster(site);
    struct rig_my_node *joiner = rig_my_fault_node(site, 0);
    uint32_t donor = 0;
    enum rig_rc rc = require_galera(site, options->kill == VICTIM_DONOR ? 3 : 2, "state-transfer", err);
    if (rc != RIG_OK)
        return rc;
    state->begun = true;
    rc = rig_my_cluster_empty(cluster, joiner, err); /* only a whole transfer brings its data back */
    if (rc == RIG_OK)
        rc = rig_my_galera_settle(cluster, err);
    if (rc == RIG_OK)
        rc = rig_my_node_launch(joiner, err);
    if (rc == RIG_OK)
        rc = await_donor(site, joiner, &donor, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_my_node *giver = &cluster->nodes[donor - 1];
    rig_local_say(evidence, "%s: takes its data from %s", joiner->local.name, giver->local.name);
    if (options->kill == VICTIM_NONE)
        return RIG_OK;
    struct rig_my_node *victim = options->kill == VICTIM_JOINER ? joiner : giver;
    if (victim == giver)
        state->donor = donor;
    rc = rig_my_node_stop(victim, RIG_NODE_KILL, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s was killed meanwhile", victim->local.name);
    return rc;
}

static enum rig_rc join(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    struct transfer *state = object;
    struct rig_my_cluster *cluster = my_fault_cluster(site);
    const uint32_t joiner = site->nodes[0];
    const int64_t deadline_ns = site->core->now_ns() + cluster->site.options->sql.start_timeout_ns;
    if (!state->begun)
        return RIG_OK;
    /* A transfer without its donor ends the joiner, which keeps half of the data. */
    enum rig_rc rc = state->donor != 0 ? rig_my_cluster_empty(cluster, &cluster->nodes[joiner], err) : RIG_OK;
    if (rc == RIG_OK && state->donor != 0)
        rc = rig_my_galera_start_node(cluster, state->donor - 1, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_my_galera_start_node(cluster, joiner, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    *state = (struct transfer){.begun = false};
    rig_local_say(evidence, "%s: synchronised", cluster->nodes[joiner].local.name);
    return RIG_OK;
}

static const struct rig_fault my_fault_state_transfer = {
    .name = "state-transfer",
    .summary =
        "a Galera node loses its data and takes them from another one, which, or itself, can be killed meanwhile",
    .needs = RIG_NEED_PROCESSES,
    .options = transfer_table,
    .options_size = sizeof(struct transfer_options),
    .state_size = sizeof(struct transfer),
    .inject = transfer,
    .heal = join,
};

struct read_lock {
    struct rig_sql_waiter waiter;
    struct rig_my_connection connection; /* that holds the lock of the first target; .my NULL: none */
};

static enum rig_rc take_read_lock(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                                  struct rig_err *err)
{
    /* MariaDB from 10.4 on, and before it and MySQL; the threads of replication have no client. */
    static const char waiting[] =
        "SELECT CONCAT(STATE, ' (thread ', ID, ')') FROM information_schema.PROCESSLIST WHERE STATE IN ('Waiting for "
        "backup lock', "
        "'Waiting for global read lock', 'Waiting for commit lock') AND USER NOT IN ('root', 'system user') LIMIT 1";
    struct read_lock *state = object;
    const struct rig_my_node *node = rig_my_fault_node(site, 0);
    const int64_t deadline_ns = site->core->now_ns() + RIG_MY_FAULT_NS;
    char answer[RIG_MY_ANSWER_BYTES];
    struct rig_err problem = {.rc = RIG_OK};
    state->waiter = (struct rig_sql_waiter){.core = site->core};
    enum rig_rc rc = rig_my_node_connect(node, &state->connection, &state->waiter, deadline_ns, &problem);
    if (rc == RIG_OK)
        rc = rig_my_query(&state->connection, "SET lock_wait_timeout = 15; FLUSH TABLES WITH READ LOCK", deadline_ns,
                          NULL, &problem);
    if (rc != RIG_OK)
        return rig_fail(err, site->core->stopping() ? RIG_E_INTERRUPTED : RIG_E_CLUSTER, "%s: %s", node->local.name,
                        problem.text);
    rc = my_fault_await(node, waiting, NULL, false, "no client waited for the lock", answer, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: holds a global read lock; %s", node->local.name, answer);
    return rc;
}

static enum rig_rc release_read_lock(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                                     struct rig_err *err)
{
    struct read_lock *state = object;
    struct rig_err ignored = {.rc = RIG_OK};
    (void)evidence, (void)err;
    state->waiter.to_the_end = true;
    /* A server that is gone or does not answer releases it with the connection. */
    if (state->connection.my != NULL)
        (void)rig_my_query(&state->connection, "UNLOCK TABLES", site->core->now_ns() + RIG_MY_FAULT_NS / 10, NULL,
                           &ignored);
    rig_my_disconnect(&state->connection);
    return RIG_OK;
}

static const struct rig_fault my_fault_read_lock = {
    .name = "read-lock",
    .summary = "holds FLUSH TABLES WITH READ LOCK, as a backup does: writes and commits wait",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .state_size = sizeof(struct read_lock),
    .inject = take_read_lock,
    .heal = release_read_lock,
};

struct kill_options {
    int64_t statements;
};

static const struct rig_option kill_table[] = {
    {.name = "statements",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct kill_options, statements),
     .default_text = "1",
     .least = 1,
     .most = 1000,
     .help = "number of statements that fail with it, at least"},
    {.name = NULL},
};

/* Chooses and strikes in one request, which most statements outlast. The victim may have ended all the same. */
static void strike(struct rig_my_connection *connection, uint64_t random, int64_t deadline_ns)
{
    char sql[512];
    struct rig_err none = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql,
                   "SET @victim = (SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Query', 'Execute') "
                   "AND USER NOT IN ('root', 'system user') ORDER BY MD5(CONCAT(ID, '%llu')) LIMIT 1); KILL QUERY "
                   "@victim",
                   (unsigned long long)random);
    (void)rig_my_query(connection, sql, deadline_ns, NULL, &none);
}

static enum rig_rc strike_until(const struct rig_fault_site *site, const struct rig_my_node *node,
                                struct rig_my_connection *connection, uint64_t *failed, struct rig_err *err)
{
    const struct kill_options *options = site->options;
    const struct rig_my_run *run = site->run;
    const int64_t deadline_ns = site->core->now_ns() + RIG_MY_FAULT_NS;
    const uint64_t before = atomic_load(&run->interrupted);
    for (uint64_t i = 0; (*failed = atomic_load(&run->interrupted) - before) < (uint64_t)options->statements; i++) {
        if (site->core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
        if (site->core->now_ns() > deadline_ns || connection->reason != NULL)
            return rig_fail(err, RIG_E_CLUSTER, "%s: %llu statements of clients failed by KILL QUERY, fewer than %lld",
                            node->local.name, (unsigned long long)*failed, (long long)options->statements);
        strike(connection, site->random + i, deadline_ns);
    }
    return RIG_OK;
}

static enum rig_rc kill_queries(const struct rig_fault_site *site, uint32_t i, void *state,
                                struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    struct rig_my_connection connection;
    struct rig_sql_waiter waiter = {.core = site->core};
    struct rig_err problem = {.rc = RIG_OK};
    uint64_t failed = 0;
    enum rig_rc rc =
        rig_my_node_connect(node, &connection, &waiter, site->core->now_ns() + RIG_MY_FAULT_NS / 4, &problem);
    if (rc == RIG_OK)
        rc = strike_until(site, node, &connection, &failed, err);
    else
        rc = rig_fail(err, rc, "%s: %s", node->local.name, problem.text);
    rig_my_disconnect(&connection);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %llu statement%s of clients failed with error 1317", node->local.name,
                      (unsigned long long)failed, rig_plural(failed));
    return rc;
}

static const struct rig_fault my_fault_kill_query = {
    .name = "kill-query",
    .varied = "",
    .summary = "ends statements of clients by KILL QUERY",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = kill_table,
    .options_size = sizeof(struct kill_options),
    .inject_node = kill_queries,
};

const struct rig_fault *const rig_my_faults[] = {
    &my_fault_read_lock,
    &my_fault_kill_query,
    &rig_my_fault_maintenance,
    &my_fault_desync,
    &my_fault_flow_control,
    &my_fault_state_transfer,
    NULL,
};

struct rig_my_node *rig_my_fault_node(const struct rig_fault_site *site, uint32_t i)
{
    struct rig_my_cluster *cluster = my_fault_cluster(site);
    RIG_REQUIRE(i < site->node_count && site->nodes[i] < cluster->sql.count);
    return &cluster->nodes[site->nodes[i]];
}

/*
 * read-lock: FLUSH TABLES WITH READ LOCK, which a backup takes: statements that write and commits wait until it is
 * released.
 *
 * Evidence: a client's statement waits for the lock, in the server's list of processes. The lock ends with the session
 * that holds it.
 */

/*
 * kill-query: KILL QUERY for statements of clients, as an administrator or a time-out of an application would.
 *
 * A statement can have ended before the order comes, so the fault strikes until enough of them have failed.
 *
 * Evidence: clients were answered with error 1317, by their driver's own count. The connections stay, and there is
 * nothing to undo.
 */
