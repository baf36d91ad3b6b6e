#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator/generated_questions.h"
#include "generator/load_schedule.h"
#include "tests/unit/generator_stage.h"

/* The same transaction from both. */
static void assert_same_next(struct rig_generator *a, struct rig_generator *b)
{
    struct rig_transaction x = {0}, y = {0};
    rig_generator_next(a, &x);
    rig_generator_next(b, &y);
    assert_same(&x, &y);
}

/* The stream of a client is the same alone and interleaved with others in any way. */
static void the_same_seed_gives_the_same_stream(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.long_share = 0.1;
    options.long_duration_ns = 1000;
    struct rig_generator *alone = new_generator(&options, 42, 2, 4);
    struct rig_generator *among[4];
    for (uint32_t client = 0; client < 4; client++)
        among[client] = new_generator(&options, 42, client, 4);
    struct rig_rng rng;
    rig_rng_init(&rng, 1, 1);
    for (int i = 0; i < 3000; i++) {
        struct rig_transaction transaction = {0};
        for (uint64_t others = rig_rng_below(&rng, 4); others > 0; others--)
            rig_generator_next(among[(uint64_t[]){0, 1, 3}[rig_rng_below(&rng, 3)]], &transaction);
        assert_same_next(alone, among[2]);
    }
    for (uint32_t client = 0; client < 4; client++)
        rig_generator_free(among[client]);
    rig_generator_free(alone);
}

static void other_seeds_and_clients_give_other_streams(void **state)
{
    (void)state;
    struct rig_generator *streams[] = {new_generator(&defaults, 42, 0, 4), new_generator(&defaults, 43, 0, 4),
                                       new_generator(&defaults, 42, 1, 4)};
    uint64_t digest[3] = {0};
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < 100; i++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(streams[s], &transaction);
            for (uint32_t op = 0; op < transaction.op_count; op++)
                digest[s] = digest[s] * 31 + (uint64_t)transaction.ops[op].key * 2 + (uint64_t)transaction.ops[op].kind;
        }
        rig_generator_free(streams[s]);
    }
    assert_true(digest[0] != digest[1] && digest[0] != digest[2] && digest[1] != digest[2]);
}

static void skipping_stays_on_the_stream(void **state)
{
    (void)state;
    struct rig_generator *walked = new_generator(&defaults, 5, 1, 3);
    struct rig_generator *skipped = new_generator(&defaults, 5, 1, 3);
    for (int i = 0; i < 777; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(walked, &transaction);
    }
    rig_generator_skip_to(skipped, 777);
    rig_generator_skip_to(skipped, 5);
    assert_int_equal(rig_generator_position(skipped), 777);
    for (int i = 0; i < 100; i++)
        assert_same_next(walked, skipped);
    rig_generator_free(walked);
    rig_generator_free(skipped);
}

enum { KEYS = 4096, VALUES = 2048, CLIENTS = 5 };
static uint8_t writer[KEYS][VALUES];

/* All clients at one pace: records the clients' writes to each key. Returns the number of keys that were written. */
static int64_t write_all(const struct rig_generator_options *options, int transactions, uint64_t *appends)
{
    memset(writer, 0, sizeof writer);
    struct rig_generator *clients[CLIENTS];
    for (uint32_t c = 0; c < CLIENTS; c++)
        clients[c] = new_generator(options, 99, c, CLIENTS);
    *appends = 0;
    for (int i = 0; i < transactions; i++) {
        for (uint32_t c = 0; c < CLIENTS; c++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(clients[c], &transaction);
            for (uint32_t op = 0; op < transaction.op_count; op++) {
                const struct rig_op *at = &transaction.ops[op];
                assert_in_range(at->key, 0, rig_generator_key_bound(clients[c]) - 1);
                if (at->kind != RIG_OP_APPEND && at->kind != RIG_OP_WRITE) {
                    assert_int_equal(at->value, 0);
                    continue;
                }
                assert_in_range(at->key, 0, KEYS - 1);
                assert_in_range(at->value, 1, VALUES - 1);
                assert_int_equal(writer[at->key][at->value], 0); /* never twice, by any client */
                writer[at->key][at->value] = (uint8_t)(c + 1);
                ++*appends;
            }
        }
    }
    int64_t bound = rig_generator_key_bound(clients[0]);
    for (uint32_t c = 0; c < CLIENTS; c++) {
        assert_int_equal(rig_generator_key_bound(clients[c]), bound); /* one schedule for all */
        rig_generator_free(clients[c]);
    }
    return bound;
}

