/*
 * vacuum-full: rewrites the run's tables while clients use them; each is locked meanwhile.
 *
 * Evidence: each table is in another file than before.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/postgres/pg_fault.h"

static enum rig_rc rewrite(const struct rig_pg_node *node, struct rig_pg_fault_session *session, const char *name,
                           struct rig_evidence *evidence, struct rig_err *err)
{
    char sql[512];
    char find[512];
    char before[RIG_PG_ANSWER_BYTES];
    char after[RIG_PG_ANSWER_BYTES];
    (void)snprintf(find, sizeof find, "SELECT pg_relation_filenode('%s')", name);
    (void)snprintf(sql, sizeof sql, "VACUUM FULL %s", name);
    enum rig_rc rc = rig_pg_fault_ask(node, session, find, before, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, session, sql, NULL, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, session, find, after, err);
    if (rc == RIG_OK && strcmp(before, after) == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: %s was not rewritten: it is still in the file %s", node->local.name,
                      name, after);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %s moved from file %s to %s", node->local.name, name, before, after);
    return rc;
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    struct rig_pg_fault_session session = {.connection = {.pg = NULL}};
    struct rig_pg_fault_tables tables;
    (void)state;
    enum rig_rc rc = rig_pg_fault_open(node, &session, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_tables(node, &session, &tables, err);
    for (uint32_t t = 0; rc == RIG_OK && t < tables.count; t++)
        rc = rewrite(node, &session, tables.names[t], evidence, err);
    rig_pg_fault_close(&session);
    return rc;
}

const struct rig_fault rig_pg_fault_vacuum_full = {
    .name = "vacuum-full",
    .summary = "VACUUM FULL of the tables that clients use",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = inject_node,
};
