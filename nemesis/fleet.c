#include "nemesis/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "nemesis/command.h"
#include "base/process.h"
#include "nemesis/targets.h"

static const int64_t health_step_ns = 50 * RIG_NS_PER_MS;

static bool is_one_of(const char *const *names, const char *name)
{
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0)
            return true;
    }
    return false;
}

bool rig_fleet_role_is(const char *role, const char *wanted)
{
    static const char *const primaries[] = {"primary", "leader", "master", NULL};
    static const char *const standbys[] = {"standby", "follower", "replica", "secondary", NULL};
    return strcmp(role, wanted) == 0 || (is_one_of(primaries, role) && is_one_of(primaries, wanted)) ||
           (is_one_of(standbys, role) && is_one_of(standbys, wanted));
}

static uint32_t cluster_count(const struct rig_fleet *fleet)
{
    const struct rig_cluster_ops *cluster = fleet->cluster;
    return cluster == NULL || cluster->node_count == NULL || cluster->status == NULL ? 0
                                                                                     : cluster->node_count(fleet->run);
}

const char *rig_fleet_target(const struct rig_nemesis_entry *entry)
{
    return entry->schedule.target != NULL ? entry->schedule.target
           : entry->fault->target != NULL ? entry->fault->target
                                          : "one";
}

static bool tells_roles(const struct rig_fleet *fleet, const struct rig_node_status *nodes)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (nodes[i].role[0] != '\0' || fleet->plan->nodes[i].commands.role.count > 0)
            return true;
    }
    return false;
}

/* For nodes that rig did not start. Without it the run would search for a target and find none. */
static enum rig_rc check_roles(const struct rig_fleet *fleet, const struct rig_node_status *nodes, struct rig_err *err)
{
    for (uint32_t i = 0; fleet->count > 0 && i < fleet->plan->entry_count; i++) {
        const struct rig_nemesis_entry *entry = &fleet->plan->entries[i];
        const char *target = rig_fleet_target(entry);
        if (rig_targets_need_roles(target, nodes, fleet->count) && !tells_roles(fleet, nodes))
            return rig_fail(err, RIG_E_CLUSTER,
                            "nemesis: %s: no source for the role of `%s`: give nemesis.nodes.%s.role, a command that "
                            "prints the node's role, or name the nodes as database.cluster.hosts does",
                            entry->fault->name, target, fleet->names[0]);
    }
    return RIG_OK;
}

/* -- addresses ----------------------------------------------------------------------------------------------------- */

/* "host:port", as a name may have it. */
static void parse_address(const char *name, struct rig_node_address *address)
{
    const char *colon = strrchr(name, ':');
    char *end = NULL;
    const unsigned long port = colon == NULL || colon[1] < '0' || colon[1] > '9' ? 0 : strtoul(colon + 1, &end, 10);
    if (port == 0 || port > UINT16_MAX || *end != '\0' || colon == name)
        return;
    const bool bracketed = name[0] == '[' && colon[-1] == ']';
    const char *host = bracketed ? name + 1 : name;
    const size_t length = (size_t)(colon - host) - (bracketed ? 1 : 0);
    char *to = name[0] == '/' ? address->socket : address->host;
    (void)snprintf(to, sizeof address->host, "%.*s", (int)length, host);
    address->port = (uint16_t)port;
}

/* Whether a node of the plan is the host at this address: it has its name, with or without the port. */
static bool is_at(const char *name, const struct rig_node_address *address)
{
    struct rig_node_address named = {.host = ""};
    const char *there = address->host[0] == '\0' ? address->socket : address->host;
    parse_address(name, &named);
    const char *host = named.host[0] == '\0' ? named.socket : named.host;
    return strcmp(name, there) == 0 || (strcmp(host, there) == 0 && named.port == address->port);
}

/* By the driver, for the plan's hosts; two of them with one name and no ports stay unknown. Otherwise by the node's
 * name. */
static void find_planned(struct rig_fleet *fleet, uint32_t node)
{
    const struct rig_cluster_ops *cluster = fleet->cluster;
    struct rig_node_address *address = &fleet->planned[node];
    uint32_t fitting = 0;
    const uint32_t hosts = cluster == NULL || cluster->address == NULL ? 0 : cluster_count(fleet);
    for (uint32_t i = 0; i < hosts; i++) {
        struct rig_node_address found = {.host = ""};
        if (cluster->address(fleet->run, i, &found, NULL) == RIG_OK && is_at(fleet->names[node], &found)) {
            *address = found;
            fitting++;
        }
    }
    if (fitting > 1)
        *address = (struct rig_node_address){.host = ""};
    if (fitting == 0)
        parse_address(fleet->names[node], address);
}

