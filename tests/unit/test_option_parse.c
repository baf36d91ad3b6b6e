#include "tests/unit/cmocka_first.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option_number.h"
#include "base/option_parse.h"
#include "base/rng.h"

struct sample {
    bool flag;
    int64_t count;
    int64_t free_count;
    double factor;
    double share;
    int64_t pause_ns;
    int64_t size_bytes;
    double rate;
    const char *text;
    const char *secret;
    int64_t level;
    struct rig_text_list names;
    struct rig_text_list forms;
};

#define AT(member) offsetof(struct sample, member)

static const char *const level_choices[] = {"read-committed", "repeatable-read", "serializable", NULL};
static const char *const form_choices[] = {"text", "json", NULL};

static const struct rig_option table[] = {
    {.name = "flag", .type = RIG_OPTION_BOOL, .offset = AT(flag), .default_text = "true", .help = "h"},
    {.name = "count",
     .type = RIG_OPTION_INT,
     .offset = AT(count),
     .default_text = "16",
     .least = 1,
     .most = 64,
     .help = "h"},
    {.name = "free-count", .type = RIG_OPTION_INT, .offset = AT(free_count), .help = "h"},
    {.name = "factor",
     .type = RIG_OPTION_DOUBLE,
     .offset = AT(factor),
     .default_text = "0.99",
     .least = 0.01,
     .most = 10,
     .help = "h"},
    {.name = "share", .type = RIG_OPTION_SHARE, .offset = AT(share), .default_text = "50%", .help = "h"},
    {.name = "pause",
     .type = RIG_OPTION_DURATION,
     .offset = AT(pause_ns),
     .default_text = "250ms",
     .least = 1e6,
     .most = 60e9,
     .help = "h"},
    {.name = "size", .type = RIG_OPTION_SIZE, .offset = AT(size_bytes), .default_text = "64MiB", .help = "h"},
    {.name = "rate", .type = RIG_OPTION_RATE, .offset = AT(rate), .default_text = "unlimited", .help = "h"},
    {.name = "text", .type = RIG_OPTION_TEXT, .offset = AT(text), .help = "h"},
    {.name = "secret", .type = RIG_OPTION_SECRET, .offset = AT(secret), .help = "h"},
    {.name = "level",
     .type = RIG_OPTION_CHOICE,
     .offset = AT(level),
     .default_text = "serializable",
     .choices = level_choices,
     .help = "h"},
    {.name = "names", .type = RIG_OPTION_TEXT_LIST, .offset = AT(names), .default_text = "[a, b]", .help = "h"},
    {.name = "forms", .type = RIG_OPTION_TEXT_LIST, .offset = AT(forms), .choices = form_choices, .help = "h"},
    {.name = NULL},
};

static const struct rig_option *option_called(const char *name)
{
    const struct rig_option *option = rig_option_find(table, name);
    assert_non_null(option);
    return option;
}

/* -- accepted values ----------------------------------------------------------------------------------------------- */

static void whole_numbers_with_units_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int64_t value;
    } cases[] = {
        {"count", "1", 1},
        {"count", "64", 64},
        {"free-count", "0", 0},
        {"free-count", "-7", -7},
        {"free-count", "9223372036854775807", INT64_MAX},
        {"free-count", "-9223372036854775808", INT64_MIN},
        {"pause", "1ms", 1000000},
        {"pause", "250ms", 250000000},
        {"pause", "30s", INT64_C(30000000000)},
        {"pause", "1m", INT64_C(60000000000)},
        {"pause", "1.5s", 1500000000},
        {"pause", "0.000001000s", 1000},
        {"pause", "1000000ns", 1000000},
        {"pause", "2500us", 2500000},
        {"size", "0B", 0},
        {"size", "1B", 1},
        {"size", "64KiB", 65536},
        {"size", "0.5KiB", 512},
        {"size", "2GiB", INT64_C(2147483648)},
        {"size", "8191.5TiB", INT64_C(9006649498927104)},
        {"level", "read-committed", 0},
        {"level", "serializable", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_option option = *option_called(cases[i].name);
        if (option.type == RIG_OPTION_DURATION)
            option.least = 0; /* the least value here is finer than a millisecond */
        struct sample object = {0};
        struct rig_err err = {0};
        assert_int_equal(rig_option_parse(&option, cases[i].text, &object, &err), RIG_OK);
        assert_string_equal(err.text, "");
        int64_t value = 0;
        memcpy(&value, (char *)&object + option.offset, sizeof value);
        assert_int_equal(value, cases[i].value);
    }
}

