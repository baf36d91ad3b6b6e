#include "generator/synthetic/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/heap.h"
#include "generator/generator_types.h"
#include "generator/model_calls.h"
#include "generator/synthetic/closing_reads.h"
#include "history/model/certificate.h"
#include "history/types/types.h"

enum {
    MOST_ATTEMPTS = 5,     /* of a closing read, as in a run */
    WATCH_EVERY = 1 << 14, /* transactions */
};

struct session {
    const struct rig_op *ops; /* of the op_room of `struct making` */
    uint32_t op_count;
    uint32_t attempts;            /* 0: a question of the generator, else of a closing read */
    uint32_t drained;             /* closing reads in a row that took something from the key */
    uint64_t number;              /* of the question */
    bool rolls_back;              /* the question's transaction, at its end */
    struct rig_rollback rollback; /* of the question; what it undoes is a transaction of its own in the history */
    int64_t process;
};

struct making {
    const struct rig_synthetic *synthetic;
    struct rig_synthetic_records *records;
    const struct rig_synthetic_watch *watch;
    struct rig_synthetic_counts *counts;
    struct rig_err *err;
    struct rig_sim_engine *engine;
    struct rig_generator *generator;
    struct rig_closing_reads closing;
    struct rig_model_calls calls;
    struct rig_generator_options workload; /* with the number of sessions that share the stream */
    struct session *sessions;
    uint32_t session_count;
    uint32_t most_ops;
    struct rig_op *op_room;        /* most_ops a session */
    struct rig_op *kept_ops;       /* most_ops: those of one session that its rollback leaves */
    struct rig_record_read *reads; /* most_ops */
    struct rig_heap invocations;   /* that are not written yet */
    int64_t issued;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT,
                    RIG_NO_MEMORY "the simulated database; use fewer `clients.count` or `workload.keys.active`, "
                                  "or `workload.final-reads=closing`");
}

/* ---- questions ---- */

static struct rig_op *ops_of(struct making *m, uint32_t id)
{
    return m->op_room + (size_t)id * m->most_ops;
}

/* Gives the session's question to the database; the event is written when its time has come. */
static enum rig_rc begin(struct making *m, uint32_t id, const struct rig_hold *hold)
{
    struct session *session = &m->sessions[id];
    if (!rig_heap_push(&m->invocations, rig_sim_engine_invoke_ns(m->engine, id), id))
        return no_memory(m->err);
    rig_sim_engine_begin(m->engine, id, session->ops, session->op_count, hold);
    if (rig_rollback_wanted(&session->rollback))
        rig_sim_engine_roll_back_within(m->engine, id, &session->rollback);
    if (session->rolls_back)
        rig_sim_engine_roll_back_at_end(m->engine, id);
    return RIG_OK;
}

static void forget(struct making *m, int64_t key)
{
    rig_sim_engine_forget(m->engine, key);
    rig_synthetic_records_forget(m->records, key);
}

/* The closing read of some keys, when there is one to do. */
static bool take_closing_read(struct making *m, uint32_t id)
{
    struct session *session = &m->sessions[id];
    const struct rig_generator_options *workload = &m->synthetic->workload;
    int64_t keys[RIG_MOST_KEYS_A_READ];
    uint32_t count = rig_closing_reads_take(&m->closing, keys);
    if (rig_generator_final_reads(workload) == RIG_FINAL_NONE) {
        for (uint32_t i = 0; i < count; i++)
            forget(m, keys[i]);
        return false;
    }
    enum rig_op_kind kind = rig_data_types[workload->type].read_op;
    for (uint32_t i = 0; i < count; i++)
        ops_of(m, id)[i] = (struct rig_op){.kind = kind, .key = keys[i]};
    session->op_count = count;
    session->rollback = (struct rig_rollback){0};
    session->rolls_back = false;
    session->attempts = 1;
    return count > 0;
}

/* The session's next transaction: a closing read, or a question of the generator; neither when all is done. */
static enum rig_rc issue(struct making *m, uint32_t id)
{
    static const struct rig_hold no_hold;
    struct session *session = &m->sessions[id];
    if (take_closing_read(m, id))
        return begin(m, id, &no_hold);
    if (m->issued == m->synthetic->workload.transactions)
        return RIG_OK;
    struct rig_transaction question = {0};
    rig_generator_next(m->generator, &question);
    memcpy(ops_of(m, id), question.ops, question.op_count * sizeof *question.ops);
    rig_generator_give_owner(&m->workload, ops_of(m, id), question.op_count, id);
    session->op_count = question.op_count;
    session->rollback = question.rollback;
    session->rolls_back = question.rolls_back;
    session->attempts = 0;
    session->number = (uint64_t)m->issued++;
    if (!rig_closing_reads_issue(&m->closing))
        return no_memory(m->err);
    return begin(m, id, &question.hold);
}

