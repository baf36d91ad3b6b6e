/*
 * maintain-file: maintenance of the database file while clients use it. VACUUM writes the whole file anew, REINDEX its
 * indexes, ANALYZE statistics; a checkpoint moves the log into the file, and may restart or truncate the log.
 *
 * They wait for the file's locks as a client does, for `busy-timeout`; one that does not get them is withdrawn. Nothing
 * is undone: the rows are the same. `continuous` repeats the statement as long as the fault lasts, in sessions of its
 * own, each a process of the server; a run that does not get the locks is counted, and a session whose process ends
 * gets another one.
 *
 * Evidence: SQLite reports success; VACUUM changes the schema's version, and a checkpoint reports that nothing stopped
 * it. With `continuous` each session has run the statement before the fault counts as injected, and heal reports how
 * often.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "drivers/local/local_fault.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sqlite/sqlite_session.h"

enum { BUSY = 5, LOCKED = 6, PRIMARY_CODE = 0xff };
enum { VACUUM, ANALYZE, REINDEX, CHECKPOINT };
enum { NO_CHECKPOINT, PASSIVE, FULL, RESTART, TRUNCATE };
enum { SESSIONS_MOST = 8, IN_A_MESSAGE = 32 };

static const int64_t first_run_ns = 8 * RIG_NS_PER_S, connect_ns = RIG_NS_PER_S, step_ns = 5 * RIG_NS_PER_MS;

static const char *const words[] = {"vacuum", "analyze", "reindex", "checkpoint", NULL};
static const char *const checkpoint_words[] = {"none", "passive", "full", "restart", "truncate", NULL};
/* By choice; `statement: checkpoint` is `checkpoint: truncate`. */
static const char *const statements[] = {"VACUUM", "ANALYZE", "REINDEX"};
static const char *const checkpoints[] = {[PASSIVE] = "PRAGMA wal_checkpoint(PASSIVE)",
                                          [FULL] = "PRAGMA wal_checkpoint(FULL)",
                                          [RESTART] = "PRAGMA wal_checkpoint(RESTART)",
                                          [TRUNCATE] = "PRAGMA wal_checkpoint(TRUNCATE)"};

struct options {
    int64_t statement, checkpoint, sessions;
    bool continuous;
};

static const struct rig_option table[] = {
    {.name = "statement",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, statement),
     .default_text = "vacuum",
     .choices = words,
     .help = "VACUUM, ANALYZE or REINDEX; checkpoint: the same as `checkpoint: truncate`"},
    {.name = "checkpoint",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, checkpoint),
     .default_text = "none",
     .choices = checkpoint_words,
     .help = "PRAGMA wal_checkpoint in this mode, in place of another statement; for the journal wal"},
    {.name = "continuous",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, continuous),
     .default_text = "false",
     .help = "run it again and again as long as the fault lasts"},
    {.name = "sessions",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, sessions),
     .default_text = "2",
     .least = 1,
     .most = SESSIONS_MOST,
     .help = "continuous: number of processes that do it at the same time"},
    {.name = NULL},
};

/* The mode of the checkpoint that is wanted; NO_CHECKPOINT: the statement is another one. */
static int64_t checkpoint_of(const struct options *options)
{
    return options->checkpoint == NO_CHECKPOINT && options->statement == CHECKPOINT ? TRUNCATE : options->checkpoint;
}

static const char *sql_of(const struct options *options)
{
    const int64_t checkpoint = checkpoint_of(options);
    return checkpoint == NO_CHECKPOINT ? statements[options->statement] : checkpoints[checkpoint];
}

static bool available(const void *object, char *why, size_t size)
{
    const struct options *options = object;
    if (options == NULL || options->checkpoint == NO_CHECKPOINT ||
        (options->statement != ANALYZE && options->statement != REINDEX))
        return true;
    (void)snprintf(why, size, "`statement: %s` and `checkpoint: %s`: give one of the two", words[options->statement],
                   checkpoint_words[options->checkpoint]);
    return false;
}

/* Runs a statement; `*number`: the first value of its first row, where there is one. Without the lock:
 * RIG_E_INTERRUPTED. */
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

