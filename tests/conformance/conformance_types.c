#include "tests/conformance/conformance_types.h"

#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "generator/model_calls.h"
#include "history/types/object_specification.h"
#include "history/types/row_ops.h"
#include "tests/conformance/conformance_steps.h"

static struct rig_op set_register(int64_t key, int64_t value)
{
    return (struct rig_op){.kind = RIG_OP_WRITE, .key = key, .value = value};
}

static struct rig_op read_register(int64_t key)
{
    return (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = key};
}

void registers_hold_the_last_value(void **state)
{
    const enum rig_workload workload = *(const enum rig_workload *)*state;
    if (!runs(workload))
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, workload, 1);
    open_client(&client, &run, 0);
    const struct rig_op ops[] = {read_register(1), set_register(1, 5), read_register(1), set_register(1, -6),
                                 read_register(1)};
    transact_ok(&client, ops, 5);
    assert_int_equal(client.transaction.reads[0].state, RIG_READ_NIL);
    assert_int_equal(client.transaction.reads[2].value, 5);
    assert_int_equal(client.transaction.reads[4].value, -6);
    transact_ok(&client, ops, 1);
    assert_int_equal(client.transaction.reads[0].state, RIG_READ_SEEN);
    assert_int_equal(client.transaction.reads[0].value, -6);
    finish(&client, &run);
}

/* In any order, each once. */
static void assert_set(const struct bench_client *client, uint32_t op, const int64_t *expected, uint32_t count)
{
    const struct rig_read *read = &client->transaction.reads[op];
    const int64_t *elements = client->transaction.elements + read->first_element;
    assert_int_equal(read->state, count == 0 ? RIG_READ_NIL : RIG_READ_SEEN);
    assert_int_equal(read->count, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seen = 0;
        for (uint32_t j = 0; j < count; j++)
            seen += elements[j] == expected[i];
        assert_int_equal(seen, 1);
    }
}

/* ---- rows before the load ---- */

enum { PREFILLED = 5 };

static void start_prefilled(struct bench_run *run, struct bench_client *client, enum rig_workload workload)
{
    settings.prefilled_keys = PREFILLED;
    start(run, workload, 1);
    settings.prefilled_keys = 0;
    open_client(client, run, 0);
}

/* Each list has its row, and is empty until a transaction appends to it. A key behind them has none. */
static void check_prefilled_lists(void)
{
    struct bench_run run;
    struct bench_client client;
    start_prefilled(&run, &client, RIG_WORKLOAD_LIST_APPEND);
    for (int64_t key = 0; key <= PREFILLED; key++) {
        const struct rig_op ops[] = {{.kind = RIG_OP_READ_LIST, .key = key},
                                     {.kind = RIG_OP_APPEND, .key = key, .value = 7},
                                     {.kind = RIG_OP_APPEND, .key = key, .value = -3},
                                     {.kind = RIG_OP_READ_LIST, .key = key}};
        const int64_t expected[] = {7, -3};
        transact_ok(&client, ops, 1);
        assert_int_equal(client.transaction.reads[0].state, key < PREFILLED ? RIG_READ_SEEN : RIG_READ_NIL);
        assert_int_equal(client.transaction.reads[0].count, 0);
        transact_ok(&client, ops + 1, 3);
        assert_set(&client, 2, expected, 2);
    }
    finish(&client, &run);
}

static void check_prefilled_registers(void)
{
    struct bench_run run;
    struct bench_client client;
    start_prefilled(&run, &client, RIG_WORKLOAD_RW_REGISTER);
    for (int64_t key = 0; key <= PREFILLED; key++) {
        const struct rig_op ops[] = {read_register(key), set_register(key, 5), read_register(key)};
        transact_ok(&client, ops, 3);
        assert_int_equal(client.transaction.reads[0].state, RIG_READ_NIL);
        assert_int_equal(client.transaction.reads[2].value, 5);
    }
    finish(&client, &run);
}

void keys_have_rows_before_the_load(void **state)
{
    (void)state;
    if ((settings.driver->features & RIG_DRIVER_PREFILLS) == 0)
        skip();
    if (runs(RIG_WORKLOAD_LIST_APPEND))
        check_prefilled_lists();
    if (runs(RIG_WORKLOAD_RW_REGISTER))
        check_prefilled_registers();
}

