#include "tests/unit/run_stage.h"

/* Phases by count, by time and by both, with other numbers of clients and another rate. */
static void phases_come_one_after_the_other(void **state)
{
    (void)state;
    struct rig_plan_phase phases[3];
    for (uint32_t i = 0; i < 3; i++)
        phases[i] = (struct rig_plan_phase){.name = "abc", .workload = plan.workload, .clients = plan.clients};
    phases[0].workload.transactions = 333;
    phases[1].workload.transactions = 0;
    phases[1].workload.duration_ns = 200 * RIG_NS_PER_MS;
    phases[1].clients.count = 2;
    phases[1].clients.rate = 100;
    phases[2].workload.transactions = 100;
    phases[2].workload.duration_ns = 600 * RIG_NS_PER_S;
    phases[2].clients.count = 8;
    plan.phases = phases;
    plan.phase_count = 3;
    fake.transact_ns = RIG_NS_PER_MS;
    assert_ok(run());
    uint64_t counts[3] = {0};
    int64_t ends_ns[3] = {0}, starts_ns[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    for (uint32_t c = 0; c < 8; c++) {
        const struct rig_channel *channel = &fake_record.channels[c];
        int64_t phase = 0;
        for (size_t i = 0; i < channel->count; i++) {
            const struct fake_event *event = &channel->events[i];
            assert_true(event->ops[0].key % 3 >= phase); /* a client never goes back */
            phase = event->ops[0].key % 3;
            for (uint32_t k = 1; k < event->op_count; k++)
                assert_int_equal(event->ops[k].key % 3, phase);
            counts[phase]++;
            starts_ns[phase] = event->invoke_ns < starts_ns[phase] ? event->invoke_ns : starts_ns[phase];
            ends_ns[phase] = event->complete_ns > ends_ns[phase] ? event->complete_ns : ends_ns[phase];
            assert_true(phase != 1 || c < 2);
        }
        if (c < 2)
            assert_int_equal(phase, 2); /* those of the second phase are there for the third one */
    }
    assert_int_equal(counts[0], 333);
    assert_in_range(counts[1], 15, 21);
    assert_int_equal(counts[2], 100);
    assert_true(starts_ns[2] - starts_ns[1] >= 190 * RIG_NS_PER_MS);
    assert_true(starts_ns[1] >= starts_ns[0] && starts_ns[2] >= ends_ns[0]);
    assert_true(result.effort.known && result.effort.load == 1);
}

enum { CLIENTS = 8, GATED_PHASE = 1000, LOOKS = 4000 };
static atomic_int opens_of[CLIENTS];

static bool others_are_in_second_phase(void)
{
    bool all = true;
    for (uint32_t i = 1; i < CLIENTS; i++)
        all &= atomic_load(&fake_appended[i]) % 2 == 1;
    return all;
}

static void wait_a_little(void)
{
    rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
}

/* The second session of client 0 opens when the others have closed the keys of the first phase, and their second ones
 * not before it asks. */
static void open_late(uint32_t client)
{
    if (atomic_fetch_add(&opens_of[client], 1) != 1)
        return;
    while (client == 0 ? !others_are_in_second_phase() : atomic_load(&opens_of[0]) < 2)
        wait_a_little();
    const uint64_t then = atomic_load(&fake_transactions);
    while (client == 0 && atomic_load(&fake_transactions) < then + LOOKS)
        wait_a_little();
}

/*
 * A client loses its session in the first phase, with transactions that it has claimed, and comes back when all others
 * have left that phase and have closed its keys: it drops them and goes on to the later phase.
 */
static void a_client_comes_back_in_a_later_phase(void **state)
{
    (void)state;
    struct rig_plan_phase phases[2];
    plan.workload.final_reads = RIG_FINAL_CLOSING;
    for (uint32_t i = 0; i < 2; i++) {
        phases[i] = (struct rig_plan_phase){.name = "abc", .workload = plan.workload, .clients = plan.clients};
        phases[i].workload.transactions = i == 0 ? GATED_PHASE : 10 * GATED_PHASE;
        phases[i].workload.appends_per_key = 4;
    }
    plan.phases = phases;
    plan.phase_count = 2;
    fake.info_every = 3;
    for (uint32_t i = 0; i < CLIENTS; i++)
        atomic_store(&opens_of[i], 0);
    fake.transact_ns = 50 * RIG_NS_PER_US; /* every client has its turn */
    fake.at_open = open_late;
    assert_ok(run());
    assert_true(result.effort.load == 1);
    const struct rig_channel *late = &fake_record.channels[0];
    assert_true(late->count > 3);
    for (size_t i = 0; i < late->count; i++) {
        const struct fake_event *event = &late->events[i];
        for (uint32_t k = 0; k < event->op_count; k++)
            assert_true(event->ops[k].kind != RIG_OP_APPEND || event->ops[k].key % 2 == (i < 3 ? 0 : 1));
    }
}

/* Clients beyond the number of the last phase end with the one before it, and wait for nothing. */
static void a_last_phase_has_fewer_clients(void **state)
{
    (void)state;
    struct rig_plan_phase phases[2];
    for (uint32_t i = 0; i < 2; i++) {
        phases[i] = (struct rig_plan_phase){.name = "abc", .workload = plan.workload, .clients = plan.clients};
        phases[i].workload.transactions = 100;
    }
    phases[1].clients.count = 2;
    plan.phases = phases;
    plan.phase_count = 2;
    assert_ok(run());
    assert_int_equal(recorded(), 200);
    assert_true(result.effort.load == 1);
    for (uint32_t c = 2; c < 8; c++) {
        const struct rig_channel *channel = &fake_record.channels[c];
        for (size_t i = 0; i < channel->count; i++)
            assert_int_equal(channel->events[i].ops[0].key % 2, 0);
    }
}

/* An end before the last phase leaves a share of the load. */
static void an_end_in_a_phase_is_a_share(void **state)
{
    (void)state;
    struct rig_plan_phase phases[4];
    for (uint32_t i = 0; i < 4; i++)
        phases[i] = (struct rig_plan_phase){.name = "abc", .workload = plan.workload, .clients = plan.clients};
    phases[0].workload.transactions = 100;
    phases[1].workload.transactions = 0;
    phases[1].workload.duration_ns = 600 * RIG_NS_PER_S;
    plan.phases = phases;
    plan.phase_count = 4;
    fake.transact_ns = RIG_NS_PER_MS;
    fake.at_transaction = interrupt_at_500;
    assert_ok(run());
    assert_true(result.interrupted);
    assert_true(result.effort.load >= 0.25 && result.effort.load < 0.26);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(phases_come_one_after_the_other, prepare),
        cmocka_unit_test_setup(a_client_comes_back_in_a_later_phase, prepare),
        cmocka_unit_test_setup(a_last_phase_has_fewer_clients, prepare),
        cmocka_unit_test_setup(an_end_in_a_phase_is_a_share, prepare),
    };
    return run_stage_tests("run_phases", tests, sizeof tests / sizeof *tests);
}
