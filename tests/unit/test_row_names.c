/* Names of rows for keys that pack a table and its primary key. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "history/types/row_names.h"

static const char meta[] = "name: x\n# rows: 4 warehouse:14 stock:14:20\n# more\n";

static void assert_shown(const struct rig_row_names *names, int64_t key, const char *expected)
{
    char text[64];
    rig_row_names_show(names, key, text, sizeof text);
    assert_string_equal(text, expected);
}

static void keys_are_rows(void **state)
{
    (void)state;
    const struct rig_row_names *names = rig_row_names_of(meta);
    assert_non_null(names);
    assert_shown(names, 3 << 4, "warehouse(3)");
    assert_shown(names, (((INT64_C(2) << 20) | 88) << 4) | 1, "stock(2,88)");
    assert_shown(names, 1, "stock(0,0)");
}

static void other_keys_are_numbers(void **state)
{
    (void)state;
    const struct rig_row_names *names = rig_row_names_of(meta);
    assert_shown(names, 2, "2");                     /* no such table */
    assert_shown(names, INT64_C(1) << 18, "262144"); /* bits that no column has */
    assert_shown(names, -16, "-16");
}

static void names_are_cut_to_fit(void **state)
{
    (void)state;
    char text[9];
    rig_row_names_show(rig_row_names_of(meta), 3 << 4, text, sizeof text);
    assert_string_equal(text, "warehous");
}

static void a_layout_is_kept_once(void **state)
{
    (void)state;
    assert_ptr_equal(rig_row_names_of(meta), rig_row_names_of("# rows: 4 warehouse:14 stock:14:20"));
    assert_ptr_not_equal(rig_row_names_of(meta), rig_row_names_of("# rows: 4 warehouse:14"));
}

static void anything_else_names_nothing(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "",
        "name: x\n",
        " # rows: 4 a:1",
        "# rows: ",
        "# rows: 4",
        "# rows: 4 ",
        "# rows: 0 a:1",
        "# rows: 64 a:1",
        "# rows: 4 a",
        "# rows: 4 a:",
        "# rows: 4 a:0",
        "# rows: 4 A:1",
        "# rows: 4 a:1x",
        "# rows: 4 a:1  b:1",
        "# rows: 4 a:40:20",
        "# rows: 4 a:99999999999999999999",
        "# rows: 4 a:1:1:1:1:1:1:1:1:1",
        "# rows: 4 abcdefghijklmnopqrstuvwxyzabcdef:1",
    };
    assert_null(rig_row_names_of(NULL));
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        if (rig_row_names_of(malformed[i]) != NULL)
            fail_msg("`%s` was taken", malformed[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_rows),
        cmocka_unit_test(other_keys_are_numbers),
        cmocka_unit_test(names_are_cut_to_fit),
        cmocka_unit_test(a_layout_is_kept_once),
        cmocka_unit_test(anything_else_names_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