/* ---- objects ---- */

static void start_objects(struct bench_run *run, struct bench_client *clients, uint32_t count,
                          enum rig_workload workload)
{
    if (!runs(workload))
        skip();
    start(run, workload, count);
    for (uint32_t i = 0; i < count; i++)
        open_client(&clients[i], run, i);
}

static void write_once(struct bench_client *client, enum rig_op_kind kind, int64_t key, int64_t value)
{
    const struct rig_op op = {.kind = kind, .key = key, .value = value};
    transact_ok(client, &op, 1);
}

/* A read, or what takes a value. `nil`: none is there. */
static void assert_gives(struct bench_client *client, enum rig_op_kind kind, int64_t key, bool nil, int64_t value)
{
    const struct rig_op op = {.kind = kind, .key = key};
    transact_ok(client, &op, 1);
    assert_int_equal(client->transaction.reads[0].state, nil ? RIG_READ_NIL : RIG_READ_SEEN);
    if (!nil)
        assert_int_equal(client->transaction.reads[0].value, value);
}

static enum rig_outcome compare_and_set(struct bench_client *client, int64_t key, int64_t expected, int64_t value)
{
    const struct rig_op ops[] = {{.kind = RIG_OP_EXPECT, .key = key, .value = expected},
                                 {.kind = RIG_OP_WRITE, .key = key, .value = value}};
    return transact(client, ops, 2);
}

/* A refused one fails for certain, changes nothing and leaves the session usable. */
void compared_registers_change_only_as_expected(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start_objects(&run, &client, 1, RIG_WORKLOAD_CAS_REGISTER);
    assert_int_equal(compare_and_set(&client, 1, 0, 1), RIG_OUTCOME_FAIL);
    assert_false(client.transaction.session_lost);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, true, 0);
    write_once(&client, RIG_OP_WRITE, 1, 3);
    assert_int_equal(compare_and_set(&client, 1, 4, 5), RIG_OUTCOME_FAIL);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, false, 3);
    assert_int_equal(compare_and_set(&client, 1, 3, 3), RIG_OUTCOME_OK);
    assert_int_equal(compare_and_set(&client, 1, 3, 5), RIG_OUTCOME_OK);
    assert_int_equal(compare_and_set(&client, 2, 5, 6), RIG_OUTCOME_FAIL);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, false, 5);
    finish(&client, &run);
}

static enum rig_outcome append_digit(struct bench_client *client, int64_t key, int64_t digit)
{
    const struct rig_op op = {.kind = RIG_OP_EXTEND, .key = key, .value = digit};
    return transact(client, &op, 1);
}

/* An append to a full string fails for certain, changes nothing and leaves the session usable. */
void strings_grow_until_they_are_full(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client client;
    start_objects(&run, &client, 1, RIG_WORKLOAD_APPEND_REGISTER);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, true, 0);
    assert_int_equal(append_digit(&client, 1, 4), RIG_OUTCOME_OK);
    assert_int_equal(append_digit(&client, 1, 2), RIG_OUTCOME_OK);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, false, 42);
    write_once(&client, RIG_OP_WRITE, 1, 91);
    for (int i = 0; i < 16; i++)
        assert_int_equal(append_digit(&client, 1, 1 + i % 9), RIG_OUTCOME_OK);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, false, 911234567891234567);
    assert_int_equal(append_digit(&client, 1, 3), RIG_OUTCOME_FAIL);
    assert_false(client.transaction.session_lost);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, false, 911234567891234567);
    write_once(&client, RIG_OP_WRITE, 1, 35);
    assert_int_equal(append_digit(&client, 1, 3), RIG_OUTCOME_OK);
    assert_gives(&client, RIG_OP_READ_REGISTER, 1, false, 353);
    assert_gives(&client, RIG_OP_READ_REGISTER, 2, true, 0);
    finish(&client, &run);
}

