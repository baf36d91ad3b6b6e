#include "nemesis/faults.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct rig_fault *const generic[] = {
#define FAULT_ROW(name) &rig_fault_##name,
    RIG_FAULT_TABLE(FAULT_ROW)
#undef FAULT_ROW
};

enum { GENERIC_COUNT = sizeof generic / sizeof generic[0] };

void rig_fault_each(const struct rig_cluster_ops *cluster,
                    void (*visit)(void *context, const struct rig_fault *fault, bool driver_own), void *context)
{
    for (size_t i = 0; i < GENERIC_COUNT; i++)
        visit(context, generic[i], false);
    const struct rig_fault *const *own = cluster == NULL ? NULL : cluster->faults;
    for (; own != NULL && *own != NULL; own++)
        visit(context, *own, true);
}

struct search {
    const char *name;
    const struct rig_fault *found;
};

static void look_at(void *context, const struct rig_fault *fault, bool driver_own)
{
    struct search *search = context;
    (void)driver_own;
    if (search->found == NULL && strcmp(fault->name, search->name) == 0)
        search->found = fault;
}

const struct rig_fault *rig_fault_find(const struct rig_cluster_ops *cluster, const char *name)
{
    struct search search = {.name = name};
    rig_fault_each(cluster, look_at, &search);
    return search.found;
}

/* -- needs of a fault ---------------------------------------------------------------------------------------------- */

/* One need of the cluster: how rig's own nodes meet it, and the commands with which those of the user do. */
struct need {
    uint64_t bit;
    bool (*own)(const struct rig_cluster_ops *cluster);
    bool (*commands)(const struct rig_nemesis_node_options *node); /* NULL: they cannot */
    const char *what, *keys;
};

static bool has_processes(const struct rig_cluster_ops *cluster)
{
    return cluster->processes != NULL;
}

static bool has_restart(const struct rig_cluster_ops *cluster)
{
    return cluster->stop_node != NULL && cluster->start_node != NULL;
}

static bool has_promote(const struct rig_cluster_ops *cluster)
{
    return cluster->promote != NULL && cluster->restore != NULL;
}

static bool has_environment(const struct rig_cluster_ops *cluster)
{
    return cluster->set_environment != NULL && cluster->node_count != NULL;
}

static bool commands_restart(const struct rig_nemesis_node_options *node)
{
    return (node->kill.count > 0 || node->stop.count > 0) && node->start.count > 0;
}

static bool commands_pause(const struct rig_nemesis_node_options *node)
{
    return node->pause.count > 0;
}

static bool commands_promote(const struct rig_nemesis_node_options *node)
{
    return node->promote.count > 0;
}

static const struct need needs[] = {
    {RIG_NEED_PROCESSES, has_processes, NULL, "access the nodes' processes", NULL},
    {RIG_NEED_PRELOAD, has_environment, NULL, "preload a library into the nodes' programs (not possible for Go)", NULL},
    {RIG_NEED_RESTART, has_restart, commands_restart, "end and start a node", "kill (or stop) and start"},
    {RIG_NEED_PAUSE, has_processes, commands_pause, "pause a node", "pause and resume"},
    {RIG_NEED_PROMOTE, has_promote, commands_promote, "make another node the primary", "promote and restore"},
};

static bool say(char *why, size_t size, const char *fault, const char *text)
{
    (void)snprintf(why, size, "%s: %s", fault, text);
    return false;
}

static bool meets(const struct rig_fault *fault, const struct need *need, const struct rig_fault_footing *footing,
                  char *why, size_t size)
{
    if (footing->started) {
        if (footing->cluster != NULL && need->own(footing->cluster) && (footing->lacks & need->bit) == 0)
            return true;
        (void)snprintf(why, size, "%s: %s cannot %s", fault->name,
                       (footing->lacks & need->bit) != 0 ? "this plan's cluster" : "clusters of this driver",
                       need->what);
        return false;
    }
    if (need->commands == NULL) {
        (void)snprintf(why, size, "%s: rig would have to %s, which is possible only for nodes that it started",
                       fault->name, need->what);
        return false;
    }
    for (uint32_t i = 0; i < footing->node_count; i++) {
        if (need->commands(&footing->nodes[i].commands))
            return true;
    }
    (void)snprintf(why, size, "%s: rig did not start the nodes; give the commands to %s under `nemesis.nodes` (%s)",
                   fault->name, need->what, need->keys);
    return false;
}

bool rig_fault_is_possible(const struct rig_fault *fault, const struct rig_fault_footing *footing, const void *options,
                           char *why, size_t size)
{
    if ((fault->needs & RIG_NEED_ROOT) != 0 && geteuid() != 0)
        return say(why, size, fault->name, "it needs root: run rig as root");
    if (fault->available != NULL) {
        char text[512] = "";
        if (!fault->available(options, text, sizeof text))
            return say(why, size, fault->name, text);
    }
    if (footing != NULL && (fault->needs & RIG_NEED_ROUTES) != 0 &&
        (!footing->routes || (footing->lacks & RIG_NEED_ROUTES) != 0))
        return say(why, size, fault->name,
                   footing->routes
                       ? "with these options connections do not take rig's proxy: rig must start the nodes, "
                         "and clients must name their ports by {port} alone; or use the fault `exec`"
                       : "this driver does not take its connections through rig's proxy; use the fault "
                         "`exec` instead");
    for (size_t i = 0; footing != NULL && i < sizeof needs / sizeof needs[0]; i++) {
        if ((fault->needs & needs[i].bit) != 0 && !meets(fault, &needs[i], footing, why, size))
            return false;
    }
    return true;
}
