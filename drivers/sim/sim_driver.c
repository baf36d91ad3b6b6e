/*
 * The driver `sim`: a database inside rig with the isolation, and the mistakes, that a plan selects. It needs no server
 * and gives the same history for the same seed.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "drivers/built_in.h"
#include "base/plural.h"
#include "base/rng.h"
#include "drivers/sim/scheduler.h"
#include "drivers/sim/sim_rows.h"

#define ISOLATION_HELP(id, name, help)              "; " name ": " help
#define BUG_HELP(id, name, levels, workloads, help) "; " name ": " help

static const struct rig_option option_table[] = {
    {.name = "isolation",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_sim_options, isolation),
     .default_text = "serializable",
     .choices = rig_sim_isolation_names,
     .help = "isolation level of the simulated database" RIG_SIM_ISOLATION_TABLE(ISOLATION_HELP)},
    {.name = "bug",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_sim_options, bug),
     .default_text = "none",
     .choices = rig_sim_bug_names,
     .help = "bug of the simulated database" RIG_SIM_BUG_TABLE(BUG_HELP)},
    {.name = "bug-rate",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_sim_options, bug_rate),
     .default_text = "20%",
     .least = 0,
     .most = 1,
     .help = "probability that the bug occurs where it can"},
    {.name = "abort-rate",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "1% 10%"),
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_sim_options, abort_rate),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "probability that a transaction is aborted without a reason"},
    {.name = "info-rate",
     RIG_OPTION_VARIED(.chance = 0.15, .values = "1% 5%"),
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_sim_options, info_rate),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "probability that the answer to a commit is lost; half of these commits happen"},
    {.name = "loss-rate",
     RIG_OPTION_VARIED(.chance = 0.1, .values = "1% 5%"),
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_sim_options, loss_rate),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "probability that the connection breaks during a transaction, before the commit or at it"},
    {.name = "move-rate",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_sim_options, move_rate),
     .default_text = "5%",
     .least = 0,
     .most = 1,
     .help = "probability that a poll of a log finds its consumer moved back, as by a rebalance, and shows nothing"},
    {.name = "staleness",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_sim_options, staleness),
     .default_text = "20",
     .least = 1,
     .most = 1e6,
     .help = "maximum age, in commits, of snapshots with the bugs `stale-read` and `non-monotonic-session`; of logs in "
             "records"},
    {.name = "latency",
     RIG_OPTION_VARIED(.chance = 0.4, .values = "1 10 100"),
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_sim_options, latency),
     .default_text = "0",
     .least = 0,
     .most = 1e6,
     .help = "maximum additional time of an operation, in virtual ticks of 100 us"},
    {.name = "think",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "10 100"),
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_sim_options, think),
     .default_text = "0",
     .least = 0,
     .most = 1e6,
     .help = "maximum pause of a client between two transactions, in virtual ticks of 100 us"},
    {.name = "workers",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "2 5 20"),
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_sim_options, workers),
     .default_text = "0",
     .least = 0,
     .most = 1e6,
     .help = "maximum number of transactions in progress, while the others wait; 0: all, so that with many clients "
             "and few keys almost every one conflicts"},
    {.name = "patience",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_sim_options, patience_ns),
     .default_text = "10s",
     .least = 1e6,
     .most = 3.6e12,
     .help = "real time that the others wait for a client that sends no request"},
    {0},
};

struct sim_run {
    const struct rig_run_env *env;
    struct rig_sim_scheduler *scheduler;
    struct rig_sim_row_store rows; /* of programs */
};

struct sim_session {
    _Atomic(struct sim_run *) run; /* NULL before open has come so far; read by interrupt */
    uint32_t client;
    atomic_bool interrupted;
    /* The client's thread only: the virtual time. */
    bool has_completed; /* a transaction has completed, and now_ns() has not returned its time yet */
    int64_t complete_ns;
    int64_t next_ns;
    struct rig_sim_rows rows; /* of programs: the open transaction */
};

static enum rig_rc sim_check(const void *options, enum rig_workload workload, struct rig_err *err)
{
    return rig_sim_options_check(options, workload, err);
}

static enum rig_rc sim_init(void *run, const struct rig_run_env *env, struct rig_err *err)
{
    struct sim_run *r = run;
    r->env = env;
    if (env->client_count == 0 || env->client_count >= RIG_SIM_TICK_NS - 1)
        return rig_fail(err, RIG_E_DRIVER, "sim: %u client%s; use 1 to %lld", env->client_count,
                        rig_plural(env->client_count), (long long)RIG_SIM_TICK_NS - 2);
    if (env->certificate != RIG_CERTIFICATE_NONE && !rig_sim_certifies(env->workload))
        return rig_fail(err, RIG_E_PLAN,
                        "the simulated database gives a `certificate` for the workload `predicate` only");
    r->scheduler = rig_sim_scheduler_new(env);
    if (r->scheduler == NULL)
        return rig_no_memory(err, "the simulated database");
    if (env->rows == NULL)
        return RIG_OK;
    const enum rig_rc rc = rig_sim_rows_check(env->options, err);
    return rc != RIG_OK ? rc : rig_sim_row_store_init(&r->rows, env->rows, env->options, env->seed, err);
}

