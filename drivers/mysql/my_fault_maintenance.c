/*
 * maintain-tables: maintenance of the run's tables while clients use them: new statistics, or new copies of the tables,
 * for which the server waits until no transaction uses them, and on which the statements of clients then wait.
 *
 * Transactions with a snapshot from before get error 1412 when they first use a table that was rebuilt. Nothing is
 * undone: the rows are the same. A server that cannot get the lock in time withdraws the fault.
 *
 * Evidence: the server reports success, and a rebuilt table has another number in InnoDB's catalogue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/my_fault.h"
#include "drivers/mysql/my_session.h"

enum { LOCK_SECONDS = 8, LOCK_TIMED_OUT = 1205, SQL_BYTES = 512 };

static const char *const words[] = {"analyze", "optimize", "rebuild", NULL};
/* By choice; and whether the table is made anew. */
static const char *const statements[] = {"ANALYZE TABLE", "OPTIMIZE TABLE", "ALTER TABLE"};
enum { ANALYZE, OPTIMIZE, REBUILD };

struct options {
    int64_t statement;
};

static const struct rig_option table[] = {
    {.name = "statement",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, statement),
     .default_text = "optimize",
     .choices = words,
     .help = "analyze: ANALYZE TABLE, new statistics; optimize: OPTIMIZE TABLE, and rebuild: ALTER TABLE .. FORCE, "
             "new copies of the tables"},
    {.name = NULL},
};

/* The last row of an answer (table, operation, kind of message, message), and whether any row tells that the lock did
 * not come in time. */
struct told {
    char kind[32], text[128];
    bool is_late;
};

static void take_row(void *context, const char *const *values, uint32_t count)
{
    struct told *told = context;
    if (count < 4)
        return;
    (void)snprintf(told->kind, sizeof told->kind, "%s", values[2]);
    (void)snprintf(told->text, sizeof told->text, "%s", values[3]);
    told->is_late |= strstr(values[3], "Lock wait timeout") != NULL;
}

/* The table's number in InnoDB's catalogue. */
static enum rig_rc number_of(const struct rig_my_node *node, const struct rig_my_schema *schema, const char *name,
                             char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    char sql[SQL_BYTES];
    const char *last = strrchr(name, '.');
    (void)snprintf(sql, sizeof sql, "SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES WHERE NAME = '%s/%s'",
                   schema->place.database, last + 1);
    const enum rig_rc rc = rig_my_node_ask(node, sql, RIG_MY_FAULT_NS, answer, err);
    if (rc == RIG_OK && answer[0] == '\0')
        return rig_fail(err, RIG_E_CLUSTER, "%s: InnoDB's catalogue does not have %s", node->local.name, name);
    return rc;
}

static enum rig_rc maintain(const struct rig_my_node *node, struct rig_my_connection *connection, int64_t statement,
                            const char *name, int64_t deadline_ns, struct rig_err *err)
{
    char sql[SQL_BYTES];
    struct told told = {.kind = ""};
    struct rig_err problem = {.rc = RIG_OK};
    (void)snprintf(sql, sizeof sql, "%s %s%s", statements[statement], name, statement == REBUILD ? " FORCE" : "");
    const enum rig_rc rc = rig_my_query_rows(connection, sql, deadline_ns, take_row, &told, &problem);
    const bool is_late = told.is_late || (rc != RIG_OK && mysql_errno(connection->my) == LOCK_TIMED_OUT);
    if (is_late || (rc != RIG_OK && node->site->local.env->core->stopping()))
        return rig_fail(err, RIG_E_INTERRUPTED, "%s: %s was in use for %d s", node->local.name, name, LOCK_SECONDS);
    if (rc != RIG_OK)
        return rig_fail(err, RIG_E_CLUSTER, "%s: %.500s", node->local.name, problem.text);
    if (statement != REBUILD && (strcmp(told.kind, "status") != 0 || strcmp(told.text, "OK") != 0))
        return rig_fail(err, RIG_E_CLUSTER, "%s: %s: %s", node->local.name, sql, told.text);
    return RIG_OK;
}

static enum rig_rc maintain_one(const struct rig_my_node *node, const struct rig_my_schema *schema,
                                struct rig_my_connection *connection, int64_t statement, uint32_t number,
                                struct rig_evidence *evidence, struct rig_err *err)
{
    const int64_t deadline_ns = node->site->local.env->core->now_ns() + RIG_MY_FAULT_NS;
    char name[RIG_MY_TABLE_BYTES], before[RIG_MY_ANSWER_BYTES] = "", after[RIG_MY_ANSWER_BYTES] = "";
    rig_my_schema_table(schema, number, name);
    enum rig_rc rc = number_of(node, schema, name, before, err);
    if (rc == RIG_OK)
        rc = maintain(node, connection, statement, name, deadline_ns, err);
    if (rc == RIG_OK)
        rc = number_of(node, schema, name, after, err);
    if (rc == RIG_OK && statement != ANALYZE && strcmp(before, after) == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: %s %s made no new table: its number is still %s", node->local.name,
                      statements[statement], name, after);
    if (rc != RIG_OK)
        return rc;
    if (statement == ANALYZE)
        rig_local_say(evidence, "%s: ANALYZE TABLE %s: OK", node->local.name, name);
    else
        rig_local_say(evidence, "%s: %s %s: number %s, before %s", node->local.name, statements[statement], name, after,
                      before);
    return RIG_OK;
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    (void)state;
    const struct options *options = site->options;
    const struct rig_my_schema *schema = &((const struct rig_my_run *)site->run)->schema;
    const struct rig_my_node *node = rig_my_fault_node(site, i);
    const int64_t deadline_ns = site->core->now_ns() + RIG_MY_FAULT_NS;
    struct rig_sql_waiter waiter = {.core = site->core};
    struct rig_my_connection connection = {.my = NULL};
    char sql[64];
    (void)snprintf(sql, sizeof sql, "SET SESSION lock_wait_timeout = %d", LOCK_SECONDS);
    enum rig_rc rc = rig_my_node_connect(node, &connection, &waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_my_query(&connection, sql, deadline_ns, NULL, err);
    for (uint32_t number = 0; rc == RIG_OK && number < rig_my_schema_table_count(schema); number++)
        rc = maintain_one(node, schema, &connection, options->statement, number, evidence, err);
    rig_my_disconnect(&connection);
    return rc;
}

const struct rig_fault rig_my_fault_maintenance = {
    .name = "maintain-tables",
    .varied = "",
    .summary = "ANALYZE, OPTIMIZE or ALTER TABLE .. FORCE of the tables that clients use",
    .target = "primary",
    .needs = RIG_NEED_PROCESSES,
    .options = table,
    .options_size = sizeof(struct options),
    .inject_node = inject_node,
};
