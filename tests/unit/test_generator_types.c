/* The transactions that the generator draws for each type of data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator/load_schedule.h"
#include "history/types/log_ops.h"
#include "tests/unit/generator_stage.h"

static struct rig_generator_options object_options(enum rig_workload type)
{
    struct rig_generator_options options = defaults;
    options.type = type;
    options.values = 3;
    options.compare_and_sets = 0.5;
    options.appends_per_key = 20;
    return options;
}

/* Values repeat, and each kind of operation has its share. */
static void registers_are_read_written_and_compared(void **state)
{
    (void)state;
    const struct rig_generator_options options = object_options(RIG_WORKLOAD_CAS_REGISTER);
    struct rig_generator *generator = new_generator(&options, 3, 0, 2);
    unsigned reads = 0, writes = 0, compared = 0, times[3] = {0};
    assert_int_equal(rig_generator_most_operations(&options), 2);
    assert_int_equal(rig_generator_keys_a_read(&options), 1);
    for (int i = 0; i < 4000; i++) {
        struct rig_transaction t = {0};
        rig_generator_next(generator, &t);
        const struct rig_op *last = &t.ops[t.op_count - 1];
        assert_true(t.op_count == 1 || (t.ops[0].kind == RIG_OP_EXPECT && t.ops[0].key == last->key));
        assert_int_equal(t.read_only, last->kind == RIG_OP_READ_REGISTER);
        reads += t.read_only;
        writes += t.op_count == 1 && !t.read_only;
        compared += t.op_count == 2;
        if (!t.read_only)
            times[last->value]++;
    }
    assert_in_range(reads, 1900, 2100);
    assert_in_range(writes, 900, 1100);
    assert_in_range(compared, 900, 1100);
    assert_true(times[0] > 500 && times[1] > 500 && times[2] > 500);
    /* About 20 writes a key, of two clients. */
    assert_in_range(rig_generator_key_bound(generator), 190, 230);
    rig_generator_free(generator);
}

/* Digits from 1 to 9: two at a put, one at an append. */
static void strings_are_put_and_appended_to(void **state)
{
    (void)state;
    struct rig_generator_options options = object_options(RIG_WORKLOAD_APPEND_REGISTER);
    options.puts = 0.25;
    struct rig_generator *generator = new_generator(&options, 3, 0, 2);
    unsigned puts = 0, appends = 0;
    for (int i = 0; i < 4000; i++) {
        struct rig_transaction t = {0};
        rig_generator_next(generator, &t);
        const struct rig_op *op = &t.ops[0];
        assert_int_equal(t.op_count, 1);
        assert_int_equal(t.read_only, op->kind == RIG_OP_READ_REGISTER);
        puts += op->kind == RIG_OP_WRITE;
        appends += op->kind == RIG_OP_EXTEND;
        assert_true(t.read_only || (op->value % 10 != 0 && op->value / 10 <= 9));
        assert_true(t.read_only || (op->value > 10) == (op->kind == RIG_OP_WRITE));
    }
    assert_in_range(puts, 420, 580);
    assert_in_range(appends, 1350, 1650);
    rig_generator_free(generator);
}

static void locks_are_acquired_and_released_in_turn(void **state)
{
    (void)state;
    const struct rig_generator_options options = object_options(RIG_WORKLOAD_MUTEX);
    struct rig_generator *generator = new_generator(&options, 3, 1, 2);
    unsigned moved = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t key = 0;
        for (int64_t held = 0; held < 2; held++) {
            struct rig_transaction t = {0};
            rig_generator_next(generator, &t);
            assert_int_equal(t.op_count, 2);
            assert_int_equal(t.ops[0].kind, RIG_OP_EXPECT);
            assert_int_equal(t.ops[0].value, held);
            assert_int_equal(t.ops[1].value, 1 - held);
            moved += held == 1 && t.ops[1].key != key;
            key = t.ops[0].key;
        }
    }
    assert_in_range(moved, 0, 100);
    assert_int_equal(rig_generator_final_reads(&options), RIG_FINAL_NONE);
    rig_generator_free(generator);
}

