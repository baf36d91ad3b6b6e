#include "tests/model/late_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/vec.h"
#include "history/model/builder.h"
#include "history/model/read_list.h"

enum { SPACING = 4, TRIES = 200, FIRST_PROCESS = 1000000, FIRST_VALUE = 5000000 };

RIG_VEC(struct rig_op, late_ops)
RIG_VEC(struct rig_read, late_reads)
RIG_VEC(const int64_t *, late_lists)
RIG_VEC(int64_t, late_elements)

struct late {
    const struct rig_history *history;
    struct rig_rng rng;
    struct rig_history_builder *builder;
    struct late_ops ops; /* of the transaction that is being copied or made */
    struct late_reads reads;
    struct late_lists lists;
    struct late_elements elements;
    struct rig_arena copies; /* of lists that are in two pieces */
    uint32_t *last_use;      /* per key: transaction + 1 */
    uint32_t made;
};

static void require(bool done, const char *what)
{
    if (done)
        return;
    (void)fprintf(stderr, "late_history: %s\n", what);
    exit(3);
}

static void add(struct late *late, const struct rig_txn *txn)
{
    struct rig_err err = {.text = "no memory"};
    const struct rig_txn_input input = {.invoke_ns = txn->invoke_ns,
                                        .complete_ns = txn->complete_ns,
                                        .invoke_at = txn->invoke_at,
                                        .complete_at = txn->complete_at,
                                        .process = txn->process,
                                        .outcome = (enum rig_outcome)txn->outcome,
                                        .ops = late->ops.at,
                                        .reads = late->reads.at,
                                        .op_count = (uint32_t)late->ops.count,
                                        .lists = late->lists.at};
    require(rig_history_builder_add(late->builder, &input, &err) == RIG_OK, err.text);
}

static void add_op(struct late *late, struct rig_op op, enum rig_read_state state, struct rig_list list)
{
    struct rig_read read = {.state = state, .count = list.count};
    require(late_ops_add(&late->ops, op) && late_reads_add(&late->reads, read) &&
                late_lists_add(&late->lists, list.count == 0 ? NULL : list.at),
            "no memory");
}

static void begin(struct late *late)
{
    late->ops.count = late->reads.count = late->lists.count = 0;
    rig_arena_reset(&late->copies);
}

/* Spreads the positions, so that others fit in between. */
static uint32_t moved(uint32_t position)
{
    return position == RIG_POSITION_NONE ? position : position * SPACING;
}

static void copy(struct late *late, uint32_t number)
{
    const struct rig_history *history = late->history;
    struct rig_txn txn = history->txns[number];
    begin(late);
    for (uint32_t i = 0; i < rig_txn_op_count(history, number); i++) {
        const struct rig_txn_op *mop = &rig_txn_ops(history, number)[i];
        bool reads = mop->kind == RIG_OP_READ_LIST;
        struct rig_op op = {
            .kind = (enum rig_op_kind)mop->kind, .key = history->keys[mop->key], .value = reads ? 0 : mop->value};
        struct rig_read_list list = reads ? rig_txn_op_list(history, mop) : (struct rig_read_list){0};
        struct rig_list whole = {.at = rig_read_whole(&list, &late->copies), .count = list.count};
        require(whole.at != NULL, "no memory");
        add_op(late, op, (enum rig_read_state)mop->read_state, whole);
    }
    txn.invoke_at = moved(txn.invoke_at);
    txn.complete_at = moved(txn.complete_at);
    add(late, &txn);
}

static bool shows(const struct rig_history *history, uint32_t key, int64_t value)
{
    for (uint32_t i = 0; i < history->spines[key].count; i++) {
        if (history->spines[key].at[i] == value)
            return true;
    }
    return false;
}

/* Appends to the elements what a transaction of this outcome appended to the key before `end` and no read shows. */
static bool add_unseen(struct late *late, uint32_t key, uint32_t end, enum rig_outcome outcome)
{
    const struct rig_history *history = late->history;
    for (uint32_t i = 0; i < history->txns[end].first_op; i++) {
        const struct rig_txn_op *mop = &history->ops[i];
        if (mop->kind != RIG_OP_APPEND || mop->key != key || shows(history, key, mop->value))
            continue;
        uint32_t txn = end;
        while (history->txns[txn].first_op > i)
            txn--;
        if (history->txns[txn].outcome == outcome)
            return late_elements_add(&late->elements, mop->value);
    }
    return false;
}

