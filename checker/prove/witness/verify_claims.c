#include "checker/prove/witness/verify_claims.h"

#include <stdlib.h>

#include "base/bug.h"

#define NONE INT64_MIN

/* The place of the first commit that has one of the transaction's writes; NONE: there is none. */
static int64_t place_in_certificate(const struct rig_history *history, uint32_t txn)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_certificate *certificate = history->certificate;
    for (uint32_t i = 0; certificate != NULL && i < rig_txn_op_count(history, txn); i++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
        for (uint32_t commit = 0; !rig_op_reads(op->kind) && commit < certificate->commits.count; commit++) {
            const struct rig_change *changes = rig_commit_changes(certificate, commit);
            for (uint32_t j = 0; j < rig_commit_change_count(certificate, commit); j++) {
                for (uint32_t k = 0; changes[j].key == history->keys[op->key] && k < changes[j].count; k++) {
                    if (certificate->elements.at[changes[j].first + k] == op->value)
                        return (int64_t)certificate->commits.at[commit].place;
                }
            }
        }
    }
    return NONE;
}

static bool writes_any(const struct rig_history *history, uint32_t txn)
{
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(rig_txn_ops(history, txn)[i].kind))
            return true;
    }
    return false;
}

static int64_t start_of(const struct rig_history *history, uint32_t txn, bool is_order)
{
    return rig_history_column(history, txn, is_order ? RIG_COLUMN_ORDER : RIG_COLUMN_START_TS);
}

/* NONE: it has no commit, or no place. */
static int64_t commit_of(const struct rig_history *history, uint32_t txn, bool is_order)
{
    if (!writes_any(history, txn) || history->txns[txn].outcome == RIG_OUTCOME_FAIL)
        return NONE;
    if (history->txns[txn].outcome == RIG_OUTCOME_OK)
        return rig_history_column(history, txn, is_order ? RIG_COLUMN_ORDER : RIG_COLUMN_COMMIT_TS);
    return is_order ? place_in_certificate(history, txn) : NONE;
}

static bool has_write(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    for (uint32_t i = 0; txn != UINT32_MAX && i < rig_txn_op_count(history, txn); i++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
        if (op->key == key && !rig_op_reads(op->kind) && op->value == value)
            return true;
    }
    return false;
}

static bool shows(const struct rig_history *history, const struct rig_txn_op *read, int64_t value)
{
    RIG_REQUIRE(rig_op_reads(read->kind));
    const struct rig_read_list list = rig_txn_op_list(history, read);
    if (!rig_op_reads_sequence(read->kind))
        return read->read_state == RIG_READ_SEEN && read->value == value;
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return true;
    }
    return false;
}

/* ---- the state of a key ---- */

struct version {
    int64_t place, value;
    uint32_t txn, op;
};

static int compare_versions(const void *left, const void *right)
{
    const struct version *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->txn != b->txn)
        return a->txn < b->txn ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

/* The writes of the key that the read's transaction must see, in their order; SIZE_MAX: one has no place. */
static size_t find_versions(const struct rig_history *history, uint32_t reader, uint32_t key, bool is_order,
                            struct version *into)
{
    RIG_REQUIRE(key < history->key_count && reader < history->txn_count);
    const int64_t start = start_of(history, reader, is_order);
    const bool before = is_order && writes_any(history, reader);
    size_t count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        int64_t place = NONE;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
            if (op->key != key || rig_op_reads(op->kind) || history->txns[txn].outcome == RIG_OUTCOME_FAIL)
                continue;
            place = place == NONE ? commit_of(history, txn, is_order) : place;
            if (place == NONE && history->txns[txn].outcome == RIG_OUTCOME_OK)
                return SIZE_MAX;
            if (place != NONE && (before ? place < start : place <= start))
                into[count++] = (struct version){.place = place, .value = op->value, .txn = txn, .op = i};
        }
    }
    RIG_INVARIANT(count <= history->op_count);
    if (count > 0)
        qsort(into, count, sizeof *into, compare_versions);
    return count;
}

