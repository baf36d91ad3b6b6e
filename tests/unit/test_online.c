/*
 * The check during a run, between a record and a checker that the test simulates.
 */
#include "tests/unit/cmocka_first.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "checker/judge/stream/stream.h"
#include "history/types/row_names.h"
#include "history/source/source.h"
#include "run/load/online.h"

/* -- the record: a source in place of history/source/source.c
 * ------------------------------------------------------------- */

enum { TXNS = 100 }; /* of each stretch */

struct rig_source {
    int given;
    bool settled;
};

static struct rig_source record;
static atomic_int written; /* stretches that the record holds */
static atomic_int breaks_at;
static bool held_back;                             /* nothing can be read before the record is complete */
static struct rig_source_facts facts, early_facts; /* early_facts: before the record is settled */
static struct rig_segment stretch;

enum rig_rc rig_source_open(const char *path, const struct rig_source_options *options, struct rig_source **source,
                            struct rig_err *err)
{
    assert_true(options->follow);
    if (strcmp(path, "nowhere") == 0)
        return rig_fail(err, RIG_E_IO, "nowhere: no such file");
    record = (struct rig_source){0};
    *source = &record;
    return RIG_OK;
}

enum rig_rc rig_source_next(struct rig_source *source, const struct rig_segment **segment, struct rig_err *err)
{
    *segment = NULL;
    if (source->given == atomic_load(&breaks_at))
        return rig_fail(err, RIG_E_LIMIT, "the record is too large");
    if (source->given < atomic_load(&written) && (source->settled || !held_back)) {
        source->given++;
        *segment = &stretch;
    }
    return RIG_OK;
}

void rig_source_settle(struct rig_source *source)
{
    assert_false(source->settled);
    source->settled = true;
}

double rig_source_share(const struct rig_source *source)
{
    return source->settled ? 1 : 0.5;
}

const struct rig_source_facts *rig_source_facts(const struct rig_source *source)
{
    return source->settled ? &facts : &early_facts;
}

void rig_source_close(struct rig_source *source)
{
    if (source != NULL)
        assert_ptr_equal(source, &record);
}

/* -- the checker: in place of checker/judge/stream/stream.c -- */

struct rig_stream {
    int fed;
    uint32_t idle;
};

static struct rig_stream checker;
static struct rig_verdict the_verdict;
static atomic_int fed_in_all; /* by any thread */
static int conflict_at, finishes, finish_fails, verdicts_freed;
static uint32_t conflict_idle; /* at this idle threshold or below */
static pthread_t caller;
static atomic_int fed_by_caller;

enum rig_rc rig_stream_begin(enum rig_workload workload, const struct rig_stream_options *options,
                             struct rig_stream **windows, struct rig_err *error)
{
    (void)error;
    assert_int_equal(workload, RIG_WORKLOAD_LIST_APPEND);
    assert_int_equal(options->check.max_witnesses, 5);
    assert_non_null(options->row_names);
    assert_ptr_equal(options->row_names, rig_row_names_of(early_facts.meta));
    checker = (struct rig_stream){.idle = options->idle};
    *windows = &checker;
    return RIG_OK;
}

const char *rig_stream_conflict(const struct rig_stream *windows)
{
    return windows->fed == conflict_at && windows->idle <= conflict_idle ? "key 7 came back" : NULL;
}

enum rig_rc rig_stream_feed(struct rig_stream *windows, const struct rig_segment *segment, struct rig_err *err)
{
    (void)err;
    assert_ptr_equal(segment, &stretch);
    windows->fed++;
    atomic_fetch_add(&fed_in_all, 1);
    if (pthread_equal(pthread_self(), caller))
        atomic_fetch_add(&fed_by_caller, 1);
    return RIG_OK;
}

/* From the third segment on each adds a G2-item, from the fifth on also a lost update. */
enum rig_rc rig_stream_interim(struct rig_stream *windows, struct rig_stream_interim *interim, struct rig_err *error)
{
    (void)error;
    *interim = (struct rig_stream_interim){.txn_count = (uint64_t)windows->fed * TXNS};
    interim->count[RIG_ANOMALY_G2_ITEM] = windows->fed < 3 ? 0 : (uint64_t)windows->fed - 2;
    interim->count[RIG_ANOMALY_LOST_UPDATE] = windows->fed < 5 ? 0 : 1;
    if (windows->fed >= 3)
        interim->refuted = interim->refutes[RIG_ANOMALY_G2_ITEM] = rig_level_info(RIG_LEVEL_REPEATABLE_READ)->above;
    return RIG_OK;
}

