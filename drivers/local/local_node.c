#include "drivers/local/local_node.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
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

enum rig_rc rig_local_node_launch(struct rig_local_node *node, const char *const *arguments, const char *home,
                                  struct rig_err *err)
{
    char name[LOG_NAME_BYTES];
    log_name(node, name);
    const int output = rig_local_open_log(node->site, name, err);
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
            rig_local_log_tail(node->site, name, tail);
            return rig_fail(err, RIG_E_CLUSTER, "%s ended while starting; %s ends: %s", node->name, name, tail);
        }
        if (wait->answers(wait->context, &why))
            return RIG_OK;
        if (!wait->always && core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "stopped while %s was starting", node->name);
        if (core->now_ns() > wait->deadline_ns) {
            rig_local_log_tail(node->site, name, tail);
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