static void take_and_release(struct bench_client *client, int64_t key)
{
    assert_int_equal(compare_and_set(client, key, 0, 1), RIG_OUTCOME_OK);
    assert_int_equal(compare_and_set(client, key, 0, 1), RIG_OUTCOME_FAIL);
    assert_int_equal(compare_and_set(client, key, 1, 0), RIG_OUTCOME_OK);
    assert_int_equal(compare_and_set(client, key, 1, 0), RIG_OUTCOME_FAIL);
}

static void finish_objects(struct bench_run *run, struct bench_client *clients, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bench_client_close(&clients[i], true);
        bench_client_done(&clients[i]);
    }
    bench_run_stop(run);
}

/* With simulated time, a client waits for the transactions of the others. */
void locks_have_one_holder(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client clients[2];
    const uint32_t count = settings.driver->now_ns == NULL ? 2 : 1;
    start_objects(&run, clients, count, RIG_WORKLOAD_MUTEX);
    for (int64_t round = 0; round < 2; round++) {
        take_and_release(&clients[0], 1);
        assert_int_equal(compare_and_set(&clients[0], 1, 0, 1), RIG_OUTCOME_OK);
        assert_int_equal(compare_and_set(&clients[count - 1], 1, 0, 1), RIG_OUTCOME_FAIL);
        take_and_release(&clients[count - 1], 2);
        assert_int_equal(compare_and_set(&clients[0], 1, 1, 0), RIG_OUTCOME_OK);
        take_and_release(&clients[count - 1], 1);
    }
    finish_objects(&run, clients, count);
}

/* The token of an acquisition, 0: it has none; -1: it failed. */
static int64_t acquire(struct bench_client *client, int64_t key, int64_t owner, int64_t limit)
{
    const struct rig_op ops[] = {{RIG_OP_HOLD, key, owner}, {RIG_OP_LIMIT, key, limit}, {RIG_OP_TOKEN, key, 0}};
    if (transact(client, ops, 3) != RIG_OUTCOME_OK)
        return -1;
    const struct rig_read *token = &client->transaction.reads[2];
    return token->state == RIG_READ_SEEN ? token->value : 0;
}

static enum rig_outcome release(struct bench_client *client, int64_t key, int64_t owner)
{
    const struct rig_op op = {RIG_OP_FREE, key, owner};
    return transact(client, &op, 1);
}

/* `clients`: those that act for the owners 0, 1 and 2. */
static void locks_have_one_owner(struct bench_client *const *clients)
{
    const int64_t first = acquire(clients[1], 1, 1, 1);
    assert_true(first >= 0);
    assert_int_equal(acquire(clients[2], 1, 2, 1), -1);
    assert_int_equal(acquire(clients[1], 1, 1, 1), -1);
    assert_int_equal(release(clients[2], 1, 2), RIG_OUTCOME_FAIL);
    assert_int_equal(release(clients[1], 1, 1), RIG_OUTCOME_OK);
    assert_int_equal(release(clients[1], 1, 1), RIG_OUTCOME_FAIL);
    const int64_t second = acquire(clients[2], 1, 2, 1);
    assert_true(second > first || second == 0);
}

static void locks_have_limits(struct bench_client *const *clients)
{
    assert_true(acquire(clients[1], 2, 1, 2) >= 0);
    assert_true(acquire(clients[2], 2, 2, 2) >= 0);
    assert_int_equal(acquire(clients[0], 2, 0, 2), -1);
    assert_int_equal(release(clients[1], 2, 1), RIG_OUTCOME_OK);
    assert_true(acquire(clients[0], 2, 0, 2) >= 0);
    const int64_t token = acquire(clients[1], 3, 1, -2);
    assert_int_equal(acquire(clients[1], 3, 1, -2), token);
    assert_int_equal(acquire(clients[1], 3, 1, -2), -1);
    assert_int_equal(acquire(clients[2], 3, 2, -2), -1);
    assert_int_equal(release(clients[1], 3, 1), RIG_OUTCOME_OK);
    assert_int_equal(acquire(clients[2], 3, 2, -2), -1);
    assert_int_equal(release(clients[1], 3, 1), RIG_OUTCOME_OK);
    assert_true(acquire(clients[2], 3, 2, -2) > token || token == 0);
}

