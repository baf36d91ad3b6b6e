#include "drivers/local/command_launch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "drivers/local/local_machine.h"
#include "drivers/local/local_switch.h"

enum { CONNECT_MS = 1000, LINE_BYTES = 4096, NAME_BYTES = 64 };

/* ---- texts ---- */

/* The place of a text: the node that it is for, or RIG_NODES_MOST for clients. */
struct place {
    const struct rig_command_cluster *cluster;
    uint32_t node;
};

static uint16_t port_for(const struct place *place, const struct rig_command_placeholder *found, uint32_t node)
{
    const struct rig_command_cluster *cluster = place->cluster;
    const uint32_t port = (uint32_t)found->word - RIG_COMMAND_PORT;
    const struct rig_command_node *of = &cluster->nodes[node];
    if (place->node == RIG_NODES_MOST)
        return port == 0 ? of->client : of->ports[port];
    return found->node > 0 && port == cluster->peer_port ? of->announced : of->ports[port];
}

static enum rig_rc put(const void *context, const struct rig_command_placeholder *found, struct rig_buf *out,
                       struct rig_err *err)
{
    const struct place *place = context;
    const uint32_t own = place->node == RIG_NODES_MOST ? 0 : place->node;
    const uint32_t node = found->node > 0 ? found->node - 1 : own;
    const struct rig_command_node *of = &place->cluster->nodes[node];
    switch (found->word) {
    case RIG_COMMAND_NODE:
        rig_buf_add_text(out, of->node.name);
        break;
    case RIG_COMMAND_NUMBER:
        rig_buf_printf(out, "%u", node + 1);
        break;
    case RIG_COMMAND_HOST:
        rig_buf_add_text(out, "127.0.0.1");
        break;
    case RIG_COMMAND_PORT:
    case RIG_COMMAND_PORT2:
    case RIG_COMMAND_PORT3:
        rig_buf_printf(out, "%u", port_for(place, found, node));
        break;
    case RIG_COMMAND_ANNOUNCED:
        rig_buf_printf(out, "%u", place->node == RIG_NODES_MOST ? of->client : of->announced);
        break;
    case RIG_COMMAND_DATA:
        rig_buf_add_text(out, of->data);
        break;
    case RIG_COMMAND_DIR:
        rig_buf_add_text(out, of->node.data);
        break;
    case RIG_COMMAND_LOG:
        rig_buf_add_text(out, of->log);
        break;
    case RIG_COMMAND_PRIMARY: {
        const uint32_t primary = atomic_load(&place->cluster->primary);
        if (place->node == RIG_NODES_MOST || primary >= place->cluster->count)
            return rig_fail(err, RIG_E_PLAN, "{primary} stands in `cluster.local.follow` only: no node is the primary");
        rig_buf_printf(out, "%u", place->cluster->nodes[primary].announced);
        break;
    }
    case RIG_COMMAND_WORD_COUNT:
        break;
    }
    return RIG_OK;
}

/* The text for this place, on the heap; NULL on an error. */
static char *fill(const struct place *place, const char *text, struct rig_err *err)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    const enum rig_rc rc = rig_command_text_fill(text, put, place, &out, err);
    char *made = rc == RIG_OK ? strdup(rig_buf_text(&out)) : NULL;
    if (rc == RIG_OK && made == NULL)
        (void)rig_no_memory(err, "a command");
    rig_buf_done(&out);
    return made;
}

char *rig_command_client_text(const struct rig_command_cluster *cluster, const char *text, struct rig_err *err)
{
    const struct place clients = {cluster, RIG_NODES_MOST};
    return fill(&clients, text, err);
}

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* The first argument as an absolute path; a relative one is below the folder in which rig was started. */
static enum rig_rc find_program(const struct rig_account *account, char **name, struct rig_err *err)
{
    const char *const programs[] = {*name, NULL};
    char folder[PATH_MAX], path[2 * PATH_MAX];
    const bool is_path = strchr(*name, '/') != NULL;
    if ((*name)[0] == '/')
        return RIG_OK;
    if (is_path ? getcwd(folder, sizeof folder) == NULL
                : !rig_local_find_programs(programs, account, folder, sizeof folder))
        return rig_fail(err, RIG_E_PLAN,
                        "`cluster.local`: there is no program `%s` in PATH%s%s: install it, or give its absolute path",
                        *name, account->drop ? " that the node's user can reach, " : "",
                        account->drop ? account->name : "");
    (void)snprintf(path, sizeof path, "%s/%s", folder, *name);
    char *made = strdup(path);
    if (made == NULL)
        return rig_no_memory(err, "a command");
    free(*name);
    *name = made;
    return RIG_OK;
}

