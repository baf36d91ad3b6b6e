#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "base/printable.h"

static void assert_line(const char *before, const char *after)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s", before);
    rig_printable_line(text);
    assert_string_equal(text, after);
    rig_printable_line(text); /* printable text stays */
    assert_string_equal(text, after);
}

static void plain_text_stays(void **state)
{
    (void)state;
    assert_line("", "");
    assert_line("ERROR:  relation \"t\" does not exist ~", "ERROR:  relation \"t\" does not exist ~");
    assert_line("Größe 8 \xe2\x82\xac \xf0\x9f\x90\x98", "Größe 8 \xe2\x82\xac \xf0\x9f\x90\x98");
    assert_line("no-break\xc2\xa0space", "no-break\xc2\xa0space");
}

static void line_ends_and_tabs_become_blanks(void **state)
{
    (void)state;
    assert_line("a\nb\rc\td", "a b c d");
    assert_line("a\xe2\x80\xa8"
                "b\xe2\x80\xa9"
                "c",
                "a b c");
    char lines[] = "first\n\tsecond\r\n";
    rig_printable_lines(lines);
    assert_string_equal(lines, "first\n second \n");
}

static void escape_sequences_lose_their_start(void **state)
{
    (void)state;
    assert_line("\x1b[2J\x1b]0;title\x07", "?[2J?]0;title?");
    assert_line("del\x7f", "del?");
    assert_line("\xc2\x9b"
                "31m",
                "?31m"); /* CSI as one character of Latin-1 */
    char lines[] = "\x1b[2J\n\x08";
    rig_printable_lines(lines);
    assert_string_equal(lines, "?[2J\n?");
}

static void every_control_character_is_replaced(void **state)
{
    (void)state;
    for (int code = 1; code < 0xa0; code++) {
        if (code >= ' ' && code < 0x7f)
            continue;
        char text[8];
        if (code < 0x80)
            (void)snprintf(text, sizeof text, "<%c>", code);
        else
            (void)snprintf(text, sizeof text, "<\xc2%c>", code);
        rig_printable_line(text);
        assert_int_equal(strlen(text), 3);
        assert_true(text[1] == '?' || text[1] == ' ');
    }
}

static void direction_of_writing_cannot_be_turned(void **state)
{
    (void)state;
    assert_line("ok\xe2\x80\xae"
                "KO\xe2\x81\xa6",
                "ok?KO?");
}

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
    (void)state;
    assert_line("\x80\xff", "??");
    assert_line("\xc0\x8a", "??");         /* an overlong line feed */
    assert_line("cut \xe2\x82", "cut ??"); /* the first bytes of a longer character */
}

static void assert_rows(const char *before, size_t columns, const char *after)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_wrap_rows(before, columns, &out);
    assert_string_equal(rig_buf_text(&out), after);
    rig_buf_done(&out);
}

static void rows_that_fit_stay(void **state)
{
    (void)state;
    assert_rows("", 10, "");
    assert_rows("a  b\n\n  c d e f g\nno end", 12, "a  b\n\n  c d e f g\nno end");
    assert_rows("\x1b[1;31mten signs\xc3\xa4\x1b[0m", 10, "\x1b[1;31mten signs\xc3\xa4\x1b[0m");
}

static void long_rows_go_on_below_their_second_column(void **state)
{
    (void)state;
    assert_rows("name   one two three\n", 14, "name   one two\n       three\n");
    assert_rows("  one two three four\n", 12, "  one two\n    three\n    four\n");
    assert_rows("long name first  second\n", 18, "long name first\n  second\n");
    assert_rows("a  \x1b[1mb\x1b[0m c d e f\n", 8, "a  \x1b[1mb\x1b[0m c d\n   e f\n");
}

static void long_words_are_whole(void **state)
{
    (void)state;
    assert_rows("see /a/long/path/to/a/file now\n", 10, "see\n  /a/long/path/to/a/file\n  now\n");
    assert_rows("    /a/long/path\n", 10, "    /a/long/path\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(line_ends_and_tabs_become_blanks),
        cmocka_unit_test(escape_sequences_lose_their_start),
        cmocka_unit_test(every_control_character_is_replaced),
        cmocka_unit_test(direction_of_writing_cannot_be_turned),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(rows_that_fit_stay),
        cmocka_unit_test(long_rows_go_on_below_their_second_column),
        cmocka_unit_test(long_words_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
