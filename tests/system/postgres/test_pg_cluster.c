/*
 * The server that the driver starts: the place and the owner of its files, its errors, and that nothing of it survives
 * a stop, a paused server, or the death of rig.
 */
#include "tests/system/postgres/pg_harness.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "drivers/postgres/pg_session.h"

extern const struct rig_driver rig_driver;

static const struct rig_pg_cluster *cluster_of(const struct harness *harness)
{
    return &((const struct rig_pg_run *)harness->run)->cluster;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static void files_are_private_and_go(void **state)
{
    (void)state;
    struct harness server;
    struct rig_pg_options options;
    struct stat status;
    char folder[128];
    char path[512];
    harness_defaults(&options);
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    const struct rig_pg_cluster *cluster = cluster_of(&server);
    pid_t pid = rig_child_pid(&cluster->nodes[0].local.server);
    (void)snprintf(folder, sizeof folder, "%s", cluster->site.local.folder);
    assert_memory_equal(folder, server.folder, strlen(server.folder));
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_true(status.st_uid != 0);
    (void)snprintf(path, sizeof path, "/proc/%d", pid);
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_uid != 0);
    assert_true(getsid(pid) != getsid(0)); /* a terminal's Ctrl-C does not reach it */
    (void)snprintf(path, sizeof path, "%s/pg-1.log", server.folder);
    assert_true(exists(path));
    (void)snprintf(path, sizeof path, "%s/password", folder);
    assert_false(exists(path));
    rig_driver.cluster->stop(server.run);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    assert_false(exists(folder));
    rig_driver.cluster->stop(server.run);
    harness_stop(&server);
}

/* As root, a work folder that the server's account cannot reach is replaced by one that it can. */
static void unreachable_work_folder(void **state)
{
    (void)state;
    struct rig_account user;
    char folder[] = "/tmp/rig-test-XXXXXX";
    char below[64];
    assert_true(rig_account_find("postgres", &user));
    assert_non_null(mkdtemp(folder));
    (void)snprintf(below, sizeof below, "%s/below", folder);
    assert_int_equal(mkdir(below, 0755), 0);
    assert_int_equal(rig_account_can_reach(&user, folder), !user.drop);
    assert_int_equal(chmod(folder, 0711), 0);
    assert_true(rig_account_can_reach(&user, below));
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(rig_account_can_reach(&user, below), !user.drop);
    assert_true(rig_account_can_reach(&user, "/tmp"));
    rig_folder_remove(folder);
    assert_false(exists(folder));
}

static void tcp_asks_for_the_password(void **state)
{
    (void)state;
    struct harness server;
    struct client client;
    struct rig_pg_options options;
    harness_defaults(&options);
    options.sql.listen = RIG_SQL_LISTEN_TCP;
    options.sql.user = "postgres"; /* the same user, named explicitly */
    harness_start(&server, &options, RIG_WORKLOAD_RW_REGISTER, 1);
    client_open(&client, &server);
    client_begin(&client);
    client_read(&client, 5);
    client_append(&client, 5, -7);
    client_read(&client, 5);
    expect_outcome(&client, client_run(&client), RIG_OUTCOME_OK, "");
    assert_string_equal(client_seen(&client, 0), "nil");
    assert_string_equal(client_seen(&client, 2), "-7");
    const struct rig_sql_endpoint endpoint = server_endpoint(&server);
    const char *const names[] = {"host", "port", "user", "dbname", "password", NULL};
    const char *const values[] = {"127.0.0.1", endpoint.port, "postgres", "postgres", "guessed", NULL};
    PGconn *stranger = PQconnectdbParams(names, values, 0);
    assert_int_equal(PQstatus(stranger), CONNECTION_BAD);
    assert_non_null(strstr(PQerrorMessage(stranger), "password authentication failed"));
    PQfinish(stranger);
    client_close(&client);
    harness_stop(&server);
}

