#include "checker/infer/register_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/model/orders.h"

/* The last write of a key so far. */
struct last_write {
    uint32_t node, write; /* write: index into the problem's writes */
};

/* The reads of a version by one transaction. */
struct version_reads {
    uint32_t last_op;
    bool has_first; /* the first one is in the problem */
};

struct build {
    const struct rig_history *history;
    const struct rig_registers *registers;
    struct rig_problem *problem;
    bool items;                  /* without reads that found no row */
    uint32_t *node_of;           /* per transaction; RIG_PROBLEM_NONE: it is not part of the question */
    uint32_t *before;            /* per transaction: the acknowledged one of the question before it in its process */
    struct last_write *last;     /* per key */
    struct version_reads *reads; /* per version, of the latest transaction that read it */
    struct rig_table sessions;   /* process -> session */
};

/* Room for all at once, because vectors that grow would take twice as much. */
static bool make_room(struct build *b, const uint8_t *selected)
{
    const struct rig_history *history = b->history;
    size_t reads = 0, writes = 0, txns = 0, pairs = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        b->node_of[txn] = RIG_PROBLEM_NONE;
        if (!b->registers->committed[txn] || (selected != NULL && !selected[txn]))
            continue;
        b->node_of[txn] = (uint32_t)txns++;
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            writes += history->ops[op].kind == RIG_OP_WRITE;
            reads += history->ops[op].kind != RIG_OP_WRITE;
        }
    }
    for (uint32_t i = 0; i < b->registers->edge_count; i++)
        pairs += b->registers->edges[i].source != RIG_ORDER_INITIAL;
    memset(b->last, 0xff, ((size_t)history->key_count + 1) * sizeof b->last[0]);
    b->problem->key_count = history->key_count;
    b->problem->has_realtime = history->has_invocations;
    return rig_problem_txns_reserve(&b->problem->txns, txns + 1) &&
           rig_problem_reads_reserve(&b->problem->reads, reads + 1) &&
           rig_problem_writes_reserve(&b->problem->writes, writes + 1) &&
           rig_problem_pairs_reserve(&b->problem->pairs, pairs + 1);
}

static bool add_write(struct build *b, uint32_t node, uint32_t key, uint32_t op)
{
    struct last_write *last = &b->last[key];
    if (last->node == node) {
        b->problem->writes.at[last->write].last_op = op;
        return true;
    }
    *last = (struct last_write){node, (uint32_t)b->problem->writes.count};
    return rig_problem_writes_add(&b->problem->writes, (struct rig_problem_write){key, op, op});
}

static void note_reads(struct build *b, uint32_t txn)
{
    const struct rig_history *history = b->history;
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    for (uint32_t op = first; op < end; op++) {
        const uint32_t version = b->registers->version_of[op];
        if (history->ops[op].kind != RIG_OP_WRITE && version != RIG_REGISTER_NONE)
            b->reads[version] = (struct version_reads){op - first, false};
    }
}

/* Whether the transaction reads the version before and again: all that a rule says of the read follows from these,
 * because the first one shows it to as many operations, and the last one misses as much as this one. */
static bool is_between(struct build *b, uint32_t version, uint32_t op)
{
    struct version_reads *reads = &b->reads[version];
    const bool between = reads->has_first && op < reads->last_op;
    reads->has_first = true;
    return between;
}

/* Leaves out the reads of own versions, and of those whose writer is unknown, failed, or not part of the question. */
static bool add_read(struct build *b, uint32_t node, uint32_t key, uint32_t op, uint32_t version)
{
    const struct rig_txn *txn = &b->history->txns[b->problem->txns.at[node].txn];
    if (version == RIG_REGISTER_NONE ||
        (b->items && rig_register_found_no_row(b->history, &b->history->ops[txn->first_op + op])))
        return true;
    const bool initial = version < b->history->key_count;
    const uint32_t writer = b->registers->versions[version].writer;
    uint32_t from = initial ? RIG_PROBLEM_INITIAL : RIG_PROBLEM_NONE;
    if (!initial && writer != RIG_REGISTER_NONE)
        from = b->node_of[writer];
    if (from == node || (!initial && from == RIG_PROBLEM_NONE) || is_between(b, version, op))
        return true;
    return rig_problem_add_read(b->problem, &(struct rig_problem_read){.op = op, .key = key, .writer = from});
}

