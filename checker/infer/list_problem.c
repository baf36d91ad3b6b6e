#include "checker/infer/list_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/model/orders.h"

/* A version: its last place that reads show, or RIG_VERSION_NONE. */
struct version {
    uint32_t key, position, node;
};

RIG_VEC(struct version, versions_of_keys)

struct build {
    const struct rig_history *history;
    const struct rig_versions *versions;
    struct rig_problem *problem;
    bool items;       /* without reads that found no row */
    uint32_t *node;   /* per transaction: its node, or RIG_PROBLEM_NONE */
    uint32_t *key;    /* per key: its number in the problem, or RIG_PROBLEM_NONE */
    uint32_t *before; /* per transaction, in its process (model/orders.h) */
    uint32_t key_count;
    struct rig_table sessions;
    struct versions_of_keys ordered;
};

/* The version that an operation read: none of another transaction; that of a given writer; or the initial state. A read
 * that ends with the reader's own appends is of the version that these extend. */
enum external { NO_READ, OF_WRITER, OF_INITIAL };

static enum external external_read(const struct rig_versions *versions, uint32_t txn, const struct rig_txn_op *op,
                                   uint32_t *writer)
{
    if (op->kind != RIG_OP_READ_LIST || op->read_state == RIG_READ_UNKNOWN || versions->keys[op->key].contested ||
        !rig_versions_is_prefix(versions, op))
        return NO_READ;
    const struct rig_read_list list = rig_txn_op_list(versions->history, op);
    if (op->read_state != RIG_READ_SEEN || list.count == 0)
        return OF_INITIAL;
    const struct rig_append *last;
    uint32_t end = list.count;
    do
        last = rig_versions_find(versions, op->key, rig_read_element(&list, --end));
    while (end > 0 && last != NULL && last->writer == txn);
    if (last == NULL || !versions->committed[last->writer] || last->writer == txn)
        return NO_READ;
    *writer = last->writer;
    return OF_WRITER;
}

/* ---- which transactions ---- */

/* 0 stands for a node until they are numbered. */
static void choose_txns(const struct build *b, const uint8_t *selected)
{
    for (uint32_t txn = 0; txn < b->history->txn_count; txn++) {
        if (!b->versions->committed[txn] || (selected != NULL && !selected[txn]))
            continue;
        b->node[txn] = 0;
        const struct rig_txn_op *ops = rig_txn_ops(b->history, txn);
        for (uint32_t op = 0; op < rig_txn_op_count(b->history, txn); op++) {
            uint32_t writer;
            if (external_read(b->versions, txn, &ops[op], &writer) == OF_WRITER)
                b->node[writer] = 0;
        }
    }
}

static void number_nodes(const struct build *b)
{
    uint32_t count = 0;
    for (uint32_t txn = 0; txn < b->history->txn_count; txn++) {
        if (b->node[txn] != RIG_PROBLEM_NONE)
            b->node[txn] = count++;
    }
}

/* The process order reaches over transactions that have no node. */
static void skip_others(const struct build *b)
{
    for (uint32_t txn = 0; txn < b->history->txn_count; txn++) {
        const uint32_t before = b->before[txn];
        RIG_INVARIANT(before == RIG_NODE_NONE || before < txn);
        if (before != RIG_NODE_NONE && b->node[before] == RIG_PROBLEM_NONE)
            b->before[txn] = b->before[before];
    }
}

/* ---- one transaction ---- */

static uint32_t key_of(struct build *b, uint32_t key)
{
    if (b->key[key] == RIG_PROBLEM_NONE)
        b->key[key] = b->key_count++;
    return b->key[key];
}

static bool add_txn(struct build *b, uint32_t txn)
{
    const struct rig_txn *t = &b->history->txns[txn];
    uint32_t *session = rig_table_put(&b->sessions, (uint32_t)t->process);
    const uint32_t before = b->before[txn];
    if (session == NULL)
        return false;
    if (*session == RIG_TABLE_NONE)
        *session = b->problem->session_count;
    const bool invoked = t->invoke_at != RIG_POSITION_NONE;
    const uint32_t end = rig_txn_end(b->history, txn);
    return rig_problem_add_txn(b->problem, &(struct rig_problem_txn){
                                               .txn = txn,
                                               .session = *session,
                                               .before = before == RIG_NODE_NONE ? RIG_PROBLEM_NONE : b->node[before],
                                               .invoked = invoked ? t->invoke_at : 0,
                                               .ended = end == RIG_POSITION_NONE ? UINT32_MAX : end,
                                           });
}

static bool add_read(struct build *b, uint32_t txn, const struct rig_txn_op *op, uint32_t at)
{
    uint32_t writer = RIG_TXN_NONE;
    const enum external of = external_read(b->versions, txn, op, &writer);
    if (of == NO_READ || (b->items && rig_list_found_no_row(b->versions->history, op)) ||
        (of == OF_WRITER && b->node[writer] == RIG_PROBLEM_NONE))
        return true;
    return rig_problem_add_read(b->problem, &(struct rig_problem_read){
                                                .op = at,
                                                .key = key_of(b, op->key),
                                                .writer = of == OF_INITIAL ? RIG_PROBLEM_INITIAL : b->node[writer],
                                            });
}

