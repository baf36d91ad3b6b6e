#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "run/plan/plan_text.h"
#include "tests/unit/forget_secrets.h"

static int forget(void **state)
{
    (void)state;
    forget_secrets();
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
        {"${RIG_TEST_DOLLAR}", "${RIG_TEST_A}$$"}, /* the result is not expanded again */
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
        {"${", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
        {"${}", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
        {"${A", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
        {"${A:-b", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
        {"${1A}", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
        {"${A B}", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
        {"${A:?x}", "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself"},
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

/* -- secrets ------------------------------------------------------------------------------------------------------- */

static const struct rig_option text_option = {.name = "o", .type = RIG_OPTION_TEXT};
static const struct rig_option secret_option = {.name = "o", .type = RIG_OPTION_SECRET};
static const struct rig_option header_option = {.name = "o", .type = RIG_OPTION_HEADERS};
static const struct rig_option command_option = {.name = "o", .type = RIG_OPTION_COMMAND};

/* NULL: the expanded text may be shown. */
static void secrets_keep_their_references(void **state)
{
    (void)state;
    assert_int_equal(setenv("RIG_TEST_PW", "hunter2", 1), 0);
    assert_int_equal(setenv("RIG_TEST_HOST", "db1", 1), 0);
    assert_int_equal(setenv("RIG_TEST_URL", "http://joe:open-sesame@db1", 1), 0);
    static const struct {
        const struct rig_option *option;
        const char *raw, *shown;
    } cases[] = {
        {&text_option, "host=${RIG_TEST_HOST}", NULL},
        {&text_option, "${RIG_TEST_PW}", "${RIG_TEST_PW}"},
        {&text_option, "host=${RIG_TEST_HOST} password=${RIG_TEST_PW}",
         "host=${RIG_TEST_HOST} password=${RIG_TEST_PW}"},
        {&text_option, "password=a$$b user=c", "password=*** user=c"},
        {&text_option, "password=x${RIG_TEST_PW}y", "password=***${RIG_TEST_PW}***"},
        {&text_option, "${RIG_TEST_URL}", "${RIG_TEST_URL}"},
        {&text_option, "${RIG_TEST_URL:-http://a:b@c}", "${RIG_TEST_URL:-http://a:***@c}"},
        {&text_option, "${RIG_TEST_PW:-fallback}", "${RIG_TEST_PW:-***}"},
        {&text_option, "http://u:${RIG_TEST_HOST:-x}@h", "http://u:${RIG_TEST_HOST:-***}@h"},
        {&secret_option, "literal", "***"},
        {&secret_option, "${RIG_TEST_HOST}", "${RIG_TEST_HOST}"},
        {&secret_option, "${RIG_TEST_HOST:-}", "${RIG_TEST_HOST:-}"},
        {&secret_option, "a${RIG_TEST_HOST:-b}c", "***${RIG_TEST_HOST:-***}***"},
        {&header_option, "X-Any: literal", "X-Any: ***"},
        {&header_option, "Accept: text/html", NULL},
        {&header_option, "Authorization: Bearer ${RIG_TEST_HOST}", "Authorization: Bearer ${RIG_TEST_HOST}"},
        {&header_option, "Cookie: a=1; b=${RIG_TEST_HOST}", "Cookie: a=***; b=${RIG_TEST_HOST}"},
        {&command_option, "ssh", NULL},
        {&command_option, "ssh ${RIG_TEST_HOST}", "ssh ${RIG_TEST_HOST}"},
        {&command_option, "curl -u bob:${RIG_TEST_HOST} ${RIG_TEST_URL}",
         "curl -u bob:${RIG_TEST_HOST} ${RIG_TEST_URL}"},
    };
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rig_plan_before nothing = {0};
        const char *expanded = NULL, *shown = "unset";
        struct rig_err err = {0};
        assert_int_equal(rig_plan_expand(&arena, cases[i].raw, &expanded, &err), RIG_OK);
        assert_int_equal(rig_plan_show(&arena, cases[i].option, &nothing, cases[i].raw, expanded, &shown, &err),
                         RIG_OK);
        if (cases[i].shown == NULL)
            assert_null(shown);
        else
            assert_string_equal(shown, cases[i].shown);
    }
    rig_arena_done(&arena);
}

/* A variable with a secret's name makes its value a secret everywhere. */
static void named_variables_are_secrets(void **state)
{
    (void)state;
    assert_int_equal(setenv("RIG_TEST_API_TOKEN", "tok-tok-tok", 1), 0);
    const struct rig_plan_before nothing = {0};
    assert_true(rig_plan_register(&text_option, &nothing, "x ${RIG_TEST_API_TOKEN}", "x tok-tok-tok"));
    char text[] = "echo tok-tok-tok";
    rig_secret_redact(text, sizeof text);
    assert_string_equal(text, "echo ***");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_expanded),
        cmocka_unit_test(bad_variables_are_refused),
        cmocka_unit_test(expansion_has_a_limit),
        cmocka_unit_test(secrets_keep_their_references),
        cmocka_unit_test_teardown(named_variables_are_secrets, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
