/*
 * The options of a cluster whose servers are started by a command of the plan: one table for every driver that has such
 * clusters.
 */
#ifndef RIG_DRIVERS_LOCAL_COMMAND_OPTIONS_H
#define RIG_DRIVERS_LOCAL_COMMAND_OPTIONS_H

#include "base/err.h"
#include "base/option.h"
#include "drivers/fault.h"

struct rig_command_options {
    struct rig_text_list command; /* empty: rig starts no server */
    int64_t nodes;
    const char *prepare; /* NULL: nothing */
    bool ready_port;
    const char *ready_log; /* NULL: not asked for */
    struct rig_text_list ready_command;
    int64_t stop_signal; /* index in rig_command_signal_names */
    int64_t start_timeout_ns;
    int64_t stop_timeout_ns;
    int64_t command_timeout_ns;
    struct rig_text_list environment;
    const char *run_as;
    bool restart;
    struct rig_text_list roles, promote, follow;
};

extern const char *const rig_command_signal_names[];
/* The number of the signal that asks a server to end. */
int rig_command_stop_signal(const struct rig_command_options *options);

/* The rows of a driver's table: `owner` is its options object, `member` the struct rig_command_options in it. */
#define RIG_COMMAND_OFFSET(owner, member, field) RIG_OPTION_WITHIN(owner, member, struct rig_command_options, field)
/* clang-format off */
#define RIG_COMMAND_OPTION_ROWS(owner, member)                                                                         \
    {.name = "cluster.local.command", .type = RIG_OPTION_COMMAND, .offset = RIG_COMMAND_OFFSET(owner, member, command), \
     .help = "starts a server in the foreground, as a node of this run; `{port}`, `{data}` and the like stand for its " \
             "values (docs/clusters.md)"},                                                                             \
    {.name = "cluster.local.nodes", .type = RIG_OPTION_INT, .offset = RIG_COMMAND_OFFSET(owner, member, nodes),        \
     .default_text = "1", .least = 1, .most = RIG_NODES_MOST, .help = "nodes that rig starts with `command`"},         \
    {.name = "cluster.local.prepare", .type = RIG_OPTION_TEXT, .offset = RIG_COMMAND_OFFSET(owner, member, prepare),   \
     .help = "text for `sh -e`, run once for each node over its empty folder, before its first start"},                \
    {.name = "cluster.local.ready.port", .type = RIG_OPTION_BOOL, .offset = RIG_COMMAND_OFFSET(owner, member, ready_port), \
     .default_text = "true", .help = "whether a node is ready only when one of its processes listens on `{port}` and " \
                                     "accepts a connection"},                                                          \
    {.name = "cluster.local.ready.log", .type = RIG_OPTION_TEXT, .offset = RIG_COMMAND_OFFSET(owner, member, ready_log), \
     .help = "extended regular expression that a line of the node's output must match since its start"},               \
    {.name = "cluster.local.ready.command", .type = RIG_OPTION_COMMAND, .offset = RIG_COMMAND_OFFSET(owner, member, ready_command), \
     .help = "command that must end with exit status 0"},                                                              \
    {.name = "cluster.local.stop", .type = RIG_OPTION_CHOICE, .offset = RIG_COMMAND_OFFSET(owner, member, stop_signal), \
     .default_text = "TERM", .choices = rig_command_signal_names, .help = "signal that asks a node to end"},           \
    {.name = "cluster.local.start-timeout", .type = RIG_OPTION_DURATION, .offset = RIG_COMMAND_OFFSET(owner, member, start_timeout_ns), \
     .default_text = "60s", .least = 1e9, .most = 3.6e12, .help = "time in which `prepare` must end, and in which a node must be ready"}, \
    {.name = "cluster.local.stop-timeout", .type = RIG_OPTION_DURATION, .offset = RIG_COMMAND_OFFSET(owner, member, stop_timeout_ns), \
     .default_text = "10s", .least = 1e8, .most = 6e11, .help = "time after which a node that does not end is killed"}, \
    {.name = "cluster.local.command-timeout", .type = RIG_OPTION_DURATION, .offset = RIG_COMMAND_OFFSET(owner, member, command_timeout_ns), \
     .default_text = "10s", .least = 1e8, .most = 6e11, .help = "time limit of `promote`, `follow`, and of `ready.command` at a start; else that and `roles` have two seconds together"},                \
    {.name = "cluster.local.environment", .type = RIG_OPTION_TEXT_LIST, .offset = RIG_COMMAND_OFFSET(owner, member, environment), \
     .help = "variables of the nodes' environment, each `NAME=value`"},                                                \
    {.name = "cluster.local.run-as", .type = RIG_OPTION_TEXT, .offset = RIG_COMMAND_OFFSET(owner, member, run_as),     \
     .default_text = "nobody", .help = "user under which the nodes and their commands run if rig is root"},            \
    {.name = "cluster.local.restart", .type = RIG_OPTION_BOOL, .offset = RIG_COMMAND_OFFSET(owner, member, restart),   \
     .default_text = "true", .help = "whether rig starts a node again that has ended by itself, on its data"},         \
    {.name = "cluster.local.roles", .type = RIG_OPTION_COMMAND, .offset = RIG_COMMAND_OFFSET(owner, member, roles),    \
     .help = "command that prints the role of a node: `primary` or `replica`, or a synonym (docs/faults.md)"},         \
    {.name = "cluster.local.promote", .type = RIG_OPTION_COMMAND, .offset = RIG_COMMAND_OFFSET(owner, member, promote), \
     .help = "command that makes a node the primary"},                                                                 \
    {.name = "cluster.local.follow", .type = RIG_OPTION_COMMAND, .offset = RIG_COMMAND_OFFSET(owner, member, follow),  \
     .help = "command that makes a node a replica of the primary, whose port is `{primary}`; after a promotion, and " \
             "when an old primary comes back"}
/* clang-format on */

/* Rejects options without `command`, variables without a value, and texts with a placeholder that does not exist. */
enum rig_rc rig_command_options_check(const struct rig_command_options *options, struct rig_err *err);

#endif
