/*
 * Files that rig ships beside its binary: folders of the variable come first, in their order, and one that lacks the
 * file is passed over.
 */
#include "tests/unit/cmocka_first.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data_folder.h"
#include "base/folder.h"

enum { PATH_BYTES = 512 };

static void make(const char *folder, const char *name, bool has_file)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/%s/one.yaml", folder, name);
    const int fd = has_file ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    assert_int_equal(fd >= 0, has_file);
    if (has_file)
        (void)close(fd);
}

static void test_the_order_of_folders(void **state)
{
    char folder[] = "/tmp/rig-data-XXXXXX", variable[PATH_BYTES], path[PATH_BYTES], expected[PATH_BYTES];
    const struct rig_data_kind things = {"things", "RIG_TEST_DATA"}, unnamed = {"things", NULL};
    struct rig_buf tried;
    (void)state;
    assert_non_null(mkdtemp(folder));
    make(folder, "empty", false);
    make(folder, "first", true);
    make(folder, "second", true);
    (void)snprintf(variable, sizeof variable, ":%s/none:%s/empty:%s/first:%s/second", folder, folder, folder, folder);
    assert_int_equal(setenv("RIG_TEST_DATA", variable, 1), 0);
    rig_buf_init(&tried, 0);
    assert_true(rig_data_folder_find(&things, "one.yaml", path, sizeof path, &tried));
    (void)snprintf(expected, sizeof expected, "%s/first/one.yaml", folder);
    assert_string_equal(path, expected);
    assert_null(strstr(rig_buf_text(&tried), "second"));
    assert_false(rig_data_folder_find(&things, "one.yaml", path, 8, &tried)); /* no room for a path */
    rig_buf_clear(&tried);
    assert_false(rig_data_folder_find(&unnamed, "one.yaml", path, sizeof path, &tried));
    assert_non_null(strstr(rig_buf_text(&tried), "/things")); /* beside the binary, and as configured */
    assert_null(strstr(rig_buf_text(&tried), folder));
    rig_buf_done(&tried);
    rig_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_order_of_folders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
