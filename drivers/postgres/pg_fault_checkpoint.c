/*
 * checkpoint: makes a server write all its dirty pages to disk at once; after each checkpoint, whole pages go to the
 * log again.
 *
 * Evidence: the control file names another checkpoint than before.
 */
#include <string.h>

#include "drivers/postgres/pg_fault.h"

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    static const char show[] = "SELECT checkpoint_lsn FROM pg_control_checkpoint()";
    struct rig_pg_fault_session session = {.connection = {.pg = NULL}};
    char before[RIG_PG_ANSWER_BYTES];
    char after[RIG_PG_ANSWER_BYTES];
    enum rig_rc rc = rig_pg_fault_open(node, &session, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, &session, show, before, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, &session, "CHECKPOINT", NULL, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, &session, show, after, err);
    rig_pg_fault_close(&session);
    if (rc == RIG_OK && strcmp(before, after) == 0)
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "%s: the last checkpoint is still at %s: a standby makes one only after its primary",
                      node->local.name, after);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: the last checkpoint is at %s, before at %s", node->local.name, after, before);
    return rc;
}

const struct rig_fault rig_pg_fault_checkpoint = {
    .name = "checkpoint",
    .summary = "CHECKPOINT: the server writes all changed pages to disk",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = inject_node,
};
