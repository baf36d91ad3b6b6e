#include "checker/evidence/certificate_judge.h"

#include "base/bug.h"
#include "base/halve.h"
#include "history/types/types.h"

struct judging {
    struct rig_comparison *comparison;
    const struct rig_history *history;
    const struct rig_certificate_chains *chains;
    struct rig_certificate_chains lost; /* of the commits that failovers lost */
    uint32_t *writers;                  /* per commit */
    uint8_t *named;                     /* per commit: some transaction has a value of it */
    uint32_t *common;                   /* per key: rig_certificate_common() */
};

/* A write that the stream does not have, and that a lost commit has; false: none does. */
static bool note_lost(struct judging *c, enum rig_discrepancy_kind kind, uint32_t txn)
{
    RIG_REQUIRE(kind == RIG_DISCREPANCY_LOST_COMMIT || kind == RIG_DISCREPANCY_RESURRECTED_ABORT);
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    const struct rig_certificate_slot *slot = NULL;
    uint32_t op = 0;
    if (c->lost.slot_count == 0)
        return false;
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn) && slot == NULL; i++) {
        op = i;
        slot = rig_op_reads(ops[i].kind) ? NULL : rig_certificate_find(&c->lost, ops[i].key, ops[i].value);
    }
    if (slot == NULL)
        return false;
    RIG_INVARIANT(slot->commit < c->history->certificate->lost->commits.count);
    struct rig_discrepancy found = rig_discrepancy_at(kind, txn, op);
    found.commit = slot->commit;
    found.of_lost = true;
    rig_comparison_note(c->comparison, found);
    return true;
}

static void note(struct judging *c, enum rig_discrepancy_kind kind, uint32_t txn, uint32_t op, uint32_t commit)
{
    struct rig_discrepancy found = rig_discrepancy_at(kind, txn, op);
    found.commit = commit;
    rig_comparison_note(c->comparison, found);
}

/* ---- writes ---- */

/* How a transaction's writes are in the certificate. */
struct found {
    uint32_t writes, present;
    uint32_t commit;                    /* of the first one that is present */
    uint32_t first_missing, first_here; /* operations */
    bool one_commit;
};

static struct found find_writes(const struct judging *c, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    struct found found = {
        .commit = UINT32_MAX, .first_missing = UINT32_MAX, .first_here = UINT32_MAX, .one_commit = true};
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn); i++) {
        if (rig_op_reads(ops[i].kind) || rig_certificate_hides(c->history, txn, i))
            continue;
        const struct rig_certificate_slot *slot = rig_certificate_find(c->chains, ops[i].key, ops[i].value);
        found.writes++;
        if (slot == NULL) {
            found.first_missing = found.first_missing == UINT32_MAX ? i : found.first_missing;
            continue;
        }
        found.present++;
        c->named[slot->commit] = 1;
        if (found.first_here == UINT32_MAX) {
            found.first_here = i;
            found.commit = slot->commit;
        }
        found.one_commit &= slot->commit == found.commit;
    }
    RIG_INVARIANT(found.present <= found.writes && (found.present == 0) == (found.commit == UINT32_MAX));
    return found;
}

/* Whether the commit drops elements, or removes a key. */
static bool is_irregular(const struct judging *c, uint32_t commit)
{
    RIG_REQUIRE(commit < c->history->certificate->commits.count);
    uint32_t low = 0, high = c->chains->irregular_count;
    while (low < high)
        rig_halve(&low, &high, c->chains->commits[rig_middle(low, high)] < commit);
    return low < c->chains->irregular_count && c->chains->commits[low] == commit;
}

/* Whether the writes of the transaction to the key of the change are its elements, in this order. */
static bool is_change(const struct judging *c, uint32_t txn, const struct rig_change *change)
{
    RIG_REQUIRE((size_t)change->first + change->count <= c->history->certificate->elements.count);
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    uint32_t same = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn); i++) {
        if (rig_op_reads(ops[i].kind) || c->history->keys[ops[i].key] != change->key ||
            rig_certificate_hides(c->history, txn, i))
            continue;
        if (same == change->count || ops[i].value != c->history->certificate->elements.at[change->first + same])
            return false;
        same++;
    }
    return same > 0 && same == change->count;
}

/* As is_exact(), key by key. Each key of the commit has one change, and all of its keys are the transaction's. */
static bool has_last_versions(const struct judging *c, uint32_t txn, uint32_t commit, uint32_t writes)
{
    const struct rig_change *changes = rig_commit_changes(c->history->certificate, commit);
    uint32_t found = 0;
    for (uint32_t i = 0; i < rig_commit_change_count(c->history->certificate, commit); i++) {
        if (!is_change(c, txn, &changes[i]))
            return false;
        found += changes[i].count;
    }
    return found == writes && !is_irregular(c, commit);
}

/* Whether the commit has exactly the transaction's writes, in its order. */
static bool is_exact(const struct judging *c, uint32_t txn, uint32_t commit)
{
    RIG_REQUIRE(txn < c->history->txn_count && commit < c->history->certificate->commits.count);
    const struct rig_certificate *certificate = c->history->certificate;
    const struct rig_change *changes = rig_commit_changes(certificate, commit);
    const struct rig_txn_op *op = rig_txn_ops(c->history, txn), *end = op + rig_txn_op_count(c->history, txn);
    for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
        for (uint32_t j = 0; j < changes[i].count; j++) {
            while (op < end && rig_op_reads(op->kind))
                op++;
            if (op == end || c->history->keys[op->key] != changes[i].key ||
                op->value != certificate->elements.at[changes[i].first + j])
                return false;
            op++;
        }
    }
    while (op < end && rig_op_reads(op->kind))
        op++;
    return op == end && !is_irregular(c, commit);
}