/* ---- rollbacks to savepoints ---- */

/* Copies the operations that the session's transaction undoes, or the others; returns their number. */
static uint32_t pick(struct making *m, const struct session *session, bool undone)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < session->op_count; i++) {
        if (rig_rollback_undoes(&session->rollback, session->ops, i) == undone)
            m->kept_ops[count++] = session->ops[i];
    }
    return count;
}

/* The operations of the session's transaction in the history: without those that it rolls back. */
static const struct rig_op *recorded_ops(struct making *m, const struct session *session, uint32_t *count)
{
    *count = session->op_count;
    if (!rig_rollback_wanted(&session->rollback))
        return session->ops;
    *count = pick(m, session, false);
    return m->kept_ops;
}

/* The part that the transaction rolls back, as a run records it (run/load/run_client.h): it failed when it began. */
static enum rig_rc write_undone(struct making *m, uint32_t id, int64_t when_ns)
{
    const struct session *session = &m->sessions[id];
    static const char error[] = "savepoint: the process's next transaction rolled these operations back";
    const uint32_t count = pick(m, session, true);
    struct rig_column_row columns = {0};
    rig_column_give(&columns, RIG_COLUMN_SAVEPOINT, session->rollback.from);
    const struct rig_record_completion completion = {
        .columns = &columns, .outcome = RIG_OUTCOME_FAIL, .error = error, .error_length = sizeof error - 1};
    const struct rig_client_event event = {id, count, session->process, when_ns, m->kept_ops};
    enum rig_rc rc = rig_synthetic_records_invoke(m->records, &event, m->err);
    if (rc == RIG_OK)
        rc = rig_synthetic_records_complete(m->records, &event, &completion, m->err);
    m->counts->transactions++;
    m->counts->operations += count;
    m->counts->fail++;
    return rc;
}

/* Results and columns without the writes that were rolled back. */
static void leave_out_undone(struct making *m, const struct session *session, struct rig_column_row *columns)
{
    int64_t *before = &columns->at[RIG_COLUMN_HELD_BEFORE];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < session->op_count; i++) {
        if (!rig_rollback_undoes(&session->rollback, session->ops, i))
            m->reads[kept++] = m->reads[i];
    }
    if ((columns->given & RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE)) != 0)
        *before = rig_rollback_number(&session->rollback, session->ops, (uint32_t)*before);
}

/* ---- answers ---- */

static enum rig_rc write_invocations(struct making *m, int64_t before_ns)
{
    const struct rig_due *first;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && (first = rig_heap_first(&m->invocations)) != NULL && first->when < before_ns) {
        struct rig_due due = rig_heap_pop(&m->invocations);
        const struct session *session = &m->sessions[due.id];
        struct rig_client_event event = {.client = due.id, .process = session->process, .time_ns = due.when};
        if (rig_rollback_wanted(&session->rollback))
            rc = write_undone(m, due.id, due.when);
        event.ops = recorded_ops(m, session, &event.op_count);
        if (rc == RIG_OK)
            rc = rig_synthetic_records_invoke(m->records, &event, m->err);
    }
    return rc;
}

/* The client's result for each operation; NULL when there is none. */
static const struct rig_record_read *gather_reads(struct making *m, uint32_t id, const struct rig_sim_answer *answer)
{
    const struct session *session = &m->sessions[id];
    const struct rig_sim_list *lists = NULL;
    if (answer->reads == NULL)
        return NULL;
    if (rig_data_type_has_sequences(&rig_data_types[m->synthetic->workload.type]) &&
        m->synthetic->shape != RIG_SHAPE_BLIND) {
        lists = rig_sim_engine_lists(m->engine, id);
        if (lists == NULL)
            return NULL;
    }
    for (uint32_t i = 0; i < session->op_count; i++) {
        m->reads[i] = (struct rig_record_read){.state = answer->reads[i].state, .value = answer->reads[i].value};
        if (lists == NULL)
            continue;
        m->reads[i].count = lists[i].count;
        m->reads[i].elements = lists[i].elements;
        m->reads[i].origin = lists[i].origin;
        m->reads[i].origin_count = lists[i].origin_count;
    }
    return m->reads;
}

static const struct rig_record_read *blind_reads(struct making *m, uint32_t op_count)
{
    for (uint32_t i = 0; i < op_count; i++)
        m->reads[i] = (struct rig_record_read){.state = RIG_READ_SEEN};
    return m->reads;
}