static void fractions_and_rates(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        double value;
    } cases[] = {
        {"factor", "0.5", 0.5},   {"factor", "1e1", 10},    {"factor", "2.5E-1", 0.25}, {"share", "50%", 0.5},
        {"share", "0%", 0},       {"share", "100%", 1},     {"share", "0.125", 0.125},  {"share", "12.5%", 0.125},
        {"share", "1", 1},        {"rate", "unlimited", 0}, {"rate", "500", 500},       {"rate", "0.5/s", 0.5},
        {"rate", "1500/s", 1500},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rig_option *option = option_called(cases[i].name);
        struct sample object = {.rate = 7, .share = 7};
        struct rig_err err = {0};
        assert_int_equal(rig_option_parse(option, cases[i].text, &object, &err), RIG_OK);
        double value = -1;
        memcpy(&value, (char *)&object + option->offset, sizeof value);
        assert_true(value == cases[i].value);
    }
}

static void texts_and_flags(void **state)
{
    (void)state;
    struct sample object = {0};
    struct rig_err err = {0};
    const char *text = "host=/tmp dbname=x";
    assert_int_equal(rig_option_parse(option_called("text"), text, &object, &err), RIG_OK);
    assert_ptr_equal(object.text, text);
    assert_int_equal(rig_option_parse(option_called("flag"), "true", &object, &err), RIG_OK);
    assert_true(object.flag);
    assert_int_equal(rig_option_parse(option_called("flag"), "false", &object, &err), RIG_OK);
    assert_false(object.flag);
}

/* -- rejected values ----------------------------------------------------------------------------------------------- */

