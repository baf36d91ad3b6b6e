#include "drivers/sim/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sim/engine_priv.h"

/* Other streams of the seed are numbered by client; the engine's own is apart from them. */
static const uint64_t engine_stream = UINT64_C(0x73696d) << 40;

const char *const rig_sim_isolation_names[] = {
#define ISOLATION_NAME(id, name, help) name,
    RIG_SIM_ISOLATION_TABLE(ISOLATION_NAME)
#undef ISOLATION_NAME
        NULL};

static const char *const workload_names[] = {
#define WORKLOAD_NAME(id, name, ...) name,
    RIG_WORKLOAD_TABLE(WORKLOAD_NAME)
#undef WORKLOAD_NAME
};

const char *const rig_sim_bug_names[] = {
#define BUG_NAME(id, name, levels, workloads, help) name,
    RIG_SIM_BUG_TABLE(BUG_NAME)
#undef BUG_NAME
        NULL};

static const struct {
    unsigned levels, workloads;
} bug_needs[] = {
#define BUG_NEEDS(id, name, levels, workloads, help) {levels, workloads},
    RIG_SIM_BUG_TABLE(BUG_NEEDS)
#undef BUG_NEEDS
};

static bool is_object(enum rig_workload workload)
{
    return (RIG_SIM_OBJECTS >> (unsigned)workload & 1) != 0;
}

/* The isolation level has what the bug needs. */
static enum rig_rc check_isolation(const struct rig_sim_options *options, enum rig_workload workload,
                                   struct rig_err *err)
{
    const char *isolation = rig_sim_isolation_names[options->isolation];
    if (is_object(workload) && options->isolation != RIG_SIM_SERIALIZABLE)
        return rig_fail(err, RIG_E_PLAN,
                        "`isolation: %s` has no effect on single operations, each of which is atomic; leave it out",
                        isolation);
    if (workload == RIG_WORKLOAD_LOG && options->isolation != RIG_SIM_SERIALIZABLE)
        return rig_fail(err, RIG_E_PLAN,
                        "`isolation: %s` has no effect on logs: a transaction takes effect at its commit; leave it out",
                        isolation);
    const unsigned levels = bug_needs[options->bug].levels;
    if ((levels >> options->isolation & 1) == 0 && levels == RIG_SIM_AT_SNAPSHOTS)
        return rig_fail(err, RIG_E_PLAN,
                        "bug `%s` needs snapshots, which `isolation: %s` does not have; use `snapshot-isolation` or "
                        "`serializable`",
                        rig_sim_bug_names[options->bug], isolation);
    if ((levels >> options->isolation & 1) == 0)
        return rig_fail(err, RIG_E_PLAN, "bug `%s` has no effect at `isolation: %s`; use `%s`",
                        rig_sim_bug_names[options->bug], isolation, rig_sim_isolation_names[__builtin_ctz(levels)]);
    return RIG_OK;
}

/* Adds the names of the workloads of the set, up to the text's size. */
static void name_workloads(unsigned workloads, char *text, size_t size)
{
    size_t length = 0;
    for (unsigned i = 0; i < RIG_WORKLOAD_COUNT && length < size; i++) {
        if ((workloads >> i & 1) != 0)
            length +=
                (size_t)snprintf(text + length, size - length, "%s`%s`", length == 0 ? "" : ", ", workload_names[i]);
    }
}

enum rig_rc rig_sim_options_check(const struct rig_sim_options *options, enum rig_workload workload,
                                  struct rig_err *err)
{
    RIG_REQUIRE(options->isolation >= 0 && options->isolation < RIG_SIM_ISOLATION_COUNT);
    RIG_REQUIRE(options->bug >= 0 && options->bug < RIG_SIM_BUG_COUNT);
    const unsigned allowed = bug_needs[options->bug].workloads;
    char names[256] = "";
    name_workloads(allowed, names, sizeof names);
    if ((RIG_SIM_ALL >> (unsigned)workload & 1) == 0)
        return rig_fail(err, RIG_E_PLAN, "the simulated database does not run this workload; use one of %s", names);
    const enum rig_rc rc = check_isolation(options, workload, err);
    if (rc == RIG_OK && (allowed >> (unsigned)workload & 1) == 0)
        return rig_fail(err, RIG_E_PLAN, "bug `%s` is one of the workload%s %s", rig_sim_bug_names[options->bug],
                        (allowed & (allowed - 1)) == 0 ? "" : "s", names);
    return rc;
}

