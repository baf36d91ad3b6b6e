/*
 * lock-pressure: fills the server's lock table with locks that no other session requests, until it is full or has the
 * requested number. A session that needs a lock then fails with "out of shared memory"; predicate locks of serializable
 * transactions fail, too.
 *
 * Evidence: pg_locks shows them while the fault lasts. They are released with the session that holds them.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/postgres/pg_fault.h"

enum { STEP_LOCKS = 500, MISSES_MOST = 200 };

struct options {
    int64_t locks;
};

static const struct rig_option table[] = {
    {.name = "locks",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, locks),
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

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct options *options = site->options;
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
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject = inject,
    .heal = heal,
};
