/*
 * A driver with behaviour that a test chooses; it notes every call of its life cycle.
 */
#ifndef RIG_TESTS_UNIT_FAKE_DATABASE_H
#define RIG_TESTS_UNIT_FAKE_DATABASE_H

#include "tests/unit/cmocka_first.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "drivers/driver.h"

/* The behaviour for the test; set before the run. */
struct fake_options {
    bool cluster;
    bool fail_start, fail_setup;
    int fail_opens;                   /* this many opens fail at first, over all clients; -1: all */
    int64_t transact_ns;              /* the duration of a transaction */
    int info_every;                   /* every n-th transaction of a session's client is info (0: none) */
    int fail_every;                   /* ... fails */
    int lose_every;                   /* ... fails and loses its session */
    bool stuck;                       /* the first transaction of client 0 lasts until it is interrupted */
    int in_step;                      /* most transactions by which one client may be ahead of another (0: no limit) */
    enum rig_error_class error_class; /* of transactions that fail */
    bool final_fails;                 /* read-only transactions fail */
    void (*at_transaction)(uint64_t number);
    void (*at_open)(uint32_t client);
};

static struct fake_options fake;
/* The calls that `run/` made. */
static atomic_int fake_inits, fake_dones, fake_setups, fake_teardowns, fake_starts, fake_stops, fake_kills;
static atomic_int fake_opens, fake_closes, fake_live, fake_most_live, fake_interrupts, fake_last_closes;
static atomic_ullong fake_transactions;
static atomic_int fake_open_failures_left;
static atomic_int fake_holding, fake_most_holding; /* at a time */
static char fake_work_dir[256];
enum { FAKE_STEP_CLIENTS = 64 };
static atomic_int fake_steps[FAKE_STEP_CLIENTS];      /* of each client; INT_MAX: it is past the load */
static atomic_llong fake_appended[FAKE_STEP_CLIENTS]; /* the last key that each client appended to; -1: none yet */
static const struct rig_run_env *fake_env;            /* of the run under way */

struct fake_run {
    const struct rig_run_env *env;
};

struct fake_session {
    struct fake_run *run;
    uint32_t client;
    int count;
    bool open;
    atomic_bool interrupted;
};

static void fake_reset(void)
{
    fake = (struct fake_options){0};
    atomic_int *counters[] = {&fake_inits,       &fake_dones,
                              &fake_setups,      &fake_teardowns,
                              &fake_starts,      &fake_stops,
                              &fake_kills,       &fake_opens,
                              &fake_closes,      &fake_live,
                              &fake_most_live,   &fake_interrupts,
                              &fake_last_closes, &fake_open_failures_left,
                              &fake_holding,     &fake_most_holding};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        atomic_store(counters[i], 0);
    atomic_store(&fake_transactions, 0);
    for (int i = 0; i < FAKE_STEP_CLIENTS; i++) {
        atomic_store(&fake_steps[i], 0);
        atomic_store(&fake_appended[i], -1);
    }
}

static void fake_raise(atomic_int *most, int value)
{
    int seen = atomic_load(most);
    while (value > seen && !atomic_compare_exchange_weak(most, &seen, value))
        continue;
}

static int fake_least_step(const struct fake_session *session)
{
    int least = INT_MAX;
    for (uint32_t i = 0; i < session->run->env->client_count; i++) {
        int step = atomic_load(&fake_steps[i]);
        least = step < least ? step : least;
    }
    return least;
}

static void fake_keep_step(const struct fake_session *session)
{
    if (fake.in_step == 0 || atomic_load(&fake_steps[session->client]) == INT_MAX)
        return;
    int mine = atomic_fetch_add(&fake_steps[session->client], 1);
    while (mine - fake.in_step > fake_least_step(session))
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_US);
}

static bool fake_wanted(const void *options)
{
    (void)options;
    return fake.cluster;
}

static enum rig_rc fake_start(void *run, struct rig_err *err)
{
    (void)run;
    atomic_fetch_add(&fake_starts, 1);
    return fake.fail_start ? rig_fail(err, RIG_E_CLUSTER, "node 1 did not start") : RIG_OK;
}

static void fake_stop(void *run)
{
    (void)run;
    atomic_fetch_add(&fake_stops, 1);
}

static void fake_kill_now(void *run)
{
    (void)run;
    atomic_fetch_add(&fake_kills, 1);
}

static const struct rig_cluster_ops fake_cluster = {
    .wanted = fake_wanted, .start = fake_start, .stop = fake_stop, .kill_now = fake_kill_now};

static enum rig_rc fake_init(void *run, const struct rig_run_env *env, struct rig_err *err)
{
    (void)err;
    ((struct fake_run *)run)->env = env;
    fake_env = env;
    atomic_fetch_add(&fake_inits, 1);
    atomic_store(&fake_open_failures_left, fake.fail_opens);
    (void)snprintf(fake_work_dir, sizeof fake_work_dir, "%s", env->work_dir);
    return RIG_OK;
}

