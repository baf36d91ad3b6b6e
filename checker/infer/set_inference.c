#include "checker/infer/set_inference.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/sets.h"
#include "checker/model/bundle.h"
#include "checker/model/links.h"

/*
 * Which reads of a set need no look at their elements: those that show the first elements of their key's spine
 * (history/model/history.h), all different and added by transactions that did not fail. Such reads differ only in their
 * number of elements.
 *
 * Each place of a spine is looked at once, whatever the number of reads. Space: a byte an element, 5 a key.
 */

struct set_plain {
    const struct rig_sets *sets; /* borrowed */
    uint32_t *length;            /* per key: number of places of the spine that are known to be plain */
    uint8_t *ended;              /* per key: the place after these is not plain */
    uint8_t *seen;               /* per element: at one of these places */
};

/* Memory comes from the arena; false when it runs out. */
static bool set_plain_init(struct set_plain *plain, const struct rig_sets *sets, struct rig_arena *arena)
{
    const size_t keys = (size_t)sets->history->key_count + 1;
    *plain = (struct set_plain){.sets = sets};
    plain->length = rig_arena_array(arena, keys, sizeof *plain->length);
    plain->ended = rig_arena_array(arena, keys, sizeof *plain->ended);
    plain->seen = rig_arena_array(arena, (size_t)sets->element_count + 1, sizeof *plain->seen);
    return plain->length != NULL && plain->ended != NULL && plain->seen != NULL;
}

static bool take(struct set_plain *plain, uint32_t key, int64_t value)
{
    const struct rig_sets *sets = plain->sets;
    const uint32_t element = rig_sets_find(sets, key, value);
    if (element == RIG_SET_NONE || plain->seen[element] ||
        sets->history->txns[sets->elements[element].writer].outcome == RIG_OUTCOME_FAIL)
        return false;
    plain->seen[element] = 1;
    return true;
}

/* Whether the list that was read of the key is such a part of its spine. */
static bool set_plain_is(struct set_plain *plain, uint32_t key, const struct rig_read_list *list)
{
    if (list->shared != list->count)
        return false;
    while (plain->length[key] < list->count && !plain->ended[key]) {
        plain->ended[key] = !take(plain, key, list->at[plain->length[key]]);
        plain->length[key] += !plain->ended[key];
    }
    return list->count <= plain->length[key];
}

/*
 * The edges of the reads of a set that is read often. Mostly each read shows what a smaller one shows, and more: the
 * reads form a chain. Then each element is linked once, with the first read of the chain that shows it, and relays
 * (model/graph.h) lead on:
 *
 *   writers of what read 1 shows -wr-> relay -> read 1       read 1 -rw-> relay -> writers of what read 2 adds
 *                                        |                                  |
 *   writers of what read 2 adds  -wr-> relay -> read 2       read 2 -rw-> relay -> writers of what read 3 adds
 *                                        |                                  |
 *
 * The last relay of the right side leads to the additions that no read of the chain shows. Only reads by transactions
 * that add nothing to the key take part, so no transaction reaches itself. A read that does not fit the chain, or shows
 * what the largest read misses, is linked alone.
 *
 * Time: sorting the reads, and a look-up for each element that the largest read shows, or that reads show which are not
 * the first elements of the spine. Space: two relays and six edges a read, two
 * edges an element, 16 bytes a read, 16 an element. Everything lies in the arena.
 */

struct set_read {
    uint32_t key, txn;
    uint32_t place; /* in the transaction */
    uint32_t size;  /* different elements of committed transactions that it shows */
};

struct set_chains {
    const struct rig_sets *sets; /* borrowed */
    uint8_t *pays;               /* per key: whether a chain needs fewer edges than the pairs */
    struct set_read *reads;
    uint32_t read_count, read_room;
};

struct chain {
    const struct rig_sets *sets;
    struct rig_links *links;
    bool shown_only;                    /* no rw edges */
    struct rig_set_marks largest, seen; /* by the key's largest read, and by the one that is being visited */
    uint8_t *linked;                    /* per element: whether a read of the chain shows it */
    uint32_t *fresh;                    /* elements that the read adds to the chain */
    uint32_t fresh_count;
    uint32_t total; /* elements of the key, of committed transactions */
    bool is_plain;  /* the largest read and the reads so far show the first elements of the spine, each different */
    /* The last read of the chain: */
    uint32_t size, up, down; /* `up`: the relay from the writers of what it shows; `down`: to those of what it misses */
    uint32_t latest_writer, latest_reader; /* so far, plus 1; 0: none */
};

static const struct rig_txn_op *op_of(const struct chain *chain, const struct set_read *read)
{
    return rig_txn_ops(chain->sets->history, read->txn) + read->place;
}

/* Whether all elements of the read count, and are the first ones of the key's spine. */
static bool is_plain(const struct chain *chain, const struct set_read *read, struct rig_read_list *list)
{
    *list = rig_txn_op_list(chain->sets->history, op_of(chain, read));
    return list->shared == list->count && list->count == read->size;
}

