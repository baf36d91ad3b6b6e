/* The applications among the shapes of a load, each with one client and with several. */
#include <stdlib.h>
#include <string.h>

#include "generator/application.h"
#include "generator/load_schedule.h"
#include "tests/unit/generator_stage.h"

enum { ROUNDS = 6, CLIENTS = 5, SEED = 77, SESSIONS = 20, MOST_VALUE = 1 << 14 };

static struct rig_generator_options options_of(int64_t shape, int64_t type)
{
    struct rig_generator_options options = defaults;
    options.type = type;
    options.shape = shape;
    options.key_distribution = RIG_KEYS_UNIFORM;
    options.warehouses = 2;
    options.users = 20;
    options.rows = 30;
    return options;
}

/* All that the clients did to the keys, all of them at one pace. */
struct load {
    struct rig_generator_options options;
    struct rig_app_layout layout;
    uint32_t client_count;
    uint64_t transactions; /* of each client */
    int64_t bound;
    uint8_t *values;   /* by key and value: written */
    uint32_t *writes;  /* by key */
    uint64_t *last_at; /* by key: 1 + the last position that uses it, 0: none */
};

static uint32_t distinct_keys(const struct rig_transaction *transaction)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < i && !seen; j++)
            seen = transaction->ops[j].key == transaction->ops[i].key;
        count += !seen;
    }
    return count;
}

static void use(struct load *load, const struct rig_op *op, uint64_t position)
{
    assert_in_range(op->key, 0, load->bound - 1);
    load->last_at[op->key] = position + 1;
    if (rig_op_reads(op->kind)) {
        assert_int_equal(op->value, 0);
        return;
    }
    assert_false(op->key >= load->layout.written && op->key < load->layout.standing); /* only read */
    assert_in_range(op->value, 1, MOST_VALUE - 1);
    uint8_t *value = &load->values[op->key * MOST_VALUE + op->value];
    assert_int_equal(*value, 0); /* never twice, by any client */
    *value = 1;
    load->writes[op->key]++;
}

static void check_transaction(struct load *load, const struct rig_transaction *transaction, uint64_t position)
{
    bool read_only = true;
    assert_in_range(transaction->op_count, 1, rig_generator_most_operations(&load->options));
    assert_true(distinct_keys(transaction) <= rig_generator_most_keys(&load->options));
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        use(load, &transaction->ops[i], position);
        read_only &= rig_op_reads(transaction->ops[i].kind);
    }
    assert_int_equal(transaction->read_only, read_only);
}

static void load_init(struct load *load, int64_t shape, int64_t type, uint32_t client_count)
{
    *load = (struct load){.options = options_of(shape, type), .client_count = client_count};
    load->options.sharing = client_count == 1 ? SESSIONS : 0; /* one stream alone is one of several sessions */
    rig_app_layout_init(&load->layout, &load->options, SEED, client_count);
    load->transactions = (uint64_t)ROUNDS * load->layout.round;
    load->bound = rig_app_key_bound(&load->layout, load->transactions);
    load->values = calloc((size_t)load->bound, MOST_VALUE);
    load->writes = calloc((size_t)load->bound, sizeof *load->writes);
    load->last_at = calloc((size_t)load->bound, sizeof *load->last_at);
    assert_true(load->values != NULL && load->writes != NULL && load->last_at != NULL);
    struct rig_generator *clients[CLIENTS];
    for (uint32_t c = 0; c < client_count; c++)
        clients[c] = new_generator(&load->options, SEED, c, client_count);
    for (uint64_t position = 0; position < load->transactions; position++) {
        for (uint32_t c = 0; c < client_count; c++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(clients[c], &transaction);
            check_transaction(load, &transaction, position);
        }
    }
    for (uint32_t c = 0; c < client_count; c++) {
        assert_int_equal(rig_generator_key_bound(clients[c]), load->bound);
        rig_generator_free(clients[c]);
    }
}

static void load_done(struct load *load)
{
    free(load->values);
    free(load->writes);
    free(load->last_at);
}

static void for_each_load(void (*test)(struct load *load))
{
    for (int64_t shape = 0; shape < RIG_LOAD_SHAPE_COUNT; shape++) {
        if (rig_application_of(shape) == NULL)
            continue;
        for (int64_t type = 0; type <= RIG_WORKLOAD_RW_REGISTER; type++) {
            for (uint32_t clients = 1; clients <= CLIENTS; clients += CLIENTS - 1) {
                struct load load;
                load_init(&load, shape, type, clients);
                test(&load);
                load_done(&load);
            }
        }
    }
}

/* A row that the load inserts gets one value, or two when it is updated; what is read of these was inserted. */
static void check_inserted_rows(struct load *load)
{
    uint64_t inserted = 0;
    for (int64_t key = load->layout.standing; key < load->bound; key++) {
        assert_in_range(load->writes[key], 0, 2);
        if (load->last_at[key] != 0)
            assert_int_equal(load->values[key * MOST_VALUE + 1], 1);
        inserted += load->writes[key] > 0;
    }
    assert_int_equal(inserted > 0, load->layout.inserted > 0);
}

static void values_are_unique_and_inserted_rows_exist(void **state)
{
    (void)state;
    for_each_load(check_inserted_rows);
}

