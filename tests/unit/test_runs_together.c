/* Several runs in one process: at the same time, and one after the other. */
#include "tests/unit/cmocka_first.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "history/model/history.h"
#include "history/source/load.h"
#include "run/load/run.h"
#include "run/load/run_state.h"
#include "tests/history/history_model.h"

enum { RUNS = 2, PATH_BYTES = 128 };

/* The runs differ in every option, so that state shared by mistake shows. */
static const char *const simulated[RUNS] = {
    "name: one\nworkload: {type: list-append, transactions: 3000, final-reads: all}\n"
    "clients: {count: 3}\ndatabase: {driver: sim, isolation: serializable, info-rate: 1%}\n",
    "name: other\nworkload: {type: rw-register, transactions: 2000}\nclients: {count: 5}\n"
    "database: {driver: sim, isolation: read-committed, abort-rate: 20%}\n",
};

struct one_run {
    const char *yaml;
    uint64_t seed;
    struct rig_plan *plan;
    char folder[64];
    atomic_int interrupts;
    struct rig_run_result result;
    enum rig_rc rc;
    struct rig_err err;
    pthread_t thread;
};

static void prepare(struct one_run *one, const char *yaml, uint64_t seed)
{
    memset(one, 0, sizeof *one);
    one->yaml = yaml;
    one->seed = seed;
    (void)snprintf(one->folder, sizeof one->folder, "/tmp/rig-test-together-XXXXXX");
    assert_non_null(mkdtemp(one->folder));
}

/* All of a run's life: the plan is read in its thread, too. */
static void *run(void *argument)
{
    struct one_run *one = argument;
    const struct rig_run_options options = {.interrupts = &one->interrupts, .folder = one->folder};
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/rig.log", one->folder);
    assert_int_equal(rig_log_open(path, &one->err), RIG_OK);
    one->rc = rig_plan_parse(&(struct rig_plan_text){"test", one->yaml, strlen(one->yaml)}, NULL, 0, &one->seed,
                             &one->plan, &one->err);
    if (one->rc == RIG_OK)
        one->rc = rig_run(one->plan, &options, &one->result, &one->err);
    rig_log_close();
    return NULL;
}

static int count_of(const char *text, const char *piece)
{
    int count = 0;
    for (const char *at = strstr(text, piece); at != NULL; at = strstr(at + 1, piece))
        count++;
    return count;
}

/* The log of the run has its own lines, and no other run's. */
static void check_log(const struct one_run *one)
{
    char path[PATH_BYTES], expected[64];
    struct rig_buf text;
    (void)snprintf(path, sizeof path, "%s/rig.log", one->folder);
    (void)snprintf(expected, sizeof expected, " info run: %lld clients against ", (long long)one->plan->clients.count);
    rig_buf_init(&text, 0);
    assert_int_equal(rig_buf_read_file(&text, path, NULL), RIG_OK);
    assert_int_equal(count_of(rig_buf_text(&text), expected), 1);
    assert_int_equal(count_of(rig_buf_text(&text), " clients against "), 1);
    assert_int_equal(count_of(rig_buf_text(&text), "the load has ended"), 1);
    rig_buf_done(&text);
    assert_int_equal(unlink(path), 0);
}

/* Returns the record in the run's folder; removes the folder. */
static struct rig_history *take_history(struct one_run *one)
{
    char path[PATH_BYTES];
    struct rig_history *history = NULL;
    if (one->rc != RIG_OK)
        fail_msg("%s", one->err.text);
    (void)snprintf(path, sizeof path, "%s/history.rig", one->folder);
    const struct rig_load_options options = {.form = RIG_FORM_RIG};
    if (rig_history_load(path, &options, &history, &one->err) != RIG_OK)
        fail_msg("%s", one->err.text);
    assert_int_equal(unlink(path), 0);
    check_log(one);
    assert_int_equal(rmdir(one->folder), 0);
    rig_online_free(one->result.online);
    rig_plan_free(one->plan);
    return history;
}

static struct one_run runs[RUNS];

/* With simulated time a run depends only on its plan and seed: it must be the same alone, after others and beside
 * them. */