/* Its commands may run at once, for its status. */
static enum rig_rc init_planned(struct rig_fleet *fleet, uint32_t node, struct rig_err *err)
{
    const struct rig_nemesis_node *planned = &fleet->plan->nodes[node];
    (void)snprintf(fleet->names[node], sizeof fleet->names[node], "%s", planned->name);
    find_planned(fleet, node);
    struct rig_place place;
    rig_fleet_place(fleet, node, &place);
    enum rig_rc rc = RIG_OK;
    struct rig_err own = {0};
    for (const struct rig_option *option = rig_nemesis_node_table; option->name != NULL && rc == RIG_OK; option++)
        rc = rig_placeholder_require(rig_nemesis_command(option, &planned->commands), &place, &own);
    return rc == RIG_OK ? RIG_OK
                        : rig_fail(err, rc,
                                   "nemesis: %s; rig did not start it: name it `host:port`, as in "
                                   "database.cluster.hosts",
                                   own.text);
}

/* Whether any node has the values that the commands of a fault name: if none has them, the error comes before the
 * load. */
static enum rig_rc check_fault(const struct rig_fleet *fleet, const struct rig_nemesis_entry *entry,
                               struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    const struct rig_option *option = entry->options == NULL ? NULL : entry->fault->options;
    for (; option != NULL && option->name != NULL; option++) {
        struct rig_err own = {0};
        rc = RIG_OK;
        for (uint32_t i = 0; i < fleet->count && option->type == RIG_OPTION_COMMAND; i++) {
            struct rig_place place;
            rig_fleet_place(fleet, i, &place);
            rc = rig_placeholder_require(rig_nemesis_command(option, entry->options), &place, &own);
            if (rc == RIG_OK)
                break;
        }
        if (rc != RIG_OK)
            return rig_fail(err, rc, "nemesis: %s: `%s`: %s", entry->fault->name, option->name, own.text);
    }
    return RIG_OK;
}

static enum rig_rc check_faults(const struct rig_fleet *fleet, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < fleet->plan->entry_count && rc == RIG_OK; i++)
        rc = check_fault(fleet, &fleet->plan->entries[i], err);
    return rc;
}

static pid_t main_process(const struct rig_fleet *fleet, uint32_t node)
{
    struct rig_process process;
    pid_t pid = 0;
    if (!fleet->started || fleet->cluster->processes == NULL || fleet->cluster->status == NULL)
        return 0;
    return fleet->cluster->processes(fleet->run, node, &pid, 1) > 0 && rig_process_find(pid, &process) ? pid : 0;
}

static struct rig_node_address address_of(const struct rig_fleet *fleet, uint32_t node)
{
    struct rig_node_address address = {.host = ""};
    if (!fleet->started)
        return fleet->planned[node];
    if (fleet->cluster->address != NULL)
        (void)fleet->cluster->address(fleet->run, node, &address, NULL);
    return address;
}

void rig_fleet_place(const struct rig_fleet *fleet, uint32_t node, struct rig_place *place)
{
    RIG_REQUIRE(node < fleet->count);
    const struct rig_node_address address = address_of(fleet, node);
    const bool has_data = fleet->started && fleet->cluster->data_dir != NULL;
    const char *data = has_data ? fleet->cluster->data_dir(fleet->run, node) : NULL;
    const pid_t pid = main_process(fleet, node);
    *place = (struct rig_place){.at = {""}};
    (void)snprintf(place->at[RIG_PLACEHOLDER_NODE], RIG_PLACE_BYTES, "%s", fleet->names[node]);
    (void)snprintf(place->at[RIG_PLACEHOLDER_HOST], RIG_PLACE_BYTES, "%s", address.host);
    (void)snprintf(place->at[RIG_PLACEHOLDER_SOCKET], RIG_PLACE_BYTES, "%s", address.socket);
    if (data != NULL && strlen(data) < RIG_PLACE_BYTES)
        (void)snprintf(place->at[RIG_PLACEHOLDER_DATA], RIG_PLACE_BYTES, "%s", data);
    (void)snprintf(place->at[RIG_PLACEHOLDER_RUN], RIG_PLACE_BYTES, "%s",
                   fleet->run_name == NULL ? "" : fleet->run_name);
    if (address.port != 0)
        (void)snprintf(place->at[RIG_PLACEHOLDER_PORT], RIG_PLACE_BYTES, "%u", address.port);
    if (pid > 0)
        (void)snprintf(place->at[RIG_PLACEHOLDER_PID], RIG_PLACE_BYTES, "%ld", (long)pid);
}