enum rig_rc rig_stream_finish(struct rig_stream *windows, const struct rig_source_facts *known,
                              struct rig_verdict **verdict, struct rig_err *err)
{
    assert_ptr_equal(windows, &checker);
    assert_ptr_equal(known, &facts);
    finishes++;
    if (finish_fails)
        return rig_fail(err, RIG_E_LIMIT, "a key came back");
    *verdict = &the_verdict;
    return RIG_OK;
}

void rig_stream_free(struct rig_stream *windows)
{
    if (windows != NULL)
        assert_ptr_equal(windows, &checker);
}

void rig_verdict_free(struct rig_verdict *verdict)
{
    verdicts_freed += verdict != NULL;
}

/* -- tests --------------------------------------------------------------------------------------------------------- */

static struct rig_check_section section;
static struct rig_online *online;
static struct rig_err err;

static int prepare(void **state)
{
    (void)state;
    atomic_store(&written, 0);
    atomic_store(&breaks_at, -1);
    atomic_store(&fed_in_all, 0);
    atomic_store(&fed_by_caller, 0);
    conflict_at = -1;
    held_back = false;
    conflict_idle = UINT32_MAX;
    finishes = finish_fails = verdicts_freed = 0;
    caller = pthread_self();
    stretch.txns.count = TXNS;
    early_facts = (struct rig_source_facts){.meta = "# rows: 4 warehouse:14\n"};
    section = (struct rig_check_section){.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE), .max_witnesses = 5};
    err = (struct rig_err){0};
    online = NULL;
    return 0;
}

static void start(void)
{
    const struct rig_online_options options = {
        .path = "record", .workload = RIG_WORKLOAD_LIST_APPEND, .check = &section};
    assert_int_equal(rig_online_start(&options, &online, &err), RIG_OK);
}

static void wait_for_checked(uint64_t transactions)
{
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (rig_online_checked(online) < transactions) {
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("%llu transactions were checked", (unsigned long long)rig_online_checked(online));
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

static void wait_for_found(enum rig_anomaly anomaly, uint64_t count)
{
    uint64_t found[RIG_ANOMALY_COUNT];
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    do {
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("%s was not found", rig_anomaly_info(anomaly)->name);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
        rig_online_found(online, found);
    } while (found[anomaly] < count);
}

static void written_segments_are_checked_soon(void **state)
{
    (void)state;
    uint64_t found[RIG_ANOMALY_COUNT];
    enum rig_anomaly first;
    start();
    assert_false(rig_online_forbidden(online, &first));
    for (int stretches = 1; stretches <= 4; stretches++) {
        atomic_store(&written, stretches);
        wait_for_checked((uint64_t)stretches * TXNS);
    }
    wait_for_found(RIG_ANOMALY_G2_ITEM, 2);
    rig_online_found(online, found);
    assert_int_equal(found[RIG_ANOMALY_LOST_UPDATE], 0);
    assert_true(rig_online_forbidden(online, &first));
    assert_int_equal(first, RIG_ANOMALY_G2_ITEM);
    rig_online_settle(online);
    assert_ptr_equal(rig_online_finish(online, NULL), &the_verdict);
    rig_online_free(online);
    assert_int_equal(verdicts_freed, 1);
    assert_int_equal(finishes, 1);
}

static void keep(void *context, const struct rig_check_progress *progress)
{
    struct rig_check_progress *last = context;
    assert_true(progress->txn_count >= last->txn_count);
    *last = *progress;
}

/* Every segment is checked: by the thread while the run lasts, by the caller after that. */
static void the_rest_is_checked_at_the_end(void **state)
{
    (void)state;
    start();
    atomic_store(&written, 2000);
    rig_online_settle(online);
    struct rig_check_progress last = {0};
    const struct rig_check_watch watch = {.tell = keep, .context = &last};
    assert_ptr_equal(rig_online_finish(online, &watch), &the_verdict);
    assert_true(last.is_read);
    assert_int_equal(last.txn_count, 2000 * TXNS);
    assert_int_equal(rig_online_checked(online), 2000 * TXNS);
    assert_int_equal(atomic_load(&fed_in_all), 2000);
    assert_true(atomic_load(&fed_by_caller) <= 2000);
    rig_online_free(online);
}

static void only_requested_levels_forbid(void **state)
{
    (void)state;
    enum rig_anomaly first;
    section.levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED);
    start();
    atomic_store(&written, 10);
    wait_for_found(RIG_ANOMALY_LOST_UPDATE, 1);
    rig_online_settle(online);
    assert_non_null(rig_online_finish(online, NULL));
    assert_false(rig_online_forbidden(online, &first));
    rig_online_free(online);
    (void)prepare(NULL);
    section.levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED);
    section.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_LOST_UPDATE);
    start();
    atomic_store(&written, 10);
    wait_for_found(RIG_ANOMALY_LOST_UPDATE, 1);
    rig_online_settle(online);
    assert_non_null(rig_online_finish(online, NULL));
    assert_true(rig_online_forbidden(online, &first));
    assert_int_equal(first, RIG_ANOMALY_LOST_UPDATE);
    rig_online_free(online);
}

