/*
 * Child processes: their environment, and that no process remains, orphans included.
 */
#include "tests/unit/cmocka_first.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

#define SECOND_NS INT64_C(1000000000)

struct bench {
    struct rig_children *children;
    struct rig_account account;
    struct rig_child child;
    int output[2];
};

static void begin(struct bench *bench)
{
    struct rig_err err = {.rc = RIG_OK};
    *bench = (struct bench){.children = NULL};
    assert_int_equal(rig_children_new(&bench->children, &err), RIG_OK);
    assert_int_equal(pipe2(bench->output, O_CLOEXEC), 0);
}

static void end(struct bench *bench)
{
    assert_true(rig_child_clear(&bench->child, 10 * SECOND_NS, NULL));
    rig_children_free(bench->children);
    (void)close(bench->output[0]);
    (void)close(bench->output[1]);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static enum rig_rc start(struct bench *bench, const char *program, const char *script, struct rig_err *err)
{
    const char *const arguments[] = {program, "-c", script, NULL};
    const char *const environment[] = {"RIG_TEST=a value", NULL};
    const struct rig_child_command command = {.arguments = arguments,
                                              .environment = environment,
                                              .account = &bench->account,
                                              .home = "/",
                                              .output = bench->output[1],
                                              .death_signal = SIGKILL};
    return rig_child_start(bench->children, &command, &bench->child, err);
}

static void run(struct bench *bench, const char *script)
{
    struct rig_err err = {.rc = RIG_OK};
    if (start(bench, "/bin/sh", script, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

/* Waits until the child has written a line. */
static const char *line(struct bench *bench)
{
    static char text[256];
    size_t length = 0;
    while (length + 1 < sizeof text && read(bench->output[0], text + length, 1) == 1 && text[length] != '\n')
        length++;
    text[length] = '\0';
    return text;
}

static void child_gets_environment_session_and_status(void **state)
{
    (void)state;
    struct bench bench;
    int status = 0;
    begin(&bench);
    assert_true(rig_child_ended(&bench.child));
    run(&bench, "echo \"$RIG_TEST $LC_ALL $PWD\"; read nothing; exit 7");
    pid_t pid = rig_child_pid(&bench.child);
    assert_string_equal(line(&bench), "a value C /");
    assert_true(rig_child_await(&bench.child, 10 * SECOND_NS));
    assert_true(rig_child_clear(&bench.child, 10 * SECOND_NS, &status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(rig_child_pid(&bench.child), 0);
    assert_int_equal(kill(pid, 0), -1);
    /* The object can be used again. */
    run(&bench, "ps -o sid= -p $$ | tr -d ' '; exec sleep 1000");
    char expected[16];
    (void)snprintf(expected, sizeof expected, "%d", (int)rig_child_pid(&bench.child));
    assert_string_equal(line(&bench), expected);
    assert_false(rig_child_ended(&bench.child));
    assert_false(rig_child_await(&bench.child, 1));
    end(&bench);
}

static void descendants_are_found_and_ended(void **state)
{
    (void)state;
    struct bench bench;
    pid_t pids[8];
    begin(&bench);
    /* In sessions of their own, like the processes of a database server. */
    run(&bench, "setsid sleep 1000 & setsid sleep 1000 & echo ready; wait");
    assert_string_equal(line(&bench), "ready");
    assert_int_equal(rig_child_processes(&bench.child, pids, 8), 3);
    assert_int_equal(pids[0], rig_child_pid(&bench.child));
    assert_true(rig_child_clear(&bench.child, 10 * SECOND_NS, NULL));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(kill(pids[i], 0), -1);
    assert_int_equal(rig_child_processes(&bench.child, pids, 8), 0);
    end(&bench);
}

static void await_processes(struct bench *bench, uint32_t count)
{
    pid_t pids[8];
    const int64_t deadline_ns = rig_clock_now_ns() + 10 * SECOND_NS;
    while (rig_child_processes(&bench->child, pids, 8) != count && rig_clock_now_ns() < deadline_ns)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + SECOND_NS / 1000);
}

static void orphans_of_a_killed_child_are_found(void **state)
{
    (void)state;
    struct bench bench;
    pid_t pids[8];
    begin(&bench);
    /* The shell's own copies are orphans that end by themselves, unseen before they are zombies. */
    run(&bench, "setsid sleep 1000 & (exec 0</dev/null; sleep 0.02) & echo ready; wait");
    assert_string_equal(line(&bench), "ready");
    assert_int_equal(kill(rig_child_pid(&bench.child), SIGKILL), 0);
    assert_true(rig_child_await(&bench.child, 10 * SECOND_NS));
    await_processes(&bench, 1);
    assert_int_equal(rig_child_processes(&bench.child, pids, 8), 1);
    assert_true(pids[0] != rig_child_pid(&bench.child));
    assert_true(rig_child_clear(&bench.child, 10 * SECOND_NS, NULL));
    assert_int_equal(kill(pids[0], 0), -1);
    end(&bench);
}

static void stopped_child_is_ended(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    run(&bench, "sleep 1000");
    assert_int_equal(kill(rig_child_pid(&bench.child), SIGSTOP), 0);
    end(&bench);
}

/* Two runs of a process have children each. If one reaped a child of the other, the system could give its number to
 * another process, which the other run would kill. */
static void each_reaps_its_own_children_only(void **state)
{
    (void)state;
    struct bench one, other;
    int status = 0;
    begin(&one);
    begin(&other);
    run(&one, "exit 7");
    run(&other, "exit 0");
    assert_true(rig_child_await(&one.child, 10 * SECOND_NS)); /* has ended, and is not reaped */
    assert_true(rig_child_clear(&other.child, 10 * SECOND_NS, NULL));
    siginfo_t info = {.si_pid = 0};
    assert_int_equal(waitid(P_PID, (id_t)rig_child_pid(&one.child), &info, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(info.si_pid, rig_child_pid(&one.child));
    assert_true(rig_child_clear(&one.child, 10 * SECOND_NS, &status));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    rig_children_free(other.children);
    (void)close(other.output[0]);
    (void)close(other.output[1]);
    end(&one);
}

/* ---- what is not rig's ---- */

enum { PIPES_MOST = 1000000, NAMED_PIPES = 3000 };

static ino_t next_pipe(void)
{
    int ends[2];
    struct stat status;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fstat(ends[0], &status), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return status.st_ino;
}

static const char *named_pipe(const char *folder, int number)
{
    static char path[96];
    (void)snprintf(path, sizeof path, "%s/%d", folder, number);
    return path;
}

/* The number of a named pipe with the number that the child's tether has, on its own device; -1: there is none. */
static int find_double(const struct rig_child *child, const char *folder)
{
    struct stat tether, status;
    assert_int_equal(fstat(child->tether_plus_one - 1, &tether), 0);
    for (int i = 0; i < NAMED_PIPES; i++) {
        if (stat(named_pipe(folder, i), &status) == 0 && status.st_ino == tether.st_ino)
            return i;
    }
    return -1;
}

/* Uses up the numbers of pipes until they are among those of the named ones; false: they are not near. */
static bool come_near(const char *folder)
{
    struct stat first, last;
    for (int i = 0; i < NAMED_PIPES; i++)
        assert_int_equal(mkfifo(named_pipe(folder, i), 0600), 0);
    assert_int_equal(stat(named_pipe(folder, 0), &first), 0);
    assert_int_equal(stat(named_pipe(folder, NAMED_PIPES - 1), &last), 0);
    ino_t at = next_pipe();
    if (at >= last.st_ino || first.st_ino > at + PIPES_MOST)
        return false;
    for (int i = 0; i < PIPES_MOST && at < first.st_ino; i++)
        at = next_pipe();
    return first.st_ino <= at && at < last.st_ino;
}

/* Makes a folder with named pipes whose numbers are near those of pipes, where there is one; file systems give the
 * numbers by the place of a folder. */
static bool find_place(char folder[64])
{
    static const char *const parents[] = {"/var/tmp", "/tmp", "."};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        (void)snprintf(folder, 64, "%s/rig-pipes-XXXXXX", parents[i]);
        if (mkdtemp(folder) == NULL)
            continue;
        if (come_near(folder))
            return true;
        for (int j = 0; j < NAMED_PIPES; j++)
            (void)unlink(named_pipe(folder, j));
        (void)rmdir(folder);
    }
    return false;
}

/* A process that has a named pipe as its descriptor 3, which is none of rig's children's. */
static pid_t start_stranger(const char *path)
{
    const pid_t stranger = fork();
    if (stranger == 0) {
        const int fd = open(path, O_RDWR);
        (void)dup2(fd, 3);
        for (;;)
            (void)pause();
    }
    return stranger;
}

/* Numbers of files are unique within their device only. */
static void a_named_pipe_with_the_number_of_the_tether_is_not_it(void **state)
{
    (void)state;
    struct bench bench;
    char folder[64];
    const bool near = find_place(folder);
    begin(&bench);
    int found = -1;
    for (int i = 0; near && found < 0 && i < 50; i++) {
        run(&bench, "exec sleep 1000");
        found = find_double(&bench.child, folder);
        if (found < 0)
            assert_true(rig_child_clear(&bench.child, 10 * SECOND_NS, NULL));
    }
    if (found >= 0) {
        const pid_t stranger = start_stranger(named_pipe(folder, found));
        pid_t pids[4];
        rig_clock_sleep_until_ns(rig_clock_now_ns() + SECOND_NS / 20);
        assert_int_equal(rig_child_processes(&bench.child, pids, 4), 1);
        assert_int_equal(pids[0], rig_child_pid(&bench.child));
        assert_true(rig_child_clear(&bench.child, 10 * SECOND_NS, NULL));
        assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0); /* alive */
        assert_int_equal(kill(stranger, SIGKILL), 0);
        assert_int_equal(waitpid(stranger, NULL, 0), stranger);
    }
    end(&bench);
    for (int i = 0; near && i < NAMED_PIPES; i++)
        (void)unlink(named_pipe(folder, i));
    if (near)
        (void)rmdir(folder);
    if (found < 0) {
        print_message("the file system's numbers are not near those of pipes\n");
        skip();
    }
}

struct left {
    uint32_t named, ended;
};

static void note_left(void *context, const char *program, pid_t pid, bool ended)
{
    struct left *left = context;
    (void)pid;
    left->named += program[0] != '\0' ? 1 : 0;
    left->ended += ended ? 1 : 0;
}

static void run_marked(struct bench *bench, const char *script)
{
    struct rig_err err = {.rc = RIG_OK};
    const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
    const char *const environment[] = {"PATH=/usr/bin:/bin", "RIG_CHILD_MARK=of.1", NULL};
    const struct rig_child_command command = {.arguments = arguments,
                                              .environment = environment,
                                              .whole_environment = true,
                                              .marked = true,
                                              .account = &bench->account,
                                              .home = "/",
                                              .output = bench->output[1],
                                              .death_signal = SIGKILL};
    if (rig_child_start(bench->children, &command, &bench->child, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

/* Daemons, which have another session and closed the tether, are found by the mark; processes with other marks are not.
 * */
static void those_that_left_are_named_and_ended(void **state)
{
    (void)state;
    struct bench one, other;
    struct left left = {.ended = 0};
    begin(&one);
    begin(&other);
    run_marked(&other, "(setsid sh -c 'exec 3>&-; echo ready; sleep 1000') & wait");
    assert_string_equal(line(&other), "ready");
    run_marked(&one, "(setsid sh -c 'exec 3>&-; (setsid sleep 1000 &); echo ready; exec sleep 1000' &); sleep 1000");
    assert_string_equal(line(&one), "ready");
    assert_true(rig_child_clear(&one.child, 10 * SECOND_NS, NULL));
    assert_true(rig_child_left_processes(&one.child));
    rig_children_end_left(one.children, 10 * SECOND_NS, note_left, &left);
    assert_int_equal(left.named, 2);
    assert_int_equal(left.ended, 2);
    assert_false(rig_child_left_processes(&one.child));
    rig_children_end_left(one.children, 10 * SECOND_NS, note_left, &left);
    assert_int_equal(left.ended, 2);
    assert_true(rig_child_left_processes(&other.child)); /* not touched, like its parent, which lives */
    assert_false(rig_child_ended(&other.child));
    assert_true(rig_child_clear(&other.child, 10 * SECOND_NS, NULL));
    rig_children_end_left(other.children, 10 * SECOND_NS, note_left, &left);
    rig_children_free(other.children);
    (void)close(other.output[0]);
    (void)close(other.output[1]);
    end(&one);
}

static void failing_start_is_explained(void **state)
{
    (void)state;
    struct bench bench;
    struct rig_err err = {.rc = RIG_OK};
    begin(&bench);
    assert_int_equal(start(&bench, "/nowhere/sh", "", &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "/nowhere/sh cannot be executed by rig's own user: No such file or directory");
    assert_int_equal(rig_child_pid(&bench.child), 0);
    end(&bench);
}

static void *start_elsewhere(void *object)
{
    run(object, "echo ready; exec sleep 1000");
    return NULL;
}

static void child_outlives_the_thread_that_asked_for_it(void **state)
{
    (void)state;
    struct bench bench;
    pthread_t thread;
    begin(&bench);
    assert_int_equal(pthread_create(&thread, NULL, start_elsewhere, &bench), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(line(&bench), "ready");
    assert_false(rig_child_await(&bench.child, SECOND_NS / 20));
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_gets_environment_session_and_status),
        cmocka_unit_test(descendants_are_found_and_ended),
        cmocka_unit_test(orphans_of_a_killed_child_are_found),
        cmocka_unit_test(stopped_child_is_ended),
        cmocka_unit_test(each_reaps_its_own_children_only),
        cmocka_unit_test(a_named_pipe_with_the_number_of_the_tether_is_not_it),
        cmocka_unit_test(those_that_left_are_named_and_ended),
        cmocka_unit_test(failing_start_is_explained),
        cmocka_unit_test(child_outlives_the_thread_that_asked_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
