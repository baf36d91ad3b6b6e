#include "tests/unit/given_history.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checker/explain/say.h"

/* T3 read 14 elements of x, T5 two of them and none of y, and the read of T7 was not answered. */
static const char notation[] = "ok 0 0-1: ax1 ay3; ok 1 2-3: rx[1 2 3 4 5 6 7 8 9 10 11 12 13 14] ry[3];"
                               "ok 2 4-5: ry[] rx[1 2]; info 3 6-7: ry?";

struct says {
    struct rig_history *history;
    struct rig_buf text;
    uint32_t first, all, two, unknown, x, y;
};

static int set_up(void **state)
{
    static struct says says;
    says.history = given(notation);
    says.first = given_txn(says.history, 1);
    says.all = given_txn(says.history, 3);
    says.two = given_txn(says.history, 5);
    says.unknown = given_txn(says.history, 7);
    says.x = given_key(says.history, 'x');
    says.y = given_key(says.history, 'y');
    rig_buf_init(&says.text, 0);
    *state = &says;
    return 0;
}

static int tear_down(void **state)
{
    struct says *s = *state;
    rig_buf_done(&s->text);
    rig_history_free(s->history);
    return 0;
}

#define SAYS(s, expected, ...)                                                                                         \
    do {                                                                                                               \
        rig_buf_clear(&(s)->text);                                                                                     \
        rig_say((s)->history, &(s)->text, __VA_ARGS__);                                                                \
        assert_string_equal(rig_buf_text(&(s)->text), expected);                                                       \
    } while (0)

static void each_directive_adds_its_words(void **state)
{
    struct says *s = *state;
    SAYS(s, "nothing else", "nothing else");
    SAYS(s, "100 %", "100 %%");
    SAYS(s, "T5", "%T", s->two);
    SAYS(s, "key 0, 1.", "key %K, %K.", s->x, s->y);
    SAYS(s, "-7", "%V", INT64_C(-7));
    SAYS(s, "T5 read key 0 as [1 2]", "%R", s->two, 1u);
    SAYS(s, "it read key 1 as []", "it %r", s->two, 0u);
    SAYS(s, "?", "%A", s->unknown, 0u);
    SAYS(s, "2 of -2, 18446744073709551615 of 3 and 4", "%d of %d, %d of %d and %d", 2, INT64_C(-2), UINT64_MAX, 3u,
         (size_t)4);
    SAYS(s, "0.003000 s", "%t", s->history->txns[s->all].complete_ns);
    SAYS(s, "one two", "%s %s", "one", s->x == 0 ? "two" : "three");
}

static void long_lists_are_shown_in_parts(void **state)
{
    struct says *s = *state;
    SAYS(s, "[1 2 3 4 ... 11 12 13 14 (14 elements)]", "%A", s->all, 0u);
    SAYS(s, "[... 3 4 5 ...]", "%S", s->all, 0u, INT64_C(3), INT64_C(5));
    SAYS(s, "[1 2 ...]", "%S", s->all, 0u, INT64_C(1), INT64_C(2));
    SAYS(s, "[... 13 14]", "%S", s->all, 0u, INT64_C(13), INT64_C(14));
    SAYS(s, "[1 2 3 4 ... 11 12 13 14 (14 elements)]", "%S", s->all, 0u, INT64_C(5), INT64_C(3));
    SAYS(s, "[1 2]", "%S", s->two, 1u, INT64_C(1), INT64_C(2));
}

static void a_short_history_may_be_an_excerpt(void **state)
{
    struct says *s = *state;
    SAYS(s, "7 (if the history is an excerpt, --excerpt takes it as written outside).", "%V%E.", INT64_C(7));
    s->history->is_excerpt = true;
    SAYS(s, "7.", "%V%E.", INT64_C(7));
    s->history->is_excerpt = false;
}

/* The exit status of a child that calls the formatter with these words. */
static int status_of(const struct says *s, const struct rig_said *words)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        (void)close(STDERR_FILENO);
        rig_say_words(rig_say_directives, s->history, &text, words);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define STATUS(s, ...) status_of((s), RIG_SAID_WORDS(__VA_ARGS__))

static void what_does_not_fit_is_an_assertion(void **state)
{
    const struct says *s = *state;
    const char *unknown = "%Q", *txn = "%T", *read = "%R", *value = "%V", *words = "%s", *number = "%d", *cut = "100 %";
    assert_int_equal(STATUS(s, txn, s->first), 0);
    assert_int_equal(STATUS(s, unknown, s->first), 70);
    assert_int_equal(STATUS(s, txn), 70);
    assert_int_equal(STATUS(s, read, s->first), 70);
    assert_int_equal(STATUS(s, txn, s->first, s->first), 70);
    assert_int_equal(STATUS(s, txn, INT64_C(1)), 70);
    assert_int_equal(STATUS(s, value, s->first), 70);
    assert_int_equal(STATUS(s, words, 1), 70);
    assert_int_equal(STATUS(s, number, "1"), 70);
    assert_int_equal(STATUS(s, cut), 70);
    assert_int_equal(STATUS(s, 1), 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_directive_adds_its_words),
        cmocka_unit_test(long_lists_are_shown_in_parts),
        cmocka_unit_test(a_short_history_may_be_an_excerpt),
        cmocka_unit_test(what_does_not_fit_is_an_assertion),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
