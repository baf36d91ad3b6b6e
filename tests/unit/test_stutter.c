/*
 * Perturbed scheduling of real processes, which spin or sleep. The tests look at their state and scheduling while it
 * lasts, after its end, and after the process that had started it was killed.
 */
#include "tests/unit/cmocka_first.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "nemesis/stutter.h"

enum { WORKERS = 4 };
static const int64_t patience_ns = 100 * RIG_NS_PER_S;

struct workers {
    struct rig_process at[WORKERS];
    struct rig_stutter_normal normal[WORKERS];
    uint32_t slots[WORKERS];
};

static struct workers workers;
static struct rig_stutter stutter;

static pid_t start_worker(bool spins)
{
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        volatile uint64_t turns = 0;
        for (;;) {
            if (spins)
                turns++;
            else
                (void)pause();
        }
    }
    return pid;
}

static void start_workers(bool spin)
{
    for (int i = 0; i < WORKERS; i++) {
        assert_true(rig_process_find(start_worker(spin), &workers.at[i]));
        assert_true(rig_stutter_look(workers.at[i].pid, &workers.normal[i]));
    }
}

static void await_sleep(void)
{
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    for (int i = 0; i < WORKERS; i++) {
        while (rig_process_state(&workers.at[i]) != 'S') {
            assert_true(rig_clock_now_ns() < until_ns);
            rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
        }
    }
}

static void end_workers(void)
{
    for (int i = 0; i < WORKERS; i++) {
        if (workers.at[i].pid == 0)
            continue;
        (void)kill(workers.at[i].pid, SIGKILL);
        (void)waitpid(workers.at[i].pid, NULL, 0);
    }
    workers = (struct workers){.slots = {0}};
}

static int tear_down(void **state)
{
    (void)state;
    (void)rig_stutter_end(&stutter);
    rig_stutter_done(&stutter);
    end_workers();
    return 0;
}

static struct rig_stutter_orders default_orders(void)
{
    return (struct rig_stutter_orders){
        .gap = {.least_ns = 100 * RIG_NS_PER_US, .most_ns = 200 * RIG_NS_PER_US},
        .stop = {.least_ns = 100 * RIG_NS_PER_US, .most_ns = 1500 * RIG_NS_PER_US},
        .redraw = {.least_ns = 200 * RIG_NS_PER_US, .most_ns = 400 * RIG_NS_PER_US},
        .share = 0.5,
        .priorities = RIG_STUTTER_OFF,
        .seed = 7,
    };
}

static void begin(const struct rig_stutter_orders *orders)
{
    const cpu_set_t anywhere = {{0}};
    struct rig_err err = {0};
    assert_int_equal(rig_stutter_start(&stutter, orders, &anywhere, &err), RIG_OK);
    for (int i = 0; i < WORKERS; i++) {
        workers.slots[i] = rig_stutter_offer(&stutter, &workers.at[i], &workers.normal[i]);
        assert_true(workers.slots[i] < RIG_STUTTER_MOST);
    }
}

static void await_count(const _Atomic uint64_t *count, uint64_t least)
{
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    while (atomic_load(count) < least) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

static void assert_normal(void)
{
    for (int i = 0; i < WORKERS; i++) {
        struct rig_stutter_normal now;
        assert_true(rig_stutter_look(workers.at[i].pid, &now));
        assert_int_not_equal(rig_process_state(&workers.at[i]), 'T');
        assert_int_equal(now.policy, workers.normal[i].policy);
        assert_int_equal(now.priority, workers.normal[i].priority);
        assert_int_equal(now.nice, workers.normal[i].nice);
        assert_true(CPU_EQUAL(&now.cpus, &workers.normal[i].cpus));
    }
}

/* -- stops --------------------------------------------------------------------------------------------------------- */

static void processes_are_stopped_and_go_on(void **state)
{
    (void)state;
    const struct rig_stutter_orders orders = default_orders();
    start_workers(false);
    begin(&orders);
    await_count(&stutter.table->seen_stopped, 3);
    await_count(&stutter.table->stops, 100);
    assert_true(rig_stutter_end(&stutter));
    assert_true(atomic_load(&stutter.table->held_ns) >= 100 * (uint64_t)orders.stop.least_ns / 2);
    assert_normal();
}

static void sleeping_processes_are_left_alone_unless_all_are_meant(void **state)
{
    (void)state;
    struct rig_stutter_orders orders = default_orders();
    orders.running_only = true;
    start_workers(false);
    await_sleep();
    begin(&orders);
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_MS);
    assert_int_equal(atomic_load(&stutter.table->stops), 0); /* all of them sleep */
    const pid_t spinning = start_worker(true);
    struct rig_process process;
    assert_true(rig_process_find(spinning, &process));
    assert_true(rig_stutter_offer(&stutter, &process, &workers.normal[0]) < RIG_STUTTER_MOST);
    await_count(&stutter.table->seen_stopped, 2);
    assert_true(rig_stutter_end(&stutter));
    (void)kill(spinning, SIGKILL);
    (void)waitpid(spinning, NULL, 0);
}

