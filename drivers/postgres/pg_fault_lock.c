/*
 * Faults of locks: a full lock table, and deadlocks.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "drivers/postgres/pg_fault.h"

/*
 * lock-pressure: fills the server's lock table with locks that no other session requests, until it is full or has the
 * requested number. A session that needs a lock then fails with "out of shared memory"; predicate locks of serializable
 * transactions fail, too.
 *
 * Evidence: pg_locks shows them while the fault lasts. They are released with the session that holds them.
 */

enum { STEP_LOCKS = 500, MISSES_MOST = 200 };

struct pressure_options {
    int64_t locks;
};

static const struct rig_option pressure_table[] = {
    {.name = "locks",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct pressure_options, locks),
     .default_text = "0",
     .least = 0,
     .most = 1e7,
     .help = "number of locks; 0: until the lock table is full"},
    {.name = NULL},
};

struct state {
    struct rig_pg_fault_session session; /* for the first target; only this one is struck */
};

/* False: the lock table is full; the locks taken before are kept. */
static bool lock_more(const struct rig_pg_node *node, struct rig_pg_fault_session *session, long from, long count)
{
    char sql[256];
    struct rig_err full = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql,
                   "SAVEPOINT s; SELECT count(pg_advisory_xact_lock(777, i::int)) FROM generate_series(%ld, %ld) i",
                   from, from + count - 1);
    if (rig_pg_fault_ask(node, session, sql, NULL, &full) == RIG_OK)
        return true;
    (void)rig_pg_fault_ask(node, session, "ROLLBACK TO SAVEPOINT s", NULL, &full);
    return false;
}

static enum rig_rc fill_lock_table(const struct rig_fault_site *site, void *private_state,
                                   struct rig_evidence *evidence, struct rig_err *err)
{
    const struct pressure_options *options = site->options;
    struct state *state = private_state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, 0);
    char answer[RIG_PG_ANSWER_BYTES];
    long most = options->locks == 0 ? LONG_MAX : (long)options->locks;
    long locks = 0;
    /* In ever smaller steps up to the last entry; then the entries that clients release between two transactions. */
    long step = STEP_LOCKS;
    int misses = 0;
    enum rig_rc rc = rig_pg_fault_open(node, &state->session, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, &state->session, "BEGIN", NULL, err);
    while (rc == RIG_OK && misses < MISSES_MOST && locks < most) {
        long count = step < most - locks ? step : most - locks;
        if (lock_more(node, &state->session, locks, count))
            locks += count;
        else if (step > 1)
            step = step / 10 > 1 ? step / 10 : 1;
        else
            misses++;
        if (site->core->stopping())
            rc = rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
    }
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, &state->session,
                              "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
                              answer, err);
    if (rc == RIG_OK && strtol(answer, NULL, 10) == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: no lock was granted", node->local.name);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %s locks in the lock table%s", node->local.name, answer,
                      misses > 0 ? ", which is full" : "");
    return rc;
}

static enum rig_rc heal(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    struct state *state = private_state;
    (void)site, (void)evidence, (void)err;
    rig_pg_fault_close(&state->session);
    return RIG_OK;
}

const struct rig_fault rig_pg_fault_lock_pressure = {
    .name = "lock-pressure",
    .summary = "fills the lock table, so that sessions fail to get locks",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = pressure_table,
    .options_size = sizeof(struct pressure_options),
    .state_size = sizeof(struct state),
    .inject = fill_lock_table,
    .heal = heal,
};

/*
 * deadlocks: two sessions repeatedly lock two rows that clients use, in opposite order; the server has to find each
 * deadlock and to abort one session in it, perhaps a client's.
 *
 * Evidence: the number of deadlock errors of the two sessions, and that none is left waiting.
 */

struct deadlock_options {
    int64_t rounds;
};

static const struct rig_option deadlock_table[] = {
    {.name = "rounds",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct deadlock_options, rounds),
     .default_text = "20",
     .least = 1,
     .most = 10000,
     .help = "number of deadlocks, one after the other"},
    {.name = NULL},
};

struct pair {
    const struct rig_pg_node *node;
    struct rig_pg_fault_session sessions[2];
    char lock[2][512]; /* the statement that locks the first and the second row */
};