/* True with the given chance; takes a number from the generator only when the chance is neither 0 nor 1. */
static bool chance(struct rig_sim_engine *engine, double rate)
{
    return rate > 0 && (rate >= 1 || rig_rng_unit(&engine->rng) < rate);
}

bool rig_sim_bug_strikes(struct rig_sim_engine *engine, enum rig_sim_bug bug)
{
    return engine->options.bug == (int64_t)bug && chance(engine, engine->options.bug_rate);
}

/* ---- life ---- */

/* The time at which a session that completed at `now_ticks` starts again: behind that tick, at an offset of its own. */
static int64_t next_invocation(struct rig_sim_engine *engine, uint32_t session)
{
    int64_t pause = 0;
    if (engine->options.think > 0)
        pause = (int64_t)rig_rng_below(&engine->rng, (uint64_t)engine->options.think + 1);
    return (engine->now_ticks + pause) * RIG_SIM_TICK_NS + 1 + session;
}

struct rig_sim_engine *rig_sim_engine_new(const struct rig_sim_options *options, enum rig_workload workload,
                                          uint64_t seed, uint32_t session_count)
{
    RIG_REQUIRE(session_count > 0 && session_count < RIG_SIM_TICK_NS - 1);
    RIG_REQUIRE(options->staleness > 0 && options->latency >= 0 && options->think >= 0);
    struct rig_sim_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return NULL;
    engine->options = *options;
    engine->workload = workload;
    engine->has_objects = is_object(workload);
    engine->has_logs = workload == RIG_WORKLOAD_LOG;
    engine->has_tables = (RIG_SIM_ROWS >> (unsigned)workload & 1) != 0;
    rig_sim_predicates_init(&engine->predicates);
    engine->session_count = session_count;
    rig_rng_init(&engine->rng, seed, engine_stream);
    rig_sim_store_init(&engine->store);
    int64_t most_working = options->workers != 0 && options->workers < session_count ? options->workers : session_count;
    engine->draws_ahead = most_working >= RIG_SIM_MANY;
    for (uint32_t i = 0; i < RIG_SIM_AHEAD; i++)
        engine->ahead[i] = RIG_SIM_NONE;
    engine->sessions = calloc(session_count, sizeof *engine->sessions);
    engine->stack = calloc(session_count, sizeof *engine->stack);
    if (!rig_sim_ready_init(&engine->ready, session_count) || engine->sessions == NULL || engine->stack == NULL ||
        !rig_heap_reserve(&engine->queued, session_count) || !rig_heap_reserve(&engine->timed, session_count) ||
        !rig_heap_reserve(&engine->counted, session_count)) {
        rig_sim_engine_free(engine);
        return NULL;
    }
    for (uint32_t i = 0; i < session_count; i++) {
        engine->sessions[i].site = (uint8_t)(i % RIG_SIM_SITE_COUNT);
        engine->sessions[i].wanted_key = UINT32_MAX;
        engine->sessions[i].next_ns = next_invocation(engine, i);
    }
    return engine;
}

void rig_sim_engine_open_accounts(struct rig_sim_engine *engine, const struct rig_accounts *accounts)
{
    RIG_REQUIRE(engine->next_id == 0);
    engine->accounts = *accounts;
}

void rig_sim_engine_take_model(struct rig_sim_engine *engine, const struct rig_model_calls *calls)
{
    engine->calls = calls;
}

void rig_sim_engine_prefill(struct rig_sim_engine *engine, int64_t count)
{
    RIG_REQUIRE(engine->next_id == 0 && count >= 0);
    engine->prefilled_keys = count;
}