static void count_answer(struct making *m, const struct session *session, enum rig_outcome outcome)
{
    struct rig_synthetic_counts *counts = m->counts;
    counts->transactions++;
    counts->operations += rig_rollback_number(&session->rollback, session->ops, session->op_count);
    counts->ok += outcome == RIG_OUTCOME_OK;
    counts->fail += outcome == RIG_OUTCOME_FAIL;
    counts->info += outcome == RIG_OUTCOME_INFO;
    if (counts->transactions % WATCH_EVERY == 0 && m->watch != NULL) {
        counts->bytes = rig_synthetic_records_bytes(m->records);
        m->watch->progress(m->watch->context, counts);
    }
}

/* As in a run (run/load/run_closing.h). */
static bool drain_goes_on(const struct making *m, struct session *session)
{
    const struct rig_generator_options *workload = &m->synthetic->workload;
    const bool took = m->synthetic->shape != RIG_SHAPE_BLIND &&
                      rig_generator_drains_on(workload, m->reads[0].state, (uint32_t)m->reads[0].count);
    session->drained = took && session->drained < rig_generator_most_drained(workload) ? session->drained + 1 : 0;
    return session->drained > 0;
}

/* The transaction is written; true when the session has to repeat it. */
static bool settle(struct making *m, uint32_t id, enum rig_outcome outcome)
{
    struct session *session = &m->sessions[id];
    if (outcome == RIG_OUTCOME_INFO)
        session->process += m->session_count;
    if (session->attempts == 0) {
        rig_closing_reads_complete(&m->closing, session->number);
        return false;
    }
    if (outcome != RIG_OUTCOME_OK && session->attempts < MOST_ATTEMPTS) {
        session->attempts++;
        return true;
    }
    if (outcome == RIG_OUTCOME_OK && drain_goes_on(m, session))
        return true;
    for (uint32_t i = 0; i < session->op_count; i++)
        forget(m, session->ops[i].key);
    return false;
}

static enum rig_rc answer(struct making *m, uint32_t id)
{
    static const struct rig_hold no_hold;
    struct session *session = &m->sessions[id];
    struct rig_sim_answer answer;
    rig_sim_engine_outcome(m->engine, id, &answer);
    bool blind = m->synthetic->shape == RIG_SHAPE_BLIND;
    struct rig_column_row columns = {0};
    if (answer.held_ns >= 0) {
        rig_column_give(&columns, RIG_COLUMN_HELD, answer.held_ns);
        rig_column_give(&columns, RIG_COLUMN_HELD_BEFORE, answer.held_before);
    }
    if (answer.view != 0)
        rig_column_give(&columns, RIG_COLUMN_VIEW, (int64_t)answer.view);
    const struct rig_record_read *reads = blind ? blind_reads(m, session->op_count) : gather_reads(m, id, &answer);
    if (rig_rollback_wanted(&session->rollback))
        leave_out_undone(m, session, &columns);
    const struct rig_record_completion completion = {.columns = columns.given == 0 ? NULL : &columns,
                                                     .outcome = answer.outcome,
                                                     .error = answer.error_code[0] == '\0' ? NULL : answer.error_code,
                                                     .error_length = strlen(answer.error_code),
                                                     .reads = reads};
    enum rig_rc rc = write_invocations(m, answer.complete_ns);
    struct rig_client_event event = {.client = id, .process = session->process, .time_ns = answer.complete_ns};
    event.ops = recorded_ops(m, session, &event.op_count);
    if (rc == RIG_OK)
        rc = rig_synthetic_records_complete(m->records, &event, &completion, m->err);
    if (rc != RIG_OK)
        return rc;
    count_answer(m, session, answer.outcome);
    if (session->process > INT32_MAX - (int64_t)m->session_count ||
        rig_synthetic_records_count(m->records) >= UINT32_MAX - 3)
        return rig_fail(m->err, RIG_E_LIMIT,
                        "a history has 2^32 events and 2^31 processes at most; use fewer `workload.transactions`");
    return settle(m, id, answer.outcome) ? begin(m, id, &no_hold) : issue(m, id);
}

/* ---- the whole run ---- */