static void values_never_collide_and_are_dense(void **state)
{
    (void)state;
    for (int64_t workload = 0; workload <= RIG_WORKLOAD_RW_REGISTER; workload++) {
        struct rig_generator_options options = defaults;
        options.type = workload;
        uint64_t appends;
        int64_t bound = write_all(&options, 6000, &appends);
        assert_in_range(bound, 100, KEYS);
        for (int64_t key = 0; key < bound; key++) {
            for (uint32_t c = 0; c < CLIENTS; c++) {
                bool ended = false;
                for (int64_t value = 1 + c; value < VALUES; value += CLIENTS) {
                    assert_true(writer[key][value] == 0 || writer[key][value] == c + 1);
                    assert_false(ended && writer[key][value] != 0); /* no gaps in a client's own values */
                    ended |= writer[key][value] == 0;
                }
            }
        }
    }
}

static void keys_rotate_after_their_appends(void **state)
{
    (void)state;
    for (int64_t distribution = RIG_KEYS_UNIFORM; distribution <= RIG_KEYS_ZIPF; distribution++) {
        struct rig_generator_options options = defaults;
        options.key_distribution = distribution;
        options.active_keys = 8;
        uint64_t appends;
        int64_t bound = write_all(&options, 8000, &appends);
        /* About 8000 * 5 * 3 * 0.5 / 128 = 469 moves. */
        double per_key = (double)appends / (double)(bound - options.active_keys);
        if (per_key < 118 || per_key > 138)
            fail_msg("distribution %d: %.1f appends a key, expected about 128", (int)distribution, per_key);
        /* A key of the middle, complete, got about its share; 6 standard deviations. */
        for (int64_t key = bound / 3; key < bound / 3 + 5; key++) {
            int count = 0;
            for (int value = 0; value < VALUES; value++)
                count += writer[key][value] != 0;
            assert_in_range(count, 128 - 68, 128 + 68);
        }
    }
}

static void distributions_have_their_shape(void **state)
{
    (void)state;
    enum { DRAWS = 400000 };
    struct rig_generator_options options = defaults;
    options.active_keys = 6;
    const double expected[3][6] = {
        {1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6},
        {32. / 63, 16. / 63, 8. / 63, 4. / 63, 2. / 63, 1. / 63},
        {1 / 2.45, 0.5 / 2.45, (1. / 3) / 2.45, 0.25 / 2.45, 0.2 / 2.45, (1. / 6) / 2.45},
    };
    options.zipf_exponent = 1;
    for (int64_t distribution = RIG_KEYS_UNIFORM; distribution <= RIG_KEYS_ZIPF; distribution++) {
        options.key_distribution = distribution;
        struct rig_key_pool pool = {0};
        struct rig_err err = {0};
        assert_int_equal(rig_key_pool_init(&pool, &options, 0.1, &err), RIG_OK);
        struct rig_rng rng;
        rig_rng_init(&rng, 31, (uint64_t)distribution);
        uint64_t counts[6] = {0};
        for (int i = 0; i < DRAWS; i++)
            counts[rig_key_pool_draw(&pool, &rng)->key]++;
        for (int slot = 0; slot < 6; slot++) {
            double mean = expected[distribution][slot] * DRAWS;
            double deviation = sqrt(mean * (1 - expected[distribution][slot]));
            if (fabs((double)counts[slot] - mean) > 5 * deviation)
                fail_msg("distribution %d slot %d: %llu draws, expected %.0f", (int)distribution, slot,
                         (unsigned long long)counts[slot], mean);
        }
        rig_key_pool_done(&pool);
    }
}

