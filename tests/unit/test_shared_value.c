/* Values that several writes share (history/model/shared_value.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "history/model/shared_value.h"
#include "history/model/value_texts.h"

static int64_t number_of(const char *value, uint32_t marks, uint32_t number)
{
    struct rig_buf text;
    int64_t made = 0;
    rig_buf_init(&text, 0);
    rig_shared_value_add(&text, value, strlen(value), marks, number);
    assert_true(rig_value_number(rig_buf_text(&text), text.size, &made));
    rig_buf_done(&text);
    return made;
}

static void assert_shown_as(int64_t shared, const char *expected)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_shared_value_show(&text, shared);
    assert_string_equal(rig_buf_text(&text), expected);
    rig_buf_done(&text);
}

static void test_writes_of_a_value_share_one(void **state)
{
    (void)state;
    const int64_t shared = number_of("5", 1, RIG_SHARED_BY_ALL), first = number_of("5", 1, 1);
    int64_t by_first = 0, by_last = 0;
    assert_true(rig_value_is_shared(shared));
    assert_false(rig_value_is_shared(first));
    assert_string_equal(rig_value_text(first), "\"5#1\"");
    assert_true(rig_value_shared_by(first, &by_first));
    assert_true(rig_value_shared_by(number_of("5", 1, UINT32_MAX - 1), &by_last));
    assert_int_equal(by_first, shared);
    assert_int_equal(by_last, shared);
    assert_true(rig_value_shared_initial(shared, &by_first));
    assert_string_equal(rig_value_text(by_first), "\"5#0\"");
}

static void test_other_values_have_writes_of_their_own(void **state)
{
    (void)state;
    int64_t shared = 0, other = 0;
    assert_true(rig_value_shared_by(number_of("5", 2, 1), &shared));
    assert_true(rig_value_shared_by(number_of("55", 2, 1), &other));
    assert_int_not_equal(shared, other);
    assert_int_not_equal(shared, number_of("5", 1, RIG_SHARED_BY_ALL));
}

static void test_other_texts_share_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"\"5\"", "\"#\"", "\"5#\"", ":a#1", "\"\"", "[1 \"5#1\"]", "\"15\"", "1.5"};
    int64_t number = 0, shared = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_true(rig_value_number(texts[i], strlen(texts[i]), &number));
        assert_false(rig_value_is_shared(number));
        assert_false(rig_value_shared_by(number, &shared));
    }
    assert_false(rig_value_is_shared(5));
    assert_false(rig_value_shared_by(5, &shared));
}

static void test_a_shared_value_is_shown_as_the_file_has_it(void **state)
{
    (void)state;
    int64_t text = 0;
    assert_shown_as(number_of("5", 3, RIG_SHARED_BY_ALL), "5");
    assert_shown_as(number_of(":a", 1, RIG_SHARED_BY_ALL), ":a");
    assert_shown_as(number_of("\"a\\b\"", 1, RIG_SHARED_BY_ALL), "\"a\\b\"");
    assert_true(rig_value_number("\"x\"", 3, &text));
    assert_true(rig_value_shows(number_of("\"x\"", 1, RIG_SHARED_BY_ALL), text));
    assert_true(rig_value_shows(number_of("-7", 1, RIG_SHARED_BY_ALL), -7));
    assert_false(rig_value_shows(number_of("-7", 1, RIG_SHARED_BY_ALL), 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_of_a_value_share_one),
        cmocka_unit_test(test_other_values_have_writes_of_their_own),
        cmocka_unit_test(test_other_texts_share_nothing),
        cmocka_unit_test(test_a_shared_value_is_shown_as_the_file_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
