/*
 * vacuum-full and reindex: build the run's tables, or their indexes, again while clients use them. VACUUM FULL locks each
 * table meanwhile; REINDEX CONCURRENTLY does not, but waits for the transactions that were open before it.
 *
 * Evidence: each table is, or its indexes are, in another file than before.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/postgres/pg_fault.h"

/* Texts with the table's name in place of %s. */
struct rebuilding {
    const char *what; /* "its indexes" */
    const char *find; /* asks for the files */
    const char *sql;
};

static const struct rebuilding of_table = {"", "SELECT pg_relation_filenode('%s')", "VACUUM FULL %s"};
static const struct rebuilding of_indexes = {
    "indexes of ",
    "SELECT string_agg(pg_relation_filenode(indexrelid)::text, '+' ORDER BY indexrelid) FROM pg_index "
    "WHERE indrelid = '%s'::regclass",
    "REINDEX TABLE CONCURRENTLY %s"};

static void put_name(const char *text, const char *name, char sql[512])
{
    const char *place = strstr(text, "%s");
    (void)snprintf(sql, 512, "%.*s%s%s", (int)(place - text), text, name, place + 2);
}

static enum rig_rc rebuild(const struct rebuilding *how, const struct rig_pg_node *node,
                           struct rig_pg_fault_session *session, const char *name, struct rig_evidence *evidence,
                           struct rig_err *err)
{
    char sql[512];
    char find[512];
    char before[RIG_PG_ANSWER_BYTES];
    char after[RIG_PG_ANSWER_BYTES];
    put_name(how->find, name, find);
    put_name(how->sql, name, sql);
    enum rig_rc rc = rig_pg_fault_ask(node, session, find, before, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, session, sql, NULL, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_ask(node, session, find, after, err);
    if (rc == RIG_OK && strcmp(before, after) == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: %s%s: not rewritten, still in the file %s", node->local.name, how->what,
                      name, after);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %s%s moved from file %s to %s", node->local.name, how->what, name, before, after);
    return rc;
}

static enum rig_rc rebuild_all(const struct rebuilding *how, const struct rig_pg_node *node,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_pg_fault_session session = {.connection = {.pg = NULL}};
    struct rig_pg_fault_tables tables;
    enum rig_rc rc = rig_pg_fault_open(node, &session, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_tables(node, &session, &tables, err);
    for (uint32_t t = 0; rc == RIG_OK && t < tables.count; t++)
        rc = rebuild(how, node, &session, tables.names[t], evidence, err);
    rig_pg_fault_close(&session);
    return rc;
}

static enum rig_rc vacuum_node(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    return rebuild_all(&of_table, rig_pg_fault_node(site, i), evidence, err);
}

static enum rig_rc reindex_node(const struct rig_fault_site *site, uint32_t i, void *state,
                                struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    return rebuild_all(&of_indexes, rig_pg_fault_node(site, i), evidence, err);
}

const struct rig_fault rig_pg_fault_vacuum_full = {
    .name = "vacuum-full",
    .summary = "VACUUM FULL of the tables that clients use",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = vacuum_node,
};

const struct rig_fault rig_pg_fault_reindex = {
    .name = "reindex",
    .summary = "REINDEX TABLE CONCURRENTLY of the tables that clients use (version 12 and later)",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = reindex_node,
};
