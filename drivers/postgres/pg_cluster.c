#include "drivers/postgres/pg_cluster.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/folder.h"

#define SUPERUSER     "postgres"
#define PACKAGED_ROOT "/usr/lib/postgresql"

enum {
    PATH_BYTES = RIG_PG_PATH_BYTES + 64, /* the private folder and a name in it */
    SOCKET_PATH_MOST = 107,
    PORT_TRIES = 5,
    CONNECTIONS_LEAST = 200,
    READY_STEP_NS = 5 * 1000 * 1000,
    READY_TRY_NS = 1000 * 1000 * 1000,
    STATUS_TIMEOUT_NS = 1000 * 1000 * 1000,
};

/* How long processes may take to go after SIGKILL. */
#define CLEAR_NS (INT64_C(10) * 1000000000)

void rig_pg_cluster_init(struct rig_pg_cluster *cluster, const struct rig_run_env *env,
                         const struct rig_pg_options *options)
{
    *cluster = (struct rig_pg_cluster){.env = env, .options = options};
}

void rig_pg_cluster_done(struct rig_pg_cluster *cluster)
{
    if (cluster->env != NULL)
        rig_pg_cluster_stop(cluster);
}

const struct rig_pg_endpoint *rig_pg_cluster_endpoint(const struct rig_pg_cluster *cluster)
{
    return &cluster->endpoint;
}

void rig_pg_cluster_credentials(const struct rig_pg_cluster *cluster, struct rig_pg_target *target)
{
    if (target->user == NULL) {
        target->user = SUPERUSER;
        target->password = cluster->password;
    }
    if (target->dbname == NULL)
        target->dbname = SUPERUSER;
}

static enum rig_rc find_account(struct rig_pg_cluster *cluster, struct rig_err *err)
{
    const char *name = cluster->options->run_as;
    if (!rig_account_find(name, &cluster->account))
        return rig_fail(err, RIG_E_CLUSTER,
                        "PostgreSQL refuses to run as root, and there is no user `%s` to run it as: install the "
                        "package postgresql, or name another user as database.cluster.local.run-as",
                        name);
    if (cluster->account.uid == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "PostgreSQL refuses to run as root: name another user than `%s` as "
                        "database.cluster.local.run-as",
                        name);
    return RIG_OK;
}

/* ---- binaries ---- */

static bool has_binaries(const char *folder)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/initdb", folder);
    if (access(path, X_OK) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/postgres", folder);
    return access(path, X_OK) == 0;
}

/* The newest version below PACKAGED_ROOT, where Debian puts them. */
static bool find_packaged(char *folder, size_t size)
{
    DIR *versions = opendir(PACKAGED_ROOT);
    long newest = 0;
    const struct dirent *entry;
    while (versions != NULL && (entry = readdir(versions)) != NULL) {
        char candidate[RIG_PG_PATH_BYTES];
        long version = strtol(entry->d_name, NULL, 10);
        (void)snprintf(candidate, sizeof candidate, PACKAGED_ROOT "/%s/bin", entry->d_name);
        if (version > newest && has_binaries(candidate)) {
            newest = version;
            (void)snprintf(folder, size, "%s", candidate);
        }
    }
    if (versions != NULL)
        (void)closedir(versions);
    return newest > 0;
}

static bool find_in_path(char *folder, size_t size)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char candidate[RIG_PG_PATH_BYTES];
        (void)snprintf(candidate, sizeof candidate, "%.*s", (int)length, path);
        if (candidate[0] == '/' && has_binaries(candidate)) {
            (void)snprintf(folder, size, "%s", candidate);
            return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

enum rig_rc rig_pg_binaries_find(const char *asked, char *folder, size_t size, struct rig_err *err)
{
    if (asked != NULL && asked[0] != '\0') {
        if (asked[0] != '/' || strlen(asked) >= size || !has_binaries(asked))
            return rig_fail(err, RIG_E_CLUSTER,
                            "database.cluster.local.bin-dir: `%s` is no absolute path of a folder with executable "
                            "initdb and postgres",
                            asked);
        (void)snprintf(folder, size, "%s", asked);
        return RIG_OK;
    }
    if (find_packaged(folder, size) || find_in_path(folder, size))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER,
                    "PostgreSQL's initdb and postgres were not found below " PACKAGED_ROOT
                    " nor in PATH: install the package postgresql, or name their folder as "
                    "database.cluster.local.bin-dir");
}

