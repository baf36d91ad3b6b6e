#include "runner/run_nemesis.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "nemesis/nemesis.h"
#include "runner/run_services.h"

static bool is_started(const struct rig_plan *plan)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    return cluster != NULL && cluster->wanted(plan->driver_options);
}

static struct rig_fault_footing footing_of(const struct rig_plan *plan)
{
    return (struct rig_fault_footing){.cluster = plan->driver->cluster,
                                      .started = is_started(plan),
                                      .nodes = plan->nemesis.nodes,
                                      .node_count = plan->nemesis.node_count};
}

enum rig_rc rig_run_nemesis_check(const struct rig_plan *plan, struct rig_err *err)
{
    const struct rig_fault_footing footing = footing_of(plan);
    if (plan->nemesis.entry_count == 0)
        return RIG_OK;
    if (plan->driver->now_ns != NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "nemesis: the driver %s has a clock and nodes of its own making: there is nothing that a fault "
                        "could strike",
                        plan->driver->name);
    char text[RIG_ERR_TEXT_BYTES] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < plan->nemesis.entry_count; i++) {
        const struct rig_nemesis_entry *entry = &plan->nemesis.entries[i];
        char why[512];
        if (rig_fault_is_possible(entry->fault, &footing, entry->options, why, sizeof why) ||
            strstr(text, why) != NULL || used >= sizeof text)
            continue;
        const int length = snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : "; ", why);
        used += length < 0 ? 0 : (size_t)length;
    }
    return used == 0 ? RIG_OK : rig_fail(err, RIG_E_PLAN, "nemesis: %s", text);
}

/* -- what the nemesis says ----------------------------------------------------------------------------------------- */

static void on_event(void *context, const struct rig_nemesis_event *event)
{
    (void)context, (void)event;
}

/* Also when only the last transactions are under way: they may wait for a fault to be healed. */
static bool on_is_over(void *context)
{
    const struct rig_run_state *run = context;
    return rig_run_stopped(run) >= RIG_STOP_LOAD || atomic_load(&run->exhausted_ns) != 0;
}

static void on_failed(void *context, const struct rig_err *err)
{
    (void)err;
    rig_run_raise(context, RIG_STOP_END);
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_run_nemesis_start(struct rig_run_state *run, struct rig_err *err)
{
    const struct rig_plan *plan = run->plan;
    if (plan->nemesis.entry_count == 0)
        return RIG_OK;
    const struct rig_nemesis_config config = {.plan = &plan->nemesis,
                                              .core = &rig_run_core,
                                              .cluster = plan->driver->cluster,
                                              .run = run->driver_run,
                                              .started = is_started(plan),
                                              .seed = plan->seed,
                                              .gear = &run->gear,
                                              .work_dir = run->work_dir,
                                              .context = run,
                                              .event = on_event,
                                              .is_over = on_is_over,
                                              .failed = on_failed};
    return rig_nemesis_start(&config, &run->nemesis, err);
}

enum rig_rc rig_run_nemesis_calm(struct rig_run_state *run, struct rig_err *err)
{
    return run->nemesis == NULL ? RIG_OK : rig_nemesis_calm(run->nemesis, rig_run_stopped(run) < RIG_STOP_END, err);
}

void rig_run_nemesis_end(struct rig_run_state *run)
{
    rig_nemesis_free(run->nemesis);
    run->nemesis = NULL;
}
