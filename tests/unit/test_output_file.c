#include "tests/unit/cmocka_first.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"

static char folder[32];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rig-output-XXXXXX");
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    (void)snprintf(command, sizeof command, "%s", folder);
    char *const arguments[] = {"rm", "-rf", command, NULL};
    const pid_t child = fork();
    if (child == 0) {
        (void)execvp("rm", arguments);
        _exit(127);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0 ? chdir("/") : -1;
}

static void put(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void assert_holds(const char *path, const char *text)
{
    struct rig_err err = {0};
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    assert_int_equal(rig_buf_read_file(&buf, path, &err), RIG_OK);
    assert_string_equal(rig_buf_text(&buf), text);
    rig_buf_done(&buf);
}

static enum rig_rc save(const char *path, const char *text, struct rig_err *err)
{
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    rig_buf_add_text(&buf, text);
    *err = (struct rig_err){0};
    const enum rig_rc rc = rig_output_save(&buf, path, err);
    rig_buf_done(&buf);
    return rc;
}

static mode_t kind_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & S_IFMT;
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
    (void)state;
    struct rig_err err;
    struct rig_output output;
    struct stat status;
    assert_int_equal(save("new", "first", &err), RIG_OK);
    assert_holds("new", "first");
    assert_int_equal(chmod("new", 0600), 0);
    assert_int_equal(rig_output_open(&output, "new", &err), RIG_OK);
    assert_int_equal(rig_output_write(&output, "second", 6, &err), RIG_OK);
    assert_holds("new", "first");
    assert_int_equal(rig_output_close(&output, RIG_OK, &err), RIG_OK);
    assert_holds("new", "second");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);

    assert_int_equal(rig_output_open(&output, "new", &err), RIG_OK);
    assert_int_equal(rig_output_write(&output, "third", 5, &err), RIG_OK);
    assert_int_equal(rig_output_close(&output, RIG_E_LIMIT, &err), RIG_E_LIMIT);
    assert_holds("new", "second");
    assert_int_equal(unlink("new"), 0);
}

static void nothing_else_in_the_folder_is_touched(void **state)
{
    (void)state;
    struct rig_err err;
    put("victim", "kept");
    put("out.tmp", "kept");
    assert_int_equal(symlink("victim", "out2.tmp"), 0);
    assert_int_equal(save("out", "text", &err), RIG_OK);
    assert_int_equal(save("out2", "text", &err), RIG_OK);
    assert_holds("out.tmp", "kept");
    assert_holds("victim", "kept");
    assert_int_equal(kind_of("out2.tmp"), S_IFLNK);
    for (const char *const *name = (const char *const[]){"victim", "out.tmp", "out2.tmp", "out", "out2", NULL};
         *name != NULL; name++)
        assert_int_equal(unlink(*name), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0); /* no temporary is left */
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chdir(folder), 0);
}

static void links_stay_and_lead_to_their_target(void **state)
{
    (void)state;
    struct rig_err err;
    put("target", "before");
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(save("link", "after", &err), RIG_OK);
    assert_int_equal(kind_of("link"), S_IFLNK);
    assert_int_equal(kind_of("target"), S_IFREG);
    assert_holds("target", "after");

    assert_int_equal(unlink("target"), 0);
    assert_int_equal(save("link", "again", &err), RIG_E_USAGE);
    assert_non_null(strstr(err.text, "does not exist"));
    assert_int_equal(access("target", F_OK), -1);
    if (geteuid() == 0) {
        put("target", "before");
        assert_int_equal(lchown("link", 12345, 12345), 0);
        assert_int_equal(save("link", "again", &err), RIG_E_USAGE);
        assert_non_null(strstr(err.text, "another user"));
        assert_holds("target", "before");
    }
    assert_int_equal(unlink("link"), 0);
}

static void pipes_are_written_through(void **state)
{
    (void)state;
    struct rig_err err;
    char bytes[8] = {0};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("pipe", "to-pipe"), 0);
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_int_equal(save("pipe", "one", &err), RIG_OK);
    assert_int_equal(save("to-pipe", "two", &err), RIG_OK);
    assert_int_equal(read(reader, bytes, sizeof bytes), 6);
    assert_memory_equal(bytes, "onetwo", 6);
    assert_int_equal(kind_of("pipe"), S_IFIFO);
    assert_int_equal(kind_of("to-pipe"), S_IFLNK);
    (void)close(reader);
    assert_int_equal(rig_output_append("pipe"), -1);
    assert_int_equal(rig_output_append("to-pipe"), -1);
}