/* A process that another program stopped stays stopped. */
static void a_stopped_process_is_not_resumed(void **state)
{
    (void)state;
    const struct rig_stutter_orders orders = default_orders();
    start_workers(false);
    assert_true(rig_process_signal(&workers.at[2], SIGSTOP));
    assert_true(rig_process_await_state(&workers.at[2], true, patience_ns));
    begin(&orders);
    await_count(&stutter.table->stops, 200);
    assert_int_equal(rig_process_state(&workers.at[2]), 'T');
    assert_true(rig_stutter_end(&stutter));
    assert_int_equal(rig_process_state(&workers.at[2]), 'T');
}

static int count_stopped(void)
{
    int stopped = 0;
    for (int i = 0; i < WORKERS; i++)
        stopped += rig_process_state(&workers.at[i]) == 'T' ? 1 : 0;
    return stopped;
}

/* A process stops when it is scheduled next. */
static void await_stopped(int wanted)
{
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    while (count_stopped() != wanted)
        assert_true(rig_clock_now_ns() < until_ns);
}

/* No stop ends during the test: those that are begun add up. */
static void at_most_a_share_is_stopped_at_a_time(void **state)
{
    (void)state;
    struct rig_stutter_orders orders = default_orders();
    orders.stop = (struct rig_stutter_range){.least_ns = 1000 * RIG_NS_PER_S, .most_ns = 1000 * RIG_NS_PER_S};
    start_workers(false);
    begin(&orders);
    await_stopped(WORKERS / 2);
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 20 * RIG_NS_PER_MS); /* 100 gaps */
    assert_int_equal(atomic_load(&stutter.table->stops), WORKERS / 2);
    assert_true(rig_stutter_end(&stutter));
    assert_normal();
}

static void an_ended_process_makes_room(void **state)
{
    (void)state;
    const struct rig_stutter_orders orders = default_orders();
    start_workers(false);
    begin(&orders);
    await_count(&stutter.table->stops, 10);
    (void)kill(workers.at[0].pid, SIGKILL);
    (void)waitpid(workers.at[0].pid, NULL, 0);
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    assert_true(rig_stutter_leave(&stutter, workers.slots[0]));
    assert_true(rig_process_find(start_worker(false), &workers.at[0]));
    while (atomic_load(&stutter.table->slots[workers.slots[0]].state) != RIG_STUTTER_FREE)
        assert_true(rig_clock_now_ns() < until_ns);
    assert_int_equal(rig_stutter_offer(&stutter, &workers.at[0], &workers.normal[1]), workers.slots[0]);
    while (atomic_load(&stutter.table->slots[workers.slots[0]].state) != RIG_STUTTER_TAKEN)
        assert_true(rig_clock_now_ns() < until_ns);
    assert_true(rig_stutter_end(&stutter));
}

