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
#include "base/clock.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "base/run_files.h"

enum { PROCESSES_MOST = 1024, LOG_NAME_BYTES = RIG_LOCAL_NAME_BYTES + 4 };

static const int64_t shortest_step_ns = 5 * RIG_NS_PER_MS;
static const int64_t longest_step_ns = 100 * RIG_NS_PER_MS;

void rig_local_node_init(struct rig_local_node *node, struct rig_local_site *site, uint32_t index)
{
    RIG_REQUIRE(rig_child_pid(&node->server) == 0);
    node->site = site;
    (void)snprintf(node->name, sizeof node->name, "%s-%u", site->kind->node_prefix, index + 1);
    if (site->folder[0] != '\0')
        rig_local_path(site, node->name, node->data);
}

void rig_local_node_done(struct rig_local_node *node)
{
    if (rig_child_pid(&node->server) != 0)
        return; /* it could not be ended */
    for (size_t i = 0; node->variables[i] != NULL; i++)
        free(node->variables[i]);
    memset(node->variables, 0, sizeof node->variables);
}

/* ---- environment ---- */

enum rig_rc rig_local_node_set_variable(struct rig_local_node *node, const char *name, const char *value,
                                        struct rig_err *err)
{
    const size_t length = strlen(name);
    char **variables = node->variables;
    size_t i = 0;
    while (variables[i] != NULL && !(strncmp(variables[i], name, length) == 0 && variables[i][length] == '='))
        i++;
    char *made = NULL;
    if (value != NULL) {
        if (i == RIG_LOCAL_VARIABLES_MOST)
            return rig_fail(err, RIG_E_LIMIT, "%s: more than %d variables of the environment", name,
                            RIG_LOCAL_VARIABLES_MOST);
        const size_t size = length + strlen(value) + 2;
        made = malloc(size);
        if (made == NULL)
            return rig_no_memory(err, "an environment");
        (void)snprintf(made, size, "%s=%s", name, value);
    }
    free(variables[i]);
    variables[i] = made;
    /* No gaps: the list ends with its first NULL. */
    for (; made == NULL && i < RIG_LOCAL_VARIABLES_MOST; i++)
        variables[i] = variables[i + 1];
    return RIG_OK;
}

/* ---- starting ---- */

/* The signal that ends the server with all its processes at once: where a database has a signal for it, SIGKILL to the
 * main process would leave the others behind. */
static int ending_signal(const struct rig_local_site *site)
{
    return site->kind->immediate_signal != 0 ? site->kind->immediate_signal : SIGKILL;
}

static void log_name(const struct rig_local_node *node, char name[static LOG_NAME_BYTES])
{
    (void)snprintf(name, LOG_NAME_BYTES, RIG_RUN_LOG_OF_NODE, node->name);
}

enum { SOCKET_PATH_MOST = 107, LOG_PATH_BYTES = 4096 };

static void log_path(const struct rig_run_env *env, const char *name, char path[static LOG_PATH_BYTES])
{
    (void)snprintf(path, LOG_PATH_BYTES, "%s/%s", env->log_dir, name);
}

/* Opens a log in the run's folder for appending; the caller closes it. -1 and RIG_E_CLUSTER in `err` on failure. */
static int local_open_log(const struct rig_local_site *site, const char *name, struct rig_err *err)
{
    char path[LOG_PATH_BYTES];
    log_path(site->env, name, path);
    const int fd = rig_output_append(path);
    if (fd < 0)
        (void)rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    return fd;
}

enum rig_rc rig_local_node_launch(struct rig_local_node *node, const char *const *arguments, const char *home,
                                  struct rig_err *err)
{
    char name[LOG_NAME_BYTES];
    log_name(node, name);
    const int output = local_open_log(node->site, name, err);
    if (output < 0)
        return RIG_E_CLUSTER;
    const struct rig_child_command command = {.arguments = arguments,
                                              .environment = (const char *const *)node->variables,
                                              .account = &node->site->account,
                                              .home = home,
                                              .output = output,
                                              .death_signal = ending_signal(node->site)};
    const enum rig_rc rc = rig_child_start(node->site->children, &command, &node->server, err);
    (void)close(output);
    return rc;
}