/* ---- the private folder ---- */

static void path_in(const struct rig_pg_cluster *cluster, const char *name, char path[static PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/%s", cluster->folder, name);
}

/* Makes the private folder below `parent`; false when it would not do there. */
static bool make_folder_below(struct rig_pg_cluster *cluster, const char *parent)
{
    char real[4096];
    char path[sizeof cluster->folder];
    /* realpath() needs as much room as a path can have. */
    if (realpath(parent, real) == NULL || !rig_account_can_reach(&cluster->account, real))
        return false;
    int length = snprintf(path, sizeof path, "%s/rig-postgres-XXXXXX", real);
    if (length < 0 || (size_t)length + sizeof "/.s.PGSQL.65535" - 1 > SOCKET_PATH_MOST || mkdtemp(path) == NULL)
        return false;
    if (cluster->account.drop && chown(path, cluster->account.uid, cluster->account.gid) != 0) {
        (void)rmdir(path);
        return false;
    }
    (void)snprintf(cluster->folder, sizeof cluster->folder, "%s", path);
    return true;
}

static enum rig_rc make_folder(struct rig_pg_cluster *cluster, struct rig_err *err)
{
    const char *const parents[] = {cluster->env->work_dir, "/var/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        if (make_folder_below(cluster, parents[i]))
            return RIG_OK;
    }
    return rig_fail(err, RIG_E_CLUSTER,
                    "no folder for the server: %s, /var/tmp and /tmp are not writable, or %s cannot "
                    "reach them",
                    cluster->env->work_dir, cluster->account.drop ? cluster->account.name : "rig");
}

/* Writes a file that only the server's account can read. */
static enum rig_rc write_private(const struct rig_pg_cluster *cluster, const char *path, int flags, const char *text,
                                 struct rig_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    size_t length = strlen(text);
    bool written = fd >= 0 && write(fd, text, length) == (ssize_t)length &&
                   (!cluster->account.drop || fchown(fd, cluster->account.uid, cluster->account.gid) == 0);
    int error = errno;
    if (fd >= 0)
        (void)close(fd);
    return written ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(error));
}

/* ---- logs ---- */

static void log_path(const struct rig_pg_cluster *cluster, const char *name, char path[static 4096])
{
    (void)snprintf(path, 4096, "%s/%s", cluster->env->log_dir, name);
}