/* False when memory runs out. */
static bool set_chains_init(struct set_chains *chains, const struct rig_sets *sets, struct rig_arena *arena)
{
    const struct rig_history *history = sets->history;
    *chains = (struct set_chains){.sets = sets};
    uint32_t *counts = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *counts);
    chains->pays = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *chains->pays);
    if (counts == NULL || chains->pays == NULL)
        return false;
    for (uint32_t op = 0; op < history->op_count; op++)
        counts[history->ops[op].key] += rig_set_is_read(&history->ops[op]);
    for (uint32_t key = 0; key < history->key_count; key++) {
        const uint32_t elements = sets->key_first[key + 1] - sets->key_first[key];
        chains->pays[key] = rig_bundle_pays(elements, counts[key]);
        chains->read_room += chains->pays[key] ? counts[key] : 0;
    }
    chains->reads = rig_arena_room(arena, (size_t)chains->read_room + 1, sizeof *chains->reads);
    return chains->reads != NULL;
}

/* Adds a read, by a transaction that adds nothing to the key, of a key that pays. */
static void set_chains_add(struct set_chains *chains, struct set_read read)
{
    RIG_REQUIRE(chains->pays[read.key] && chains->read_count < chains->read_room);
    chains->reads[chains->read_count++] = read;
}

static int compare_chain_reads(const void *left, const void *right)
{
    const struct set_read *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->txn != b->txn)
        return a->txn < b->txn ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Whether the read shows all that the chain shows, and nothing that the largest read misses. Fills `fresh`. */
static bool fits(struct chain *chain, const struct set_read *read)
{
    const struct rig_sets *sets = chain->sets;
    const struct rig_read_list list = rig_txn_op_list(sets->history, op_of(chain, read));
    uint32_t known = 0, in_largest = 0;
    chain->fresh_count = 0;
    chain->seen.count++;
    for (uint32_t at = 0; at < list.count; at++) {
        const uint32_t element = rig_sets_find(sets, read->key, rig_read_element(&list, at));
        if (element == RIG_SET_NONE || rig_set_is_marked(&chain->seen, element) ||
            !sets->committed[sets->elements[element].writer])
            continue;
        chain->seen.of[element] = chain->seen.count;
        in_largest += rig_set_is_marked(&chain->largest, element);
        if (chain->linked[element])
            known++;
        else
            chain->fresh[chain->fresh_count++] = element;
    }
    RIG_INVARIANT(known + chain->fresh_count == read->size);
    return known == chain->size && in_largest == read->size;
}

/* The same as fits() for a plain read after plain ones: it adds what lies between the last one's end and its own. */
static void fit_plainly(struct chain *chain, const struct set_read *read, const struct rig_read_list *list)
{
    RIG_INVARIANT(list->count >= chain->size);
    chain->fresh_count = 0;
    for (uint32_t at = chain->size; at < list->count; at++)
        chain->fresh[chain->fresh_count++] = rig_sets_find(chain->sets, read->key, list->at[at]);
}

/* An edge from the last `down` to the writer of an element. */
static bool link_down(struct chain *chain, uint32_t element)
{
    const uint32_t writer = chain->sets->elements[element].writer;
    chain->links->late_before[writer] |= chain->latest_reader > writer + 1;
    return rig_links_add(chain->links, chain->down, writer, RIG_LINK_THROUGH);
}

/* New relays after the last ones, with the fresh elements between them. */
static bool extend(struct chain *chain)
{
    const uint32_t before_up = chain->up, before_down = chain->down;
    uint32_t first;
    if (!rig_links_add_nodes(chain->links, 2, &first))
        return false;
    for (uint32_t i = 0; i < chain->fresh_count; i++) {
        const uint32_t element = chain->fresh[i], writer = chain->sets->elements[element].writer;
        if ((before_down != RIG_NODE_NONE && !link_down(chain, element)) ||
            !rig_links_add(chain->links, writer, first, RIG_LINK_WR))
            return false;
        chain->linked[element] = 1;
        chain->latest_writer = writer + 1 > chain->latest_writer ? writer + 1 : chain->latest_writer;
    }
    chain->size += chain->fresh_count;
    chain->up = first;
    chain->down = first + 1;
    return before_up == RIG_NODE_NONE || (rig_links_add(chain->links, before_up, chain->up, RIG_LINK_THROUGH) &&
                                          rig_links_add(chain->links, before_down, chain->down, RIG_LINK_THROUGH));
}

static bool link_read(struct chain *chain, uint32_t reader)
{
    struct rig_links *links = chain->links;
    links->late_before[reader] |= chain->latest_writer > reader + 1;
    chain->latest_reader = reader + 1 > chain->latest_reader ? reader + 1 : chain->latest_reader;
    return rig_links_add(links, chain->up, reader, RIG_LINK_THROUGH) &&
           (chain->shown_only || chain->size == chain->total || rig_links_add(links, reader, chain->down, RIG_LINK_RW));
}