/* With simulated time, one client acts for all owners: it would wait for the others. */
void locks_have_owners_and_permits(void **state)
{
    (void)state;
    struct bench_run run;
    struct bench_client clients[3];
    const uint32_t count = settings.driver->now_ns == NULL ? 3 : 1;
    start_objects(&run, clients, count, RIG_WORKLOAD_LOCK);
    struct bench_client *const of_owner[3] = {&clients[0], &clients[1 % count], &clients[2 % count]};
    locks_have_one_owner(of_owner);
    if ((settings.driver->features & RIG_DRIVER_LOCK_KINDS) != 0)
        locks_have_limits(of_owner);
    finish_objects(&run, clients, count);
}

/* The account of configs/models/bank-account.yaml. */
static const char account_model[] = "model: bank-account\n"
                                    "state: {balance: 0}\n"
                                    "operations:\n"
                                    "  deposit: {arguments: {amount: 1..5}, set: {balance: balance + amount}}\n"
                                    "  withdraw:\n"
                                    "    arguments: {amount: 1..5}\n"
                                    "    cases:\n"
                                    "      - when: balance >= amount\n"
                                    "        set: {balance: balance - amount}\n"
                                    "        returns: true\n"
                                    "      - returns: false\n"
                                    "  read: {returns: balance}\n";

static struct rig_specification *account;
static struct rig_model_calls account_calls;

/* The result of a call; amount 0: it has no argument. */
static struct rig_read call(struct bench_client *client, int64_t key, const char *name, int64_t amount)
{
    const struct rig_model_operation *operation = rig_specification_operation(account, name, strlen(name));
    struct rig_op ops[3] = {{RIG_OP_CALL, key, operation->number}, {RIG_OP_ARGUMENT, key, amount}};
    const uint32_t count = (uint32_t)rig_specification_op_count(operation);
    if (operation->has_result)
        ops[count - 1] = (struct rig_op){.kind = RIG_OP_RESULT, .key = key};
    transact_ok(client, ops, count);
    return client->transaction.reads[count - 1];
}

void calls_have_the_results_of_the_model(void **state)
{
    (void)state;
    struct rig_err err = {0};
    struct bench_run run;
    struct bench_client client;
    assert_int_equal(rig_specification_read("account", account_model, strlen(account_model), &account, &err), RIG_OK);
    account_calls = rig_model_calls_of(account);
    settings.calls = &account_calls;
    start_objects(&run, &client, 1, RIG_WORKLOAD_MODEL);
    (void)call(&client, 1, "deposit", 5);
    assert_true(call(&client, 1, "withdraw", 3).value == account->constants.yes);
    assert_true(call(&client, 1, "withdraw", 3).value == account->constants.no);
    assert_int_equal(call(&client, 1, "read", 0).value, 2);
    assert_int_equal(call(&client, 2, "read", 0).value, 0);
    finish(&client, &run);
    settings.calls = NULL;
    rig_specification_free(account);
}

static void check_row(enum rig_workload workload, enum rig_op_kind put, enum rig_op_kind take, const int64_t *order)
{
    struct bench_run run;
    struct bench_client client;
    start_objects(&run, &client, 1, workload);
    for (int64_t key = 1; key < 12; key += 10) { /* the names of keys may begin alike */
        assert_gives(&client, take, key, true, 0);
        for (int64_t value = 1; value <= 12; value++)
            write_once(&client, put, key, value * key);
    }
    for (int64_t i = 0; i < 12; i++)
        assert_gives(&client, take, 1, false, order[i]);
    assert_gives(&client, take, 1, true, 0);
    write_once(&client, put, 1, 40);
    assert_gives(&client, take, 1, false, 40);
    assert_gives(&client, take, 11, false, order[0] * 11);
    finish(&client, &run);
}

