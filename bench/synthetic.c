#include "bench/synthetic.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/option_parse.h"
#include "base/vec.h"
#include "drivers/built_in.h"
#include "history/builder.h"
#include "history/event_order.h"

static const char *const shapes[] = {"simulated", "blind", "ring-wr", "ring-rw", "ring-mixed", NULL};

static const struct rig_option own_options[] = {
    {.name = "shape",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct synthetic, shape),
     .default_text = "simulated",
     .choices = shapes,
     .help = "how the history comes about"},
    {.name = "clients",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct synthetic, clients),
     .default_text = "20",
     .least = 1,
     .most = RIG_SIM_TICK_NS - 1,
     .help = "concurrent sessions"},
    {.name = "seed",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct synthetic, seed),
     .default_text = "1",
     .least = 0,
     .most = 9e15,
     .help = "of all random choices"},
    {.name = NULL},
};

enum rig_rc synthetic_defaults(struct synthetic *synthetic, struct rig_err *err)
{
    struct rig_arena arena; /* of lists, which these tables do not have */
    rig_arena_init(&arena, 0);
    *synthetic = (struct synthetic){0};
    enum rig_rc rc = rig_option_defaults(own_options, synthetic, &arena, err);
    if (rc == RIG_OK)
        rc = rig_option_defaults(rig_generator_option_table, &synthetic->workload, &arena, err);
    if (rc == RIG_OK)
        rc = rig_option_defaults(rig_driver_sim.options, &synthetic->sim, &arena, err);
    rig_arena_done(&arena);
    synthetic->workload.transactions = 100000;
    return rc;
}

enum rig_rc synthetic_set(struct synthetic *synthetic, const char *assignment, struct rig_err *err)
{
    static const struct {
        const char *prefix;
        size_t offset;
    } groups[] = {{"workload.", offsetof(struct synthetic, workload)}, {"database.", offsetof(struct synthetic, sim)}};
    const struct rig_option *const tables[] = {rig_generator_option_table, rig_driver_sim.options};
    const struct rig_option *table = own_options;
    char *object = (char *)synthetic;
    const char *name_at = assignment;
    for (size_t i = 0; i < 2; i++) {
        if (strncmp(assignment, groups[i].prefix, strlen(groups[i].prefix)) == 0) {
            table = tables[i];
            object += groups[i].offset;
            name_at += strlen(groups[i].prefix);
        }
    }
    char name[64] = "";
    const char *equals = strchr(name_at, '=');
    if (equals != NULL && (size_t)(equals - name_at) < sizeof name)
        memcpy(name, name_at, (size_t)(equals - name_at));
    const struct rig_option *option = equals == NULL ? NULL : rig_option_find(table, name);
    if (option == NULL)
        return rig_fail(err, RIG_E_PLAN, "`%s` sets nothing; give workload.*, database.*, clients, seed or shape",
                        assignment);
    return rig_option_parse(option, equals + 1, object, err);
}

/* ---- simulated ---- */

struct session {
    struct rig_generator *generator;
    struct rig_transaction question;
    int64_t process;
    uint32_t invoke_at; /* ordinal */
    struct rig_op *final_ops;
};

RIG_VEC(struct rig_event_time, event_vec)
RIG_VEC(struct rig_read, read_vec)

struct making {
    const struct synthetic *synthetic;
    struct rig_sim_engine *engine;
    struct session *sessions;
    uint32_t session_count;
    int64_t issued;
    int64_t final_key, final_bound; /* keys to be read at the end: the next one and how many there are */
    struct event_vec events;
    struct read_vec blind; /* empty lists */
    struct rig_history_builder *builder;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "not enough memory for a synthetic history; make fewer transactions");
}

static bool note_event(struct making *m, uint32_t session, int64_t time_ns, unsigned kind)
{
    struct rig_event_time event = {
        .time_ns = time_ns, .ordinal = (uint32_t)m->events.count, .kind = kind & 1u, .client = session & INT32_MAX};
    return m->events.count < UINT32_MAX - 1 && event_vec_add(&m->events, event);
}

