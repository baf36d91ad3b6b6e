/*
 * The parts of a cluster on this machine, with shell scripts as servers: folder and account, environment and log,
 * waiting for an answer, each way to end a server with all its processes, and free ports.
 */
#include "tests/unit/cmocka_first.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/process.h"
#include "drivers/local/local_machine.h"
#include "drivers/local/local_site.h"

static const int64_t patience_ns = 100 * RIG_NS_PER_S;

/* ---- the stage ---- */

static struct {
    char folder[64]; /* of the run; servers of another account reach it */
    char warning[256];
    bool stopping;
    struct rig_run_env env;
    struct rig_local_kind kind;
    struct rig_local_site site;
    struct rig_local_node node;
} stage;

static bool stopping(void)
{
    return stage.stopping;
}

RIG_PRINTF(3, 4)
static void keep_log(int level, const char *area, const char *format, ...)
{
    va_list values;
    (void)level;
    assert_string_equal(area, "test");
    va_start(values, format);
    (void)vsnprintf(stage.warning, sizeof stage.warning, format, values);
    va_end(values);
}

static const struct rig_core core = {.log = keep_log, .now_ns = rig_clock_now_ns, .stopping = stopping};

static void open_site(void)
{
    struct rig_err err = {.rc = RIG_OK};
    if (rig_local_site_open(&stage.site, "nobody", &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_local_node_init(&stage.node, &stage.site, 0);
}

static int prepare(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof stage);
    (void)snprintf(stage.folder, sizeof stage.folder, "/tmp/rig-local-XXXXXX");
    assert_non_null(mkdtemp(stage.folder));
    assert_int_equal(chmod(stage.folder, 0711), 0);
    stage.env = (struct rig_run_env){.core = &core, .work_dir = stage.folder, .log_dir = stage.folder};
    stage.kind = (struct rig_local_kind){
        .name = "test", .node_prefix = "node", .product = "Test", .fast_signal = SIGINT, .immediate_signal = SIGQUIT};
    rig_local_site_init(&stage.site, &stage.kind, &stage.env);
    return 0;
}

/* No process remains, and no file but the logs. */
static int release(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_local_node_stop(&stage.node, RIG_NODE_KILL, patience_ns, &err), RIG_OK);
    rig_local_node_done(&stage.node);
    rig_local_site_close(&stage.site);
    rig_local_site_close(&stage.site);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    DIR *files = opendir(stage.folder);
    const struct dirent *file;
    while ((file = readdir(files)) != NULL) {
        if (file->d_name[0] != '.')
            assert_non_null(strstr(file->d_name, ".log"));
    }
    (void)closedir(files);
    rig_folder_remove(stage.folder);
    return 0;
}

