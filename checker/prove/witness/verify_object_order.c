/*
 * The verifier of objects that are not sequentially consistent (verify_type.h): proves again that the operations of a witness
 * have no order that keeps the order of each process and explains their results.
 *
 * It explores all orders by their lengths: how far each process is, which operations of unknown outcome took effect, and the
 * state of each object, each compared whole. It shares no code with the search (objects/object_sessions.c).
 *
 * The witness may leave out what any order of the others remains an order without: operations that only observe, and writes of
 * a register whose values no other operation of the witness observes.
 *
 * Space: the configurations of two lengths, at most MOST_WORDS words each. Time: at most MOST_SECONDS; a witness whose proof
 * takes longer does not count.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/prove/witness/object_states.h"
#include "checker/model/object_words.h"
#include "checker/prove/witness/verify_type.h"
#include "history/model/value_texts.h"

enum { MOST_SECONDS = 20, MOST_WORDS = 1 << 27 };

static const uint32_t none = UINT32_MAX;

struct step_op {
    const struct rig_txn_op *ops;
    uint32_t txn, count;
    uint32_t at; /* position */
    int32_t process;
    bool unknown;
    uint32_t session, after; /* unknown: so many of its session's come before; `none`: it has no session */
    uint32_t object;
    uint32_t needs, gives; /* registers: the state that it needs first and the one it leaves; `none` */
};

RIG_VEC(struct step_op, step_ops)
RIG_VEC(uint32_t, configuration_words)
RIG_VEC(uint32_t, configuration_links)

struct configurations {
    struct configuration_words words;
    struct configuration_links links; /* per configuration: the one before of the same hash */
    struct rig_table chains;
    uint32_t count;
};

struct proving {
    const struct rig_history *history;
    const struct rig_witness *witness;
    bool *kept; /* per transaction */
    struct rig_proved_states states;
    struct step_ops ops; /* of session s: [first[s], first[s + 1]); then those of unknown outcome */
    uint32_t certain, session_count, object_count;
    uint32_t *first, *object_of; /* per key */
    struct configurations now, next;
    struct configuration_words scratch;
    bool no_memory, spent, explained;
};

/* ---- operations that the witness may leave out ---- */

static uint32_t state_of(struct proving *p, const struct rig_txn_op *op)
{
    const bool nil = rig_op_reads(op->kind) && op->read_state == RIG_READ_NIL;
    rig_buf_clear(&p->states.text);
    rig_buf_add_text(&p->states.text, RIG_VALUE_SHOWN(nil ? rig_object_nil(p->history->workload) : op->value));
    return rig_proved_state(&p->states);
}

static bool is_register(const struct proving *p)
{
    return p->history->workload == RIG_WORKLOAD_CAS_REGISTER || p->history->workload == RIG_WORKLOAD_MUTEX;
}

/* Needs: of the first micro-operation that tells; a contradiction between two of them needs no rule. */
static void note_values(struct proving *p, struct step_op *op)
{
    op->needs = op->gives = none;
    for (uint32_t i = 0; is_register(p) && i < op->count; i++) {
        const struct rig_txn_op *one = &op->ops[i];
        if (one->kind == RIG_OP_WRITE)
            op->gives = state_of(p, one);
        else if (i == 0 && (one->kind == RIG_OP_EXPECT || one->read_state != RIG_READ_UNKNOWN))
            op->needs = state_of(p, one);
    }
}

static bool is_in_scope(const struct proving *p, uint32_t txn)
{
    const struct rig_txn *t = &p->history->txns[txn];
    return t->outcome != RIG_OUTCOME_FAIL && rig_txn_op_count(p->history, txn) > 0 &&
           (p->witness->key == none || rig_txn_ops(p->history, txn)->key == p->witness->key);
}

/* Reads, takes that found nothing, and writes of the value that the operation expects. */
static bool only_observes(const struct rig_txn_op *ops, uint32_t count)
{
    bool observes = rig_proved_observes(ops, count) || (count == 2 && ops[0].kind == RIG_OP_EXPECT &&
                                                        ops[1].kind == RIG_OP_WRITE && ops[0].value == ops[1].value);
    for (uint32_t i = 0; !observes && rig_proved_takes_only(ops, count) && i < count; i++) {
        if (ops[i].read_state != RIG_READ_NIL)
            return false;
    }
    return observes || rig_proved_takes_only(ops, count);
}

