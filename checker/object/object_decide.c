#include "checker/object/object_decide.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/object/object_pair.h"
#include "checker/object/object_queue.h"
#include "checker/object/object_replay.h"
#include "checker/object/object_rows.h"
#include "checker/object/object_search.h"
#include "checker/witness/object_words.h"

/* ---- the inference ---- */

static bool shows_anything(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_EXPECT || ops[i].read_state != RIG_READ_UNKNOWN)
            return true;
    }
    return false;
}

static uint64_t count_unknown(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint64_t count = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        count += rig_op_reads(ops[i].kind) && ops[i].read_state == RIG_READ_UNKNOWN;
    return count;
}

enum rig_rc rig_infer_objects(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                              struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    (void)assumptions;
    *inference = (struct rig_inference){.history = history, .noncyclic = {.most_kept = most_kept}};
    const enum rig_rc rc = rig_object_ops_check(history, err);
    if (rc != RIG_OK)
        return rc;
    uint8_t *committed = rig_arena_array(arena, (size_t)history->txn_count + 1, 1);
    if (committed == NULL || !rig_links_init(&inference->links, arena, history->txn_count, 0, 0))
        return rig_memory_limit(err, "the operations");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const enum rig_outcome outcome = (enum rig_outcome)history->txns[txn].outcome;
        inference->fail_count += outcome == RIG_OUTCOME_FAIL;
        if (outcome != RIG_OUTCOME_OK)
            continue;
        committed[txn] = 1;
        inference->ok_count++;
        inference->observations += shows_anything(history, txn);
        inference->unknown_reads += count_unknown(history, txn);
    }
    inference->committed = committed;
    inference->committed_count = inference->ok_count;
    return RIG_OK;
}

/* ---- witnesses ---- */

enum { MOST_OPEN = 15, MOST_STATES = 8 };

struct decide {
    const struct rig_history *history;
    struct rig_object_model model;
    struct rig_object_ops ops;
    struct rig_arena *arena;
    struct rig_objects_decided *decided;
    uint32_t most_witnesses;
};

static void add_txn(struct rig_witness *witness, uint32_t txn)
{
    bool fits = witness->txn_count <= MOST_OPEN;
    for (uint32_t i = 0; fits && i < witness->txn_count; i++)
        fits = witness->txns[i] != txn;
    if (fits)
        witness->txns[witness->txn_count++] = txn;
}

/* The transactions of open operations, those that completed before others. */
static void choose_open(const struct rig_object_op *ops, const struct rig_object_result *result,
                        struct rig_witness *witness)
{
    for (unsigned unknown = 0; unknown < 2; unknown++) {
        for (size_t i = 0; i < result->open.count; i++) {
            const struct rig_object_op *op = &ops[result->open.at[i]];
            if ((op->end == RIG_POSITION_NONE) == (unknown != 0))
                add_txn(witness, op->txn);
        }
    }
}

static char *state_words(const struct decide *d, uint32_t state)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_object_state_text(&d->model, state, &text);
    char *words = text.failed ? NULL : rig_arena_text(d->arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return words;
}

static bool add_states(const struct decide *d, const struct rig_object_result *result, struct rig_blocked *blocked)
{
    blocked->states = rig_arena_array(d->arena, MOST_STATES, sizeof *blocked->states);
    blocked->state_count = (uint32_t)result->states.count;
    for (uint32_t i = 0; blocked->states != NULL && i < blocked->state_count && i < MOST_STATES; i++) {
        blocked->states[i] = state_words(d, result->states.at[i]);
        if (blocked->states[i] == NULL)
            return false;
        blocked->state_shown = i + 1;
    }
    return blocked->states != NULL;
}

