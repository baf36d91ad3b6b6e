/*
 * Control groups in trees of plain folders that imitate the kernel's, of both versions: the place of a group, its reads
 * and writes there, and where its processes go in the end. The tests of the faults use real groups.
 */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "nemesis/cgroup.h"
#include "tests/unit/journal_entries.h"

enum { PATH_BYTES = 700 };

static char folder[64];
static struct rig_fault_context fault_context;
static struct rig_fault_site site;
static struct rig_err err;

static const char *path_of(const char *name)
{
    static char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)fread(found, 1, sizeof found - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(found, text);
}

static const char *in_group(const struct rig_cgroup *group, const char *file)
{
    static char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", group->path, file);
    return path;
}

/* -- the node: this test ------------------------------------------------------------------------------------------- */

static uint32_t processes(void *run, uint32_t node, pid_t *at, uint32_t capacity)
{
    (void)run, (void)node;
    assert_true(capacity > 0);
    at[0] = getpid();
    return 1;
}

static const struct rig_cluster_ops cluster = {.processes = processes};

static void be_in(const char *group)
{
    char name[64], line[256];
    (void)snprintf(name, sizeof name, "%ld", (long)getpid());
    make(name);
    (void)snprintf(name, sizeof name, "%ld/cgroup", (long)getpid());
    (void)snprintf(line, sizeof line, "%s\n", group);
    put(path_of(name), line);
}

static void mount(const char *name, const char *type, const char *options)
{
    char line[256];
    (void)snprintf(line, sizeof line, "tmpfs /tmp tmpfs rw 0 0\n%s %s/%s %s %s 0 0\n", type, folder, name, type,
                   options);
    put(path_of("self/mounts"), line);
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rig-cgroup-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("RIG_JOURNAL", path_of("undo"), 1), 0);
    make("self");
    make("tree");
    rig_cgroup_set_proc(folder);
    err = (struct rig_err){0};
    fault_context = (struct rig_fault_context){.fleet = {.cluster = &cluster, .started = true, .count = 1}};
    (void)snprintf(fault_context.fleet.names[0], sizeof fault_context.fleet.names[0], "n1");
    assert_int_equal(rig_journal_open(&fault_context.journal, "", &err), RIG_OK);
    site = (struct rig_fault_site){.cluster = &cluster, .node_count = 1, .nemesis = &fault_context};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(journal_entries(), 0);
    rig_journal_close(fault_context.journal);
    rig_folder_remove(folder);
    return 0;
}

/* -- tests --------------------------------------------------------------------------------------------------------- */

/* Fills the group as the kernel would, and runs it through all states. The pids go back to `origin`. */
static void live(struct rig_cgroup *group, const char *limit, const char *value, const char *origin)
{
    char pid[32];
    uint32_t count = 0;
    (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
    put(in_group(group, limit), "");
    put(in_group(group, "cgroup.procs"), "");
    put(in_group(group, "cpu.stat"), "nr_periods 12\nnr_throttled 7\nthrottled_usec 4\n");
    assert_int_equal(rig_cgroup_set(group, limit, value, &err), RIG_OK);
    expect(in_group(group, limit), value);
    assert_int_equal(rig_cgroup_set(group, "none", value, &err), RIG_E_CLUSTER);
    err = (struct rig_err){0};
    assert_int_equal(rig_cgroup_take(&site, 0, group, &count, &err), RIG_OK);
    assert_int_equal(count, 1);
    expect(in_group(group, "cgroup.procs"), pid);
    assert_int_equal(rig_cgroup_number(group, "cpu.stat", "nr_throttled"), 7);
    assert_int_equal(rig_cgroup_number(group, "cpu.stat", "throttled"), 0);
    put(path_of(origin), "");
    /* A folder with files is not removed; the kernel's control files do not count. */
    assert_int_equal(rig_cgroup_end(&site, group, &err), RIG_E_CLUSTER);
    expect(path_of(origin), pid);
    err = (struct rig_err){0};
    assert_int_equal(journal_entries(), 1);
    static const char *const files[] = {"cgroup.procs", "cpu.stat"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_int_equal(unlink(in_group(group, files[i])), 0);
    assert_int_equal(unlink(in_group(group, limit)), 0);
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s", group->path);
    assert_int_equal(rig_cgroup_end(&site, group, &err), RIG_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(rig_cgroup_end(&site, group, &err), RIG_OK);
}

static void is_made_in(const struct rig_cgroup *group, const char *place)
{
    char start[PATH_BYTES + 32];
    (void)snprintf(start, sizeof start, "%s/rig-%ld-", path_of(place), (long)getpid());
    if (strncmp(group->path, start, strlen(start)) != 0)
        fail_msg("%s is not in %s", group->path, place);
}

static void version_2_groups_go_where_the_controller_is(void **state)
{
    (void)state;
    char why[512] = "";
    struct rig_cgroup group;
    mount("tree", "cgroup2", "rw");
    be_in("0::/slice/service");
    make("tree/slice");
    make("tree/slice/service");
    assert_false(rig_cgroup_is_possible("cpu", why, sizeof why));
    assert_non_null(strstr(why, "no control group hierarchy has the controller cpu"));
    put(path_of("tree/cgroup.subtree_control"), "cpuset cpu memory\n");
    put(path_of("tree/slice/cgroup.subtree_control"), "memory pids\n");
    assert_true(rig_cgroup_is_possible("cpu", why, sizeof why));

    assert_int_equal(rig_cgroup_make(&site, 0, "memory", &group, &err), RIG_OK);
    assert_true(group.unified);
    is_made_in(&group, "tree/slice");
    live(&group, "memory.max", "524288", "tree/slice/service/cgroup.procs");

    assert_int_equal(rig_cgroup_make(&site, 0, "cpu", &group, &err), RIG_OK);
    is_made_in(&group, "tree");
    live(&group, "cpu.max", "10000 100000", "tree/slice/service/cgroup.procs");
}

/* As in a container, which sees its own group as the top. */
static void version_2_groups_of_the_top_are_below_it(void **state)
{
    (void)state;
    struct rig_cgroup group;
    mount("tree", "cgroup2", "rw");
    be_in("0::/");
    put(path_of("tree/cgroup.subtree_control"), "cpu\n");
    assert_int_equal(rig_cgroup_make(&site, 0, "cpu", &group, &err), RIG_OK);
    is_made_in(&group, "tree");
    live(&group, "cpu.max", "10000 100000", "tree/cgroup.procs");
}

static void version_1_groups_are_inside_the_node_s(void **state)
{
    (void)state;
    struct rig_cgroup group;
    mount("tree", "cgroup", "rw,relatime,cpuacct,cpu");
    be_in("5:memory:/other\n4:cpuacct,cpu:/mine");
    make("tree/mine");
    assert_int_equal(rig_cgroup_make(&site, 0, "cpu", &group, &err), RIG_OK);
    assert_false(group.unified);
    is_made_in(&group, "tree/mine");
    live(&group, "cpu.cfs_quota_us", "10000", "tree/mine/cgroup.procs");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(version_2_groups_go_where_the_controller_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(version_2_groups_of_the_top_are_below_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(version_1_groups_are_inside_the_node_s, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