/* Whether an operation that the witness keeps reads or expects the value on the key. */
static bool is_observed(struct proving *p, uint32_t key, uint32_t state)
{
    for (size_t i = 0; i < p->ops.count; i++) {
        if (p->ops.at[i].needs == state && p->ops.at[i].ops->key == key)
            return true;
    }
    return false;
}

static bool may_be_left_out(struct proving *p, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(p->history, txn);
    const uint32_t count = rig_txn_op_count(p->history, txn);
    if (only_observes(ops, count))
        return true;
    return is_register(p) && count == 1 && ops->kind == RIG_OP_WRITE && !is_observed(p, ops->key, state_of(p, ops));
}

/* ---- operations ---- */

/* Those of unknown outcome come last. */
static int compare_ops(const void *left, const void *right)
{
    const struct step_op *a = left, *b = right;
    if (a->unknown != b->unknown)
        return a->unknown ? 1 : -1;
    if (a->process != b->process)
        return a->process > b->process ? 1 : -1;
    return (a->at > b->at) - (a->at < b->at);
}

/* An operation of unknown outcome comes after those that its process completed before. */
static void place_unknown(const struct proving *p, struct step_op *op)
{
    op->session = none;
    for (uint32_t session = 0; session < p->session_count; session++) {
        if (p->ops.at[p->first[session]].process == op->process)
            op->session = session;
    }
    for (uint32_t i = op->session == none ? 0 : p->first[op->session];
         op->session != none && i < p->first[op->session + 1]; i++)
        op->after += p->history->txns[p->ops.at[i].txn].complete_at < op->at;
}

static bool find_sessions(struct proving *p)
{
    p->first = calloc(p->ops.count + 2, sizeof *p->first);
    if (p->first == NULL)
        return false;
    if (p->ops.count > 0)
        qsort(p->ops.at, p->ops.count, sizeof *p->ops.at, compare_ops);
    for (uint32_t i = 0; i < p->ops.count && !p->ops.at[i].unknown; i++) {
        if (i == 0 || p->ops.at[i].process != p->ops.at[i - 1].process)
            p->first[p->session_count++] = i;
        p->ops.at[i].session = p->session_count - 1;
        p->certain = i + 1;
    }
    p->first[p->session_count] = p->certain;
    for (uint32_t i = p->certain; i < p->ops.count; i++)
        place_unknown(p, &p->ops.at[i]);
    return true;
}

static bool add_op(struct proving *p, uint32_t txn)
{
    const struct rig_txn *t = &p->history->txns[txn];
    struct step_op op = {.ops = rig_txn_ops(p->history, txn),
                         .txn = txn,
                         .count = rig_txn_op_count(p->history, txn),
                         .process = t->process,
                         .at = t->invoke_at == RIG_POSITION_NONE ? t->complete_at : t->invoke_at,
                         .unknown = t->outcome == RIG_OUTCOME_INFO};
    if (p->object_of[op.ops->key] == none)
        p->object_of[op.ops->key] = p->object_count++;
    op.object = p->object_of[op.ops->key];
    note_values(p, &op);
    /* A read without an acknowledgement needs no order. */
    return (op.unknown && only_observes(op.ops, op.count)) || step_ops_add(&p->ops, op);
}

/* Collects the operations. Returns what the proof lacks before it begins; NULL: nothing. */
static const char *collect(struct proving *p)
{
    const struct rig_history *history = p->history;
    for (uint32_t i = 0; i < p->witness->txn_count; i++) {
        const uint32_t txn = p->witness->txns[i];
        if (!is_in_scope(p, txn) || p->kept[txn])
            return "is no operation on the object, or named twice";
        if (rig_txn_op_count(history, txn) > 1 &&
            rig_proved_takes_only(rig_txn_ops(history, txn), rig_txn_op_count(history, txn)))
            return "takes several values in an order that is not known";
        p->kept[txn] = true;
        p->no_memory |= !add_op(p, txn);
    }
    for (uint32_t txn = 0; txn < history->txn_count && !p->no_memory; txn++) {
        if (is_in_scope(p, txn) && !p->kept[txn] && !may_be_left_out(p, txn))
            return "leaves out an operation that changes the object";
    }
    p->no_memory |= !find_sessions(p);
    return NULL;
}

