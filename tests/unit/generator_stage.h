/* A generator with the defaults of a plan; its caller frees it. */
#ifndef RIG_TESTS_UNIT_GENERATOR_STAGE_H
#define RIG_TESTS_UNIT_GENERATOR_STAGE_H

#include "generator/generator.h"
#include "tests/unit/cmocka_first.h"

static const struct rig_generator_options defaults = {.type = RIG_WORKLOAD_LIST_APPEND,
                                                      .transactions = 1000,
                                                      .min_operations = 1,
                                                      .max_operations = 5,
                                                      .reads = 0.5,
                                                      .compare_and_sets = 0.5,
                                                      .puts = 0.25,
                                                      .values = 5,
                                                      .lock_most = 2,
                                                      .lock_work = 0.3,
                                                      .active_keys = 10,
                                                      .key_distribution = RIG_KEYS_EXPONENTIAL,
                                                      .zipf_exponent = 0.99,
                                                      .hot_keys = 0.2,
                                                      .hot_accesses = 0.8,
                                                      .appends_per_key = 128,
                                                      .templates = 24,
                                                      .nulls = 0.15,
                                                      .locks = 0.1,
                                                      .aggregates = 0.1,
                                                      .references = 0.1,
                                                      .rollback_most = 2,
                                                      .group = 2,
                                                      .amount_most = 5,
                                                      .accounts = 8,
                                                      .balance = 10,
                                                      .warehouses = 1,
                                                      .users = 100,
                                                      .rows = 100};

static struct rig_generator *new_generator(const struct rig_generator_options *options, uint64_t seed, uint32_t client,
                                           uint32_t client_count)
{
    struct rig_err err = {0};
    struct rig_generator *generator = NULL;
    if (rig_generator_new(options, seed, client, client_count, &generator, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return generator;
}

/* Compares field by field. */
static inline void assert_same(const struct rig_transaction *x, const struct rig_transaction *y)
{
    assert_int_equal(x->op_count, y->op_count);
    assert_int_equal(x->read_only, y->read_only);
    assert_int_equal(x->hold.wanted, y->hold.wanted);
    assert_int_equal(x->hold.before_op, y->hold.before_op);
    for (uint32_t i = 0; i < x->op_count; i++) {
        assert_int_equal(x->ops[i].kind, y->ops[i].kind);
        assert_int_equal(x->ops[i].key, y->ops[i].key);
        assert_int_equal(x->ops[i].value, y->ops[i].value);
    }
}

#endif
