/*
 * deadlocks: two sessions repeatedly lock two rows that clients use, in opposite order; the server has to find each
 * deadlock and to abort one session in it, perhaps a client's.
 *
 * Evidence: the number of deadlock errors of the two sessions, and that none is left waiting.
 */
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

#include "drivers/postgres/pg_fault.h"

struct options {
    int64_t rounds;
};

static const struct rig_option table[] = {
    {.name = "rounds",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, rounds),
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

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct options *options = site->options;
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
    .options = table,
    .options_size = sizeof(struct options),
    .inject = inject,
};