static void compare_writes(struct judging *c, uint32_t txn, uint8_t *never)
{
    const struct found found = find_writes(c, txn);
    if (found.writes == 0)
        return;
    const bool exact = found.present == found.writes && found.one_commit &&
                       (c->history->certificate->last_only ? has_last_versions(c, txn, found.commit, found.writes)
                                                           : is_exact(c, txn, found.commit));
    RIG_INVARIANT(!exact || found.commit < c->history->certificate->commits.count);
    if (exact)
        c->writers[found.commit] = txn;
    switch ((int)c->history->txns[txn].outcome) {
    case RIG_OUTCOME_OK:
        if (found.present == 0 && !note_lost(c, RIG_DISCREPANCY_LOST_COMMIT, txn) && c->history->certificate->complete)
            note(c, RIG_DISCREPANCY_LOST_COMMIT, txn, found.first_missing, UINT32_MAX);
        else if (found.present > 0 && !exact)
            note(c, RIG_DISCREPANCY_TORN_COMMIT, txn, found.first_here, found.commit);
        break;
    case RIG_OUTCOME_FAIL:
        if (found.present > 0)
            note(c, RIG_DISCREPANCY_RESURRECTED_ABORT, txn, found.first_here, found.commit);
        else
            (void)note_lost(c, RIG_DISCREPANCY_RESURRECTED_ABORT, txn);
        break;
    default:
        if (found.present > 0 && !exact)
            note(c, RIG_DISCREPANCY_TORN_COMMIT, txn, found.first_here, found.commit);
        *never = found.present == 0 && c->history->certificate->complete;
        rig_comparison_resolve(c->comparison, exact, *never);
        break;
    }
}

/* ---- reads ---- */

uint32_t rig_certificate_common(const struct rig_history *history, const struct rig_certificate_chains *chains,
                                uint32_t key)
{
    RIG_REQUIRE(key < history->key_count);
    const struct rig_list *spine = &history->spines[key];
    const struct rig_certificate_chain *chain = &chains->keys[key];
    uint32_t common = 0;
    while (common < spine->count && common < chain->count && spine->at[common] == chain->at[common])
        common++;
    return common;
}

/* Whether the list is a prefix of the chain; or, where the chain may go on, the chain one of the list. */
static bool is_prefix(const struct judging *c, const struct rig_txn_op *op)
{
    const struct rig_read_list list = rig_txn_op_list(c->history, op);
    const struct rig_certificate_chain *chain = &c->chains->keys[op->key];
    const uint32_t most = list.count < chain->count ? list.count : chain->count;
    uint32_t same = list.shared < c->common[op->key] ? list.shared : c->common[op->key];
    RIG_INVARIANT(same <= most);
    while (same < most && rig_read_element(&list, same) == chain->at[same])
        same++;
    return same == list.count || (same == chain->count && !c->history->certificate->complete);
}

static bool fits(const struct judging *c, uint32_t txn, uint32_t at)
{
    const struct rig_txn_op *op = rig_txn_ops(c->history, txn) + at, *own;
    if (op->read_state != RIG_READ_SEEN || c->chains->keys[op->key].irregular)
        return true;
    if (rig_op_reads_sequence(op->kind))
        return is_prefix(c, op);
    if (!c->history->certificate->complete || rig_certificate_find(c->chains, op->key, op->value) != NULL)
        return true;
    return c->history->certificate->last_only && (own = rig_certificate_own_write(c->history, txn, at)) != NULL &&
           own->value == op->value;
}

static void compare_reads(struct judging *c, uint32_t txn)
{
    RIG_REQUIRE(c->history->txns[txn].outcome == RIG_OUTCOME_OK);
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn); i++) {
        if (rig_op_reads(ops[i].kind) && !fits(c, txn, i))
            note(c, RIG_DISCREPANCY_CERTIFICATE_MISMATCH, txn, i, UINT32_MAX);
    }
}

/* ---- all of it ---- */

bool rig_certificate_judge(struct rig_comparison *comparison, const struct rig_certificate_chains *chains,
                           uint8_t *never, uint32_t *writers)
{
    const struct rig_history *history = comparison->history;
    struct rig_certified *certified = comparison->into;
    RIG_REQUIRE(history->certificate != NULL && chains->keys != NULL);
    struct judging c = {.comparison = comparison, .history = history, .chains = chains, .writers = writers};
    for (size_t i = 0; i < history->certificate->commits.count; i++)
        writers[i] = UINT32_MAX;
    c.named = rig_arena_array(&certified->arena, history->certificate->commits.count + 1, 1);
    c.common = rig_arena_array(&certified->arena, (size_t)history->key_count + 1, sizeof *c.common);
    if (c.named == NULL || c.common == NULL ||
        (history->certificate->lost != NULL &&
         !rig_certificate_chains_build(history, history->certificate->lost, &certified->arena, &c.lost)))
        return false;
    for (uint32_t key = 0; key < history->key_count; key++)
        c.common[key] = rig_op_reads_sequence(rig_data_types[history->workload].read_op)
                            ? rig_certificate_common(history, chains, key)
                            : 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        compare_writes(&c, txn, &never[txn]);
        if (history->txns[txn].outcome == RIG_OUTCOME_OK)
            compare_reads(&c, txn);
    }
    for (size_t i = 0; i < history->certificate->commits.count; i++)
        certified->foreign_count += !c.named[i];
    return !comparison->failed;
}