static void free_work(struct rig_sim_work *work)
{
    if (work == NULL)
        return;
    rig_sim_writes_done(&work->writes);
    rig_sim_writes_done(&work->saved);
    rig_sim_ids_done(&work->reads);
    rig_sim_ids_done(&work->locks);
    rig_sim_results_done(&work->results);
    rig_sim_sights_done(&work->seen);
    rig_sim_lists_done(&work->lists);
    rig_sim_elements_done(&work->apart);
    rig_sim_elements_done(&work->elements);
    rig_sim_predicate_work_done(&work->predicate);
    free(work);
}

void rig_sim_engine_free(struct rig_sim_engine *engine)
{
    if (engine == NULL)
        return;
    for (uint32_t i = 0; engine->sessions != NULL && i < engine->session_count; i++)
        free_work(engine->sessions[i].work);
    for (struct rig_sim_work *work = engine->unused_work, *next; work != NULL; work = next) {
        next = work->next;
        free_work(work);
    }
    rig_sim_store_done(&engine->store);
    rig_sim_predicates_done(&engine->predicates);
    rig_sim_values_done(&engine->called);
    free(engine->sessions);
    free(engine->stack);
    rig_sim_ready_done(&engine->ready);
    rig_heap_done(&engine->queued);
    rig_heap_done(&engine->timed);
    rig_heap_done(&engine->counted);
    free(engine);
}

/* ---- one transaction ---- */

int64_t rig_sim_engine_invoke_ns(const struct rig_sim_engine *engine, uint32_t session)
{
    RIG_REQUIRE(session < engine->session_count);
    return engine->sessions[session].next_ns;
}

uint32_t rig_sim_engine_busy_count(const struct rig_sim_engine *engine)
{
    return engine->busy_count;
}

static void give_back_work(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (session->work == NULL)
        return;
    session->work->next = engine->unused_work;
    engine->unused_work = session->work;
    session->work = NULL;
}

static bool take_work(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (engine->unused_work == NULL) {
        session->work = calloc(1, sizeof *session->work);
        return session->work != NULL;
    }
    session->work = engine->unused_work;
    engine->unused_work = session->work->next;
    session->work->writes.count = 0;
    session->work->reads.count = 0;
    session->work->locks.count = 0;
    session->work->results.count = 0;
    session->work->seen.count = 0;
    session->work->apart.count = 0;
    rig_sim_predicate_work_clear(&session->work->predicate);
    return true;
}

void rig_sim_engine_begin(struct rig_sim_engine *engine, uint32_t session, const struct rig_op *ops, uint32_t op_count,
                          const struct rig_hold *hold)
{
    RIG_REQUIRE(session < engine->session_count && !engine->sessions[session].busy);
    struct rig_sim_session *s = &engine->sessions[session];
    RIG_INVARIANT(s->wanted_key == UINT32_MAX);
    give_back_work(engine, s);
    s->busy = true;
    s->invoke_ns = s->next_ns;
    s->begun = false;
    engine->busy_count++;
    s->id = ++engine->next_id;
    s->ops = ops;
    s->op_count = op_count;
    s->next_op = 0;
    s->abort_at = UINT32_MAX;
    s->lose_at = UINT32_MAX;
    s->rolls_back = false;
    s->wants_hold = hold->wanted;
    if (hold->wanted)
        s->hold = *hold;
    s->rollback = s->undone = (struct rig_rollback){0};
    s->holding = false;
    s->held_ns = -1;
    s->session_lost = false;
    s->error_code = "";
    s->error_text = "";
    s->phase = RIG_PHASE_BEGIN;
    rig_sim_place(engine, session);
}

void rig_sim_engine_roll_back_within(struct rig_sim_engine *engine, uint32_t session,
                                     const struct rig_rollback *rollback)
{
    RIG_REQUIRE(session < engine->session_count && engine->sessions[session].busy && !engine->sessions[session].begun);
    RIG_REQUIRE((RIG_SIM_TRANSACTIONS >> (unsigned)engine->workload & 1) != 0);
    engine->sessions[session].rollback = *rollback;
}

void rig_sim_engine_roll_back_at_end(struct rig_sim_engine *engine, uint32_t session)
{
    RIG_REQUIRE(session < engine->session_count && engine->sessions[session].busy && !engine->sessions[session].begun);
    RIG_REQUIRE(!engine->has_objects);
    engine->sessions[session].rolls_back = true;
}

