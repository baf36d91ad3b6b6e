#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/prove/commits.h"
#include "checker/prove/witness/single_line.h"
#include "checker/prove/witness/verify_type.h"

#define NO_LIST UINT32_MAX

/* The reads of committed transactions. Lists by number: the spines of the keys, then the branches. */
struct list_facts {
    uint32_t *shown;        /* per list: its leading elements that some committed transaction read */
    uint32_t *acknowledged; /* per list: its leading elements that some acknowledged transaction read */
    uint32_t *first_branch; /* per key: a branch whose elements are shown, or NO_LIST */
    uint32_t *next_branch;  /* per branch: the next one of its key, or NO_LIST */
};

static const struct list_facts *facts_of(const struct rig_proof *proof)
{
    return proof->facts;
}

/* ---- operations of transactions ---- */

/* The place of `value` in a list, or UINT32_MAX. */
static uint32_t place_in_list(struct rig_read_list list, int64_t value)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return i;
    }
    return UINT32_MAX;
}

/* The place of `value` in what `op` read, or UINT32_MAX. */
static uint32_t place_in_read(const struct rig_history *history, const struct rig_txn_op *op, int64_t value)
{
    return place_in_list(rig_txn_op_list(history, op), value);
}

/* The operation of `txn` that appends `value` to `key`, or UINT32_MAX. */
static uint32_t find_append(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key && ops[i].value == value)
            return i;
    }
    return UINT32_MAX;
}

/* The operation `op` of `txn` when it is a read of a list with a known result, else NULL. */
static const struct rig_txn_op *known_read(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    return read->kind == RIG_OP_READ_LIST && read->read_state != RIG_READ_UNKNOWN ? read : NULL;
}

static uint32_t list_id(const struct rig_history *history, const struct rig_txn_op *op)
{
    RIG_REQUIRE(op->kind == RIG_OP_READ_LIST && op->read_state == RIG_READ_SEEN);
    return rig_txn_op_is_branch(op) ? history->key_count + rig_txn_op_branch(op) : op->key;
}

/* Iterates over the lists of `key` that committed transactions read, starting with the key; NO_LIST at the end. */
static uint32_t list_after(const struct rig_proof *proof, uint32_t key, uint32_t list)
{
    RIG_REQUIRE(key < proof->history->key_count && list < proof->history->key_count + proof->history->branch_count);
    uint32_t key_count = proof->history->key_count;
    return list < key_count ? facts_of(proof)->first_branch[key] : facts_of(proof)->next_branch[list - key_count];
}

static struct rig_read_list shown_list(const struct rig_proof *proof, uint32_t list)
{
    RIG_REQUIRE(list < proof->history->key_count + proof->history->branch_count);
    const struct rig_history *history = proof->history;
    uint32_t count = facts_of(proof)->shown[list];
    RIG_INVARIANT(list >= history->key_count || count <= history->spines[list].count);
    return list < history->key_count ? rig_read_of(history->spines[list], count)
                                     : rig_read_of_branch(history, list - history->key_count, count);
}

/* Some committed transaction shows `value` of `key`. */
static bool is_shown(const struct rig_proof *proof, uint32_t key, int64_t value)
{
    for (uint32_t list = key; list != NO_LIST; list = list_after(proof, key, list)) {
        if (place_in_list(shown_list(proof, list), value) != UINT32_MAX)
            return true;
    }
    return false;
}
/* ---- which transactions committed ---- */

/* Notes the reads of a committed transaction. */
static bool follow_reads(struct rig_commits *commits, uint32_t txn)
{
    RIG_REQUIRE(commits->committed[txn]);
    const struct rig_history *history = commits->history;
    struct list_facts *facts = commits->context;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind != RIG_OP_READ_LIST || ops[i].read_state != RIG_READ_SEEN)
            continue;
        struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        uint32_t key = ops[i].key, id = list_id(history, &ops[i]), from = facts->shown[id];
        if (history->txns[txn].outcome == RIG_OUTCOME_OK && list.count > facts->acknowledged[id])
            facts->acknowledged[id] = list.count;
        if (list.count <= from)
            continue;
        if (from == 0 && id >= history->key_count) {
            facts->next_branch[id - history->key_count] = facts->first_branch[key];
            facts->first_branch[key] = id;
        }
        RIG_INVARIANT(id < history->key_count + history->branch_count && facts->acknowledged[id] <= list.count);
        facts->shown[id] = list.count;
        for (uint32_t j = from; commits->claims.count > 0 && j < list.count; j++) {
            if (!rig_commits_show(commits, key, rig_read_element(&list, j)))
                return false;
        }
    }
    return true;
}