/* An acquisition comes first; the owner is the client; a lease follows its limit. */
static void owners_acquire_work_and_release(void **state)
{
    (void)state;
    struct rig_generator_options options = object_options(RIG_WORKLOAD_LOCK);
    options.lock_lease_ns = 1000;
    options.lock_work = 0.3;
    struct rig_generator *generator = new_generator(&options, 3, 1, 2);
    unsigned holds = 0, frees = 0, works = 0;
    for (int i = 0; i < 1000; i++) {
        struct rig_transaction t = {0};
        rig_generator_next(generator, &t);
        const enum rig_op_kind kind = t.ops[0].kind;
        assert_true(i > 0 || kind == RIG_OP_HOLD);
        assert_int_equal(t.op_count, kind == RIG_OP_HOLD ? 4 : 1);
        assert_true(kind == RIG_OP_TOKEN || t.ops[0].value == 1);
        if (kind == RIG_OP_HOLD) {
            assert_int_equal(t.ops[1].kind, RIG_OP_LIMIT);
            assert_int_equal(t.ops[1].value, 1);
            assert_int_equal(t.ops[2].value, 1000);
            assert_int_equal(t.ops[3].kind, RIG_OP_TOKEN);
        }
        holds += kind == RIG_OP_HOLD;
        frees += kind == RIG_OP_FREE;
        works += kind == RIG_OP_TOKEN;
    }
    assert_in_range(holds, 250, 400);
    assert_true(frees > holds);
    assert_in_range(works, 150, 300);
    rig_generator_free(generator);
}

static void leases_are_of_locks_that_are_held_once(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    struct rig_err err = {0};
    options.type = RIG_WORKLOAD_LOCK;
    options.lock_lease_ns = 1000;
    assert_int_equal(rig_generator_check(&options, &err), RIG_OK);
    options.lock_kind = RIG_LOCK_SEMAPHORE;
    assert_int_equal(rig_generator_check(&options, &err), RIG_E_PLAN);
}

static void assert_pairs(const struct rig_transaction *transaction, uint32_t partners[1000], int *writes)
{
    for (uint32_t i = 0; i + 1 < transaction->op_count; i += 2) {
        const struct rig_op *first = &transaction->ops[i], *second = first + 1;
        assert_int_equal(first->kind, RIG_OP_READ_LIST);
        assert_true(first->key != second->key && first->key < 1000 && second->key < 1000);
        assert_true(partners[first->key] == 0 || partners[first->key] == (uint32_t)second->key + 1);
        partners[first->key] = (uint32_t)second->key + 1;
        partners[second->key] = (uint32_t)first->key + 1;
        *writes += second->kind == RIG_OP_APPEND ? 1 : 0;
    }
    if (transaction->op_count % 2 != 0)
        assert_int_equal(transaction->ops[transaction->op_count - 1].kind, RIG_OP_READ_LIST);
}

/* No key leaves the pool: each has one partner throughout. */
static void pairs_read_one_key_and_write_the_other(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.shape = RIG_LOAD_PAIRS;
    options.reads = 0.2;
    options.active_keys = 1000;
    options.key_distribution = RIG_KEYS_UNIFORM;
    options.appends_per_key = 1000000;
    struct rig_err err = {0};
    assert_int_equal(rig_generator_check(&options, &err), RIG_OK);
    struct rig_generator *generator = new_generator(&options, 8, 0, 2);
    uint32_t partners[1000] = {0};
    int writes = 0;
    enum { COUNT = 20000 };
    for (int i = 0; i < COUNT; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        assert_pairs(&transaction, partners, &writes);
    }
    /* 0, 1, 1, 2 and 2 pairs in 1 to 5 operations, of which four in five write. */
    assert_in_range(writes, COUNT * 1.2 * 0.8 * 0.97, COUNT * 1.2 * 0.8 * 1.03);
    struct rig_key_pool pool;
    assert_int_equal(rig_generator_pool_init(&pool, &options, 2, &err), RIG_OK);
    assert_true(fabs(pool.slots[0].moves_per_position * 1000 - 1.2 * 0.8 * 2 / 1000000) < 1e-12);
    rig_key_pool_done(&pool);
    rig_generator_free(generator);
}

