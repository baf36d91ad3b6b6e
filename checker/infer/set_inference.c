#include "checker/infer/set_inference.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/set_chains.h"
#include "checker/infer/set_plain.h"

/* Per key: the last known read of the transaction that is being visited, and the last transaction that adds to it. */
struct access {
    uint32_t visitor, last_read;
    uint32_t adder;
};

struct infer {
    const struct rig_history *history;
    const struct rig_sets *sets;
    struct rig_noncyclic_findings *noncyclic;
    struct rig_links *links;
    struct rig_set_chains chains;
    struct rig_set_plain plain;
    struct access *keys;
    struct rig_set_marks seen, before; /* by the read that is being visited, and by the one before it */
    uint32_t *linked_wr, *linked_rw;   /* per transaction: the read (`seen.count`) that it was linked with last */
    uint64_t unknown_reads;
    bool prefilled;       /* sets are values, so that all reads are of items */
    const uint8_t *among; /* reads of these transactions only; NULL: of all */
    bool items_only;      /* elements that a read misses give no rw edges */
};

/* A read, and the anomalies that were noted of it: each once. */
struct shown {
    const struct rig_txn_op *op;
    uint32_t txn, place;
    uint64_t noted;  /* bits */
    bool is_chained; /* it is linked later (infer/set_chains.h) */
    uint32_t size;   /* as in struct rig_set_read */
};

static bool note(struct infer *in, struct shown *shown, enum rig_anomaly anomaly, int64_t value, uint32_t other,
                 uint32_t other_op)
{
    const struct rig_noncyclic found = {.anomaly = anomaly,
                                        .key = shown->op->key,
                                        .txn = shown->txn,
                                        .op = shown->place,
                                        .other = other,
                                        .other_op = other_op,
                                        .unsettled = in->history->txns[shown->txn].outcome != RIG_OUTCOME_OK,
                                        .value = value};
    if ((shown->noted & RIG_ANOMALY_BIT(anomaly)) != 0)
        return true;
    shown->noted |= RIG_ANOMALY_BIT(anomaly);
    return rig_noncyclic_note(in->noncyclic, &found);
}

/* Links the writer of an element that was read with the reader, once a read. */
static bool link_wr(struct infer *in, uint32_t writer, uint32_t reader)
{
    if (in->linked_wr[writer] == in->seen.count)
        return true;
    in->linked_wr[writer] = in->seen.count;
    return rig_links_add(in->links, writer, reader, RIG_LINK_WR);
}

static bool link_rw(struct infer *in, uint32_t reader, uint32_t writer)
{
    if (in->linked_rw[writer] == in->seen.count)
        return true;
    in->linked_rw[writer] = in->seen.count;
    return rig_links_add(in->links, reader, writer, RIG_LINK_RW);
}

/* An element of a read that some transaction adds. */
static bool take_element(struct infer *in, struct shown *shown, uint32_t number)
{
    const struct rig_set_element *element = &in->sets->elements[number];
    const bool again = rig_set_is_marked(&in->seen, number);
    if (again && !note(in, shown, RIG_ANOMALY_DUPLICATE_ELEMENTS, element->value, UINT32_MAX, UINT32_MAX))
        return false;
    in->seen.of[number] = in->seen.count;
    if (element->writer == shown->txn)
        return element->op < shown->place ||
               note(in, shown, RIG_ANOMALY_FUTURE_READ, element->value, shown->txn, element->op);
    if (in->history->txns[element->writer].outcome == RIG_OUTCOME_FAIL)
        return note(in, shown, RIG_ANOMALY_G1A, element->value, element->writer, UINT32_MAX);
    RIG_INVARIANT(in->sets->committed[element->writer]);
    shown->size += !again;
    return shown->is_chained || link_wr(in, element->writer, shown->txn);
}

/* Marks the elements of the read, and takes each of them. */
static bool take_elements(struct infer *in, struct shown *shown)
{
    const struct rig_read_list list = rig_txn_op_list(in->history, shown->op);
    in->seen.count++;
    for (uint32_t at = 0; at < list.count; at++) {
        const int64_t value = rig_read_element(&list, at);
        const uint32_t number = rig_sets_find(in->sets, shown->op->key, value);
        const bool taken = number == RIG_SET_NONE
                               ? note(in, shown, RIG_ANOMALY_GARBAGE_READ, value, UINT32_MAX, UINT32_MAX)
                               : take_element(in, shown, number);
        if (!taken)
            return false;
    }
    return true;
}

/* Elements that the read misses: of others, which it precedes, or its own. */
static bool take_missing(struct infer *in, struct shown *shown)
{
    const struct rig_sets *sets = in->sets;
    const uint32_t end = sets->key_first[shown->op->key + 1];
    for (uint32_t i = sets->key_first[shown->op->key]; i < end; i++) {
        const struct rig_set_element *element = &sets->elements[i];
        bool taken = true;
        if (rig_set_is_marked(&in->seen, i))
            continue;
        if (element->writer != shown->txn)
            taken = in->items_only || !sets->committed[element->writer] || link_rw(in, shown->txn, element->writer);
        else if (element->op < shown->place)
            taken = note(in, shown, RIG_ANOMALY_INTERNAL, element->value, UINT32_MAX, element->op);
        if (!taken)
            return false;
    }
    return true;
}

