/*
 * Processes as /proc shows them: each field of a process with any name, a process that has ended, one with a reused
 * number.
 */
#include "tests/unit/cmocka_first.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

/* A child in a session of its own, under this name, which idles until it is told to end. */
static pid_t start_child(const char *name)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)setsid();
        (void)prctl(PR_SET_NAME, name);
        (void)!write(ready[1], "x", 1);
        for (;;)
            (void)pause();
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

static void reap(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void fields_are_read_behind_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"plain", "two words", "a) Z 1 2 (b", "((", "))", ") ", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const pid_t pid = start_child(names[i]);
        struct rig_process_stat stat = {.state = '?'};
        assert_true(rig_process_stat(pid, &stat));
        assert_string_equal(stat.program, names[i]);
        assert_non_null(strchr("RS", stat.state));
        assert_int_equal(stat.parent, getpid());
        assert_int_equal(stat.session, pid);
        assert_true(stat.started > 0);
        reap(pid);
    }
}

static void ended_process_is_none(void **state)
{
    (void)state;
    const pid_t pid = start_child("child");
    struct rig_process process;
    struct rig_process_stat stat;
    assert_true(rig_process_find(pid, &process));
    assert_false(rig_process_await_end(&process, 0));
    assert_true(rig_process_signal(&process, SIGKILL));
    assert_true(rig_process_await_end(&process, 100 * RIG_NS_PER_S));
    assert_true(rig_process_stat(pid, &stat)); /* it was not reaped */
    assert_int_equal(stat.state, 'Z');
    assert_false(rig_process_find(pid, &process));
    reap(pid);
    assert_false(rig_process_stat(pid, &stat));
    assert_false(rig_process_signal(&process, SIGCONT));
    assert_int_equal(errno, ESRCH);
}

static void number_alone_is_not_the_process(void **state)
{
    (void)state;
    const pid_t pid = start_child("child");
    struct rig_process process;
    assert_true(rig_process_find(pid, &process));
    process.started--;
    assert_false(rig_process_lives(&process));
    assert_int_equal(rig_process_state(&process), '\0');
    assert_false(rig_process_signal(&process, SIGKILL));
    process.started++;
    assert_true(rig_process_lives(&process));
    reap(pid);
}

static void stopped_process_is_seen(void **state)
{
    (void)state;
    const pid_t pid = start_child("child");
    struct rig_process process;
    assert_true(rig_process_find(pid, &process));
    assert_false(rig_process_await_state(&process, true, 0));
    assert_true(rig_process_signal(&process, SIGSTOP));
    assert_true(rig_process_await_state(&process, true, 100 * RIG_NS_PER_S));
    assert_int_equal(rig_process_state(&process), 'T');
    assert_true(rig_process_signal(&process, SIGCONT));
    assert_true(rig_process_await_state(&process, false, 100 * RIG_NS_PER_S));
    reap(pid);
    assert_false(rig_process_await_state(&process, true, 5 * RIG_NS_PER_S)); /* at once: there is none any more */
}

static void *idle(void *context)
{
    (void)context;
    for (;;)
        (void)pause();
    return NULL;
}

/* The first thread of a process is a zombie when it has ended; the process lives until the others have. */
static void process_lives_until_its_last_thread_ends(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        (void)pthread_create(&thread, NULL, idle, NULL);
        pthread_exit(NULL);
    }
    struct rig_process_stat stat = {.state = '?'};
    const int64_t until_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (stat.state != 'Z' && rig_clock_now_ns() < until_ns)
        assert_true(rig_process_stat(pid, &stat));
    assert_int_equal(stat.state, 'Z');
    assert_true(stat.threads > 1);
    struct rig_process process;
    assert_true(rig_process_find(pid, &process));
    assert_false(rig_process_await_end(&process, 0));
    assert_true(rig_process_signal(&process, SIGKILL));
    assert_true(rig_process_await_end(&process, 100 * RIG_NS_PER_S));
    reap(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_behind_any_name),          cmocka_unit_test(ended_process_is_none),
        cmocka_unit_test(number_alone_is_not_the_process),          cmocka_unit_test(stopped_process_is_seen),
        cmocka_unit_test(process_lives_until_its_last_thread_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
