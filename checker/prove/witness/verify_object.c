/*
 * The verifier of objects (verify_type.h): proves again that a prefix of the operations on one object has no order.
 *
 * It explores the orders of the prefix by their lengths: which operations took effect first, and the state they leave. An
 * operation may be next if no other one that is left completed before its invocation. If all ways end before every
 * completed operation has taken effect, there is no order. It shares no code with the search (object/): states are texts,
 * and nothing follows the events of the history.
 *
 * Three rules leave out orders for which another one is as good: an operation that only observes, and may be next, is
 * next; fewer operations of unknown outcome are as good as more, in the same state; and equal ones come in the order of
 * their invocations.
 *
 * A history that was checked in windows has forgotten what completed before some position, and of a long one no search may
 * explore all orders. The witness then has the configurations that were possible at a position, as the search found them,
 * and the proof begins with these.
 *
 * Space: the prefixes of two lengths. Time: at most MOST_SECONDS; a witness whose proof takes longer does not count.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/prove/witness/object_states.h"
#include "checker/model/object_words.h"
#include "checker/prove/witness/verify_type.h"
#include "history/types/object_kinds.h"
#include "history/model/value_texts.h"

enum { MOST_SECONDS = 20 };

const char rig_verify_spent[] = "could not be proved within the time for a proof";

/* An operation of the prefix. */
struct operation {
    const struct rig_txn_op *ops;
    uint32_t count, invoke, end;
    uint32_t equal; /* of unknown outcome: 1 + the number of the equal one before it; 0: there is none */
};

RIG_VEC(struct operation, operations)
RIG_VEC(uint64_t, layer_words)
RIG_VEC(uint32_t, layer_links)

/*
 * Prefixes of one length. Each is the number of its state, the number `low` of operations that certainly took effect,
 * bits of the operations from `low` on, and bits of those of unknown outcome.
 */
struct layer {
    struct layer_words words;
    struct layer_links links;
    struct rig_table chains;
    uint32_t count;
};

/* A prefix to begin with: `number` in a layer of its own, and how many certain operations it has. */
struct start {
    uint32_t number, length;
};

RIG_VEC(struct start, starts)

struct proving {
    const struct rig_history *history;
    struct operations certain, perhaps; /* in the order of their invocations */
    uint32_t certain_words, perhaps_words;
    struct rig_proved_states states;
    struct layer now, next;
    struct layer_words scratch;
    const struct rig_witness *witness; /* where it names values, only operations on these count */
    struct starts starts;
    bool explained, no_memory, spent;
    int64_t deadline_ns;
};

enum { AT_STATE, AT_LOW, AT_BITS };

/* ---- operations ---- */

/* The state after the operation; false: it is impossible. */
static bool apply(struct proving *p, uint64_t state, const struct operation *operation, uint32_t *after)
{
    const bool possible = rig_proved_apply(&p->states, state, operation->ops, operation->count, after);
    p->no_memory |= p->states.no_memory;
    return possible;
}

static bool same_operation(const struct operation *a, const struct operation *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = a->ops[i].kind == b->ops[i].kind && a->ops[i].read_state == b->ops[i].read_state &&
               a->ops[i].value == b->ops[i].value;
    return same;
}

static bool observes(const struct operation *operation)
{
    return rig_proved_observes(operation->ops, operation->count);
}

static bool finds_unknown(const struct rig_txn_op *op)
{
    return (op->kind == RIG_OP_DEQUEUE || op->kind == RIG_OP_POP) && op->read_state == RIG_READ_UNKNOWN;
}

/* Leaving out all operations on a value, and takes that found nothing, turns a legal sequence of operations on a queue or a
 * stack into a legal one. A take of unknown result may have taken any value. */
static bool counts(const struct proving *p, uint32_t txn, const struct rig_txn_op *op)
{
    const struct rig_witness *w = p->witness;
    bool named = false;
    if (w->blocked->value_count == 0 || finds_unknown(op))
        return true;
    for (uint32_t i = 0; i < w->blocked->value_count; i++)
        named |= op->value == w->blocked->values[i];
    if (!rig_op_reads(op->kind) || op->read_state == RIG_READ_SEEN)
        return named;
    named = false;
    for (uint32_t i = 0; i < w->txn_count; i++)
        named |= w->txns[i] == txn;
    return named;
}