static void fake_done(void *run)
{
    (void)run;
    atomic_fetch_add(&fake_dones, 1);
}

static enum rig_rc fake_setup(void *run, struct rig_err *err)
{
    (void)run;
    atomic_fetch_add(&fake_setups, 1);
    return fake.fail_setup ? rig_fail(err, RIG_E_DRIVER, "the table cannot be created") : RIG_OK;
}

static void fake_teardown(void *run)
{
    (void)run;
    atomic_fetch_add(&fake_teardowns, 1);
}

static enum rig_rc fake_open(void *session, void *run, uint32_t client, struct rig_err *err)
{
    struct fake_session *s = session;
    static const struct fake_session zero;
    if (memcmp(s, &zero, sizeof zero) != 0)
        fail_msg("open was given a session that is not zeroed");
    s->run = run;
    s->client = client;
    if (fake.at_open != NULL)
        fake.at_open(client);
    if (fake.fail_opens != 0 && (fake.fail_opens < 0 || atomic_fetch_sub(&fake_open_failures_left, 1) > 0))
        return rig_fail(err, RIG_E_CLUSTER, "db1:5432 refused the\x1b connection, password hunter2secret");
    s->open = true;
    atomic_fetch_add(&fake_opens, 1);
    int live = atomic_fetch_add(&fake_live, 1) + 1;
    if (live > atomic_load(&fake_most_live))
        atomic_store(&fake_most_live, live);
    return RIG_OK;
}

static enum rig_outcome fake_answer(struct rig_transaction *transaction, enum rig_outcome outcome, const char *code,
                                    bool lost)
{
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", code);
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "as the test\nwanted\x1b, hunter2secret");
    transaction->session_lost = lost;
    transaction->error_class = fake.error_class;
    return outcome;
}

static bool fake_is_nth(const struct fake_session *session, int every)
{
    return every > 0 && session->count % every == 0;
}

static enum rig_outcome fake_transact(void *session, struct rig_transaction *transaction)
{
    struct fake_session *s = session;
    unsigned long long number = atomic_fetch_add(&fake_transactions, 1) + 1;
    s->count++;
    if (!s->open || transaction->client != s->client || transaction->element_count != 0)
        fail_msg("a transaction that breaks the contract");
    fake_keep_step(s);
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        if (transaction->ops[i].kind == RIG_OP_APPEND)
            atomic_store(&fake_appended[s->client % FAKE_STEP_CLIENTS], transaction->ops[i].key);
    }
    if (fake.at_transaction != NULL)
        fake.at_transaction(number);
    if (fake.stuck && s->client == 0) {
        while (!atomic_load(&s->interrupted))
            rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
        return fake_answer(transaction, RIG_OUTCOME_INFO, "cancelled", true);
    }
    if (transaction->hold.wanted) {
        fake_raise(&fake_most_holding, atomic_fetch_add(&fake_holding, 1) + 1);
        (void)s->run->env->core->hold(transaction);
        (void)atomic_fetch_sub(&fake_holding, 1);
    }
    if (fake.transact_ns > 0)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + fake.transact_ns);
    if (fake.final_fails && transaction->read_only)
        return fake_answer(transaction, RIG_OUTCOME_FAIL, "no-reads", false);
    if (fake_is_nth(s, fake.info_every))
        return fake_answer(transaction, RIG_OUTCOME_INFO, "08006", true);
    if (fake_is_nth(s, fake.lose_every))
        return fake_answer(transaction, RIG_OUTCOME_FAIL, "57P01", true);
    if (fake_is_nth(s, fake.fail_every))
        return fake_answer(transaction, RIG_OUTCOME_FAIL, "40001", false);
    return RIG_OUTCOME_OK;
}

static void fake_interrupt(void *session)
{
    atomic_store(&((struct fake_session *)session)->interrupted, true);
    atomic_fetch_add(&fake_interrupts, 1);
}

static void fake_close(void *session, bool last)
{
    struct fake_session *s = session;
    if (s->open)
        atomic_fetch_sub(&fake_live, 1);
    atomic_fetch_add(&fake_closes, s->open);
    atomic_fetch_add(&fake_last_closes, last);
    if (last)
        atomic_store(&fake_steps[s->client % FAKE_STEP_CLIENTS], INT_MAX);
}

static const struct rig_driver fake_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "fake",
    .summary = "what a test chooses",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND),
    .features = RIG_DRIVER_HOLDS,
    .run_size = sizeof(struct fake_run),
    .session_size = sizeof(struct fake_session),
    .init = fake_init,
    .done = fake_done,
    .setup = fake_setup,
    .teardown = fake_teardown,
    .open = fake_open,
    .transact = fake_transact,
    .interrupt = fake_interrupt,
    .close = fake_close,
    .cluster = &fake_cluster,
};

#endif