static int open_log(const struct rig_pg_cluster *cluster, const char *name, struct rig_err *err)
{
    char path[4096];
    log_path(cluster, name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        (void)rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    return fd;
}

/* The end of a log as one line, for an error. */
static void log_tail(const struct rig_pg_cluster *cluster, const char *name, char *line, size_t size)
{
    char path[4096];
    char tail[601];
    log_path(cluster, name, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;
    if (fd >= 0) {
        (void)lseek(fd, -(off_t)(sizeof tail - 1), SEEK_END); /* fails, harmlessly, on a shorter file */
        length = read(fd, tail, sizeof tail - 1);
        (void)close(fd);
    }
    tail[length > 0 ? length : 0] = '\0';
    rig_pg_one_line(line, size, tail);
}

/* ---- creating ---- */

/* Runs one program to its end, bounded by the deadline and by the end of the run. */
static enum rig_rc run_program(struct rig_pg_cluster *cluster, const char *const *arguments, const char *log_name,
                               int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    int output = open_log(cluster, log_name, err);
    if (output < 0)
        return RIG_E_CLUSTER;
    struct rig_child_command command = {.arguments = arguments,
                                        .account = &cluster->account,
                                        .home = cluster->folder,
                                        .output = output,
                                        .death_signal = SIGKILL};
    struct rig_child child = {.children = NULL};
    enum rig_rc rc = rig_child_start(cluster->children, &command, &child, err);
    (void)close(output);
    if (rc != RIG_OK)
        return rc;
    while (!rig_child_await(&child, 100 * INT64_C(1000000)) && !core->stopping() && core->now_ns() < deadline_ns)
        ;
    bool ended = rig_child_ended(&child);
    int status = 0;
    /* With what it runs itself: initdb has the server as its child. */
    if (!rig_child_clear(&child, CLEAR_NS, &status))
        return rig_fail(err, RIG_E_CLUSTER, "%s cannot be ended", arguments[0]);
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return RIG_OK;
    if (!ended && core->stopping())
        return rig_fail(err, RIG_E_INTERRUPTED, "stopped while the database was created");
    char tail[601];
    log_tail(cluster, log_name, tail, sizeof tail);
    return rig_fail(err, RIG_E_CLUSTER, "%s %s; its log %s ends: %s", arguments[0],
                    ended ? "failed" : "did not end within start-timeout", log_name, tail);
}

static enum rig_rc make_password(struct rig_pg_cluster *cluster, struct rig_err *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return rig_fail(err, RIG_E_CLUSTER, "no random bytes for a password: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(cluster->password + 2 * i, 3, "%02x", bytes[i]);
    return RIG_OK;
}

static enum rig_rc create_database(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    char initdb[PATH_BYTES];
    char data[PATH_BYTES];
    char password_file[PATH_BYTES];
    char password_argument[PATH_BYTES + 16];
    path_in(cluster, "data", data);
    path_in(cluster, "password", password_file);
    (void)snprintf(initdb, sizeof initdb, "%s/initdb", cluster->bin_dir);
    (void)snprintf(password_argument, sizeof password_argument, "--pwfile=%s", password_file);
    const char *const arguments[] = {initdb,
                                     "-D",
                                     data,
                                     "-U",
                                     SUPERUSER,
                                     "--no-sync",
                                     "--no-locale",
                                     "--encoding=UTF8",
                                     "--auth-local=trust",
                                     "--auth-host=scram-sha-256",
                                     password_argument,
                                     NULL};
    enum rig_rc rc = make_password(cluster, err);
    if (rc == RIG_OK)
        rc = write_private(cluster, password_file, O_CREAT | O_EXCL, cluster->password, err);
    if (rc == RIG_OK)
        rc = run_program(cluster, arguments, "postgres-1-initdb.log", deadline_ns, err);
    (void)unlink(password_file);
    return rc;
}

/* ---- configuration ---- */

struct text {
    char at[16384];
    size_t length;
};

static void text_add(struct text *text, const char *format, ...) RIG_PRINTF(2, 3);

static void text_add(struct text *text, const char *format, ...)
{
    size_t room = sizeof text->at - text->length;
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text->at + text->length, room, format, arguments);
    va_end(arguments);
    text->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1;
}

/* name = 'value', with the value's quotes doubled. */
static void add_setting(struct text *text, const char *name, const char *value)
{
    size_t length = strlen(value);
    /* A value that already is quoted, as one would write it into postgresql.conf. */
    if (length >= 2 && value[0] == '\'' && value[length - 1] == '\'') {
        text_add(text, "%s = %s\n", name, value);
        return;
    }
    text_add(text, "%s = '", name);
    for (const char *p = value; *p != '\0'; p++)
        text_add(text, "%s%c", *p == '\'' ? "'" : *p == '\\' ? "\\" : "", *p);
    text_add(text, "'\n");
}

static enum rig_rc configure(struct rig_pg_cluster *cluster, struct rig_err *err)
{
    const struct rig_pg_options *options = cluster->options;
    bool tcp = options->listen == RIG_PG_LISTEN_TCP;
    unsigned connections = cluster->env->client_count * 10;
    struct text text = {.length = 0};
    char socket_folder[sizeof cluster->folder + 2];
    char path[PATH_BYTES];
    (void)snprintf(socket_folder, sizeof socket_folder, "\"%s\"", cluster->folder);
    text_add(&text, "# Written by rig; the last of equal names wins.\n");
    add_setting(&text, "listen_addresses", tcp ? "127.0.0.1" : "");
    add_setting(&text, "unix_socket_directories", socket_folder);
    text_add(&text, "unix_socket_permissions = 0700\n");
    /* Far above what is used: serializable keeps ten transactions a connection before it summarises the oldest, which
       costs it precision and rig the names of the conflicts. */
    text_add(&text, "max_connections = %u\n", connections < CONNECTIONS_LEAST ? CONNECTIONS_LEAST : connections);
    text_add(&text, "max_pred_locks_per_transaction = 256\n");
    /* Upserts of several keys in random order deadlock all the time; at the default 1 s they would dominate the run. */
    text_add(&text, "deadlock_timeout = 10ms\n");
    /* Serialization failures are what is looked for, not worth a line each; LOG ranks above ERROR here. */
    text_add(&text, "log_min_messages = log\n");
    text_add(&text, "log_line_prefix = '%%m [%%p] '\n");
    for (size_t i = 0; i < options->settings.count; i++) {
        char name[64];
        const char *value = NULL;
        if (!rig_pg_setting_split(options->settings.at[i], name, sizeof name, &value))
            return rig_fail(err, RIG_E_PLAN, "setting `%s` is not name=value", options->settings.at[i]);
        add_setting(&text, name, value);
    }
    if (text.length + 1 >= sizeof text.at)
        return rig_fail(err, RIG_E_LIMIT, "more settings than fit into %zu bytes", sizeof text.at);
    path_in(cluster, "data/rig.conf", path);
    enum rig_rc rc = write_private(cluster, path, O_CREAT | O_EXCL, text.at, err);
    path_in(cluster, "data/postgresql.conf", path);
    return rc != RIG_OK ? rc : write_private(cluster, path, O_APPEND, "include 'rig.conf'\n", err);
}

/* ---- starting ---- */

/* A port that is free now; another process may take it before the server does, which is then tried again. */
static enum rig_rc free_port(char port[static 6], struct rig_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 &&
                 getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    int error = errno;
    if (fd >= 0)
        (void)close(fd);
    if (!found)
        return rig_fail(err, RIG_E_CLUSTER, "no free port on the loopback address: %s", strerror(error));
    (void)snprintf(port, 6, "%u", (unsigned)ntohs(address.sin_port));
    return RIG_OK;
}

static enum rig_rc try_connecting(struct rig_pg_cluster *cluster, int64_t timeout_ns, bool *standby,
                                  struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    struct rig_pg_connection connection;
    struct rig_pg_waiter waiter = {.core = core};
    struct rig_pg_target target = {.endpoint = &cluster->endpoint};
    int64_t deadline_ns = core->now_ns() + timeout_ns;
    rig_pg_cluster_credentials(cluster, &target);
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_connect(&connection, &target, &waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_pg_query(&connection, "SELECT pg_is_in_recovery()", deadline_ns, &result, err);
    if (rc == RIG_OK)
        *standby = PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    rig_pg_disconnect(&connection);
    return rc;
}

static enum rig_rc await_ready(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    char tail[601];
    for (;;) {
        bool standby = false;
        struct rig_err attempt = {.rc = RIG_OK};
        if (rig_child_ended(&cluster->server)) {
            log_tail(cluster, "postgres-1.log", tail, sizeof tail);
            return rig_fail(err, RIG_E_CLUSTER, "the server ended while starting; postgres-1.log ends: %s", tail);
        }
        if (try_connecting(cluster, READY_TRY_NS, &standby, &attempt) == RIG_OK)
            return RIG_OK;
        if (core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while the server was starting");
        if (core->now_ns() > deadline_ns) {
            log_tail(cluster, "postgres-1.log", tail, sizeof tail);
            return rig_fail(err, RIG_E_CLUSTER,
                            "the server does not answer within start-timeout: %s; postgres-1.log ends: %s",
                            attempt.text, tail);
        }
        struct timespec step = {.tv_nsec = READY_STEP_NS};
        (void)nanosleep(&step, NULL);
    }
}

static enum rig_rc launch(struct rig_pg_cluster *cluster, struct rig_err *err)
{
    char program[PATH_BYTES];
    char data[PATH_BYTES];
    (void)snprintf(program, sizeof program, "%s/postgres", cluster->bin_dir);
    path_in(cluster, "data", data);
    const char *const arguments[] = {program, "-D", data, "-p", cluster->endpoint.port, NULL};
    int output = open_log(cluster, "postgres-1.log", err);
    if (output < 0)
        return RIG_E_CLUSTER;
    struct rig_child_command command = {.arguments = arguments,
                                        .account = &cluster->account,
                                        .home = cluster->folder,
                                        .output = output,
                                        .death_signal = SIGQUIT};
    enum rig_rc rc = rig_child_start(cluster->children, &command, &cluster->server, err);
    (void)close(output);
    return rc;
}

/* Ends the server: fast, then immediately, then for certain. */
static void end_server(struct rig_pg_cluster *cluster)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGKILL};
    pid_t pid = rig_child_pid(&cluster->server);
    if (pid == 0)
        return;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)kill(pid, signals[i]);
        (void)kill(pid, SIGCONT); /* it may have been stopped by a fault */
        if (rig_child_await(&cluster->server, cluster->options->stop_timeout_ns))
            break;
        cluster->env->core->log(1, "postgres", "the server did not end within stop-timeout of signal %d", signals[i]);
    }
    if (!rig_child_clear(&cluster->server, CLEAR_NS, NULL))
        cluster->env->core->log(0, "postgres", "the server has processes that cannot be ended");
}