/* Whether the read shows exactly the versions, and after them the transaction's own writes. */
static bool is_state(const struct rig_history *history, uint32_t txn, uint32_t at, const struct version *versions,
                     size_t count)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn), *read = ops + at;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    const bool is_list = rig_op_reads_sequence(read->kind);
    const struct rig_txn_op *own = NULL;
    size_t same = 0;
    if (is_list) {
        while (same < count && same < list.count && rig_read_element(&list, (uint32_t)same) == versions[same].value)
            same++;
        if (same < count)
            return false;
    }
    for (uint32_t i = 0; i < at; i++) {
        if (ops[i].key != read->key || rig_op_reads(ops[i].kind))
            continue;
        own = &ops[i];
        if (is_list && (same >= list.count || rig_read_element(&list, (uint32_t)same++) != own->value))
            return false;
    }
    if (is_list)
        return same == list.count;
    if (own != NULL || count > 0)
        return read->read_state == RIG_READ_SEEN &&
               read->value == (own != NULL ? own->value : versions[count - 1].value);
    return read->read_state == RIG_READ_NIL;
}

static const char *check_replay(const struct rig_history *history, const struct rig_claim_case *found, bool is_order)
{
    const struct rig_txn_op *read = rig_txn_ops(history, found->txn) + found->op;
    struct version *versions = malloc(((size_t)history->op_count + 1) * sizeof *versions);
    if (versions == NULL)
        return "cannot be replayed without more memory";
    const size_t count = find_versions(history, found->txn, read->key, is_order, versions);
    const bool same = count != SIZE_MAX && is_state(history, found->txn, found->op, versions, count);
    free(versions);
    if (count == SIZE_MAX)
        return "read a key with a write that has no place";
    return same ? "read the state at its place" : NULL;
}

/* ---- the cases ---- */

static const char *check_stale(const struct rig_history *history, const struct rig_claim_case *found, bool is_order)
{
    RIG_REQUIRE(found->other < history->txn_count);
    const struct rig_txn *txn = &history->txns[found->txn], *other = &history->txns[found->other];
    const int64_t commit = commit_of(history, found->other, is_order),
                  start = start_of(history, found->other, is_order);
    if (other->outcome != RIG_OUTCOME_OK || other->complete_at == RIG_POSITION_NONE ||
        txn->invoke_at == RIG_POSITION_NONE || other->complete_at >= txn->invoke_at)
        return "began before the other one was acknowledged";
    return start_of(history, found->txn, is_order) < (commit > start ? commit : start) ? NULL : "is not before it";
}

/* An acknowledged commit whose place is another one in the certificate. */
static const char *check_certificate(const struct rig_history *history, uint32_t txn, bool is_order)
{
    const int64_t place = place_in_certificate(history, txn);
    return place != NONE && place != commit_of(history, txn, is_order) ? NULL : "has its place in the certificate";
}

static const char *check_timestamps(const struct rig_history *history, const struct rig_claim_case *found)
{
    const struct rig_txn_op *op = rig_txn_ops(history, found->txn) + found->op;
    const int64_t start = start_of(history, found->txn, false), commit = commit_of(history, found->other, false);
    if (start == NONE || commit == NONE)
        return "or the other one has no timestamp";
    if (found->kind == RIG_CLAIM_G_SIA) {
        if (!rig_op_reads(op->kind))
            return commit > start && commit < commit_of(history, found->txn, false) ? NULL
                                                                                    : "replaced an earlier commit";
        return commit > start && shows(history, op, found->value) ? NULL : "did not read a later commit";
    }
    if (commit >= start || shows(history, op, found->value))
        return "did not miss an earlier commit";
    return rig_op_reads_sequence(op->kind) ? NULL : check_replay(history, found, false);
}

const char *rig_verify_claim(const struct rig_history *history, const struct rig_claim_case *found, bool is_order)
{
    RIG_REQUIRE(found->txn < history->txn_count);
    if (history->txns[found->txn].outcome != RIG_OUTCOME_OK)
        return "was not acknowledged";
    if (found->kind == RIG_CLAIM_STALE_SNAPSHOT)
        return check_stale(history, found, is_order);
    if (found->op == UINT32_MAX)
        return !is_order && found->kind == RIG_CLAIM_ORDER_MISMATCH && commit_of(history, found->txn, false) != NONE &&
                       commit_of(history, found->txn, false) < start_of(history, found->txn, false)
                   ? NULL
                   : "did not commit before its start";
    const struct rig_txn_op *op = rig_txn_ops(history, found->txn) + found->op;
    if (found->other != UINT32_MAX &&
        (found->other == found->txn || !has_write(history, found->other, op->key, found->value)))
        return "does not name the other one's write";
    if (found->kind != RIG_CLAIM_ORDER_MISMATCH)
        return check_timestamps(history, found);
    return rig_op_reads(op->kind) ? check_replay(history, found, is_order)
                                  : check_certificate(history, found->txn, is_order);
}