static void sim_done(void *run)
{
    struct sim_run *r = run;
    rig_sim_row_store_done(&r->rows);
    rig_sim_scheduler_free(r->scheduler);
    r->scheduler = NULL;
}

static enum rig_rc sim_open(void *session, void *run, uint32_t client, struct rig_err *err)
{
    struct sim_session *s = session;
    struct sim_run *r = run;
    s->client = client;
    s->next_ns = rig_sim_scheduler_enter(r->scheduler, client);
    atomic_store(&s->run, r);
    if (atomic_load(&s->interrupted))
        return rig_fail(err, RIG_E_INTERRUPTED, "sim: interrupted");
    return RIG_OK;
}

/* The engine's answer, in the form of the contract. False when rig has no memory for the elements. */
static bool copy_answer(const struct rig_core *core, const struct rig_sim_answer *answer,
                        struct rig_transaction *transaction)
{
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", answer->error_code);
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%s", answer->error_text);
    transaction->phase = answer->phase;
    transaction->session_lost = answer->session_lost;
    if (answer->held_ns >= 0) {
        rig_column_give(&transaction->columns, RIG_COLUMN_HELD, answer->held_ns);
        rig_column_give(&transaction->columns, RIG_COLUMN_HELD_BEFORE, answer->held_before);
    }
    if (answer->view != 0)
        rig_column_give(&transaction->columns, RIG_COLUMN_VIEW, (int64_t)answer->view);
    if (answer->reads == NULL)
        return true;
    size_t base = transaction->element_count;
    if (answer->element_count > 0) {
        int64_t *elements = core->elements(transaction, answer->element_count);
        if (elements == NULL)
            return false;
        memcpy(elements, answer->elements, answer->element_count * sizeof *elements);
        transaction->element_count += answer->element_count;
    }
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        transaction->reads[i] = answer->reads[i];
        transaction->reads[i].first_element += base;
    }
    return true;
}

static enum rig_outcome sim_transact(void *session, struct rig_transaction *transaction)
{
    struct sim_session *s = session;
    const struct sim_run *run = atomic_load(&s->run);
    struct rig_sim_answer answer;
    rig_sim_scheduler_transact(run->scheduler, s->client, transaction, &answer, &s->next_ns);
    s->complete_ns = answer.complete_ns;
    s->has_completed = true;
    if (copy_answer(run->env->core, &answer, transaction))
        return answer.outcome;
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "too-large");
    (void)snprintf(transaction->error_text, sizeof transaction->error_text,
                   "the lists that the transaction read are larger than rig's maximum");
    /* It may have committed all the same; only one without writes certainly has no effect. */
    return transaction->read_only || answer.outcome == RIG_OUTCOME_FAIL ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
}

/* ---- programs ---- */

static enum rig_rc sim_load_rows(void *run, uint32_t table, const int64_t *cells, uint32_t row_count,
                                 struct rig_err *err)
{
    struct sim_run *r = run;
    const uint32_t columns = r->env->rows->tables[table].column_count;
    for (uint32_t i = 0; i < row_count; i++) {
        if (!rig_sim_row_store_load(&r->rows, table, cells + (size_t)i * columns))
            return rig_no_memory(err, "the simulated tables");
    }
    return RIG_OK;
}

/* The session's open transaction as its program sees it. */
struct sim_open_rows {
    struct rig_rows rows; /* first */
    struct sim_session *session;
};

/* Waits for the session's turn, at which the transaction then is. */
static bool take_turn(struct sim_session *s)
{
    if (rig_sim_scheduler_turn(atomic_load(&s->run)->scheduler, s->client, &s->complete_ns))
        return true;
    s->rows.error_code = "interrupted";
    s->rows.error_text = "the run is ending";
    return false;
}

static bool sim_execute(struct rig_rows *object, uint32_t statement, const int64_t *values,
                        struct rig_row_answer *answer)
{
    struct sim_session *s = ((struct sim_open_rows *)object)->session;
    return take_turn(s) && rig_sim_rows_execute(&s->rows, statement, values, answer);
}

static bool draws(struct sim_session *s, double rate)
{
    return rate > 0 && rig_rng_unit(&s->rows.store->rng) < rate;
}

/* Commits at the session's turn, or loses its answer. */
static enum rig_outcome commit_rows(struct sim_session *s, struct rig_transaction *transaction)
{
    const struct rig_sim_options *options = atomic_load(&s->run)->env->options;
    transaction->phase = RIG_PHASE_COMMIT;
    if (draws(s, options->abort_rate)) {
        s->rows.error_code = "aborted";
        s->rows.error_text = "the simulated database aborted the transaction";
        rig_sim_rows_roll_back(&s->rows);
        return RIG_OUTCOME_FAIL;
    }
    transaction->session_lost = draws(s, options->loss_rate);
    const bool unheard = draws(s, options->info_rate) || transaction->session_lost;
    bool committed = false;
    if (unheard && draws(s, 0.5))
        rig_sim_rows_roll_back(&s->rows);
    else
        committed = rig_sim_rows_commit(&s->rows);
    if (unheard) {
        s->rows.error_code = "unknown";
        s->rows.error_text = "the answer to the commit was lost";
        return RIG_OUTCOME_INFO;
    }
    return committed ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL;
}

