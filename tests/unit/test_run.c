#include "tests/unit/run_stage.h"

static void the_total_is_issued_exactly(void **state)
{
    (void)state;
    const int64_t totals[] = {1, 7, 8, 100, 2000};
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        (void)prepare(NULL);
        plan.workload.transactions = totals[i];
        assert_ok(run());
        assert_int_equal(result.counters.invoked, totals[i]);
        assert_int_equal(result.counters.ok, totals[i]);
        assert_int_equal(recorded(), totals[i]);
        assert_int_equal(atomic_load(&fake_transactions), (unsigned long long)totals[i]);
        assert_int_equal(rig_histogram_count(&result.latency.intended), totals[i]);
        assert_int_equal(result.final_reads, 0);
        assert_int_equal(fake_closed, 1);
        assert_int_equal(atomic_load(&fake_most_live), 8);
        assert_int_equal(atomic_load(&fake_last_closes), 8);
        assert_false(result.interrupted);
    }
}

/* After an info nothing more happens under the process; after any new session the process is a new one. */
static void processes_are_renewed(void **state)
{
    (void)state;
    plan.clients.count = 4;
    fake.info_every = 10;
    fake.lose_every = 7;
    fake.fail_every = 3;
    assert_ok(run());
    assert_int_equal(recorded(), 2000);
    uint64_t infos = 0, processes = 0;
    for (uint32_t c = 0; c < 4; c++) {
        const struct rig_channel *channel = &fake_record.channels[c];
        for (size_t i = 0; i < channel->count; i++) {
            const struct fake_event *event = &channel->events[i];
            const struct fake_event *before = i == 0 ? NULL : event - 1;
            assert_true(event->complete && event->complete_ns >= event->invoke_ns);
            assert_int_equal(event->process % 4, c);
            infos += event->outcome == RIG_OUTCOME_INFO;
            if (before == NULL || before->process != event->process)
                processes++;
            if (before != NULL && before->outcome == RIG_OUTCOME_INFO)
                assert_int_equal(event->process, before->process + 4);
            if (before != NULL)
                assert_true(event->process == before->process || event->process == before->process + 4);
        }
    }
    assert_int_equal(result.counters.info, infos);
    assert_true(infos == 0 || processes > infos);
    assert_true(result.counters.sessions_lost > 0);
    assert_int_equal(result.counters.sessions_opened,
                     result.counters.sessions_renewed + result.counters.sessions_lost + result.counters.sessions_ended);
    assert_int_equal(result.counters.sessions_opened, (uint64_t)atomic_load(&fake_opens));
    assert_true(result.counters.sessions_opened >= processes);
}

static void errors_are_tabled_redacted_and_printable(void **state)
{
    (void)state;
    rig_secret_register("hunter2secret");
    fake.fail_every = 4;
    fake.info_every = 9;
    assert_ok(run());
    assert_int_equal(result.errors.count, 2);
    assert_string_equal(result.errors.rows[0].code, "40001");
    assert_int_equal(result.errors.rows[0].outcome, RIG_OUTCOME_FAIL);
    assert_string_equal(result.errors.rows[0].text, "as the test wanted?, ***");
    assert_string_equal(result.errors.rows[1].code, "08006");
    assert_int_equal(result.errors.rows[0].count, result.counters.fail);
    assert_int_equal(result.errors.rows[1].count, result.counters.info);
    for (size_t i = 0; i < fake_record.channels[0].count; i++) {
        const struct fake_event *event = &fake_record.channels[0].events[i];
        const char *expected = event->outcome == RIG_OUTCOME_OK     ? ""
                               : event->outcome == RIG_OUTCOME_FAIL ? "40001: as the test wanted?, ***"
                                                                    : "08006: as the test wanted?, ***";
        assert_string_equal(event->error, expected);
    }
    forget_secrets();
}