enum rig_rc rig_fleet_init(struct rig_fleet *fleet, struct rig_err *err)
{
    const bool started = fleet->started;
    fleet->count = started ? cluster_count(fleet) : fleet->plan->node_count;
    if (fleet->count > RIG_NODES_MOST)
        return rig_fail(err, RIG_E_CLUSTER, "nemesis: there are %u nodes; faults support at most %d", fleet->count,
                        (int)RIG_NODES_MOST);
    struct rig_node_status nodes[RIG_NODES_MOST];
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < fleet->count && rc == RIG_OK; i++) {
        if (!started)
            rc = init_planned(fleet, i, err);
        if (rc != RIG_OK)
            return rc;
        rig_fleet_status(fleet, i, &nodes[i]);
        if (started)
            (void)snprintf(fleet->names[i], sizeof fleet->names[i], "%.31s", nodes[i].name);
    }
    if (!started)
        rc = check_roles(fleet, nodes, err);
    return rc == RIG_OK ? check_faults(fleet, err) : rc;
}

/* -- status -------------------------------------------------------------------------------------------------------- */

static void ask_driver(const struct rig_fleet *fleet, uint32_t node, struct rig_node_status *status)
{
    struct rig_node_status found = {.name = ""};
    if (fleet->cluster->status(fleet->run, node, &found, NULL) == RIG_OK)
        *status = found;
}

/* A user's node: the driver's knowledge of a node with its name, then the results of the plan's own commands. */
static void ask_commands(const struct rig_fleet *fleet, uint32_t node, struct rig_node_status *status)
{
    const struct rig_nemesis_node *planned = &fleet->plan->nodes[node];
    const int64_t timeout_ns = fleet->plan->options.command_ns;
    status->reachable = true;
    status->healthy = true;
    for (uint32_t i = 0; i < cluster_count(fleet); i++) {
        struct rig_node_status found = {.name = ""};
        if (fleet->cluster->status(fleet->run, i, &found, NULL) == RIG_OK && strcmp(found.name, planned->name) == 0)
            *status = found;
    }
    struct rig_command_answer answer = {.status = 0};
    struct rig_place place;
    rig_fleet_place(fleet, node, &place);
    struct rig_command command = {.arguments = planned->commands.role, .place = &place, .timeout_ns = timeout_ns};
    if (command.arguments.count > 0 && rig_command_run(&command, &answer, NULL) == RIG_OK && answer.status == 0)
        (void)snprintf(status->role, sizeof status->role, "%.15s", answer.line);
    command.arguments = planned->commands.check;
    if (command.arguments.count == 0)
        return;
    status->healthy = rig_command_run(&command, &answer, NULL) == RIG_OK && answer.status == 0;
    status->reachable = status->healthy;
    (void)snprintf(status->detail, sizeof status->detail, "%.127s", answer.line);
}

void rig_fleet_status(struct rig_fleet *fleet, uint32_t node, struct rig_node_status *status)
{
    RIG_REQUIRE(node < fleet->count);
    *status = (struct rig_node_status){.name = ""};
    if (fleet->started)
        ask_driver(fleet, node, status);
    else
        ask_commands(fleet, node, status);
    if (status->name[0] == '\0')
        (void)snprintf(status->name, sizeof status->name, "%s", fleet->names[node]);
}

/* -- actions on nodes ---------------------------------------------------------------------------------------------- */

const struct rig_nemesis_node_options *rig_fleet_commands(const struct rig_fleet *fleet, uint32_t node)
{
    RIG_REQUIRE(node < fleet->count);
    return fleet->started ? NULL : &fleet->plan->nodes[node].commands;
}

