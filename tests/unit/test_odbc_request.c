/* The parser of requests against jansson, and the lines that it must refuse. */
#include "tests/unit/cmocka_first.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "drivers/odbc/odbc_request.h"

static bool parse(const char *text, struct rig_odbc_request *request, char *line, size_t room)
{
    const size_t size = strlen(text);
    assert_true(size < room);
    memcpy(line, text, size + 1);
    return rig_odbc_request_parse(line, size, request);
}

static void members_of_requests(void **state)
{
    static struct rig_odbc_request request;
    char line[512];
    (void)state;
    assert_true(parse("{\"id\": 3, \"session\":0,\"if\":\"ok\" , \"sql\": \"SELECT "
                      "\\\"a\\\\\\u00e9\\ud83d\\udc18\\n\\/\", \"types\": \"it\", "
                      "\"args\": [\"-7\", null], \"further\": {\"a\": [1.5e3, {}, [[]]]}, \"commit\": false}",
                      &request, line, sizeof line));
    assert_int_equal(request.id, 3);
    assert_int_equal(request.session, 0);
    assert_string_equal(request.condition, "ok");
    assert_string_equal(request.sql, "SELECT \"a\\\xc3\xa9\xf0\x9f\x90\x98\n/");
    assert_string_equal(request.types, "it");
    assert_int_equal(request.argument_count, 2);
    assert_string_equal(request.arguments[0].text, "-7");
    assert_null(request.arguments[1].text);
    assert_int_equal(request.bad_argument, 0);
    assert_false(request.commit || request.rollback || request.close || request.opens);

    assert_true(
        parse(" {\"open\": {\"connection\": \"DSN=a\", \"autocommit\": true, \"user\": 7, \"more\": [1]}, \"id\": 1}",
              &request, line, sizeof line));
    assert_true(request.opens && request.autocommit);
    assert_string_equal(request.connection, "DSN=a");
    assert_null(request.user);
    assert_int_equal(request.session, -1);

    assert_true(
        parse("{\"id\": 1, \"args\": [\"a\", 5, []], \"commit\": true, \"sql\": null}", &request, line, sizeof line));
    assert_int_equal(request.argument_count, 3);
    assert_int_equal(request.bad_argument, 2);
    assert_true(request.commit && request.has_arguments);
    assert_null(request.sql);
}

static void lines_that_are_refused(void **state)
{
    static const char *const lines[] = {"",
                                        "7",
                                        "[]",
                                        "{",
                                        "{}}",
                                        "{\"a\"}",
                                        "{\"a\": }",
                                        "{\"a\": 1,}",
                                        "{\"a\": 1 \"b\": 2}",
                                        "{\"a\": tru}",
                                        "{a: 1}",
                                        "{\"a\": \"x}",
                                        "{\"a\": \"\\x\"}",
                                        "{\"a\": \"\\u12g4\"}",
                                        "{\"a\": \"\\ud800\"}",
                                        "{\"a\": \"\\udc00\"}",
                                        "{\"a\": \"\\u0000\"}",
                                        "{\"a\": \"\\",
                                        "{\"a\": \"\\u",
                                        "{\"id\": 99999999999999999999}",
                                        "{\"id\": 1, \"id\": 2}",
                                        "{\"a\": [1, 2}",
                                        "{\"a\": [1,]}",
                                        "{\"open\": {\"user\": \"a\", \"user\": \"b\"}}"};
    static struct rig_odbc_request request;
    char line[512];
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (parse(lines[i], &request, line, sizeof line))
            fail_msg("accepted: %s", lines[i]);
    char deep[256] = "{\"a\": ";
    memset(deep + 6, '[', 100);
    memset(deep + 106, ']', 100);
    memcpy(deep + 206, "}", 2);
    assert_false(parse(deep, &request, line, sizeof line));
    memcpy(line, "{\"id\": 1}\0 ", 11);
    assert_false(rig_odbc_request_parse(line, 11, &request));
}

/* Changes one byte of a good line: a line that is accepted means the same to both. */
static void changed_lines(void **state)
{
    static const char good[] = "{\"id\": 12, \"session\": 1, \"sql\": \"UPDATE \\\"t\\\" SET v = ? \\u20ac\", "
                               "\"types\": \"it\", \"args\": [\"5\", "
                               "null, \"\\ud83d\\udc18\"], \"x\": [true, {\"y\": -1}], \"commit\": true}";
    static const char bytes[] = "\"\\{}[],:0aue -?";
    static struct rig_odbc_request request;
    struct rig_rng rng;
    char line[512];
    int accepted = 0;
    (void)state;
    rig_rng_init(&rng, 7, 0);
    for (int i = 0; i < 20000; i++) {
        memcpy(line, good, sizeof good);
        const size_t at = (size_t)(rig_rng_unit(&rng) * (sizeof good - 1));
        line[at] = bytes[(size_t)(rig_rng_unit(&rng) * (sizeof bytes - 1))];
        json_t *const root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        if (!rig_odbc_request_parse(line, sizeof good - 1, &request) || root == NULL) {
            json_decref(root);
            continue;
        }
        accepted++;
        const json_t *const id = json_object_get(root, "id"), *const args = json_object_get(root, "args");
        const char *const sql = json_string_value(json_object_get(root, "sql"));
        assert_int_equal(request.id, json_is_integer(id) ? json_integer_value(id) : -1);
        assert_true(sql == NULL ? request.sql == NULL : request.sql != NULL && strcmp(request.sql, sql) == 0);
        assert_int_equal(request.argument_count, json_array_size(args));
        for (size_t k = 0; k < request.argument_count; k++) {
            const char *const text = json_string_value(json_array_get(args, k));
            assert_true(text == NULL ? request.arguments[k].text == NULL
                                     : strcmp(request.arguments[k].text, text) == 0);
        }
        json_decref(root);
    }
    assert_true(accepted > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_requests),
        cmocka_unit_test(lines_that_are_refused),
        cmocka_unit_test(changed_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
