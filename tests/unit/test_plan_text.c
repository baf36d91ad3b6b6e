#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "runner/plan_text.h"

static int forget(void **state)
{
    (void)state;
    rig_secret_forget();
    return 0;
}

/* -- variables ----------------------------------------------------------------------------------------------------- */

static void variables_are_expanded(void **state)
{
    (void)state;
    assert_int_equal(setenv("RIG_TEST_A", "alpha", 1), 0);
    assert_int_equal(setenv("RIG_TEST_EMPTY", "", 1), 0);
    assert_int_equal(setenv("RIG_TEST_DOLLAR", "${RIG_TEST_A}$$", 1), 0);
    assert_int_equal(unsetenv("RIG_TEST_NONE"), 0);
    static const struct {
        const char *text, *expanded;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"${RIG_TEST_A}", "alpha"},
        {"<${RIG_TEST_A}><${RIG_TEST_A}>", "<alpha><alpha>"},
        {"${RIG_TEST_NONE:-beta}", "beta"},
        {"${RIG_TEST_NONE:-}", ""},
        {"${RIG_TEST_EMPTY}", ""},
        {"${RIG_TEST_EMPTY:-gamma}", "gamma"},
        {"${RIG_TEST_A:-beta}", "alpha"},
        {"$", "$"},
        {"a$b", "a$b"},
        {"$$", "$"},
        {"$${RIG_TEST_A}", "${RIG_TEST_A}"},
        {"$$$${", "$${"},
        {"$$${RIG_TEST_A}", "$alpha"},
        {"${RIG_TEST_DOLLAR}", "${RIG_TEST_A}$$"}, /* what comes out is not expanded again */
        {"${RIG_TEST_NONE:-a:-b}", "a:-b"},
    };
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *expanded = NULL;
        struct rig_err err = {0};
        assert_int_equal(rig_plan_expand(&arena, cases[i].text, &expanded, &err), RIG_OK);
        assert_string_equal(expanded, cases[i].expanded);
    }
    rig_arena_done(&arena);
}

static void bad_variables_are_refused(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("RIG_TEST_NONE"), 0);
    assert_int_equal(setenv("RIG_TEST_LATIN", "caf\xe9", 1), 0);
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"${RIG_TEST_NONE}", "the environment variable RIG_TEST_NONE is not set; set it, or give a default: "
                             "`${RIG_TEST_NONE:-default}`"},
        {"${", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${}", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${A", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${A:-b", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${1A}", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${A B}", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${A:?x}", "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`"},
        {"${RIG_TEST_LATIN}", "not UTF-8 with its variables expanded"},
    };
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *expanded = "unchanged";
        struct rig_err err = {0};
        assert_int_equal(rig_plan_expand(&arena, cases[i].text, &expanded, &err), RIG_E_PLAN);
        assert_string_equal(err.text, cases[i].message);
        assert_string_equal(expanded, "unchanged");
    }
    rig_arena_done(&arena);
}

static void expansion_has_a_limit(void **state)
{
    (void)state;
    char *large = malloc(100001);
    assert_non_null(large);
    memset(large, 'z', 100000);
    large[100000] = '\0';
    assert_int_equal(setenv("RIG_TEST_LARGE", large, 1), 0);
    free(large);
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    const char *expanded = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_plan_expand(&arena, "${RIG_TEST_LARGE}", &expanded, &err), RIG_E_PLAN);
    assert_string_equal(err.text, "longer than 65536 bytes with its variables expanded");
    assert_int_equal(unsetenv("RIG_TEST_LARGE"), 0);
    rig_arena_done(&arena);
}