/* The next question of the session: of its generator, then of the keys that were used. False when there is none. */
static bool next_question(struct making *m, struct session *session)
{
    if (m->issued < m->synthetic->workload.transactions) {
        m->issued++;
        rig_generator_next(session->generator, &session->question);
        int64_t bound = rig_generator_key_bound(session->generator);
        if (bound > m->final_bound)
            m->final_bound = bound;
        return true;
    }
    if (!m->synthetic->workload.final_reads || m->final_key >= m->final_bound)
        return false;
    uint32_t count = 0;
    while (count < (uint32_t)m->synthetic->workload.max_operations && m->final_key < m->final_bound)
        session->final_ops[count++] = (struct rig_op){.kind = RIG_OP_READ_LIST, .key = m->final_key++};
    session->question = (struct rig_transaction){.ops = session->final_ops, .op_count = count};
    return true;
}

static bool issue(struct making *m, uint32_t id)
{
    struct session *session = &m->sessions[id];
    if (!next_question(m, session))
        return true;
    session->invoke_at = (uint32_t)m->events.count;
    if (!note_event(m, id, rig_sim_engine_invoke_ns(m->engine, id), 0))
        return false;
    rig_sim_engine_begin(m->engine, id, session->question.ops, session->question.op_count, &session->question.hold);
    return true;
}

static enum rig_rc keep_answer(struct making *m, uint32_t id)
{
    struct session *session = &m->sessions[id];
    struct rig_sim_answer answer;
    rig_sim_engine_answer(m->engine, id, &answer);
    struct rig_txn_input txn = {.invoke_ns = answer.invoke_ns,
                                .complete_ns = answer.complete_ns,
                                .invoke_at = session->invoke_at,
                                .complete_at = (uint32_t)m->events.count,
                                .process = session->process,
                                .outcome = answer.outcome,
                                .ops = session->question.ops,
                                .reads = answer.reads,
                                .op_count = session->question.op_count,
                                .elements = answer.elements,
                                .error = answer.error_code[0] == '\0' ? NULL : answer.error_code};
    if (m->synthetic->shape == SHAPE_BLIND) {
        while (m->blind.count < txn.op_count) {
            if (!read_vec_add(&m->blind, (struct rig_read){.state = RIG_READ_SEEN}))
                return no_memory(m->err);
        }
        txn.reads = m->blind.at;
    }
    if (!note_event(m, id, answer.complete_ns, 1))
        return no_memory(m->err);
    if (answer.outcome == RIG_OUTCOME_INFO)
        session->process += m->session_count;
    return rig_history_builder_add(m->builder, &txn, m->err);
}

/* Positions: the ordinals' ranks in time. */
static enum rig_rc order_events(struct making *m)
{
    uint32_t count = (uint32_t)m->events.count;
    struct rig_event_time *spare = malloc(((size_t)count + 1) * sizeof *spare);
    uint32_t *position_of = malloc(((size_t)count + 1) * sizeof *position_of);
    bool fits = spare != NULL && position_of != NULL;
    if (fits) {
        const struct rig_event_time *sorted = rig_event_sort(m->events.at, spare, count);
        for (uint32_t i = 0; i < count; i++)
            position_of[sorted[i].ordinal] = i;
        rig_history_builder_renumber(m->builder, position_of);
    }
    free(spare);
    free(position_of);
    return fits ? RIG_OK : no_memory(m->err);
}

static enum rig_rc start_sessions(struct making *m)
{
    const struct rig_generator_options *workload = &m->synthetic->workload;
    for (uint32_t i = 0; i < m->session_count; i++) {
        enum rig_rc rc = rig_generator_new(workload, (uint64_t)m->synthetic->seed, i, m->session_count,
                                           &m->sessions[i].generator, m->err);
        if (rc != RIG_OK)
            return rc;
        m->sessions[i].process = i;
        m->sessions[i].final_ops = calloc((size_t)workload->max_operations, sizeof(struct rig_op));
        if (m->sessions[i].final_ops == NULL || !issue(m, i))
            return no_memory(m->err);
    }
    return RIG_OK;
}

