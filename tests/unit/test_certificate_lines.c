/* Lines of database.versions-source: commits in the order of their places, and refusals with the line. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/buf.h"
#include "history/model/certificate.h"

static enum rig_rc take(const char *text, struct rig_certificate *certificate, struct rig_err *err)
{
    rig_certificate_init(certificate);
    *err = (struct rig_err){.rc = RIG_OK};
    return rig_certificate_of_lines(text, strlen(text), certificate, err);
}

/* Place, and for each change key, kept elements and those behind them. */
static void print_commit(const struct rig_certificate *certificate, uint32_t commit, struct rig_buf *out)
{
    const struct rig_change *changes = rig_commit_changes(certificate, commit);
    rig_buf_printf(out, "%d", (int)certificate->commits.at[commit].place);
    for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
        rig_buf_printf(out, " %d:", (int)changes[i].key);
        if (changes[i].removed)
            rig_buf_add_char(out, '-');
        else
            rig_buf_printf(out, "%u", changes[i].kept);
        for (uint32_t e = 0; e < changes[i].count; e++)
            rig_buf_printf(out, ",%d", (int)certificate->elements.at[changes[i].first + e]);
    }
    rig_buf_add_char(out, '\n');
}

static void expect(const char *text, const char *commits)
{
    struct rig_certificate certificate;
    struct rig_err err;
    struct rig_buf out;
    assert_int_equal(take(text, &certificate, &err), RIG_OK);
    assert_true(certificate.complete && certificate.last_only);
    rig_buf_init(&out, 0);
    for (uint32_t i = 0; i < certificate.commits.count; i++)
        print_commit(&certificate, i, &out);
    assert_string_equal(out.size == 0 ? "" : rig_buf_text(&out), commits);
    rig_buf_done(&out);
    rig_certificate_done(&certificate);
}

static void refuse(const char *text, const char *said)
{
    struct rig_certificate certificate;
    struct rig_err err;
    assert_int_equal(take(text, &certificate, &err), RIG_E_INPUT);
    if (strstr(err.text, said) == NULL)
        fail_msg("`%s` says: %s", text, err.text);
    assert_true(!certificate.complete && certificate.commits.count == 0);
    rig_certificate_done(&certificate);
}

static void versions_become_commits_in_the_order_of_their_places(void **state)
{
    (void)state;
    expect("end", "");
    expect("# nothing\n\n  end  \n\n", "");
    expect("7 1 10\n5 2 20\nend\n", "1 2:0,20\n2 1:0,10\n");
    expect("9 1 10\n10 1 11\nend", "1 1:0,10\n2 1:0,11\n");
    expect("5 1 10\n5\t-2   20\r\nend", "1 -2:0,20 1:0,10\n");
}

static void fractions_count(void **state)
{
    (void)state;
    expect("1700000000000000000.0000000002 1 2\n1700000000000000000.0000000001 1 1\nend", "1 1:0,1\n2 1:0,2\n");
    expect("5.5 1 1\n5.50 2 2\n5.05 1 3\n5 1 4\nend", "1 1:0,4\n2 1:0,3\n3 1:0,1 2:0,2\n");
}

static void the_last_version_of_a_key_at_a_place_counts(void **state)
{
    (void)state;
    expect("5 1 10\n5 2 7\n5 1 11\nend", "1 1:0,11 2:0,7\n");
    expect("5 1 10\n5 1 -\nend", "1 1:-\n");
}

static void lists_keep_what_they_share(void **state)
{
    (void)state;
    expect("1 1 4\n2 1 4,5\n3 1 4,5,6\n4 1 -4\nend", "1 1:0,4\n2 1:1,5\n3 1:2,6\n4 1:0,-4\n");
}

static void other_lines_are_refused(void **state)
{
    (void)state;
    refuse("", "last line is not `end`");
    refuse("5 1 10\n", "last line is not `end`");
    refuse("5 1 10\nen", "line 2 is `en`");
    refuse("5 1\nend", "line 1 is `5 1`");
    refuse("5 1 10 4\nend", "line 1");
    refuse("5 1 10,\nend", "line 1");
    refuse("5 1 ,10\nend", "line 1");
    refuse("5 1 {10}\nend", "line 1");
    refuse("-5 1 10\nend", "line 1");
    refuse("5. 1 10\nend", "line 1");
    refuse("5.1234567890123456789 1 10\nend", "line 1");
    refuse("99999999999999999999 1 10\nend", "line 1");
    refuse("5 1 99999999999999999999\nend", "line 1");
    refuse("5 x 10\nend", "line 1");
    refuse("end\n5 1 10\n", "line 2 is `5 1 10`");
    refuse("5 1 10\nend\nend", "line 3");
    refuse("5 1 \x1b[1m\nend", "line 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_become_commits_in_the_order_of_their_places),
        cmocka_unit_test(fractions_count),
        cmocka_unit_test(the_last_version_of_a_key_at_a_place_counts),
        cmocka_unit_test(lists_keep_what_they_share),
        cmocka_unit_test(other_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