/* Values that may have been added, which a drain of unknown outcome may have taken. */
static uint32_t count_additions(const struct proving *p, uint32_t key)
{
    const struct rig_history *history = p->history;
    uint32_t additions = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
        for (; op < end && history->txns[txn].outcome != RIG_OUTCOME_FAIL; op++)
            additions += op->key == key && !rig_op_reads(op->kind) && counts(p, txn, op);
    }
    return additions;
}

/* Adds the operations of a transaction on the key that belong to the prefix up to position `last`, without those that
 * completed before the proof begins. */
static bool add_txn(struct proving *p, uint32_t txn, uint32_t key, uint32_t last)
{
    const struct rig_txn *t = &p->history->txns[txn];
    const struct rig_txn_op *ops = rig_txn_ops(p->history, txn);
    const uint32_t count = rig_txn_op_count(p->history, txn), end = rig_txn_end(p->history, txn);
    const struct rig_blocked_from *from = p->witness->blocked->from;
    if (count == 0 || ops->key != key || t->outcome == RIG_OUTCOME_FAIL || t->invoke_at > last ||
        (from != NULL && end <= from->position))
        return true;
    const uint32_t each = rig_proved_takes_only(ops, count) ? 1 : count;
    const bool open_drain = rig_object_is_open_drain((enum rig_outcome)t->outcome, ops, count);
    const uint32_t most = open_drain ? count_additions(p, key) : count;
    for (uint32_t i = 0; i < most; i += each) {
        const struct rig_txn_op *own = open_drain ? ops : ops + i;
        const uint32_t until = p->witness->blocked->value_count > 0 && finds_unknown(own) ? RIG_POSITION_NONE : end;
        const struct operation operation = {.ops = own, .count = each, .invoke = t->invoke_at, .end = until};
        if (counts(p, txn, own) && !operations_add(until <= last ? &p->certain : &p->perhaps, operation))
            return false;
    }
    return true;
}

static int compare_operations(const void *left, const void *right)
{
    const struct operation *a = left, *b = right;
    return (a->invoke > b->invoke) - (a->invoke < b->invoke);
}

/* Reads that did not complete within the prefix need no explanation. */
static void sort_perhaps(struct proving *p)
{
    struct operations *perhaps = &p->perhaps;
    size_t kept = 0;
    for (size_t i = 0; i < perhaps->count; i++) {
        if (!observes(&perhaps->at[i]))
            perhaps->at[kept++] = perhaps->at[i];
    }
    perhaps->count = kept;
    if (kept > 0)
        qsort(perhaps->at, kept, sizeof *perhaps->at, compare_operations);
    for (uint32_t i = 0; i < kept; i++) {
        for (uint32_t j = i; j-- > 0 && perhaps->at[i].equal == 0;)
            perhaps->at[i].equal = same_operation(&perhaps->at[i], &perhaps->at[j]) ? j + 1 : 0;
    }
}

/* Operations that may take effect while an earlier one is left, at most: the bits that a prefix needs. */
static uint32_t most_ahead(const struct operations *certain)
{
    size_t most = 0, behind = 0;
    uint32_t latest = 0;
    for (size_t i = 0; i < certain->count; i++) {
        latest = certain->at[i].end;
        for (behind = i; behind < certain->count && certain->at[behind].invoke <= latest; behind++) {
        }
        most = behind - i > most ? behind - i : most;
    }
    return (uint32_t)most;
}

static bool collect(struct proving *p, uint32_t key, uint32_t last)
{
    for (uint32_t txn = 0; txn < p->history->txn_count; txn++) {
        if (!add_txn(p, txn, key, last))
            return false;
    }
    if (p->certain.count > 0)
        qsort(p->certain.at, p->certain.count, sizeof *p->certain.at, compare_operations);
    sort_perhaps(p);
    p->certain_words = most_ahead(&p->certain) / 64 + 1;
    p->perhaps_words = (uint32_t)p->perhaps.count / 64 + 1;
    return layer_words_reserve(&p->scratch, AT_BITS + p->certain_words + p->perhaps_words);
}

/* ---- prefixes ---- */

static size_t prefix_size(const struct proving *p)
{
    return AT_BITS + p->certain_words + p->perhaps_words;
}