/* A command for the node, NULL-ended, on the heap. */
static enum rig_rc fill_command(const struct rig_command_cluster *cluster, uint32_t node,
                                const struct rig_text_list *command, char ***made, struct rig_err *err)
{
    const struct place place = {cluster, node};
    char **list = calloc(command->count + 1, sizeof *list);
    if (list == NULL)
        return rig_no_memory(err, "a command");
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < command->count && rc == RIG_OK; i++) {
        list[i] = fill(&place, command->at[i], err);
        rc = list[i] == NULL ? RIG_E_PLAN : RIG_OK;
    }
    if (rc == RIG_OK)
        rc = find_program(&cluster->site.account, &list[0], err);
    if (rc == RIG_OK)
        *made = list;
    else
        free_list(list);
    return rc;
}

/* ---- programs ---- */

enum rig_rc rig_command_prepare(struct rig_command_cluster *cluster, uint32_t node, int64_t deadline_ns,
                                struct rig_err *err)
{
    const struct rig_command_node *of = &cluster->nodes[node];
    const struct place place = {cluster, node};
    char log_name[NAME_BYTES];
    if (cluster->options->prepare == NULL)
        return RIG_OK;
    char *text = fill(&place, cluster->options->prepare, err);
    if (text == NULL)
        return RIG_E_PLAN;
    const char *const arguments[] = {"/bin/sh", "-e", "-c", text, NULL};
    (void)snprintf(log_name, sizeof log_name, RIG_RUN_LOG_OF_PREPARE, of->node.name);
    const struct rig_local_program program = {.arguments = arguments,
                                              .environment = cluster->environment,
                                              .home = of->data,
                                              .log_name = log_name,
                                              .deadline_ns = deadline_ns};
    struct rig_err own = {0};
    enum rig_rc rc = rig_local_run_program(&cluster->site, &program, &own);
    free(text);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "`cluster.local.prepare` of %s: %s", of->node.name, own.text);
}