/* The two newest rows: clients use their keys now. One query finds both: between two queries, newer keys may come. */
static enum rig_rc find_rows(struct pair *pair, struct rig_err *err)
{
    struct rig_pg_fault_tables tables;
    char sql[512];
    char answer[RIG_PG_ANSWER_BYTES] = "";
    enum rig_rc rc = rig_pg_fault_tables(pair->node, &pair->sessions[0], &tables, err);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(sql, sizeof sql,
                   "SELECT string_agg(k::text, ' ') FROM (SELECT k FROM %s ORDER BY k DESC LIMIT 2) newest",
                   tables.names[0]);
    rc = rig_pg_fault_ask(pair->node, &pair->sessions[0], sql, answer, err);
    if (rc != RIG_OK)
        return rc;
    char *rest = NULL;
    const char *keys[2];
    keys[0] = strtok_r(answer, " ", &rest);
    keys[1] = strtok_r(NULL, " ", &rest);
    if (keys[0] == NULL || keys[1] == NULL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: %s does not have two rows yet: give the fault a later time",
                        pair->node->local.name, tables.names[0]);
    for (int row = 0; row < 2; row++)
        (void)snprintf(pair->lock[row], sizeof pair->lock[row], "SELECT 1 FROM %s WHERE k = %s FOR UPDATE",
                       tables.names[0], keys[row]);
    return RIG_OK;
}

/* Takes the end of a statement; returns whether it failed by a deadlock. */
static bool was_deadlock(struct rig_pg_fault_session *session)
{
    bool deadlock = false;
    PGresult *result = NULL;
    int64_t deadline_ns = session->waiter.core->now_ns() + RIG_PG_FAULT_NS;
    while (rig_pg_next(&session->connection, deadline_ns, &result) == NULL && result != NULL) {
        const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        deadlock = deadlock || (code != NULL && strcmp(code, "40P01") == 0);
        PQclear(result);
        if (PQstatus(session->connection.pg) == CONNECTION_BAD)
            break;
    }
    return deadlock;
}

/* One round. A first lock may fail by a deadlock with clients as well. */
static enum rig_rc close_circle(struct pair *pair, int *deadlocks, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    struct rig_err first = {.rc = RIG_OK};
    bool locked = true;
    /* A client may wait for the first row with the second one locked: then no session completes the cycle. */
    for (int i = 0; rc == RIG_OK && i < 2; i++)
        rc = rig_pg_fault_ask(pair->node, &pair->sessions[i], "BEGIN; SET LOCAL lock_timeout = '300ms'", NULL, err);
    for (int i = 0; rc == RIG_OK && locked && i < 2; i++)
        locked = rig_pg_fault_ask(pair->node, &pair->sessions[i], pair->lock[i], NULL, &first) == RIG_OK;
    for (int i = 0; rc == RIG_OK && locked && i < 2; i++) {
        struct rig_pg_connection *connection = &pair->sessions[i].connection;
        if (PQsendQuery(connection->pg, pair->lock[1 - i]) != 1 ||
            rig_pg_flush(connection, pair->sessions[i].waiter.core->now_ns() + RIG_PG_FAULT_NS) != NULL)
            rc = rig_fail(err, RIG_E_CLUSTER, "%s: %s", pair->node->local.name, PQerrorMessage(connection->pg));
    }
    /* The aborted session lets the other go on; the server chooses which one. */
    for (int i = 0; rc == RIG_OK && locked && i < 2; i++)
        *deadlocks += was_deadlock(&pair->sessions[i]) ? 1 : 0;
    for (int i = 0; rc == RIG_OK && i < 2; i++)
        rc = rig_pg_fault_ask(pair->node, &pair->sessions[i], "ROLLBACK", NULL, err);
    return rc;
}

static enum rig_rc make_deadlocks(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                                  struct rig_err *err)
{
    const struct deadlock_options *options = site->options;
    struct pair pair = {.node = rig_pg_fault_node(site, 0)};
    int deadlocks = 0;
    (void)state;
    enum rig_rc rc = RIG_OK;
    for (int i = 0; rc == RIG_OK && i < 2; i++)
        rc = rig_pg_fault_open(pair.node, &pair.sessions[i], err);
    if (rc == RIG_OK)
        rc = find_rows(&pair, err);
    for (int64_t round = 0; rc == RIG_OK && round < options->rounds && !site->core->stopping(); round++)
        rc = close_circle(&pair, &deadlocks, err);
    for (int i = 0; i < 2; i++)
        rig_pg_fault_close(&pair.sessions[i]);
    if (rc == RIG_OK && deadlocks == 0)
        rc = site->core->stopping() ? rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", pair.node->local.name)
                                    : rig_fail(err, RIG_E_CLUSTER, "%s: no deadlock occurred", pair.node->local.name);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %d deadlock%s detected by the server in %lld round%s", pair.node->local.name,
                      deadlocks, rig_plural((uint64_t)deadlocks), (long long)options->rounds,
                      rig_plural((uint64_t)options->rounds));
    return rc;
}

const struct rig_fault rig_pg_fault_deadlocks = {
    .name = "deadlocks",
    .summary = "makes deadlocks on rows that clients use",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = deadlock_table,
    .options_size = sizeof(struct deadlock_options),
    .inject = make_deadlocks,
};