static uint64_t *prefix_of(const struct proving *p, const struct layer *layer, uint32_t number)
{
    return layer->words.at + (size_t)number * prefix_size(p);
}

static bool is_in(const uint64_t *bits, size_t number)
{
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

/* Adds p->scratch to the layer, unless one that is as good is there. */
static void add_prefix(struct proving *p, struct layer *layer)
{
    const size_t size = prefix_size(p), known_size = AT_BITS + p->certain_words;
    const uint64_t *prefix = p->scratch.at;
    uint32_t *chain = rig_table_put(&layer->chains, rig_proved_hash((const char *)prefix, known_size * sizeof *prefix));
    for (uint32_t i = chain == NULL ? RIG_TABLE_NONE : *chain; i != RIG_TABLE_NONE; i = layer->links.at[i]) {
        const uint64_t *known = prefix_of(p, layer, i);
        bool as_good = memcmp(known, prefix, known_size * sizeof *known) == 0;
        for (size_t w = known_size; as_good && w < size; w++)
            as_good = (known[w] & ~prefix[w]) == 0;
        if (as_good)
            return;
    }
    if (chain == NULL || !layer_words_reserve(&layer->words, layer->words.count + size) ||
        !layer_links_add(&layer->links, *chain)) {
        p->no_memory = true;
        return;
    }
    memcpy(layer->words.at + layer->words.count, prefix, size * sizeof *prefix);
    layer->words.count += size;
    *chain = layer->count++;
}

/* Moves `low` past the operations that took effect. */
static void normalise(struct proving *p)
{
    uint64_t *bits = p->scratch.at + AT_BITS;
    while ((bits[0] & 1) != 0) {
        const unsigned ones = ~bits[0] == 0 ? 63 : (unsigned)__builtin_ctzll(~bits[0]);
        for (uint32_t w = 0; w < p->certain_words; w++)
            bits[w] = bits[w] >> ones | (w + 1 < p->certain_words ? bits[w + 1] << (64 - ones) : 0);
        p->scratch.at[AT_LOW] += ones;
    }
}

/* The first completion of an operation that is left. */
static uint32_t first_end(const struct proving *p, const uint64_t *prefix)
{
    uint32_t end = RIG_POSITION_NONE;
    for (size_t i = prefix[AT_LOW]; i < p->certain.count && p->certain.at[i].invoke <= end; i++) {
        if (!is_in(prefix + AT_BITS, i - prefix[AT_LOW]) && p->certain.at[i].end < end)
            end = p->certain.at[i].end;
    }
    return end;
}

/* Makes the prefix longer by a certain operation. False: it may not be next. */
static bool lengthen(struct proving *p, const uint64_t *prefix, size_t number)
{
    const size_t place = number - prefix[AT_LOW];
    uint32_t after;
    if (is_in(prefix + AT_BITS, place) || !apply(p, prefix[AT_STATE], &p->certain.at[number], &after))
        return false;
    memcpy(p->scratch.at, prefix, prefix_size(p) * sizeof *prefix);
    p->scratch.at[AT_STATE] = after;
    p->scratch.at[AT_BITS + place / 64] |= UINT64_C(1) << place % 64;
    normalise(p);
    p->explained |= p->scratch.at[AT_LOW] == p->certain.count;
    add_prefix(p, &p->next);
    return true;
}

/* The same by one of unknown outcome: as many certain ones took effect as before. */
static void add_perhaps(struct proving *p, uint32_t from, uint32_t end)
{
    const size_t bits = AT_BITS + p->certain_words;
    for (size_t i = 0; i < p->perhaps.count && p->perhaps.at[i].invoke <= end && !p->no_memory; i++) {
        const uint64_t *prefix = prefix_of(p, &p->now, from);
        const uint32_t equal = p->perhaps.at[i].equal;
        uint32_t after;
        if (is_in(prefix + bits, i) || (equal > 0 && !is_in(prefix + bits, equal - 1)) ||
            !apply(p, prefix[AT_STATE], &p->perhaps.at[i], &after))
            continue;
        memcpy(p->scratch.at, prefix, prefix_size(p) * sizeof *prefix);
        p->scratch.at[AT_STATE] = after;
        p->scratch.at[bits + i / 64] |= UINT64_C(1) << i % 64;
        add_prefix(p, &p->now);
    }
}

static void explore(struct proving *p, uint32_t from)
{
    const uint64_t *prefix = prefix_of(p, &p->now, from);
    const uint32_t end = first_end(p, prefix);
    const size_t low = prefix[AT_LOW];
    for (size_t i = low; i < p->certain.count && p->certain.at[i].invoke <= end; i++) {
        if (observes(&p->certain.at[i]) && lengthen(p, prefix, i))
            return;
    }
    for (size_t i = low; i < p->certain.count && p->certain.at[i].invoke <= end && !p->no_memory; i++) {
        if (!observes(&p->certain.at[i]))
            (void)lengthen(p, prefix, i);
    }
    add_perhaps(p, from, end);
}

static void forget_layer(struct layer *layer)
{
    layer->words.count = layer->links.count = layer->count = 0;
    if (layer->chains.slot_count > 4096) {
        rig_table_done(&layer->chains);
        rig_table_init(&layer->chains);
    } else {
        rig_table_clear(&layer->chains);
    }
}

/* ---- where prefixes begin ---- */

static bool has_value(const struct proving *p)
{
    return p->history->workload == RIG_WORKLOAD_CAS_REGISTER || p->history->workload == RIG_WORKLOAD_MUTEX;
}

/* The operation that was invoked at the position; `count`: there is none. */
static size_t find_operation(const struct operations *operations, uint32_t invoke)
{
    size_t i = 0;
    while (i < operations->count && operations->at[i].invoke != invoke)
        i++;
    return i;
}

/* Fills in p->scratch: the configuration, and how many certain operations have taken effect. */
static void begin_with(struct proving *p, const struct rig_blocked_from *from, const char *state, uint32_t number,
                       uint32_t *length)
{
    uint64_t *bits = p->scratch.at + AT_BITS;
    int64_t value = 0;
    rig_buf_clear(&p->states.text);
    if (has_value(p)) {
        memcpy(&value, state, sizeof value);
        rig_buf_add_text(&p->states.text, RIG_VALUE_SHOWN(value));
    } else {
        rig_buf_add(&p->states.text, state, from->sizes[number]);
    }
    memset(p->scratch.at, 0, prefix_size(p) * sizeof *p->scratch.at);
    p->scratch.at[AT_STATE] = rig_proved_state(&p->states);
    p->no_memory |= p->states.no_memory;
    *length = 0;
    for (uint32_t i = from->first[number]; i < from->first[number + 1]; i++) {
        const size_t certain = find_operation(&p->certain, from->used[i]);
        const size_t perhaps = find_operation(&p->perhaps, from->used[i]);
        if (certain < p->certain.count) {
            RIG_INVARIANT(certain / 64 < p->certain_words);
            bits[certain / 64] |= UINT64_C(1) << certain % 64;
            ++*length;
        } else if (perhaps < p->perhaps.count) {
            bits[p->certain_words + perhaps / 64] |= UINT64_C(1) << perhaps % 64;
        }
    }
    normalise(p);
}

/* Adds the prefixes to begin with that have as many certain operations as those of the layer `now`. */
static uint32_t begin_layer(struct proving *p, uint32_t length)
{
    const struct rig_blocked_from *from = p->witness->blocked->from;
    uint32_t longer = 0;
    if (from == NULL && length == 0) {
        memset(p->scratch.at, 0, prefix_size(p) * sizeof *p->scratch.at);
        p->scratch.at[AT_STATE] = rig_proved_initial(&p->states);
        p->no_memory |= p->states.no_memory;
        if (!p->no_memory)
            add_prefix(p, &p->now);
    }
    const char *state = from == NULL ? NULL : from->states;
    for (uint32_t i = 0; from != NULL && i < from->count && !p->no_memory; i++) {
        uint32_t own;
        begin_with(p, from, state, i, &own);
        if (own == length && !p->no_memory)
            add_prefix(p, &p->now);
        longer += own > length;
        state += from->sizes[i];
    }
    return longer;
}

/* Whether some order explains the operations. */
static void search_all(struct proving *p)
{
    p->explained = p->certain.count == 0;
    for (uint32_t length = 0; !p->explained && !p->no_memory && !p->spent; length++) {
        const bool later = begin_layer(p, length) > 0;
        if (p->now.count == 0 && !later)
            return;
        for (uint32_t i = 0; i < p->now.count && !p->explained && !p->no_memory && !p->spent; i++) {
            explore(p, i);
            p->spent = i % 1024 == 1023 && rig_clock_now_ns() > p->deadline_ns;
        }
        const struct layer layer = p->now;
        p->now = p->next;
        p->next = layer;
        forget_layer(&p->next);
        p->spent |= length % 1024 == 1023 && rig_clock_now_ns() > p->deadline_ns;
    }
}

static void proving_done(struct proving *p)
{
    rig_proved_states_done(&p->states);
    operations_done(&p->certain);
    operations_done(&p->perhaps);
    layer_words_done(&p->now.words);
    layer_links_done(&p->now.links);
    rig_table_done(&p->now.chains);
    layer_words_done(&p->next.words);
    layer_links_done(&p->next.links);
    rig_table_done(&p->next.chains);
    layer_words_done(&p->scratch);
}

/* ---- the type's functions ---- */

static bool prove_committed(struct rig_proof *proof)
{
    for (uint32_t txn = 0; txn < proof->history->txn_count; txn++)
        proof->committed[txn] = proof->history->txns[txn].outcome == RIG_OUTCOME_OK;
    return true;
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof, (void)step;
    return "is in a step between operations on objects, which have none";
}

/* ---- elements that were lost, given twice or never added ---- */

struct element {
    uint64_t additions, takes; /* that may have happened; that did */
    uint64_t kept;             /* additions acknowledged before `nothing` began */
};

RIG_VEC(struct element, element_vec)

/* The elements of a key, by their values. */
struct elements {
    const struct rig_history *history;
    uint32_t key, nothing; /* a take that found nothing, or UINT32_MAX */
    struct rig_table of_value;
    struct element_vec at;
    uint64_t unknown;    /* takes of unknown result that began before the end of `nothing` */
    bool has_open_drain; /* that began before the end of `nothing` */
};

static struct element *element_of(struct elements *e, int64_t value)
{
    uint32_t *place = rig_table_put(&e->of_value, (uint64_t)value);
    if (place == NULL || (*place == RIG_TABLE_NONE && !element_vec_add(&e->at, (struct element){0})))
        return NULL;
    *place = *place == RIG_TABLE_NONE ? (uint32_t)(e->at.count - 1) : *place;
    return &e->at.at[*place];
}

static bool count_operation(struct elements *e, uint32_t txn, const struct rig_txn_op *op)
{
    const struct rig_history *history = e->history;
    const bool takes = rig_op_reads(op->kind), is_ok = history->txns[txn].outcome == RIG_OUTCOME_OK;
    const bool gives = takes && is_ok && op->read_state != RIG_READ_UNKNOWN;
    /* One that began after `nothing` had ended found the object without the values that `nothing` missed. */
    const bool began = e->nothing == UINT32_MAX || history->txns[txn].invoke_at < rig_txn_end(history, e->nothing);
    e->has_open_drain |= began && rig_object_is_open_drain((enum rig_outcome)history->txns[txn].outcome,
                                                           rig_txn_ops(history, txn), rig_txn_op_count(history, txn));
    if (takes && !gives)
        e->unknown += began;
    if (takes && (!gives || op->read_state != RIG_READ_SEEN))
        return true;
    struct element *element = element_of(e, op->value);
    if (element == NULL)
        return false;
    element->takes += takes;
    element->additions += !takes;
    element->kept +=
        !takes && is_ok && e->nothing != UINT32_MAX && rig_txn_end(history, txn) < history->txns[e->nothing].invoke_at;
    return true;
}

static bool count_elements(struct elements *e)
{
    const struct rig_history *history = e->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
        for (; op < end && history->txns[txn].outcome != RIG_OUTCOME_FAIL; op++) {
            if (op->key == e->key && !count_operation(e, txn, op))
                return false;
        }
    }
    return true;
}