/* Transfers cancel out, and each other transaction reads all accounts. */
static void banks_move_money_or_read_all(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.type = RIG_WORKLOAD_BANK;
    options.reads = 0.3;
    struct rig_err err = {0};
    assert_int_equal(rig_generator_check(&options, &err), RIG_OK);
    assert_int_equal(rig_generator_most_operations(&options), 8);
    assert_int_equal(rig_generator_most_keys(&options), 8);
    struct rig_generator *generator = new_generator(&options, 4, 1, 3);
    int reads = 0;
    for (int i = 0; i < 10000; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        const struct rig_op *ops = transaction.ops;
        reads += transaction.read_only;
        assert_int_equal(transaction.op_count, transaction.read_only ? 8 : 4);
        for (uint32_t j = 0; transaction.read_only && j < 8; j++)
            assert_true(ops[j].kind == RIG_OP_READ_COUNTER && ops[j].key == j);
        if (transaction.read_only)
            continue;
        assert_true(ops[0].key == ops[2].key && ops[1].key == ops[3].key && ops[0].key != ops[1].key);
        assert_in_range(ops[3].value, 1, 5);
        assert_int_equal(ops[2].value, -ops[3].value);
    }
    assert_in_range(reads, 2800, 3200);
    assert_int_equal(rig_generator_key_bound(generator), 8);
    rig_generator_free(generator);
}

/* Each key is written once by all clients together, while its group is read, and by none after it has left. */
static void forks_write_each_key_once(void **state)
{
    (void)state;
    enum { SHARERS = 5, POSITIONS = 2000, FORKED = 8000 };
    struct rig_generator_options options = defaults;
    options.type = RIG_WORKLOAD_LONG_FORK;
    options.group = 3;
    options.reads = 0.6;
    struct rig_err err = {0};
    assert_int_equal(rig_generator_check(&options, &err), RIG_OK);
    static uint32_t writes[FORKED], reads[FORKED];
    struct rig_generator *generators[SHARERS];
    struct rig_key_schedule schedule;
    assert_int_equal(rig_key_schedule_init(&schedule, &options, 4, SHARERS, &err), RIG_OK);
    for (uint32_t c = 0; c < SHARERS; c++)
        generators[c] = new_generator(&options, 4, c, SHARERS);
    int64_t left = 0;
    for (uint64_t position = 0; position < POSITIONS; position++) {
        while (rig_key_schedule_next(&schedule) <= position)
            assert_int_equal(rig_key_schedule_leave(&schedule), left++);
        for (uint32_t c = 0; c < SHARERS; c++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(generators[c], &transaction);
            assert_int_equal(transaction.op_count, transaction.read_only ? 3 : 1);
            for (uint32_t i = 0; i < transaction.op_count; i++) {
                const int64_t key = transaction.ops[i].key;
                assert_in_range(key, left, rig_generator_key_bound(generators[c]) - 1);
                assert_true(key < FORKED && key / 3 == transaction.ops[0].key / 3);
                (transaction.read_only ? reads : writes)[key]++;
            }
        }
    }
    assert_in_range(left, POSITIONS * SHARERS * 0.4 - 100, POSITIONS * SHARERS * 0.4);
    int64_t unread = 0;
    for (int64_t key = 0; key < left; key++) {
        assert_int_equal(writes[key], 1);
        unread += reads[key] == 0;
    }
    assert_true(unread < left / 30);
    int64_t key;
    while (rig_key_schedule_rest(&schedule, POSITIONS, &key))
        assert_int_equal(key, left++);
    assert_int_equal(left, rig_key_schedule_bound(&schedule, POSITIONS));
    rig_key_schedule_done(&schedule);
    for (uint32_t c = 0; c < SHARERS; c++)
        rig_generator_free(generators[c]);
}