static void complete(struct rig_sim_engine *engine, struct rig_sim_session *session, enum rig_outcome outcome,
                     const char *code, const char *text)
{
    RIG_INVARIANT(session->busy && (session->work == NULL || session->work->locks.count == 0));
    session->outcome = outcome;
    session->error_code = code;
    session->error_text = text;
    session->busy = false;
    engine->busy_count--;
    if (session->place != RIG_SIM_NOWHERE)
        rig_sim_displace(engine, rig_sim_session_index(engine, session));
    session->complete_ns = engine->now_ticks * RIG_SIM_TICK_NS;
    session->next_ns = next_invocation(engine, rig_sim_session_index(engine, session));
    RIG_INVARIANT(session->invoke_ns < session->complete_ns && session->complete_ns < session->next_ns);
}

static void roll_back(struct rig_sim_engine *engine, struct rig_sim_session *session, enum rig_outcome outcome,
                      const char *code, const char *text)
{
    engine->counts.aborts++;
    (engine->has_tables ? rig_sim_roll_back_rows
     : engine->has_logs ? rig_sim_roll_back_logs
                        : rig_sim_roll_back)(engine, session);
    complete(engine, session, outcome, code, text);
}

/* The first step: the answer's slot, the drawn failures, a snapshot. */
static bool start(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    session->begun = true;
    if (!take_work(engine, session) ||
        !rig_sim_results_reserve(&session->work->results, (size_t)session->op_count + 1) ||
        !rig_sim_sights_reserve(&session->work->seen, (size_t)session->op_count + 1))
        return false;
    session->work->results.count = session->work->seen.count = session->op_count;
    for (uint32_t i = 0; i < session->op_count; i++) {
        session->work->results.at[i] = (struct rig_read){.state = RIG_READ_UNKNOWN};
        session->work->seen.at[i].node = RIG_SIM_NO_NODE;
    }
    if (chance(engine, engine->options.abort_rate))
        session->abort_at = (uint32_t)rig_rng_below(&engine->rng, (uint64_t)session->op_count + 1);
    if (chance(engine, engine->options.loss_rate))
        session->lose_at = (uint32_t)rig_rng_below(&engine->rng, (uint64_t)session->op_count + 1);
    rig_sim_take_snapshot(engine, session);
    session->work->predicate.aged = session->snapshot.last[0] < engine->commit;
    session->phase = RIG_PHASE_OPERATION;
    return true;
}

/* Completes a transaction that the rules do not let commit. Its client may lose the answer. */
static void refuse(struct rig_sim_engine *engine, struct rig_sim_session *session, enum rig_sim_progress why,
                   bool unheard)
{
    const char *code = "out-of-memory", *text = "the simulated database has no memory left";
    if (why == RIG_SIM_CONFLICT) {
        engine->counts.conflicts++;
        code = "conflict";
        text = "another transaction committed a key of this one first";
    } else if (why == RIG_SIM_PIVOT) {
        engine->counts.pivots++;
        code = "not-serializable";
        text = "reads and writes of concurrent transactions could not be ordered";
    } else if (why == RIG_SIM_CONSTRAINT) {
        code = "constraint";
        text = "a row would refer to none, or two rows would have the same unique value";
    } else if (why == RIG_SIM_MISMATCH) {
        engine->counts.mismatches++;
        code = "mismatch";
        text = "the object does not have the value that the operation expects, or is full";
    } else if (why == RIG_SIM_DEADLOCK) {
        engine->counts.deadlocks++;
        code = "deadlock";
        text = "the transactions waited for each other";
    }
    if (why == RIG_SIM_POOR) {
        code = "insufficient-funds";
        text = "the transfer would leave a balance below 0";
    }
    if (unheard)
        roll_back(engine, session, RIG_OUTCOME_INFO, "unknown", "the answer to the commit was lost");
    else
        roll_back(engine, session, RIG_OUTCOME_FAIL, code, text);
}