/* Every key that was written leaves, or is in use at the end; none is used from the position on at which it leaves. */
static void check_leaving(struct load *load)
{
    struct rig_key_schedule schedule;
    struct rig_err err = {0};
    int64_t key;
    uint8_t *told = calloc((size_t)load->bound, 1);
    assert_int_equal(rig_key_schedule_init(&schedule, &load->options, SEED, load->client_count, &err), RIG_OK);
    uint64_t before = 0, left = 0;
    while (rig_key_schedule_next(&schedule) < load->transactions) {
        const uint64_t at = rig_key_schedule_next(&schedule);
        assert_true(at >= before);
        before = at;
        key = rig_key_schedule_leave(&schedule);
        assert_in_range(key, load->layout.standing, load->bound - 1);
        assert_int_equal(told[key], 0);
        told[key] = 1;
        assert_true(load->writes[key] > 0);    /* no row that its unit does not have */
        assert_true(load->last_at[key] <= at); /* 1 + the last position */
        left++;
    }
    assert_int_equal(left > 0, load->layout.inserted > 0);
    while (rig_key_schedule_rest(&schedule, load->transactions, &key)) {
        assert_in_range(key, 0, load->bound - 1);
        assert_int_equal(told[key], 0);
        told[key] = 1;
    }
    for (key = 0; key < load->bound; key++)
        assert_true(told[key] == 1 || load->writes[key] == 0);
    assert_int_equal(rig_key_schedule_bound(&schedule, load->transactions), load->bound);
    rig_key_schedule_done(&schedule);
    free(told);
}

static void keys_that_left_are_not_used_again(void **state)
{
    (void)state;
    for_each_load(check_leaving);
}

static void skipping_stays_on_the_stream(void **state)
{
    (void)state;
    for (int64_t shape = 0; shape < RIG_LOAD_SHAPE_COUNT; shape++) {
        const struct rig_generator_options options = options_of(shape, RIG_WORKLOAD_RW_REGISTER);
        struct rig_generator *walked = new_generator(&options, SEED, 1, 3),
                             *skipped = new_generator(&options, SEED, 1, 3);
        struct rig_transaction x = {0}, y = {0};
        for (int i = 0; i < 100; i++)
            rig_generator_next(walked, &x);
        rig_generator_skip_to(skipped, 100);
        for (int i = 0; i < 100; i++) {
            rig_generator_next(walked, &x);
            rig_generator_next(skipped, &y);
            assert_same(&x, &y);
        }
        rig_generator_free(walked);
        rig_generator_free(skipped);
    }
}

/* The general shape: its keys are used from the first transaction to the last. */
static void general_keys_stay(void **state)
{
    (void)state;
    struct rig_generator_options options = options_of(RIG_LOAD_GENERAL, RIG_WORKLOAD_RW_REGISTER);
    struct rig_generator *generator = new_generator(&options, SEED, 0, 1);
    uint64_t late[30] = {0};
    for (int i = 0; i < 20000; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        for (uint32_t op = 0; op < transaction.op_count; op++) {
            assert_in_range(transaction.ops[op].key, 0, options.rows - 1);
            late[transaction.ops[op].key] += i >= 10000;
        }
    }
    for (int key = 0; key < 30; key++)
        assert_in_range(late[key], 700, 1300); /* 1000 expected */
    rig_generator_free(generator);
}

/* The transactions of one TPC-C client: the deck's mix, by what they write. */
static void tpcc_has_its_mix(void **state)
{
    (void)state;
    const struct rig_generator_options options = options_of(RIG_LOAD_TPCC, RIG_WORKLOAD_RW_REGISTER);
    struct rig_app_layout layout;
    struct rig_generator *generator = new_generator(&options, SEED, 0, 1);
    rig_app_layout_init(&layout, &options, SEED, 1);
    assert_int_equal(layout.deck, 32);
    assert_int_equal(layout.standing, 2 + 20 + 400 + 60 + 30);
    assert_int_equal(layout.written, layout.standing - 30);
    uint32_t payments = 0, orders = 0, deliveries = 0, reading = 0;
    rig_generator_skip_to(generator, 32); /* the first deck has nothing to deliver */
    for (int i = 0; i < 10 * 32; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        const bool writes_warehouse = transaction.op_count > 1 && transaction.ops[1].kind == RIG_OP_WRITE &&
                                      transaction.ops[1].key < options.warehouses;
        reading += transaction.read_only;
        payments += writes_warehouse;
        orders += !writes_warehouse && !transaction.read_only && transaction.ops[0].key < options.warehouses;
        deliveries += transaction.ops[0].key >= layout.standing;
    }
    assert_int_equal(payments, 100);
    assert_int_equal(orders, 100);
    assert_int_equal(deliveries, 100);
    assert_int_equal(reading, 20);
    rig_generator_free(generator);
}

static void options_without_effect_are_rejected(void **state)
{
    (void)state;
    struct rig_generator_options options = options_of(RIG_LOAD_SMALLBANK, RIG_WORKLOAD_RW_REGISTER);
    struct rig_err err = {0};
    options.key_distribution = RIG_KEYS_EXPONENTIAL; /* as when it is not given */
    assert_int_equal(rig_generator_check(&options, &err), RIG_E_PLAN);
    assert_string_equal(err.text, "`warehouses` has no effect on the shape `smallbank`; leave it out");
    options = options_of(RIG_LOAD_TPCC, RIG_WORKLOAD_RW_REGISTER);
    options.key_distribution = RIG_KEYS_EXPONENTIAL;
    assert_int_equal(rig_generator_check(&options, &(struct rig_err){0}), RIG_OK);
    options.warehouses = 10000;
    options.users = 3000;
    err = (struct rig_err){0};
    assert_int_equal(rig_generator_check(&options, &err), RIG_E_PLAN);
    assert_non_null(strstr(err.text, "300410030 rows"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_unique_and_inserted_rows_exist),
        cmocka_unit_test(keys_that_left_are_not_used_again),
        cmocka_unit_test(skipping_stays_on_the_stream),
        cmocka_unit_test(general_keys_stay),
        cmocka_unit_test(tpcc_has_its_mix),
        cmocka_unit_test(options_without_effect_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