static enum rig_outcome run_rows(struct sim_session *s, struct rig_transaction *transaction,
                                 struct rig_row_program *program)
{
    struct sim_open_rows open = {.rows = {.execute = sim_execute}, .session = s};
    transaction->phase = RIG_PHASE_OPERATION;
    const bool begun = take_turn(s);
    if (begun)
        rig_sim_rows_begin(&s->rows, &atomic_load(&s->run)->rows);
    const bool commits = begun && program->body(program, &open.rows);
    if (commits && s->rows.error_code == NULL) {
        program->committing(program);
        if (take_turn(s))
            return commit_rows(s, transaction);
    } else if (begun && s->rows.error_code == NULL) {
        s->rows.error_code = RIG_ROWS_ROLLED_BACK;
        s->rows.error_text = "the program rolled its transaction back";
    }
    if (begun)
        rig_sim_rows_roll_back(&s->rows);
    return RIG_OUTCOME_FAIL;
}

static enum rig_outcome sim_run_program(void *session, struct rig_transaction *transaction,
                                        struct rig_row_program *program)
{
    struct sim_session *s = session;
    s->rows.error_code = s->rows.error_text = NULL;
    const enum rig_outcome outcome = run_rows(s, transaction, program);
    transaction->session_lost |= atomic_load(&s->interrupted);
    if (outcome != RIG_OUTCOME_OK) {
        (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", s->rows.error_code);
        (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%s", s->rows.error_text);
    }
    s->next_ns = s->complete_ns + 1 + s->client;
    s->has_completed = true;
    return outcome;
}

/* ---- the contract ---- */

static const struct rig_row_ops row_ops = {.load = sim_load_rows, .run_program = sim_run_program};

static void sim_interrupt(void *session)
{
    struct sim_session *s = session;
    atomic_store(&s->interrupted, true);
    const struct sim_run *run = atomic_load(&s->run);
    if (run != NULL)
        rig_sim_scheduler_interrupt(run->scheduler, s->client);
}

static void sim_close(void *session, bool last)
{
    struct sim_session *s = session;
    const struct sim_run *run = atomic_load(&s->run);
    rig_sim_rows_done(&s->rows);
    if (run != NULL && last)
        rig_sim_scheduler_leave(run->scheduler, s->client);
}

static int64_t sim_now_ns(void *session)
{
    struct sim_session *s = session;
    if (!s->has_completed)
        return s->next_ns;
    s->has_completed = false;
    return s->complete_ns;
}

static void sim_rest(void *session, bool rests)
{
    struct sim_session *s = session;
    struct rig_sim_scheduler *scheduler = atomic_load(&s->run)->scheduler;
    if (rests)
        rig_sim_scheduler_leave(scheduler, s->client);
    else
        s->next_ns = rig_sim_scheduler_enter(scheduler, s->client);
}

static void sim_describe(void *run, char *text, size_t size)
{
    const struct sim_run *r = run;
    const struct rig_sim_options *options = r->env->options;
    if (options->bug == RIG_SIM_BUG_NONE)
        (void)snprintf(text, size, "sim (%s)", rig_sim_isolation_names[options->isolation]);
    else
        (void)snprintf(text, size, "sim (%s, with the bug %s)", rig_sim_isolation_names[options->isolation],
                       rig_sim_bug_names[options->bug]);
}

static enum rig_rc sim_certify(void *run, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    const struct sim_run *r = run;
    if (!rig_sim_scheduler_give_certificate(r->scheduler, sink))
        return rig_no_memory(err, "the certificate");
    sink->end(sink->context, true, "");
    return RIG_OK;
}

const struct rig_driver rig_driver_sim = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "sim",
    .summary = "a database simulated inside rig, correct or deliberately wrong, deterministic for a seed",
    .workloads = RIG_SIM_ALL,
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_ROLLBACKS | RIG_DRIVER_SUBQUERIES |
                RIG_DRIVER_PREFILLS | RIG_DRIVER_LOCK_KINDS,
    .options = option_table,
    .options_size = sizeof(struct rig_sim_options),
    .run_size = sizeof(struct sim_run),
    .session_size = sizeof(struct sim_session),
    .check = sim_check,
    .init = sim_init,
    .done = sim_done,
    .open = sim_open,
    .transact = sim_transact,
    .interrupt = sim_interrupt,
    .close = sim_close,
    .now_ns = sim_now_ns,
    .rest = sim_rest,
    .describe = sim_describe,
    .certificates = RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_STREAM) | RIG_CERTIFICATE_BIT(RIG_CERTIFICATE_FULL),
    .certificate_source = "the simulated database",
    .certify = sim_certify,
    .rows = &row_ops,
};