/* ---- configurations: places of the sessions, states of the objects, bits of operations of unknown outcome ---- */

static size_t unknown_words(const struct proving *p)
{
    return (p->ops.count - p->certain) / 32 + 1;
}

static size_t size_of(const struct proving *p)
{
    return p->session_count + p->object_count + unknown_words(p);
}

static bool is_used(const struct proving *p, const uint32_t *words, uint32_t op)
{
    const uint32_t bit = op - p->certain;
    return (words[p->session_count + p->object_count + bit / 32] >> bit % 32 & 1) != 0;
}

/* Whether the operation has not taken effect. */
static bool is_left(const struct proving *p, const uint32_t *words, uint32_t op)
{
    return op < p->certain ? op - p->first[p->ops.at[op].session] >= words[p->ops.at[op].session]
                           : !is_used(p, words, op);
}

/* Whether an operation that is left needs a value of a register that is not there, and that none writes. */
static bool lacks_value(struct proving *p, const uint32_t *words)
{
    for (uint32_t i = 0; i < p->certain; i++) {
        const struct step_op *op = &p->ops.at[i];
        bool found = op->needs == none || !is_left(p, words, i) || words[p->session_count + op->object] == op->needs;
        for (uint32_t j = 0; !found && j < p->ops.count; j++)
            found = p->ops.at[j].gives == op->needs && p->ops.at[j].object == op->object && is_left(p, words, j);
        if (!found)
            return true;
    }
    return false;
}