/* `pair`: the operations are those on its values; NULL: all of the key. */
static bool add_witness(struct decide *d, uint32_t key, const struct rig_object_op *ops,
                        const struct rig_object_result *result, const struct rig_object_pair *pair)
{
    struct rig_objects_decided *decided = d->decided;
    decided->refuted++;
    if (decided->witness_count == d->most_witnesses)
        return true;
    struct rig_witness witness = {.anomaly = RIG_ANOMALY_NONLINEARIZABLE,
                                  .key = key,
                                  .op = 0,
                                  .other_op = UINT32_MAX,
                                  .txns = rig_arena_array(d->arena, MOST_OPEN + 1, sizeof *witness.txns),
                                  .txn_count = 1,
                                  .blocked = rig_arena_array(d->arena, 1, sizeof *witness.blocked)};
    if (witness.txns == NULL || witness.blocked == NULL || !add_states(d, result, witness.blocked))
        return false;
    witness.txns[0] = ops[result->blocked].txn;
    witness.blocked->explained = result->explained;
    witness.blocked->open_count = (uint32_t)result->open.count - 1;
    choose_open(ops, result, &witness);
    if (pair != NULL) {
        witness.other_op = RIG_OBJECT_TWO_VALUES;
        witness.value = pair->values[0];
        witness.other_value = pair->values[1];
        for (size_t i = 0; i < pair->ops.count; i++)
            add_txn(&witness, pair->ops.at[i].txn);
    }
    decided->witnesses[decided->witness_count++] = witness;
    return true;
}

/* ---- objects ---- */

struct key_ops {
    const struct rig_object_op *at;
    uint32_t count;
};

/* An order that the search found counts once it was replayed. */
static enum rig_object_answer replay(struct decide *d, const struct key_ops *ops,
                                     const struct rig_object_result *result)
{
    bool explains = true;
    if (!rig_object_replay(&d->model, ops->at, ops->count, result->order.at, result->order.count, &explains))
        return RIG_OBJECT_NO_MEMORY;
    RIG_INVARIANT(explains && "an order that the search found");
    return RIG_OBJECT_LINEARIZABLE;
}

/* The order of a queue is found without a search in most cases. RIG_OBJECT_TIME: it is not. */
static enum rig_object_answer order_queue(const struct decide *d, const struct key_ops *ops,
                                          const struct rig_object_rows *rows, struct rig_object_model *model,
                                          struct rig_object_result *result)
{
    bool explains = false;
    if (d->history->workload != RIG_WORKLOAD_QUEUE)
        return RIG_OBJECT_TIME;
    if (!rig_object_queue_order(rows, &d->model, ops->at, ops->count, &result->order) ||
        !rig_object_replay(model, rows->ops.at, ops->count, result->order.at, result->order.count, &explains))
        return RIG_OBJECT_NO_MEMORY;
    if (explains)
        return RIG_OBJECT_LINEARIZABLE;
    rig_object_result_done(result);
    return RIG_OBJECT_TIME;
}

/* A small refutation of the key. RIG_OBJECT_TIME: none was found. */
static enum rig_object_answer refute_rows(struct decide *d, uint32_t key, const struct key_ops *ops,
                                          const struct rig_object_rows *rows,
                                          const struct rig_object_search_limits *limits)
{
    struct rig_object_pair pair = {.found = false};
    enum rig_object_answer answer = RIG_OBJECT_NO_MEMORY;
    if (rig_object_pair_find(&d->model, rows, ops->at, ops->count, limits, &pair))
        answer = pair.found ? RIG_OBJECT_REFUTED : RIG_OBJECT_TIME;
    if (answer == RIG_OBJECT_REFUTED && !add_witness(d, key, pair.ops.at, &pair.result, &pair))
        answer = RIG_OBJECT_NO_MEMORY;
    rig_object_pair_done(&pair);
    return answer;
}

/* REFUTED comes with a witness, unless `search_all`: only the search without look-ahead finds one. */
static enum rig_object_answer decide_rows(struct decide *d, uint32_t key, const struct key_ops *ops,
                                          const struct rig_object_search_limits *limits, bool *search_all)
{
    struct rig_object_model model;
    struct rig_object_rows rows = {.may_vanish = false};
    struct rig_object_result result = {.blocked = 0};
    bool unique = false;
    enum rig_object_answer answer = RIG_OBJECT_NO_MEMORY;
    rig_table_init(&rows.fate_of);
    if (rig_object_model_init(&model, d->history->workload, limits->bytes) &&
        rig_object_rows_init(&rows, &d->model, ops->at, ops->count, &model, &unique)) {
        model.rows = &rows;
        answer = unique ? order_queue(d, ops, &rows, &model, &result) : RIG_OBJECT_TIME;
        if (answer == RIG_OBJECT_TIME)
            answer = refute_rows(d, key, ops, &rows, limits);
        *search_all = answer == RIG_OBJECT_TIME;
        if (answer == RIG_OBJECT_TIME && unique)
            answer = rig_object_search(&model, rows.ops.at, ops->count, limits, &result);
        *search_all &= !unique || answer == RIG_OBJECT_REFUTED;
    }
    if (answer == RIG_OBJECT_LINEARIZABLE)
        answer = replay(d, ops, &result);
    rig_object_result_done(&result);
    rig_object_rows_done(&rows);
    rig_object_model_done(&model);
    return answer;
}

