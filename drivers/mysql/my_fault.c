#include "drivers/mysql/my_fault.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "drivers/mysql/my_session.h"

static const int64_t step_ns = 20 * RIG_NS_PER_MS;

const struct rig_fault *const rig_my_faults[] = {
    &rig_my_fault_read_lock,
    &rig_my_fault_kill_query,
    &rig_my_fault_maintenance,
    &rig_my_fault_desync,
    &rig_my_fault_flow_control,
    &rig_my_fault_state_transfer,
    NULL,
};

struct rig_my_cluster *rig_my_fault_cluster(const struct rig_fault_site *site)
{
    return &((struct rig_my_run *)site->run)->cluster;
}

struct rig_my_node *rig_my_fault_node(const struct rig_fault_site *site, uint32_t i)
{
    struct rig_my_cluster *cluster = rig_my_fault_cluster(site);
    RIG_REQUIRE(i < site->node_count && site->nodes[i] < cluster->sql.count);
    return &cluster->nodes[site->nodes[i]];
}

enum rig_rc rig_my_fault_await(const struct rig_my_node *node, const char *sql, const char *wanted, bool always,
                               const char *missing, char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    const int64_t deadline_ns = core->now_ns() + RIG_MY_FAULT_NS;
    for (;;) {
        struct rig_err problem = {.rc = RIG_OK};
        const enum rig_rc rc = rig_my_node_ask(node, sql, RIG_NS_PER_S, answer, &problem);
        if (rc == RIG_OK &&
            (wanted != NULL ? strcmp(answer, wanted) == 0 : answer[0] != '\0' && strcmp(answer, "0") != 0))
            return RIG_OK;
        if (core->stopping() && !always)
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", node->local.name);
        if (core->now_ns() > deadline_ns || !rig_local_node_runs(&node->local))
            return rig_fail(err, RIG_E_CLUSTER, "%s: %s%s%s", node->local.name, missing, rc != RIG_OK ? ": " : "",
                            rc != RIG_OK ? problem.text : "");
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
}