enum rig_rc rig_fleet_command(struct rig_fleet *fleet, uint32_t node, const struct rig_text_list *command,
                              const char *key, struct rig_err *err)
{
    if (command->count == 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: the plan has no command for this: give nemesis.nodes.%s.%s",
                        fleet->names[node], fleet->names[node], key);
    struct rig_place place;
    rig_fleet_place(fleet, node, &place);
    const struct rig_command run = {
        .arguments = *command, .place = &place, .timeout_ns = fleet->plan->options.command_ns};
    struct rig_command_answer answer;
    struct rig_err own = {0};
    const enum rig_rc rc = rig_command_succeed(&run, &answer, &own);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s: `%s`: %s", fleet->names[node], key, own.text);
}

enum rig_rc rig_fleet_stop_node(struct rig_fleet *fleet, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
    if (commands == NULL)
        return fleet->cluster->stop_node(fleet->run, node, how, err);
    if (how == RIG_NODE_FAST && commands->stop.count > 0)
        return rig_fleet_command(fleet, node, &commands->stop, "stop", err);
    return rig_fleet_command(fleet, node, &commands->kill, "kill", err);
}

/* The success of a start command does not prove that the node is up. */
static enum rig_rc await_check(struct rig_fleet *fleet, uint32_t node, struct rig_err *err)
{
    const int64_t until_ns = rig_clock_now_ns() + fleet->plan->options.recover_ns;
    struct rig_node_status status;
    rig_fleet_status(fleet, node, &status);
    while (!status.reachable && rig_clock_now_ns() < until_ns && (fleet->stopping == NULL || !fleet->stopping())) {
        rig_clock_sleep_until_ns(rig_clock_now_ns() + health_step_ns);
        rig_fleet_status(fleet, node, &status);
    }
    return status.reachable ? RIG_OK
                            : rig_fail(err, RIG_E_CLUSTER, "%s: `start` succeeded, and the node's `check` fails: %s",
                                       fleet->names[node], status.detail);
}

enum rig_rc rig_fleet_start_node(struct rig_fleet *fleet, uint32_t node, struct rig_err *err)
{
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
    if (commands == NULL)
        return fleet->cluster->start_node(fleet->run, node, err);
    const enum rig_rc rc = rig_fleet_command(fleet, node, &commands->start, "start", err);
    return rc == RIG_OK ? await_check(fleet, node, err) : rc;
}

enum rig_rc rig_fleet_promote(struct rig_fleet *fleet, uint32_t node, struct rig_err *err)
{
    const struct rig_nemesis_node_options *commands = rig_fleet_commands(fleet, node);
    return commands == NULL ? fleet->cluster->promote(fleet->run, node, err)
                            : rig_fleet_command(fleet, node, &commands->promote, "promote", err);
}

enum rig_rc rig_fleet_restore(struct rig_fleet *fleet, struct rig_err *err)
{
    if (fleet->started)
        return fleet->cluster->restore == NULL ? RIG_OK : fleet->cluster->restore(fleet->run, err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct rig_text_list *restore = &fleet->plan->nodes[i].commands.restore;
        const enum rig_rc one = restore->count == 0 ? RIG_OK : rig_fleet_command(fleet, i, restore, "restore", err);
        rc = rc == RIG_OK ? one : rc;
    }
    return rc;
}

pid_t rig_fleet_main_process(struct rig_fleet *fleet, uint32_t node)
{
    if (!fleet->started)
        return 0;
    struct rig_node_status status;
    rig_fleet_status(fleet, node, &status);
    return status.pid;
}

/* -- health -------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_fleet_await_health(struct rig_fleet *fleet, int64_t timeout_ns, struct rig_err *err)
{
    const int64_t until_ns = rig_clock_now_ns() + timeout_ns;
    for (uint32_t i = 0; i < fleet->count;) {
        struct rig_node_status status;
        rig_fleet_status(fleet, i, &status);
        if (status.healthy) {
            i++;
            continue;
        }
        const int64_t now_ns = rig_clock_now_ns();
        if (now_ns >= until_ns)
            return rig_fail(err, RIG_E_CLUSTER,
                            "%s is not healthy after all faults were healed: %s; see its log, or increase "
                            "nemesis.recover",
                            status.name,
                            status.detail[0] != '\0' ? status.detail
                            : status.reachable       ? "it answers, but has not caught up"
                                                     : "it does not answer");
        if (fleet->stopping != NULL && fleet->stopping())
            return RIG_OK;
        rig_clock_sleep_until_ns(now_ns + health_step_ns);
    }
    return RIG_OK;
}