static enum rig_rc start_server(struct rig_pg_cluster *cluster, int64_t deadline_ns, struct rig_err *err)
{
    bool tcp = cluster->options->listen == RIG_PG_LISTEN_TCP;
    for (int tries = 1;; tries++) {
        struct rig_err attempt = {.rc = RIG_OK};
        enum rig_rc rc = RIG_OK;
        (void)snprintf(cluster->endpoint.host, sizeof cluster->endpoint.host, "%s",
                       tcp ? "127.0.0.1" : cluster->folder);
        (void)snprintf(cluster->endpoint.port, sizeof cluster->endpoint.port, "5432");
        if (tcp)
            rc = free_port(cluster->endpoint.port, &attempt);
        if (rc == RIG_OK)
            rc = launch(cluster, &attempt);
        if (rc == RIG_OK)
            rc = await_ready(cluster, deadline_ns, &attempt);
        if (rc == RIG_OK)
            return RIG_OK;
        end_server(cluster);
        if (!tcp || tries == PORT_TRIES || strstr(attempt.text, "Address already in use") == NULL)
            return rig_fail(err, rc, "%s", attempt.text);
    }
}

enum rig_rc rig_pg_cluster_start(struct rig_pg_cluster *cluster, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    int64_t start_ns = core->now_ns();
    int64_t deadline_ns = start_ns + cluster->options->start_timeout_ns;
    RIG_INVARIANT(rig_child_pid(&cluster->server) == 0 && cluster->folder[0] == '\0');
    enum rig_rc rc = find_account(cluster, err);
    if (rc == RIG_OK)
        rc = rig_children_new(&cluster->children, err);
    if (rc == RIG_OK)
        rc = rig_pg_binaries_find(cluster->options->bin_dir, cluster->bin_dir, sizeof cluster->bin_dir, err);
    if (rc == RIG_OK)
        rc = make_folder(cluster, err);
    if (rc == RIG_OK)
        rc = create_database(cluster, deadline_ns, err);
    if (rc == RIG_OK)
        rc = configure(cluster, err);
    if (rc == RIG_OK)
        rc = start_server(cluster, deadline_ns, err);
    if (rc == RIG_OK)
        core->log(2, "postgres", "started %s/postgres as process %d in %s, %lld ms", cluster->bin_dir,
                  rig_child_pid(&cluster->server), cluster->folder, (long long)((core->now_ns() - start_ns) / 1000000));
    return rc;
}

