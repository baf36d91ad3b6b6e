#include "drivers/postgres/pg_site.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "drivers/postgres/pg_connection.h"

enum { SOCKET_PATH_MOST = 107, ARGUMENTS_MOST = 32 };

/* How long processes may take to go after SIGKILL, and the pause between two looks at one that runs. */
#define CLEAR_NS (INT64_C(10) * 1000000000)
#define LOOK_NS  (INT64_C(100) * 1000000)

static enum rig_rc find_account(struct rig_pg_site *site, struct rig_err *err)
{
    const char *name = site->options->run_as;
    if (!rig_account_find(name, &site->account))
        return rig_fail(err, RIG_E_CLUSTER,
                        "PostgreSQL refuses to run as root, and there is no user `%s` to run it as: install the "
                        "package postgresql, or name another user as database.cluster.local.run-as",
                        name);
    if (site->account.uid == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "PostgreSQL refuses to run as root: name another user than `%s` as "
                        "database.cluster.local.run-as",
                        name);
    return RIG_OK;
}

/* ---- the private folder ---- */

/* Makes the private folder below `parent`; false when it would not do there. */
static bool make_folder_below(struct rig_pg_site *site, const char *parent)
{
    char real[4096];
    char path[sizeof site->folder];
    /* realpath() needs as much room as a path can have. */
    if (realpath(parent, real) == NULL || !rig_account_can_reach(&site->account, real))
        return false;
    int length = snprintf(path, sizeof path, "%s/rig-postgres-XXXXXX", real);
    if (length < 0 || (size_t)length + sizeof "/.s.PGSQL.65535" - 1 > SOCKET_PATH_MOST || mkdtemp(path) == NULL)
        return false;
    if (site->account.drop && chown(path, site->account.uid, site->account.gid) != 0) {
        (void)rmdir(path);
        return false;
    }
    (void)snprintf(site->folder, sizeof site->folder, "%s", path);
    return true;
}

static enum rig_rc make_folder(struct rig_pg_site *site, struct rig_err *err)
{
    const char *const parents[] = {site->env->work_dir, "/var/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        if (make_folder_below(site, parents[i]))
            return RIG_OK;
    }
    return rig_fail(err, RIG_E_CLUSTER,
                    "no folder for the server: %s, /var/tmp and /tmp are not writable, or %s cannot "
                    "reach them",
                    site->env->work_dir, site->account.drop ? site->account.name : "rig");
}

static enum rig_rc make_password(struct rig_pg_site *site, struct rig_err *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return rig_fail(err, RIG_E_CLUSTER, "no random bytes for a password: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(site->password + 2 * i, 3, "%02x", bytes[i]);
    return RIG_OK;
}

enum rig_rc rig_pg_site_open(struct rig_pg_site *site, struct rig_err *err)
{
    const struct rig_core *core = site->env->core;
    RIG_INVARIANT(site->folder[0] == '\0' && site->children == NULL);
    site->node_count = site->options->nodes > 1 ? (uint32_t)site->options->nodes : 1;
    site->tcp = site->options->listen == RIG_PG_LISTEN_TCP || (core->routed != NULL && core->routed());
    enum rig_rc rc = find_account(site, err);
    if (rc == RIG_OK)
        rc = rig_pg_binaries_find(site->options->bin_dir, site->bin_dir, sizeof site->bin_dir, err);
    if (rc == RIG_OK)
        rc = make_password(site, err);
    if (rc == RIG_OK)
        rc = rig_children_new(&site->children, err);
    return rc != RIG_OK ? rc : make_folder(site, err);
}

void rig_pg_site_close(struct rig_pg_site *site)
{
    if (site->folder[0] != '\0')
        rig_folder_remove(site->folder);
    site->folder[0] = '\0';
    rig_children_free(site->children);
    site->children = NULL;
}

void rig_pg_site_path(const struct rig_pg_site *site, const char *name, char path[static RIG_PG_FILE_BYTES])
{
    (void)snprintf(path, RIG_PG_FILE_BYTES, "%s/%s", site->folder, name);
}

enum rig_rc rig_pg_site_write(const struct rig_pg_site *site, const char *path, int flags, const char *text,
                              struct rig_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    size_t length = strlen(text);
    bool written = fd >= 0 && write(fd, text, length) == (ssize_t)length &&
                   (!site->account.drop || fchown(fd, site->account.uid, site->account.gid) == 0);
    int error = errno;
    if (fd >= 0)
        (void)close(fd);
    return written ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(error));
}

/* ---- logs ---- */

static void log_path(const struct rig_pg_site *site, const char *name, char path[static 4096])
{
    (void)snprintf(path, 4096, "%s/%s", site->env->log_dir, name);
}

int rig_pg_site_log(const struct rig_pg_site *site, const char *name, struct rig_err *err)
{
    char path[4096];
    log_path(site, name, path);
    int fd = rig_output_append(path);
    if (fd < 0)
        (void)rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    return fd;
}

void rig_pg_site_log_tail(const struct rig_pg_site *site, const char *name, char line[static RIG_PG_TAIL_BYTES])
{
    char path[4096];
    char tail[RIG_PG_TAIL_BYTES];
    log_path(site, name, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;
    if (fd >= 0) {
        (void)lseek(fd, -(off_t)(sizeof tail - 1), SEEK_END); /* fails, harmlessly, on a shorter file */
        length = read(fd, tail, sizeof tail - 1);
        (void)close(fd);
    }
    tail[length > 0 ? length : 0] = '\0';
    rig_pg_one_line(line, RIG_PG_TAIL_BYTES, tail);
}

/* ---- programs ---- */

static enum rig_rc explain(const struct rig_pg_site *site, const char *program, const char *log_name, bool ended,
                           struct rig_err *err)
{
    char tail[RIG_PG_TAIL_BYTES];
    rig_pg_site_log_tail(site, log_name, tail);
    return rig_fail(err, RIG_E_CLUSTER, "%s %s; its log %s ends: %s", program,
                    ended ? "failed" : "did not end within start-timeout", log_name, tail);
}

enum rig_rc rig_pg_site_run(struct rig_pg_site *site, const char *const *arguments, const char *log_name, bool always,
                            int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_core *core = site->env->core;
    char program[RIG_PG_PATH_BYTES + 32];
    const char *full[ARGUMENTS_MOST + 1] = {program};
    size_t count = 1;
    for (; arguments[count] != NULL; count++) {
        RIG_INVARIANT(count < ARGUMENTS_MOST);
        full[count] = arguments[count];
    }
    (void)snprintf(program, sizeof program, "%s/%s", site->bin_dir, arguments[0]);
    int output = rig_pg_site_log(site, log_name, err);
    if (output < 0)
        return RIG_E_CLUSTER;
    const struct rig_child_command command = {
        .arguments = full, .account = &site->account, .home = site->folder, .output = output, .death_signal = SIGKILL};
    struct rig_child child = {.children = NULL};
    enum rig_rc rc = rig_child_start(site->children, &command, &child, err);
    (void)close(output);
    if (rc != RIG_OK)
        return rc;
    while (!rig_child_await(&child, LOOK_NS) && (always || !core->stopping()) && core->now_ns() < deadline_ns)
        ;
    bool ended = rig_child_ended(&child);
    int status = 0;
    /* With what it runs itself: initdb has the server as its child. */
    if (!rig_child_clear(&child, CLEAR_NS, &status))
        return rig_fail(err, RIG_E_CLUSTER, "%s cannot be ended", program);
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return RIG_OK;
    if (!ended && !always && core->stopping())
        return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was running", arguments[0]);
    return explain(site, program, log_name, ended, err);
}
