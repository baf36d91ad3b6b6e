#include "drivers/etcd/etcd_launch.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { ARGUMENTS_MOST = 64 };

static const int64_t ask_ns = RIG_NS_PER_S;
static const int64_t step_ns = 20 * RIG_NS_PER_MS;

void rig_etcd_pause(void)
{
    rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
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
                                   length == 0 ? "" : ",", other->node.name, other->announced_port);
    }
    const struct rig_etcd_options *options = cluster->options;
    add(arguments, "%s", cluster->program);
    add(arguments, "--name=%s", member->node.name);
    add(arguments, "--data-dir=%s/data", member->node.data);
    add(arguments, "--listen-client-urls=http://127.0.0.1:%u", member->client_port);
    add(arguments, "--advertise-client-urls=http://127.0.0.1:%u", member->client_port);
    add(arguments, "--listen-peer-urls=http://127.0.0.1:%u", member->peer_port);
    add(arguments, "--initial-advertise-peer-urls=http://127.0.0.1:%u", member->announced_port);
    add(arguments, "--initial-cluster=%s", all);
    add(arguments, "--initial-cluster-token=rig-%llx", (unsigned long long)cluster->site.env->seed);
    add(arguments, "--initial-cluster-state=%s", member->joins ? "existing" : "new");
    add(arguments, "--heartbeat-interval=%lld", (long long)(options->heartbeat_ns / RIG_NS_PER_MS));
    add(arguments, "--election-timeout=%lld", (long long)(options->election_ns / RIG_NS_PER_MS));
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
    make_arguments(cluster, member, &arguments);
    if (arguments.full)
        return rig_fail(err, RIG_E_LIMIT, "too many settings for a command line");
    return rig_local_node_launch(&member->node, arguments.at, member->node.data, err);
}

struct question {
    struct rig_etcd_asked asked;
    bool leader;
};

static bool answers(void *context, struct rig_err *why)
{
    const struct question *question = context;
    struct rig_etcd_said said = {0};
    if (!question->leader)
        return rig_etcd_answers(&question->asked) || rig_fail(why, RIG_E_CLUSTER, "it does not listen") == RIG_OK;
    if (rig_etcd_say(&question->asked, &said, why) != RIG_OK)
        return false;
    return said.leader != 0 || rig_fail(why, RIG_E_CLUSTER, "it knows no leader") == RIG_OK;
}

enum rig_rc rig_etcd_await_member(const struct rig_etcd_cluster *cluster, uint32_t node, bool leader, bool always,
                                  int64_t deadline_ns, struct rig_err *err)
{
    struct question question = {rig_etcd_cluster_ask(cluster, node, ask_ns), leader};
    const struct rig_local_wait wait = {
        .answers = answers, .context = &question, .always = always, .deadline_ns = deadline_ns};
    return rig_local_node_await(&cluster->members[node].node, &wait, err);
}