enum rig_rc rig_local_node_await(const struct rig_local_node *node, const struct rig_local_wait *wait,
                                 struct rig_err *err)
{
    const struct rig_core *core = node->site->env->core;
    const int64_t start_ns = core->now_ns();
    char name[LOG_NAME_BYTES];
    char tail[RIG_LOCAL_TAIL_BYTES];
    log_name(node, name);
    for (;;) {
        struct rig_err why = {.rc = RIG_OK};
        if (!rig_local_node_runs(node)) {
            rig_local_log_tail(node->site->env, name, tail);
            return rig_fail(err, RIG_E_CLUSTER, "%s ended while starting; %s ends: %s", node->name, name, tail);
        }
        if (wait->answers(wait->context, &why))
            return RIG_OK;
        if (!wait->always && core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was starting", node->name);
        if (core->now_ns() > wait->deadline_ns) {
            rig_local_log_tail(node->site->env, name, tail);
            return rig_fail(err, RIG_E_CLUSTER, "%s does not answer within start-timeout: %s; %s ends: %s", node->name,
                            why.text, name, tail);
        }
        /* Each request costs the server a process and its log two lines, also while it recovers for seconds. */
        const int64_t step_ns = shortest_step_ns + (core->now_ns() - start_ns) / 8;
        rig_clock_sleep_until_ns(rig_clock_now_ns() + (step_ns < longest_step_ns ? step_ns : longest_step_ns));
    }
}

/* ---- ending ---- */

bool rig_local_node_runs(const struct rig_local_node *node)
{
    return !rig_child_ended(&node->server);
}

/* Processes that a fault has stopped could not follow their server's orders. */
static void wake_all(const struct rig_local_node *node)
{
    pid_t pids[PROCESSES_MOST];
    (void)rig_child_signal_all(&node->server, pids, PROCESSES_MOST, SIGCONT);
}

enum rig_rc rig_local_node_stop(struct rig_local_node *node, enum rig_node_end how, int64_t timeout_ns,
                                struct rig_err *err)
{
    if (node->site == NULL)
        return RIG_OK; /* it was never started */
    const struct rig_local_site *site = node->site;
    const int signals[] = {how == RIG_NODE_FAST ? site->kind->fast_signal : 0,
                           how != RIG_NODE_KILL ? site->kind->immediate_signal : 0};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0] && rig_local_node_runs(node); i++) {
        if (signals[i] == 0)
            continue;
        const pid_t pid = rig_child_pid(&node->server);
        if (pid > 0) /* 0 would be rig's own group */
            (void)kill(pid, signals[i]);
        wake_all(node);
        if (!rig_child_await(&node->server, timeout_ns))
            site->env->core->log(1, site->kind->name, "%s did not end within stop-timeout after signal %d", node->name,
                                 signals[i]);
    }
    if (!rig_child_clear(&node->server, RIG_LOCAL_CLEAR_NS, NULL))
        return rig_fail(err, RIG_E_CLUSTER, "%s has processes that cannot be ended: they are stuck in the kernel",
                        node->name);
    return RIG_OK;
}

void rig_local_node_kill_now(const struct rig_local_node *node)
{
    const pid_t pid = rig_child_pid(&node->server);
    if (pid <= 0)
        return;
    (void)kill(pid, ending_signal(node->site));
    (void)kill(pid, SIGCONT);
}

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

void rig_local_log_tail(const struct rig_run_env *env, const char *name, char line[static RIG_LOCAL_TAIL_BYTES])
{
    char path[LOG_PATH_BYTES];
    char tail[RIG_LOCAL_TAIL_BYTES];
    ssize_t length = 0;
    size_t used = 0;
    log_path(env, name, path);
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
        rig_local_log_tail(site->env, program->log_name, tail);
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
    const int output =
        program->line == NULL ? local_open_log(site, program->log_name, err) : memfd_create("rig-output", MFD_CLOEXEC);
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