static void launch(const char *script)
{
    struct rig_err err = {.rc = RIG_OK};
    const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
    if (rig_local_node_launch(&stage.node, arguments, stage.site.folder, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

/* A server answers once it has written the file `up` in its folder. */
static bool is_up(void *context, struct rig_err *why)
{
    char path[RIG_LOCAL_PATH_BYTES];
    int *questions = context;
    ++*questions;
    rig_local_path(&stage.site, "up", path);
    return access(path, F_OK) == 0 || rig_fail(why, RIG_E_CLUSTER, "there is no file") == RIG_OK;
}

static enum rig_rc await_up(bool always, int64_t timeout_ns, struct rig_err *err)
{
    int questions = 0;
    const struct rig_local_wait wait = {
        .answers = is_up, .context = &questions, .always = always, .deadline_ns = rig_clock_now_ns() + timeout_ns};
    return rig_local_node_await(&stage.node, &wait, err);
}

static void start(const char *script)
{
    char whole[512];
    struct rig_err err = {.rc = RIG_OK};
    (void)snprintf(whole, sizeof whole, "%s; : > up; while :; do sleep 0.01; done", script);
    launch(whole);
    if (await_up(false, patience_ns, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void assert_logged(const char *text)
{
    char line[RIG_LOCAL_TAIL_BYTES];
    rig_local_log_tail(stage.site.env, "node-1.log", line);
    if (strstr(line, text) == NULL)
        fail_msg("`%s` does not say `%s`", line, text);
}

static void assert_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("`%s` does not say `%s`", text, part);
}

/* ---- site ---- */

static void folder_belongs_to_the_account(void **state)
{
    (void)state;
    char path[RIG_LOCAL_PATH_BYTES];
    struct stat status;
    struct rig_err err = {.rc = RIG_OK};
    open_site();
    assert_int_equal(strncmp(stage.site.folder, stage.folder, strlen(stage.folder)), 0);
    assert_non_null(strstr(stage.site.folder, "/rig-test-"));
    rig_local_path(&stage.site, "data", path);
    assert_int_equal(rig_local_make_folder(&stage.site, path, &err), RIG_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(status.st_uid, stage.site.account.uid);
    assert_int_equal(rig_local_make_folder(&stage.site, path, &err), RIG_E_CLUSTER); /* it is there */
    rig_local_path(&stage.site, "data/file", path);
    assert_int_equal(rig_local_write(&stage.site, path, O_CREAT | O_EXCL, "text", &err), RIG_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(status.st_uid, stage.site.account.uid);
    assert_int_equal(status.st_size, 4);
}

/* A socket's path has 107 bytes at most; a folder that is too deep is not used. */
static void folder_is_elsewhere_where_a_path_would_be_too_long(void **state)
{
    (void)state;
    char deep[256];
    (void)snprintf(deep, sizeof deep, "%s/%070d", stage.folder, 0);
    assert_int_equal(mkdir(deep, 0711), 0);
    stage.env.work_dir = deep;
    stage.kind.socket_name_bytes = 20;
    open_site();
    assert_non_null(strstr(stage.site.folder, "/rig-test-"));
    assert_null(strstr(stage.site.folder, "0000"));
    assert_true(strlen(stage.site.folder) + 1 + 20 <= 107);
    assert_int_equal(rmdir(deep), 0);
}

static void account_is_found_or_named(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    if (geteuid() != 0)
        skip();
    assert_int_equal(rig_local_site_open(&stage.site, "no-such-user", &err), RIG_E_PLAN);
    assert_string_equal(err.text, "there is no user `no-such-user` to run Test as: name another user as "
                                  "database.cluster.local.run-as");
    rig_local_site_close(&stage.site);
    stage.kind.account_package = "test-server";
    err = (struct rig_err){.rc = RIG_OK};
    assert_int_equal(rig_local_site_open(&stage.site, "no-such-user", &err), RIG_E_PLAN);
    assert_part(err.text, "install the package test-server, or name another user");
    rig_local_site_close(&stage.site);
    stage.kind.refuses_root = true;
    err = (struct rig_err){.rc = RIG_OK};
    assert_int_equal(rig_local_site_open(&stage.site, "root", &err), RIG_E_PLAN);
    assert_part(err.text, "Test refuses to run as root: name another user than `root`");
}

static enum rig_rc run_program(const char *script, bool always, int64_t timeout_ns, struct rig_err *err)
{
    const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
    *err = (struct rig_err){.rc = RIG_OK};
    return rig_local_run(&stage.site, arguments, "program.log", always, rig_clock_now_ns() + timeout_ns, err);
}

static void program_runs_to_its_end(void **state)
{
    (void)state;
    struct rig_err err;
    open_site();
    assert_int_equal(run_program("id -u", false, patience_ns, &err), RIG_OK);
    assert_int_equal(run_program("echo it broke >&2; exit 3", false, patience_ns, &err), RIG_E_CLUSTER);
    assert_part(err.text, "/bin/sh failed; its log program.log ends: ");
    assert_part(err.text, "it broke");
    assert_int_equal(run_program("sleep 60 & sleep 60", false, 0, &err), RIG_E_CLUSTER);
    assert_part(err.text, "did not end within start-timeout");
    stage.stopping = true;
    assert_int_equal(run_program("sleep 60", false, patience_ns, &err), RIG_E_INTERRUPTED);
    assert_int_equal(run_program("sleep 0.3", true, patience_ns, &err), RIG_OK);
}

/* ---- nodes ---- */

static void node_has_name_environment_and_log(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    /* Also before the site is open; the last value of a name counts. */
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_A", "gone", &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_AB", "kept", &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_A", "changed", &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_C", "removed", &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_C", NULL, &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_D", NULL, &err), RIG_OK);
    open_site();
    assert_string_equal(stage.node.name, "node-1");
    assert_non_null(strstr(stage.node.data, "/node-1"));
    start("echo A=$RIG_A AB=$RIG_AB C=$RIG_C D=$RIG_D as $(id -u) in $(pwd) >&2");
    char line[512];
    (void)snprintf(line, sizeof line, "A=changed AB=kept C= D= as %u in %s", (unsigned)stage.site.account.uid,
                   stage.site.folder);
    assert_logged(line);
}

static void environment_has_a_limit(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    char name[32];
    for (int i = 0; i < RIG_LOCAL_VARIABLES_MOST; i++) {
        (void)snprintf(name, sizeof name, "RIG_%d", i);
        assert_int_equal(rig_local_node_set_variable(&stage.node, name, "x", &err), RIG_OK);
    }
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_MORE", "x", &err), RIG_E_LIMIT);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_MORE", NULL, &err), RIG_OK); /* it has none */
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_0", "y", &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_0", NULL, &err), RIG_OK);
    assert_int_equal(rig_local_node_set_variable(&stage.node, "RIG_MORE", "x", &err), RIG_OK);
    assert_non_null(stage.node.variables[RIG_LOCAL_VARIABLES_MOST - 1]);
    assert_null(stage.node.variables[RIG_LOCAL_VARIABLES_MOST]);
}

static void start_that_fails_says_why(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    open_site();
    launch("printf 'one\\n\\ttwo  three\\n' >&2; exit 1");
    assert_int_equal(await_up(true, patience_ns, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "node-1 ended while starting; node-1.log ends: one two three");
    assert_int_equal(rig_local_node_stop(&stage.node, RIG_NODE_KILL, 0, &err), RIG_OK);

    launch("sleep 60");
    err = (struct rig_err){.rc = RIG_OK};
    assert_int_equal(await_up(true, 20 * RIG_NS_PER_MS, &err), RIG_E_CLUSTER);
    assert_part(err.text, "node-1 does not answer within start-timeout: there is no file; node-1.log ends: ");

    stage.stopping = true;
    err = (struct rig_err){.rc = RIG_OK};
    assert_int_equal(await_up(false, patience_ns, &err), RIG_E_INTERRUPTED);
    assert_string_equal(err.text, "stopped while node-1 was starting");
    err = (struct rig_err){.rc = RIG_OK};
    assert_int_equal(await_up(true, 20 * RIG_NS_PER_MS, &err), RIG_E_CLUSTER); /* it is asked even so */
}

/* The signals that the server gets, and that every process is gone after the last. */
static void each_end_has_its_signals(void **state)
{
    (void)state;
    static const char deaf[] = "trap 'echo got INT >&2' INT; trap 'echo got QUIT >&2' QUIT; sleep 60 & :";
    static const char willing[] = "trap 'echo left by INT >&2; exit' INT; trap 'echo left by QUIT >&2; exit' QUIT";
    static const struct {
        enum rig_node_end how;
        const char *script, *logged, *not_logged;
    } cases[] = {
        {RIG_NODE_FAST, willing, "left by INT", "QUIT"}, {RIG_NODE_IMMEDIATE, willing, "left by QUIT", "INT"},
        {RIG_NODE_KILL, willing, "", "left by"},         {RIG_NODE_FAST, deaf, "got INT got QUIT", "left"},
        {RIG_NODE_IMMEDIATE, deaf, "got QUIT", "INT"},
    };
    open_site();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[RIG_LOCAL_PATH_BYTES];
        char line[RIG_LOCAL_TAIL_BYTES];
        pid_t pids[8];
        struct rig_err err = {.rc = RIG_OK};
        struct rig_process process;
        const bool is_deaf = cases[i].script == deaf;
        (void)snprintf(path, sizeof path, "%s/node-1.log", stage.folder);
        (void)unlink(path);
        rig_local_path(&stage.site, "up", path);
        (void)unlink(path);
        stage.warning[0] = '\0';
        start(cases[i].script);
        const uint32_t count = rig_child_processes(&stage.node.server, pids, 8);
        assert_in_range(count, 1, 8);
        assert_true(rig_local_node_runs(&stage.node));
        const int64_t timeout_ns = is_deaf ? 200 * RIG_NS_PER_MS : patience_ns;
        assert_int_equal(rig_local_node_stop(&stage.node, cases[i].how, timeout_ns, &err), RIG_OK);
        assert_false(rig_local_node_runs(&stage.node));
        for (uint32_t k = 0; k < count; k++)
            assert_false(rig_process_find(pids[k], &process));
        rig_local_log_tail(stage.site.env, "node-1.log", line);
        assert_part(line, cases[i].logged);
        assert_null(strstr(line, cases[i].not_logged));
        assert_int_equal(stage.warning[0] != '\0', is_deaf);
        assert_int_equal(rig_local_node_stop(&stage.node, cases[i].how, 0, &err), RIG_OK); /* it is down */
    }
    assert_string_equal(stage.warning, "node-1 did not end within stop-timeout after signal 3");
}

/* A process that a fault has stopped is woken; otherwise it could not follow the order. */
static void stopped_processes_end_as_well(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    open_site();
    start("trap 'echo left by INT >&2; exit' INT");
    assert_int_equal(kill(rig_child_pid(&stage.node.server), SIGSTOP), 0);
    assert_int_equal(rig_local_node_stop(&stage.node, RIG_NODE_FAST, patience_ns, &err), RIG_OK);
    assert_logged("left by INT");
}

static void kill_now_tells_it_to_end(void **state)
{
    (void)state;
    open_site();
    rig_local_node_kill_now(&stage.node); /* it is down */
    start("trap 'echo left by QUIT >&2; exit' QUIT");
    assert_int_equal(kill(rig_child_pid(&stage.node.server), SIGSTOP), 0);
    rig_local_node_kill_now(&stage.node);
    assert_true(rig_child_await(&stage.node.server, patience_ns));
    assert_logged("left by QUIT");
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_local_node_stop(&stage.node, RIG_NODE_KILL, 0, &err), RIG_OK);
    stage.kind.immediate_signal = 0; /* a database without such a signal gets SIGKILL */
    start("trap '' QUIT INT TERM");
    rig_local_node_kill_now(&stage.node);
    assert_true(rig_child_await(&stage.node.server, patience_ns));
}

