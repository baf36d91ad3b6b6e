/*
 * One server of a local cluster: its process, data folder, environment and log (`<name>.log` in the run's folder).
 *
 * The server and all processes that it forks are one child (base/child.h): they end together, and with rig. The driver
 * adds the command line and the request that shows whether a server answers.
 *
 * Threads: one at a time changes a node (main, then the nemesis's); its process number and its state may be read from
 * any.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_NODE_H
#define RIG_DRIVERS_LOCAL_LOCAL_NODE_H

#include "drivers/local/local_site.h"

enum { RIG_LOCAL_VARIABLES_MOST = 16, RIG_LOCAL_NAME_BYTES = 16 };

struct rig_local_node {
    struct rig_local_site *site;
    char name[RIG_LOCAL_NAME_BYTES];
    char data[RIG_LOCAL_PATH_BYTES]; /* in the private folder; not made here */
    struct rig_child server;
    char *variables[RIG_LOCAL_VARIABLES_MOST + 1]; /* owned: "NAME=value", ended by NULL */
};

/* Node `index`, from 0. Zeroed before; variables that are already set stay. Before the site is open the node gets its
 * name only: call it again then. */
void rig_local_node_init(struct rig_local_node *node, struct rig_local_site *site, uint32_t index);
/* Frees the node's memory; a node that could not be ended is left alone. Safe on a zeroed one, safe to repeat. */
void rig_local_node_done(struct rig_local_node *node);

/* From its next start on; `value` NULL removes the variable. RIG_E_LIMIT. */
enum rig_rc rig_local_node_set_variable(struct rig_local_node *node, const char *name, const char *value,
                                        struct rig_err *err);

/* Starts the process of a node that is down; its working folder is `home`. RIG_E_CLUSTER. */
enum rig_rc rig_local_node_launch(struct rig_local_node *node, const char *const *arguments, const char *home,
                                  struct rig_err *err);

/* How a driver finds out whether a node serves; bounded by about a second. */
struct rig_local_wait {
    bool (*answers)(void *context, struct rig_err *why); /* False: `why` has the reason, for the error */
    void *context;
    bool always;         /* also while the run ends */
    int64_t deadline_ns; /* of core->now_ns() */
};
/* Waits until a launched node answers. RIG_E_CLUSTER with its log's end when it ended or is late. */
enum rig_rc rig_local_node_await(const struct rig_local_node *node, const struct rig_local_wait *wait,
                                 struct rig_err *err);

/* Whether its main process runs. */
bool rig_local_node_runs(const struct rig_local_node *node);
/*
 * Ends it, and waits until each of its processes is gone and reaped. The database's own signals come first, as `how`
 * selects; a process that does not follow one within `timeout_ns` gets the next, and finally SIGKILL. RIG_OK when it is
 * down. RIG_E_CLUSTER when a process is stuck in the kernel.
 */
enum rig_rc rig_local_node_stop(struct rig_local_node *node, enum rig_node_end how, int64_t timeout_ns,
                                struct rig_err *err);
/* Tells it to end at once; rig_local_node_stop() follows, unless rig itself ends. Async-signal-safe. */
void rig_local_node_kill_now(const struct rig_local_node *node);

#endif
