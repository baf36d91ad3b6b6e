/* drivers/http/json_path: which texts are paths, and the values that they find. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/http/json_path.h"

static const char answer[] = "{\"header\": {\"revision\": \"5\"}, \"rows\": [[1], [2, {\"x.y\": 3}]], \"none\": null,"
                             " \"results\": [{\"time\": 1}, {\"error\": \"no\"}, {\"error\": \"never\"}]}";

/* The value at the path, as JSON; "-" for none. */
static void finds(const char *text, const char *expected)
{
    struct rig_arena arena;
    struct rig_json_path path;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    json_t *root = json_loads(answer, 0, NULL);
    assert_non_null(root);
    assert_int_equal(rig_json_path_parse(&arena, text, &path, &err), RIG_OK);
    const json_t *found = rig_json_path_find(&path, root);
    char *shown = found == NULL ? NULL : json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(shown == NULL ? "-" : shown, expected);
    assert_null(rig_json_path_find(&path, NULL));
    free(shown);
    json_decref(root);
    rig_arena_done(&arena);
}

static void refuses(const char *text)
{
    struct rig_arena arena;
    struct rig_json_path path = {.text = "untouched"};
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    assert_int_equal(rig_json_path_parse(&arena, text, &path, &err), RIG_E_PLAN);
    assert_string_equal(path.text, "untouched");
    rig_arena_done(&arena);
}

static void test_members_and_elements(void **state)
{
    (void)state;
    finds("$.header.revision", "\"5\"");
    finds("$['header']['revision']", "\"5\"");
    finds("$.rows[1][0]", "2");
    finds("$.rows[-1][-1]['x.y']", "3");
    finds("$.rows[-2]", "[1]");
    finds("$.none", "null");
}

static void test_nothing_there(void **state)
{
    (void)state;
    finds("$.headers", "-");
    finds("$.rows[2]", "-");
    finds("$.rows[-3]", "-");
    finds("$.header[0]", "-");
    finds("$.rows.x", "-");
    finds("$.none.x", "-");
}

static void test_any_element(void **state)
{
    (void)state;
    finds("$.results[*].error", "\"no\"");
    finds("$.results[*].x", "-");
    finds("$.rows[*][1]['x.y']", "3");
    finds("$.rows[*]", "[1]");
    finds("$.header[*]", "-");
}

static void test_texts_that_are_no_path(void **state)
{
    (void)state;
    const char *const texts[] = {"",      "header", "$header",        "$.",   "$..a",  "$[",     "$[a]", "$[1", "$['a]",
                                 "$['a'", "$.a b",  "$[99999999999]", "$[-]", "$.a[*", "$.a.[0]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refuses(texts[i]);
    refuses("$.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_and_elements),
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_any_element),
        cmocka_unit_test(test_texts_that_are_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