static enum rig_object_answer decide_key(struct decide *d, uint32_t key, const struct rig_object_search_limits *limits)
{
    const struct key_ops ops = {d->ops.at + d->ops.first[key], d->ops.first[key + 1] - d->ops.first[key]};
    struct rig_object_result result;
    if (d->history->workload == RIG_WORKLOAD_QUEUE || d->history->workload == RIG_WORKLOAD_STACK) {
        bool search_all = false;
        const enum rig_object_answer ahead = decide_rows(d, key, &ops, limits, &search_all);
        if (!search_all)
            return ahead;
    }
    enum rig_object_answer answer = rig_object_search(&d->model, ops.at, ops.count, limits, &result);
    if (answer == RIG_OBJECT_LINEARIZABLE)
        answer = replay(d, &ops, &result);
    if (answer == RIG_OBJECT_REFUTED && !add_witness(d, key, ops.at, &result, NULL))
        answer = RIG_OBJECT_NO_MEMORY;
    rig_object_result_done(&result);
    return answer;
}

struct sized {
    uint32_t key, count;
};

static int compare_sizes(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    return a->count != b->count ? (a->count > b->count) - (a->count < b->count) : (a->key > b->key) - (a->key < b->key);
}

static struct sized *sort_keys(const struct rig_object_ops *ops, struct rig_arena *arena)
{
    struct sized *keys = rig_arena_array(arena, (size_t)ops->key_count + 1, sizeof *keys);
    for (uint32_t key = 0; keys != NULL && key < ops->key_count; key++)
        keys[key] = (struct sized){key, ops->first[key + 1] - ops->first[key]};
    if (keys != NULL)
        qsort(keys, ops->key_count, sizeof *keys, compare_sizes);
    return keys;
}

static enum rig_rc decide_keys(struct decide *d, const struct rig_object_search_limits *limits, struct rig_err *err)
{
    struct rig_arena scratch;
    rig_arena_init(&scratch, limits->bytes);
    enum rig_rc rc = RIG_E_LIMIT;
    const struct sized *keys = NULL;
    d->decided->witnesses = rig_arena_array(d->arena, (size_t)d->most_witnesses + 1, sizeof *d->decided->witnesses);
    if (d->decided->witnesses != NULL && rig_object_ops_build(d->history, &d->model, &scratch, &d->ops))
        keys = sort_keys(&d->ops, &scratch);
    if (keys != NULL)
        rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < d->ops.key_count; i++) {
        const enum rig_object_answer answer = decide_key(d, keys[i].key, limits);
        d->decided->open += answer == RIG_OBJECT_TIME || answer == RIG_OBJECT_MEMORY;
        rc = answer == RIG_OBJECT_NO_MEMORY ? RIG_E_LIMIT : RIG_OK;
    }
    rig_arena_done(&scratch);
    return rc == RIG_OK ? RIG_OK : rig_memory_limit(err, "the operations of an object");
}

enum rig_rc rig_objects_decide(const struct rig_inference *inference, int64_t deadline_ns, size_t limit_bytes,
                               uint32_t most_witnesses, struct rig_arena *arena, struct rig_objects_decided *decided,
                               struct rig_err *err)
{
    const struct rig_history *history = inference->history;
    const struct rig_object_search_limits limits = {deadline_ns, limit_bytes};
    struct decide d = {.history = history, .arena = arena, .decided = decided, .most_witnesses = most_witnesses};
    *decided = (struct rig_objects_decided){0};
    if (!history->has_invocations)
        return RIG_OK;
    enum rig_rc rc = rig_object_model_init(&d.model, history->workload, limit_bytes)
                         ? decide_keys(&d, &limits, err)
                         : rig_memory_limit(err, "the states of an object");
    rig_object_model_done(&d.model);
    return rc;
}
