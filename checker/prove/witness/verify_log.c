/*
 * Proving witnesses over logs from the raw history.
 *
 * The facts are an index of the values that transactions sent, with the offset at which acknowledged transactions show
 * each of them. A poll directly after a send to its key is the acknowledgement of that send, and no poll of a consumer.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/bug.h"
#include "checker/prove/commits.h"
#include "checker/prove/witness/verify_type.h"

struct sent {
    uint32_t txn; /* that sent the value; UINT32_MAX: an empty slot */
    uint32_t key;
    int64_t value, offset;
    bool shown, polled, several; /* at some offset; by a poll of a consumer; at two offsets */
};

struct log_facts {
    struct sent *slots; /* open addressing, at most half full */
    uint64_t mask;
};

/* ---- the index ---- */

static struct sent *slot_of(const struct log_facts *facts, uint32_t key, int64_t value)
{
    uint64_t at = XXH3_64bits_withSeed(&value, sizeof value, key) & facts->mask;
    while (facts->slots[at].txn != UINT32_MAX && (facts->slots[at].key != key || facts->slots[at].value != value))
        at = (at + 1) & facts->mask;
    return &facts->slots[at];
}

/* The value as it was sent; NULL: no transaction did. */
static const struct sent *sent_of(const struct rig_proof *proof, uint32_t key, int64_t value)
{
    const struct sent *sent = slot_of(proof->facts, key, value);
    return sent->txn == UINT32_MAX ? NULL : sent;
}

static bool is_acknowledgement(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return op > 0 && ops[op - 1].kind == RIG_OP_SEND && ops[op - 1].key == ops[op].key;
}

/* The elements that the operation shows, two a record; none where it is no poll with records. */
static struct rig_read_list records_of(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *poll = rig_txn_ops(history, txn) + op;
    RIG_REQUIRE(op < rig_txn_op_count(history, txn));
    return poll->kind == RIG_OP_POLL ? rig_txn_op_list(history, poll) : (struct rig_read_list){0};
}

static void note_shown(struct sent *sent, int64_t offset, bool acknowledgement)
{
    sent->several |= sent->shown && sent->offset != offset;
    sent->offset = sent->shown ? sent->offset : offset;
    sent->shown = true;
    sent->polled |= !acknowledgement;
}

/* Notes what a committed transaction shows. */
static bool follow(struct rig_commits *commits, uint32_t txn)
{
    const struct rig_history *history = commits->history;
    for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
        const struct rig_read_list list = records_of(history, txn, op);
        const uint32_t key = rig_txn_ops(history, txn)[op].key;
        for (uint32_t at = 0; at + 1 < list.count; at += 2) {
            const int64_t value = rig_read_element(&list, at + 1);
            struct sent *sent = slot_of(commits->context, key, value);
            if (!rig_commits_show(commits, key, value))
                return false;
            if (sent->txn != UINT32_MAX && history->txns[txn].outcome == RIG_OUTCOME_OK)
                note_shown(sent, rig_read_element(&list, at), is_acknowledgement(history, txn, op));
        }
    }
    return true;
}

static void free_facts(void *facts)
{
    struct log_facts *f = facts;
    if (f != NULL)
        free(f->slots);
    free(f);
}

static bool prove_committed(struct rig_proof *proof)
{
    const struct rig_history *history = proof->history;
    struct log_facts *facts = proof->facts = calloc(1, sizeof *facts);
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)history->op_count + 2)
        slots *= 2;
    if (facts == NULL || (facts->slots = malloc(slots * sizeof *facts->slots)) == NULL)
        return false;
    facts->mask = slots - 1;
    memset(facts->slots, 0xff, slots * sizeof *facts->slots);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (ops[i].kind == RIG_OP_SEND)
                *slot_of(facts, ops[i].key, ops[i].value) =
                    (struct sent){.txn = txn, .key = ops[i].key, .value = ops[i].value};
        }
    }
    return rig_commits_prove(history, RIG_OP_SEND, follow, facts, proof->committed);
}

/* ---- steps of a cycle ---- */

static const char *check_ww(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct sent *from = sent_of(proof, step->key, step->from_value),
                      *to = sent_of(proof, step->key, step->to_value);
    if (from == NULL || from->txn != step->from)
        return "did not send the earlier record";
    if (to == NULL || to->txn != step->to)
        return "is followed by one that did not send the later record";
    if (!from->shown || from->several || !to->shown || to->several)
        return "is in a step whose records have no certain offsets";
    return from->offset < to->offset ? NULL : "sent a record that is not before that of the next one";
}