enum rig_rc rig_command_ask(struct rig_command_cluster *cluster, uint32_t node, const struct rig_text_list *command,
                            int64_t deadline_ns, char *line, size_t size, struct rig_err *err)
{
    char **arguments = NULL;
    char unused[LINE_BYTES];
    const enum rig_rc rc = fill_command(cluster, node, command, &arguments, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_local_program program = {.arguments = (const char *const *)arguments,
                                              .environment = cluster->environment,
                                              .home = cluster->nodes[node].data,
                                              .line = line == NULL ? unused : line,
                                              .line_size = line == NULL ? sizeof unused : size,
                                              .always = true,
                                              .deadline_ns = deadline_ns};
    const enum rig_rc ran = rig_local_run_program(&cluster->site, &program, err);
    free_list(arguments);
    return ran;
}

/* ---- logs ---- */

static void output_name(const struct rig_command_node *of, char name[static NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, RIG_RUN_LOG_OF_NODE, of->node.name);
}

static void output_path(const struct rig_command_cluster *cluster, uint32_t node, char path[static PATH_MAX])
{
    char name[NAME_BYTES];
    output_name(&cluster->nodes[node], name);
    (void)snprintf(path, PATH_MAX, "%s/%s", cluster->site.env->log_dir, name);
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : 0;
}

void rig_command_keep_log(const struct rig_command_cluster *cluster, uint32_t node)
{
    const struct rig_command_node *of = &cluster->nodes[node];
    char path[PATH_MAX], bytes[16384];
    ssize_t got = 0;
    if (of->log[0] == '\0' || size_of(of->log) == 0)
        return;
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_LOG_OF_SERVER, cluster->site.env->log_dir, of->node.name);
    /* The account owns the file: a link in its place is not followed. */
    const int from = open(of->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const int to = from < 0 ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    while (to >= 0 && (got = read(from, bytes, sizeof bytes)) > 0 && write(to, bytes, (size_t)got) == got)
        ;
    if (from >= 0)
        (void)close(from);
    if (to >= 0)
        (void)close(to);
}

void rig_command_log_tail(const struct rig_command_cluster *cluster, uint32_t node,
                          char line[static RIG_LOCAL_TAIL_BYTES])
{
    char name[NAME_BYTES];
    output_name(&cluster->nodes[node], name);
    rig_local_log_tail(cluster->site.env, name, line);
    if (line[0] != '\0')
        return;
    (void)snprintf(name, sizeof name, RIG_RUN_LOG_OF_SERVER, cluster->nodes[node].node.name);
    rig_local_log_tail(cluster->site.env, name, line);
}

/* ---- starting ---- */

enum rig_rc rig_command_launch(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err)
{
    struct rig_command_node *of = &cluster->nodes[node];
    char path[PATH_MAX];
    char **arguments = NULL;
    enum rig_rc rc = fill_command(cluster, node, &cluster->options->command, &arguments, err);
    if (rc != RIG_OK)
        return rc;
    output_path(cluster, node, path);
    of->output_from = size_of(path);
    of->log_from = size_of(of->log);
    rc = rig_local_node_launch(&of->node, (const char *const *)arguments, of->data, err);
    free_list(arguments);
    return rc;
}

/* Whether a line of the file matches, from `from` on. */
static bool file_matches(const char *path, off_t from, const regex_t *pattern)
{
    char line[LINE_BYTES];
    bool matches = false;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    (void)fseeko(file, from, SEEK_SET);
    while (!matches && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        matches = regexec(pattern, line, 0, NULL, 0) == 0;
    }
    (void)fclose(file);
    return matches;
}

static bool accepts(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    int error = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    socklen_t size = sizeof error;
    if (error == EINPROGRESS &&
        (poll(&polled, 1, CONNECT_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0))
        error = ETIMEDOUT;
    (void)close(fd);
    return error == 0;
}

/* A server that another program has left on the port does not count. */
static bool port_answers(const struct rig_command_node *of, struct rig_err *why)
{
    if (!accepts(of->ports[0])) {
        (void)rig_fail(why, RIG_E_CLUSTER, "nothing accepts a connection on its port %u", of->ports[0]);
        return false;
    }
    if (rig_local_socket_listens(&of->node.server, of->ports[0]))
        return true;
    (void)rig_fail(why, RIG_E_CLUSTER, "another program listens on its port %u (address already in use)", of->ports[0]);
    return false;
}

bool rig_command_answers(struct rig_command_cluster *cluster, uint32_t node, int64_t deadline_ns, struct rig_err *why)
{
    const struct rig_command_options *options = cluster->options;
    if (options->ready_port && !port_answers(&cluster->nodes[node], why))
        return false;
    return options->ready_command.count == 0 ||
           rig_command_ask(cluster, node, &options->ready_command, deadline_ns, NULL, 0, why) == RIG_OK;
}

struct question {
    struct rig_command_cluster *cluster;
    uint32_t node;
    bool matched; /* its log */
};

static bool is_ready(void *context, struct rig_err *why)
{
    struct question *question = context;
    const struct rig_command_cluster *cluster = question->cluster;
    const struct rig_command_node *of = &cluster->nodes[question->node];
    char path[PATH_MAX];
    output_path(cluster, question->node, path);
    if (cluster->has_ready && !question->matched)
        question->matched = file_matches(path, of->output_from, &cluster->ready) ||
                            file_matches(of->log, of->log_from, &cluster->ready);
    if (cluster->has_ready && !question->matched) {
        (void)rig_fail(why, RIG_E_CLUSTER, "no line of its output matches `%.100s` (cluster.local.ready.log)",
                       cluster->options->ready_log);
        return false;
    }
    return rig_command_answers(question->cluster, question->node,
                               cluster->site.env->core->now_ns() + cluster->options->command_timeout_ns, why);
}

enum rig_rc rig_command_await(struct rig_command_cluster *cluster, uint32_t node, bool always, int64_t deadline_ns,
                              struct rig_err *err)
{
    struct question question = {.cluster = cluster, .node = node};
    const struct rig_local_wait wait = {
        .answers = is_ready, .context = &question, .always = always, .deadline_ns = deadline_ns};
    const enum rig_rc rc = rig_local_node_await(&cluster->nodes[node].node, &wait, err);
    if (rc != RIG_OK)
        rig_command_keep_log(cluster, node);
    return rc;
}
