#include "drivers/etcd/etcd_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/output_file.h"

enum { ARGUMENTS_MOST = 64, TAIL_BYTES = 500 };

static const int64_t ns_per_ms = 1000000;
static const int64_t ask_ns = 1000000000;

void rig_etcd_pause(void)
{
    const struct timespec time = {.tv_nsec = 20000000};
    (void)nanosleep(&time, NULL);
}

static void log_path(const struct rig_etcd_cluster *cluster, const struct rig_etcd_member *member, char *path,
                     size_t size)
{
    (void)snprintf(path, size, "%s/%s.log", cluster->env->log_dir, member->name);
}

/* The end of a member's log as one line, for an error. */
static void log_tail(const struct rig_etcd_cluster *cluster, const struct rig_etcd_member *member,
                     char line[static TAIL_BYTES])
{
    char path[4096];
    log_path(cluster, member, path, sizeof path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;
    if (fd >= 0) {
        (void)lseek(fd, -(off_t)(TAIL_BYTES - 1), SEEK_END); /* fails, harmlessly, on a shorter file */
        length = read(fd, line, TAIL_BYTES - 1);
        (void)close(fd);
    }
    line[length > 0 ? length : 0] = '\0';
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
    }
}

/* Arguments in one arena of text. */
struct arguments {
    char text[8192];
    size_t used;
    const char *at[ARGUMENTS_MOST + 1];
    size_t count;
    bool full;
};

static void add(struct arguments *arguments, const char *format, ...) RIG_PRINTF(2, 3);

static void add(struct arguments *arguments, const char *format, ...)
{
    const size_t room = sizeof arguments->text - arguments->used;
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(arguments->text + arguments->used, room, format, values);
    va_end(values);
    arguments->full = arguments->full || length < 0 || (size_t)length >= room || arguments->count == ARGUMENTS_MOST;
    if (arguments->full)
        return;
    arguments->at[arguments->count++] = arguments->text + arguments->used;
    arguments->used += (size_t)length + 1;
}

static void make_arguments(const struct rig_etcd_cluster *cluster, const struct rig_etcd_member *member,
                           struct arguments *arguments)
{
    char all[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const struct rig_etcd_member *other = &cluster->members[i];
        if (atomic_load(&other->left) && other != member)
            continue;
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s=http://127.0.0.1:%u",
                                   length == 0 ? "" : ",", other->name, other->announced_port);
    }
    const struct rig_etcd_options *options = cluster->options;
    add(arguments, "%s", cluster->program);
    add(arguments, "--name=%s", member->name);
    add(arguments, "--data-dir=%s/data", member->data);
    add(arguments, "--listen-client-urls=http://127.0.0.1:%u", member->client_port);
    add(arguments, "--advertise-client-urls=http://127.0.0.1:%u", member->client_port);
    add(arguments, "--listen-peer-urls=http://127.0.0.1:%u", member->peer_port);
    add(arguments, "--initial-advertise-peer-urls=http://127.0.0.1:%u", member->announced_port);
    add(arguments, "--initial-cluster=%s", all);
    add(arguments, "--initial-cluster-token=rig-%llx", (unsigned long long)cluster->env->seed);
    add(arguments, "--initial-cluster-state=%s", member->joins ? "existing" : "new");
    add(arguments, "--heartbeat-interval=%lld", (long long)(options->heartbeat_ns / ns_per_ms));
    add(arguments, "--election-timeout=%lld", (long long)(options->election_ns / ns_per_ms));
    add(arguments, "--logger=zap");
    add(arguments, "--log-outputs=stderr");
    for (size_t i = 0; i < options->settings.count; i++)
        add(arguments, "--%s", options->settings.at[i]);
}

void rig_etcd_tell_flags(const struct rig_etcd_cluster *cluster,
                         void (*tell)(void *context, const char *name, const char *value), void *context)
{
    static const char *const own[] = {"name",
                                      "data-dir",
                                      "listen-client-urls",
                                      "advertise-client-urls",
                                      "listen-peer-urls",
                                      "initial-advertise-peer-urls",
                                      "initial-cluster",
                                      "initial-cluster-token",
                                      "initial-cluster-state"};
    struct arguments arguments = {.used = 0};
    make_arguments(cluster, &cluster->members[0], &arguments);
    for (size_t i = 1; i < arguments.count; i++) {
        char name[128];
        const char *flag = arguments.at[i] + 2, *equals = strchr(flag, '=');
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(flag, "="), flag);
        bool is_own = false; /* of each member another */
        for (size_t j = 0; j < sizeof own / sizeof own[0]; j++)
            is_own = is_own || strcmp(own[j], name) == 0;
        if (!is_own)
            tell(context, name, equals == NULL ? "true" : equals + 1);
    }
}

enum rig_rc rig_etcd_launch(struct rig_etcd_cluster *cluster, struct rig_etcd_member *member, struct rig_err *err)
{
    struct arguments arguments = {.used = 0};
    char path[4096];
    make_arguments(cluster, member, &arguments);
    if (arguments.full)
        return rig_fail(err, RIG_E_LIMIT, "more settings than fit into a command line");
    log_path(cluster, member, path, sizeof path);
    const int output = rig_output_append(path);
    if (output < 0)
        return rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    const struct rig_child_command command = {
        .arguments = arguments.at,
        .account = &cluster->account,
        .home = member->data,
        .output = output,
        .death_signal = SIGKILL,
    };
    const enum rig_rc rc = rig_child_start(cluster->children, &command, &member->child, err);
    (void)close(output);
    return rc;
}

enum rig_rc rig_etcd_await_member(const struct rig_etcd_cluster *cluster, uint32_t node, bool leader,
                                  int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_core *core = cluster->env->core;
    const struct rig_etcd_member *member = &cluster->members[node];
    const struct rig_etcd_asked asked = rig_etcd_cluster_ask(cluster, node, ask_ns);
    char tail[TAIL_BYTES];
    for (;;) {
        struct rig_etcd_said said = {0};
        if (leader ? rig_etcd_say(&asked, &said, NULL) == RIG_OK && said.leader != 0 : rig_etcd_answers(&asked))
            return RIG_OK;
        if (rig_child_ended(&member->child)) {
            log_tail(cluster, member, tail);
            return rig_fail(err, RIG_E_CLUSTER, "%s ended while starting; its log ends: %s", member->name, tail);
        }
        if (core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was starting", member->name);
        if (core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_CLUSTER, "%s %s in time; see %s.log", member->name,
                            leader ? "knows no leader" : "does not answer", member->name);
        rig_etcd_pause();
    }
}