static void rollbacks_add_writes_before_an_operation(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct rig_generator_options options = defaults;
    options.reads = 1;
    options.min_operations = 2;
    options.max_operations = 4;
    options.rollback_share = 0.25;
    options.rollback_most = 3;
    options.long_share = 1;
    options.long_duration_ns = 7;
    options.long_before = RIG_HOLD_COMMIT;
    assert_int_equal(rig_generator_most_operations(&options), 7);
    struct rig_generator *generator = new_generator(&options, 8, 0, 2);
    uint32_t wanted = 0, places[4] = {0}, sizes[4] = {0};
    for (int i = 0; i < COUNT; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        const struct rig_rollback *rollback = &transaction.rollback;
        const uint32_t undone = rollback->to - rollback->from;
        assert_in_range(undone, 0, 3);
        assert_in_range(transaction.op_count - undone, 2, 4);
        assert_int_equal(transaction.hold.before_op, transaction.op_count);
        assert_int_equal(transaction.read_only, undone == 0);
        for (uint32_t op = 0; op < transaction.op_count; op++) {
            const bool is_undone = op >= rollback->from && op < rollback->to;
            assert_int_equal(transaction.ops[op].kind, is_undone ? RIG_OP_APPEND : RIG_OP_READ_LIST);
        }
        if (!rig_rollback_wanted(rollback))
            continue;
        assert_true(rollback->to < transaction.op_count);
        wanted++;
        places[rollback->from]++;
        sizes[undone]++;
    }
    assert_in_range(wanted, COUNT / 4 - 300, COUNT / 4 + 300);
    for (int i = 0; i < 4; i++)
        assert_true(places[i] > 0 && (sizes[i] > 0) == (i > 0));
    rig_generator_free(generator);
}

/* Parts of any type that can have them: reads are of keys that the part has not written, and its last operation writes.
 * */
static void rollbacks_have_reads_of_unwritten_keys(void **state)
{
    (void)state;
    static const enum rig_workload types[] = {RIG_WORKLOAD_RW_REGISTER, RIG_WORKLOAD_COUNTER, RIG_WORKLOAD_BANK};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        struct rig_generator_options options = defaults;
        options.type = types[t];
        options.rollback_share = 0.5;
        options.rollback_most = 6;
        options.rollback_reads = 0.5;
        struct rig_generator *generator = new_generator(&options, 8, 0, 2);
        uint32_t reads = 0, negative = 0;
        for (int i = 0; i < 5000; i++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(generator, &transaction);
            const struct rig_rollback *rollback = &transaction.rollback;
            assert_true(transaction.op_count <= rig_generator_most_operations(&options));
            if (!rig_rollback_wanted(rollback))
                continue;
            assert_true(rollback->to < transaction.op_count);
            assert_true(rig_rollback_undoes(rollback, transaction.ops, rollback->to - 1));
            for (uint32_t op = rollback->from; op < rollback->to; op++) {
                negative += transaction.ops[op].value < 0;
                if (!rig_op_reads(transaction.ops[op].kind))
                    continue;
                reads++;
                for (uint32_t before = rollback->from; before < op; before++)
                    assert_true(transaction.ops[before].key != transaction.ops[op].key ||
                                !rig_rollback_undoes(rollback, transaction.ops, before));
            }
        }
        assert_in_range(reads, 1500, 5000);
        assert_int_equal(negative > 1000, types[t] == RIG_WORKLOAD_BANK);
        rig_generator_free(generator);
    }
}

static void shares_and_sizes_are_kept(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.reads = 0.3;
    options.min_operations = 2;
    options.max_operations = 6;
    options.long_share = 0.25;
    options.long_duration_ns = 7;
    options.long_commits = 9;
    struct rig_generator *generator = new_generator(&options, 8, 0, 2);
    uint64_t operations = 0, reads = 0, held = 0, sizes[7] = {0};
    enum { COUNT = 40000 };
    for (int i = 0; i < COUNT; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        assert_in_range(transaction.op_count, 2, 6);
        sizes[transaction.op_count]++;
        operations += transaction.op_count;
        uint32_t reading = 0;
        for (uint32_t op = 0; op < transaction.op_count; op++)
            reading += transaction.ops[op].kind == RIG_OP_READ_LIST;
        reads += reading;
        assert_int_equal(transaction.read_only, reading == transaction.op_count);
        held += transaction.hold.wanted;
        if (transaction.hold.wanted) {
            assert_in_range(transaction.hold.before_op, 1, transaction.op_count);
            assert_int_equal(transaction.hold.duration_ns, 7);
            assert_int_equal(transaction.hold.other_commits, 9);
        }
    }
    assert_in_range(reads * 1000 / operations, 293, 307);
    assert_in_range(held * 1000 / COUNT, 238, 262);
    for (int size = 2; size <= 6; size++)
        assert_in_range(sizes[size], COUNT / 5 - 500, COUNT / 5 + 500);
    rig_generator_free(generator);
}

