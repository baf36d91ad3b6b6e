#include "drivers/postgres/pg_node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bug.h"

#define MILLISECOND_NS INT64_C(1000000)
#define SECOND_NS      INT64_C(1000000000)
#define CLEAR_NS       (10 * SECOND_NS)

#define LONGEST_STEP_NS (100 * MILLISECOND_NS)

enum { FIRST_SOCKET_PORT = 5432, PORT_TRIES = 5, PROCESSES_MOST = 1024 };

void rig_pg_node_init(struct rig_pg_node *node, struct rig_pg_site *site, uint32_t index)
{
    char *variables[RIG_PG_VARIABLES_MOST + 1];
    memcpy(variables, node->variables, sizeof variables);
    *node = (struct rig_pg_node){.site = site, .index = index};
    memcpy(node->variables, variables, sizeof variables);
    (void)snprintf(node->name, sizeof node->name, "pg-%u", index + 1);
    (void)snprintf(node->log_name, sizeof node->log_name, "%s.log", node->name);
    rig_pg_site_path(site, node->name, node->data);
}

void rig_pg_node_done(struct rig_pg_node *node)
{
    RIG_INVARIANT(rig_child_pid(&node->server) == 0);
    for (size_t i = 0; node->variables[i] != NULL; i++)
        free(node->variables[i]);
    memset(node->variables, 0, sizeof node->variables);
}

/* ---- asking ---- */

void rig_pg_node_socket(const struct rig_pg_node *node, struct rig_pg_endpoint *endpoint)
{
    *endpoint = (struct rig_pg_endpoint){{0}, {0}};
    (void)snprintf(endpoint->host, sizeof endpoint->host, "%s", node->site->folder);
    (void)snprintf(endpoint->port, sizeof endpoint->port, "%u", (unsigned)(uint16_t)atomic_load(&node->port));
}

enum rig_rc rig_pg_node_connect(const struct rig_pg_node *node, struct rig_pg_connection *connection,
                                struct rig_pg_waiter *waiter, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_pg_endpoint endpoint;
    rig_pg_node_socket(node, &endpoint);
    const struct rig_pg_target target = {
        .endpoint = &endpoint, .user = RIG_PG_SUPERUSER, .dbname = RIG_PG_SUPERUSER, .application = "rig control"};
    return rig_pg_connect(connection, &target, waiter, deadline_ns, err);
}