/* No key is used before or after the positions that the schedule says, and no value is written twice to a key. */
static void groups_follow_their_schedule(void **state)
{
    (void)state;
    enum { SHARERS = 5, POSITIONS = 1500, MOST_KEYS = 40000, MOST_VALUES = 4096 };
    static const enum rig_workload types[] = {RIG_WORKLOAD_MONOTONIC, RIG_WORKLOAD_UNIQUE_IDS, RIG_WORKLOAD_DIRTY_READS,
                                              RIG_WORKLOAD_SEQUENTIAL, RIG_WORKLOAD_MULTI_KEY};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        struct rig_generator_options options = defaults;
        options.type = types[t];
        const bool stays = types[t] != RIG_WORKLOAD_UNIQUE_IDS && types[t] != RIG_WORKLOAD_SEQUENTIAL;
        options.group = types[t] == RIG_WORKLOAD_UNIQUE_IDS ? options.group : 3;
        options.appends_per_key = stays ? 20 : options.appends_per_key;
        struct rig_err err = {0};
        assert_int_equal(rig_generator_check(&options, &err), RIG_OK);
        struct rig_generator *generators[SHARERS];
        struct rig_key_schedule schedule;
        assert_int_equal(rig_key_schedule_init(&schedule, &options, 4, SHARERS, &err), RIG_OK);
        uint8_t *seen = calloc(MOST_KEYS, MOST_VALUES / 8);
        assert_non_null(seen);
        for (uint32_t c = 0; c < SHARERS; c++)
            generators[c] = new_generator(&options, 4, c, SHARERS);
        int64_t left = 0, writes = 0;
        for (uint64_t position = 0; position < POSITIONS; position++) {
            while (rig_key_schedule_next(&schedule) <= position)
                assert_int_equal(rig_key_schedule_leave(&schedule), left++);
            for (uint32_t c = 0; c < SHARERS; c++) {
                struct rig_transaction transaction = {0};
                rig_generator_next(generators[c], &transaction);
                assert_in_range(transaction.op_count, 1, rig_generator_most_operations(&options));
                for (uint32_t i = 0; i < transaction.op_count; i++) {
                    const struct rig_op *op = &transaction.ops[i];
                    assert_in_range(op->key, left, rig_generator_key_bound(generators[c]) - 1);
                    assert_int_equal(rig_generator_key_bound(generators[c]),
                                     rig_key_schedule_bound(&schedule, position + 1));
                    if (rig_op_reads(op->kind))
                        continue;
                    assert_false(transaction.read_only);
                    assert_in_range(op->key, 0, MOST_KEYS - 1);
                    assert_in_range(op->value, 1, MOST_VALUES - 1);
                    uint8_t *byte = &seen[op->key * (MOST_VALUES / 8) + op->value / 8];
                    assert_false(*byte & 1 << op->value % 8);
                    *byte |= (uint8_t)(1 << op->value % 8);
                    writes++;
                }
            }
        }
        assert_true(left > 0);
        if (types[t] == RIG_WORKLOAD_MONOTONIC || types[t] == RIG_WORKLOAD_DIRTY_READS)
            assert_in_range(writes / left, options.appends_per_key - 3, options.appends_per_key + 6);
        rig_key_schedule_done(&schedule);
        for (uint32_t c = 0; c < SHARERS; c++)
            rig_generator_free(generators[c]);
        free(seen);
    }
}

static void counters_are_changed_by_amounts(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.type = RIG_WORKLOAD_COUNTER;
    options.amount_negative = 0.25;
    struct rig_generator *generator = new_generator(&options, 4, 0, 2);
    int up = 0, down = 0;
    for (int i = 0; i < 10000; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        for (uint32_t j = 0; j < transaction.op_count; j++) {
            const int64_t value = transaction.ops[j].value;
            assert_true((value == 0) == (transaction.ops[j].kind == RIG_OP_READ_COUNTER) && value >= -5 && value <= 5);
            up += value > 0;
            down += value < 0;
        }
    }
    assert_in_range(down * 100 / (up + down), 23, 27);
    rig_generator_free(generator);
}