static enum rig_rc maintain(const struct rig_sqlite_run *run, struct rig_sqlite_link *link,
                            const struct options *options, const struct rig_sqlite_patience *patience,
                            struct rig_evidence *evidence, struct rig_err *err)
{
    static const char version[] = "PRAGMA schema_version";
    const char *name = run->cluster.node.name, *sql = sql_of(options);
    const bool is_checkpoint = checkpoint_of(options) != NO_CHECKPOINT;
    int64_t before, answer, after;
    enum rig_rc rc = ask(link, version, patience, &before, err);
    if (rc == RIG_OK)
        rc = ask(link, sql, patience, &answer, err);
    if (rc == RIG_OK)
        rc = ask(link, version, patience, &after, err);
    if (rc != RIG_OK)
        return rc;
    if (!is_checkpoint && options->statement == VACUUM && before == after)
        return rig_fail(err, RIG_E_CLUSTER, "%s: VACUUM changed nothing: the schema's version is still %" PRId64, name,
                        after);
    if (is_checkpoint && answer != 0) /* 1: a reader, a writer or another checkpoint was in the way */
        return rig_fail(err, RIG_E_INTERRUPTED, "%s: the checkpoint could not take all of the log", name);
    rig_local_say(evidence, "%s: %s succeeded; the schema's version is %" PRId64 ", before %" PRId64, name, sql, after,
                  before);
    return RIG_OK;
}