static enum rig_rc start(struct making *m)
{
    const struct rig_synthetic *synthetic = m->synthetic;
    m->session_count = (uint32_t)synthetic->clients;
    m->most_ops = rig_generator_most_operations(&synthetic->workload);
    if (m->most_ops < RIG_MOST_KEYS_A_READ)
        m->most_ops = RIG_MOST_KEYS_A_READ;
    m->engine = rig_sim_engine_new(&synthetic->sim, (enum rig_workload)synthetic->workload.type,
                                   (uint64_t)synthetic->seed, m->session_count);
    m->sessions = calloc(m->session_count, sizeof *m->sessions);
    m->op_room = calloc((size_t)m->session_count * m->most_ops, sizeof *m->op_room);
    m->kept_ops = calloc(m->most_ops, sizeof *m->kept_ops);
    m->reads = calloc(m->most_ops, sizeof *m->reads);
    if (m->engine == NULL || m->sessions == NULL || m->op_room == NULL || m->kept_ops == NULL || m->reads == NULL)
        return no_memory(m->err);
    m->calls = rig_model_calls_of(synthetic->workload.specification);
    rig_sim_engine_take_model(m->engine, &m->calls);
    const struct rig_accounts accounts = rig_generator_accounts(&synthetic->workload);
    rig_sim_engine_open_accounts(m->engine, &accounts);
    if (synthetic->certificate != RIG_CERTIFICATE_NONE)
        rig_sim_engine_certify(m->engine, synthetic->certificate == RIG_CERTIFICATE_FULL);
    m->workload = synthetic->workload;
    m->workload.sharing = synthetic->clients;
    enum rig_rc rc = rig_generator_new(&m->workload, (uint64_t)synthetic->seed, 0, 1, &m->generator, m->err);
    if (rc == RIG_OK)
        rc = rig_closing_reads_init(&m->closing, &m->workload, (uint64_t)synthetic->seed, m->err);
    for (uint32_t id = 0; rc == RIG_OK && id < m->session_count; id++) {
        m->sessions[id].process = id;
        m->sessions[id].ops = ops_of(m, id);
        rc = issue(m, id);
    }
    return rc;
}

/* Until every session is idle. */
static enum rig_rc go_on(struct making *m)
{
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && rig_sim_engine_busy_count(m->engine) > 0) {
        uint32_t session = rig_sim_engine_step(m->engine);
        if (session != RIG_SIM_NONE)
            rc = answer(m, session);
    }
    return rc;
}

/* No session writes any more: the sessions read the remaining keys. */
static enum rig_rc read_the_rest(struct making *m)
{
    if (!rig_closing_reads_end(&m->closing))
        return no_memory(m->err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t id = 0; rc == RIG_OK && id < m->session_count; id++) {
        rig_sim_engine_catch_up(m->engine, id);
        rc = issue(m, id);
    }
    return rc == RIG_OK ? go_on(m) : rc;
}

/* Writes the certificate of the simulated database. */
static enum rig_rc certify(struct making *m)
{
    struct rig_certificate certificate;
    struct rig_certificate_taking taking;
    if (m->synthetic->certificate == RIG_CERTIFICATE_NONE)
        return RIG_OK;
    rig_certificate_init(&certificate);
    rig_certificate_taking_init(&taking, &certificate);
    const struct rig_certificate_sink sink = {.context = &taking,
                                              .commit = rig_certificate_take_commit,
                                              .version = rig_certificate_take_version,
                                              .view = rig_certificate_take_view,
                                              .snapshot = rig_certificate_take_snapshot,
                                              .row = rig_certificate_take_row};
    const bool given = rig_sim_engine_give_certificate(m->engine, &sink);
    certificate.complete = true;
    (void)snprintf(certificate.source, sizeof certificate.source, "%s", "the simulated database");
    const enum rig_rc rc = given ? rig_synthetic_records_certify(m->records, &certificate, m->err) : no_memory(m->err);
    rig_certificate_taking_done(&taking);
    rig_certificate_done(&certificate);
    return rc;
}

static void making_done(struct making *m)
{
    rig_sim_engine_free(m->engine);
    rig_generator_free(m->generator);
    rig_closing_reads_done(&m->closing);
    rig_heap_done(&m->invocations);
    free(m->sessions);
    free(m->op_room);
    free(m->kept_ops);
    free(m->reads);
}

enum rig_rc rig_simulation_write(const struct rig_synthetic *synthetic, struct rig_synthetic_records *records,
                                 const struct rig_synthetic_watch *watch, struct rig_synthetic_counts *counts,
                                 struct rig_err *err)
{
    struct making m = {.synthetic = synthetic, .records = records, .watch = watch, .counts = counts, .err = err};
    enum rig_rc rc = start(&m);
    if (rc == RIG_OK)
        rc = go_on(&m);
    if (rc == RIG_OK)
        rc = read_the_rest(&m);
    if (rc == RIG_OK)
        rc = certify(&m);
    counts->keys = rc == RIG_OK ? (uint64_t)rig_closing_reads_key_bound(&m.closing) : 0;
    making_done(&m);
    return rc;
}