/* ---- the machine ---- */

static void free_ports_differ_and_are_free(void **state)
{
    (void)state;
    enum { PORTS = 2000, AT_ONCE = 5 };
    static uint16_t ports[PORTS];
    static bool given[UINT16_MAX + 1];
    struct rig_err err = {.rc = RIG_OK};
    for (int i = 0; i < PORTS; i += AT_ONCE)
        assert_int_equal(rig_local_free_ports(ports + i, AT_ONCE, &err), RIG_OK);
    for (int i = 0; i < PORTS; i++) {
        assert_false(given[ports[i]]);
        given[ports[i]] = true;
        const struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = htons(ports[i]), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
        (void)close(fd);
    }
    (void)rig_fail(&err, RIG_E_CLUSTER, "db-1 ended while starting: listen tcp: bind: Address already in use");
    assert_true(rig_local_port_was_taken(&err));
    err = (struct rig_err){.rc = RIG_OK};
    (void)rig_fail(&err, RIG_E_CLUSTER, "db-1 ended while starting: no such file");
    assert_false(rig_local_port_was_taken(&err));
}

static void programs_are_found_together(void **state)
{
    (void)state;
    static const char *const both[] = {"rig-one", "rig-two", NULL};
    char first[128], second[128], path[600], folder[128], file[256];
    const char *before = getenv("PATH");
    char *kept = before == NULL ? NULL : strdup(before);
    (void)snprintf(first, sizeof first, "%s/a.log", stage.folder);
    (void)snprintf(second, sizeof second, "%s/b.log", stage.folder);
    (void)snprintf(path, sizeof path, ".:%s:%s", first, second);
    const char *const files[][2] = {{first, "rig-one"}, {second, "rig-one"}, {second, "rig-two"}};
    assert_true(mkdir(first, 0755) == 0 && mkdir(second, 0755) == 0);
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", files[i][0], files[i][1]);
        const int fd = open(file, O_WRONLY | O_CREAT, 0755);
        assert_true(fd >= 0);
        (void)close(fd);
    }
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_true(rig_local_find_programs(both, NULL, folder, sizeof folder));
    assert_string_equal(folder, second);
    assert_false(rig_local_find_programs(both, NULL, folder, strlen(second))); /* its path is longer */
    assert_int_equal(chmod(file, 0644), 0);
    assert_int_equal(rig_local_has_programs(second, both), false);
    assert_int_equal(setenv("PATH", "", 1), 0);
    assert_false(rig_local_find_programs(both, NULL, folder, sizeof folder));
    assert_int_equal(kept == NULL ? unsetenv("PATH") : setenv("PATH", kept, 1), 0);
    free(kept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, prepare, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folder_belongs_to_the_account),     TEST(folder_is_elsewhere_where_a_path_would_be_too_long),
        TEST(account_is_found_or_named),         TEST(program_runs_to_its_end),
        TEST(node_has_name_environment_and_log), TEST(environment_has_a_limit),
        TEST(start_that_fails_says_why),         TEST(each_end_has_its_signals),
        TEST(stopped_processes_end_as_well),     TEST(kill_now_tells_it_to_end),
        TEST(free_ports_differ_and_are_free),    TEST(programs_are_found_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