/* Devices made by this test, so that a defect cannot break the machine's. */
static void devices_are_written_through(void **state)
{
    (void)state;
    struct rig_err err;
    if (mknod("full", S_IFCHR | 0666, makedev(1, 7)) != 0)
        skip();
    const int fd = open("full", O_WRONLY);
    if (fd < 0)
        skip(); /* a file system without devices */
    (void)close(fd);
    assert_int_equal(save("full", "text", &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "No space left"));
    assert_int_equal(kind_of("full"), S_IFCHR);
    assert_int_equal(mknod("disk", S_IFBLK | 0666, makedev(240, 0)), 0);
    assert_int_equal(save("disk", "text", &err), RIG_E_USAGE);
    assert_int_equal(kind_of("disk"), S_IFBLK);
}

static void inputs_are_never_written(void **state)
{
    (void)state;
    struct rig_err err;
    put("input", "history");
    assert_int_equal(link("input", "hard"), 0);
    assert_int_equal(symlink("input", "soft"), 0);
    rig_output_guard("soft");
    for (const char *const *name = (const char *const[]){"input", "hard", "soft", "./input", NULL}; *name != NULL;
         name++) {
        err = (struct rig_err){0};
        assert_int_equal(rig_output_check(*name, &err), RIG_E_USAGE);
        assert_int_equal(save(*name, "eaten", &err), RIG_E_USAGE);
        assert_non_null(strstr(err.text, "is an input"));
    }
    assert_holds("input", "history");

    /* Also a link that replaces the output meanwhile. */
    struct rig_output output;
    err = (struct rig_err){0};
    assert_int_equal(rig_output_open(&output, "later", &err), RIG_OK);
    assert_int_equal(link("input", "later"), 0);
    assert_int_equal(rig_output_close(&output, RIG_OK, &err), RIG_E_USAGE);
    assert_holds("input", "history");
    assert_holds("later", "history");
}

static void descriptors_are_not_opened_anew(void **state)
{
    (void)state;
    struct rig_err err;
    char path[32];
    const int fd = open("log", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "head ", 5), 5);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(save(path, "tail", &err), RIG_OK);
    (void)close(fd);
    assert_holds("log", "head tail");
    assert_int_equal(save("/dev/fd/999", "tail", &err), RIG_E_IO);
}

static void paths_that_cannot_be_files_are_rejected(void **state)
{
    (void)state;
    struct rig_err err;
    struct rig_buf failed;
    assert_int_equal(save(".", "text", &err), RIG_E_USAGE);
    assert_int_equal(save("/nowhere/at/all", "text", &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_int_equal(save("missing/", "text", &err), RIG_E_IO);
    rig_buf_init(&failed, 4);
    rig_buf_add_text(&failed, "too long");
    err = (struct rig_err){0};
    assert_int_equal(rig_output_save(&failed, "never", &err), RIG_E_LIMIT);
    assert_int_equal(access("never", F_OK), -1);
    rig_buf_done(&failed);
}

static void only_links_are_replaced_by_links(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(rig_output_link("one", "latest", &err), RIG_OK);
    assert_int_equal(rig_output_link("two", "latest", &err), RIG_OK);
    char target[8] = {0};
    assert_int_equal(readlink("latest", target, sizeof target - 1), 3);
    assert_string_equal(target, "two");
    put("mine", "kept");
    assert_int_equal(rig_output_link("one", "mine", &err), RIG_E_IO);
    assert_holds("mine", "kept");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_whole_or_not_at_all),
        cmocka_unit_test(nothing_else_in_the_folder_is_touched),
        cmocka_unit_test(links_stay_and_lead_to_their_target),
        cmocka_unit_test(pipes_are_written_through),
        cmocka_unit_test(devices_are_written_through),
        cmocka_unit_test(inputs_are_never_written),
        cmocka_unit_test(descriptors_are_not_opened_anew),
        cmocka_unit_test(paths_that_cannot_be_files_are_rejected),
        cmocka_unit_test(only_links_are_replaced_by_links),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