static bool add_ops(struct build *b, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(b->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(b->history, txn); i++) {
        const bool added = ops[i].kind == RIG_OP_APPEND ? rig_problem_add_write(b->problem, key_of(b, ops[i].key), i)
                                                        : add_read(b, txn, &ops[i], i);
        if (!added)
            return false;
    }
    return true;
}

/* ---- the order of the versions ---- */

/* Where a transaction's version stands. A transaction that reads its own first append, and appends again, has a place
 * although its version was not read. */
static bool note_version(struct build *b, uint32_t txn, const struct rig_problem_write *write)
{
    const struct rig_txn_op *ops = rig_txn_ops(b->history, txn);
    const uint32_t key = ops[write->first_op].key;
    struct version version = {.key = write->key, .position = RIG_VERSION_NONE, .node = b->node[txn]};
    for (uint32_t i = write->first_op; i <= write->last_op; i++) {
        if (ops[i].kind != RIG_OP_APPEND || ops[i].key != key)
            continue;
        const struct rig_append *append = rig_versions_append(b->versions, key, ops[i].value);
        if (rig_append_is_placed(append))
            version.position = append->position;
    }
    return b->versions->keys[key].contested || versions_of_keys_add(&b->ordered, version);
}

static bool note_versions(struct build *b)
{
    struct rig_problem *problem = b->problem;
    for (uint32_t node = 0; node < problem->txn_count; node++) {
        const size_t end =
            node + 1 < problem->txn_count ? problem->txns.at[node + 1].first_write : problem->writes.count;
        for (size_t w = problem->txns.at[node].first_write; w < end; w++) {
            if (!note_version(b, problem->txns.at[node].txn, &problem->writes.at[w]))
                return false;
        }
    }
    return true;
}

static int compare_versions(const void *left, const void *right)
{
    const struct version *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* From each version to the next one that reads show, and from the last of these to all that no read shows. */
static bool add_pairs(struct build *b)
{
    const struct version *last = NULL;
    if (b->ordered.count > 0)
        qsort(b->ordered.at, b->ordered.count, sizeof b->ordered.at[0], compare_versions);
    for (size_t i = 0; i < b->ordered.count; i++) {
        const struct version *version = &b->ordered.at[i];
        if (last != NULL && last->key == version->key &&
            !rig_problem_add_pair(b->problem, &(struct rig_problem_pair){.before = last->node,
                                                                         .after = version->node,
                                                                         .key = version->key,
                                                                         .source = RIG_ORDER_LIST,
                                                                         .a = RIG_PROBLEM_NONE,
                                                                         .b = RIG_PROBLEM_NONE}))
            return false;
        if (version->position != RIG_VERSION_NONE)
            last = version;
    }
    return true;
}

/* ---- all together ---- */

static bool prepare(struct build *b, const struct rig_inference *inference)
{
    const struct rig_history *history = b->history;
    const size_t txns = (size_t)history->txn_count + 1, keys = (size_t)history->key_count + 1;
    b->node = malloc(txns * sizeof *b->node);
    b->key = malloc(keys * sizeof *b->key);
    b->before = rig_arena_room(inference->links.arena, txns, sizeof *b->before);
    if (b->node == NULL || b->key == NULL || b->before == NULL)
        return false;
    memset(b->node, 0xff, txns * sizeof *b->node);
    memset(b->key, 0xff, keys * sizeof *b->key);
    return rig_process_order(history, inference->committed, inference->links.arena, b->before);
}

static bool fill(struct build *b, const uint8_t *selected)
{
    bool done = true;
    choose_txns(b, selected);
    number_nodes(b);
    skip_others(b);
    b->problem->has_realtime = b->history->has_invocations;
    for (uint32_t txn = 0; done && txn < b->history->txn_count; txn++) {
        if (b->node[txn] != RIG_PROBLEM_NONE)
            done = add_txn(b, txn) && add_ops(b, txn);
    }
    return done && note_versions(b) && add_pairs(b) && rig_problem_finish(b->problem);
}

enum rig_rc rig_list_problem(const struct rig_inference *inference, const uint8_t *selected, bool items,
                             struct rig_problem *problem, struct rig_err *err)
{
    struct build b = {
        .history = inference->history, .versions = &inference->versions, .problem = problem, .items = items};
    *problem = (struct rig_problem){0};
    rig_table_init(&b.sessions);
    const bool done = prepare(&b, inference) && fill(&b, selected);
    free(b.node);
    free(b.key);
    rig_table_done(&b.sessions);
    versions_of_keys_done(&b.ordered);
    return done ? RIG_OK : rig_memory_limit(err, "the order of the versions");
}
