/*
 * Whole runs of `run/` against a fake database, for the tests of its parts. Each test changes `plan` and `fake`, runs,
 * and examines the result and the recorded events.
 *
 * Include it once a test program.
 */
#ifndef RIG_TESTS_UNIT_RUN_STAGE_H
#define RIG_TESTS_UNIT_RUN_STAGE_H

#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secret.h"
#include "run/load/run.h"
#include "tests/unit/fake_database.h"
#include "tests/unit/fake_recorder.h"
#include "tests/unit/forget_secrets.h"

/* In place of the plan's writer: `run/` stores the text as the record's metadata. */
void rig_plan_write(const struct rig_plan *plan, bool with_help, struct rig_buf *yaml)
{
    (void)with_help;
    rig_buf_printf(yaml, "name: %s\n", plan->name);
}

static struct rig_plan plan;
static struct rig_run_result result;
static struct rig_err err;
static atomic_int interrupts;

static inline int prepare(void **state)
{
    (void)state;
    fake_reset();
    atomic_store(&interrupts, 0);
    atomic_store(&fake_fails, false);
    err = (struct rig_err){0};
    plan = (struct rig_plan){
        .name = "test",
        .seed = 11,
        .workload = {.type = RIG_WORKLOAD_LIST_APPEND,
                     .transactions = 2000,
                     .min_operations = 1,
                     .max_operations = 4,
                     .reads = 0.5,
                     .active_keys = 5,
                     .appends_per_key = 32},
        .clients = {.count = 8,
                    .backoff_ns = RIG_NS_PER_MS,
                    .max_backoff_ns = 8 * RIG_NS_PER_MS,
                    .stop_grace_ns = 5 * RIG_NS_PER_S},
        .driver = &fake_driver,
    };
    return 0;
}

static inline enum rig_rc run(void)
{
    const struct rig_run_options options = {.interrupts = &interrupts, .folder = "/nonexistent"};
    enum rig_rc rc = rig_run(&plan, &options, &result, &err);
    /* On every way out: all that was begun is undone. */
    assert_int_equal(atomic_load(&fake_inits), atomic_load(&fake_dones));
    assert_int_equal(atomic_load(&fake_setups), atomic_load(&fake_teardowns));
    assert_int_equal(atomic_load(&fake_starts), atomic_load(&fake_stops));
    assert_int_equal(atomic_load(&fake_live), 0);
    assert_int_equal(atomic_load(&fake_opens), atomic_load(&fake_closes));
    struct stat status;
    assert_int_not_equal(stat(fake_work_dir, &status), 0);
    return rc;
}

static inline uint64_t recorded(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < fake_record.channel_count; i++)
        count += fake_record.channels[i].count;
    return count;
}

static inline void assert_ok(enum rig_rc rc)
{
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
}

static inline void interrupt_at_500(uint64_t number)
{
    if (number == 500)
        atomic_fetch_add(&interrupts, 1);
}

/* The result of main(): runs the tests, and checks that nothing was left to undo. */
static inline int run_stage_tests(const char *name, const struct CMUnitTest *tests, size_t count)
{
    char journal[] = "/tmp/rig-test-run-XXXXXX";
    if (mkdtemp(journal) == NULL || setenv("RIG_JOURNAL", journal, 1) != 0)
        return 1;
    int failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    failed += rmdir(journal) == 0 ? 0 : 1;
    fake_recorder_release();
    return failed;
}

#endif