static void free_facts(void *facts)
{
    struct list_facts *f = facts;
    if (f == NULL)
        return;
    free(f->shown);
    free(f->acknowledged);
    free(f->first_branch);
    free(f->next_branch);
    free(f);
}

static bool prove_committed(struct rig_proof *proof)
{
    const size_t key_count = proof->history->key_count, branch_count = proof->history->branch_count;
    struct list_facts *facts = proof->facts = calloc(1, sizeof *facts);
    if (facts == NULL)
        return false;
    facts->shown = calloc(key_count + branch_count + 1, sizeof *facts->shown);
    facts->acknowledged = calloc(key_count + branch_count + 1, sizeof *facts->acknowledged);
    facts->first_branch = malloc((key_count + 1) * sizeof *facts->first_branch);
    facts->next_branch = calloc(branch_count + 1, sizeof *facts->next_branch);
    if (facts->shown == NULL || facts->acknowledged == NULL || facts->first_branch == NULL ||
        facts->next_branch == NULL)
        return false;
    memset(facts->first_branch, 0xff, (key_count + 1) * sizeof *facts->first_branch);
    return rig_commits_prove(proof->history, RIG_OP_APPEND, follow_reads, facts, proof->committed);
}

/* ---- steps of a cycle ---- */

/* A read shows the two values in their order; or reads show the first one, and none the second. */
static const char *check_before(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    if (step->order_txn == UINT32_MAX) {
        bool in_order = is_shown(proof, step->key, step->from_value) && !is_shown(proof, step->key, step->to_value);
        return in_order ? NULL : "has no read that orders its append before an unread one";
    }
    const struct rig_txn_op *read = known_read(history, step->order_txn, step->order_op);
    if (read == NULL || read->key != step->key || !proof->committed[step->order_txn])
        return "has no committed read that orders its append";
    uint32_t from = place_in_read(history, read, step->from_value);
    uint32_t to = place_in_read(history, read, step->to_value);
    return from != UINT32_MAX && to != UINT32_MAX && from < to ? NULL : "did not append before the next one";
}

static const char *check_ww(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    if (find_append(history, step->from, step->key, step->from_value) == UINT32_MAX)
        return "did not append the earlier value";
    if (find_append(history, step->to, step->key, step->to_value) == UINT32_MAX)
        return "is followed by one that did not append the later value";
    return check_before(proof, step);
}
static const char *check_wr(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    if (find_append(history, step->from, step->key, step->from_value) == UINT32_MAX)
        return "did not append the value that was read";
    const struct rig_txn_op *read = known_read(history, step->to, step->to_op);
    bool saw = read != NULL && read->key == step->key && place_in_read(history, read, step->from_value) != UINT32_MAX;
    return saw ? NULL : "is followed by one that did not read its value";
}

/* Whether `txn` appended any of the elements of a list in [begin, end) to the key. */
static bool appended_any(const struct rig_history *history, uint32_t txn, uint32_t key, struct rig_read_list list,
                         uint32_t begin, uint32_t end)
{
    RIG_REQUIRE(end <= list.count);
    for (uint32_t i = begin; i < end; i++) {
        if (find_append(history, txn, key, rig_read_element(&list, i)) != UINT32_MAX)
            return true;
    }
    return false;
}

/* The value comes after the elements read: some list begins with them and has it later, or no list has it. */
static const char *check_overwritten(const struct rig_proof *proof, const struct rig_step *step,
                                     const struct rig_txn_op *read)
{
    RIG_REQUIRE(rig_op_reads(read->kind) && read->key == step->key);
    const struct rig_history *history = proof->history;
    if (step->order_txn == UINT32_MAX)
        return is_shown(proof, step->key, step->to_value) ? "missed a value that reads show, without an order" : NULL;
    const struct rig_txn_op *later = known_read(history, step->order_txn, step->order_op);
    if (later == NULL || later->key != step->key || !proof->committed[step->order_txn])
        return "has no committed read that orders the value after what it read";
    struct rig_read_list before = rig_txn_op_list(history, read), list = rig_txn_op_list(history, later);
    uint32_t place = place_in_list(list, step->to_value);
    if (place == UINT32_MAX || place < before.count)
        return "did not read a state before the value";
    for (uint32_t i = 0; i < before.count; i++) {
        if (rig_read_element(&before, i) != rig_read_element(&list, i))
            return "read a list that is not a prefix of the one that shows the value";
    }
    return appended_any(history, step->from, step->key, list, before.count, place)
               ? "appended to what it read before the next one did"
               : NULL;
}