/* The number alone is not enough: it may belong to another process. */
static void a_process_with_another_start_is_not_taken(void **state)
{
    (void)state;
    const struct rig_stutter_orders orders = default_orders();
    start_workers(false);
    for (int i = 0; i < WORKERS; i++)
        workers.at[i].started++;
    begin(&orders);
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    for (int i = 0; i < WORKERS; i++) {
        while (atomic_load(&stutter.table->slots[workers.slots[i]].state) == RIG_STUTTER_OFFERED)
            assert_true(rig_clock_now_ns() < until_ns);
        assert_int_equal(atomic_load(&stutter.table->slots[workers.slots[i]].state), RIG_STUTTER_GONE);
        workers.at[i].started--;
    }
    assert_true(rig_stutter_end(&stutter));
    assert_int_equal(atomic_load(&stutter.table->stops), 0);
}

/* -- priorities and processors ------------------------------------------------------------------------------------- */

static cpu_set_t share_a_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &workers.normal[0].cpus))
            CPU_SET(cpu, &one);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_true(rig_stutter_pin(workers.at[i].pid, &one));
    return one;
}

static void check_priorities(enum rig_stutter_priorities priorities)
{
    struct rig_stutter_orders orders = default_orders();
    if (!rig_stutter_may(priorities))
        skip();
    orders.share = 0;
    orders.priorities = priorities;
    start_workers(false);
    begin(&orders);
    await_count(&stutter.table->seen_set, 3);
    await_count(&stutter.table->priorities, 100);
    assert_int_equal(atomic_load(&stutter.table->stops), 0);
    assert_true(rig_stutter_end(&stutter));
    assert_normal();
}

static void real_time_priorities_are_drawn_and_taken_back(void **state)
{
    (void)state;
    check_priorities(RIG_STUTTER_FIFO);
}

static void nice_values_are_drawn_and_taken_back(void **state)
{
    (void)state;
    check_priorities(RIG_STUTTER_NICE);
}

/* Four spinning processes on one processor: a round gives them 3 to 6, and its two change points 2 and 1. */
static void rounds_of_pct_give_each_process_a_priority_of_its_own(void **state)
{
    (void)state;
    struct rig_stutter_orders orders = default_orders();
    struct rig_stutter_normal now[WORKERS];
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    bool whole = false, lowered[3] = {false};
    if (!rig_stutter_may(RIG_STUTTER_PCT))
        skip();
    orders.share = 0;
    orders.priorities = RIG_STUTTER_PCT;
    orders.depth = 3;
    orders.round_ns = 40 * RIG_NS_PER_MS;
    orders.step_ns = RIG_NS_PER_MS;
    start_workers(true);
    share_a_processor();
    begin(&orders);
    await_count(&stutter.table->rounds, 5);
    while (!whole || !lowered[1] || !lowered[2]) {
        assert_true(rig_clock_now_ns() < until_ns);
        uint32_t given = 0;
        for (int i = 0; i < WORKERS; i++) {
            assert_true(rig_stutter_look(workers.at[i].pid, &now[i]));
            assert_in_range(now[i].priority, 1, 6);
            given |= UINT32_C(1) << now[i].priority;
        }
        whole |= given == (UINT32_C(1) << 3 | UINT32_C(1) << 4 | UINT32_C(1) << 5 | UINT32_C(1) << 6);
        lowered[1] |= (given & UINT32_C(1) << 1) != 0;
        lowered[2] |= (given & UINT32_C(1) << 2) != 0;
    }
    assert_int_equal(atomic_load(&stutter.table->most_in_round), WORKERS);
    assert_true(rig_stutter_end(&stutter));
    /* Each round has its two changes, as there is always a process that runs. */
    const uint64_t rounds = atomic_load(&stutter.table->rounds), changes = atomic_load(&stutter.table->changes_made);
    assert_true(changes <= 2 * rounds && changes + 2 >= 2 * rounds);
    for (int i = 0; i < WORKERS; i++)
        assert_true(rig_stutter_restore(&workers.at[i], &workers.normal[i]));
    assert_normal();
}

static void the_bound_is_that_of_the_theorem(void **state)
{
    (void)state;
    assert_true(rig_stutter_chance(4, 10, 1) == 0.25);
    assert_true(rig_stutter_chance(5, 10, 3) > 0.00199 && rig_stutter_chance(5, 10, 3) < 0.00201);
}