static void rejections_name_the_expected_values(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"flag", "yes", "expected true or false, not `yes`; did you mean `true`?"},
        {"flag", "off", "expected true or false, not `off`; did you mean `false`?"},
        {"flag", "maybe", "expected true or false, not `maybe`"},
        {"flag", "", "expected true or false, not ``"},
        {"count", "10x", "expected a whole number, from 1 to 64, not `10x`"},
        {"count", "0", "expected a whole number, from 1 to 64, not `0`"},
        {"count", "65", "expected a whole number, from 1 to 64, not `65`"},
        {"count", " 5", "expected a whole number, from 1 to 64, not ` 5`"},
        {"count", "5 ", "expected a whole number, from 1 to 64, not `5 `"},
        {"count", "+5", "expected a whole number, from 1 to 64, not `+5`"},
        {"count", "010", "expected a whole number, from 1 to 64, not `010`"},
        {"count", "0x10", "expected a whole number, from 1 to 64, not `0x10`"},
        {"count", "1e1", "expected a whole number, from 1 to 64, not `1e1`"},
        {"count", "5.0", "expected a whole number, from 1 to 64, not `5.0`"},
        {"count", "", "expected a whole number, from 1 to 64, not ``"},
        {"count", "-", "expected a whole number, from 1 to 64, not `-`"},
        {"free-count", "9223372036854775808", "expected a whole number, not `9223372036854775808`"},
        {"factor", "nan", "expected a number, from 0.01 to 10, not `nan`"},
        {"factor", "inf", "expected a number, from 0.01 to 10, not `inf`"},
        {"factor", "1e999", "expected a number, from 0.01 to 10, not `1e999`"},
        {"factor", ".5", "expected a number, from 0.01 to 10, not `.5`"},
        {"factor", "5.", "expected a number, from 0.01 to 10, not `5.`"},
        {"factor", "11", "expected a number, from 0.01 to 10, not `11`"},
        {"factor", "0x1p1", "expected a number, from 0.01 to 10, not `0x1p1`"},
        {"share", "50", "expected a percentage (`50%`) or a fraction from 0 to 1, not `50`; did you mean `50%`?"},
        {"share", "101%", "expected a percentage (`50%`) or a fraction from 0 to 1, not `101%`"},
        {"share", "-1%", "expected a percentage (`50%`) or a fraction from 0 to 1, not `-1%`"},
        {"share", "%", "expected a percentage (`50%`) or a fraction from 0 to 1, not `%`"},
        {"share", "5 %", "expected a percentage (`50%`) or a fraction from 0 to 1, not `5 %`"},
        {"pause", "30",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `30`; the unit is "
         "missing"},
        {"pause", "30sec",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `30sec`; did "
         "you mean `30s`?"},
        {"pause", "30 s",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `30 s`; did "
         "you mean `30s`?"},
        {"pause", "5min",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `5min`; did "
         "you mean `5m`?"},
        {"pause", "5parsec",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `5parsec`"},
        {"pause", "2m", "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `2m`"},
        {"pause", "-1s", "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not `-1s`"},
        {"pause", "1.0000000001s",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not "
         "`1.0000000001s`; finer than a nanosecond"},
        {"pause", "99999999999999h",
         "expected a duration with its unit (`250ms`, `30s`, `5m`, `1h`), from 1ms to 1m, not "
         "`99999999999999h`"},
        {"size", "64MB", "expected a size with its unit (`64KiB`, `64MiB`, `2GiB`), not `64MB`; did you mean `64MiB`?"},
        {"size", "64", "expected a size with its unit (`64KiB`, `64MiB`, `2GiB`), not `64`; the unit is missing"},
        {"size", "0.5B",
         "expected a size with its unit (`64KiB`, `64MiB`, `2GiB`), not `0.5B`; no whole number of bytes"},
        {"size", "9000000TiB", "expected a size with its unit (`64KiB`, `64MiB`, `2GiB`), not `9000000TiB`"},
        {"rate", "0", "expected a rate a second, or `unlimited`, not `0`; write `unlimited` for no limit"},
        {"rate", "fast", "expected a rate a second, or `unlimited`, not `fast`"},
        {"rate", "/s", "expected a rate a second, or `unlimited`, not `/s`"},
        {"level", "seralizable",
         "expected one of read-committed, repeatable-read, serializable, not `seralizable`; did "
         "you mean `serializable`?"},
        {"level", "Serializable",
         "expected one of read-committed, repeatable-read, serializable, not `Serializable`; did "
         "you mean `serializable`?"},
        {"level", "chaos", "expected one of read-committed, repeatable-read, serializable, not `chaos`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample object;
        memset(&object, 0x5A, sizeof object);
        struct sample before;
        memcpy(&before, &object, sizeof before);
        struct rig_err err = {0};
        assert_int_equal(rig_option_parse(option_called(cases[i].name), cases[i].text, &object, &err), RIG_E_PLAN);
        assert_string_equal(err.text, cases[i].message);
        assert_memory_equal(&object, &before, sizeof object);
    }
}

static void long_and_dirty_values_are_shown_safely(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'z', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct sample object = {0};
    struct rig_err err = {0};
    assert_int_equal(rig_option_parse(option_called("count"), text, &object, &err), RIG_E_PLAN);
    assert_true(strlen(err.text) < 200);
    assert_non_null(strstr(err.text, "zzz...`"));

    err = (struct rig_err){0};
    assert_int_equal(rig_option_parse(option_called("count"), "a\x1b[31m\n\xC2\x9B", &object, &err), RIG_E_PLAN);
    assert_non_null(strstr(err.text, "`a\\x1B[31m\\x0A\\xC2"));
    assert_null(strchr(err.text, '\x1b'));
}

/* -- lists --------------------------------------------------------------------------------------------------------- */

static void lists_are_split(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *elements[4];
    } cases[] = {
        {"a", {"a"}},
        {"a,b", {"a", "b"}},
        {"[a, b]", {"a", "b"}},
        {"[ a ]", {"a"}},
        {" [a,b , c] ", {"a", "b", "c"}},
        {"[]", {NULL}},
        {"[ ]", {NULL}},
        {"db1:5432, db2:5432", {"db1:5432", "db2:5432"}},
    };
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_text_list list;
        struct rig_err err = {0};
        assert_int_equal(rig_option_split_list(&arena, cases[i].text, &list, &err), RIG_OK);
        size_t count = 0;
        for (; cases[i].elements[count] != NULL; count++)
            assert_string_equal(list.at[count], cases[i].elements[count]);
        assert_int_equal(list.count, count);
    }
    static const char *const bad[] = {"", ",", "a,", ",a", "[a,]", "a,,b", "[,]", "[a, ]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rig_text_list list;
        struct rig_err err = {0};
        assert_int_equal(rig_option_split_list(&arena, bad[i], &list, &err), RIG_E_PLAN);
        assert_string_equal(err.text, "a list has an empty element: expected names between commas");
    }
    rig_arena_done(&arena);
}

