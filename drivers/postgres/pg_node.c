#include "drivers/postgres/pg_node.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/buf.h"
#include "drivers/local/local_machine.h"

#define SECOND_NS INT64_C(1000000000)

enum { FIRST_SOCKET_PORT = 5432, ASIDE_SOCKET_PORT = 5431, PORT_TRIES = 5, FILE_BYTES = RIG_LOCAL_PATH_BYTES + 32 };

void rig_pg_node_init(struct rig_pg_node *node, struct rig_pg_site *site, uint32_t index)
{
    rig_local_node_init(&node->local, &site->local, index);
    node->site = site;
    node->index = index;
    atomic_store(&node->port, 0);
}

void rig_pg_node_init_aside(struct rig_pg_node *aside, const struct rig_pg_node *node)
{
    rig_pg_node_init(aside, node->site, node->index);
    aside->aside = true;
    atomic_store(&aside->port, ASIDE_SOCKET_PORT);
}

/* ---- requests ---- */

void rig_pg_node_socket(const struct rig_pg_node *node, struct rig_sql_endpoint *endpoint)
{
    *endpoint = (struct rig_sql_endpoint){{0}, {0}};
    (void)snprintf(endpoint->host, sizeof endpoint->host, "%s", node->site->local.folder);
    (void)snprintf(endpoint->port, sizeof endpoint->port, "%u", (unsigned)(uint16_t)atomic_load(&node->port));
}

enum rig_rc rig_pg_node_connect(const struct rig_pg_node *node, struct rig_pg_connection *connection,
                                struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_sql_endpoint endpoint;
    rig_pg_node_socket(node, &endpoint);
    const struct rig_pg_target target = {
        .endpoint = &endpoint, .user = RIG_PG_SUPERUSER, .dbname = RIG_PG_SUPERUSER, .application = "rig control"};
    return rig_pg_connect(connection, &target, waiter, deadline_ns, err);
}

enum rig_rc rig_pg_node_ask(const struct rig_pg_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    struct rig_pg_connection connection;
    struct rig_sql_waiter waiter = {.core = core, .to_the_end = true};
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

static void signal_path(const struct rig_pg_node *node, char path[static FILE_BYTES])
{
    (void)snprintf(path, FILE_BYTES, "%s/standby.signal", node->local.data);
}

bool rig_pg_node_is_standby(const struct rig_pg_node *node)
{
    char path[FILE_BYTES];
    signal_path(node, path);
    return access(path, F_OK) == 0;
}

enum rig_rc rig_pg_node_make_standby(const struct rig_pg_node *node, struct rig_err *err)
{
    char path[FILE_BYTES];
    signal_path(node, path);
    return rig_local_write(&node->site->local, path, O_CREAT, "", err);
}

/* ---- starting ---- */

static enum rig_rc choose_port(struct rig_pg_node *node, bool another, struct rig_err *err)
{
    uint16_t port = (uint16_t)(FIRST_SOCKET_PORT + node->index);
    if (!another && atomic_load(&node->port) != 0)
        return RIG_OK;
    enum rig_rc rc = node->site->tcp ? rig_local_free_ports(&port, 1, err) : RIG_OK;
    if (rc == RIG_OK)
        atomic_store(&node->port, port);
    return rc;
}

static enum rig_rc launch(struct rig_pg_node *node, struct rig_err *err)
{
    char program[RIG_PG_PATH_BYTES + 32];
    char port[8];
    (void)snprintf(program, sizeof program, "%s/postgres", node->site->bin_dir);
    (void)snprintf(port, sizeof port, "%u", (unsigned)(uint16_t)atomic_load(&node->port));
    const char *const arguments[] = {
        program, "-D", node->local.data, "-p", port, node->aside ? "-c" : NULL, "listen_addresses=", NULL};
    return rig_local_node_launch(&node->local, arguments, node->site->local.folder, err);
}

static bool answers(void *context, struct rig_err *why)
{
    return rig_pg_node_ask(context, "SELECT 1", SECOND_NS, NULL, why) == RIG_OK;
}

static enum rig_rc await_answer(struct rig_pg_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_local_wait wait = {
        .answers = answers, .context = node, .always = always, .deadline_ns = deadline_ns};
    return rig_local_node_await(&node->local, &wait, err);
}

enum rig_rc rig_pg_node_start(struct rig_pg_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    if (rig_local_node_runs(&node->local)) {
        /* It may be recovering from a crash, and fail at that: then it is started like a node that was down. */
        struct rig_err attempt = {.rc = RIG_OK};
        enum rig_rc answered = await_answer(node, always, deadline_ns, &attempt);
        if (answered == RIG_OK || rig_local_node_runs(&node->local))
            return answered == RIG_OK ? RIG_OK : rig_fail(err, answered, "%s", attempt.text);
    }
    /* Removes the remains of a server that ended by itself: processes that hold its shared memory would refuse the new
     * one. */
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
        if (node->aside || !node->site->tcp || tries == PORT_TRIES || !rig_local_port_was_taken(&attempt))
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    return rc;
}

/* ---- stopping ---- */

/*
 * A killed server leaves a shared memory segment, by which another server would notice that it runs. The segment stays
 * until a server is started on the same data, and the system allows only 4,096. Its key and number are in the seventh
 * line of postmaster.pid.
 */
static void remove_segment(const struct rig_pg_node *node)
{
    char path[FILE_BYTES];
    struct rig_buf text;
    struct rig_err none = {.rc = RIG_OK};
    struct shmid_ds segment;
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", node->local.data);
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

enum rig_rc rig_pg_node_stop(struct rig_pg_node *node, enum rig_node_end how, struct rig_err *err)
{
    enum rig_rc rc = rig_local_node_stop(&node->local, how, node->site->options->sql.stop_timeout_ns, err);
    if (rc == RIG_OK)
        remove_segment(node);
    return rc;
}