/* Whether the operation shows the value; *offset: where. */
static bool shows(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t value, int64_t *offset)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return false;
    const struct rig_read_list list = records_of(history, txn, op);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        *offset = rig_read_element(&list, at);
        if (rig_read_element(&list, at + 1) == value)
            return true;
    }
    return false;
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    int64_t offset;
    if (step->kind == RIG_EDGE_WW)
        return check_ww(proof, step);
    if (step->kind != RIG_EDGE_WR)
        return "misses a record, which no poll of a log shows";
    const struct sent *sent = sent_of(proof, step->key, step->to_value);
    if (sent == NULL || sent->txn != step->from)
        return "did not send the record that was polled";
    return step->to < proof->history->txn_count && step->to_op < rig_txn_op_count(proof->history, step->to) &&
                   rig_txn_ops(proof->history, step->to)[step->to_op].key == step->key &&
                   shows(proof->history, step->to, step->to_op, step->to_value, &offset)
               ? NULL
               : "is followed by one that did not poll its record";
}

static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof;
    (void)step;
    return true; /* only acknowledged transactions show offsets */
}

/* ---- positions of consumers ---- */

/* A walk over the records that a consumer polls in a log, up to an operation, with those before each of them. */
struct walk {
    const struct rig_history *history;
    uint32_t key;
    bool known; /* the consumer has a position: */
    int64_t offset;
    uint32_t txn;
};

/* Passes a poll. True: `is_it`, and one of its records does what the witness says of it and the one before. */
static bool pass_poll(struct walk *walk, const struct rig_proof *proof, const struct rig_witness *w, uint32_t txn,
                      uint32_t op, bool is_it)
{
    const struct rig_txn_op *poll = rig_txn_ops(walk->history, txn) + op;
    const bool skip = w->anomaly == RIG_ANOMALY_INT_POLL_SKIP || w->anomaly == RIG_ANOMALY_POLL_SKIP;
    const bool within = w->anomaly == RIG_ANOMALY_INT_POLL_SKIP || w->anomaly == RIG_ANOMALY_INT_NONMONOTONIC_POLL;
    const struct rig_read_list list = records_of(walk->history, txn, op);
    const struct sent *missed = skip ? sent_of(proof, walk->key, w->value) : NULL;
    bool proved = false;
    walk->known &= poll->read_state != RIG_READ_NIL;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t offset = rig_read_element(&list, at);
        const bool fits = walk->known && (walk->txn == txn) == within;
        if (skip)
            proved |= fits && walk->offset < missed->offset && missed->offset < offset;
        else
            proved |= fits && offset <= walk->offset && rig_read_element(&list, at + 1) == w->value;
        *walk = (struct walk){.history = walk->history, .key = walk->key, .known = true, .offset = offset, .txn = txn};
    }
    return is_it && proved;
}

static const char *check_position(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const bool skip = w->anomaly == RIG_ANOMALY_INT_POLL_SKIP || w->anomaly == RIG_ANOMALY_POLL_SKIP;
    const struct sent *missed = skip ? sent_of(proof, w->key, w->value) : NULL;
    struct walk walk = {.history = history, .key = w->key};
    if (skip && (missed == NULL || !missed->shown || missed->several || !proof->committed[missed->txn] ||
                 missed->txn == w->txns[0]))
        return "skipped no record of another transaction with a certain offset";
    for (uint32_t txn = 0; txn <= w->txns[0]; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        if (history->txns[txn].process != history->txns[w->txns[0]].process ||
            history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
            if (ops[op].kind == RIG_OP_POLL && ops[op].key == w->key && !is_acknowledgement(history, txn, op) &&
                ops[op].read_state != RIG_READ_UNKNOWN &&
                pass_poll(&walk, proof, w, txn, op, txn == w->txns[0] && op == w->op))
                return NULL;
        }
    }
    return skip ? "did not go past the record" : "did not go back in the log";
}

/* ---- the other anomalies ---- */

static const char *check_lost(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct sent *sent = sent_of(proof, w->key, w->value);
    if (sent == NULL || sent->txn != w->txns[0] || history->txns[sent->txn].outcome != RIG_OUTCOME_OK)
        return "sent no such record, or was not acknowledged";
    if (!sent->shown || sent->several || sent->polled)
        return "sent a record that a poll shows, or that has no certain offset";
    if (w->txn_count != 2 || w->txns[1] >= history->txn_count || w->other_op >= rig_txn_op_count(history, w->txns[1]) ||
        rig_txn_ops(history, w->txns[1])[w->other_op].key != w->key ||
        is_acknowledgement(history, w->txns[1], w->other_op) || history->txns[w->txns[1]].outcome != RIG_OUTCOME_OK)
        return "has no acknowledged poll of the log beside it";
    const struct rig_read_list list = records_of(history, w->txns[1], w->other_op);
    bool above = false;
    for (uint32_t at = 0; at + 1 < list.count; at += 2)
        above |= rig_read_element(&list, at) > sent->offset;
    return above ? NULL : "sent a record that is not below a polled one";
}