static const char *check_rw(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    if (find_append(history, step->to, step->key, step->to_value) == UINT32_MAX)
        return "is followed by one that did not append the value";
    const struct rig_txn_op *read = known_read(history, step->from, step->from_op);
    bool missed = read != NULL && read->key == step->key && place_in_read(history, read, step->to_value) == UINT32_MAX;
    return missed ? check_overwritten(proof, step, read) : "did not miss the value";
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_WR || step->kind == RIG_EDGE_RW);
    return step->kind == RIG_EDGE_WW   ? check_ww(proof, step)
           : step->kind == RIG_EDGE_WR ? check_wr(proof, step)
                                       : check_rw(proof, step);
}

/* ---- proofs by cases ---- */

static bool read_version(const struct rig_proof *proof, uint32_t txn, uint32_t op, struct rig_proved_read *read)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *known = known_read(history, txn, op);
    if (known == NULL)
        return false;
    const struct rig_read_list list = rig_txn_op_list(history, known);
    *read = (struct rig_proved_read){.key = known->key, .initial = list.count == 0};
    for (uint32_t end = list.count; end > 0; end--) {
        read->value = rig_read_element(&list, end - 1);
        if (find_append(history, txn, known->key, read->value) == UINT32_MAX)
            return true;
    }
    RIG_INVARIANT(read->key < history->key_count);
    return read->initial;
}

/* rw: an element that `to` appended is not in what `from` read, or the read would not be of an earlier version. */
static bool saw_any(const struct rig_history *history, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW);
    const struct rig_txn_op *read = known_read(history, step->from, step->from_op);
    if (read == NULL)
        return true;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    return appended_any(history, step->to, step->key, list, 0, list.count);
}

static const char *check_known(const struct rig_proof *proof, const struct rig_step *step)
{
    if (step->kind == RIG_EDGE_WW)
        return check_ww(proof, step);
    if (find_append(proof->history, step->to, step->key, step->to_value) == UINT32_MAX)
        return "is followed by one that did not append the later value";
    if (saw_any(proof->history, step))
        return "read an append of the next one";
    return check_before(proof, step);
}

/* Whether reads of acknowledged transactions show the order of a ww step by themselves. */
static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW);
    for (uint32_t id = step->key; id != NO_LIST; id = list_after(proof, step->key, id)) {
        struct rig_read_list list = shown_list(proof, id);
        list.count = facts_of(proof)->acknowledged[id];
        uint32_t from = place_in_list(list, step->from_value);
        if (from != UINT32_MAX && from < place_in_list(list, step->to_value))
            return true;
    }
    return false;
}

/* ---- non-cyclic anomalies ---- */

static bool appends_after(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key)
{
    RIG_REQUIRE(op < rig_txn_op_count(history, txn));
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = op + 1; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key)
            return true;
    }
    return false;
}

/* Both reads show the same list, with elements of the reader's own, too: where it appends these later, they are future
 * reads as well, so the line of a proof, which leaves out what is the reader's own, would not hold. */
static const char *check_lost_update(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op),
                            *other = w->txn_count == 2 ? known_read(history, w->txns[1], w->other_op) : NULL;
    if (read == NULL || other == NULL || read->key != w->key || other->key != w->key || !proof->committed[w->txns[1]])
        return "has no other transaction to lose an update to";
    const struct rig_read_list a = rig_txn_op_list(history, read), b = rig_txn_op_list(history, other);
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = rig_read_element(&a, i) == rig_read_element(&b, i);
    if (!same)
        return "read another version than the other one";
    if (!appends_after(history, w->txns[0], w->op, w->key) || !appends_after(history, w->txns[1], w->other_op, w->key))
        return "did not append like the other one";
    return rig_verify_found_no_row(proof, w->txns[0], w->op) == (w->anomaly == RIG_ANOMALY_LOST_UPDATE_PREDICATE)
               ? NULL
               : "is in an anomaly that has another name where its key has no row";
}

/* A list that some committed transaction read shows the failed transaction's element before the committed one's. */
static const char *check_dirty_update(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    bool known = w->txn_count == 2 && history->txns[w->txns[1]].outcome == RIG_OUTCOME_FAIL &&
                 find_append(history, w->txns[1], w->key, w->other_value) != UINT32_MAX &&
                 find_append(history, w->txns[0], w->key, w->value) != UINT32_MAX;
    if (!known)
        return "does not build on a failed transaction";
    for (uint32_t list = w->key; list != NO_LIST; list = list_after(proof, w->key, list)) {
        uint32_t under = place_in_list(shown_list(proof, list), w->other_value);
        uint32_t over = place_in_list(shown_list(proof, list), w->value);
        if (under < over && over != UINT32_MAX)
            return NULL;
    }
    return "is in no list above the failed transaction's value";
}