static void run_commit(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    session->phase = RIG_PHASE_COMMIT;
    session->session_lost = session->lose_at == session->op_count;
    bool unheard = session->session_lost || chance(engine, engine->options.info_rate);
    if (unheard && chance(engine, 0.5)) {
        roll_back(engine, session, RIG_OUTCOME_INFO, "unknown", "the answer to the commit was lost");
        return;
    }
    enum rig_sim_progress progress = engine->has_objects  ? rig_sim_apply(engine, session)
                                     : engine->has_tables ? rig_sim_commit_rows(engine, session)
                                     : engine->has_logs   ? rig_sim_commit_logs(engine, session)
                                                          : rig_sim_commit(engine, session);
    if (progress != RIG_SIM_COMMITTED) {
        refuse(engine, session, progress, unheard);
        return;
    }
    engine->counts.commits++;
    unheard |= engine->has_tables && !rig_sim_view_rows_of(engine, session);
    if (unheard)
        complete(engine, session, RIG_OUTCOME_INFO, "unknown", "the answer to the commit was lost");
    else
        complete(engine, session, RIG_OUTCOME_OK, "", "");
}

static enum rig_sim_progress run_operation(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (engine->has_objects)
        return RIG_SIM_WENT_ON; /* it takes effect at the commit */
    if (rig_rollback_wanted(&session->rollback) && !rig_sim_pass_savepoint(engine, session))
        return RIG_SIM_NO_MEMORY;
    switch (session->ops[session->next_op].kind) {
    case RIG_OP_APPEND:
    case RIG_OP_WRITE:
    case RIG_OP_ADD: /* a set is a list whose order has no meaning */
    case RIG_OP_INCREMENT:
        return rig_sim_run_write(engine, session);
    case RIG_OP_READ_LIST:
    case RIG_OP_READ_REGISTER:
    case RIG_OP_READ_SET:
    case RIG_OP_READ_COUNTER:
        return rig_sim_run_read(engine, session);
    case RIG_OP_ENQUEUE:
    case RIG_OP_DEQUEUE:
    case RIG_OP_PUSH:
    case RIG_OP_POP:
    case RIG_OP_EXPECT:
    case RIG_OP_EXTEND:
    case RIG_OP_FREE:
    case RIG_OP_TOKEN:
    case RIG_OP_HOLD:
    case RIG_OP_LIMIT:
    case RIG_OP_LEASE:
    case RIG_OP_ARGUMENT:
    case RIG_OP_CALL:
    case RIG_OP_RESULT:
    case RIG_OP_KIND_COUNT:
        break;
    case RIG_OP_SEND:
    case RIG_OP_POLL:
        return rig_sim_run_log_operation(engine, session);
    case RIG_OP_ROW:
    case RIG_OP_READ_WHERE:
        return rig_sim_run_row_operation(engine, session);
    }
    rig_bug(__FILE__, __LINE__, "requires operations of a workload that it runs");
}

/* True when the transaction now pauses before its next operation. */
static bool begin_hold(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (!session->wants_hold || session->next_op != session->hold.before_op)
        return false;
    session->wants_hold = false;
    session->holding = true;
    session->held_from_ns = engine->now_ticks * RIG_SIM_TICK_NS;
    session->hold_until_ns = 0;
    if (session->hold.other_commits > 0)
        session->hold_until_commits = engine->counts.commits + session->hold.other_commits;
    else
        session->hold_until_ns = engine->now_ticks * RIG_SIM_TICK_NS + session->hold.duration_ns;
    return true;
}

static void run_step(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (!session->begun) {
        if (!start(engine, session))
            refuse(engine, session, RIG_SIM_NO_MEMORY, false);
        return;
    }
    if (session->holding)
        session->held_ns = engine->now_ticks * RIG_SIM_TICK_NS - session->held_from_ns;
    session->holding = false;
    if (begin_hold(engine, session))
        return;
    if (session->next_op == session->abort_at) {
        roll_back(engine, session, RIG_OUTCOME_FAIL, "aborted", "the simulated database aborted the transaction");
    } else if (session->next_op == session->op_count && session->rolls_back) {
        roll_back(engine, session, RIG_OUTCOME_FAIL, RIG_ROLLED_BACK_CODE, RIG_ROLLED_BACK_TEXT);
    } else if (session->next_op == session->op_count) {
        run_commit(engine, session);
    } else if (session->next_op == session->lose_at) {
        session->session_lost = true;
        roll_back(engine, session, RIG_OUTCOME_FAIL, "connection-lost", "the connection broke before the commit");
    } else {
        enum rig_sim_progress progress = run_operation(engine, session);
        if (progress == RIG_SIM_WENT_ON)
            session->next_op++;
        else if (progress != RIG_SIM_BLOCKED)
            refuse(engine, session, progress, false);
    }
}

