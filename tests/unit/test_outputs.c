#include "tests/unit/cmocka_first.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/saved_run.h"
#include "tests/unit/hand_verdict.h"

struct fixture {
    char folder[64];
    struct hand_verdict hand;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return -1;
    (void)snprintf(fixture->folder, sizeof fixture->folder, "/tmp/rig-test-outputs-XXXXXX");
    if (mkdtemp(fixture->folder) == NULL)
        return -1;
    hand_verdict_skew(&fixture->hand);
    *state = fixture;
    return 0;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    (void)nftw(fixture->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    hand_verdict_done(&fixture->hand);
    free(fixture);
    return 0;
}

static bool exists(const struct fixture *fixture, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
    return access(path, F_OK) == 0;
}

static void write_reports(const struct fixture *fixture, uint32_t forms, const struct rig_report_run *run)
{
    struct rig_err err = {0};
    if (rig_cli_write_reports(&fixture->hand.verdict, run, NULL, "skew", fixture->folder, forms, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void every_file_is_written(void **state)
{
    const struct fixture *fixture = *state;
    write_reports(fixture, RIG_CLI_ALL_REPORTS, NULL);
    static const char *const names[] = {"results.json",
                                        "report.txt",
                                        "report.html",
                                        "junit.xml",
                                        "witnesses/G2-item-1.txt",
                                        "witnesses/G2-item-1.svg",
                                        "witnesses/G2-item-1.dot"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!exists(fixture, names[i]))
            fail_msg("%s is missing", names[i]);
}

static void only_the_forms_asked_for(void **state)
{
    const struct fixture *fixture = *state;
    write_reports(fixture, 1u << RIG_REPORT_HTML, NULL);
    assert_true(exists(fixture, "report.html"));
    assert_true(exists(fixture, "results.json"));
    assert_false(exists(fixture, "report.txt"));
    assert_false(exists(fixture, "junit.xml"));
}

static void forms_for_pipelines_by_their_names(void **state)
{
    const struct fixture *fixture = *state;
    write_reports(fixture, 1u << RIG_REPORT_SARIF | 1u << RIG_REPORT_GITHUB | 1u << RIG_REPORT_MARKDOWN, NULL);
    assert_true(exists(fixture, "results.sarif"));
    assert_true(exists(fixture, "github.txt"));
    assert_true(exists(fixture, "summary.md"));
    assert_false(exists(fixture, "report.html"));
}

static void a_file_of_an_earlier_verdict_is_written_again(void **state)
{
    struct fixture *fixture = *state;
    write_reports(fixture, 1u << RIG_REPORT_GITHUB, NULL);
    char path[256], line[64] = "";
    (void)snprintf(path, sizeof path, "%s/github.txt", fixture->folder);
    for (int pass = 0; pass < 2; pass++) {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(fclose(file), 0);
        assert_int_equal(strncmp(line, pass == 0 ? "::error " : "::notice ", strlen("::error ")), 0);
        fixture->hand.verdict.valid = RIG_VALID_TRUE;
        fixture->hand.verdict.requested_levels = 0;
        write_reports(fixture, 0, NULL);
    }
}

static void stale_witnesses_go_and_other_files_stay(void **state)
{
    struct fixture *fixture = *state;
    write_reports(fixture, 0, NULL);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/witnesses/notes.txt", fixture->folder);
    FILE *notes = fopen(path, "w");
    assert_non_null(notes);
    assert_int_equal(fclose(notes), 0);
    fixture->hand.verdict.findings[RIG_ANOMALY_G2_ITEM].witness_count = 0;
    write_reports(fixture, 0, NULL);
    assert_false(exists(fixture, "witnesses/G2-item-1.txt"));
    assert_false(exists(fixture, "witnesses/G2-item-1.svg"));
    assert_false(exists(fixture, "witnesses/G2-item-1.dot"));
    assert_true(exists(fixture, "witnesses/notes.txt"));
}

static void a_folder_that_cannot_be_is_an_error(void **state)
{
    const struct fixture *fixture = *state;
    struct rig_err err = {0};
    enum rig_rc rc = rig_cli_write_reports(&fixture->hand.verdict, NULL, NULL, "skew", "/nonexistent/a/b", 0, &err);
    assert_int_equal(rc, RIG_E_IO);
    assert_non_null(strstr(err.text, "/nonexistent/a/b: cannot create the folder"));
}

static void facts_of_the_run_read_back(void **state)
{
    const struct fixture *fixture = *state;
    static const struct rig_report_latency latency = {"writing", 7, 1, 2, 3, 4, 5, 6};
    static const struct rig_report_error error = {"info", "08006", "gone \"away\"", 9};
    const struct rig_report_run run = {.name = "n",
                                       .driver = "d",
                                       .server = NULL,
                                       .isolation = "i",
                                       .started_utc = "t",
                                       .seed = UINT64_MAX,
                                       .client_count = 16,
                                       .load_s = 2.5,
                                       .final_reads = 3,
                                       .interrupted = true,
                                       .stopped_by = "G2-item",
                                       .latencies = &latency,
                                       .latency_count = 1,
                                       .errors = &error,
                                       .error_count = 1};
    write_reports(fixture, 0, &run);
    struct rig_cli_saved_run saved;
    struct rig_err err = {0};
    assert_int_equal(rig_cli_saved_run_load(fixture->folder, &saved, &err), RIG_OK);
    assert_true(saved.found);
    assert_string_equal(saved.run.name, "n");
    assert_null(saved.run.server);
    assert_true(saved.run.seed == UINT64_MAX);
    assert_int_equal(saved.run.client_count, 16);
    assert_true(saved.run.load_s == 2.5);
    assert_int_equal(saved.run.final_reads, 3);
    assert_true(saved.run.interrupted);
    assert_string_equal(saved.run.stopped_by, "G2-item");
    assert_int_equal(saved.run.latency_count, 1);
    assert_int_equal(saved.run.latencies[0].count, 7);
    assert_int_equal(saved.run.latencies[0].max_ns, 6);
    assert_int_equal(saved.run.error_count, 1);
    assert_string_equal(saved.run.errors[0].text, "gone \"away\"");
    assert_int_equal(saved.levels, RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE));
    assert_int_equal(saved.anomalies, 0);
    rig_cli_saved_run_done(&saved);
}

static void a_folder_without_results_has_no_facts(void **state)
{
    const struct fixture *fixture = *state;
    struct rig_cli_saved_run saved;
    struct rig_err err = {0};
    assert_int_equal(rig_cli_saved_run_load(fixture->folder, &saved, &err), RIG_OK);
    assert_false(saved.found);
    assert_int_equal(saved.levels, 0);
    rig_cli_saved_run_done(&saved);
}

static void damaged_results_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    static const char *const damaged[] = {"", "{\"run\": ", "[1, 2]", "\xff"};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s/results.json", fixture->folder);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(damaged[i], file) >= 0);
        assert_int_equal(fclose(file), 0);
        struct rig_cli_saved_run saved;
        struct rig_err err = {0};
        assert_int_equal(rig_cli_saved_run_load(fixture->folder, &saved, &err), RIG_E_INPUT);
        assert_non_null(strstr(err.text, "is not the result of a run"));
        rig_cli_saved_run_done(&saved);
    }
}

static void statuses_follow_the_verdict(void **state)
{
    struct fixture *fixture = *state;
    struct rig_verdict *verdict = &fixture->hand.verdict;
    assert_int_equal(rig_cli_verdict_status(verdict), RIG_EXIT_ANOMALY);
    verdict->valid = RIG_VALID_TRUE;
    assert_int_equal(rig_cli_verdict_status(verdict), RIG_EXIT_OK);
    verdict->valid = RIG_VALID_UNKNOWN;
    assert_int_equal(rig_cli_verdict_status(verdict), RIG_EXIT_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_file_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_forms_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forms_for_pipelines_by_their_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_of_an_earlier_verdict_is_written_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stale_witnesses_go_and_other_files_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(facts_of_the_run_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_without_results_has_no_facts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_results_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statuses_follow_the_verdict, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
