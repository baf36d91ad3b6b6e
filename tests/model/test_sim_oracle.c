/*
 * The simulated database against brute force: small histories at each right level must have an explanation at that
 * level, in real time too, and some must have none at the next stronger level.
 */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/sim_history.h"
#include "tests/oracle/oracle.h"

enum { SEED_COUNT = 3000 };

/* The oracle's tables are small; a run that exceeds them is skipped. */
static bool to_small(const struct seen_run *run, struct small_history *small)
{
    memset(small, 0, sizeof *small);
    for (size_t i = 0; i < run->txns.count; i++) {
        const struct seen_txn *txn = &run->txns.at[i];
        struct small_txn *to = &small->txns[small->txn_count++];
        to->outcome = txn->outcome == RIG_OUTCOME_OK     ? SMALL_OK
                      : txn->outcome == RIG_OUTCOME_FAIL ? SMALL_FAIL
                                                         : SMALL_INFO;
        to->process = (int)txn->process;
        to->invoke_at = (int)txn->invoke_at;
        to->complete_at = (int)txn->complete_at;
        for (uint32_t j = 0; j < txn->op_count; j++) {
            const struct rig_op *op = &run->ops.at[txn->first_op + j];
            const struct rig_read *read = &run->reads.at[txn->first_op + j];
            if (op->key >= SMALL_KEYS || read->count > SMALL_LIST)
                return false;
            struct small_op *out = &to->ops[to->op_count++];
            out->append = op->kind == RIG_OP_APPEND;
            out->key = (int)op->key;
            out->value = (int)op->value;
            out->known = !out->append && read->state != RIG_READ_UNKNOWN;
            out->count = (int)read->count;
            for (uint32_t k = 0; k < read->count; k++)
                out->list[k] = (int)run->elements.at[txn->first_element + read->first_element + k];
        }
    }
    return true;
}

static void settings_for(struct sim_settings *settings, enum rig_sim_isolation isolation, enum rig_sim_bug bug)
{
    sim_settings_init(settings, isolation, bug);
    settings->workload.active_keys = 2;
    settings->workload.key_distribution = RIG_KEYS_UNIFORM;
    settings->workload.max_operations = 4;
    settings->workload.appends_per_key = 30;
    settings->session_count = 4;
    settings->txn_count = 6;
    settings->sim.abort_rate = 0.05;
    settings->sim.info_rate = 0.1;
    settings->sim.loss_rate = 0.05;
    settings->sim.bug_rate = 0.5;
    settings->sim.staleness = 2;
    if (bug != RIG_SIM_BUG_LONG_FORK)
        return;
    /* Four transactions that must all commit make one fork: two that write, at two sites, and two that read. */
    settings->sim.bug_rate = 0.9;
    settings->sim.abort_rate = settings->sim.info_rate = settings->sim.loss_rate = 0;
    settings->workload.max_operations = 2;
    settings->txn_count = 8;
}

/* The number of histories without an explanation at `level`; stops at the first when each must have one. */
static unsigned count_unexplained(enum rig_sim_isolation isolation, enum rig_sim_bug bug, struct oracle_level level,
                                  bool must_hold)
{
    struct sim_settings settings;
    settings_for(&settings, isolation, bug);
    unsigned unexplained = 0, judged = 0;
    for (settings.seed = 1; settings.seed <= SEED_COUNT; settings.seed++) {
        struct seen_run run;
        struct small_history small;
        seen_run_init(&run, &settings);
        bool fits = to_small(&run, &small);
        seen_run_done(&run);
        if (!fits)
            continue;
        judged++;
        if (oracle_explains(&small, level, 0))
            continue;
        unexplained++;
        if (!must_hold)
            continue;
        small_print(&small, "  ", stdout);
        fail_msg("%s, bug %s, seed %llu: no explanation at level %d, order %d", rig_sim_isolation_names[isolation],
                 rig_sim_bug_names[bug], (unsigned long long)settings.seed, (int)level.base, (int)level.order);
    }
    assert_true(judged > SEED_COUNT / 2);
    return unexplained;
}

static void assert_holds(enum rig_sim_isolation isolation, enum rig_sim_bug bug, enum oracle_base base,
                         enum oracle_order order)
{
    (void)count_unexplained(isolation, bug, (struct oracle_level){base, order}, true);
}

