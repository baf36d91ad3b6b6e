/* Commands are expanded for a node, and run in a real shell. */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "nemesis/command.h"

static struct rig_place place;
static struct rig_arena arena;
static struct rig_err err;
static const char data[] = "/tmp/it's $HOME `id` \"a\\b\" # *";

static void set(enum rig_placeholder placeholder, const char *value)
{
    (void)snprintf(place.at[placeholder], RIG_PLACE_BYTES, "%s", value);
}

static int prepare(void **state)
{
    (void)state;
    rig_arena_init(&arena, 0);
    place = (struct rig_place){.at = {""}};
    set(RIG_PLACEHOLDER_NODE, "pg-1");
    set(RIG_PLACEHOLDER_PORT, "5432");
    set(RIG_PLACEHOLDER_DATA, data);
    err = (struct rig_err){0};
    return 0;
}

static int release(void **state)
{
    (void)state;
    rig_arena_done(&arena);
    return 0;
}

static const char *expand_with(const char *const *arguments, size_t count)
{
    const struct rig_text_list list = {arguments, count};
    const char *const *expanded = NULL;
    if (rig_placeholder_expand(&list, &place, &arena, &expanded, &err) != RIG_OK)
        return err.text;
    assert_null(expanded[count]);
    return expanded[count - 1];
}

static const char *expand(const char *argument)
{
    return expand_with(&argument, 1);
}

static void placeholders_are_replaced(void **state)
{
    (void)state;
    assert_string_equal(expand("{node}:{port}"), "pg-1:5432");
    assert_string_equal(expand("{data}"), data); /* no shell parses an argument */
    assert_string_equal(expand("{{node}}"), "{pg-1}");
    assert_string_equal(expand(""), "");
    assert_null(strchr(expand("{port}{port}{port}"), '{'));
}

static void other_braces_stay(void **state)
{
    (void)state;
    static const char *const texts[] = {"${port}",     "${PORT}", "{}",      "{ port }",   "{ cmd; }",
                                        "{a,b}",       "{1..3}",  "{print}", "{print $1}", "{.spec.port}",
                                        "{{.State}}",  "{",       "}",       "{port",      "port}",
                                        "{unrelated}", "$$",      "{node {", "{}{}",       "{\"pid\": 1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct rig_text_list list = {&texts[i], 1};
        assert_string_equal(expand(texts[i]), texts[i]);
        assert_false(rig_placeholder_is_used(&list));
        if (rig_placeholder_check("undo", &list, &err) != RIG_OK)
            fail_msg("%s: %s", texts[i], err.text);
    }
}

static void misspelt_ones_are_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"x {prot}", "{port}"}, {"{port}{hosts}", "{host}"}, {"{Node}", "{node}"},   {"{PID}", "{pid}"},
        {"{id}", "{pid}"},      {"{sockets}", "{socket}"},   {"{date}/x", "{data}"}, {"{{prot}}", "{port}"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *const arguments[] = {"echo", texts[i][0]};
        const struct rig_text_list list = {arguments, 2};
        err = (struct rig_err){0};
        assert_int_equal(rig_placeholder_check("undo", &list, &err), RIG_E_PLAN);
        assert_non_null(strstr(err.text, texts[i][1]));
        assert_int_equal(strncmp(err.text, "`undo`: ", 8), 0);
    }
}

static void what_a_node_lacks_is_said(void **state)
{
    (void)state;
    assert_string_equal(expand("-h {host}"),
                        "pg-1: a command names `{host}`, which this node does not have now; it has "
                        "`{node}`, `{port}`, `{data}`");
}

static void uses_are_found(void **state)
{
    (void)state;
    static const char *const used[] = {"a{pid}", "kill $RIG_NODE_PID"};
    for (size_t i = 0; i < 2; i++) {
        const struct rig_text_list list = {&used[i], 1};
        assert_true(rig_placeholder_is_used(&list));
        assert_true(rig_placeholder_names(&list, RIG_PLACEHOLDER_PID));
        assert_false(rig_placeholder_names(&list, RIG_PLACEHOLDER_PORT));
    }
}