static uint32_t count_committed(const struct rig_sets *sets, uint32_t key)
{
    uint32_t count = 0;
    for (uint32_t i = sets->key_first[key]; i < sets->key_first[key + 1]; i++)
        count += sets->committed[sets->elements[i].writer];
    return count;
}

/* The last read of the chain misses the elements that are not linked. */
static bool link_rest(struct chain *chain, uint32_t key)
{
    const struct rig_sets *sets = chain->sets;
    bool done = true;
    for (uint32_t i = sets->key_first[key]; done && i < sets->key_first[key + 1]; i++)
        done = chain->linked[i] || !sets->committed[sets->elements[i].writer] || link_down(chain, i);
    return done;
}

/* Links the reads of one key: ascending in size. */
static bool link_key(struct chain *chain, const struct set_read *reads, uint32_t count,
                     bool (*alone)(void *context, const struct set_read *read), void *context)
{
    chain->size = chain->latest_writer = chain->latest_reader = 0;
    chain->up = chain->down = RIG_NODE_NONE;
    chain->total = count_committed(chain->sets, reads[0].key);
    rig_set_marks_take(&chain->largest, chain->sets, op_of(chain, &reads[count - 1]));
    struct rig_read_list list;
    chain->is_plain = is_plain(chain, &reads[count - 1], &list);
    for (uint32_t i = 0; i < count; i++) {
        const bool plain = chain->is_plain && is_plain(chain, &reads[i], &list);
        if (plain)
            fit_plainly(chain, &reads[i], &list);
        const bool is_next = plain || fits(chain, &reads[i]);
        chain->is_plain &= plain || !is_next || chain->fresh_count == 0;
        const bool extends = is_next && (chain->up == RIG_NODE_NONE || chain->fresh_count > 0);
        if (!is_next ? !alone(context, &reads[i]) : (extends && !extend(chain)) || !link_read(chain, reads[i].txn))
            return false;
    }
    return chain->up == RIG_NODE_NONE || link_rest(chain, reads[0].key);
}

/* Links all reads that were added. `shown_only`: with what they show, not with what they miss. `alone` links one that
 * does not fit. False when it fails, or memory runs out. */
static bool set_chains_link(struct set_chains *chains, struct rig_links *links, bool shown_only,
                            bool (*alone)(void *context, const struct set_read *read), void *context)
{
    const struct rig_sets *sets = chains->sets;
    const size_t room = (size_t)sets->element_count + 1;
    struct chain chain = {.sets = sets, .links = links, .shown_only = shown_only};
    bool done = true;
    if (chains->read_count == 0)
        return true;
    chain.linked = rig_arena_array(links->arena, room, sizeof *chain.linked);
    chain.fresh = rig_arena_room(links->arena, room, sizeof *chain.fresh);
    if (chain.linked == NULL || chain.fresh == NULL || !rig_set_marks_init(&chain.largest, sets, links->arena) ||
        !rig_set_marks_init(&chain.seen, sets, links->arena))
        return false;
    qsort(chains->reads, chains->read_count, sizeof *chains->reads, compare_chain_reads);
    for (uint32_t begin = 0, end; done && begin < chains->read_count; begin = end) {
        for (end = begin + 1; end < chains->read_count && chains->reads[end].key == chains->reads[begin].key; end++)
            ;
        done = link_key(&chain, &chains->reads[begin], end - begin, alone, context);
    }
    return done;
}

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
    struct set_chains chains;
    struct set_plain plain;
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
    rig_anomaly_set noted; /* bits */
    bool is_chained;       /* it is linked later, in a chain */
    uint32_t size;         /* as in struct set_read */
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
    if (shown.is_chained && last_read == UINT32_MAX && set_plain_is(&in->plain, shown.op->key, &list))
        shown.size = list.count;
    else if (!take_elements(in, &shown))
        return false;
    if (shown.is_chained)
        set_chains_add(&in->chains,
                       (struct set_read){.key = shown.op->key, .txn = txn, .place = place, .size = shown.size});
    else if (!take_missing(in, &shown))
        return false;
    return last_read == UINT32_MAX || compare_reads(in, &shown, last_read);
}

/* Links a read that was chained and does not fit. Its anomalies are known. */
static bool link_alone(void *context, const struct set_read *read)
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
        !set_chains_init(&in->chains, in->sets, arena) || !rig_set_marks_init(&in->seen, in->sets, arena) ||
        !rig_set_marks_init(&in->before, in->sets, arena) || !set_plain_init(&in->plain, in->sets, arena))
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
    if (!prepare(&in, arena) || !take_txns(&in) || !set_chains_link(&in.chains, in.links, false, link_alone, &in))
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
                      set_chains_link(&in.chains, in.links, true, link_alone, &in);
    memcpy(items->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    rig_noncyclic_list_done(&none.kept);
    return done;
}