void queues_give_the_first_value(void **state)
{
    (void)state;
    static const int64_t order[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    check_row(RIG_WORKLOAD_QUEUE, RIG_OP_ENQUEUE, RIG_OP_DEQUEUE, order);
}

void stacks_give_the_last_value(void **state)
{
    (void)state;
    static const int64_t order[] = {12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
    check_row(RIG_WORKLOAD_STACK, RIG_OP_PUSH, RIG_OP_POP, order);
}

void sets_hold_their_elements(void **state)
{
    (void)state;
    if (!runs(RIG_WORKLOAD_SET))
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_SET, 1);
    open_client(&client, &run, 0);
    static const struct rig_op ops[] = {
        {.kind = RIG_OP_READ_SET, .key = 1},        {.kind = RIG_OP_ADD, .key = 1, .value = 7},
        {.kind = RIG_OP_READ_SET, .key = 1},        {.kind = RIG_OP_ADD, .key = 1, .value = -3},
        {.kind = RIG_OP_ADD, .key = 2, .value = 7}, {.kind = RIG_OP_READ_SET, .key = 1},
    };
    const int64_t expected[] = {7, -3};
    transact_ok(&client, ops, 6);
    assert_set(&client, 0, NULL, 0);
    assert_set(&client, 2, expected, 1);
    assert_set(&client, 5, expected, 2);
    transact_ok(&client, ops, 1);
    assert_set(&client, 0, expected, 2);
    finish(&client, &run);
}

static void assert_number(const struct bench_client *client, uint32_t op, int64_t expected)
{
    assert_int_equal(client->transaction.reads[op].state, RIG_READ_SEEN);
    assert_int_equal(client->transaction.reads[op].value, expected);
}

/* Increments behind a savepoint are seen there only, and not added to what comes after the rollback to it. */
static void check_rolled_back_increments(struct bench_client *client)
{
    static const struct rig_op ops[] = {
        {.kind = RIG_OP_INCREMENT, .key = 5, .value = 7},  {.kind = RIG_OP_READ_COUNTER, .key = 5},
        {.kind = RIG_OP_READ_COUNTER, .key = 6},           {.kind = RIG_OP_INCREMENT, .key = 5, .value = 100},
        {.kind = RIG_OP_INCREMENT, .key = 6, .value = 50}, {.kind = RIG_OP_INCREMENT, .key = 5, .value = 2},
        {.kind = RIG_OP_INCREMENT, .key = 6, .value = 1},  {.kind = RIG_OP_READ_COUNTER, .key = 5},
        {.kind = RIG_OP_READ_COUNTER, .key = 6},
    };
    client->rollback = (struct rig_rollback){.from = 2, .to = 5};
    transact_ok(client, ops, 9);
    client->rollback = (struct rig_rollback){0};
    assert_number(client, 1, 7);
    assert_int_equal(client->transaction.reads[2].state, RIG_READ_NIL);
    assert_number(client, 7, 9);
    assert_number(client, 8, 1);
    transact_ok(client, ops + 7, 2);
    assert_number(client, 0, 9);
    assert_number(client, 1, 1);
}

/* A transaction that is rolled back on purpose sees its own increments, and leaves none. */
static void check_rollback(struct bench_client *client)
{
    static const struct rig_op ops[] = {{.kind = RIG_OP_INCREMENT, .key = 7, .value = 5},
                                        {.kind = RIG_OP_READ_COUNTER, .key = 7}};
    client->rolls_back = true;
    assert_int_equal(transact(client, ops, 2), RIG_OUTCOME_FAIL);
    client->rolls_back = false;
    assert_string_equal(client->transaction.error_code, RIG_ROLLED_BACK_CODE);
    assert_false(client->transaction.session_lost);
    transact_ok(client, ops + 1, 1);
    assert_int_equal(client->transaction.reads[0].state, RIG_READ_NIL);
    transact_ok(client, ops, 2);
    assert_number(client, 1, 5);
}

/* Increments that add blindly, and increments of what the transaction has read. */
void counters_hold_sums(void **state)
{
    (void)state;
    if (!runs(RIG_WORKLOAD_COUNTER))
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_COUNTER, 1);
    open_client(&client, &run, 0);
    static const struct rig_op ops[] = {
        {.kind = RIG_OP_READ_COUNTER, .key = 1},          {.kind = RIG_OP_INCREMENT, .key = 1, .value = 7},
        {.kind = RIG_OP_READ_COUNTER, .key = 1},          {.kind = RIG_OP_INCREMENT, .key = 1, .value = -9},
        {.kind = RIG_OP_INCREMENT, .key = 1, .value = 4}, {.kind = RIG_OP_INCREMENT, .key = 2, .value = 3},
        {.kind = RIG_OP_READ_COUNTER, .key = 1},
    };
    transact_ok(&client, ops, 7);
    assert_int_equal(client.transaction.reads[0].state, RIG_READ_NIL);
    assert_number(&client, 2, 7);
    assert_number(&client, 6, 2);
    transact_ok(&client, ops + 4, 3);
    assert_number(&client, 2, 6);
    transact_ok(&client, ops, 3);
    assert_number(&client, 0, 6);
    assert_number(&client, 2, 13);
    if ((settings.driver->features & RIG_DRIVER_SAVEPOINTS) != 0)
        check_rolled_back_increments(&client);
    if ((settings.driver->features & RIG_DRIVER_ROLLBACKS) != 0)
        check_rollback(&client);
    finish(&client, &run);
}