static void simulated_runs_are_what_they_are_alone(void **state)
{
    (void)state;
    struct rig_history *alone[RUNS];
    struct rig_run_counters counters[RUNS];
    for (int i = 0; i < RUNS; i++) {
        prepare(&runs[i], simulated[i], 7);
        (void)run(&runs[i]);
        counters[i] = runs[i].result.counters;
        alone[i] = take_history(&runs[i]);
    }
    assert_true(counters[0].info > 0 && counters[1].fail > 100);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RUNS; i++)
            prepare(&runs[i], simulated[i], 7);
        for (int i = 0; i < RUNS; i++)
            assert_int_equal(pthread_create(&runs[i].thread, NULL, run, &runs[i]), 0);
        for (int i = 0; i < RUNS; i++)
            assert_int_equal(pthread_join(runs[i].thread, NULL), 0);
        for (int i = 0; i < RUNS; i++) {
            struct rig_history *together = take_history(&runs[i]);
            assert_memory_equal(&runs[i].result.counters, &counters[i], sizeof counters[i]);
            assert_same_history(together, alone[i]);
            rig_history_free(together);
        }
    }
    for (int i = 0; i < RUNS; i++)
        rig_history_free(alone[i]);
}

static int64_t record_size(const struct one_run *one)
{
    char path[PATH_BYTES];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/history.rig", one->folder);
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

/* Waits until the run has recorded more than so much. */
static void await_record(const struct one_run *one, int64_t size)
{
    const int64_t until_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (record_size(one) <= size) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

/* The user ends one; the other one goes on. */
static void an_interrupt_is_of_one_run(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        prepare(&runs[i],
                "name: endless\nworkload: {type: list-append, duration: 10m, final-reads: none}\n"
                "clients: {count: 2, rate: 2000}\ndatabase: {driver: 'null'}\n",
                1);
        assert_int_equal(pthread_create(&runs[i].thread, NULL, run, &runs[i]), 0);
    }
    for (int i = 0; i < RUNS; i++) {
        await_record(&runs[i], 0);                            /* its head */
        await_record(&runs[i], record_size(&runs[i]) + 3000); /* transactions */
    }
    atomic_fetch_add(&runs[0].interrupts, 1);
    assert_int_equal(pthread_join(runs[0].thread, NULL), 0);
    await_record(&runs[1], record_size(&runs[1]) + 3000);
    atomic_fetch_add(&runs[1].interrupts, 1);
    assert_int_equal(pthread_join(runs[1].thread, NULL), 0);
    for (int i = 0; i < RUNS; i++) {
        rig_history_free(take_history(&runs[i]));
        assert_true(runs[i].result.interrupted);
        assert_true(runs[i].result.counters.ok > 0);
    }
}

/* Each run has services of its own, up to a maximum. */
static void every_run_has_services_of_its_own(void **state)
{
    (void)state;
    static struct rig_run_state states[RIG_RUNS_MOST + 1];
    const struct rig_run_options options = {.folder = "/nonexistent"};
    struct rig_err err = {0};
    for (int i = 0; i < RIG_RUNS_MOST; i++) {
        states[i].options = &options;
        assert_int_equal(rig_run_services_init(&states[i], &err), RIG_OK);
    }
    assert_int_equal(rig_run_services_init(&states[RIG_RUNS_MOST], &err), RIG_E_LIMIT);
    rig_run_services_done(&states[RIG_RUNS_MOST]);
    for (int i = 0; i < RIG_RUNS_MOST; i++) {
        assert_int_equal(states[i].services.core->name("shared"), 0);
        assert_int_equal(states[i].services.core->name(i % 2 == 0 ? "even" : "odd"), 1);
    }
    atomic_store(&states[3].ending.stop, RIG_STOP_END);
    for (int i = 0; i < RIG_RUNS_MOST; i++)
        assert_int_equal(states[i].services.core->stopping(), i == 3);
    rig_run_services_done(&states[5]);
    states[5].options = &options;
    assert_int_equal(rig_run_services_init(&states[5], &err), RIG_OK);
    assert_int_equal(states[5].services.core->name("fresh"), 0);
    for (int i = 0; i < RIG_RUNS_MOST; i++)
        rig_run_services_done(&states[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_runs_are_what_they_are_alone),
        cmocka_unit_test(an_interrupt_is_of_one_run),
        cmocka_unit_test(every_run_has_services_of_its_own),
    };
    char journal[] = "/tmp/rig-test-run-XXXXXX";
    if (mkdtemp(journal) == NULL || setenv("RIG_JOURNAL", journal, 1) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    failed += rmdir(journal) == 0 ? 0 : 1; /* nothing was left to undo */
    return failed;
}