/* Makes the late transaction's operation on the key; false when this kind is not possible there. */
static bool make_op(struct late *late, enum late_kind kind, uint32_t key, uint32_t end)
{
    const struct rig_history *history = late->history;
    const struct rig_list spine = history->spines[key];
    struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = history->keys[key]};
    begin(late);
    late->elements.count = 0;
    for (uint32_t i = 0; i < spine.count; i++)
        require(late_elements_add(&late->elements, spine.at[i]), "no memory");
    if (kind == LATE_STALE && spine.count > 0)
        late->elements.count = rig_rng_below(&late->rng, spine.count);
    bool fits = (kind != LATE_STALE || spine.count > 0) &&
                (kind != LATE_UNKNOWN || add_unseen(late, key, end, RIG_OUTCOME_INFO)) &&
                (kind != LATE_FAILED || add_unseen(late, key, end, RIG_OUTCOME_FAIL)) &&
                (kind != LATE_UNREAD || add_unseen(late, key, end, RIG_OUTCOME_OK));
    if (kind == LATE_APPEND) {
        op = (struct rig_op){.kind = RIG_OP_APPEND, .key = op.key, .value = FIRST_VALUE + late->made};
        add_op(late, op, RIG_READ_UNKNOWN, (struct rig_list){0});
    } else if (fits) {
        add_op(late, op, RIG_READ_SEEN,
               (struct rig_list){.at = late->elements.at, .count = (uint32_t)late->elements.count});
    }
    return fits;
}

/* Inserts one behind the transaction, if some key was idle for long enough. */
static bool come_back(struct late *late, uint32_t number, unsigned kinds, uint32_t idle)
{
    const struct rig_history *history = late->history;
    const struct rig_txn *before = &history->txns[number];
    bool fits = false;
    for (unsigned i = 0; i < TRIES && !fits && history->key_count > 0; i++) {
        uint32_t key = (uint32_t)rig_rng_below(&late->rng, history->key_count);
        enum late_kind kind = (enum late_kind)rig_rng_below(&late->rng, LATE_KINDS);
        fits = (kinds >> kind & 1u) && late->last_use[key] > 0 && late->last_use[key] + idle < number &&
               make_op(late, kind, key, number);
    }
    const struct rig_txn txn = {.invoke_ns = before->complete_ns,
                                .complete_ns = before->complete_ns,
                                .invoke_at = moved(before->complete_at) + 1,
                                .complete_at = moved(before->complete_at) + 2,
                                .process = FIRST_PROCESS + (int32_t)late->made};
    if (fits)
        add(late, &txn);
    late->made += fits;
    return fits;
}

struct rig_history *late_history(const struct rig_history *history, uint64_t seed, uint32_t count, unsigned kinds,
                                 uint32_t idle)
{
    struct late late = {.history = history,
                        .builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0),
                        .last_use = calloc((size_t)history->key_count + 1, sizeof *late.last_use)};
    struct rig_history *out = NULL;
    struct rig_err err = {0};
    require(late.builder != NULL && late.last_use != NULL, "no memory");
    rig_arena_init(&late.copies, 0);
    rig_rng_init(&late.rng, seed, 1);
    for (uint32_t op = 0, txn = 0; op < history->op_count; op++) {
        while (history->txns[txn + 1].first_op <= op)
            txn++;
        late.last_use[history->ops[op].key] = txn + 1;
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        copy(&late, txn);
        if (late.made < count && history->txns[txn].complete_at != RIG_POSITION_NONE &&
            rig_rng_below(&late.rng, history->txn_count) < 2 * (uint64_t)count)
            (void)come_back(&late, txn, kinds, idle);
    }
    require(rig_history_builder_finish(late.builder, &out, &err) == RIG_OK, err.text);
    late_ops_done(&late.ops);
    late_reads_done(&late.reads);
    late_lists_done(&late.lists);
    rig_arena_done(&late.copies);
    late_elements_done(&late.elements);
    free(late.last_use);
    return out;
}