/* The offset with which the operation acknowledges the send before it. */
static int64_t acknowledged_offset(const struct bench_client *client, uint32_t op)
{
    const struct rig_read *read = &client->transaction.reads[op];
    const int64_t *record = client->transaction.elements + read->first_element;
    assert_int_equal(read->state, RIG_READ_SEEN);
    assert_int_equal(read->count, 2);
    assert_int_equal(record[1], client->transaction.ops[op - 1].value);
    return record[0];
}

/* Polls the log until both records came, in order, as a consumer that may be moved meanwhile. */
static void poll_both(struct bench_client *client, const int64_t *offsets)
{
    static const struct rig_op poll = {.kind = RIG_OP_POLL, .key = 1};
    uint32_t next = 0;
    for (int tries = 0; next < 2; tries++) {
        assert_true(tries < 100);
        transact_ok(client, &poll, 1);
        const struct rig_read *read = &client->transaction.reads[0];
        const int64_t *records = client->transaction.elements + read->first_element;
        next = read->state == RIG_READ_NIL ? 0 : next;
        for (uint32_t i = 0; read->state == RIG_READ_SEEN && i < read->count; i += 2) {
            if (tries > 0 && next == 0 && records[i] == offsets[1])
                next = 1; /* it was moved to this one */
            assert_true(next < 2);
            assert_int_equal(records[i], offsets[next]);
            assert_int_equal(records[i + 1], 5 + 2 * next);
            next++;
        }
    }
}

/* Each consumer polls both records of a log, and the acknowledgements tell their offsets. */
void logs_give_their_records_once(void **state)
{
    (void)state;
    if (!runs(RIG_WORKLOAD_LOG))
        skip();
    struct bench_run run;
    struct bench_client clients[2];
    start(&run, RIG_WORKLOAD_LOG, 2);
    open_client(&clients[0], &run, 0);
    open_client(&clients[1], &run, 1);
    static const struct rig_op ops[] = {{.kind = RIG_OP_SEND, .key = 1, .value = 5}, {.kind = RIG_OP_POLL, .key = 1},
                                        {.kind = RIG_OP_SEND, .key = 2, .value = 5}, {.kind = RIG_OP_POLL, .key = 2},
                                        {.kind = RIG_OP_SEND, .key = 1, .value = 7}, {.kind = RIG_OP_POLL, .key = 1}};
    transact_ok(&clients[0], ops, 6);
    const int64_t offsets[] = {acknowledged_offset(&clients[0], 1), acknowledged_offset(&clients[0], 5)};
    assert_true(offsets[0] < offsets[1]);
    (void)acknowledged_offset(&clients[0], 3);
    poll_both(&clients[0], offsets);
    poll_both(&clients[1], offsets);
    finish(&clients[1], &run);
}

static const struct rig_accounts accounts = {.count = 3, .balance = 10};

/* From account 0 to account 2. */
static enum rig_outcome transfer(struct bench_client *client, int64_t amount)
{
    const struct rig_op ops[] = {
        {.kind = RIG_OP_READ_COUNTER, .key = 0},
        {.kind = RIG_OP_READ_COUNTER, .key = 2},
        {.kind = RIG_OP_INCREMENT, .key = 0, .value = -amount},
        {.kind = RIG_OP_INCREMENT, .key = 2, .value = amount},
    };
    return transact(client, ops, 4);
}

