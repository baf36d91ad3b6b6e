#include "drivers/local/local_site.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/folder.h"
#include "base/output_file.h"

enum { SOCKET_PATH_MOST = 107, LOG_PATH_BYTES = 4096 };

/* The polling interval while a program runs. */
static const int64_t look_ns = 100000000;

void rig_local_site_init(struct rig_local_site *site, const struct rig_local_kind *kind, const struct rig_run_env *env)
{
    *site = (struct rig_local_site){.kind = kind, .env = env};
}

/* ---- opening and closing ---- */

static enum rig_rc find_account(struct rig_local_site *site, const char *name, struct rig_err *err)
{
    const struct rig_local_kind *kind = site->kind;
    const char *package = kind->account_package;
    if (!rig_account_find(name, &site->account))
        return rig_fail(err, RIG_E_PLAN,
                        "there is no user `%s` to run %s as: %s%s%sname another user as database.cluster.local.run-as",
                        name, kind->product, package == NULL ? "" : "install the package ",
                        package == NULL ? "" : package, package == NULL ? "" : ", or ");
    if (kind->refuses_root && site->account.uid == 0)
        return rig_fail(err, RIG_E_PLAN,
                        "%s refuses to run as root: name another user than `%s` as database.cluster.local.run-as",
                        kind->product, name);
    return RIG_OK;
}

/* Makes the private folder below `parent`; false when that is not possible. */
static bool make_folder_below(struct rig_local_site *site, const char *parent)
{
    const size_t socket_bytes = site->kind->socket_name_bytes;
    char real[PATH_MAX];
    char path[sizeof site->folder];
    if (realpath(parent, real) == NULL || !rig_account_can_reach(&site->account, real))
        return false;
    const int length = snprintf(path, sizeof path, "%s/rig-%s-XXXXXX", real, site->kind->name);
    if (length < 0 || (size_t)length >= sizeof path ||
        (socket_bytes > 0 && (size_t)length + 1 + socket_bytes > SOCKET_PATH_MOST) || mkdtemp(path) == NULL)
        return false;
    if (site->account.drop && chown(path, site->account.uid, site->account.gid) != 0) {
        (void)rmdir(path);
        return false;
    }
    (void)snprintf(site->folder, sizeof site->folder, "%s", path);
    return true;
}

static enum rig_rc make_private_folder(struct rig_local_site *site, struct rig_err *err)
{
    const char *const parents[] = {site->env->work_dir, "/var/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        if (make_folder_below(site, parents[i]))
            return RIG_OK;
    }
    return rig_fail(err, RIG_E_CLUSTER,
                    "no folder for the cluster: %s, /var/tmp and /tmp are not writable, or %s cannot access them",
                    site->env->work_dir, site->account.drop ? site->account.name : "rig");
}

enum rig_rc rig_local_site_open(struct rig_local_site *site, const char *run_as, struct rig_err *err)
{
    RIG_REQUIRE(site->folder[0] == '\0' && site->children == NULL);
    enum rig_rc rc = find_account(site, run_as, err);
    if (rc == RIG_OK)
        rc = rig_children_new(&site->children, err);
    return rc == RIG_OK ? make_private_folder(site, err) : rc;
}

void rig_local_site_close(struct rig_local_site *site)
{
    if (site->folder[0] != '\0')
        rig_folder_remove(site->folder);
    site->folder[0] = '\0';
    rig_children_free(site->children);
    site->children = NULL;
}

/* ---- files ---- */

void rig_local_path(const struct rig_local_site *site, const char *name, char path[static RIG_LOCAL_PATH_BYTES])
{
    (void)snprintf(path, RIG_LOCAL_PATH_BYTES, "%s/%s", site->folder, name);
}

enum rig_rc rig_local_make_folder(const struct rig_local_site *site, const char *path, struct rig_err *err)
{
    const struct rig_account *account = &site->account;
    if (mkdir(path, 0700) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "cannot make %s: %s", path, strerror(errno));
    if (account->drop && chown(path, account->uid, account->gid) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "cannot give %s to %s: %s", path, account->name, strerror(errno));
    return RIG_OK;
}

enum rig_rc rig_local_write(const struct rig_local_site *site, const char *path, int flags, const char *text,
                            struct rig_err *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    const size_t length = strlen(text);
    const bool written = fd >= 0 && write(fd, text, length) == (ssize_t)length &&
                         (!site->account.drop || fchown(fd, site->account.uid, site->account.gid) == 0);
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    return written ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(error));
}

/* ---- logs ---- */

static void log_path(const struct rig_local_site *site, const char *name, char path[static LOG_PATH_BYTES])
{
    (void)snprintf(path, LOG_PATH_BYTES, "%s/%s", site->env->log_dir, name);
}