void rig_pg_cluster_stop(struct rig_pg_cluster *cluster)
{
    end_server(cluster);
    if (cluster->folder[0] != '\0')
        rig_folder_remove(cluster->folder);
    cluster->folder[0] = '\0';
    rig_children_free(cluster->children);
    cluster->children = NULL;
}

void rig_pg_cluster_kill_now(struct rig_pg_cluster *cluster)
{
    pid_t pid = rig_child_pid(&cluster->server);
    if (pid <= 0)
        return;
    /* Not SIGKILL: on SIGQUIT the server takes its children, each in a session of its own, down with it. */
    (void)kill(pid, SIGQUIT);
    (void)kill(pid, SIGCONT);
}

enum rig_rc rig_pg_cluster_status(struct rig_pg_cluster *cluster, struct rig_node_status *status, struct rig_err *err)
{
    pid_t pid = rig_child_pid(&cluster->server);
    if (pid == 0)
        return rig_fail(err, RIG_E_CLUSTER, "the server was not started");
    struct rig_node_status found = {.name = "postgres-1", .pid = pid};
    bool standby = false;
    struct rig_err attempt = {.rc = RIG_OK};
    if (rig_child_ended(&cluster->server))
        (void)snprintf(found.detail, sizeof found.detail, "its main process has ended");
    else if (try_connecting(cluster, STATUS_TIMEOUT_NS, &standby, &attempt) != RIG_OK)
        rig_pg_one_line(found.detail, sizeof found.detail, attempt.text);
    else
        found.reachable = true;
    (void)snprintf(found.role, sizeof found.role, "%s", !found.reachable ? "unknown" : standby ? "standby" : "primary");
    *status = found;
    return RIG_OK;
}