/* The values that were added by then and are missing for good: `nothing` contradicts all but those of unknown takes. */
static const char *check_lost_element(const struct elements *e, const struct element *own, uint64_t wanted)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < e->at.count; i++) {
        const struct element *one = &e->at.at[i];
        missing += one->kept > one->takes ? one->kept - one->takes : 0;
    }
    if (own->kept <= own->takes || wanted == 0 || missing < e->unknown + wanted || e->has_open_drain)
        return "found it empty when it may have been";
    return NULL;
}

static bool found_nothing(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const uint32_t count = rig_txn_op_count(history, txn);
    const struct rig_txn_op *op =
        rig_txn_ops(history, txn) + (count == 0 ? 0 : count - 1); /* the last one of a drain */
    return history->txns[txn].outcome == RIG_OUTCOME_OK && count > 0 && op->key == key && rig_op_reads(op->kind) &&
           op->read_state == RIG_READ_NIL;
}

static const char *check_element(const struct rig_history *history, const struct rig_witness *w)
{
    const bool is_lost = w->anomaly == RIG_ANOMALY_LOST_ELEMENT;
    struct elements e = {.history = history, .key = w->key, .nothing = is_lost ? w->txns[0] : UINT32_MAX};
    const char *why = NULL;
    if (history->workload != RIG_WORKLOAD_QUEUE && history->workload != RIG_WORKLOAD_STACK)
        return "is on an object without elements";
    if (is_lost && !found_nothing(history, w->txns[0], w->key))
        return "did not find it empty";
    rig_table_init(&e.of_value);
    const struct element *own = count_elements(&e) ? element_of(&e, w->value) : NULL;
    if (own == NULL)
        why = "could not be proved in the memory there is";
    else if (is_lost)
        why = check_lost_element(&e, own, (uint64_t)w->other_value);
    else if (w->anomaly == RIG_ANOMALY_PHANTOM_ELEMENT && (own->additions > 0 || own->takes == 0))
        why = "took an element that may have been added";
    else if (w->anomaly == RIG_ANOMALY_DUPLICATED_ELEMENT && own->takes <= own->additions)
        why = "took an element that was there";
    rig_table_done(&e.of_value);
    element_vec_done(&e.at);
    return why;
}