/* -- passwords ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *masked;
} passwords[] = {
    {"host=db1 dbname=test", "host=db1 dbname=test"},
    {"host=db1 password=hunter2 user=joe", "host=db1 password=*** user=joe"},
    {"password=hunter2", "password=***"},
    {"PASSWORD = hunter2 x=1", "PASSWORD = *** x=1"},
    {"password='it\\'s mine' x=1", "password=*** x=1"},
    {"password=\"two words\" x=1", "password=*** x=1"},
    {"password='never closed", "password=***"},
    {"sslpassword=hunter2 sslmode=require", "sslpassword=*** sslmode=require"},
    {"password=one password=two", "password=*** password=***"},
    {"password=", "password="},
    {"password is a word", "password is a word"},
    {"passfile=/etc/pass sslmode=disable", "passfile=/etc/pass sslmode=disable"},
    {"token=abcdef", "token=***"},
    {"Server=db;Pwd=hunter2;Port=1", "Server=db;Pwd=***"},
    {"postgres://joe:hunter2@db1:5432/test", "postgres://joe:***@db1:5432/test"},
    {"postgres://joe@db1:5432/test", "postgres://joe@db1:5432/test"},
    {"postgres://db1:5432/test", "postgres://db1:5432/test"},
    {"postgres://db1:5432,db2:5433/test?x=a@b", "postgres://db1:5432,db2:5433/test?x=a@b"},
    {"postgres://joe:p@ss@db1/test", "postgres://joe:***@db1/test"},
    {"postgres://joe:pa/ss@db1/test", "postgres://joe:***@db1/test"},
    {"postgres://joe:@db1/test", "postgres://joe:@db1/test"},
    {"postgres://db1/test?user=joe&password=hunter2", "postgres://db1/test?user=joe&password=***"},
    {"http://a:b@c http://d:e@f", "http://a:***@c http://d:***@f"},
    {"a://u:pw@h password=x y", "a://u:***@h password=*** y"},
    {"", ""},
    {"://", "://"},
    {"=", "="},
};

static void passwords_are_masked(void **state)
{
    (void)state;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof passwords / sizeof passwords[0]; i++) {
        rig_buf_clear(&out);
        rig_password_mask(passwords[i].text, &out);
        assert_string_equal(rig_buf_text(&out), passwords[i].masked);
        /* Masking twice changes nothing: the mask is what is found where the password was. */
        char *once = strdup(rig_buf_text(&out));
        assert_non_null(once);
        rig_buf_clear(&out);
        rig_password_mask(once, &out);
        assert_string_equal(rig_buf_text(&out), once);
        free(once);
    }
    rig_buf_done(&out);
}

/* Other programs show a password as it is meant, not as it was written. */
static void passwords_are_known_in_every_notation(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown, *redacted;
    } cases[] = {
        {"password=hunter2", "wrong: hunter2", "wrong: ***"},
        {"password='it\\'s mine'", "wrong: it's mine", "wrong: ***"},
        {"postgres://joe:hunter%32%21@db1", "wrong: hunter2!", "wrong: ***"},
        {"postgres://joe:hunter%32%21@db1", "in postgres://joe:hunter%32%21@db1", "in postgres://joe:***@db1"},
        {"postgres://db1/x?password=hunter2&user=joe", "wrong: hunter2", "wrong: ***"},
        {"Server=db;Pwd=hunter2;Port=1", "wrong: hunter2", "wrong: ***"},
        {"password=one-word and password=another", "one-word another", "*** ***"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_secret_forget();
        assert_true(rig_password_register(cases[i].text));
        char shown[128];
        (void)snprintf(shown, sizeof shown, "%s", cases[i].shown);
        rig_secret_redact(shown, sizeof shown);
        assert_string_equal(shown, cases[i].redacted);
    }
}

static void too_many_passwords_are_reported(void **state)
{
    (void)state;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (int i = 0; i < 300; i++)
        rig_buf_printf(&text, "password=secret-%03d ", i);
    assert_false(rig_password_register(rig_buf_text(&text)));
    rig_buf_done(&text);
}

static void keys_of_secrets(void **state)
{
    (void)state;
    assert_true(rig_password_is_key("password"));
    assert_true(rig_password_is_key("ssl-Password"));
    assert_true(rig_password_is_key("api-token"));
    assert_false(rig_password_is_key("passfile"));
    assert_false(rig_password_is_key("count"));
    assert_false(rig_password_is_key(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_expanded),
        cmocka_unit_test(bad_variables_are_refused),
        cmocka_unit_test(expansion_has_a_limit),
        cmocka_unit_test(passwords_are_masked),
        cmocka_unit_test_teardown(passwords_are_known_in_every_notation, forget),
        cmocka_unit_test_teardown(too_many_passwords_are_reported, forget),
        cmocka_unit_test(keys_of_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
