/*
 * Placeholders in the texts of a cluster that a command starts (drivers/local/command_text.h).
 */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "drivers/local/command_text.h"

/* Writes a placeholder as <word number>. */
static enum rig_rc put(const void *context, const struct rig_command_placeholder *found, struct rig_buf *out,
                       struct rig_err *err)
{
    (void)context, (void)err;
    rig_buf_printf(out, "<%d %u>", (int)found->word, found->node);
    return RIG_OK;
}

static void becomes(const char *text, const char *expected)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    assert_int_equal(rig_command_text_fill(text, put, NULL, &out, NULL), RIG_OK);
    assert_string_equal(rig_buf_text(&out), expected);
    rig_buf_done(&out);
}

static void known_words_are_replaced(void **state)
{
    char expected[64];
    (void)state;
    (void)snprintf(expected, sizeof expected, "-p <%d 0>,<%d 2>", RIG_COMMAND_PORT, RIG_COMMAND_PORT2);
    becomes("-p {port},{port2:2}", expected);
    (void)snprintf(expected, sizeof expected, "<%d 0><%d 16>", RIG_COMMAND_DATA, RIG_COMMAND_NODE);
    becomes("{data}{node:16}", expected);
}

static void other_braces_stay(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "}",
                                        "{}",
                                        "${port}",
                                        "{ port }",
                                        "{print}",
                                        "{port",
                                        "{port:}",
                                        "{port:x}",
                                        "{:2}",
                                        "{Port}",
                                        "{port:1",
                                        "{a,b}",
                                        "{port-2}",
                                        "{port:1000}",
                                        "{number of a word that is longer than any}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        becomes(texts[i], texts[i]);
}

static void is_refused(const char *text, unsigned nodes, const char *why)
{
    struct rig_err err = {0};
    assert_int_equal(rig_command_text_check("key", text, nodes, &err), RIG_E_PLAN);
    assert_non_null(strstr(err.text, why));
}

static void typing_errors_and_missing_nodes_are_refused(void **state)
{
    (void)state;
    is_refused("{prot}", 1, "{port}");
    is_refused("a {nod} b", 1, "{node}");
    is_refused("{port:2}", 1, "numbered from 1 to 1");
    is_refused("{port:0}", 3, "numbered from 1 to 3");
    is_refused("{primary:1}", 3, "takes no number");
    assert_int_equal(rig_command_text_check("key", NULL, 1, NULL), RIG_OK);
    assert_int_equal(rig_command_text_check("key", "{port:3} ${prot} awk {print}", 3, NULL), RIG_OK);
}

static void what_clients_name_decides_about_routes(void **state)
{
    (void)state;
    assert_true(rig_command_text_is_routed("host={host} port={port}"));
    assert_true(rig_command_text_is_routed("{node:1}:{port:1}"));
    assert_false(rig_command_text_is_routed("no placeholder"));
    assert_false(rig_command_text_is_routed("{dir}/socket"));
    assert_false(rig_command_text_is_routed("{port} {port2}"));
}

static void a_shell_interprets_no_plain_text(void **state)
{
    (void)state;
    assert_true(rig_command_text_is_plain("/tmp/rig-exec-Ab1/node-1/data"));
    assert_false(rig_command_text_is_plain("/tmp/a b"));
    assert_false(rig_command_text_is_plain("/tmp/$x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_words_are_replaced),
        cmocka_unit_test(other_braces_stay),
        cmocka_unit_test(typing_errors_and_missing_nodes_are_refused),
        cmocka_unit_test(what_clients_name_decides_about_routes),
        cmocka_unit_test(a_shell_interprets_no_plain_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
