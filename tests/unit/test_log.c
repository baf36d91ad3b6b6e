#include "tests/unit/cmocka_first.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/thread.h"
#include "tests/unit/forget_secrets.h"

static char folder[] = "/tmp/rig-log-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/rig.log", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int open_log(void **state)
{
    (void)state;
    return rig_log_open(path, NULL) == RIG_OK ? 0 : -1;
}

static int remove_log(void **state)
{
    (void)state;
    rig_log_close();
    forget_secrets();
    return unlink(path);
}

/* The contents of the log; the caller frees them with rig_buf_done(). */
static struct rig_buf log_text(void)
{
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    assert_int_equal(rig_buf_read_file(&buf, path, NULL), RIG_OK);
    return buf;
}

static void line_has_time_level_and_area(void **state)
{
    (void)state;
    rig_log(RIG_LOG_WARN, "cluster", "node %d of %s", 1, "three");
    struct rig_buf text = log_text();
    /* 20260131T235959.123Z warn cluster: ... */
    assert_true(text.size > 21);
    assert_int_equal(text.data[8], 'T');
    assert_int_equal(text.data[19], 'Z');
    assert_string_equal(text.data + 20, " warn cluster: node 1 of three\n");
    rig_buf_done(&text);
}

static void debugging_is_not_written(void **state)
{
    (void)state;
    rig_log(RIG_LOG_DEBUG, "a", "for debugging");
    rig_log(RIG_LOG_INFO, "a", "for all");
    struct rig_buf text = log_text();
    assert_null(strstr(rig_buf_text(&text), "debugging"));
    assert_non_null(strstr(rig_buf_text(&text), "info a: for all\n"));
    rig_buf_done(&text);
}

static void message_stays_on_one_line(void **state)
{
    (void)state;
    rig_log(RIG_LOG_INFO, "a", "%s", "two\nlines\r");
    struct rig_buf text = log_text();
    assert_non_null(strstr(rig_buf_text(&text), "info a: two lines \n"));
    rig_buf_done(&text);
}

static void nothing_that_a_terminal_obeys_is_written(void **state)
{
    (void)state;
    rig_log(RIG_LOG_INFO, "a", "%s", "server says \x1b[2J\x07 and \xc2\x9b");
    struct rig_buf text = log_text();
    assert_non_null(strstr(rig_buf_text(&text), "info a: server says ?[2J? and ?\n"));
    rig_buf_done(&text);
}

/* No part of a secret is written, wherever it is in a line, also across the place where the line is cut. */
static void secrets_never_reach_the_file(void **state)
{
    (void)state;
    rig_secret_register("Zecret-Zecret");
    char filler[5000];
    for (size_t length = 0; length < sizeof filler; length += length < 4000 ? 500 : 1) {
        memset(filler, '.', length);
        filler[length] = '\0';
        rig_log(RIG_LOG_INFO, "a", "%sZecret-Zecret", filler);
    }
    struct rig_buf text = log_text();
    assert_null(strstr(rig_buf_text(&text), "Z"
                                            "e"));
    assert_non_null(strstr(rig_buf_text(&text), "***"));
    rig_buf_done(&text);
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    char filler[9000];
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    rig_log(RIG_LOG_INFO, "a", "%s", filler);
    rig_log(RIG_LOG_INFO, "a", "next");
    struct rig_buf text = log_text();
    char *end = strchr(text.data, '\n');
    assert_non_null(end);
    assert_int_equal(end - text.data, 4095);
    assert_non_null(strstr(end, " info a: next\n"));
    rig_buf_done(&text);
}

enum { THREADS = 4, LINES = 500 };

static void *write_lines(void *argument)
{
    for (int i = 0; i < LINES; i++)
        rig_log(RIG_LOG_INFO, "thread", "<%s %d>", (const char *)argument, i);
    return NULL;
}

static void lines_of_several_threads_stay_whole(void **state)
{
    (void)state;
    char names[THREADS][64];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        memset(names[i], 'a' + i, sizeof names[i] - 1);
        names[i][sizeof names[i] - 1] = '\0';
        assert_int_equal(rig_thread_start(&threads[i], write_lines, names[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);

    struct rig_buf text = log_text();
    int next[THREADS] = {0};
    int line_count = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text.data, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *message = strchr(line, '<');
        assert_non_null(message);
        int thread = message[1] - 'a';
        char expected[128];
        (void)snprintf(expected, sizeof expected, "<%s %d>", names[thread], next[thread]++);
        assert_string_equal(message, expected);
        line_count++;
    }
    assert_int_equal(line_count, THREADS * LINES);
    rig_buf_done(&text);
}

static void *log_elsewhere(void *other_path)
{
    assert_int_equal(rig_log_open(other_path, NULL), RIG_OK);
    rig_log(RIG_LOG_INFO, "other", "of the other thread");
    return NULL; /* which closes it */
}

static void *is_blocked(void *argument)
{
    (void)argument;
    sigset_t blocked;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    return sigismember(&blocked, SIGINT) == 1 ? argument : NULL;
}

/* Threads log to their starter's log until they open their own, and do not handle signals. */
static void each_thread_has_its_log(void **state)
{
    (void)state;
    char other_path[sizeof path + 8];
    (void)snprintf(other_path, sizeof other_path, "%s.other", path);
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(rig_thread_start(&thread, log_elsewhere, other_path), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(rig_thread_start(&thread, is_blocked, other_path), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, other_path);
    rig_log(RIG_LOG_INFO, "own", "of this thread");
    struct rig_log_file *held = rig_log_share();
    rig_log_close();
    rig_log(RIG_LOG_INFO, "own", "nowhere");
    rig_log_into(held, RIG_LOG_INFO, "held", "while it is held");
    rig_log_release(held);
    struct rig_buf own = log_text(), other;
    rig_buf_init(&other, 0);
    assert_int_equal(rig_buf_read_file(&other, other_path, NULL), RIG_OK);
    assert_non_null(strstr(rig_buf_text(&own), "info own: of this thread\n"));
    assert_non_null(strstr(rig_buf_text(&own), "info held: while it is held\n"));
    assert_null(strstr(rig_buf_text(&own), "other"));
    assert_null(strstr(rig_buf_text(&own), "nowhere"));
    assert_non_null(strstr(rig_buf_text(&other), "info other: of the other thread\n"));
    assert_null(strstr(rig_buf_text(&other), "own"));
    rig_buf_done(&own);
    rig_buf_done(&other);
    assert_int_equal(unlink(other_path), 0);
}

static void folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(rig_log_open("/nowhere/rig.log", &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "/nowhere/rig.log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(line_has_time_level_and_area, open_log, remove_log),
        cmocka_unit_test_setup_teardown(debugging_is_not_written, open_log, remove_log),
        cmocka_unit_test_setup_teardown(message_stays_on_one_line, open_log, remove_log),
        cmocka_unit_test_setup_teardown(nothing_that_a_terminal_obeys_is_written, open_log, remove_log),
        cmocka_unit_test_setup_teardown(secrets_never_reach_the_file, open_log, remove_log),
        cmocka_unit_test_setup_teardown(long_lines_are_cut, open_log, remove_log),
        cmocka_unit_test_setup_teardown(lines_of_several_threads_stay_whole, open_log, remove_log),
        cmocka_unit_test_setup_teardown(each_thread_has_its_log, open_log, remove_log),
        cmocka_unit_test(folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
