/*
 * Disks that lie, fail or are slow, and power failures, by their contract (fault_stage.h).
 */
#include "tests/unit/fault_stage.h"

/* -- fsync --------------------------------------------------------------------------------------------------------- */

static void what_was_lied_about_is_lost(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = true};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    const int64_t before = lines();
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "n1: calls are lied about"));
    await_lines(before + 50);
    const int64_t written = lines();
    char copy[128];
    struct stat status;
    (void)snprintf(copy, sizeof copy, "%s.durable/log", node.data);
    assert_int_equal(stat(copy, &status), 0);
    const int64_t durable = status.st_size / LINE_BYTES;
    assert_true(durable >= before && durable < written);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL); /* killing alone loses nothing */
    assert_true(lines() >= written);
    heal(&trial);
    assert_true(lines() >= durable);
    await_lines(written + 5); /* the node continues from there */
    assert_int_equal(node.starts, 2);
    assert_non_null(strstr(trial.evidence.text, "everything written since is lost"));
    (void)snprintf(copy, sizeof copy, "%s.durable", node.data);
    assert_int_equal(stat(copy, &status), -1);
}

/* The node counts from the last line of the file: numbers after the loss show that lines are gone. */
static void the_state_is_that_of_the_moment(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = true};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t moment = lines();
    await_lines(moment + 200);
    const int64_t written = lines();
    heal(&trial);
    assert_true(lines() < written);
    await_lines(lines() + 5);
}

static void a_lie_may_stay_without_consequences(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = false};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    await_lines(lines() + 20);
    const int64_t written = lines();
    heal(&trial);
    assert_true(lines() >= written);
    assert_int_equal(node.starts, 1);
}

static void a_failing_fsync_ends_the_node_until_it_is_healed(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = FAIL, .share = 1};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t until_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (waitpid(node.pid, NULL, WNOHANG) == 0)
        assert_true(rig_clock_now_ns() < until_ns);
    node.pid = 0;
    heal(&trial);
    assert_int_equal(node.starts, 2);
    await_lines(lines() + 5);
    assert_non_null(strstr(trial.evidence.text, "n1: 1 call failed"));
}

static void a_slow_fsync_takes_its_time(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = SLOW, .share = 1, .delay_ns = 100 * RIG_NS_PER_MS};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t before = lines(), before_ns = rig_clock_now_ns();
    await_lines(before + 3);
    assert_true(rig_clock_now_ns() - before_ns >= 200 * RIG_NS_PER_MS);
    heal(&trial);
    await_lines(before + 50);
}

static void two_faults_of_fsync_do_not_overlap(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 0.5};
    struct trial first = trial_of(&rig_fault_fsync, &options);
    struct trial second = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&first), RIG_OK);
    assert_int_equal(inject(&second), RIG_E_CLUSTER);
    assert_non_null(strstr(second.err.text, "overlap"));
    heal(&second);
    await_lines(lines() + 20);
    heal(&first);
}

/* -- the power fails ------------------------------------------------------------------------------------------------
 * */

struct power_options {
    double keep;
};

/* The number in the file that is never made durable. */
static int64_t loose_number(void)
{
    char path[128], text[LINE_BYTES + 1] = "";
    (void)snprintf(path, sizeof path, "%s/loose", node.data);
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, LINE_BYTES), LINE_BYTES);
    (void)close(fd);
    return strtoll(text, NULL, 10);
}

static void touch(const char *folder, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

static bool has_victim(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/victim", node.data);
    return access(path, F_OK) == 0;
}

static void await_no_victim(void)
{
    const int64_t until_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (has_victim())
        assert_true(rig_clock_now_ns() < until_ns);
}

static void a_power_failure_loses_what_was_not_synced(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0};
    struct trial trial = trial_of(&rig_fault_power, &options);
    await_lines(20);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t begun = loose_number();
    await_lines(begun + 200);
    const int64_t written = lines();
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL); /* so that nothing writes between the loss and the look at it */
    assert_true(loose_number() > begun + 100);
    heal(&trial);
    assert_true(lines() >= written - 1);
    assert_non_null(strstr(trial.evidence.text, "its power failed"));
    assert_int_equal(node.starts, 2);
    char path[128];
    (void)snprintf(path, sizeof path, "%s.undo", node.data);
    assert_int_equal(access(path, F_OK), -1);
}

static void unsynced_content_is_that_of_before(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0};
    struct trial trial = trial_of(&rig_fault_power, &options);
    char undo[128];
    struct rig_rng rng;
    struct rig_undo_count count = {0};
    struct rig_err err = {0};
    await_lines(20);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t begun = loose_number();
    await_lines(begun + 100);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    (void)snprintf(undo, sizeof undo, "%s.undo", node.data);
    rig_rng_init(&rng, 1, 1);
    assert_int_equal(rig_undo_log_apply(node.data, undo, 0, &rng, &count, &err), RIG_OK);
    assert_true(loose_number() <= begun);
    assert_true(count.changes >= 100);
    assert_int_equal(rig_undo_log_apply(node.data, undo, 0, &rng, &count, &err), RIG_OK); /* nothing is left to undo */
    heal(&trial);
}

static void removals_count_once_their_folder_is_synced(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0};
    for (int synced = 0; synced < 2; synced++) {
        struct trial trial = trial_of(&rig_fault_power, &options);
        touch(node.data, "victim");
        if (synced != 0)
            touch(node.folder, "sync");
        assert_int_equal(inject(&trial), RIG_OK);
        touch(node.folder, "remove");
        await_no_victim();
        await_lines(lines() + 5);
        char path[128];
        (void)snprintf(path, sizeof path, "%s/remove", node.folder);
        (void)unlink(path);
        heal(&trial);
        assert_true(has_victim() == (synced == 0));
    }
}

static void syncs_that_lie_do_not_count(void **state)
{
    (void)state;
    const struct fsync_options lie = {.mode = LIE, .share = 1, .lose = false};
    const struct power_options options = {.keep = 0};
    struct trial first = trial_of(&rig_fault_fsync, &lie);
    struct trial second = trial_of(&rig_fault_power, &options);
    await_lines(20);
    assert_int_equal(inject(&first), RIG_OK);
    assert_int_equal(inject(&second), RIG_OK);
    const int64_t begun = lines();
    await_lines(begun + 200);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    const int64_t written = lines();
    heal(&second);
    heal(&first);
    assert_true(lines() < written);
}

static void two_power_failures_do_not_overlap(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0.5};
    struct trial first = trial_of(&rig_fault_power, &options);
    struct trial second = trial_of(&rig_fault_power, &options);
    assert_int_equal(inject(&first), RIG_OK);
    assert_int_equal(inject(&second), RIG_E_CLUSTER);
    assert_non_null(strstr(second.err.text, "overlap"));
    heal(&second);
    assert_int_equal(node.starts, 1);
    await_lines(lines() + 20);
    heal(&first);
    assert_int_equal(node.starts, 2);
    await_lines(lines() + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(what_was_lied_about_is_lost),
        NODE_TEST(the_state_is_that_of_the_moment),
        NODE_TEST(a_lie_may_stay_without_consequences),
        NODE_TEST(a_failing_fsync_ends_the_node_until_it_is_healed),
        NODE_TEST(a_slow_fsync_takes_its_time),
        NODE_TEST(two_faults_of_fsync_do_not_overlap),
        NODE_TEST(a_power_failure_loses_what_was_not_synced),
        NODE_TEST(unsynced_content_is_that_of_before),
        NODE_TEST(removals_count_once_their_folder_is_synced),
        NODE_TEST(syncs_that_lie_do_not_count),
        NODE_TEST(two_power_failures_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
