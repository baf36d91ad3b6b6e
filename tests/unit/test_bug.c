#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bug.h"

static void say_cleaned(void)
{
    ssize_t written = write(STDERR_FILENO, "cleaned\n", 8);
    (void)written;
}

/* A handler that fails itself must not run again. */
static void fail_in_turn(void)
{
    say_cleaned();
    RIG_INVARIANT(1 == 2);
}

/* Runs the failing assertion in a child; gives its exit status and its stderr. */
static int status_of_failure(void (*handler)(void), char *text, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        rig_bug_on_exit(handler);
        RIG_REQUIRE(1 + 1 == 2);
        RIG_REQUIRE(1 + 1 == 3);
        _exit(0);
    }
    (void)close(ends[1]);
    size_t length = 0;
    for (ssize_t done = 1; done > 0 && length + 1 < size; length += (size_t)(done > 0 ? done : 0))
        done = read(ends[0], text + length, size - 1 - length);
    text[length] = '\0';
    (void)close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void failure_names_the_place_and_exits_with_70(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(status_of_failure(NULL, text, sizeof text), 70);
    assert_non_null(strstr(text, "rig: BUG at "));
    assert_non_null(strstr(text, "test_bug.c:"));
    assert_non_null(strstr(text, "requires 1 + 1 == 3\n"));
}

static void handler_runs_once(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(status_of_failure(say_cleaned, text, sizeof text), 70);
    assert_non_null(strstr(text, "cleaned\n"));
    assert_int_equal(status_of_failure(fail_in_turn, text, sizeof text), 70);
    char *first = strstr(text, "cleaned\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "cleaned\n"));
    assert_non_null(strstr(text, "invariant 1 == 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_names_the_place_and_exits_with_70),
        cmocka_unit_test(handler_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