static void a_duration_ends_the_load(void **state)
{
    (void)state;
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 300 * RIG_NS_PER_MS;
    fake.transact_ns = RIG_NS_PER_MS;
    int64_t start_ns = rig_clock_now_ns();
    assert_ok(run());
    int64_t took_ns = rig_clock_now_ns() - start_ns;
    assert_true(took_ns >= 300 * RIG_NS_PER_MS && took_ns < 100 * RIG_NS_PER_S);
    assert_true(result.load_ns >= 250 * RIG_NS_PER_MS && result.load_ns <= took_ns);
    assert_true(result.counters.invoked > 10);
}

/* 200 transactions at 1000 a second, on 4 clients: each client's are 4 ms apart, clients 1 ms, stalls or not. */
static void a_rate_sets_the_intended_times(void **state)
{
    (void)state;
    plan.clients.count = 4;
    plan.clients.rate = 1000;
    plan.workload.transactions = 200;
    fake.transact_ns = 6 * RIG_NS_PER_MS; /* slower than the schedule: later starts are late */
    assert_ok(run());
    int64_t start_ns = fake_record.channels[0].events[0].intended_ns;
    for (uint32_t c = 0; c < 4; c++) {
        const struct rig_channel *channel = &fake_record.channels[c];
        assert_true(channel->count > 20);
        for (size_t i = 0; i < channel->count; i++) {
            const struct fake_event *event = &channel->events[i];
            assert_int_equal(event->intended_ns - start_ns,
                             (int64_t)i * 4 * RIG_NS_PER_MS + (int64_t)c * RIG_NS_PER_MS);
            assert_true(event->invoke_ns >= event->intended_ns);
        }
    }
    int64_t direct = rig_histogram_max(&result.latency.by_kind[RIG_LATENCY_WRITING]),
            intended = rig_histogram_max(&result.latency.intended);
    assert_true(intended > direct + 50 * RIG_NS_PER_MS);
}

static void a_lost_database_is_retried_until_it_is_back(void **state)
{
    (void)state;
    fake.fail_opens = 20;
    fake.lose_every = 50;
    assert_ok(run());
    assert_int_equal(result.counters.invoked, 2000);
    assert_int_equal(result.counters.reconnect_failures, 20);
    assert_int_equal(result.counters.reconnect_attempts, 20 + result.counters.sessions_opened);
}

static void unreachable_from_the_start_fails_the_run(void **state)
{
    (void)state;
    rig_secret_register("hunter2secret");
    fake.fail_opens = -1;
    fake.cluster = true;
    assert_int_equal(run(), RIG_E_CLUSTER);
    assert_string_equal(err.text, "no client could connect: db1:5432 refused the? connection, password ***");
    assert_int_equal(atomic_load(&fake_transactions), 0);
    assert_int_equal(fake_closed, 1);
    forget_secrets();
}

static void failures_on_the_way_up_are_undone(void **state)
{
    (void)state;
    fake.cluster = true;
    fake.fail_start = true;
    assert_int_equal(run(), RIG_E_CLUSTER);
    assert_string_equal(err.text, "node 1 did not start");
    assert_int_equal(atomic_load(&fake_stops), 1);
    (void)prepare(NULL);
    fake.cluster = true;
    fake.fail_setup = true;
    assert_int_equal(run(), RIG_E_DRIVER);
    assert_int_equal(atomic_load(&fake_teardowns), 1);
    assert_int_equal(atomic_load(&fake_stops), 1);
}

static void a_record_that_cannot_be_written_ends_the_run(void **state)
{
    (void)state;
    atomic_store(&fake_fails, true);
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 60 * RIG_NS_PER_S;
    fake.transact_ns = RIG_NS_PER_MS;
    assert_int_equal(run(), RIG_E_IO);
}

static void a_plan_beyond_the_driver_is_refused(void **state)
{
    (void)state;
    plan.workload.type = RIG_WORKLOAD_RW_REGISTER;
    assert_int_equal(run(), RIG_E_PLAN);
    assert_int_equal(atomic_load(&fake_inits), 0);
}

/* -- long transactions --------------------------------------------------------------------------------------------- */