static void assert_breaks(enum rig_sim_isolation isolation, enum rig_sim_bug bug, enum oracle_base base,
                          enum oracle_order order)
{
    unsigned count = count_unexplained(isolation, bug, (struct oracle_level){base, order}, false);
    print_message("%s, bug %s: %u of %d histories break level %d, order %d\n", rig_sim_isolation_names[isolation],
                  rig_sim_bug_names[bug], count, SEED_COUNT, (int)base, (int)order);
    assert_true(count > 0);
}

static void serializable_is_strict(void **state)
{
    (void)state;
    assert_holds(RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_NONE, ORACLE_SERIALIZABLE, ORACLE_REALTIME);
}

static void repeatable_read_is_strict(void **state)
{
    (void)state;
    assert_holds(RIG_SIM_REPEATABLE_READ, RIG_SIM_BUG_NONE, ORACLE_SERIALIZABLE, ORACLE_REALTIME);
}

static void snapshot_isolation_is_strong_and_no_more(void **state)
{
    (void)state;
    assert_holds(RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NONE, ORACLE_SNAPSHOT_ISOLATION, ORACLE_REALTIME);
    assert_breaks(RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NONE, ORACLE_SERIALIZABLE, ORACLE_PLAIN);
}

static void read_committed_is_strong_and_no_more(void **state)
{
    (void)state;
    assert_holds(RIG_SIM_READ_COMMITTED, RIG_SIM_BUG_NONE, ORACLE_READ_COMMITTED, ORACLE_REALTIME);
    assert_breaks(RIG_SIM_READ_COMMITTED, RIG_SIM_BUG_NONE, ORACLE_SNAPSHOT_ISOLATION, ORACLE_PLAIN);
}

static void read_uncommitted_is_no_more(void **state)
{
    (void)state;
    assert_breaks(RIG_SIM_READ_UNCOMMITTED, RIG_SIM_BUG_NONE, ORACLE_READ_COMMITTED, ORACLE_PLAIN);
}

/* Old snapshots break the order of time and of sessions, and nothing else. */
static void stale_snapshots_are_serializable(void **state)
{
    (void)state;
    static const enum rig_sim_bug bugs[] = {RIG_SIM_BUG_STALE_READ, RIG_SIM_BUG_NON_MONOTONIC_SESSION};
    for (size_t i = 0; i < 2; i++) {
        assert_holds(RIG_SIM_SERIALIZABLE, bugs[i], ORACLE_SERIALIZABLE, ORACLE_PLAIN);
        assert_breaks(RIG_SIM_SERIALIZABLE, bugs[i], ORACLE_SERIALIZABLE, ORACLE_SESSION);
        assert_holds(RIG_SIM_SNAPSHOT, bugs[i], ORACLE_SNAPSHOT_ISOLATION, ORACLE_PLAIN);
        assert_breaks(RIG_SIM_SNAPSHOT, bugs[i], ORACLE_SNAPSHOT_ISOLATION, ORACLE_SESSION);
    }
}

static void long_forks_break_snapshot_isolation(void **state)
{
    (void)state;
    assert_holds(RIG_SIM_SNAPSHOT, RIG_SIM_BUG_LONG_FORK, ORACLE_READ_COMMITTED, ORACLE_SESSION);
    assert_breaks(RIG_SIM_SNAPSHOT, RIG_SIM_BUG_LONG_FORK, ORACLE_SNAPSHOT_ISOLATION, ORACLE_PLAIN);
}

static void every_other_bug_breaks_serializability(void **state)
{
    (void)state;
    static const enum rig_sim_bug bugs[] = {RIG_SIM_BUG_LOST_UPDATE,      RIG_SIM_BUG_DIRTY_READ,
                                            RIG_SIM_BUG_ABORTED_READ,     RIG_SIM_BUG_INTERMEDIATE_READ,
                                            RIG_SIM_BUG_DUPLICATE_APPEND, RIG_SIM_BUG_LOST_APPEND,
                                            RIG_SIM_BUG_REORDERED_APPEND};
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++)
        assert_breaks(RIG_SIM_SERIALIZABLE, bugs[i], ORACLE_SERIALIZABLE, ORACLE_PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serializable_is_strict),
        cmocka_unit_test(repeatable_read_is_strict),
        cmocka_unit_test(snapshot_isolation_is_strong_and_no_more),
        cmocka_unit_test(read_committed_is_strong_and_no_more),
        cmocka_unit_test(read_uncommitted_is_no_more),
        cmocka_unit_test(stale_snapshots_are_serializable),
        cmocka_unit_test(long_forks_break_snapshot_isolation),
        cmocka_unit_test(every_other_bug_breaks_serializability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
