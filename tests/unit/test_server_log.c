#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/secret.h"
#include "report/server_log.h"
#include "tests/unit/hand_verdict.h"

#define AT_S INT64_C(1767225600) /* 2026-01-01T00:00:00Z */

static void assert_time(const char *line, int64_t ns, int64_t step, int64_t backend)
{
    int64_t utc_ns, step_ns, number;
    assert_true(rig_server_log_time(line, &utc_ns, &step_ns, &number));
    assert_int_equal(utc_ns, AT_S * RIG_NS_PER_S + ns);
    assert_int_equal(step_ns, step);
    assert_int_equal(number, backend);
}

static void times_as_servers_write_them(void **state)
{
    (void)state;
    int64_t unused[3];
    setenv("TZ", "Etc/GMT-2", 1); /* two hours east */
    assert_time("2026-01-01 00:00:01.250 UTC [4711] LOG:  x", 1250000000, 1000000, 4711);
    assert_time("2026-01-01 02:00:01.250 +02 [4711] LOG:  x", 1250000000, 1000000, 4711);
    assert_time("2025-12-31 19:30:01.250 -04:30 [4711] LOG:  x", 1250000000, 1000000, 4711);
    assert_time("2026-01-01 02:00:01 12 [Note] x", 1000000000, RIG_NS_PER_S, 12);
    assert_time("{\"level\":\"warn\",\"ts\":\"2026-01-01T00:00:01.250Z\",\"msg\":\"x\"}", 1250000000, 1000000, -1);
    assert_false(rig_server_log_time("2026-01-01 00:00:01.250 CET [4711] LOG: any of many zones", &unused[0],
                                     &unused[1], &unused[2]));
    assert_false(rig_server_log_time("\tDETAIL of a message", &unused[0], &unused[1], &unused[2]));
    assert_false(rig_server_log_time("", &unused[0], &unused[1], &unused[2]));
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_all(const char *folder, const char *const *names, size_t count)
{
    char path[256];
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* hand_verdict_skew() has transactions around 1 s after its start. */
static void lines_around_a_witness(void **state)
{
    (void)state;
    char folder[] = "/tmp/rig-test-log-XXXXXX", link[256];
    struct hand_verdict hand;
    unsigned count;
    hand_verdict_skew(&hand);
    assert_non_null(mkdtemp(folder));
    hand.history->start_utc_ns = AT_S * RIG_NS_PER_S;
    assert_true(rig_secret_register("hunter2hunter2"));
    write_file(
        folder, "pg-1.log",
        "2026-01-01 00:00:00.000 UTC [1] LOG:  too early\n"
        "2026-01-01 00:00:01.010 UTC [7] ERROR:  could not serialize <access>\n\tpassword=hunter2hunter2\033[31m\n"
        "2026-01-01 00:00:01.030 UTC [7] FATAL:  terminating connection, because rig ends the server\n"
        "2026-01-01 00:00:59.000 UTC [1] LOG:  too late\n\tand its detail\n");
    write_file(folder, "rig.log",
               "2026-01-01 00:00:01.010 UTC [7] ERROR:  of rig itself\n"
               "20260101T000001.020Z info run: the final reads have ended\n");
    write_file(folder, "other.txt", "2026-01-01 00:00:01.010 UTC [7] ERROR:  no log\n");
    (void)snprintf(link, sizeof link, "%s/evil.log", folder);
    assert_int_equal(symlink("other.txt", link), 0);
    struct rig_server_logs *logs = rig_server_logs_read(folder, &hand.verdict);
    const char *text = rig_server_logs_of(logs, &hand.verdict.findings[RIG_ANOMALY_G2_ITEM].witnesses[0], &count);
    assert_int_equal(count, 2);
    assert_string_equal(text, "pg-1.log: 2026-01-01 00:00:01.010 UTC [7] ERROR:  could not serialize <access>\n"
                              "pg-1.log:  password=***?[31m\n");
    rig_server_logs_free(logs);
    static const char *const names[] = {"pg-1.log", "rig.log", "other.txt", "evil.log"};
    remove_all(folder, names, 4);
    assert_null(rig_server_logs_read(folder, &hand.verdict));
    hand_verdict_done(&hand);
}

/* The complaints among many lines stay, in their order. */
static void the_best_lines_stay(void **state)
{
    (void)state;
    char folder[] = "/tmp/rig-test-log-XXXXXX";
    struct hand_verdict hand;
    struct rig_buf log;
    unsigned count;
    hand_verdict_skew(&hand);
    assert_non_null(mkdtemp(folder));
    hand.history->start_utc_ns = AT_S * RIG_NS_PER_S;
    rig_buf_init(&log, 0);
    for (int i = 0; i < 200; i++)
        rig_buf_printf(&log, "2026-01-01 00:00:01.%03d UTC [7] %s:  line %d\n", i / 20, i % 40 == 39 ? "ERROR" : "LOG",
                       i);
    write_file(folder, "pg-1.log", rig_buf_text(&log));
    rig_buf_done(&log);
    struct rig_server_logs *logs = rig_server_logs_read(folder, &hand.verdict);
    const char *text = rig_server_logs_of(logs, &hand.verdict.findings[RIG_ANOMALY_G2_ITEM].witnesses[0], &count);
    assert_int_equal(count, RIG_SERVER_LOG_LINES);
    const char *before = text;
    for (int i = 39; i < 200; i += 40) {
        char line[32];
        (void)snprintf(line, sizeof line, "ERROR:  line %d\n", i);
        const char *found = strstr(before, line);
        assert_non_null(found);
        before = found;
    }
    rig_server_logs_free(logs);
    static const char *const names[] = {"pg-1.log"};
    remove_all(folder, names, 1);
    hand_verdict_done(&hand);
}

/* Conflicts are common: any other line is better, also one of another backend; their parts go with them. */
static void conflicts_come_last(void **state)
{
    (void)state;
    char folder[] = "/tmp/rig-test-log-XXXXXX";
    const char *best[RIG_SERVER_LOG_LINES];
    struct hand_verdict hand;
    struct rig_buf log;
    hand_verdict_skew(&hand);
    assert_non_null(mkdtemp(folder));
    hand.history->start_utc_ns = AT_S * RIG_NS_PER_S;
    rig_buf_init(&log, 0);
    for (int i = 0; i < 30; i++)
        rig_buf_printf(&log,
                       "2026-01-01 00:00:01.%03d UTC [7] ERROR:  could not serialize access\n"
                       "2026-01-01 00:00:01.%03d UTC [7] STATEMENT:  COMMIT %d\n",
                       i, i, i);
    rig_buf_add_text(&log, "2026-01-01 00:00:01.030 UTC [9] ERROR:  could not read block\n"
                           "2026-01-01 00:00:01.030 UTC [9] DETAIL:  of a file\n"
                           "2026-01-01 00:00:01.031 UTC [3] LOG:  checkpoint starting\n");
    write_file(folder, "pg-1.log", rig_buf_text(&log));
    rig_buf_done(&log);
    struct rig_server_logs *logs = rig_server_logs_read(folder, &hand.verdict);
    const struct rig_witness *witness = &hand.verdict.findings[RIG_ANOMALY_G2_ITEM].witnesses[0];
    assert_int_equal(rig_server_logs_best(logs, witness, 8, false, best), 3);
    assert_non_null(strstr(best[0], "ERROR:  could not read block"));
    assert_non_null(strstr(best[1], "DETAIL:  of a file"));
    assert_non_null(strstr(best[2], "LOG:  checkpoint starting"));
    assert_int_equal(rig_server_logs_best(logs, witness, 2, false, best), 2);
    assert_non_null(strstr(best[1], "DETAIL:  of a file"));
    assert_int_equal(rig_server_logs_best(logs, witness, RIG_SERVER_LOG_LINES, true, best), RIG_SERVER_LOG_LINES);
    assert_int_equal(rig_server_logs_best(NULL, witness, 2, true, best), 0);
    rig_server_logs_free(logs);
    static const char *const names[] = {"pg-1.log"};
    remove_all(folder, names, 1);
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_as_servers_write_them),
        cmocka_unit_test(lines_around_a_witness),
        cmocka_unit_test(the_best_lines_stay),
        cmocka_unit_test(conflicts_come_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