uint32_t rig_sim_engine_step(struct rig_sim_engine *engine)
{
    RIG_REQUIRE(engine->busy_count > 0);
    uint32_t chosen = rig_sim_choose(engine);
    struct rig_sim_session *session = &engine->sessions[chosen];
    engine->now_ticks++;
    if (engine->options.latency > 0)
        engine->now_ticks += (int64_t)rig_rng_below(&engine->rng, (uint64_t)engine->options.latency + 1);
    run_step(engine, session);
    if (!session->busy)
        return chosen;
    if (session->holding || session->wanted_key != UINT32_MAX)
        rig_sim_place(engine, chosen);
    return RIG_SIM_NONE;
}

void rig_sim_engine_cancel(struct rig_sim_engine *engine, uint32_t session)
{
    RIG_REQUIRE(session < engine->session_count && engine->sessions[session].busy);
    engine->now_ticks++;
    engine->sessions[session].session_lost = true;
    rig_sim_displace(engine, session);
    roll_back(engine, &engine->sessions[session], RIG_OUTCOME_FAIL, "interrupted", "the run is ending");
}

void rig_sim_engine_catch_up(struct rig_sim_engine *engine, uint32_t session)
{
    RIG_REQUIRE(session < engine->session_count && !engine->sessions[session].busy);
    struct rig_sim_session *s = &engine->sessions[session];
    int64_t earliest_ns = engine->now_ticks * RIG_SIM_TICK_NS + 1 + session;
    if (s->next_ns < earliest_ns)
        s->next_ns = earliest_ns;
}

/* ---- answers ---- */

/* A list that is no prefix of its key's trunk: the part shared with the trunk, and the rest, next to each other. */
static void assemble(struct rig_sim_session *session, const struct rig_sim_key *key, const struct rig_sim_seen *seen,
                     struct rig_sim_list *list)
{
    int64_t *at = session->work->apart.at + session->work->apart.count;
    uint32_t shared = list->origin_count;
    session->work->apart.count += list->count;
    if (shared > 0)
        memcpy(at, key->trunk.at, shared * sizeof *at);
    rig_sim_key_list(key, seen->node, shared, at + shared);
    if (seen->reordered) {
        int64_t last = at[list->count - 1];
        at[list->count - 1] = at[list->count - 2];
        at[list->count - 2] = last;
        if (shared > list->count - 2)
            list->origin_count = list->count - 2;
    }
    list->elements = at;
    if (seen->headless) {
        list->elements++;
        list->count--;
        list->origin_count = 0;
    }
}

/* The elements of each result, whose places among `elements` are in the answers. */
static const struct rig_sim_list *placed_lists(struct rig_sim_work *work, const int64_t *elements)
{
    for (size_t i = 0; i < work->results.count; i++) {
        const struct rig_read *result = &work->results.at[i];
        work->lists.at[i] = (struct rig_sim_list){.elements = elements, .count = result->count};
        if (result->count > 0)
            work->lists.at[i].elements += result->first_element;
    }
    return work->lists.at;
}