/* Each send is followed by its acknowledgement; values are unique per log; no transaction only reads. */
static void logs_are_sent_to_and_polled(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.type = RIG_WORKLOAD_LOG;
    options.min_operations = 1;
    options.max_operations = 4;
    options.reads = 0.25;
    struct rig_generator *generator = new_generator(&options, 4, 1, 2);
    unsigned sends = 0, polls = 0;
    assert_int_equal(rig_generator_most_operations(&options), 8);
    assert_int_equal(rig_generator_keys_a_read(&options), 1);
    assert_true(rig_generator_drains_on(&options, RIG_READ_SEEN, 2) &&
                rig_generator_drains_on(&options, RIG_READ_NIL, 0));
    assert_false(rig_generator_drains_on(&options, RIG_READ_SEEN, 0));
    for (int i = 0; i < 4000; i++) {
        struct rig_transaction t = {0};
        rig_generator_next(generator, &t);
        assert_false(t.read_only);
        for (uint32_t j = 0; j < t.op_count; j++) {
            const bool acknowledges = rig_op_acknowledges(t.ops, j);
            assert_true(t.ops[j].kind != RIG_OP_SEND || (j + 1 < t.op_count && rig_op_acknowledges(t.ops, j + 1)));
            sends += t.ops[j].kind == RIG_OP_SEND;
            polls += t.ops[j].kind == RIG_OP_POLL && !acknowledges;
        }
    }
    assert_in_range(polls * 100 / (sends + polls), 23, 27);
    rig_generator_free(generator);
}

static void pairs_that_are_none_are_refused(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    struct rig_err odd = {0}, short_ones = {0};
    options.shape = RIG_LOAD_PAIRS;
    options.active_keys = 11;
    assert_int_equal(rig_generator_check(&options, &odd), RIG_E_PLAN);
    assert_non_null(strstr(odd.text, "even number of keys"));
    options.active_keys = 10;
    options.max_operations = 1;
    assert_int_equal(rig_generator_check(&options, &short_ones), RIG_E_PLAN);
    assert_non_null(strstr(short_ones.text, "needs two operations"));
}

static void minis_write_the_keys_that_they_have_just_read(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.type = RIG_WORKLOAD_RW_REGISTER;
    options.shape = RIG_LOAD_MINI;
    options.max_operations = 4;
    struct rig_err err = {0};
    assert_int_equal(rig_generator_check(&options, &err), RIG_OK);
    struct rig_generator *generator = new_generator(&options, 8, 0, 2);
    int writes = 0, second_reads = 0;
    for (int i = 0; i < 10000; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        for (uint32_t at = 0; at < transaction.op_count; at++) {
            const struct rig_op *op = &transaction.ops[at];
            if (op->kind == RIG_OP_WRITE) {
                assert_true(at % 2 == 1 && op[-1].kind == RIG_OP_READ_REGISTER && op[-1].key == op->key);
                writes++;
            } else {
                second_reads += at % 2 == 1;
            }
        }
    }
    /* 0, 1, 1 and 2 pairs in 1 to 4 operations, of which half write. */
    assert_in_range(writes, 4700, 5300);
    assert_in_range(second_reads, 4700, 5300);
    rig_generator_free(generator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_read_written_and_compared),
        cmocka_unit_test(strings_are_put_and_appended_to),
        cmocka_unit_test(locks_are_acquired_and_released_in_turn),
        cmocka_unit_test(owners_acquire_work_and_release),
        cmocka_unit_test(leases_are_of_locks_that_are_held_once),
        cmocka_unit_test(pairs_read_one_key_and_write_the_other),
        cmocka_unit_test(banks_move_money_or_read_all),
        cmocka_unit_test(forks_write_each_key_once),
        cmocka_unit_test(groups_follow_their_schedule),
        cmocka_unit_test(counters_are_changed_by_amounts),
        cmocka_unit_test(logs_are_sent_to_and_polled),
        cmocka_unit_test(pairs_that_are_none_are_refused),
        cmocka_unit_test(minis_write_the_keys_that_they_have_just_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
