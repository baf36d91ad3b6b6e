#include "tests/unit/cmocka_first.h"

#include "base/option_parse.h"
#include "generator/synthetic/closing_reads.h"

static struct rig_generator_options options_of(enum rig_final_reads final_reads)
{
    struct rig_generator_options options = {0};
    struct rig_arena arena;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    assert_int_equal(rig_option_defaults(rig_generator_option_table, &options, &arena, &err), RIG_OK);
    rig_arena_done(&arena);
    options.final_reads = final_reads;
    options.active_keys = 5;
    options.key_distribution = RIG_KEYS_UNIFORM;
    options.appends_per_key = 10;
    return options;
}

enum { QUESTIONS = 5000, CONCURRENT = 7 };

/* Issues all questions, with CONCURRENT open at a time; each key comes once, when it is no longer used. */
static void keys_come_once_and_in_time(void **state)
{
    (void)state;
    static bool taken[QUESTIONS];
    const struct rig_generator_options options = options_of(RIG_FINAL_CLOSING);
    struct rig_closing_reads closing;
    struct rig_err err = {0};
    int64_t keys[RIG_MOST_KEYS_A_READ];
    uint32_t taken_count = 0;
    assert_int_equal(rig_closing_reads_init(&closing, &options, 1, &err), RIG_OK);
    for (uint64_t number = 0; number < QUESTIONS; number++) {
        assert_true(rig_closing_reads_issue(&closing));
        if (number >= CONCURRENT)
            rig_closing_reads_complete(&closing, number - CONCURRENT);
        uint32_t count = rig_closing_reads_take(&closing, keys);
        assert_true(count == 0 || count == closing.keys_a_read);
        for (uint32_t i = 0; i < count; i++) {
            assert_false(taken[keys[i]]);
            taken[keys[i]] = true;
            taken_count++;
            for (uint32_t slot = 0; slot < closing.keys.pool.slot_count; slot++)
                assert_int_not_equal(closing.keys.pool.slots[slot].key, keys[i]);
        }
    }
    /* 1.5 appends a question, 10 a key; few are still in use or waiting. */
    assert_in_range(taken_count, QUESTIONS * 3 / 20 - 20, QUESTIONS * 3 / 20);
    assert_true(closing.complete.capacity < 16384 && closing.waiting.capacity < 4096);
    for (uint64_t number = QUESTIONS - CONCURRENT; number < QUESTIONS; number++)
        rig_closing_reads_complete(&closing, number);
    assert_true(rig_closing_reads_end(&closing));
    for (uint32_t count; (count = rig_closing_reads_take(&closing, keys)) > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            assert_false(taken[keys[i]]);
            taken[keys[i]] = true;
            taken_count++;
        }
    }
    assert_int_equal(taken_count, rig_closing_reads_key_bound(&closing));
    rig_closing_reads_done(&closing);
}

static void an_open_question_holds_its_keys(void **state)
{
    (void)state;
    const struct rig_generator_options options = options_of(RIG_FINAL_CLOSING);
    struct rig_closing_reads closing;
    struct rig_err err = {0};
    int64_t keys[RIG_MOST_KEYS_A_READ];
    assert_int_equal(rig_closing_reads_init(&closing, &options, 1, &err), RIG_OK);
    for (uint64_t number = 0; number < 1000; number++) {
        assert_true(rig_closing_reads_issue(&closing));
        if (number > 0)
            rig_closing_reads_complete(&closing, number);
        assert_int_equal(rig_closing_reads_take(&closing, keys), 0);
    }
    rig_closing_reads_complete(&closing, 0);
    assert_int_equal(rig_closing_reads_take(&closing, keys), closing.keys_a_read);
    rig_closing_reads_done(&closing);
}

static void all_keys_wait_for_the_end_when_asked_to(void **state)
{
    (void)state;
    const struct rig_generator_options options = options_of(RIG_FINAL_ALL);
    struct rig_closing_reads closing;
    struct rig_err err = {0};
    int64_t keys[RIG_MOST_KEYS_A_READ];
    assert_int_equal(rig_closing_reads_init(&closing, &options, 1, &err), RIG_OK);
    for (uint64_t number = 0; number < 1000; number++) {
        assert_true(rig_closing_reads_issue(&closing));
        rig_closing_reads_complete(&closing, number);
        assert_int_equal(rig_closing_reads_take(&closing, keys), 0);
    }
    assert_true(rig_closing_reads_end(&closing));
    int64_t next = 0;
    for (uint32_t count; (count = rig_closing_reads_take(&closing, keys)) > 0;) {
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(keys[i], next++);
    }
    assert_int_equal(next, rig_closing_reads_key_bound(&closing));
    assert_true(next > 100);
    rig_closing_reads_done(&closing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_once_and_in_time),
        cmocka_unit_test(an_open_question_holds_its_keys),
        cmocka_unit_test(all_keys_wait_for_the_end_when_asked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