void accounts_are_open_and_not_overdrawn(void **state)
{
    (void)state;
    if (!runs(RIG_WORKLOAD_BANK))
        skip();
    struct bench_run run;
    struct bench_client client;
    settings.accounts = accounts;
    start(&run, RIG_WORKLOAD_BANK, 1);
    settings.accounts = (struct rig_accounts){0};
    open_client(&client, &run, 0);
    assert_int_equal(transfer(&client, 6), RIG_OUTCOME_OK);
    assert_number(&client, 0, 10);
    assert_int_equal(transfer(&client, 5), RIG_OUTCOME_FAIL); /* of 4 that are left */
    assert_int_equal(transfer(&client, 4), RIG_OUTCOME_OK);
    assert_number(&client, 0, 4);
    assert_number(&client, 1, 16);
    static const struct rig_op reads[] = {{.kind = RIG_OP_READ_COUNTER, .key = 0},
                                          {.kind = RIG_OP_READ_COUNTER, .key = 1},
                                          {.kind = RIG_OP_READ_COUNTER, .key = 2}};
    transact_ok(&client, reads, 3);
    assert_number(&client, 0, 0);
    assert_number(&client, 1, 10);
    assert_number(&client, 2, 20);
    finish(&client, &run);
}

static struct rig_op row_op(enum rig_op_kind kind, int64_t value)
{
    return (struct rig_op){.kind = kind, .key = 1, .value = value};
}

static void assert_rows(const struct bench_client *client, uint32_t op, const int64_t *numbers, uint32_t count)
{
    const struct rig_read *read = &client->transaction.reads[op];
    assert_int_equal(read->count, count);
    assert_int_equal(read->state, count == 0 ? RIG_READ_NIL : RIG_READ_SEEN);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(client->transaction.elements[read->first_element + i], numbers[i]);
}

/* Statements on rows by id and by class: each shows the rows of its condition as they were before it. */
void conditions_find_their_rows(void **state)
{
    (void)state;
    if (!runs(RIG_WORKLOAD_PREDICATE))
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_PREDICATE, 1);
    open_client(&client, &run, 0);
    const int64_t first = rig_row_number(1, 10, RIG_ROWS_INSERT), second = rig_row_number(2, 20, RIG_ROWS_INSERT);
    const int64_t update = rig_row_number(3, 30, RIG_ROWS_UPDATE), delete = rig_row_number(4, 0, RIG_ROWS_DELETE);
    const int64_t of_class_20 = rig_row_condition_value(RIG_ROW_BY_CLASS, RIG_ROW_LISTED, 20, 5);
    const struct rig_op writes[] = {
        row_op(RIG_OP_READ_WHERE, 0),    row_op(RIG_OP_ROW, first),    row_op(RIG_OP_ROW, second),
        row_op(RIG_OP_ROW, of_class_20), row_op(RIG_OP_READ_WHERE, 0), /* reads */
        row_op(RIG_OP_ROW, of_class_20), row_op(RIG_OP_READ_WHERE, 0), row_op(RIG_OP_ROW, update),
    };
    const int64_t as_inserted[] = {second, second}, after_update[] = {second, update};
    transact_ok(&client, writes, 8);
    assert_rows(&client, 0, NULL, 0);
    assert_rows(&client, 4, as_inserted, 2);
    assert_rows(&client, 6, as_inserted, 2);
    const struct rig_op again[] = {
        row_op(RIG_OP_ROW, of_class_20),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, rig_row_condition_value(RIG_ROW_BY_ID, RIG_ROW_COUNTED, 0, RIG_ROW_ENDLESS)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, rig_row_condition_value(RIG_ROW_BY_ID, RIG_ROW_LISTED, 2, 0)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, delete),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, rig_row_condition_value(RIG_ROW_BY_CLASS, RIG_ROW_SUMMED, 0, RIG_ROW_ENDLESS)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, rig_row_condition_value(RIG_ROW_BY_ID, RIG_ROW_SUMMED, 9, 0)),
        row_op(RIG_OP_READ_WHERE, 0),
    };
    const int64_t sum[] = {0, first}, none[] = {0, 0};
    const int64_t sums[] = {2, first + update}, left[] = {first, first};
    transact_ok(&client, again, 12);
    assert_rows(&client, 1, NULL, 0); /* the update gave the row another class */
    assert_rows(&client, 3, sums, 2);
    assert_rows(&client, 5, after_update, 2);
    assert_rows(&client, 7, left, 2);
    assert_rows(&client, 9, sum, 2);
    assert_rows(&client, 11, none, 2);
    finish(&client, &run);
}