static void holds_wait_for_time(void **state)
{
    (void)state;
    plan.workload.transactions = 400;
    plan.workload.long_share = 0.05;
    plan.workload.long_duration_ns = 10 * RIG_NS_PER_MS;
    assert_ok(run());
    assert_true(rig_histogram_count(&result.latency.by_kind[RIG_LATENCY_HELD_OPEN]) > 2);
    assert_true(rig_histogram_percentile(&result.latency.by_kind[RIG_LATENCY_HELD_OPEN], 0) >=
                10 * RIG_NS_PER_MS * 255 / 256);
}

/* In the end all clients hold, and none can commit: the run ends all the same. */
static void holds_wait_for_other_commits(void **state)
{
    (void)state;
    plan.workload.transactions = 400;
    plan.workload.long_share = 0.2;
    plan.workload.long_commits = 30;
    assert_ok(run());
    assert_int_equal(result.counters.ok, 400);
    assert_true(rig_histogram_count(&result.latency.by_kind[RIG_LATENCY_HELD_OPEN]) > 20);
}

static void at_most_so_many_are_held_at_a_time(void **state)
{
    (void)state;
    plan.workload.transactions = 2000;
    plan.workload.long_share = 0.5;
    plan.workload.long_duration_ns = 2 * RIG_NS_PER_MS;
    plan.workload.long_most = 2;
    assert_ok(run());
    assert_int_equal(result.counters.ok, 2000);
    assert_int_equal(atomic_load(&fake_most_holding), 2);
    assert_in_range(rig_histogram_count(&result.latency.by_kind[RIG_LATENCY_HELD_OPEN]), 3, 1500);
}

/* -- back-off ------------------------------------------------------------------------------------------------------ */

/* The transactions of two clients within 200 ms, each of which fails. */
static uint64_t failures_with(enum rig_error_class error_class, int fail_every)
{
    (void)prepare(NULL);
    plan.clients.count = 2;
    plan.clients.resources_pause_ns = 4 * RIG_NS_PER_MS;
    plan.clients.max_pause_ns = 16 * RIG_NS_PER_MS;
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 200 * RIG_NS_PER_MS;
    plan.workload.final_reads = RIG_FINAL_NONE;
    fake.transact_ns = RIG_NS_PER_MS / 10;
    fake.error_class = error_class;
    fake.fail_every = fail_every;
    assert_ok(run());
    return result.counters.fail;
}

/* A pause lasts at least half of its length: 2, 4, 8, 8, ... ms at least. */
static void clients_back_off_when_resources_are_short(void **state)
{
    (void)state;
    const uint64_t other = failures_with(RIG_ERROR_OTHER, 1);
    assert_in_range(failures_with(RIG_ERROR_RESOURCES, 1), 2, 2 * (3 + 200 / 8));
    assert_true(failures_with(RIG_ERROR_CONFLICT, 1) > 2 * (3 + 200 / 8)); /* this class has no pause */
    assert_true(other > 2 * (3 + 200 / 8));
}

/* A success begins the row anew: pauses of at least 2 ms. */
static void a_success_ends_the_row_of_failures(void **state)
{
    (void)state;
    assert_in_range(failures_with(RIG_ERROR_RESOURCES, 2), 2, 2 * (1 + 200 / 2));
}

/* -- interrupts and the watchdog ----------------------------------------------------------------------------------- */

static void an_interrupt_ends_the_load(void **state)
{
    (void)state;
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 600 * RIG_NS_PER_S;
    plan.workload.final_reads = RIG_FINAL_ALL;
    plan.workload.appends_per_key = 1000000; /* none leaves the load and is read before its end */
    fake.cluster = true;
    fake.transact_ns = RIG_NS_PER_MS;
    fake.at_transaction = interrupt_at_500;
    assert_ok(run());
    assert_true(result.interrupted);
    assert_true(result.counters.invoked >= 500 && result.counters.invoked < 20000);
    assert_int_equal(result.counters.ok, result.counters.invoked);
    assert_int_equal(result.final_reads, 0);
    assert_int_equal(atomic_load(&fake_interrupts), 0);
    assert_int_equal(fake_closed, 1);
}

