/*
 * One suite for every driver: conformance <driver> [option=value]...
 *
 * It holds a driver to the contract of drivers/driver.h; it does not judge isolation beyond what one session reads of
 * its own acknowledged commits. `null` stores nothing, so tests that need stored data are reported as skipped for it.
 */
#include "tests/unit/cmocka_first.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "drivers/loader.h"
#include "history/model/columns.h"
#include "history/types/types.h"
#include "tests/conformance/conformance_rows.h"
#include "tests/conformance/conformance_steps.h"
#include "tests/conformance/conformance_types.h"

static struct rig_op append(int64_t key, int64_t value)
{
    return (struct rig_op){.kind = RIG_OP_APPEND, .key = key, .value = value};
}

static struct rig_op read_list(int64_t key)
{
    return (struct rig_op){.kind = RIG_OP_READ_LIST, .key = key};
}

static void assert_list(const struct bench_client *client, uint32_t op, const int64_t *expected, uint32_t count)
{
    const struct rig_read *read = &client->transaction.reads[op];
    assert_int_equal(read->state, count == 0 ? RIG_READ_NIL : RIG_READ_SEEN);
    assert_int_equal(read->count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(client->transaction.elements[read->first_element + i], expected[i]);
}

/* ---- the driver's description of itself ---- */

static void driver_is_valid(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(rig_driver_validate(settings.driver, settings.driver->name, &err), RIG_OK);
    assert_line(settings.driver->summary, 200, true);
}

static void options_are_well_formed(void **state)
{
    (void)state;
    const struct rig_driver *driver = settings.driver;
    if (driver->options == NULL)
        return;
    struct rig_err err = {0};
    if (rig_option_check_table(driver->options, driver->options_size, &err) != RIG_OK)
        fail_msg("%s", err.text);
    for (const struct rig_option *option = driver->options; option->name != NULL; option++) {
        assert_non_null(option->help);
        assert_line(option->help, 4096, true);
        assert_int_equal(strspn(option->name, "abcdefghijklmnopqrstuvwxyz0123456789-."), strlen(option->name));
    }
}

/* ---- life ---- */

static void run_ends_before_it_is_set_up(void **state)
{
    (void)state;
    const struct rig_driver *driver = settings.driver;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    struct bench_run run = {.driver = driver};
    bench_folder_make(&run);
    run.arena = arena;
    run.options = bench_options(&settings, &run.arena);
    run.run = calloc(1, driver->run_size + 1);
    struct bench_run model;
    start(&model, RIG_WORKLOAD_LIST_APPEND, 1);
    run.env = model.env;
    run.env.options = run.options;
    run.env.work_dir = run.env.log_dir = run.folder;
    struct rig_err err = {0};
    assert_int_equal(driver->init(run.run, &run.env, &err), RIG_OK);
    bench_run_stop(&run);
    bench_run_stop(&model);
}

/* No clients at all: a driver may refuse that or not; either way `done` must accept the state that init left. */
static void done_copes_with_any_init(void **state)
{
    (void)state;
    struct bench_run run;
    struct rig_err err = {0};
    if (bench_run_start(&run, &settings, RIG_WORKLOAD_LIST_APPEND, 0, BENCH_SEED, &err) == RIG_OK)
        bench_run_stop(&run);
    else
        assert_int_not_equal(err.text[0], '\0');
}

static void sessions_open_and_close(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    for (int i = 0; i < 3; i++) {
        open_client(&client, &run, 0);
        const struct rig_op ops[] = {read_list(1)};
        transact_ok(&client, ops, 1);
        bench_client_close(&client, i == 2);
        bench_client_done(&client);
    }
    bench_run_stop(&run);
}

static void server_is_described(void **state)
{
    (void)state;
    struct bench_run run;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    if (settings.driver->describe != NULL) {
        char text[128];
        memset(text, 'x', sizeof text);
        settings.driver->describe(run.run, text, sizeof text);
        assert_line(text, sizeof text, true);
        char narrow[8];
        memset(narrow, 'x', sizeof narrow);
        settings.driver->describe(run.run, narrow, 4);
        assert_non_null(memchr(narrow, '\0', 4));
        assert_int_equal(narrow[4], 'x');
    }
    bench_run_stop(&run);
}

/* Whether a server listens there. */
static bool answers_on_tcp(const struct rig_node_address *address)
{
    char port[8];
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    (void)snprintf(port, sizeof port, "%u", address->port);
    if (getaddrinfo(address->host, port, &hints, &found) != 0)
        return false;
    bool connected = false;
    for (const struct addrinfo *at = found; at != NULL && !connected; at = at->ai_next) {
        const int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
        connected = fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0;
        if (fd >= 0)
            (void)close(fd);
    }
    freeaddrinfo(found);
    return connected;
}

static void nodes_listen_where_they_say(void **state)
{
    (void)state;
    const struct rig_cluster_ops *cluster = settings.driver->cluster;
    if (cluster == NULL || cluster->address == NULL)
        skip();
    assert_non_null(cluster->node_count);
    struct bench_run run;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    const uint32_t count = cluster->node_count(run.run);
    struct rig_err err = {0};
    assert_true(!run.cluster_started || count > 0);
    for (uint32_t i = 0; i < count; i++) {
        struct rig_node_address address;
        memset(&address, 'x', sizeof address);
        if (cluster->address(run.run, i, &address, &err) != RIG_OK)
            fail_msg("node %u has no address: %s", i, err.text);
        assert_line(address.host, sizeof address.host, address.host[0] != '\0');
        assert_line(address.socket, sizeof address.socket, address.socket[0] != '\0');
        assert_true(address.host[0] != '\0' || address.socket[0] != '\0');
        if (address.host[0] != '\0' && !answers_on_tcp(&address))
            fail_msg("nothing listens at %s:%u", address.host, address.port);
        if (address.socket[0] != '\0')
            assert_true(address.socket[0] == '/' && access(address.socket, F_OK) == 0);
    }
    struct rig_node_address none;
    assert_int_equal(cluster->address(run.run, count, &none, &err), RIG_E_CLUSTER);
    assert_line(err.text, sizeof err.text, true);
    bench_run_stop(&run);
}

/* ---- transactions ---- */

static void unknown_keys_are_read_as_nil(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    const struct rig_op ops[] = {read_list(1), read_list(INT64_C(1) << 40), read_list(1)};
    transact_ok(&client, ops, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_list(&client, i, NULL, 0);
    finish(&client, &run);
}

static void empty_transaction_commits(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    const struct rig_op ops[] = {read_list(1)};
    transact_ok(&client, ops, 0);
    transact_ok(&client, ops, 1);
    finish(&client, &run);
}

static void appends_are_read_back(void **state)
{
    (void)state;
    if (keeps_nothing())
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    const struct rig_op writes[] = {append(1, 10), append(2, 20), append(1, -11)};
    transact_ok(&client, writes, 3);
    const struct rig_op more[] = {append(1, INT64_MAX - 1)};
    transact_ok(&client, more, 1);
    const struct rig_op reads[] = {read_list(2), read_list(1), read_list(3), read_list(1)};
    transact_ok(&client, reads, 4);
    const int64_t first[] = {10, -11, INT64_MAX - 1}, second[] = {20};
    assert_list(&client, 0, second, 1);
    assert_list(&client, 1, first, 3);
    assert_list(&client, 2, NULL, 0);
    assert_list(&client, 3, first, 3);
    finish(&client, &run);
}

static void own_writes_are_seen(void **state)
{
    (void)state;
    if (keeps_nothing())
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    const struct rig_op ops[] = {read_list(1), append(1, 1), read_list(1), append(1, 2), append(2, 7), read_list(1)};
    transact_ok(&client, ops, 6);
    const int64_t expected[] = {1, 2};
    assert_list(&client, 0, NULL, 0);
    assert_list(&client, 2, expected, 1);
    assert_list(&client, 5, expected, 2);
    finish(&client, &run);
}

static void time_ascends(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    int64_t last_ns = INT64_MIN;
    for (int64_t i = 0; i < 20; i++) {
        const struct rig_op ops[] = {append(1, i + 1), read_list(1)};
        transact_ok(&client, ops, 2);
        assert_true(client.invoke_ns >= last_ns);
        assert_true(client.complete_ns > client.invoke_ns);
        last_ns = client.complete_ns;
    }
    finish(&client, &run);
}

static void transactions_are_held_where_asked(void **state)
{
    (void)state;
    if ((settings.driver->features & RIG_DRIVER_HOLDS) == 0)
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    for (uint32_t before_op = 0; before_op <= 2; before_op++) {
        const struct rig_op ops[] = {append(1, before_op + 1), read_list(1)};
        const struct rig_hold hold = {.wanted = true, .before_op = before_op, .duration_ns = 20 * RIG_NS_PER_MS};
        enum rig_outcome outcome = bench_client_transact_held(&client, ops, 2, &hold);
        assert_answer(&client, outcome);
        assert_int_equal(outcome, RIG_OUTCOME_OK);
        assert_true(client.complete_ns - client.invoke_ns >= 20 * RIG_NS_PER_MS);
        /* A driver that holds transactions by its own clock keeps to that clock. */
        assert_int_equal(client.hold_calls, settings.driver->now_ns == NULL ? 1 : 0);
    }
    finish(&client, &run);
}

/* Also together with a hold; a driver with a clock of its own has no such pauses. */
static void operations_are_delayed_where_asked(void **state)
{
    (void)state;
    if ((settings.driver->features & RIG_DRIVER_HOLDS) == 0 || settings.driver->now_ns != NULL)
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    client.delayed = true;
    for (uint32_t round = 0; round < 6; round++) {
        const uint32_t op_count = round == 5 ? 1 : 4;
        const struct rig_op ops[] = {read_list(1), append(1, 1 + round), read_list(1), append(2, 1 + round)};
        const struct rig_hold hold = {.wanted = round < 5, .before_op = round, .duration_ns = RIG_NS_PER_MS};
        const enum rig_outcome outcome = bench_client_transact_held(&client, ops, op_count, &hold);
        assert_answer(&client, outcome);
        assert_int_equal(outcome, RIG_OUTCOME_OK);
        assert_int_equal(client.delay_calls, op_count - 1);
        assert_int_equal(client.hold_calls, round < 5 ? 1 : 0);
        assert_true(client.complete_ns - client.invoke_ns >= (op_count - 1) * RIG_NS_PER_MS);
        if (round < 5 && !keeps_nothing())
            assert_int_equal(client.transaction.reads[2].count, 1 + round);
    }
    finish(&client, &run);
}

static void element_limit_is_respected(void **state)
{
    (void)state;
    if (keeps_nothing())
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    for (int64_t i = 0; i < 20; i++) {
        const struct rig_op ops[] = {append(1, i + 1)};
        transact_ok(&client, ops, 1);
    }
    client.element_limit = 10;
    const struct rig_op ops[] = {read_list(1)};
    assert_int_not_equal(transact(&client, ops, 1), RIG_OUTCOME_OK);
    const struct rig_op writing[] = {append(2, 1), read_list(1)};
    assert_int_not_equal(transact(&client, writing, 2), RIG_OUTCOME_OK);
    if (client.transaction.session_lost) {
        bench_client_close(&client, false);
        bench_client_done(&client);
        open_client(&client, &run, 0);
    }
    client.element_limit = 20;
    transact_ok(&client, ops, 1);
    assert_int_equal(client.transaction.reads[0].count, 20);
    finish(&client, &run);
}

/* ---- interrupts and threads ---- */

static void interrupted_while_idle(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    open_client(&client, &run, 0);
    settings.driver->interrupt(client.session);
    settings.driver->interrupt(client.session);
    const struct rig_op ops[] = {append(1, 1), read_list(1)};
    (void)transact(&client, ops, 2);
    bench_client_close(&client, false);
    bench_client_done(&client);
    open_client(&client, &run, 0);
    const struct rig_op again[] = {append(1, 2), read_list(1)};
    transact_ok(&client, again, 2);
    finish(&client, &run);
}

static void interrupted_before_open(void **state)
{
    (void)state;
    struct bench_run run;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 1);
    struct bench_client client = {.run = &run};
    client.session = calloc(1, settings.driver->session_size + 1);
    assert_non_null(client.session);
    settings.driver->interrupt(client.session);
    struct rig_err err = {0};
    (void)settings.driver->open(client.session, run.run, 0, &err);
    bench_client_close(&client, false);
    open_client(&client, &run, 0);
    const struct rig_op ops[] = {read_list(1)};
    transact_ok(&client, ops, 1);
    finish(&client, &run);
}

struct busy_client {
    struct bench_client client;
    atomic_bool started;
    atomic_bool interrupted;
};

/* Runs transactions until the interrupt has come and one more transaction was answered. */
static void *be_busy(void *context)
{
    struct busy_client *busy = context;
    for (int64_t i = 0;; i++) {
        bool last = atomic_load(&busy->interrupted);
        const struct rig_op ops[] = {append(1, i + 1), read_list(1)};
        if (i == 0)
            atomic_store(&busy->started, true);
        enum rig_outcome outcome = bench_client_transact(&busy->client, ops, 2);
        if (last || outcome != RIG_OUTCOME_OK)
            return NULL;
    }
}

/* The second client, which runs no transaction, makes drivers that wait for it do so. */
static void interrupted_while_in_a_transaction(void **state)
{
    (void)state;
    struct bench_run run;
    start(&run, RIG_WORKLOAD_LIST_APPEND, 2);
    for (int round = 0; round < 3; round++) {
        struct busy_client busy = {0};
        pthread_t thread;
        open_client(&busy.client, &run, 0);
        assert_int_equal(pthread_create(&thread, NULL, be_busy, &busy), 0);
        while (!atomic_load(&busy.started))
            (void)sched_yield();
        rig_clock_sleep_until_ns(rig_clock_now_ns() + round * 2 * RIG_NS_PER_MS);
        int64_t interrupt_ns = rig_clock_now_ns();
        settings.driver->interrupt(busy.client.session);
        atomic_store(&busy.interrupted, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(rig_clock_now_ns() - interrupt_ns < 5 * RIG_NS_PER_S);
        bench_client_close(&busy.client, round == 2);
        bench_client_done(&busy.client);
    }
    bench_run_stop(&run);
}

enum { PARALLEL_CLIENTS = 4, PARALLEL_TRANSACTIONS = 100, PARALLEL_MOST = 2000 };

struct parallel_client {
    struct bench_run *run;
    uint32_t index;
    bool certain[PARALLEL_MOST]; /* committed, as acknowledged */
    bool possible[PARALLEL_MOST];
    const char *problem;
};

/* Later clients leave earlier, so that the others must go on without them; but no client leaves before one of its
 * transactions has committed, which conflicts with the others may delay. */
static void *be_parallel(void *context)
{
    struct parallel_client *parallel = context;
    struct bench_client client = {0};
    struct rig_err err = {0};
    if (bench_client_open(&client, parallel->run, parallel->index, &err) != RIG_OK)
        parallel->problem = "cannot connect";
    int64_t count = PARALLEL_TRANSACTIONS - 20 * (int64_t)parallel->index;
    const int64_t most = keeps_nothing() ? count : PARALLEL_MOST;
    bool any = false;
    for (int64_t i = 0; (i < count || (!any && i < most)) && parallel->problem == NULL; i++) {
        const struct rig_op ops[] = {append(1, i * PARALLEL_CLIENTS + parallel->index + 1), read_list(2)};
        enum rig_outcome outcome = bench_client_transact(&client, ops, 2);
        parallel->certain[i] = outcome == RIG_OUTCOME_OK;
        any = any || parallel->certain[i];
        parallel->possible[i] = outcome != RIG_OUTCOME_FAIL;
        if (!client.transaction.session_lost)
            continue;
        bench_client_close(&client, false);
        if (bench_client_open(&client, parallel->run, parallel->index, &err) != RIG_OK)
            parallel->problem = "cannot connect again";
    }
    bench_client_close(&client, parallel->index != 0);
    bench_client_done(&client);
    return NULL;
}

static void sessions_work_in_parallel(void **state)
{
    (void)state;
    struct bench_run run;
    start(&run, RIG_WORKLOAD_LIST_APPEND, PARALLEL_CLIENTS);
    static struct parallel_client clients[PARALLEL_CLIENTS];
    pthread_t threads[PARALLEL_CLIENTS];
    for (uint32_t i = 0; i < PARALLEL_CLIENTS; i++) {
        clients[i] = (struct parallel_client){.run = &run, .index = i};
        assert_int_equal(pthread_create(&threads[i], NULL, be_parallel, &clients[i]), 0);
    }
    for (uint32_t i = 0; i < PARALLEL_CLIENTS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < PARALLEL_CLIENTS; i++)
        if (clients[i].problem != NULL)
            fail_msg("client %u: %s", i, clients[i].problem);
    struct bench_client reader;
    open_client(&reader, &run, 0);
    const struct rig_op ops[] = {read_list(1)};
    transact_ok(&reader, ops, 1);
    static unsigned seen[PARALLEL_CLIENTS][PARALLEL_MOST];
    memset(seen, 0, sizeof seen);
    const struct rig_read *read = &reader.transaction.reads[0];
    for (uint32_t i = 0; i < read->count; i++) {
        int64_t value = reader.transaction.elements[read->first_element + i] - 1;
        assert_in_range(value, 0, PARALLEL_CLIENTS * PARALLEL_MOST - 1);
        seen[value % PARALLEL_CLIENTS][value / PARALLEL_CLIENTS]++;
    }
    for (uint32_t i = 0; i < PARALLEL_CLIENTS && !keeps_nothing(); i++) {
        unsigned certain_count = 0;
        for (uint32_t j = 0; j < PARALLEL_MOST; j++) {
            assert_in_range(seen[i][j], clients[i].certain[j], clients[i].possible[j]);
            certain_count += clients[i].certain[j];
        }
        assert_true(certain_count > 0);
    }
    finish(&reader, &run);
}

/* ---- types of data ---- */

/* By enum rig_workload; NULL: a type that no driver may claim. */
static void (*const type_cases[RIG_WORKLOAD_COUNT])(void **state) = {
    [RIG_WORKLOAD_LIST_APPEND] = appends_are_read_back,
    [RIG_WORKLOAD_RW_REGISTER] = registers_hold_the_last_value,
    [RIG_WORKLOAD_LONG_FORK] = registers_hold_the_last_value,
    [RIG_WORKLOAD_MONOTONIC] = registers_hold_the_last_value,
    [RIG_WORKLOAD_UNIQUE_IDS] = registers_hold_the_last_value,
    [RIG_WORKLOAD_DIRTY_READS] = registers_hold_the_last_value,
    [RIG_WORKLOAD_SEQUENTIAL] = registers_hold_the_last_value,
    [RIG_WORKLOAD_MULTI_KEY] = registers_hold_the_last_value,
    [RIG_WORKLOAD_SET] = sets_hold_their_elements,
    [RIG_WORKLOAD_CAS_REGISTER] = compared_registers_change_only_as_expected,
    [RIG_WORKLOAD_MUTEX] = locks_have_one_holder,
    [RIG_WORKLOAD_LOCK] = locks_have_owners_and_permits,
    [RIG_WORKLOAD_MODEL] = calls_have_the_results_of_the_model,
    [RIG_WORKLOAD_APPEND_REGISTER] = strings_grow_until_they_are_full,
    [RIG_WORKLOAD_QUEUE] = queues_give_the_first_value,
    [RIG_WORKLOAD_STACK] = stacks_give_the_last_value,
    [RIG_WORKLOAD_COUNTER] = counters_hold_sums,
    [RIG_WORKLOAD_BANK] = accounts_are_open_and_not_overdrawn,
    [RIG_WORKLOAD_LOG] = logs_give_their_records_once,
    [RIG_WORKLOAD_PREDICATE] = conditions_find_their_rows,
    [RIG_WORKLOAD_SQL] = columns_hold_what_was_assigned,
};

static bool is_claimed(unsigned workload)
{
    return (settings.driver->workloads & RIG_WORKLOAD_BIT(workload)) != 0;
}

static void claimed_types_have_cases(void **state)
{
    (void)state;
    for (unsigned workload = 0; workload < RIG_WORKLOAD_COUNT; workload++) {
        if (is_claimed(workload) && type_cases[workload] == NULL)
            fail_msg("the driver claims the type %s, which no case tests", rig_data_type_names[workload]);
        if (is_claimed(workload) && settings.override_count == 0 && !keeps_nothing() &&
            !runs((enum rig_workload)workload))
            fail_msg("the driver claims the type %s, and refuses it with its defaults", rig_data_type_names[workload]);
    }
}

/* Adds the case of each type that the driver claims, under the type's name. */
static size_t add_type_cases(struct CMUnitTest *tests, enum rig_workload *workloads)
{
    size_t count = 0;
    for (unsigned workload = 0; workload < RIG_WORKLOAD_COUNT; workload++) {
        workloads[workload] = (enum rig_workload)workload;
        if (is_claimed(workload) && type_cases[workload] != NULL)
            tests[count++] = (struct CMUnitTest){.name = rig_data_type_names[workload],
                                                 .test_func = type_cases[workload],
                                                 .initial_state = &workloads[workload]};
    }
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)fprintf(stderr, "usage: conformance <driver> [option=value]...\n");
        return 64;
    }
    struct rig_err err = {0};
    if (rig_driver_load(argv[1], &settings.driver, &err) != RIG_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 3;
    }
    settings.overrides = (const char *const *)(argv + 2);
    settings.override_count = (size_t)argc - 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver_is_valid),
        cmocka_unit_test(options_are_well_formed),
        cmocka_unit_test(run_ends_before_it_is_set_up),
        cmocka_unit_test(done_copes_with_any_init),
        cmocka_unit_test(sessions_open_and_close),
        cmocka_unit_test(server_is_described),
        cmocka_unit_test(nodes_listen_where_they_say),
        cmocka_unit_test(unknown_keys_are_read_as_nil),
        cmocka_unit_test(empty_transaction_commits),
        cmocka_unit_test(claimed_types_have_cases),
        cmocka_unit_test(keys_have_rows_before_the_load),
        cmocka_unit_test(own_writes_are_seen),
        cmocka_unit_test(time_ascends),
        cmocka_unit_test(transactions_are_held_where_asked),
        cmocka_unit_test(operations_are_delayed_where_asked),
        cmocka_unit_test(element_limit_is_respected),
        cmocka_unit_test(interrupted_while_idle),
        cmocka_unit_test(interrupted_before_open),
        cmocka_unit_test(interrupted_while_in_a_transaction),
        cmocka_unit_test(sessions_work_in_parallel),
        cmocka_unit_test(rows_hold_what_programs_write),
        cmocka_unit_test(programs_that_do_not_commit_leave_nothing),
    };
    enum { TEST_COUNT = sizeof tests / sizeof tests[0] };
    struct CMUnitTest all[TEST_COUNT + RIG_WORKLOAD_COUNT];
    enum rig_workload workloads[RIG_WORKLOAD_COUNT];
    memcpy(all, tests, sizeof tests);
    const size_t count = TEST_COUNT + add_type_cases(all + TEST_COUNT, workloads);
    return _cmocka_run_group_tests(argv[1], all, count, NULL, NULL);
}