int rig_local_open_log(const struct rig_local_site *site, const char *name, struct rig_err *err)
{
    char path[LOG_PATH_BYTES];
    log_path(site, name, path);
    const int fd = rig_output_append(path);
    if (fd < 0)
        (void)rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    return fd;
}

void rig_local_log_tail(const struct rig_local_site *site, const char *name, char line[static RIG_LOCAL_TAIL_BYTES])
{
    char path[LOG_PATH_BYTES];
    char tail[RIG_LOCAL_TAIL_BYTES];
    ssize_t length = 0;
    size_t used = 0;
    log_path(site, name, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)lseek(fd, -(off_t)(sizeof tail - 1), SEEK_END); /* fails, harmlessly, on a shorter file */
        length = read(fd, tail, sizeof tail - 1);
        (void)close(fd);
    }
    /* Line ends and other control characters become blanks, of which one is enough. */
    for (ssize_t i = 0; i < length; i++) {
        const bool blank = (unsigned char)tail[i] <= ' ';
        if (!blank || (used > 0 && line[used - 1] != ' '))
            line[used++] = blank ? ' ' : tail[i];
    }
    line[used > 0 && line[used - 1] == ' ' ? used - 1 : used] = '\0';
}

/* ---- programs ---- */

static void take_line(int output, char *line, size_t size)
{
    const ssize_t got = pread(output, line, size - 1, 0);
    line[got < 0 ? 0 : got] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
}

/* The end of its output, for an error. */
static void output_tail(const struct rig_local_site *site, const struct rig_local_program *program, int output,
                        char tail[static RIG_LOCAL_TAIL_BYTES])
{
    if (program->line == NULL)
        rig_local_log_tail(site, program->log_name, tail);
    else
        take_line(output, tail, RIG_LOCAL_TAIL_BYTES);
}

static enum rig_rc await_end(struct rig_local_site *site, const struct rig_local_program *program,
                             struct rig_child *child, int output, struct rig_err *err)
{
    const struct rig_core *core = site->env->core;
    const char *name = program->arguments[0];
    while (!rig_child_await(child, look_ns) && (program->always || !core->stopping()) &&
           core->now_ns() < program->deadline_ns)
        ;
    const bool ended = rig_child_ended(child);
    int status = 0;
    /* With its own children: initdb, for example, has the server as its child. */
    if (!rig_child_clear(child, RIG_LOCAL_CLEAR_NS, &status))
        return rig_fail(err, RIG_E_CLUSTER, "%s cannot be ended", name);
    if (program->line != NULL)
        take_line(output, program->line, program->line_size);
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return RIG_OK;
    if (!ended && !program->always && core->stopping())
        return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was running", name);
    char tail[RIG_LOCAL_TAIL_BYTES];
    output_tail(site, program, output, tail);
    return rig_fail(err, RIG_E_CLUSTER, "%s %s; its %s%s ends: %s", name,
                    ended                   ? "failed"
                    : program->line == NULL ? "did not end within start-timeout"
                                            : "did not end in time",
                    program->line != NULL ? "output" : "log ", program->line != NULL ? "" : program->log_name, tail);
}

enum rig_rc rig_local_run_program(struct rig_local_site *site, const struct rig_local_program *program,
                                  struct rig_err *err)
{
    const int output = program->line == NULL ? rig_local_open_log(site, program->log_name, err)
                                             : memfd_create("rig-output", MFD_CLOEXEC);
    if (output < 0)
        return program->line == NULL ? RIG_E_CLUSTER
                                     : rig_fail(err, RIG_E_CLUSTER, "no descriptor: %s", strerror(errno));
    const struct rig_child_command command = {.arguments = program->arguments,
                                              .environment = program->environment,
                                              .account = &site->account,
                                              .home = program->home == NULL ? site->folder : program->home,
                                              .output = output,
                                              .death_signal = SIGKILL};
    struct rig_child child = {.next = NULL};
    enum rig_rc rc = rig_child_start(site->children, &command, &child, err);
    if (rc == RIG_OK)
        rc = await_end(site, program, &child, output, err);
    (void)close(output);
    return rc;
}

enum rig_rc rig_local_run(struct rig_local_site *site, const char *const *arguments, const char *log_name, bool always,
                          int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_local_program program = {
        .arguments = arguments, .log_name = log_name, .always = always, .deadline_ns = deadline_ns};
    return rig_local_run_program(site, &program, err);
}

enum rig_rc rig_local_make_password(char password[static 33], struct rig_err *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return rig_fail(err, RIG_E_CLUSTER, "no random bytes for a password: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(password + 2 * i, 3, "%02x", bytes[i]);
    return RIG_OK;
}