static void list_elements_are_checked(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(rig_option_check_element(option_called("forms"), "json", &err), RIG_OK);
    assert_int_equal(rig_option_check_element(option_called("names"), "anything", &err), RIG_OK);
    assert_int_equal(rig_option_check_element(option_called("forms"), "jsn", &err), RIG_E_PLAN);
    assert_string_equal(err.text, "expected a list of texts, each one of text, json, not `jsn`; did you mean `json`?");
}

/* -- round trips --------------------------------------------------------------------------------------------------- */

static void formatted_as_a_person_would(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *formatted;
    } cases[] = {
        {"pause", "1000ms", "1s"},     {"pause", "0.25s", "250ms"},
        {"pause", "60s", "1m"},        {"pause", "1.5s", "1500ms"},
        {"size", "65536KiB", "64MiB"}, {"size", "0B", "0B"},
        {"size", "1.5KiB", "1536B"},   {"share", "0.5", "50%"},
        {"share", "0.125", "12.5%"},   {"share", "0.1", "10%"},
        {"share", "0.07", "7%"},       {"share", "0", "0%"},
        {"rate", "100/s", "100"},      {"rate", "unlimited", "unlimited"},
        {"factor", "0.990", "0.99"},   {"flag", "true", "true"},
        {"count", "7", "7"},           {"level", "repeatable-read", "repeatable-read"},
        {"secret", "hunter2", "***"},  {"text", "as it is", "as it is"},
    };
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rig_option *option = option_called(cases[i].name);
        struct sample object = {0};
        struct rig_err err = {0};
        assert_int_equal(rig_option_parse(option, cases[i].text, &object, &err), RIG_OK);
        rig_buf_clear(&out);
        rig_option_format(option, &object, &out);
        assert_string_equal(rig_buf_text(&out), cases[i].formatted);
    }
    rig_buf_done(&out);
}

/* Every value that can be stored survives being written and read. */
static void random_values_round_trip(void **state)
{
    (void)state;
    const uint64_t seed = 20260101;
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    struct rig_option pause = *option_called("pause");
    pause.least = pause.most = 0;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (int i = 0; i < 20000; i++) {
        struct sample object = {0};
        const unsigned shift = (unsigned)rig_rng_below(&rng, 63) + 1;
        object.pause_ns = (int64_t)(rig_rng_next(&rng) >> shift);
        object.size_bytes = (int64_t)(rig_rng_next(&rng) >> shift);
        object.free_count = (int64_t)rig_rng_next(&rng);
        object.share = i % 2 == 0 ? rig_rng_unit(&rng) : (double)rig_rng_below(&rng, 1001) / 1000;
        object.rate = rig_rng_unit(&rng) * 1e6 + 1e-3;
        object.factor = rig_rng_unit(&rng) * 9 + 0.5;
        struct sample again = {0};
        const struct rig_option *options[] = {&pause,
                                              option_called("size"),
                                              option_called("free-count"),
                                              option_called("share"),
                                              option_called("rate"),
                                              option_called("factor")};
        for (size_t j = 0; j < sizeof options / sizeof options[0]; j++) {
            struct rig_err err = {0};
            rig_buf_clear(&out);
            rig_option_format(options[j], &object, &out);
            if (rig_option_parse(options[j], rig_buf_text(&out), &again, &err) != RIG_OK)
                fail_msg("seed %" PRIu64 ", round %d: %s: %s", seed, i, options[j]->name, err.text);
        }
        if (memcmp(&object, &again, sizeof object) != 0)
            fail_msg("seed %" PRIu64 ", round %d: values differ", seed, i);
    }
    rig_buf_done(&out);
}

