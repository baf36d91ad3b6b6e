#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "drivers/sql/sql_values.h"

enum { ELEMENTS_MOST = 64 };

static void numbers_round_trip(void **state)
{
    (void)state;
    const int64_t numbers[] = {0, 1, -1, 9, 10, -10, 1234567890123456789, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[RIG_SQL_INT_BYTES];
        char reference[32];
        int64_t parsed = 77;
        size_t length = rig_sql_int_print(numbers[i], text);
        (void)snprintf(reference, sizeof reference, "%lld", (long long)numbers[i]);
        assert_string_equal(text, reference);
        assert_int_equal(length, strlen(reference));
        assert_true(rig_sql_int_parse(text, length, &parsed));
        assert_true(parsed == numbers[i]);
    }
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               "-",
                               "+1",
                               " 1",
                               "1 ",
                               "1.0",
                               "1e3",
                               "0x1",
                               "NULL",
                               "9223372036854775808",
                               "-9223372036854775809",
                               "18446744073709551617",
                               "99999999999999999999",
                               "1,2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t parsed = 77;
        if (rig_sql_int_parse(bad[i], strlen(bad[i]), &parsed))
            fail_msg("`%s` was read as %lld", bad[i], (long long)parsed);
        assert_int_equal(parsed, 77);
    }
}

/* Parses as PostgreSQL gives texts: with a length, and no terminator behind it. */
static bool parse(enum rig_sql_list_form form, const char *text, int64_t *elements, size_t *count)
{
    size_t length = strlen(text);
    char *exact = malloc(length + (length == 0));
    assert_non_null(exact);
    memcpy(exact, text, length);
    *count = rig_sql_list_count(form, exact, length);
    assert_true(*count <= ELEMENTS_MOST);
    bool parsed = rig_sql_list_parse(form, exact, length, elements);
    free(exact);
    return parsed;
}

static void lists_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *array;
        size_t count;
        int64_t elements[4];
    } lists[] = {
        {"5", "{5}", 1, {5}},
        {"1,2,3", "{1,2,3}", 3, {1, 2, 3}},
        {"-1,9223372036854775807", "{-1,9223372036854775807}", 2, {-1, INT64_MAX}},
    };
    int64_t elements[ELEMENTS_MOST];
    size_t count;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (int form = RIG_SQL_LIST_TEXT; form <= RIG_SQL_LIST_ARRAY; form++) {
            const char *text = form == RIG_SQL_LIST_TEXT ? lists[i].text : lists[i].array;
            assert_true(parse((enum rig_sql_list_form)form, text, elements, &count));
            assert_int_equal(count, lists[i].count);
            assert_memory_equal(elements, lists[i].elements, count * sizeof elements[0]);
        }
    }
    assert_true(parse(RIG_SQL_LIST_ARRAY, "{}", elements, &count));
    assert_int_equal(count, 0);
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    const char *const bad_texts[] = {"", ",", "1,", ",1", "1,,2", "1, 2", "a", "1;2", "{1}", "1,NULL", "1\n2"};
    const char *const bad_arrays[] = {"",     "{",   "}",    "1",       "1,2",      "{1",
                                      "1}",   "{,}", "{1,}", "{NULL}",  "{1,NULL}", "{{1},{2}}",
                                      "{1 }", "{ }", "{-}",  "{\"1\"}", "{1}{2}"};
    int64_t elements[ELEMENTS_MOST];
    size_t count;
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        if (parse(RIG_SQL_LIST_TEXT, bad_texts[i], elements, &count))
            fail_msg("the text `%s` was read as a list", bad_texts[i]);
    }
    for (size_t i = 0; i < sizeof bad_arrays / sizeof bad_arrays[0]; i++) {
        if (parse(RIG_SQL_LIST_ARRAY, bad_arrays[i], elements, &count))
            fail_msg("the array `%s` was read as a list", bad_arrays[i]);
    }
}

/* For any text, no more than the counted elements are written. */
static void garbage_stays_in_bounds(void **state)
{
    (void)state;
    const uint64_t seed = rig_rng_fresh_seed();
    const char alphabet[] = "0123456789,,,,{}- N";
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    (void)printf("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 200000; round++) {
        char text[40];
        size_t length = (size_t)rig_rng_below(&rng, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[rig_rng_below(&rng, sizeof alphabet - 1)];
        enum rig_sql_list_form form = rig_rng_below(&rng, 2) == 0 ? RIG_SQL_LIST_TEXT : RIG_SQL_LIST_ARRAY;
        size_t count = rig_sql_list_count(form, text, length);
        int64_t elements[sizeof text + 1];
        assert_true(count < sizeof elements / sizeof elements[0]);
        elements[count] = 0x5ca1ab1e;
        (void)rig_sql_list_parse(form, text, length, elements);
        assert_int_equal(elements[count], 0x5ca1ab1e);
    }
}

static void timestamps_have_no_sign_and_lose_their_fraction(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t timestamp; /* -1: none */
    } cases[] = {{"0", 0},
                 {"1700000000000000001.0000000002", 1700000000000000001},
                 {"461234567890123456", 461234567890123456},
                 {"", -1},
                 {".5", -1},
                 {"-3", -1},
                 {"12.x", -1},
                 {"9223372036854775808", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t timestamp = -1;
        assert_int_equal(rig_sql_timestamp_parse(cases[i].text, strlen(cases[i].text), &timestamp),
                         cases[i].timestamp >= 0);
        assert_int_equal(timestamp, cases[i].timestamp);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_round_trip),      cmocka_unit_test(timestamps_have_no_sign_and_lose_their_fraction),
        cmocka_unit_test(bad_numbers_are_refused), cmocka_unit_test(lists_are_read),
        cmocka_unit_test(bad_lists_are_refused),   cmocka_unit_test(garbage_stays_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