/* Starts a run by hand with a cluster that does not come up; returns the error's text, in static storage. */
static const char *start_failing(const struct rig_pg_options *options)
{
    static struct rig_err err;
    struct harness server;
    err = (struct rig_err){.rc = RIG_OK};
    harness_begin(&server, options, RIG_WORKLOAD_LIST_APPEND, 1);
    assert_int_not_equal(rig_driver.cluster->start(server.run, &err), RIG_OK);
    assert_int_not_equal(err.rc, RIG_OK);
    rig_driver.cluster->stop(server.run);
    assert_string_equal(cluster_of(&server)->site.local.folder, "");
    assert_int_equal(rig_child_pid(&cluster_of(&server)->nodes[0].local.server), 0);
    harness_stop(&server);
    return err.text;
}

static void expect_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("`%s` does not say `%s`", text, part);
}

static void failures_say_what_to_do(void **state)
{
    (void)state;
    static const char *const unknown[] = {"no_such_setting=1"};
    static const char *const refused[] = {"shared_buffers=1kB"};
    struct rig_pg_options options;
    harness_defaults(&options);
    options.sql.bin_dir = "/nonexistent";
    expect_part(start_failing(&options), "bin-dir: `/nonexistent` is not the absolute path");
    harness_defaults(&options);
    if (geteuid() == 0) {
        options.sql.run_as = "no-such-user";
        expect_part(start_failing(&options), "there is no user `no-such-user`");
        options.sql.run_as = "root";
        expect_part(start_failing(&options), "refuses to run as root");
    }
    harness_defaults(&options);
    options.sql.settings = (struct rig_text_list){unknown, 1};
    expect_part(start_failing(&options), "unrecognized configuration parameter \"no_such_setting\"");
    options.sql.settings = (struct rig_text_list){refused, 1};
    expect_part(start_failing(&options), "outside the valid range");
    harness_defaults(&options);
    harness_set_stopping(true);
    expect_part(start_failing(&options), "stopped while");
    harness_set_stopping(false);
}

/* initdb that fails, and one that the server's account cannot execute. */
static void bad_programs_are_named(void **state)
{
    (void)state;
    char folder[] = "/tmp/rig-test-XXXXXX";
    const char *const names[] = {"initdb", "postgres"};
    struct rig_pg_options options;
    harness_defaults(&options);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    for (size_t i = 0; i < 2; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        (void)fputs("#!/bin/sh\necho out of luck\nexit 3\n", file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod(path, 0755), 0);
    }
    options.sql.bin_dir = folder;
    const char *text = start_failing(&options);
    expect_part(text, "/initdb failed");
    expect_part(text, "out of luck");
    if (geteuid() == 0) {
        assert_int_equal(chmod(folder, 0700), 0);
        expect_part(start_failing(&options), "the user `postgres` cannot reach");
    }
    rig_folder_remove(folder);
}

static void paused_server_is_stopped(void **state)
{
    (void)state;
    struct harness server;
    struct rig_pg_options options;
    harness_defaults(&options);
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    pid_t pid = rig_child_pid(&cluster_of(&server)->nodes[0].local.server);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    harness_stop(&server);
    assert_int_equal(kill(pid, 0), -1);
}

/* The System V segment that a server holds, from its postmaster.pid; -1: none. */
static int segment_of(const struct rig_pg_cluster *cluster)
{
    char path[512];
    char line[128];
    int id = -1;
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", cluster->nodes[0].local.data);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        char *end = NULL;
        unsigned long key = number == 7 ? strtoul(line, &end, 10) : 0;
        id = key > 0 ? (int)strtol(end, NULL, 10) : id;
    }
    (void)fclose(file);
    return id;
}

/* Whether a file in /dev/shm, which would outlive the server, is part of its memory. */
static bool maps_shared_file(pid_t pid)
{
    char path[64];
    char line[1024];
    bool maps = false;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        maps |= strstr(line, "/dev/shm/PostgreSQL.") != NULL;
    (void)fclose(file);
    return maps;
}