/* ---- lost appends ---- */

/* Whether a read shows the value, whose place in the spine of its key is known (UINT32_MAX: it is not in it). */
static bool read_shows(const struct rig_history *history, const struct rig_txn_op *read, uint32_t in_spine,
                       int64_t value)
{
    RIG_REQUIRE(read->kind == RIG_OP_READ_LIST);
    const struct rig_read_list list = rig_txn_op_list(history, read);
    if (in_spine < list.shared)
        return true;
    for (uint32_t i = list.shared; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return true;
    }
    return false;
}

/* The last completion of an acknowledged read that shows the value, in a transaction other than `txn`; 0: none. */
static uint32_t shown_until(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    RIG_REQUIRE(txn < history->txn_count && key < history->key_count);
    const uint32_t in_spine = place_in_list(rig_read_of(history->spines[key], history->spines[key].count), value);
    uint32_t until = 0;
    for (uint32_t t = 0; t < history->txn_count; t++) {
        const uint32_t end = history->txns[t].outcome == RIG_OUTCOME_OK ? history->txns[t].complete_at : 0;
        const struct rig_txn_op *ops = rig_txn_ops(history, t);
        for (uint32_t i = 0; t != txn && end > until && i < rig_txn_op_count(history, t); i++) {
            if (ops[i].key == key && known_read(history, t, i) != NULL && read_shows(history, &ops[i], in_spine, value))
                until = end;
        }
    }
    return until;
}

/* Whether a read shows an append that was requested after the position, by a transaction that did not fail. */
static bool shows_later_append(const struct rig_history *history, const struct rig_txn_op *read, uint32_t after)
{
    RIG_REQUIRE(read->kind == RIG_OP_READ_LIST);
    for (uint32_t t = 0; t < history->txn_count; t++) {
        const struct rig_txn *txn = &history->txns[t];
        const struct rig_txn_op *ops = rig_txn_ops(history, t);
        const bool later =
            txn->outcome != RIG_OUTCOME_FAIL && txn->invoke_at != RIG_POSITION_NONE && txn->invoke_at > after;
        for (uint32_t i = 0; later && i < rig_txn_op_count(history, t); i++) {
            if (ops[i].kind == RIG_OP_APPEND && ops[i].key == read->key &&
                place_in_read(history, read, ops[i].value) != UINT32_MAX)
                return true;
        }
    }
    return false;
}

static const char *check_lost(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (w->txn_count != 2 || w->txns[1] >= history->txn_count ||
        find_append(history, w->txns[0], w->key, w->value) == UINT32_MAX)
        return "made no such append";
    const struct rig_txn *writer = &history->txns[w->txns[0]], *reader = &history->txns[w->txns[1]];
    const struct rig_txn_op *read = known_read(history, w->txns[1], w->other_op);
    if (writer->outcome != RIG_OUTCOME_OK || reader->outcome != RIG_OUTCOME_OK || read == NULL || read->key != w->key)
        return "was not acknowledged, or not followed by such a read";
    if (reader->invoke_at == RIG_POSITION_NONE || writer->complete_at >= reader->invoke_at)
        return "was not acknowledged before the read began";
    const uint32_t until = shown_until(history, w->txns[0], w->key, w->value);
    if (place_in_read(history, read, w->value) != UINT32_MAX || until >= reader->invoke_at)
        return "made an append that a later read shows";
    return until <= writer->complete_at || shows_later_append(history, read, writer->complete_at)
               ? NULL
               : "made an append that was read, and then missed by reads that may be stale";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    if (w->anomaly == RIG_ANOMALY_DIRTY_UPDATE)
        return check_dirty_update(proof, w);
    if (w->anomaly == RIG_ANOMALY_LOST_UPDATE || w->anomaly == RIG_ANOMALY_LOST_UPDATE_PREDICATE)
        return check_lost_update(proof, w);
    return w->anomaly == RIG_ANOMALY_LOST_APPEND ? check_lost(proof, w) : rig_verify_single(proof, w);
}

const struct rig_type_verifier rig_verify_list = {.prove_committed = prove_committed,
                                                  .free_facts = free_facts,
                                                  .check_step = check_step,
                                                  .check_noncyclic = check_noncyclic,
                                                  .read_version = read_version,
                                                  .check_known = check_known,
                                                  .is_acknowledged = is_acknowledged};