static void a_process_shares_a_processor_and_gets_the_others_back(void **state)
{
    (void)state;
    struct rig_stutter_normal now;
    start_workers(false);
    const cpu_set_t one = share_a_processor();
    assert_true(rig_stutter_look(workers.at[0].pid, &now));
    assert_true(CPU_EQUAL(&now.cpus, &one));
    for (int i = 0; i < WORKERS; i++)
        assert_true(rig_stutter_restore(&workers.at[i], &workers.normal[i]));
    assert_normal();
}

/* -- endings ------------------------------------------------------------------------------------------------------- */

static void rig_restores_what_a_killed_helper_left(void **state)
{
    (void)state;
    struct rig_stutter_orders orders = default_orders();
    orders.stop = (struct rig_stutter_range){.least_ns = 1000 * RIG_NS_PER_S, .most_ns = 1000 * RIG_NS_PER_S};
    orders.priorities = rig_stutter_best();
    start_workers(false);
    begin(&orders);
    await_count(&stutter.table->stops, 2);
    assert_true(rig_stutter_lives(&stutter));
    assert_int_equal(kill(stutter.helper, SIGKILL), 0);
    const int64_t until_ns = rig_clock_now_ns() + patience_ns;
    while (rig_stutter_lives(&stutter))
        assert_true(rig_clock_now_ns() < until_ns);
    await_stopped(2);
    assert_false(rig_stutter_end(&stutter));
    for (int i = 0; i < WORKERS; i++)
        assert_true(rig_stutter_restore(&workers.at[i], &workers.normal[i]));
    assert_normal();
}

/* A process that starts the helper and is killed: the helper restores the workers by itself. */
static void the_helper_restores_everything_when_rig_is_killed(void **state)
{
    (void)state;
    struct rig_stutter_orders orders = default_orders();
    orders.stop = (struct rig_stutter_range){.least_ns = 1000 * RIG_NS_PER_S, .most_ns = 1000 * RIG_NS_PER_S};
    orders.priorities = rig_stutter_best();
    start_workers(false);
    _Atomic uint64_t *stops = mmap(NULL, sizeof *stops, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true((void *)stops != MAP_FAILED);
    const pid_t rig = fork();
    if (rig == 0) {
        begin(&orders);
        for (;;)
            atomic_store(stops, atomic_load(&stutter.table->stops));
    }
    await_count(stops, 2);
    assert_int_equal(kill(rig, SIGKILL), 0);
    assert_int_equal(waitpid(rig, NULL, 0), rig);
    const int64_t until_ns = rig_clock_now_ns() + patience_ns; /* before any stop would end by itself */
    for (int i = 0; i < WORKERS; i++) {
        struct rig_stutter_normal now;
        do {
            assert_true(rig_clock_now_ns() < until_ns);
            assert_true(rig_stutter_look(workers.at[i].pid, &now));
        } while (rig_process_state(&workers.at[i]) == 'T' || now.policy != workers.normal[i].policy ||
                 now.nice != workers.normal[i].nice);
    }
    assert_normal();
    (void)munmap(stops, sizeof *stops);
}

#define STUTTER_TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STUTTER_TEST(processes_are_stopped_and_go_on),
        STUTTER_TEST(sleeping_processes_are_left_alone_unless_all_are_meant),
        STUTTER_TEST(a_stopped_process_is_not_resumed),
        STUTTER_TEST(at_most_a_share_is_stopped_at_a_time),
        STUTTER_TEST(an_ended_process_makes_room),
        STUTTER_TEST(a_process_with_another_start_is_not_taken),
        STUTTER_TEST(real_time_priorities_are_drawn_and_taken_back),
        STUTTER_TEST(nice_values_are_drawn_and_taken_back),
        STUTTER_TEST(rounds_of_pct_give_each_process_a_priority_of_its_own),
        STUTTER_TEST(the_bound_is_that_of_the_theorem),
        STUTTER_TEST(a_process_shares_a_processor_and_gets_the_others_back),
        STUTTER_TEST(rig_restores_what_a_killed_helper_left),
        STUTTER_TEST(the_helper_restores_everything_when_rig_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
