#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "run/load/run_nemesis.h"

static char path[] = "/tmp/rig-outages-XXXXXX";
static struct rig_run_outages outages;

static int open_all(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/rig-outages-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        return -1;
    rig_run_outages_init(&outages);
    return rig_log_open(path, NULL) == RIG_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    rig_log_close();
    rig_run_outages_done(&outages);
    return unlink(path);
}

static size_t count(const char *text)
{
    struct rig_buf buf;
    size_t found = 0;
    rig_buf_init(&buf, 0);
    assert_int_equal(rig_buf_read_file(&buf, path, NULL), RIG_OK);
    for (const char *at = rig_buf_text(&buf); (at = strstr(at, text)) != NULL; at++)
        found++;
    rig_buf_done(&buf);
    return found;
}

static void the_first_of_a_kind_is_logged_and_the_others_counted(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "127.0.0.1:%u: refused", 5432 + i * 100000);
        rig_run_outages_note(&outages, i, text, (int64_t)i);
        rig_run_outages_note(&outages, i, "127.0.0.1:5432: reset", (int64_t)i);
    }
    assert_int_equal(count("\n"), 2);
    assert_int_equal(count("warn client: client 0 cannot connect: 127.0.0.1:5432: refused\n"), 1);
    assert_int_equal(count("warn client: client 0 cannot connect: 127.0.0.1:5432: reset\n"), 1);
    rig_run_outages_flush(&outages);
    assert_int_equal(count("39 more attempts to connect failed like this: 127.0.0.1:3905432: refused\n"), 1);
    assert_int_equal(count("39 more attempts to connect failed like this: 127.0.0.1:5432: reset\n"), 1);
    rig_run_outages_flush(&outages);
    assert_int_equal(count("\n"), 4);
}

static void a_kind_that_comes_back_is_logged_again(void **state)
{
    (void)state;
    rig_run_outages_note(&outages, 1, "refused", 0);
    rig_run_outages_note(&outages, 2, "refused", RIG_OUTAGE_QUIET_NS - 1);
    assert_int_equal(count("\n"), 1);
    rig_run_outages_note(&outages, 3, "refused", RIG_OUTAGE_QUIET_NS);
    assert_int_equal(count("1 more attempt to connect failed like this: refused\n"), 1);
    assert_int_equal(count("client 3 cannot connect: refused\n"), 1);
    rig_run_outages_flush(&outages);
    assert_int_equal(count("\n"), 3);
}

static void too_many_kinds_lose_no_count(void **state)
{
    (void)state;
    char text[] = "reason a";
    for (char kind = 'a'; kind < 'a' + 2 * RIG_OUTAGE_KINDS; kind++) {
        text[7] = kind;
        for (uint32_t i = 0; i < 3; i++)
            rig_run_outages_note(&outages, i, text, kind);
    }
    rig_run_outages_flush(&outages);
    assert_int_equal(count(" cannot connect: "), 2 * RIG_OUTAGE_KINDS);
    assert_int_equal(count("2 more attempts"), 2 * RIG_OUTAGE_KINDS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_of_a_kind_is_logged_and_the_others_counted, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_kind_that_comes_back_is_logged_again, open_all, close_all),
        cmocka_unit_test_setup_teardown(too_many_kinds_lose_no_count, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