/* The prefix ends with the completion of the blocked operation. */
static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *witness)
{
    const struct rig_history *history = proof->history;
    const uint32_t txn = witness->txns[0];
    const uint32_t last = rig_txn_end(history, txn);
    struct proving p = {
        .history = history, .witness = witness, .deadline_ns = rig_clock_now_ns() + MOST_SECONDS * RIG_NS_PER_S};
    if (witness->anomaly == RIG_ANOMALY_PHANTOM_ELEMENT || witness->anomaly == RIG_ANOMALY_DUPLICATED_ELEMENT ||
        witness->anomaly == RIG_ANOMALY_LOST_ELEMENT)
        return check_element(history, witness);
    if (witness->anomaly == RIG_ANOMALY_NONSEQUENTIAL)
        return rig_verify_object_order(history, witness);
    if (witness->anomaly != RIG_ANOMALY_NONLINEARIZABLE || witness->blocked == NULL)
        return "is in an anomaly that objects do not have";
    if (last == RIG_POSITION_NONE || rig_txn_op_count(history, txn) == 0 ||
        rig_txn_ops(history, txn)->key != witness->key || history->txns[txn].invoke_at == RIG_POSITION_NONE)
        return "is no operation on the object that completed";
    const bool is_row = history->workload == RIG_WORKLOAD_QUEUE || history->workload == RIG_WORKLOAD_STACK;
    if (witness->blocked->value_count > 0 && !is_row)
        return "is on an object whose values cannot be left out";
    if (witness->blocked->from != NULL && is_row)
        return "is on an object that windows carry nothing over of";
    rig_proved_states_init(&p.states, history->workload);
    rig_table_init(&p.now.chains);
    rig_table_init(&p.next.chains);
    if (collect(&p, witness->key, last))
        search_all(&p);
    else
        p.no_memory = true;
    proving_done(&p);
    if (p.spent)
        return rig_verify_spent;
    return p.no_memory ? "could not be proved in the memory there is" : p.explained ? "can take effect" : NULL;
}

static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof, (void)step;
    return false;
}

const struct rig_type_verifier rig_verify_object = {.prove_committed = prove_committed,
                                                    .check_step = check_step,
                                                    .check_noncyclic = check_noncyclic,
                                                    .is_acknowledged = is_acknowledged};