const struct rig_sim_list *rig_sim_engine_lists(struct rig_sim_engine *engine, uint32_t session)
{
    RIG_REQUIRE(session < engine->session_count && !engine->sessions[session].busy);
    struct rig_sim_session *s = &engine->sessions[session];
    size_t apart_count = 0;
    if (s->work == NULL || !rig_sim_lists_reserve(&s->work->lists, s->work->seen.count))
        return NULL;
    if (engine->has_tables)
        return placed_lists(s->work, s->work->predicate.shown.at);
    if (engine->has_logs)
        return placed_lists(s->work, s->work->apart.at);
    for (size_t i = 0; i < s->work->seen.count; i++) {
        const struct rig_sim_seen *seen = &s->work->seen.at[i];
        s->work->lists.at[i] = (struct rig_sim_list){.elements = NULL};
        if (seen->node == RIG_SIM_NO_NODE)
            continue;
        const struct rig_sim_key *key = &engine->store.keys.at[seen->key];
        uint32_t count = rig_sim_key_depth(key, seen->node), shared = rig_sim_key_on_trunk(key, seen->node);
        s->work->lists.at[i] = (struct rig_sim_list){
            .elements = key->trunk.at, .count = count, .origin = key->origin, .origin_count = shared};
        if (shared < count || seen->reordered || seen->headless)
            apart_count += count;
    }
    s->work->apart.count = 0;
    if (!rig_sim_elements_reserve(&s->work->apart, apart_count))
        return NULL;
    for (size_t i = 0; apart_count > 0 && i < s->work->seen.count; i++) {
        struct rig_sim_list *list = &s->work->lists.at[i];
        const struct rig_sim_seen *seen = &s->work->seen.at[i];
        if (list->count > 0 && (list->origin_count < list->count || seen->reordered || seen->headless))
            assemble(s, &engine->store.keys.at[seen->key], seen, list);
    }
    return s->work->lists.at;
}

void rig_sim_engine_outcome(const struct rig_sim_engine *engine, uint32_t session, struct rig_sim_answer *answer)
{
    RIG_REQUIRE(session < engine->session_count && !engine->sessions[session].busy);
    const struct rig_sim_session *s = &engine->sessions[session];
    *answer = (struct rig_sim_answer){
        .invoke_ns = s->invoke_ns,
        .complete_ns = s->complete_ns,
        .outcome = s->outcome,
        .phase = s->phase,
        .session_lost = s->session_lost,
        .error_code = s->error_code,
        .error_text = s->error_text,
        .held_ns = s->held_ns,
        .held_before = s->held_ns < 0 ? 0 : s->hold.before_op,
        .view = s->work == NULL ? 0 : s->work->predicate.view,
        .reads = s->work == NULL || s->work->results.count == 0 ? NULL : s->work->results.at,
    };
}

/* Writes all lists one behind the other; false when memory runs out. */
static bool collect_elements(struct rig_sim_engine *engine, uint32_t session)
{
    struct rig_sim_session *s = &engine->sessions[session];
    const struct rig_sim_list *lists = rig_sim_engine_lists(engine, session);
    size_t total = 0;
    if (s->work == NULL)
        return false;
    for (size_t i = 0; lists != NULL && i < s->work->results.count; i++)
        total += s->work->results.at[i].count;
    s->work->elements.count = 0;
    if (lists == NULL || !rig_sim_elements_reserve(&s->work->elements, total))
        return false;
    for (size_t i = 0; i < s->work->results.count; i++) {
        uint32_t count = s->work->results.at[i].count;
        s->work->results.at[i].first_element = s->work->elements.count;
        if (count > 0)
            memcpy(s->work->elements.at + s->work->elements.count, lists[i].elements, count * sizeof(int64_t));
        s->work->elements.count += count;
    }
    return true;
}

void rig_sim_engine_answer(struct rig_sim_engine *engine, uint32_t session, struct rig_sim_answer *answer)
{
    bool complete = collect_elements(engine, session);
    const struct rig_sim_session *s = &engine->sessions[session];
    rig_sim_engine_outcome(engine, session, answer);
    if (complete) {
        answer->elements = s->work->elements.at;
        answer->element_count = s->work->elements.count;
    } else {
        answer->reads = NULL;
    }
}

void rig_sim_engine_forget(struct rig_sim_engine *engine, int64_t key)
{
    rig_sim_store_forget(&engine->store, key);
    if (engine->has_tables)
        rig_sim_predicates_forget(&engine->predicates, key);
}

void rig_sim_engine_certify(struct rig_sim_engine *engine, bool full)
{
    RIG_REQUIRE(engine->next_id == 0 && engine->has_tables);
    engine->predicates.evidence.keeps = true;
    engine->predicates.evidence.full = full;
}

bool rig_sim_engine_give_certificate(const struct rig_sim_engine *engine, const struct rig_certificate_sink *sink)
{
    return rig_sim_evidence_give(&engine->predicates.evidence, sink);
}
