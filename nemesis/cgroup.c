#include "nemesis/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

enum { TEXT_BYTES = 1 << 16, EMPTY_ROUNDS = 500 };
static const int64_t empty_step_ns = 2 * RIG_NS_PER_MS;
static const char *proc_folder = "/proc";

void rig_cgroup_set_proc(const char *folder)
{
    proc_folder = folder;
}

/* -- files --------------------------------------------------------------------------------------------------------- */

static size_t read_text(const char *path, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    if (fd >= 0)
        (void)close(fd);
    text[used] = '\0';
    return used;
}

static bool write_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t sent = write(fd, text, strlen(text));
    const int error = errno;
    (void)close(fd);
    errno = error;
    return sent >= 0;
}

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const bool starts = at == text || strchr(" ,\n", at[-1]) != NULL;
        const bool ends = at[length] == '\0' || strchr(" ,\n", at[length]) != NULL;
        if (starts && ends)
            return true;
    }
    return false;
}

/* -- the hierarchy ------------------------------------------------------------------------------------------------- */

struct hierarchy {
    char path[RIG_CGROUP_PATH_BYTES / 2];
    bool unified;
};

/* Version 2: whether groups in this folder get the controller. */
static bool hands_down(const char *folder, const char *controller)
{
    char path[RIG_CGROUP_PATH_BYTES + 64], text[1024];
    (void)snprintf(path, sizeof path, "%s/cgroup.subtree_control", folder);
    return read_text(path, text, sizeof text) > 0 && has_word(text, controller);
}

static bool has_controller(const struct mntent *mount, const char *controller)
{
    if (strcmp(mount->mnt_type, "cgroup") == 0)
        return has_word(mount->mnt_opts, controller);
    return strcmp(mount->mnt_type, "cgroup2") == 0 && strlen(mount->mnt_dir) < RIG_CGROUP_PATH_BYTES &&
           hands_down(mount->mnt_dir, controller);
}

static bool find_hierarchy(const char *controller, struct hierarchy *found)
{
    char path[RIG_CGROUP_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/self/mounts", proc_folder);
    FILE *mounts = setmntent(path, "re");
    struct mntent mount;
    char buffer[4096];
    bool there = false;
    while (mounts != NULL && !there && getmntent_r(mounts, &mount, buffer, sizeof buffer) != NULL) {
        there = strlen(mount.mnt_dir) < sizeof found->path && has_controller(&mount, controller);
        if (there) {
            (void)snprintf(found->path, sizeof found->path, "%s", mount.mnt_dir);
            found->unified = strcmp(mount.mnt_type, "cgroup2") == 0;
        }
    }
    if (mounts != NULL)
        (void)endmntent(mounts);
    return there;
}

/* The folder of the group that a process is in: a line "number:controllers:path" each, none named in version 2. */
static void find_origin(const struct hierarchy *at, const char *controller, pid_t pid,
                        char origin[RIG_CGROUP_PATH_BYTES])
{
    char path[RIG_CGROUP_PATH_BYTES], text[4096];
    char *rest = text;
    (void)snprintf(path, sizeof path, "%s/%ld/cgroup", proc_folder, (long)pid);
    (void)read_text(path, text, sizeof text);
    (void)snprintf(origin, RIG_CGROUP_PATH_BYTES, "%s", at->path);
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        (void)strsep(&line, ":");
        const char *controllers = strsep(&line, ":");
        if (line == NULL || (at->unified ? controllers[0] != '\0' : !has_word(controllers, controller)))
            continue;
        (void)snprintf(origin, RIG_CGROUP_PATH_BYTES, "%s%.200s", at->path, strcmp(line, "/") == 0 ? "" : line);
    }
    if (access(origin, F_OK) != 0) /* its path is relative to another process's view of the hierarchy */
        (void)snprintf(origin, RIG_CGROUP_PATH_BYTES, "%s", at->path);
}

bool rig_cgroup_is_possible(const char *controller, char *why, size_t size)
{
    struct hierarchy at;
    if (!find_hierarchy(controller, &at)) {
        (void)snprintf(why, size, "no control group hierarchy has the controller %s: mount one, or enable it in %s",
                       controller, "/sys/fs/cgroup/cgroup.subtree_control");
        return false;
    }
    if (access(at.path, W_OK) != 0) {
        (void)snprintf(why, size, "rig may not make control groups in %s: run rig as root", at.path);
        return false;
    }
    return true;
}

/*
 * The folder of the new group. In version 2, groups with processes have no child groups. So the new one goes beside the
 * node's group, or higher, where a folder passes the controller on to its children; the top does.
 */
static void find_place(const struct hierarchy *at, const char *controller, const char *origin,
                       char place[RIG_CGROUP_PATH_BYTES])
{
    (void)snprintf(place, RIG_CGROUP_PATH_BYTES, "%s", origin);
    while (at->unified && strlen(place) > strlen(at->path) &&
           (strcmp(place, origin) == 0 || !hands_down(place, controller)))
        *strrchr(place, '/') = '\0';
}

/* -- the group ----------------------------------------------------------------------------------------------------- */

static void join_path(char path[RIG_CGROUP_PATH_BYTES + 64], const char *folder, const char *file)
{
    (void)snprintf(path, RIG_CGROUP_PATH_BYTES + 64, "%s/%s", folder, file);
}