/* Random text never crashes the parsers, and a rejection always has a message. */
static void random_text_is_taken_or_refused(void **state)
{
    (void)state;
    const uint64_t seed = 42;
    static const char alphabet[] = "0123456789.%-+eEsmhKMGiB/ [],x";
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    size_t taken = 0;
    size_t refused = 0;
    for (int i = 0; i < 50000; i++) {
        char text[12];
        const size_t length = (size_t)rig_rng_below(&rng, sizeof text);
        for (size_t j = 0; j < length; j++)
            text[j] = alphabet[rig_rng_below(&rng, sizeof alphabet - 1)];
        text[length] = '\0';
        const struct rig_option *option = &table[rig_rng_below(&rng, 8)];
        struct sample object = {0};
        struct rig_err err = {0};
        if (rig_option_parse(option, text, &object, &err) == RIG_OK) {
            taken++;
        } else {
            refused++;
            assert_int_equal(strncmp(err.text, "expected ", 9), 0);
        }
    }
    assert_true(taken > 100 && refused > 100);
}

/* -- tables -------------------------------------------------------------------------------------------------------- */

static void defaults_fill_an_object(void **state)
{
    (void)state;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    struct sample object = {0};
    struct rig_err err = {0};
    assert_int_equal(rig_option_defaults(table, &object, &arena, &err), RIG_OK);
    assert_true(object.flag);
    assert_int_equal(object.count, 16);
    assert_int_equal(object.free_count, 0);
    assert_true(object.share == 0.5);
    assert_int_equal(object.pause_ns, 250000000);
    assert_int_equal(object.size_bytes, 64 << 20);
    assert_null(object.text);
    assert_int_equal(object.level, 2);
    assert_int_equal(object.names.count, 2);
    assert_string_equal(object.names.at[1], "b");
    assert_int_equal(object.forms.count, 0);
    rig_arena_done(&arena);
}

static void check_table_text(const struct rig_option *bad, const char *message)
{
    struct rig_err err = {0};
    assert_int_equal(rig_option_check_table(bad, sizeof(struct sample), &err), RIG_E_DRIVER);
    assert_string_equal(err.text, message);
}

static void unusable_tables_are_refused(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(rig_option_check_table(table, sizeof(struct sample), &err), RIG_OK);

    const struct rig_option count = {.name = "a", .type = RIG_OPTION_INT, .offset = AT(count), .help = "h"};
    struct rig_option bad[3] = {count, count, {.name = NULL}};
    check_table_text(bad, "option `a` is repeated in its table");
    bad[1].name = "a.b";
    check_table_text(bad, "option `a` is also a group of options (`a.b`)");
    bad[1] = (struct rig_option){.name = NULL};
    bad[0].default_text = "ten";
    check_table_text(bad, "the default of option `a`: expected a whole number, not `ten`");
    bad[0].default_text = NULL;
    bad[0].varied = RIG_OPTION_VARIATION(.chance = 0.5, .values = "1 20 ten");
    check_table_text(bad, "a value that option `a` varies to: expected a whole number, not `ten`");
    bad[0].varied = RIG_OPTION_VARIATION(.chance = 0.5);
    check_table_text(bad, "option `a` varies without values");
    bad[0].varied = RIG_OPTION_VARIATION(.values = "1");
    check_table_text(bad, "option `a` varies with a chance outside of 0 to 1");
    bad[0].varied = RIG_OPTION_VARIATION(.chance = 1, .values = "1 20");
    assert_int_equal(rig_option_check_table(bad, sizeof(struct sample), &err), RIG_OK);
    bad[0].varied = NULL;
    bad[0].type = RIG_OPTION_CHOICE;
    check_table_text(bad, "option `a` is a choice without choices");
    bad[0].type = RIG_OPTION_INT;
    bad[0].offset = sizeof(struct sample) - 4;
    assert_int_equal(rig_option_check_table(bad, sizeof(struct sample), &err), RIG_E_DRIVER);
    assert_non_null(strstr(err.text, "lies outside of its object"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_with_units_are_exact),
        cmocka_unit_test(fractions_and_rates),
        cmocka_unit_test(texts_and_flags),
        cmocka_unit_test(rejections_name_the_expected_values),
        cmocka_unit_test(long_and_dirty_values_are_shown_safely),
        cmocka_unit_test(lists_are_split),
        cmocka_unit_test(list_elements_are_checked),
        cmocka_unit_test(formatted_as_a_person_would),
        cmocka_unit_test(random_values_round_trip),
        cmocka_unit_test(random_text_is_taken_or_refused),
        cmocka_unit_test(defaults_fill_an_object),
        cmocka_unit_test(unusable_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
