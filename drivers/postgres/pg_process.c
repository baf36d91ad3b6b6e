#include "drivers/postgres/pg_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"

enum { WAIT_STEP_NS = 2 * 1000 * 1000, TREE_DEPTH_MOST = 32 };

enum rig_rc rig_pg_user_find(const char *name, struct rig_pg_user *user, struct rig_err *err)
{
    *user = (struct rig_pg_user){.drop = geteuid() == 0, .uid = geteuid(), .gid = getegid()};
    if (!user->drop)
        return RIG_OK;
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[4096];
    if (getpwnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return rig_fail(err, RIG_E_CLUSTER,
                        "PostgreSQL refuses to run as root, and there is no user `%s` to run it as: install the "
                        "package postgresql, or name another user as database.cluster.local.run-as",
                        name);
    if (found->pw_uid == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "PostgreSQL refuses to run as root: name another user than `%s` as "
                        "database.cluster.local.run-as",
                        name);
    user->uid = found->pw_uid;
    user->gid = found->pw_gid;
    user->group_count = RIG_PG_GROUPS_MOST;
    if (getgrouplist(name, found->pw_gid, user->groups, &user->group_count) < 0)
        user->group_count = RIG_PG_GROUPS_MOST; /* it has more: the first ones do */
    (void)snprintf(user->name, sizeof user->name, "%s", name);
    return RIG_OK;
}

static bool in_group(const struct rig_pg_user *user, gid_t group)
{
    bool found = group == user->gid;
    for (int i = 0; i < user->group_count; i++)
        found = found || user->groups[i] == group;
    return found;
}

bool rig_pg_user_can_reach(const struct rig_pg_user *user, const char *path)
{
    char prefix[RIG_PG_PATH_BYTES];
    size_t length = strlen(path);
    if (!user->drop)
        return true;
    if (path[0] != '/' || length >= sizeof prefix)
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        struct stat status;
        if (stat(prefix, &status) != 0)
            return false;
        mode_t needed = status.st_uid == user->uid ? S_IXUSR : in_group(user, status.st_gid) ? S_IXGRP : S_IXOTH;
        if (!S_ISDIR(status.st_mode) || (status.st_mode & needed) == 0)
            return false;
    }
    return true;
}

/* ---- starting ---- */

/* What the child could not do, told to the parent through a pipe that a successful exec closes. */
struct exec_problem {
    int error;
    bool account; /* it could not change its account; else the program could not be executed */
};

static const char *const child_environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                                "LC_ALL=C", "TZ=UTC", NULL};

static bool change_account(const struct rig_pg_user *user)
{
    return !user->drop || (setgroups((size_t)user->group_count, user->groups) == 0 && setgid(user->gid) == 0 &&
                           setuid(user->uid) == 0);
}

/* Between fork and exec: only async-signal-safe calls. */
_Noreturn static void become(const struct rig_pg_command *command, pid_t parent, int null_fd, int problem_fd)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2, SIGALRM};
    struct sigaction normal = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)sigaction(signals[i], &normal, NULL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    (void)dup2(null_fd, STDIN_FILENO);
    (void)dup2(command->output, STDOUT_FILENO);
    (void)dup2(command->output, STDERR_FILENO);
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    (void)umask(077);
    struct exec_problem problem = {.account = true};
    if (change_account(command->user)) {
        problem.account = false;
        /* After the change of account, which clears it; a parent that died before is seen by its number. */
        (void)prctl(PR_SET_PDEATHSIG, command->death_signal);
        if (getppid() == parent && chdir(command->home) == 0)
            (void)execve(command->arguments[0], (char *const *)(uintptr_t)command->arguments,
                         (char *const *)(uintptr_t)child_environment);
    }
    problem.error = errno;
    (void)!write(problem_fd, &problem, sizeof problem);
    _exit(127);
}

static enum rig_rc explain(const struct rig_pg_command *command, const struct exec_problem *problem,
                           struct rig_err *err)
{
    const char *as = command->user->drop ? command->user->name : "rig's own user";
    if (problem->account)
        return rig_fail(err, RIG_E_CLUSTER, "cannot change to the user %s: %s", as, strerror(problem->error));
    return rig_fail(err, RIG_E_CLUSTER, "%s cannot be executed by %s: %s", command->arguments[0], as,
                    strerror(problem->error));
}

enum rig_rc rig_pg_process_start(const struct rig_pg_command *command, pid_t *pid, struct rig_err *err)
{
    int ends[2];
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        int error = errno;
        if (null_fd >= 0)
            (void)close(null_fd);
        return rig_fail(err, RIG_E_CLUSTER, "no descriptors for a child process: %s", strerror(error));
    }
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0)
        become(command, parent, null_fd, ends[1]);
    int error = errno;
    (void)close(null_fd);
    (void)close(ends[1]);
    enum rig_rc rc = RIG_OK;
    struct exec_problem problem;
    if (child < 0) {
        rc = rig_fail(err, RIG_E_CLUSTER, "fork: %s", strerror(error));
    } else if (read(ends[0], &problem, sizeof problem) == (ssize_t)sizeof problem) {
        (void)waitpid(child, NULL, 0);
        rc = explain(command, &problem, err);
    } else {
        *pid = child;
    }
    (void)close(ends[0]);
    return rc;
}

/* ---- ending ---- */

bool rig_pg_process_ended(pid_t pid)
{
    siginfo_t info;
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD;
    return info.si_pid == pid;
}

static int64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool rig_pg_process_await(pid_t pid, int64_t timeout_ns)
{
    int64_t deadline_ns = monotonic_ns() + timeout_ns;
    while (!rig_pg_process_ended(pid)) {
        if (monotonic_ns() >= deadline_ns)
            return false;
        struct timespec step = {.tv_nsec = WAIT_STEP_NS};
        (void)nanosleep(&step, NULL);
    }
    return true;
}

int rig_pg_process_reap(pid_t pid)
{
    int status = 0;
    pid_t reaped;
    do
        reaped = waitpid(pid, &status, 0);
    while (reaped < 0 && errno == EINTR);
    RIG_INVARIANT(reaped == pid || errno == ECHILD);
    return status;
}

/* ---- folders ---- */

static void remove_below(int parent, const char *name, int depth)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    if (entries == NULL) {
        if (folder >= 0)
            (void)close(folder);
        (void)unlinkat(parent, name, 0);
        return;
    }
    const struct dirent *entry;
    while (depth > 0 && (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
            remove_below(folder, entry->d_name, depth - 1);
        else
            (void)unlinkat(folder, entry->d_name, 0);
    }
    (void)closedir(entries);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void rig_pg_tree_remove(const char *path)
{
    RIG_INVARIANT(path[0] == '/' && path[1] != '\0');
    remove_below(AT_FDCWD, path, TREE_DEPTH_MOST);
}