enum rig_rc rig_cgroup_make(const struct rig_fault_site *site, uint32_t node, const char *controller,
                            struct rig_cgroup *group, struct rig_err *err)
{
    static atomic_uint number;
    struct hierarchy at;
    char why[512];
    *group = (struct rig_cgroup){.token = 0};
    if (!rig_cgroup_is_possible(controller, why, sizeof why) || !find_hierarchy(controller, &at))
        return rig_fail(err, RIG_E_CLUSTER, "%s: %s", rig_fleet_of(site)->names[node], why);
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    if (rig_node_processes(site, node, processes) == 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: the node is down", rig_fleet_of(site)->names[node]);
    char origin[RIG_CGROUP_PATH_BYTES], place[RIG_CGROUP_PATH_BYTES], path[RIG_CGROUP_PATH_BYTES];
    find_origin(&at, controller, processes[0].pid, origin);
    find_place(&at, controller, origin, place);
    (void)snprintf(path, sizeof path, "%.450s/rig-%ld-%u", place, (long)getpid(), atomic_fetch_add(&number, 1));
    /* Processes that end with rig take a moment, longer when they get little processor time. */
    const char *const undo[] = {"/bin/sh", "-c",
                                "n=0; while test -e \"$0\" && ! rmdir \"$0\" 2>/dev/null && test $n -lt 200; do "
                                "n=$((n + 1)); sleep 0.1; done; test ! -e \"$0\"",
                                path, NULL};
    const enum rig_rc rc =
        rig_journal_command(rig_fault_context_of(site)->journal, "a control group", undo, &group->token, err);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(group->path, sizeof group->path, "%s", path);
    (void)snprintf(group->origin, sizeof group->origin, "%s", origin);
    group->unified = at.unified;
    if (mkdir(path, 0755) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: cannot be made: %s", path, strerror(errno));
    return RIG_OK;
}

enum rig_rc rig_cgroup_set(const struct rig_cgroup *group, const char *file, const char *value, struct rig_err *err)
{
    char path[RIG_CGROUP_PATH_BYTES + 64];
    join_path(path, group->path, file);
    if (!write_text(path, value))
        return rig_fail(err, RIG_E_CLUSTER, "%s: does not take %s: %s", path, value, strerror(errno));
    return RIG_OK;
}

uint64_t rig_cgroup_number(const struct rig_cgroup *group, const char *file, const char *key)
{
    char path[RIG_CGROUP_PATH_BYTES + 64], text[4096];
    join_path(path, group->path, file);
    if (group->path[0] == '\0' || read_text(path, text, sizeof text) == 0)
        return 0;
    const char *at = text;
    const size_t length = key == NULL ? 0 : strlen(key);
    while (key != NULL && at != NULL && (strncmp(at, key, length) != 0 || at[length] != ' ')) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    return at == NULL ? 0 : strtoull(at + length, NULL, 10);
}

/* -- its processes ------------------------------------------------------------------------------------------------- */

/* Moves one process; an ended one is no failure. */
static bool move(const char *group, pid_t pid)
{
    char path[RIG_CGROUP_PATH_BYTES + 64], text[32];
    join_path(path, group, "cgroup.procs");
    (void)snprintf(text, sizeof text, "%ld", (long)pid);
    return write_text(path, text) || errno == ESRCH;
}

enum rig_rc rig_cgroup_take(const struct rig_fault_site *site, uint32_t node, const struct rig_cgroup *group,
                            uint32_t *count, struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    const char *name = rig_fleet_of(site)->names[node];
    *count = 0;
    /* Twice: a process that was forked between the two passes is outside, if its parent was. */
    for (int look = 0; look < 2; look++) {
        *count = rig_node_processes(site, node, processes);
        for (uint32_t i = 0; i < *count; i++) {
            if (!move(group->path, processes[i].pid))
                return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld cannot be moved into %s: %s", name,
                                (long)processes[i].pid, group->path, strerror(errno));
        }
    }
    return *count > 0 ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%s: the node is down", name);
}

/* Moves out all current processes; returns how many there were. */
static uint32_t move_out(const struct rig_cgroup *group)
{
    static const char file[] = "cgroup.procs";
    char path[RIG_CGROUP_PATH_BYTES + 64], text[TEXT_BYTES];
    uint32_t count = 0;
    join_path(path, group->path, file);
    (void)read_text(path, text, sizeof text);
    char *end = NULL;
    for (const char *at = text; *at != '\0'; at = *end == '\n' ? end + 1 : end) {
        const long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        (void)move(group->origin, (pid_t)pid);
        count++;
    }
    return count;
}

enum rig_rc rig_cgroup_end(const struct rig_fault_site *site, struct rig_cgroup *group, struct rig_err *err)
{
    if (group->path[0] == '\0')
        return RIG_OK;
    /* A process that is just ending keeps the group for a moment. */
    int error = 0;
    for (int round = 0; round < EMPTY_ROUNDS; round++) {
        (void)move_out(group);
        error = rmdir(group->path) == 0 || errno == ENOENT ? 0 : errno;
        if (error != EBUSY)
            break;
        rig_clock_sleep_until_ns(rig_clock_now_ns() + empty_step_ns);
    }
    if (error != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: cannot be removed: %s", group->path, strerror(error));
    rig_journal_forget(rig_fault_context_of(site)->journal, group->token);
    *group = (struct rig_cgroup){.token = 0};
    return RIG_OK;
}