static void a_check_that_cannot_go_on_gives_no_verdict(void **state)
{
    (void)state;
    start();
    atomic_store(&breaks_at, 2);
    atomic_store(&written, 5);
    rig_online_settle(online);
    assert_null(rig_online_finish(online, NULL));
    assert_false(rig_online_is_on(online));
    assert_int_equal(finishes, 0);
    rig_online_free(online);
    (void)prepare(NULL);
    conflict_at = 3;
    held_back = true;
    atomic_store(&written, 5);
    start();
    rig_online_settle(online);
    assert_null(rig_online_finish(online, NULL));
    assert_int_equal(atomic_load(&fed_in_all), 3); /* the load has ended: it does not start over */
    rig_online_free(online);
    (void)prepare(NULL);
    finish_fails = 1;
    start();
    rig_online_settle(online);
    assert_null(rig_online_finish(online, NULL));
    assert_int_equal(finishes, 1);
    rig_online_free(online);
    assert_int_equal(verdicts_freed, 0);
}

static void wait_until_given_up(void)
{
    int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (rig_online_is_on(online)) {
        if (rig_clock_now_ns() > deadline_ns)
            fail_msg("the check goes on");
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

static void a_conflict_makes_it_start_over(void **state)
{
    (void)state;
    conflict_at = 3;
    conflict_idle = RIG_WINDOWS_IDLE;
    start();
    atomic_store(&written, 5);
    wait_for_checked(5 * TXNS);
    assert_true(rig_online_is_on(online));
    assert_int_equal(atomic_load(&fed_in_all), 3 + 5);
    rig_online_settle(online);
    struct rig_verdict *verdict = rig_online_finish(online, NULL);
    assert_non_null(verdict);
    assert_int_equal(verdict->cost.pass_count, 2);
    rig_online_free(online);
    (void)prepare(NULL);
    conflict_at = 3; /* at any idle threshold */
    start();
    atomic_store(&written, 5);
    wait_until_given_up();
    assert_int_equal(atomic_load(&fed_in_all), 3 + 3 + 3);
    rig_online_settle(online);
    assert_null(rig_online_finish(online, NULL));
    rig_online_free(online);
}

static void it_can_be_stopped_at_any_time(void **state)
{
    (void)state;
    start();
    rig_online_free(online);
    start();
    atomic_store(&written, 3);
    wait_for_checked(TXNS);
    rig_online_free(online);
    rig_online_free(NULL);
    assert_int_equal(finishes, 0);
    const struct rig_online_options options = {
        .path = "nowhere", .workload = RIG_WORKLOAD_LIST_APPEND, .check = &section};
    assert_int_equal(rig_online_start(&options, &online, &err), RIG_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(written_segments_are_checked_soon, prepare),
        cmocka_unit_test_setup(the_rest_is_checked_at_the_end, prepare),
        cmocka_unit_test_setup(only_requested_levels_forbid, prepare),
        cmocka_unit_test_setup(a_check_that_cannot_go_on_gives_no_verdict, prepare),
        cmocka_unit_test_setup(a_conflict_makes_it_start_over, prepare),
        cmocka_unit_test_setup(it_can_be_stopped_at_any_time, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