static enum rig_rc simulate(struct making *m)
{
    m->session_count = (uint32_t)m->synthetic->clients;
    m->engine = rig_sim_engine_new(&m->synthetic->sim, (uint64_t)m->synthetic->seed, m->session_count);
    m->sessions = calloc(m->session_count, sizeof *m->sessions);
    if (m->engine == NULL || m->sessions == NULL)
        return no_memory(m->err);
    enum rig_rc rc = start_sessions(m);
    while (rc == RIG_OK && rig_sim_engine_busy_count(m->engine) > 0) {
        uint32_t session = rig_sim_engine_step(m->engine);
        if (session == RIG_SIM_NONE)
            continue;
        rc = keep_answer(m, session);
        if (rc == RIG_OK && !issue(m, session))
            rc = no_memory(m->err);
    }
    return rc == RIG_OK ? order_events(m) : rc;
}

static void making_done(struct making *m)
{
    for (uint32_t i = 0; m->sessions != NULL && i < m->session_count; i++) {
        rig_generator_free(m->sessions[i].generator);
        free(m->sessions[i].final_ops);
    }
    free(m->sessions);
    rig_sim_engine_free(m->engine);
    event_vec_done(&m->events);
    read_vec_done(&m->blind);
}

/* ---- rings ---- */

/*
 * Transaction i appends 1 to key i and reads the key of its neighbour: of the one before it, with its append in it
 * (wr into i), or of the one after it, still empty (rw out of i). In a mixed ring the links from even transactions are
 * wr, the others rw; with an odd number of transactions the last two edges are both wr.
 */
static enum rig_rc make_ring(struct making *m)
{
    uint32_t count = (uint32_t)m->synthetic->workload.transactions;
    int64_t shape = m->synthetic->shape;
    int64_t element = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = i == 0 ? count - 1 : i - 1, after = i + 1 == count ? 0 : i + 1;
        bool wr_in = shape == SHAPE_RING_WR || (shape == SHAPE_RING_MIXED && before % 2 == 0);
        bool rw_out = shape == SHAPE_RING_RW || (shape == SHAPE_RING_MIXED && i % 2 == 1);
        struct rig_op ops[3] = {{.kind = RIG_OP_APPEND, .key = i, .value = 1}};
        struct rig_read reads[3] = {{0}};
        uint32_t op_count = 1;
        if (wr_in) {
            ops[op_count] = (struct rig_op){.kind = RIG_OP_READ_LIST, .key = before};
            reads[op_count++] = (struct rig_read){.state = RIG_READ_SEEN, .count = 1};
        }
        if (rw_out) {
            ops[op_count] = (struct rig_op){.kind = RIG_OP_READ_LIST, .key = after};
            reads[op_count++] = (struct rig_read){.state = RIG_READ_SEEN};
        }
        struct rig_txn_input txn = {.invoke_ns = i,
                                    .complete_ns = (int64_t)count + i,
                                    .invoke_at = i,
                                    .complete_at = count + i,
                                    .process = i,
                                    .outcome = RIG_OUTCOME_OK,
                                    .ops = ops,
                                    .reads = reads,
                                    .op_count = op_count,
                                    .elements = &element};
        enum rig_rc rc = rig_history_builder_add(m->builder, &txn, m->err);
        if (rc != RIG_OK)
            return rc;
    }
    return RIG_OK;
}

enum rig_rc synthetic_make(const struct synthetic *synthetic, struct rig_history **history, struct rig_err *err)
{
    enum rig_rc rc = rig_generator_check(&synthetic->workload, err);
    if (rc == RIG_OK)
        rc = rig_sim_options_check(&synthetic->sim, RIG_WORKLOAD_LIST_APPEND, err);
    if (rc != RIG_OK)
        return rc;
    if (synthetic->workload.type != RIG_WORKLOAD_LIST_APPEND || synthetic->workload.transactions >= UINT32_MAX / 4)
        return rig_fail(err, RIG_E_PLAN, "synthetic histories are of list-append, with less than 2^30 transactions");
    struct making m = {.synthetic = synthetic, .err = err};
    m.builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    if (m.builder == NULL)
        return no_memory(err);
    rc = synthetic->shape == SHAPE_SIMULATED || synthetic->shape == SHAPE_BLIND ? simulate(&m) : make_ring(&m);
    making_done(&m);
    if (rc == RIG_OK)
        rc = rig_history_builder_finish(m.builder, history, err);
    else
        rig_history_builder_free(m.builder);
    return rc;
}
