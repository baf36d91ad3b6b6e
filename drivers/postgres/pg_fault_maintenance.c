/*
 * Faults by maintenance of the run's tables and of the server: changes of tables, tables and indexes that are built
 * again, checkpoints.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/postgres/pg_fault.h"

/*
 * alter-tables: changes the run's tables while clients use them, and changes them back: prepared statements are planned
 * again, transactions wait for the lock.
 *
 * `change: column` and `storage` leave the rows alone and have to be harmless. `change: rewrite` gives a table new rows
 * under the number of the ALTER's own transaction, which PostgreSQL documents as unsafe: a transaction with an older
 * snapshot that first reads the table afterwards finds it empty. An anomaly under that change is no bug.
 *
 * Evidence: the catalogue shows the change.
 */

enum { CHANGE_COLUMN, CHANGE_STORAGE, CHANGE_REWRITE };
static const char *const words[] = {"column", "storage", "rewrite", NULL};

struct options {
    int64_t change;
};

static const struct rig_option table[] = {
    {.name = "change",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, change),
     .default_text = "column",
     .choices = words,
     .help = "column: an added column, dropped by heal; storage: another fill factor, reset by heal; rewrite: "
             "rewritten rows, which PostgreSQL documents as unsafe for transactions with older snapshots"},
    {.name = NULL},
};

struct state {
    bool changed[RIG_NODES_MOST]; /* by position among the targets */
};

/* By choice: the change, the query that shows it (its answer differs then), and the statement that undoes it. */
static const struct change {
    const char *apply;
    const char *show;
    const char *undo;
} changes[] = {
    [CHANGE_COLUMN] = {"ALTER TABLE %s ADD COLUMN rig_more bigint",
                       "SELECT count(*) FROM pg_attribute WHERE attrelid = '%s'::regclass AND attname = 'rig_more'",
                       "ALTER TABLE %s DROP COLUMN IF EXISTS rig_more"},
    [CHANGE_STORAGE] = {"ALTER TABLE %s SET (fillfactor = 50)",
                        "SELECT coalesce(reloptions::text, 'none') FROM pg_class WHERE oid = '%s'::regclass",
                        "ALTER TABLE %s RESET (fillfactor)"},
    [CHANGE_REWRITE] = {"ALTER TABLE %s ALTER COLUMN k TYPE bigint USING k + 0", "SELECT pg_relation_filenode('%s')",
                        NULL},
};

static enum rig_rc ask(const struct rig_pg_node *node, struct rig_pg_fault_session *session, const char *template,
                       const char *name, char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err)
{
    char sql[512];
    const char *hole = strstr(template, "%s");
    (void)snprintf(sql, sizeof sql, "%.*s%s%s", (int)(hole - template), template, name, hole + 2);
    return rig_pg_fault_ask(node, session, sql, answer, err);
}

static enum rig_rc change_table(const struct rig_pg_node *node, struct rig_pg_fault_session *session,
                                const struct change *change, const char *name, struct rig_evidence *evidence,
                                struct rig_err *err)
{
    char before[RIG_PG_ANSWER_BYTES];
    char after[RIG_PG_ANSWER_BYTES];
    enum rig_rc rc = ask(node, session, change->show, name, before, err);
    if (rc == RIG_OK)
        rc = ask(node, session, change->apply, name, NULL, err);
    if (rc == RIG_OK)
        rc = ask(node, session, change->show, name, after, err);
    if (rc == RIG_OK && strcmp(before, after) == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: ALTER TABLE %s changed nothing: the catalogue shows %s as before",
                      node->local.name, name, after);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: the catalogue shows %s for %s, before %s", node->local.name, after, name, before);
    return rc;
}

static enum rig_rc alter_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                              struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    const struct change *change = &changes[options->change];
    struct state *state = private_state;
    const struct rig_pg_node *node = rig_pg_fault_node(site, i);
    struct rig_pg_fault_session session = {.connection = {.pg = NULL}};
    struct rig_pg_fault_tables tables;
    enum rig_rc rc = rig_pg_fault_open(node, &session, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_tables(node, &session, &tables, err);
    state->changed[i] = rc == RIG_OK;
    /* Undoes a change that an earlier injection could not undo. */
    for (uint32_t t = 0; rc == RIG_OK && t < tables.count && change->undo != NULL; t++)
        rc = ask(node, &session, change->undo, tables.names[t], NULL, err);
    for (uint32_t t = 0; rc == RIG_OK && t < tables.count; t++)
        rc = change_table(node, &session, change, tables.names[t], evidence, err);
    rig_pg_fault_close(&session);
    return rc;
}

static enum rig_rc undo(const struct rig_pg_node *node, const char *template, struct rig_err *err)
{
    struct rig_pg_fault_session session = {.connection = {.pg = NULL}};
    struct rig_pg_fault_tables tables;
    enum rig_rc rc = rig_pg_fault_open(node, &session, err);
    if (rc == RIG_OK)
        rc = rig_pg_fault_tables(node, &session, &tables, err);
    for (uint32_t t = 0; rc == RIG_OK && t < tables.count; t++)
        rc = ask(node, &session, template, tables.names[t], NULL, err);
    rig_pg_fault_close(&session);
    return rc;
}

/* On the current primary, to which the change was replicated. */
static enum rig_rc heal(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    const struct options *options = site->options;
    struct state *state = private_state;
    const char *template = changes[options->change].undo;
    const struct rig_pg_node *primary = rig_pg_fault_primary(site);
    bool changed = false;
    for (uint32_t i = 0; i < site->node_count; i++)
        changed = changed || state->changed[i];
    if (!changed || template == NULL)
        return RIG_OK;
    struct rig_err problem = {.rc = RIG_OK};
    bool undone = undo(primary, template, &problem) == RIG_OK;
    *state = (struct state){{false}};
    /* The change does no harm: when another fault has stopped the primary, the run need not end. */
    rig_local_say(evidence, "%s: %s", primary->local.name,
                  undone ? "changed back" : "not changed back, the server does not answer");
    (void)err;
    return RIG_OK;
}

const struct rig_fault rig_pg_fault_alter = {
    .name = "alter-tables",
    .summary = "ALTER TABLE of the tables that clients use, undone by heal",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .inject_node = alter_node,
    .heal = heal,
};

/*
 * vacuum-full and reindex: build the run's tables, or their indexes, again while clients use them. VACUUM FULL locks
 * each table meanwhile; REINDEX CONCURRENTLY does not, but waits for the transactions that were open before it.
 *
 * Evidence: each table is, or its indexes are, in another file than before.
 */

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
    .varied = "",
    .summary = "VACUUM FULL of the tables that clients use",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = vacuum_node,
};

const struct rig_fault rig_pg_fault_reindex = {
    .name = "reindex",
    .varied = "",
    .summary = "REINDEX TABLE CONCURRENTLY of the tables that clients use (version 12 and later)",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = reindex_node,
};

/*
 * checkpoint: makes a server write all its dirty pages to disk at once; after each checkpoint, whole pages go to the
 * log again.
 *
 * Evidence: the control file names another checkpoint than before.
 */

static enum rig_rc force_checkpoint(const struct rig_fault_site *site, uint32_t i, void *state,
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
    .varied = "",
    .summary = "CHECKPOINT: the server writes all changed pages to disk",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .inject_node = force_checkpoint,
};
