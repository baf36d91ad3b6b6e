#include "tests/unit/cmocka_first.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/json_members.h"

static void members_are_written_in_order(void **state)
{
    (void)state;
    struct rig_buf out;
    struct rig_json_writer w;
    rig_buf_init(&out, 0);
    rig_json_init(&w, &out);
    rig_json_begin_object(&w, NULL);
    rig_json_members(&w, "name: %s, damaged-at: %d, rigCase/v1: %s", "a, b: %d", UINT64_C(7), (const char *)NULL);
    rig_json_object(&w, "inner", "minus: %d, share: %f, exact: %b, many: %b, none: %b", INT64_C(-1), 0.25, true, 2u, 0);
    rig_json_members(&w, "last: %d", 1);
    rig_json_end(&w);
    assert_string_equal(rig_buf_text(&out),
                        "{\"name\": \"a, b: %d\", \"damaged-at\": 7, \"rigCase/v1\": null, \"inner\": {\"minus\": -1, "
                        "\"share\": 0.250, \"exact\": true, \"many\": true, \"none\": false}, \"last\": 1}");
    rig_buf_done(&out);
}

/* The exit status of a child that writes these members. */
static int status_of(const struct rig_said *words)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rig_buf out;
        struct rig_json_writer w;
        rig_buf_init(&out, 0);
        rig_json_init(&w, &out);
        rig_json_begin_object(&w, NULL);
        (void)close(STDERR_FILENO);
        rig_json_write_members(&w, words);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define STATUS(...) status_of(RIG_SAID_WORDS(__VA_ARGS__))

static void what_does_not_fit_is_an_assertion(void **state)
{
    (void)state;
    assert_int_equal(STATUS("a: %d", 1), 0);
    assert_int_equal(STATUS("a: %d", "1"), 70);
    assert_int_equal(STATUS("a: %s", 1), 70);
    assert_int_equal(STATUS("a: %f", 1), 70);
    assert_int_equal(STATUS("a: %b", 1.0), 70);
    assert_int_equal(STATUS("a: %x", 1), 70);
    assert_int_equal(STATUS("a: %d"), 70);
    assert_int_equal(STATUS("a: %d", 1, 2), 70);
    assert_int_equal(STATUS("a: %d b: %d", 1, 2), 70);
    assert_int_equal(STATUS("a %d", 1), 70);
    assert_int_equal(STATUS(": %d", 1), 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_written_in_order),
        cmocka_unit_test(what_does_not_fit_is_an_assertion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