static void two_interrupts(uint64_t number)
{
    if (number != 50)
        return;
    atomic_fetch_add(&interrupts, 1);
    assert_true(fake_env->core->stopping());
    atomic_fetch_add(&interrupts, 1);
}

/* Client 0 never answers by itself, and its grace would last an hour. */
static void a_second_interrupt_cuts_the_clients_off(void **state)
{
    (void)state;
    plan.clients.stop_grace_ns = 3600 * RIG_NS_PER_S;
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 600 * RIG_NS_PER_S;
    fake.transact_ns = RIG_NS_PER_MS;
    fake.stuck = true;
    fake.at_transaction = two_interrupts;
    assert_ok(run());
    assert_true(result.interrupted);
    assert_true(atomic_load(&fake_interrupts) > 0);
    assert_int_equal(result.counters.info, 1);
    assert_int_equal(fake_record.channels[0].count, 1);
    assert_string_equal(fake_record.channels[0].events[0].error, "cancelled: as the test wanted?, hunter2secret");
}

static void the_watchdog_interrupts_unfinished_clients(void **state)
{
    (void)state;
    plan.clients.stop_grace_ns = 200 * RIG_NS_PER_MS;
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 200 * RIG_NS_PER_MS;
    fake.transact_ns = RIG_NS_PER_MS;
    fake.stuck = true;
    int64_t start_ns = rig_clock_now_ns();
    assert_ok(run());
    assert_true(rig_clock_now_ns() - start_ns >= 400 * RIG_NS_PER_MS);
    assert_false(result.interrupted);
    assert_int_equal(result.counters.info, 1);
}

/* All transactions are issued and there is no duration: the last client must not delay the end for ever. */
static void the_watchdog_also_guards_a_total(void **state)
{
    (void)state;
    plan.clients.stop_grace_ns = 200 * RIG_NS_PER_MS;
    plan.workload.transactions = 300;
    fake.transact_ns = RIG_NS_PER_MS;
    fake.stuck = true;
    assert_ok(run());
    assert_true(result.counters.info >= 1);
    assert_int_equal(result.counters.invoked, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_total_is_issued_exactly, prepare),
        cmocka_unit_test_setup(processes_are_renewed, prepare),
        cmocka_unit_test_setup(errors_are_tabled_redacted_and_printable, prepare),
        cmocka_unit_test_setup(a_duration_ends_the_load, prepare),
        cmocka_unit_test_setup(a_rate_sets_the_intended_times, prepare),
        cmocka_unit_test_setup(a_lost_database_is_retried_until_it_is_back, prepare),
        cmocka_unit_test_setup(unreachable_from_the_start_fails_the_run, prepare),
        cmocka_unit_test_setup(failures_on_the_way_up_are_undone, prepare),
        cmocka_unit_test_setup(a_record_that_cannot_be_written_ends_the_run, prepare),
        cmocka_unit_test_setup(a_plan_beyond_the_driver_is_refused, prepare),
        cmocka_unit_test_setup(holds_wait_for_time, prepare),
        cmocka_unit_test_setup(holds_wait_for_other_commits, prepare),
        cmocka_unit_test_setup(at_most_so_many_are_held_at_a_time, prepare),
        cmocka_unit_test_setup(clients_back_off_when_resources_are_short, prepare),
        cmocka_unit_test_setup(a_success_ends_the_row_of_failures, prepare),
        cmocka_unit_test_setup(an_interrupt_ends_the_load, prepare),
        cmocka_unit_test_setup(a_second_interrupt_cuts_the_clients_off, prepare),
        cmocka_unit_test_setup(the_watchdog_interrupts_unfinished_clients, prepare),
        cmocka_unit_test_setup(the_watchdog_also_guards_a_total, prepare),
    };
    return run_stage_tests("run", tests, sizeof tests / sizeof *tests);
}