/* Elements of other transactions in one of two reads of a transaction, and not in the other. */
static bool compare_reads(struct infer *in, struct shown *shown, uint32_t last_read)
{
    const struct rig_sets *sets = in->sets;
    rig_set_marks_take(&in->before, sets, rig_txn_ops(in->history, shown->txn) + last_read);
    for (uint32_t i = sets->key_first[shown->op->key]; i < sets->key_first[shown->op->key + 1]; i++) {
        if (sets->elements[i].writer != shown->txn &&
            rig_set_is_marked(&in->seen, i) != rig_set_is_marked(&in->before, i))
            return note(in, shown, in->prefilled ? RIG_ANOMALY_INTERNAL : RIG_ANOMALY_INTERNAL_PREDICATE,
                        sets->elements[i].value, UINT32_MAX, last_read);
    }
    return true;
}

static struct shown shown_by(const struct infer *in, uint32_t txn, uint32_t place)
{
    return (struct shown){.op = rig_txn_ops(in->history, txn) + place, .txn = txn, .place = place};
}

static bool take_read(struct infer *in, uint32_t txn, uint32_t place)
{
    struct shown shown = shown_by(in, txn, place);
    struct access *key = &in->keys[shown.op->key];
    const uint32_t last_read = key->visitor == txn ? key->last_read : UINT32_MAX;
    if (shown.op->read_state == RIG_READ_UNKNOWN) {
        in->unknown_reads += in->history->txns[txn].outcome == RIG_OUTCOME_OK;
        return true;
    }
    key->visitor = txn;
    key->last_read = place;
    shown.is_chained = in->chains.pays[shown.op->key] && key->adder != txn;
    const struct rig_read_list list = rig_txn_op_list(in->history, shown.op);
    if (shown.is_chained && last_read == UINT32_MAX && rig_set_plain_is(&in->plain, shown.op->key, &list))
        shown.size = list.count;
    else if (!take_elements(in, &shown))
        return false;
    if (shown.is_chained)
        rig_set_chains_add(&in->chains,
                           (struct rig_set_read){.key = shown.op->key, .txn = txn, .place = place, .size = shown.size});
    else if (!take_missing(in, &shown))
        return false;
    return last_read == UINT32_MAX || compare_reads(in, &shown, last_read);
}

/* Links a read that was chained and does not fit. Its anomalies are known. */
static bool link_alone(void *context, const struct rig_set_read *read)
{
    struct infer *in = context;
    struct shown shown = shown_by(in, read->txn, read->place);
    shown.noted = UINT64_MAX;
    return take_elements(in, &shown) && take_missing(in, &shown);
}

static bool prepare(struct infer *in, struct rig_arena *arena)
{
    const size_t key_count = (size_t)in->history->key_count + 1, txn_count = (size_t)in->history->txn_count + 1;
    in->keys = rig_arena_room(arena, key_count, sizeof *in->keys);
    in->linked_wr = rig_arena_array(arena, txn_count, sizeof *in->linked_wr);
    in->linked_rw = rig_arena_array(arena, txn_count, sizeof *in->linked_rw);
    if (in->keys == NULL || in->linked_wr == NULL || in->linked_rw == NULL ||
        !rig_set_chains_init(&in->chains, in->sets, arena) || !rig_set_marks_init(&in->seen, in->sets, arena) ||
        !rig_set_marks_init(&in->before, in->sets, arena) || !rig_set_plain_init(&in->plain, in->sets, arena))
        return false;
    memset(in->keys, 0xff, key_count * sizeof *in->keys);
    return rig_links_init(in->links, arena, in->history->txn_count, 0, in->history->op_count);
}

static bool take_txns(struct infer *in)
{
    bool done = true;
    for (uint32_t txn = 0; done && txn < in->history->txn_count; txn++) {
        if (!in->sets->committed[txn])
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
            if (ops[i].kind == RIG_OP_ADD)
                in->keys[ops[i].key].adder = txn;
        }
        const bool reads = in->among == NULL || in->among[txn];
        for (uint32_t i = 0; reads && done && i < rig_txn_op_count(in->history, txn); i++)
            done = ops[i].kind != RIG_OP_READ_SET || take_read(in, txn, i);
    }
    return done;
}

static void count_outcomes(const struct rig_history *history, struct rig_inference *inference)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        inference->ok_count += history->txns[txn].outcome == RIG_OUTCOME_OK;
        inference->fail_count += history->txns[txn].outcome == RIG_OUTCOME_FAIL;
    }
}

enum rig_rc rig_infer_sets(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    *inference = (struct rig_inference){.history = history,
                                        .noncyclic = {.most_kept = most_kept},
                                        .prefilled = (assumptions.made & RIG_ASSUMES_PREFILLED) != 0};
    enum rig_rc rc = rig_sets_build(history, arena, &inference->sets, err);
    if (rc != RIG_OK)
        return rc;
    inference->committed = inference->sets.committed;
    inference->committed_count = inference->sets.committed_count;
    count_outcomes(history, inference);
    struct infer in = {.history = history,
                       .sets = &inference->sets,
                       .noncyclic = &inference->noncyclic,
                       .links = &inference->links,
                       .prefilled = inference->prefilled};
    if (!prepare(&in, arena) || !take_txns(&in) || !rig_set_chains_link(&in.chains, in.links, false, link_alone, &in))
        return rig_memory_limit(err, "the dependencies");
    memcpy(inference->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    inference->unknown_reads = in.unknown_reads;
    return RIG_OK;
}

bool rig_infer_items_of_sets(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items)
{
    struct rig_noncyclic_findings none = {0};
    rig_inference_for_items(inference, items);
    struct infer in = {.history = inference->history,
                       .sets = &items->sets,
                       .noncyclic = &none,
                       .links = &items->links,
                       .among = among,
                       .items_only = true};
    const bool done = prepare(&in, inference->links.arena) && take_txns(&in) &&
                      rig_set_chains_link(&in.chains, in.links, true, link_alone, &in);
    memcpy(items->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    rig_noncyclic_list_done(&none.kept);
    return done;
}