static void killed_server_is_seen_and_cleared(void **state)
{
    (void)state;
    struct shmid_ds segment;
    struct harness server;
    struct rig_pg_options options;
    struct rig_node_status status;
    struct rig_err err = {.rc = RIG_OK};
    harness_defaults(&options);
    harness_begin(&server, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    /* Out of reach for the server's account when rig is root: its files are then elsewhere. */
    assert_int_equal(chmod(server.folder, 0700), 0);
    if (rig_driver.cluster->start(server.run, &err) != RIG_OK)
        fail_msg("%s", err.text);
    if (geteuid() == 0)
        assert_memory_equal(cluster_of(&server)->site.local.folder, "/var/tmp/", 9);
    pid_t pid = rig_child_pid(&cluster_of(&server)->nodes[0].local.server);
    assert_false(maps_shared_file(pid));
    int id = segment_of(cluster_of(&server));
    assert_int_equal(shmctl(id, IPC_STAT, &segment), 0);
    /* Not kill_now(), on which the server cleans up. */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(rig_child_await(&cluster_of(&server)->nodes[0].local.server, 20 * RIG_NS_PER_S));
    assert_int_equal(rig_driver.cluster->status(server.run, 0, &status, &err), RIG_OK);
    assert_false(status.reachable);
    assert_string_equal(status.detail, "its main process has ended");
    rig_driver.cluster->kill_now(server.run);
    rig_driver.cluster->stop(server.run);
    assert_int_equal(shmctl(id, IPC_STAT, &segment), -1);
    harness_stop(&server);
}

/* The remains of a run when rig is killed: its folders, known through a pipe, and no process. */
struct orphan {
    pid_t server;
    char test_folder[256];
    char folder[128];
};

_Noreturn static void start_and_wait_for_death(int report)
{
    struct harness server;
    struct rig_pg_options options;
    struct orphan orphan;
    memset(&orphan, 0, sizeof orphan);
    harness_defaults(&options);
    harness_start(&server, &options, RIG_WORKLOAD_LIST_APPEND, 1);
    orphan.server = rig_child_pid(&cluster_of(&server)->nodes[0].local.server);
    (void)snprintf(orphan.test_folder, sizeof orphan.test_folder, "%s", server.folder);
    (void)snprintf(orphan.folder, sizeof orphan.folder, "%s", cluster_of(&server)->site.local.folder);
    (void)!write(report, &orphan, sizeof orphan);
    for (;;)
        (void)pause();
}

static void death_of_rig_ends_the_server(void **state)
{
    (void)state;
    int ends[2];
    struct orphan orphan;
    /* The orphaned server becomes a child of this process, which can then wait for it. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t rig = fork();
    assert_true(rig >= 0);
    if (rig == 0)
        start_and_wait_for_death(ends[1]);
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &orphan, sizeof orphan), sizeof orphan);
    (void)close(ends[0]);
    assert_int_equal(kill(orphan.server, 0), 0);
    assert_int_equal(kill(rig, SIGKILL), 0);
    assert_int_equal(waitpid(rig, NULL, 0), rig);
    /* Bounded by the test's own time-out. */
    assert_int_equal(waitpid(orphan.server, NULL, 0), orphan.server);
    rig_folder_remove(orphan.folder);
    rig_folder_remove(orphan.test_folder);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_private_and_go),
        cmocka_unit_test(unreachable_work_folder),
        cmocka_unit_test(tcp_asks_for_the_password),
        cmocka_unit_test(failures_say_what_to_do),
        cmocka_unit_test(bad_programs_are_named),
        cmocka_unit_test(paused_server_is_stopped),
        cmocka_unit_test(killed_server_is_seen_and_cleared),
        cmocka_unit_test(death_of_rig_ends_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