static void holds_come_where_the_plan_wants_them(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.long_share = 1;
    options.long_duration_ns = 7;
    for (int place = RIG_HOLD_FIRST_WRITE; place <= RIG_HOLD_COMMIT; place++) {
        options.long_before = place;
        struct rig_generator *generator = new_generator(&options, 8, 0, 2);
        int without = 0;
        for (int i = 0; i < 5000; i++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(generator, &transaction);
            uint32_t first_write = 0;
            while (first_write < transaction.op_count && transaction.ops[first_write].kind == RIG_OP_READ_LIST)
                first_write++;
            const bool held = place == RIG_HOLD_COMMIT || (first_write > 0 && first_write < transaction.op_count);
            assert_int_equal(transaction.hold.wanted, held);
            without += held ? 0 : 1;
            if (held)
                assert_int_equal(transaction.hold.before_op,
                                 place == RIG_HOLD_COMMIT ? transaction.op_count : first_write);
        }
        assert_true((without > 0) == (place == RIG_HOLD_FIRST_WRITE));
        rig_generator_free(generator);
    }
}

static void all_reads_and_no_reads_are_exact(void **state)
{
    (void)state;
    for (int share = 0; share <= 1; share++) {
        struct rig_generator_options options = defaults;
        options.reads = share;
        struct rig_generator *generator = new_generator(&options, 8, 0, 1);
        for (int i = 0; i < 5000; i++) {
            struct rig_transaction transaction = {0};
            rig_generator_next(generator, &transaction);
            for (uint32_t op = 0; op < transaction.op_count; op++)
                assert_int_equal(transaction.ops[op].kind, share == 1 ? RIG_OP_READ_LIST : RIG_OP_APPEND);
        }
        rig_generator_free(generator);
    }
}

/* One active key, one append a key, many clients: the fastest rotation possible. */
static void extreme_options_work(void **state)
{
    (void)state;
    struct rig_generator_options options = defaults;
    options.active_keys = 1;
    options.appends_per_key = 1;
    struct rig_generator *generator = new_generator(&options, 8, 63, 64);
    int64_t last = -1;
    for (int i = 0; i < 2000; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        assert_true(transaction.ops[0].key >= last);
        last = transaction.ops[0].key;
    }
    assert_in_range(last, 2000 * 80, 2000 * 110);
    rig_generator_free(generator);
    options.active_keys = 100000;
    options.key_distribution = RIG_KEYS_EXPONENTIAL;
    generator = new_generator(&options, 8, 0, 1);
    rig_generator_skip_to(generator, 1000);
    assert_true(rig_generator_key_bound(generator) > 100000);
    rig_generator_free(generator);
}

/* As a run's source of questions it gives the same transactions, and its pool the keys that they use. */
static void it_is_a_source_of_questions(void **state)
{
    (void)state;
    struct rig_err err = {0};
    struct rig_generated_questions generated;
    const struct rig_generator_options *const phases[] = {&defaults};
    const uint32_t client_counts[] = {4};
    rig_generated_questions_init(&generated, phases, client_counts, 1, 42);
    const struct rig_questions *questions = &generated.questions;
    struct rig_question_stream *stream = NULL;
    struct rig_load_schedule schedule = {0};
    assert_int_equal(questions->open(questions, 1, 4, &stream, &err), RIG_OK);
    assert_int_equal(questions->key_schedule(questions, 4, &schedule, &err), RIG_OK);
    assert_int_equal(questions->most_operations, defaults.max_operations);
    struct rig_generator *direct = new_generator(&defaults, 42, 1, 4);
    for (int i = 0; i < 3000; i++) {
        struct rig_transaction x = {0}, y = {0};
        if (i % 100 == 99) {
            stream->ops->skip_to(stream, stream->ops->position(stream) + 7);
            rig_generator_skip_to(direct, rig_generator_position(direct) + 7);
        }
        struct rig_key_pool *pool = &schedule.phases[0].pool;
        rig_key_pool_advance(pool, stream->ops->position(stream));
        assert_true(stream->ops->left(stream) == RIG_QUESTIONS_ENDLESS);
        stream->ops->next(stream, &x);
        rig_generator_next(direct, &y);
        assert_same(&x, &y);
        assert_int_equal(stream->ops->position(stream), rig_generator_position(direct));
        assert_int_equal(stream->ops->key_bound(stream), rig_generator_key_bound(direct));
        assert_int_equal(pool->next_key, rig_generator_key_bound(direct));
    }
    rig_load_schedule_done(&schedule);
    rig_generator_free(direct);
    stream->ops->free(stream);
}