enum rig_rc rig_pg_node_ask(const struct rig_pg_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->env->core;
    struct rig_pg_connection connection;
    struct rig_pg_waiter waiter = {.core = core, .to_the_end = true};
    int64_t deadline_ns = core->now_ns() + timeout_ns;
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_node_connect(node, &connection, &waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_pg_query(&connection, sql, deadline_ns, &result, err);
    if (rc == RIG_OK && answer != NULL)
        (void)snprintf(answer, RIG_PG_ANSWER_BYTES, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    rig_pg_disconnect(&connection);
    return rc;
}

static void signal_path(const struct rig_pg_node *node, char path[static RIG_PG_FILE_BYTES + 32])
{
    (void)snprintf(path, RIG_PG_FILE_BYTES + 32, "%s/standby.signal", node->data);
}

bool rig_pg_node_is_standby(const struct rig_pg_node *node)
{
    char path[RIG_PG_FILE_BYTES + 32];
    signal_path(node, path);
    return access(path, F_OK) == 0;
}

enum rig_rc rig_pg_node_make_standby(const struct rig_pg_node *node, struct rig_err *err)
{
    char path[RIG_PG_FILE_BYTES + 32];
    signal_path(node, path);
    return rig_pg_site_write(node->site, path, O_CREAT, "", err);
}

/* ---- starting ---- */

/* A port that is free now; another process may take it before the server does, which is then tried again. */
static enum rig_rc free_port(int *port, struct rig_err *err)
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
    *port = ntohs(address.sin_port);
    return RIG_OK;
}

static enum rig_rc choose_port(struct rig_pg_node *node, bool another, struct rig_err *err)
{
    int port = FIRST_SOCKET_PORT + (int)node->index;
    if (!another && atomic_load(&node->port) != 0)
        return RIG_OK;
    enum rig_rc rc = node->site->tcp ? free_port(&port, err) : RIG_OK;
    if (rc == RIG_OK)
        atomic_store(&node->port, port);
    return rc;
}

static enum rig_rc launch(struct rig_pg_node *node, struct rig_err *err)
{
    char program[RIG_PG_PATH_BYTES + 32];
    char port[8];
    (void)snprintf(program, sizeof program, "%s/postgres", node->site->bin_dir);
    (void)snprintf(port, sizeof port, "%d", atomic_load(&node->port));
    const char *const arguments[] = {program, "-D", node->data, "-p", port, NULL};
    int output = rig_pg_site_log(node->site, node->log_name, err);
    if (output < 0)
        return RIG_E_CLUSTER;
    const struct rig_child_command command = {.arguments = arguments,
                                              .environment = (const char *const *)node->variables,
                                              .account = &node->site->account,
                                              .home = node->site->folder,
                                              .output = output,
                                              .death_signal = SIGQUIT};
    enum rig_rc rc = rig_child_start(node->site->children, &command, &node->server, err);
    (void)close(output);
    return rc;
}

static enum rig_rc await_answer(struct rig_pg_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_core *core = node->site->env->core;
    int64_t start_ns = core->now_ns();
    char tail[RIG_PG_TAIL_BYTES];
    for (;;) {
        struct rig_err attempt = {.rc = RIG_OK};
        if (rig_child_ended(&node->server)) {
            rig_pg_site_log_tail(node->site, node->log_name, tail);
            return rig_fail(err, RIG_E_CLUSTER, "%s ended while starting; %s ends: %s", node->name, node->log_name,
                            tail);
        }
        if (rig_pg_node_ask(node, "SELECT 1", SECOND_NS, NULL, &attempt) == RIG_OK)
            return RIG_OK;
        if (!always && core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was starting", node->name);
        if (core->now_ns() > deadline_ns) {
            rig_pg_site_log_tail(node->site, node->log_name, tail);
            return rig_fail(err, RIG_E_CLUSTER, "%s does not answer within start-timeout: %s; %s ends: %s", node->name,
                            attempt.text, node->log_name, tail);
        }
        /* Each question costs the server a process and its log two lines, also while it recovers for seconds. */
        int64_t step_ns = 5 * MILLISECOND_NS + (core->now_ns() - start_ns) / 8;
        const struct timespec step = {.tv_nsec = step_ns < LONGEST_STEP_NS ? step_ns : LONGEST_STEP_NS};
        (void)nanosleep(&step, NULL);
    }
}

bool rig_pg_node_runs(const struct rig_pg_node *node)
{
    return !rig_child_ended(&node->server);
}

enum rig_rc rig_pg_node_start(struct rig_pg_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    if (rig_pg_node_runs(node)) {
        /* It may be recovering from a crash, and give that up: then it is started like one that was down. */
        struct rig_err attempt = {.rc = RIG_OK};
        enum rig_rc answered = await_answer(node, always, deadline_ns, &attempt);
        if (answered == RIG_OK || rig_pg_node_runs(node))
            return answered == RIG_OK ? RIG_OK : rig_fail(err, answered, "%s", attempt.text);
    }
    /* What a server that ended by itself has left: processes that hold its shared memory would refuse the new one. */
    enum rig_rc rc = rig_pg_node_stop(node, RIG_NODE_KILL, err);
    for (int tries = 1; rc == RIG_OK; tries++) {
        struct rig_err attempt = {.rc = RIG_OK};
        rc = choose_port(node, tries > 1, &attempt);
        if (rc == RIG_OK)
            rc = launch(node, &attempt);
        if (rc == RIG_OK)
            rc = await_answer(node, always, deadline_ns, &attempt);
        if (rc == RIG_OK)
            return RIG_OK;
        (void)rig_pg_node_stop(node, RIG_NODE_IMMEDIATE, err);
        if (!node->site->tcp || tries == PORT_TRIES || strstr(attempt.text, "Address already in use") == NULL)
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    return rc;
}

enum rig_rc rig_pg_node_set_variable(struct rig_pg_node *node, const char *name, const char *value, struct rig_err *err)
{
    size_t length = strlen(name);
    size_t i = 0;
    while (node->variables[i] != NULL &&
           !(strncmp(node->variables[i], name, length) == 0 && node->variables[i][length] == '='))
        i++;
    if (i == RIG_PG_VARIABLES_MOST)
        return rig_fail(err, RIG_E_LIMIT, "%s: more than %d variables of the environment", node->name,
                        RIG_PG_VARIABLES_MOST);
    char *made = NULL;
    if (value != NULL) {
        size_t size = length + strlen(value) + 2;
        made = malloc(size);
        if (made == NULL)
            return rig_fail(err, RIG_E_LIMIT, "out of memory");
        (void)snprintf(made, size, "%s=%s", name, value);
    }
    bool known = node->variables[i] != NULL;
    free(node->variables[i]);
    node->variables[i] = made;
    /* No gaps: the list ends with its first NULL. */
    for (; known && made == NULL && i < RIG_PG_VARIABLES_MOST; i++)
        node->variables[i] = node->variables[i + 1];
    return RIG_OK;
}

/* ---- stopping ---- */

/*
 * A killed server leaves the segment behind by which another one would notice that it runs: for ever, unless a server
 * is started on the same data, and the system has but 4,096. Its key and number are in the seventh line of
 * postmaster.pid.
 */
static void remove_segment(const struct rig_pg_node *node)
{
    char path[RIG_PG_FILE_BYTES + 32];
    struct rig_buf text;
    struct rig_err none = {.rc = RIG_OK};
    struct shmid_ds segment;
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", node->data);
    rig_buf_init(&text, 4096);
    const char *line = rig_buf_read_file(&text, path, &none) == RIG_OK ? rig_buf_text(&text) : NULL;
    for (int before = 6; before > 0 && line != NULL; before--) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    char *end = NULL;
    unsigned long key = line == NULL ? 0 : strtoul(line, &end, 10);
    long id = key == 0 ? -1 : strtol(end, NULL, 10);
    if (id >= 0 && id <= INT_MAX && shmctl((int)id, IPC_STAT, &segment) == 0 &&
        (unsigned long)segment.shm_perm.__key == key && segment.shm_nattch == 0)
        (void)shmctl((int)id, IPC_RMID, NULL);
    rig_buf_done(&text);
}

void rig_pg_node_begin_stop(const struct rig_pg_node *node)
{
    pid_t pid = rig_child_pid(&node->server);
    if (pid <= 0)
        return;
    /* Not SIGKILL: on SIGQUIT the server takes its children, each in a session of its own, down with it. */
    (void)kill(pid, SIGQUIT);
    (void)kill(pid, SIGCONT);
}

/* Processes that a fault has stopped could not follow their server's orders. */
static void wake_all(const struct rig_pg_node *node)
{
    pid_t pids[PROCESSES_MOST];
    uint32_t count = rig_child_processes(&node->server, pids, PROCESSES_MOST);
    for (uint32_t i = 0; i < count && i < PROCESSES_MOST; i++)
        (void)kill(pids[i], SIGCONT);
}

enum rig_rc rig_pg_node_stop(struct rig_pg_node *node, enum rig_node_end how, struct rig_err *err)
{
    static const int signals[] = {SIGINT, SIGQUIT};
    const struct rig_core *core = node->site->env->core;
    size_t first = how == RIG_NODE_FAST ? 0 : how == RIG_NODE_IMMEDIATE ? 1 : 2;
    for (size_t i = first; i < 2 && rig_pg_node_runs(node); i++) {
        (void)kill(rig_child_pid(&node->server), signals[i]);
        wake_all(node);
        if (!rig_child_await(&node->server, node->site->options->stop_timeout_ns))
            core->log(1, "postgres", "%s did not end within stop-timeout of signal %d", node->name, signals[i]);
    }
    if (!rig_child_clear(&node->server, CLEAR_NS, NULL))
        return rig_fail(err, RIG_E_CLUSTER, "%s has processes that cannot be ended: they are stuck in the kernel",
                        node->name);
    remove_segment(node);
    return RIG_OK;
}
