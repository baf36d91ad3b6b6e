/*
 * Whole folders: what a copy keeps and refuses, and what removal leaves alone.
 */
#include "tests/unit/cmocka_first.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"

enum { PATH_BYTES = 256, BIG_BYTES = 3000000 };

static const char *below(const char *folder, const char *name)
{
    static char path[4][PATH_BYTES];
    static unsigned turn;
    char *at = path[turn++ % 4];
    (void)snprintf(at, PATH_BYTES, "%s/%s", folder, name);
    return at;
}

static void write_bytes(const char *path, size_t count, mode_t mode)
{
    char *bytes = malloc(count + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)('a' + i % 7);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), count);
    (void)close(fd);
    free(bytes);
}

static void expect_bytes(const char *path, size_t count, mode_t mode)
{
    struct stat status;
    char *bytes = malloc(count + 1);
    assert_non_null(bytes);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 0777, mode);
    assert_int_equal(read(fd, bytes, count + 1), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(bytes[i], 'a' + (int)(i % 7));
    (void)close(fd);
    free(bytes);
}

static void copy_keeps_contents_modes_and_links(void **state)
{
    (void)state;
    char home[] = "/tmp/rig-test-XXXXXX";
    const struct rig_account own = {.drop = false};
    struct rig_err err = {.rc = RIG_OK};
    char target[PATH_BYTES];
    assert_non_null(mkdtemp(home));
    assert_int_equal(mkdir(below(home, "from"), 0700), 0);
    assert_int_equal(mkdir(below(home, "from/in"), 0750), 0);
    write_bytes(below(home, "from/empty"), 0, 0600);
    write_bytes(below(home, "from/in/big"), BIG_BYTES, 0640);
    assert_int_equal(symlink("../elsewhere", below(home, "from/in/link")), 0);
    if (rig_folder_copy(below(home, "from"), below(home, "to"), &own, &err) != RIG_OK)
        fail_msg("%s", err.text);
    expect_bytes(below(home, "to/empty"), 0, 0600);
    expect_bytes(below(home, "to/in/big"), BIG_BYTES, 0640);
    ssize_t length = readlink(below(home, "to/in/link"), target, sizeof target - 1);
    assert_true(length > 0);
    target[length] = '\0';
    assert_string_equal(target, "../elsewhere");
    assert_true(rig_folder_bytes(below(home, "to")) >= BIG_BYTES);
    assert_int_equal(rig_folder_bytes(below(home, "to")), rig_folder_bytes(below(home, "from")));
    rig_folder_remove(home);
    assert_int_equal(access(home, F_OK), -1);
}

static void copy_rejects_an_existing_target_and_a_missing_source(void **state)
{
    (void)state;
    char home[] = "/tmp/rig-test-XXXXXX";
    const struct rig_account own = {.drop = false};
    struct rig_err err = {.rc = RIG_OK};
    assert_non_null(mkdtemp(home));
    assert_int_equal(mkdir(below(home, "from"), 0700), 0);
    assert_int_equal(mkdir(below(home, "to"), 0700), 0);
    assert_int_equal(rig_folder_copy(below(home, "from"), below(home, "to"), &own, &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "File exists"));
    err = (struct rig_err){.rc = RIG_OK};
    assert_int_equal(rig_folder_copy(below(home, "nothing"), below(home, "new"), &own, &err), RIG_E_IO);
    assert_int_equal(access(below(home, "new"), F_OK), -1);
    rig_folder_remove(home);
}

static void removing_follows_no_links(void **state)
{
    (void)state;
    char home[] = "/tmp/rig-test-XXXXXX";
    assert_non_null(mkdtemp(home));
    assert_int_equal(mkdir(below(home, "kept"), 0700), 0);
    assert_int_equal(mkdir(below(home, "gone"), 0700), 0);
    write_bytes(below(home, "kept/file"), 3, 0600);
    assert_int_equal(symlink("../kept", below(home, "gone/link")), 0);
    rig_folder_remove(below(home, "gone"));
    assert_int_equal(access(below(home, "gone"), F_OK), -1);
    assert_int_equal(access(below(home, "kept/file"), F_OK), 0);
    rig_folder_remove(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_keeps_contents_modes_and_links),
        cmocka_unit_test(copy_rejects_an_existing_target_and_a_missing_source),
        cmocka_unit_test(removing_follows_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