static enum rig_rc maintain_once(const struct rig_fault_site *site, struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_sqlite_run *run = site->run;
    struct rig_sql_own own;
    enum rig_rc rc = rig_sql_own_connect(&own, &run->sql, false, err);
    const struct rig_sqlite_patience patience = rig_sqlite_own_patience(&own);
    if (rc == RIG_OK)
        rc = maintain(run, rig_sqlite_link_of(own.connection), site->options, &patience, evidence, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

/* ---- continuous ---- */

/* One session's loop. Its thread writes, the nemesis's thread reads the numbers; `problem` once the thread has ended.
 * */
struct loop {
    struct rig_sqlite_run *run;
    const struct rig_core *core;
    const char *script; /* the statement, several times */
    uint32_t in_script;
    pthread_t thread;
    bool started;
    struct rig_wake wake; /* ends the loop */
    _Atomic uint64_t succeeded, locked, failed;
    struct rig_err problem; /* the first failure */
};

struct state {
    char script[IN_A_MESSAGE * 40];
    struct loop loops[SESSIONS_MOST];
};

static bool has_ended(const struct loop *loop)
{
    return rig_wake_is_raised(&loop->wake);
}

static void note_failure(struct loop *loop, const struct rig_err *problem)
{
    if (atomic_fetch_add(&loop->failed, 1) == 0)
        loop->problem = *problem;
}

/* Runs the script on a connection until it is lost, or the loop's end. */
static void run_on(struct loop *loop, struct rig_sqlite_link *link, int64_t timeout_ns)
{
    while (!has_ended(loop)) {
        int64_t busy = 0;
        struct rig_err problem = {.rc = RIG_OK};
        const struct rig_sqlite_patience patience = {
            .core = loop->core, .deadline_ns = loop->core->now_ns() + timeout_ns, .wake = &loop->wake};
        const enum rig_rc rc = ask(link, loop->script, &patience, &busy, &problem);
        if (rc == RIG_OK)
            atomic_fetch_add(&loop->succeeded, loop->in_script);
        else if (rc == RIG_E_INTERRUPTED && !has_ended(loop))
            atomic_fetch_add(&loop->locked, 1);
        else if (rc != RIG_E_INTERRUPTED) {
            note_failure(loop, &problem);
            return;
        }
    }
}

static void *run_loop(void *object)
{
    struct loop *loop = object;
    struct rig_sqlite_run *run = loop->run;
    while (!has_ended(loop)) {
        struct rig_sql_own own;
        struct rig_err problem = {.rc = RIG_OK};
        if (rig_sql_own_connect_to(&own, &run->sql, 0, true, connect_ns, &problem) == RIG_OK)
            run_on(loop, rig_sqlite_link_of(own.connection), run->options->sql.transaction_timeout_ns);
        else
            note_failure(loop, &problem);
        rig_sql_own_disconnect(&own);
        if (!has_ended(loop)) /* a server that is down starts again */
            rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
    return NULL;
}

/* Waits until each loop has run its statement. */
static enum rig_rc await_first_runs(const struct rig_fault_site *site, const struct state *state, struct rig_err *err)
{
    const struct options *options = site->options;
    const char *name = ((const struct rig_sqlite_run *)site->run)->cluster.node.name;
    const int64_t deadline_ns = site->core->now_ns() + first_run_ns;
    for (int64_t i = 0; i < options->sessions;) {
        if (atomic_load(&state->loops[i].succeeded) > 0) {
            i++;
            continue;
        }
        if (site->core->stopping())
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: the run ends", name);
        if (site->core->now_ns() > deadline_ns)
            return rig_fail(err, RIG_E_INTERRUPTED, "%s: %s did not succeed in time", name, sql_of(options));
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    }
    return RIG_OK;
}

static enum rig_rc start_loops(const struct rig_fault_site *site, struct state *state, struct rig_evidence *evidence,
                               struct rig_err *err)
{
    const struct options *options = site->options;
    /* A message for each checkpoint would take more time than the checkpoint; other statements are long. */
    const uint32_t in_script = checkpoint_of(options) == NO_CHECKPOINT ? 1 : IN_A_MESSAGE;
    size_t size = 0;
    for (uint32_t i = 0; i < in_script; i++)
        size += (size_t)snprintf(state->script + size, sizeof state->script - size, "%s;", sql_of(options));
    for (int64_t i = 0; i < options->sessions; i++) {
        struct loop *loop = &state->loops[i];
        *loop = (struct loop){.run = site->run, .core = site->core, .script = state->script, .in_script = in_script};
        loop->started = rig_thread_start(&loop->thread, run_loop, loop) == 0;
        if (!loop->started)
            return rig_fail(err, RIG_E_LIMIT, "maintain-file: the machine gives no further thread");
    }
    const enum rig_rc rc = await_first_runs(site, state, err);
    if (rc == RIG_OK)
        rig_local_say(evidence, "%s: %" PRId64 " session%s run%s %s in a loop",
                      ((const struct rig_sqlite_run *)site->run)->cluster.node.name, options->sessions,
                      rig_plural((uint64_t)options->sessions), options->sessions == 1 ? "s" : "", sql_of(options));
    return rc;
}

static enum rig_rc end_loops(const struct rig_fault_site *site, void *object, struct rig_evidence *evidence,
                             struct rig_err *err)
{
    struct state *state = object;
    uint64_t succeeded = 0, locked = 0, failed = 0;
    const struct loop *first = NULL;
    (void)site, (void)err;
    for (uint32_t i = 0; i < SESSIONS_MOST; i++) {
        if (state->loops[i].started)
            rig_wake_raise(&state->loops[i].wake);
    }
    for (uint32_t i = 0; i < SESSIONS_MOST; i++) {
        struct loop *loop = &state->loops[i];
        if (!loop->started)
            continue;
        (void)pthread_join(loop->thread, NULL);
        loop->started = false;
        succeeded += atomic_load(&loop->succeeded);
        locked += atomic_load(&loop->locked);
        failed += atomic_load(&loop->failed);
        first = first == NULL && loop->problem.rc != RIG_OK ? loop : first;
    }
    if (succeeded > 0)
        rig_local_say(evidence, "%" PRIu64 " time%s in all", succeeded, rig_plural(succeeded));
    if (locked > 0)
        rig_local_say(evidence, "%" PRIu64 " time%s without the lock", locked, rig_plural(locked));
    if (first != NULL)
        rig_local_say(evidence, "%" PRIu64 " failure%s: %.80s", failed, rig_plural(failed), first->problem.text);
    return RIG_OK;
}

/* ---- the fault ---- */

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    const struct options *options = site->options;
    const struct rig_sqlite_run *run = site->run;
    if (checkpoint_of(options) != NO_CHECKPOINT && strcmp(rig_sqlite_journal_words[run->options->journal], "wal") != 0)
        return rig_fail(err, RIG_E_PLAN, "maintain-file: a checkpoint needs database.journal: wal");
    return options->continuous ? start_loops(site, state, evidence, err) : maintain_once(site, evidence, err);
}

static const struct rig_fault maintenance = {
    .name = "maintain-file",
    .varied = "|checkpoint: passive, continuous: true, sessions: 2, for: 200ms|checkpoint: truncate",
    .summary = "VACUUM, ANALYZE, REINDEX or checkpoints of the file that clients use",
    .target = "one",
    .needs = RIG_NEED_PROCESSES,
    .options = table,
    .options_size = sizeof(struct options),
    .available = available,
    .state_size = sizeof(struct state),
    .inject = inject,
    .heal = end_loops,
};

const struct rig_fault *const rig_sqlite_faults[] = {&maintenance, NULL};