static bool add_ops(struct build *b, uint32_t txn)
{
    const struct rig_history *history = b->history;
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    const uint32_t node = b->node_of[txn];
    bool done = true;
    note_reads(b, txn);
    for (uint32_t op = first; done && op < end; op++) {
        const struct rig_txn_op *mop = &history->ops[op];
        done = mop->kind == RIG_OP_WRITE ? add_write(b, node, mop->key, op - first)
                                         : add_read(b, node, mop->key, op - first, b->registers->version_of[op]);
    }
    return done;
}

/* The process order reaches over transactions that are not part of the question. */
static void skip_others(struct build *b)
{
    for (uint32_t txn = 0; txn < b->history->txn_count; txn++) {
        const uint32_t before = b->before[txn];
        RIG_INVARIANT(before == RIG_NODE_NONE || before < txn);
        if (before != RIG_NODE_NONE && b->node_of[before] == RIG_PROBLEM_NONE)
            b->before[txn] = b->before[before];
    }
}

static bool add_txn(struct build *b, uint32_t txn)
{
    const struct rig_txn *t = &b->history->txns[txn];
    uint32_t *session = rig_table_put(&b->sessions, (uint32_t)t->process);
    if (session == NULL)
        return false;
    if (*session == RIG_TABLE_NONE)
        *session = b->problem->session_count;
    const uint32_t before = b->before[txn];
    const bool timed = b->history->has_invocations;
    const struct rig_problem_txn added = {
        .txn = txn,
        .session = *session,
        .before = before == RIG_NODE_NONE ? RIG_PROBLEM_NONE : b->node_of[before],
        .invoked = timed && t->invoke_at != RIG_POSITION_NONE ? t->invoke_at : 0,
        .ended = timed ? rig_txn_end(b->history, txn) : UINT32_MAX,
    };
    return rig_problem_add_txn(b->problem, &added) && add_ops(b, txn);
}

/* The versions between two others that no transaction of the question wrote are none of an assumption's: only reads of
 * acknowledged transactions and their writes are (register_orders.c). */
static bool add_pairs(struct build *b)
{
    const struct rig_registers *registers = b->registers;
    bool done = true;
    for (uint32_t i = 0; done && i < registers->edge_count; i++) {
        const struct rig_version_edge *edge = &registers->edges[i];
        const uint32_t from = registers->versions[edge->from].writer, to = registers->versions[edge->to].writer;
        if (edge->source == RIG_ORDER_INITIAL || from == RIG_REGISTER_NONE || to == RIG_REGISTER_NONE || from == to)
            continue;
        const struct rig_problem_pair pair = {.before = b->node_of[from],
                                              .after = b->node_of[to],
                                              .key = registers->versions[edge->from].key,
                                              .source = edge->source,
                                              .a = edge->a,
                                              .b = edge->b};
        done = pair.before == RIG_PROBLEM_NONE || pair.after == RIG_PROBLEM_NONE ||
               rig_problem_add_pair(b->problem, &pair);
    }
    return done;
}

static bool build(struct build *b, const struct rig_inference *inference, const uint8_t *selected)
{
    const struct rig_history *history = b->history;
    b->node_of = malloc(((size_t)history->txn_count + 1) * sizeof b->node_of[0]);
    b->before = malloc(((size_t)history->txn_count + 1) * sizeof b->before[0]);
    b->last = malloc(((size_t)history->key_count + 1) * sizeof b->last[0]);
    b->reads = malloc(((size_t)b->registers->version_count + 1) * sizeof b->reads[0]);
    bool done = b->node_of != NULL && b->before != NULL && b->last != NULL && b->reads != NULL &&
                make_room(b, selected) &&
                rig_process_order(history, b->registers->committed, inference->links.arena, b->before);
    if (done)
        skip_others(b);
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++)
        done = b->node_of[txn] == RIG_PROBLEM_NONE || add_txn(b, txn);
    return done && add_pairs(b) && rig_problem_finish(b->problem);
}

enum rig_rc rig_register_problem(const struct rig_inference *inference, const uint8_t *selected, bool items,
                                 struct rig_problem *problem, struct rig_err *err)
{
    struct build b = {
        .history = inference->history, .registers = &inference->registers, .problem = problem, .items = items};
    *problem = (struct rig_problem){0};
    rig_table_init(&b.sessions);
    const bool done = build(&b, inference, selected);
    rig_table_done(&b.sessions);
    free(b.node_of);
    free(b.before);
    free(b.last);
    free(b.reads);
    return done ? RIG_OK : rig_memory_limit(err, "the question that the levels ask");
}
