#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/command_line.h"

static struct rig_arena arena;
static struct rig_text_list list;
static struct rig_err err;

static int prepare(void **state)
{
    (void)state;
    rig_arena_init(&arena, 0);
    err = (struct rig_err){0};
    list = (struct rig_text_list){0};
    return 0;
}

static int release(void **state)
{
    (void)state;
    rig_arena_done(&arena);
    return 0;
}

/* The arguments, each in brackets. */
static void assert_split(const char *line, const char *expected)
{
    char text[512] = "";
    if (rig_command_line_split(&arena, line, &list, &err) != RIG_OK)
        fail_msg("%s: %s", line, err.text);
    for (size_t i = 0; i < list.count; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "[%s]", list.at[i]);
    assert_string_equal(text, expected);
}

static void blanks_separate_and_quotes_keep(void **state)
{
    (void)state;
    assert_split("ssh db1 systemctl kill", "[ssh][db1][systemctl][kill]");
    assert_split("  a\t\nb  ", "[a][b]");
    assert_split("sh -c 'kill $(cat \"pid file\")'", "[sh][-c][kill $(cat \"pid file\")]");
    assert_split("a \"b \\\"c\\\" \\\\ \\n\" d", "[a][b \"c\" \\ \\n][d]");
    assert_split("a\\ b 'c'\"d\"e ''", "[a b][cde][]");
    assert_split("$HOME ~ * | ; >", "[$HOME][~][*][|][;][>]");
}

static void unfinished_command_lines_are_rejected(void **state)
{
    (void)state;
    const char *const lines[][2] = {
        {"", "expected a command: the program and its arguments"},
        {" \t ", "expected a command: the program and its arguments"},
        {"a 'b", "a command line cannot be split into arguments: a quote is not closed"},
        {"a \"b\\\"", "a command line cannot be split into arguments: a quote is not closed"},
        {"a \\", "a command line cannot be split into arguments: a backslash at the end escapes nothing"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        err = (struct rig_err){0};
        assert_int_equal(rig_command_line_split(&arena, lines[i][0], &list, &err), RIG_E_PLAN);
        assert_string_equal(err.text, lines[i][1]);
    }
}

static void joined_splits_into_the_same(void **state)
{
    (void)state;
    const char *const arguments[] = {"sh", "-c", "a \"b\" \\ 'c' $x", "", "plain-1.2/x"};
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_command_line_join(arguments, 5, &line);
    assert_split(rig_buf_text(&line), "[sh][-c][a \"b\" \\ 'c' $x][][plain-1.2/x]");
    rig_buf_done(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blanks_separate_and_quotes_keep, prepare, release),
        cmocka_unit_test_setup_teardown(unfinished_command_lines_are_rejected, prepare, release),
        cmocka_unit_test_setup_teardown(joined_splits_into_the_same, prepare, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