static uint32_t contents_of(int64_t a, int64_t b)
{
    uint32_t contents = rig_row_with_code(0, 0, rig_row_code_of(a)); /* c is NULL */
    contents = rig_row_with_code(contents, 1, rig_row_code_of(b));
    return rig_row_with_code(contents, RIG_ROW_TEXT, rig_row_code_of(3));
}

static int64_t one_test(struct rig_row_testing test, enum rig_row_way way)
{
    const struct rig_row_testings tests = {.count = 1, .at = {test}};
    return rig_row_tests_value(rig_row_tests_bits(&tests), RIG_ROW_LISTED, way);
}

/* Statements on rows with columns, in each way of reading: what an update assigns, later conditions find. */
void columns_hold_what_was_assigned(void **state)
{
    (void)state;
    if (!runs(RIG_WORKLOAD_SQL))
        skip();
    struct bench_run run;
    struct bench_client client;
    start(&run, RIG_WORKLOAD_SQL, 1);
    open_client(&client, &run, 0);
    /* c = COALESCE(b, 5), a = (a + 4) % 10 */
    const struct rig_row_assigning copy = {.column = 2, .form = RIG_ROW_SET_COALESCE, .source = 1, .constant = 15};
    const struct rig_row_assigning sum = {.column = 0, .form = RIG_ROW_SET_SUM, .source = 0, .constant = 14};
    const uint64_t payload = rig_row_assignment_bits(&copy) | (uint64_t)rig_row_assignment_bits(&sum)
                                                                  << RIG_ROW_ASSIGNED_BITS;
    const int64_t first = rig_row_sql_number(1, contents_of(7, 2), RIG_ROWS_INSERT);
    const int64_t second = rig_row_sql_number(2, contents_of(-4, 2), RIG_ROWS_INSERT);
    const int64_t update = rig_row_sql_number(3, payload, RIG_ROWS_UPDATE),
                  delete = rig_row_sql_number(4, 0, RIG_ROWS_DELETE);
    const struct rig_row_testing empty = {.form = RIG_ROW_TEST_NULL, .column = 2};
    const struct rig_row_testing one = {.form = RIG_ROW_TEST_EQUAL, .constant = 11}; /* a = 1, as 11 % 10 leaves it */
    const struct rig_row_testing letter = {.form = RIG_ROW_TEST_IN, .column = RIG_ROW_TEXT, .constant = 13};
    const struct rig_op writes[] = {
        row_op(RIG_OP_ROW, first),
        row_op(RIG_OP_ROW, second),
        row_op(RIG_OP_ROW, one_test(empty, RIG_ROW_SELECTED)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, update),
        row_op(RIG_OP_ROW, one_test(empty, RIG_ROW_AGGREGATED)),
        row_op(RIG_OP_READ_WHERE, 0),
    };
    transact_ok(&client, writes, 7);
    assert_int_equal(client.transaction.reads[3].count, 4); /* the order of rows is the database's */
    assert_rows(&client, 6, NULL, 0);
    const struct rig_op again[] = {
        row_op(RIG_OP_ROW, one_test(one, RIG_ROW_LOCKED)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, one_test(one, RIG_ROW_SHARED)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, one_test(one, RIG_ROW_AGGREGATED)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, one_test(one, RIG_ROW_SELECTED)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_ROW, delete),
        row_op(RIG_OP_ROW, one_test(letter, RIG_ROW_AGGREGATED)),
        row_op(RIG_OP_READ_WHERE, 0),
        row_op(RIG_OP_READ_WHERE, 0),
    };
    const int64_t found[] = {first, update}, left[] = {second, update};
    transact_ok(&client, again, 12);
    for (uint32_t op = 1; op <= 7; op += 2)
        assert_rows(&client, op, found, 2);
    assert_rows(&client, 10, left, 2);
    assert_rows(&client, 11, left, 2);
    finish(&client, &run);
}