static uint64_t hash_words(const uint32_t *words, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ words[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

/* Adds p->scratch, unless it is there. */
static void add_configuration(struct proving *p, struct configurations *all)
{
    const size_t size = size_of(p);
    const uint32_t *words = p->scratch.at;
    uint32_t *chain = rig_table_put(&all->chains, hash_words(words, size));
    for (uint32_t i = chain == NULL ? none : *chain; i != none; i = all->links.at[i]) {
        if (memcmp(all->words.at + i * size, words, size * sizeof *words) == 0)
            return;
    }
    if (chain == NULL || !configuration_words_reserve(&all->words, all->words.count + size) ||
        !configuration_links_add(&all->links, *chain)) {
        p->no_memory = true;
        return;
    }
    memcpy(all->words.at + all->words.count, words, size * sizeof *words);
    all->words.count += size;
    *chain = all->count++;
    p->spent |= all->words.count > MOST_WORDS;
}

static bool apply(struct proving *p, uint32_t object, const struct step_op *op, uint32_t *after)
{
    const bool possible =
        rig_proved_apply(&p->states, p->scratch.at[p->session_count + object], op->ops, op->count, after);
    p->no_memory |= p->states.no_memory;
    return possible;
}

static void load(struct proving *p, uint32_t from)
{
    memcpy(p->scratch.at, p->now.words.at + from * size_of(p), size_of(p) * sizeof *p->scratch.at);
}

/* The next operation of a session takes effect; false: it is impossible. */
static bool lengthen(struct proving *p, uint32_t session)
{
    const struct step_op *op = &p->ops.at[p->first[session] + p->scratch.at[session]];
    uint32_t after;
    if (!apply(p, op->object, op, &after))
        return false;
    p->scratch.at[session]++;
    p->scratch.at[p->session_count + op->object] = after;
    if (!lacks_value(p, p->scratch.at))
        add_configuration(p, &p->next);
    return true;
}

static bool has_next(const struct proving *p, uint32_t session)
{
    return p->first[session] + p->scratch.at[session] < p->first[session + 1];
}

static void add_unknown(struct proving *p, uint32_t from)
{
    for (uint32_t i = p->certain; i < p->ops.count && !p->no_memory; i++) {
        const struct step_op *op = &p->ops.at[i];
        const uint32_t bit = i - p->certain;
        uint32_t after;
        load(p, from);
        if (is_used(p, p->scratch.at, i) || (op->session != none && p->scratch.at[op->session] < op->after) ||
            !apply(p, op->object, op, &after))
            continue;
        p->scratch.at[p->session_count + op->object] = after;
        p->scratch.at[p->session_count + p->object_count + bit / 32] |= UINT32_C(1) << bit % 32;
        if (!lacks_value(p, p->scratch.at))
            add_configuration(p, &p->now);
    }
}

static void explore(struct proving *p, uint32_t from)
{
    for (uint32_t session = 0; session < p->session_count; session++) {
        load(p, from);
        const struct step_op *op = has_next(p, session) ? &p->ops.at[p->first[session] + p->scratch.at[session]] : NULL;
        if (op != NULL && only_observes(op->ops, op->count) && lengthen(p, session))
            return;
    }
    for (uint32_t session = 0; session < p->session_count && !p->no_memory; session++) {
        load(p, from);
        if (has_next(p, session))
            (void)lengthen(p, session);
    }
    add_unknown(p, from);
}

static void forget(struct configurations *all)
{
    all->words.count = all->links.count = all->count = 0;
    rig_table_clear(&all->chains);
}

/* Whether some order explains the operations. */
static void search_all(struct proving *p)
{
    const int64_t deadline_ns = rig_clock_now_ns() + MOST_SECONDS * RIG_NS_PER_S;
    if (!configuration_words_reserve(&p->scratch, size_of(p))) {
        p->no_memory = true;
        return;
    }
    memset(p->scratch.at, 0, size_of(p) * sizeof *p->scratch.at);
    for (uint32_t object = 0; object < p->object_count; object++)
        p->scratch.at[p->session_count + object] = rig_proved_initial(&p->states);
    if (!lacks_value(p, p->scratch.at))
        add_configuration(p, &p->now);
    for (uint32_t length = 0; length < p->certain && p->now.count > 0 && !p->no_memory && !p->spent; length++) {
        for (uint32_t i = 0; i < p->now.count && !p->no_memory && !p->spent; i++) {
            explore(p, i);
            p->spent |= i % 256 == 255 && rig_clock_now_ns() > deadline_ns;
        }
        const struct configurations now = p->now;
        p->now = p->next;
        p->next = now;
        forget(&p->next);
        p->spent |= rig_clock_now_ns() > deadline_ns;
    }
    p->explained = p->now.count > 0;
}

static void configurations_done(struct configurations *all)
{
    configuration_words_done(&all->words);
    configuration_links_done(&all->links);
    rig_table_done(&all->chains);
}

const char *rig_verify_object_order(const struct rig_history *history, const struct rig_witness *witness)
{
    struct proving p = {.history = history, .witness = witness};
    const char *lacks = NULL;
    rig_proved_states_init(&p.states, history->workload);
    rig_table_init(&p.now.chains);
    rig_table_init(&p.next.chains);
    p.kept = calloc((size_t)history->txn_count + 1, sizeof *p.kept);
    p.object_of = malloc(((size_t)history->key_count + 1) * sizeof *p.object_of);
    p.no_memory = p.kept == NULL || p.object_of == NULL;
    for (uint32_t key = 0; !p.no_memory && key < history->key_count; key++)
        p.object_of[key] = none;
    if (!p.no_memory)
        lacks = collect(&p);
    if (!p.no_memory && lacks == NULL)
        search_all(&p);
    rig_proved_states_done(&p.states);
    configurations_done(&p.now);
    configurations_done(&p.next);
    configuration_words_done(&p.scratch);
    step_ops_done(&p.ops);
    free(p.kept);
    free(p.object_of);
    free(p.first);
    if (lacks != NULL || (p.spent && !p.no_memory))
        return lacks != NULL ? lacks : rig_verify_spent;
    return p.no_memory   ? "could not be proved in the memory there is"
           : p.explained ? "has an order with the others"
                         : NULL;
}