static const char *check_sends(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    const uint32_t count = rig_txn_op_count(history, w->txns[0]);
    if (w->other_op >= w->op || w->op >= count || ops[w->op].kind != RIG_OP_SEND ||
        ops[w->other_op].kind != RIG_OP_SEND || ops[w->op].value != w->value || ops[w->op].key != w->key ||
        ops[w->other_op].key != w->key)
        return "made no such sends";
    const struct sent *first = sent_of(proof, w->key, ops[w->other_op].value),
                      *second = sent_of(proof, w->key, w->value);
    if (!first->shown || first->several || !second->shown || second->several)
        return "sent records that have no certain offsets";
    return second->offset < first->offset ? NULL : "sent records in the order of the log";
}

/* Two operations show one value at two offsets, or two values at one. */
static const char *check_pair(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const bool clash = w->anomaly == RIG_ANOMALY_INCONSISTENT_OFFSETS;
    const uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    if (history->txns[w->txns[0]].outcome != RIG_OUTCOME_OK || history->txns[other].outcome != RIG_OUTCOME_OK ||
        w->op >= rig_txn_op_count(history, w->txns[0]) || w->other_op >= rig_txn_op_count(history, other) ||
        rig_txn_ops(history, w->txns[0])[w->op].key != w->key || rig_txn_ops(history, other)[w->other_op].key != w->key)
        return "made no such polls";
    const struct rig_read_list a = records_of(history, w->txns[0], w->op), b = records_of(history, other, w->other_op);
    for (uint32_t i = 0; i + 1 < a.count; i += 2) {
        for (uint32_t j = 0; rig_read_element(&a, i + 1) == w->value && j + 1 < b.count; j += 2) {
            const bool same = rig_read_element(&a, i) == rig_read_element(&b, j);
            const int64_t value = rig_read_element(&b, j + 1);
            if (clash ? same && value == w->other_value && value != w->value : !same && value == w->value)
                return NULL;
        }
    }
    return "shows the same records as the other operation";
}

static const char *check_shown(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct sent *sent = sent_of(proof, w->key, w->value);
    int64_t offset;
    if (w->op >= rig_txn_op_count(history, w->txns[0]) || rig_txn_ops(history, w->txns[0])[w->op].key != w->key ||
        !shows(history, w->txns[0], w->op, w->value, &offset))
        return "made no such poll";
    if (w->anomaly == RIG_ANOMALY_GARBAGE_READ)
        return sent == NULL ? NULL : "polled a record that was sent";
    if (w->anomaly == RIG_ANOMALY_G1A)
        return sent != NULL && w->txn_count == 2 && sent->txn == w->txns[1] &&
                       history->txns[sent->txn].outcome == RIG_OUTCOME_FAIL
                   ? NULL
                   : "polled no record of a failed transaction";
    if (sent == NULL || sent->txn != w->txns[0])
        return "did not send the record itself";
    for (uint32_t op = 0; op < w->op; op++) {
        const struct rig_txn_op *send = rig_txn_ops(history, w->txns[0]) + op;
        if (send->kind == RIG_OP_SEND && send->key == w->key && send->value == w->value)
            return "sent the record before it polled it";
    }
    return NULL;
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_INT_POLL_SKIP:
    case RIG_ANOMALY_POLL_SKIP:
    case RIG_ANOMALY_INT_NONMONOTONIC_POLL:
    case RIG_ANOMALY_NONMONOTONIC_POLL:
        return check_position(proof, w);
    case RIG_ANOMALY_LOST_WRITE:
        return check_lost(proof, w);
    case RIG_ANOMALY_INT_NONMONOTONIC_SEND:
        return check_sends(proof, w);
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
    case RIG_ANOMALY_INCONSISTENT_OFFSETS:
        return check_pair(proof, w);
    case RIG_ANOMALY_GARBAGE_READ:
    case RIG_ANOMALY_FUTURE_READ:
    case RIG_ANOMALY_G1A:
        return check_shown(proof, w);
    default:
        return "shows an anomaly that logs do not have";
    }
}

const struct rig_type_verifier rig_verify_log = {.prove_committed = prove_committed,
                                                 .free_facts = free_facts,
                                                 .check_step = check_step,
                                                 .check_noncyclic = check_noncyclic,
                                                 .is_acknowledged = is_acknowledged};