/* The first line that the command prints. */
static const char *run(const char *const *arguments, size_t count)
{
    static struct rig_command_answer answer;
    const struct rig_command command = {
        .arguments = {arguments, count}, .place = &place, .timeout_ns = INT64_C(10000000000)};
    if (rig_command_succeed(&command, &answer, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return answer.line;
}

/* For any value, a shell takes it as one word, at each place of a script. */
static void scripts_cannot_be_broken(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "printf %s {data}",
        "printf %s \"{data}\"",
        "printf %s '{data}'",
        "printf %s \"$(printf %s {data})\"",
        "printf %s \"$(printf %s \"{data}\")\"",
        "printf %s \"$(printf %s '{data}')\"",
        "# it's a comment\nprintf %s {data}",
        "x=\\'; printf %s {data}",
        "x=\\\"y; printf %s {data}",
        "x=\"\\\"\"; printf %s {data}",
        "x=a#\\'b; (printf %s {data})",
        "f() { printf %s \"$1\"; }; f {data}",
        "x={data}; printf %s \"$x\"",
    };
    static const char *const values[] = {data, "a b", "'", "\"", "$(id)", "`id`", "\\", "a;id", "-n\\", "(", ")"};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
            const char *const arguments[] = {"sh", "-ec", scripts[i]};
            set(RIG_PLACEHOLDER_DATA, values[v]);
            const char *printed = run(arguments, 3);
            if (strcmp(printed, values[v]) != 0)
                fail_msg("%s: `%s` instead of `%s`", scripts[i], printed, values[v]);
        }
    }
}

static void only_a_script_is_quoted(void **state)
{
    (void)state;
    set(RIG_PLACEHOLDER_DATA, "a b");
    static const struct {
        const char *arguments[6];
        const char *last;
    } cases[] = {
        {{"psql", "-c", "{data}"}, "a b"},
        {{"sh", "{data}"}, "a b"},
        {{"sh", "-c", "exec \"$@\"", "sh", "{data}"}, "a b"},
        {{"sudo", "/bin/bash", "-o", "pipefail", "-ec", "{data}"}, "'a b'"},
        {{"su", "-", "postgres", "-c", "{data}"}, "'a b'"},
        {{"runuser", "--command", "{data}"}, "'a b'"},
        {{"sh", "-c", "`{data}`"},
         "a b cannot be quoted inside backquotes or deep nesting: write $(...) or use a "
         "RIG_NODE_ variable"},
        {{"sh", "-c", "`{port}`"}, "`5432`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = 0;
        while (count < 6 && cases[i].arguments[count] != NULL)
            count++;
        err = (struct rig_err){0};
        assert_string_equal(expand_with(cases[i].arguments, count), cases[i].last);
    }
}

static void variables_are_the_nodes_alone(void **state)
{
    (void)state;
    assert_int_equal(setenv("RIG_NODE_PID", "1", 1), 0);
    static const char *const arguments[] = {"sh", "-c", "echo \"$RIG_NODE_NAME $RIG_NODE_PORT ${RIG_NODE_PID-none}\""};
    assert_string_equal(run(arguments, 3), "pg-1 5432 none");
    assert_int_equal(unsetenv("RIG_NODE_PID"), 0);
}

static void long_arguments_are_refused(void **state)
{
    (void)state;
    char *text = malloc(20000);
    assert_non_null(text);
    memset(text, 'x', 19999);
    text[19999] = '\0';
    assert_string_equal(expand(text), "a command has an argument longer than 16383 bytes");
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, prepare, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(placeholders_are_replaced),
        TEST(other_braces_stay),
        TEST(misspelt_ones_are_refused),
        TEST(what_a_node_lacks_is_said),
        TEST(uses_are_found),
        TEST(scripts_cannot_be_broken),
        TEST(only_a_script_is_quoted),
        TEST(variables_are_the_nodes_alone),
        TEST(long_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
