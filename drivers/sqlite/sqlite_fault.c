/*
 * maintain-file: maintenance of the database file while clients use it. VACUUM writes the whole file anew, REINDEX its
 * indexes, ANALYZE statistics; a checkpoint moves the log into the file and truncates it.
 *
 * They wait for the file's locks as a client does, for `busy-timeout`; one that does not get them is withdrawn. Nothing is
 * undone: the rows are the same.
 *
 * Evidence: SQLite reports success; VACUUM changes the schema's version, and a checkpoint reports that nothing stopped it.
 */
#include <inttypes.h>
#include <string.h>

#include "drivers/local/local_fault.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sqlite/sqlite_session.h"

enum { BUSY = 5, LOCKED = 6, PRIMARY_CODE = 0xff };
enum { VACUUM, ANALYZE, REINDEX, CHECKPOINT };

static const char *const words[] = {"vacuum", "analyze", "reindex", "checkpoint", NULL};
/* By choice. */
static const char *const statements[] = {"VACUUM", "ANALYZE", "REINDEX", "PRAGMA wal_checkpoint(TRUNCATE)"};

struct options {
    int64_t statement;
};

static const struct rig_option table[] = {
    {.name = "statement",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, statement),
     .default_text = "vacuum",
     .choices = words,
     .help = "VACUUM, ANALYZE or REINDEX; checkpoint: PRAGMA wal_checkpoint(TRUNCATE), for the journal wal"},
    {.name = NULL},
};

/* Runs a statement; `*number`: the first value of its first row, where there is one. Without the lock: RIG_E_INTERRUPTED. */
static enum rig_rc ask(struct rig_sqlite_link *link, const char *sql, const struct rig_sqlite_patience *patience,
                       int64_t *number, struct rig_err *err)
{
    struct rig_err problem = {.rc = RIG_OK};
    const enum rig_rc rc = rig_sqlite_link_run(link, sql, patience, &problem);
    const int code = link->answer.code & PRIMARY_CODE;
    if (rc != RIG_OK)
        return rig_fail(err, link->answer.code > 0 && (code == BUSY || code == LOCKED) ? RIG_E_INTERRUPTED : rc, "%s",
                        problem.text);
    struct rig_sqlite_cursor cursor = rig_sqlite_link_results(link);
    struct rig_sqlite_rows rows = {0};
    struct rig_sqlite_cell cell = {0};
    *number = -1;
    if (link->answer.step_count > 0 && rig_sqlite_next_rows(&cursor, &rows) && rows.row_count > 0 &&
        rig_sqlite_next_cell(&cursor, &cell) && cell.kind == RIG_SQLITE_INTEGER)
        *number = cell.number;
    return RIG_OK;
}

static enum rig_rc maintain(const struct rig_sqlite_run *run, struct rig_sqlite_link *link, int64_t statement,
                            const struct rig_sqlite_patience *patience, struct rig_evidence *evidence,
                            struct rig_err *err)
{
    static const char version[] = "PRAGMA schema_version";
    const char *name = run->cluster.node.name;
    int64_t before, answer, after;
    enum rig_rc rc = ask(link, version, patience, &before, err);
    if (rc == RIG_OK)
        rc = ask(link, statements[statement], patience, &answer, err);
    if (rc == RIG_OK)
        rc = ask(link, version, patience, &after, err);
    if (rc != RIG_OK)
        return rc;
    if (statement == VACUUM && before == after)
        return rig_fail(err, RIG_E_CLUSTER, "%s: VACUUM changed nothing: the schema's version is still %" PRId64, name,
                        after);
    if (statement == CHECKPOINT && answer != 0) /* 1: a reader or writer was in the way */
        return rig_fail(err, RIG_E_INTERRUPTED, "%s: the checkpoint could not take all of the log", name);
    rig_local_say(evidence, "%s: %s succeeded; the schema's version is %" PRId64 ", before %" PRId64, name,
                  statements[statement], after, before);
    return RIG_OK;
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    (void)i, (void)state;
    const struct options *options = site->options;
    struct rig_sqlite_run *run = site->run;
    struct rig_sql_own own;
    if (options->statement == CHECKPOINT && strcmp(rig_sqlite_journal_words[run->options->journal], "wal") != 0)
        return rig_fail(err, RIG_E_PLAN, "maintain-file: a checkpoint needs database.journal: wal");
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, false, err);
    const struct rig_sqlite_patience patience = rig_sqlite_own_patience(&own);
    if (rc == RIG_OK)
        rc = maintain(run, rig_sqlite_link_of(own.connection), options->statement, &patience, evidence, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

static const struct rig_fault maintenance = {
    .name = "maintain-file",
    .summary = "VACUUM, ANALYZE, REINDEX or a checkpoint of the file that clients use",
    .target = "one",
    .needs = RIG_NEED_PROCESSES,
    .options = table,
    .options_size = sizeof(struct options),
    .inject_node = inject_node,
};

const struct rig_fault *const rig_sqlite_faults[] = {&maintenance, NULL};