/* Issues all transactions of the phase as one of its clients: the most that a client may get. */
static void assert_keys_below(const struct rig_generator_options *options, uint32_t client_count, int64_t transactions,
                              int64_t bound)
{
    struct rig_generator *generator = new_generator(options, 42, client_count - 1, client_count);
    for (int64_t i = 0; i < transactions; i++) {
        struct rig_transaction transaction = {0};
        rig_generator_next(generator, &transaction);
        for (uint32_t op = 0; op < transaction.op_count; op++)
            assert_in_range(transaction.ops[op].key, 0, bound - 1);
    }
    assert_true(rig_generator_key_bound(generator) <= bound);
    rig_generator_free(generator);
}

static int64_t key_bound(const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                         uint32_t phase_count, int64_t most)
{
    int64_t bound = -1;
    struct rig_err err = {0};
    assert_int_equal(rig_load_key_bound(phases, client_counts, phase_count, 42, most, &bound, &err), RIG_OK);
    return bound;
}

static void a_number_of_transactions_bounds_the_keys(void **state)
{
    (void)state;
    static const enum rig_workload types[] = {RIG_WORKLOAD_LIST_APPEND, RIG_WORKLOAD_LONG_FORK, RIG_WORKLOAD_MONOTONIC,
                                              RIG_WORKLOAD_SEQUENTIAL,  RIG_WORKLOAD_MULTI_KEY, RIG_WORKLOAD_UNIQUE_IDS,
                                              RIG_WORKLOAD_DIRTY_READS};
    const uint32_t client_counts[] = {4, 3};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct rig_generator_options options = defaults;
        options.type = types[i];
        options.group = 3;
        options.appends_per_key = 2;
        options.transactions = 1000;
        struct rig_generator_options later = options;
        later.transactions = 10;
        const struct rig_generator_options *const phases[] = {&options, &later};
        const int64_t bound = key_bound(phases, client_counts, 1, 1000000);
        assert_keys_below(&options, 4, 1000, bound);
        assert_int_equal(key_bound(phases, client_counts, 2, 1000000), 2 * (bound - 1) + 1);
        assert_true(key_bound(phases, client_counts, 1, 20) > 20);
    }
    struct rig_generator_options rows = defaults;
    rows.shape = RIG_LOAD_GENERAL;
    rows.rows = 7;
    const struct rig_generator_options *const phases[] = {&rows};
    assert_int_equal(key_bound(phases, client_counts, 1, 1000000), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_stream),
        cmocka_unit_test(other_seeds_and_clients_give_other_streams),
        cmocka_unit_test(skipping_stays_on_the_stream),
        cmocka_unit_test(values_never_collide_and_are_dense),
        cmocka_unit_test(keys_rotate_after_their_appends),
        cmocka_unit_test(distributions_have_their_shape),
        cmocka_unit_test(rollbacks_add_writes_before_an_operation),
        cmocka_unit_test(rollbacks_have_reads_of_unwritten_keys),
        cmocka_unit_test(shares_and_sizes_are_kept),
        cmocka_unit_test(holds_come_where_the_plan_wants_them),
        cmocka_unit_test(all_reads_and_no_reads_are_exact),
        cmocka_unit_test(extreme_options_work),
        cmocka_unit_test(it_is_a_source_of_questions),
        cmocka_unit_test(a_number_of_transactions_bounds_the_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
