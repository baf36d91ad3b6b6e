#include "checker/prove/witness/verify_certificate.h"

#include <string.h>

#include "base/bug.h"
#include "checker/prove/witness/verify_snapshot.h"
#include "checker/prove/witness/verify_type.h"

/* Whether a change of some commit, or of the one given, has the value. */
static bool has_value(const struct rig_certificate *certificate, uint32_t commit, int64_t key, int64_t value)
{
    RIG_REQUIRE(commit == UINT32_MAX || commit < certificate->commits.count);
    const size_t begin = commit == UINT32_MAX ? 0 : certificate->commits.at[commit].first_change;
    const size_t end =
        commit == UINT32_MAX ? certificate->changes.count : begin + rig_commit_change_count(certificate, commit);
    for (size_t i = begin; i < end; i++) {
        const struct rig_change *change = &certificate->changes.at[i];
        for (uint32_t j = 0; change->key == key && j < change->count; j++) {
            if (certificate->elements.at[change->first + j] == value)
                return true;
        }
    }
    return false;
}

static const struct rig_txn_op *op_of(const struct rig_history *history, const struct rig_discrepancy *found,
                                      bool reads)
{
    if (found->op >= rig_txn_op_count(history, found->txn))
        return NULL;
    const struct rig_txn_op *op = rig_txn_ops(history, found->txn) + found->op;
    return rig_op_reads(op->kind) == reads ? op : NULL;
}

/* The changes of a commit, written one after the other, against the writes of the transaction. */
static bool differs(const struct rig_history *history, uint32_t txn, uint32_t commit)
{
    RIG_REQUIRE(commit < history->certificate->commits.count);
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_change *change = rig_commit_changes(certificate, commit);
    uint32_t changes_left = rig_commit_change_count(certificate, commit), at = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
        if (rig_op_reads(op->kind))
            continue;
        while (changes_left > 0 && at == change->count) {
            change++;
            changes_left--;
            at = 0;
        }
        if (changes_left == 0 || change->key != history->keys[op->key] ||
            certificate->elements.at[change->first + at] != op->value)
            return true;
        at++;
    }
    while (changes_left > 0 && at == change->count) {
        change++;
        changes_left--;
        at = 0;
    }
    return changes_left > 0;
}

/* A certificate with last versions only: whether replaying the transaction's writes to each key of the commit gives
 * other elements than its change, or the transaction writes a key that the commit does not have. */
static bool differs_at_last(const struct rig_history *history, uint32_t txn, uint32_t commit)
{
    RIG_REQUIRE(commit < history->certificate->commits.count);
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_change *changes = rig_commit_changes(certificate, commit);
    const uint32_t change_count = rig_commit_change_count(certificate, commit);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool is_list = rig_workload_has_sequences(history->workload);
    for (uint32_t j = 0; j < change_count; j++) {
        const int64_t *elements = certificate->elements.at + changes[j].first;
        uint32_t written = 0;
        bool same = true;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (rig_op_reads(ops[i].kind) || history->keys[ops[i].key] != changes[j].key)
                continue;
            written = is_list ? written : 0;
            same = (is_list ? same : true) && written < changes[j].count && elements[written] == ops[i].value;
            written++;
        }
        if (!same || written != changes[j].count || written == 0)
            return true;
    }
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        uint32_t j = 0;
        while (j < change_count && changes[j].key != history->keys[ops[i].key])
            j++;
        if (j == change_count && !rig_op_reads(ops[i].kind))
            return true;
    }
    return false;
}

/* Whether a change of the commit keeps fewer elements than the state before it had, or removes a key; of registers,
 * whether it makes no new value. */
static bool drops(const struct rig_history *history, uint32_t commit)
{
    RIG_REQUIRE(commit < history->certificate->commits.count);
    const struct rig_certificate *certificate = history->certificate;
    const bool is_list = rig_workload_has_sequences(history->workload);
    const uint32_t first = certificate->commits.at[commit].first_change;
    for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
        const struct rig_change *change = &certificate->changes.at[first + i];
        uint64_t before = 0;
        for (uint32_t j = 0; j < first + i; j++) {
            const struct rig_change *earlier = &certificate->changes.at[j];
            before = earlier->key == change->key ? (uint64_t)earlier->kept + earlier->count : before;
        }
        if (change->removed || (is_list ? change->kept != before : change->kept != 0 || change->count != 1))
            return true;
    }
    return false;
}

/* The first commit with the value must be past the fork of its timeline, and no other commit has it. */
static const char *check_lost(const struct rig_history *history, const struct rig_discrepancy *found,
                              const struct rig_txn_op *op)
{
    RIG_REQUIRE(!rig_op_reads(op->kind));
    const struct rig_certificate *certificate = history->certificate, *lost = certificate->lost;
    const int64_t key = history->keys[op->key];
    bool past = false;
    if (lost == NULL || found->commit >= lost->commits.count || !has_value(lost, found->commit, key, op->value))
        return "is not in the lost commit that it names";
    if (has_value(certificate, UINT32_MAX, key, op->value))
        return "is in the certificate";
    const struct rig_commit *commit = &lost->commits.at[found->commit];
    for (size_t i = 0; i < certificate->forks.count; i++)
        past |=
            certificate->forks.at[i].timeline == commit->timeline && certificate->forks.at[i].place <= commit->place;
    if (!past)
        return "is in a commit that no failover lost";
    return history->txns[found->txn].outcome ==
                   (found->kind == RIG_DISCREPANCY_LOST_COMMIT ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL)
               ? NULL
               : "has another outcome";
}

static const char *check_writes(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_txn_op *op = op_of(history, found, false);
    const enum rig_outcome outcome = (enum rig_outcome)history->txns[found->txn].outcome;
    if (op == NULL)
        return "names no write";
    if (found->of_lost)
        return check_lost(history, found, op);
    const bool present = has_value(history->certificate, found->commit, history->keys[op->key], op->value);
    if (found->kind == RIG_DISCREPANCY_LOST_COMMIT) {
        if (outcome != RIG_OUTCOME_OK || !history->certificate->complete)
            return "was not acknowledged, or the certificate is not complete";
        return present || found->commit != UINT32_MAX ? "is in the certificate" : NULL;
    }
    if (found->commit == UINT32_MAX || !present)
        return "is not in the commit that it names";
    if (found->kind == RIG_DISCREPANCY_RESURRECTED_ABORT)
        return outcome == RIG_OUTCOME_FAIL ? NULL : "did not fail";
    const bool other = history->certificate->last_only ? differs_at_last(history, found->txn, found->commit)
                                                       : differs(history, found->txn, found->commit);
    return other || drops(history, found->commit) ? NULL : "is the commit that it names";
}

/* Whether the list is a state of the key, or continues the last state of a certificate that may go on. */
static bool is_state(const struct rig_history *history, const struct rig_txn_op *read)
{
    RIG_REQUIRE(rig_op_reads(read->kind) && read->read_state == RIG_READ_SEEN);
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    const bool is_list = rig_op_reads_sequence(read->kind);
    uint32_t same = 0; /* elements of the list that the state at hand begins with */
    uint64_t length = 0;
    for (size_t i = 0; i < certificate->changes.count; i++) {
        const struct rig_change *change = &certificate->changes.at[i];
        if (change->key != history->keys[read->key])
            continue;
        if (!is_list) {
            if (change->count == 1 && certificate->elements.at[change->first] == read->value)
                return true;
            continue;
        }
        same = same < change->kept ? same : change->kept;
        for (uint32_t j = 0; j < change->count && same == change->kept + j && same < list.count &&
                             rig_read_element(&list, same) == certificate->elements.at[change->first + j];
             j++)
            same++;
        length = (uint64_t)change->kept + change->count;
        if (same == list.count)
            return true;
    }
    return (is_list && (list.count == 0 || same == length) && !certificate->complete) || (is_list && list.count == 0);
}

const char *rig_verify_discrepancy(const struct rig_history *history, const struct rig_discrepancy *found)
{
    RIG_REQUIRE(history->certificate != NULL && found->txn < history->txn_count);
    const struct rig_type_verifier *type = rig_type_verifier(history->workload);
    if (type->check_discrepancy != NULL)
        return type->check_discrepancy(history, found);
    if (found->kind > RIG_DISCREPANCY_CERTIFICATE_MISMATCH)
        return rig_verify_snapshot(history, found);
    if (found->kind != RIG_DISCREPANCY_CERTIFICATE_MISMATCH)
        return check_writes(history, found);
    const struct rig_txn_op *read = op_of(history, found, true);
    if (read == NULL || read->read_state != RIG_READ_SEEN)
        return "names no read with a known result";
    if (history->txns[found->txn].outcome != RIG_OUTCOME_OK)
        return "was not acknowledged";
    if (history->certificate->last_only && !rig_op_reads_sequence(read->kind)) {
        const struct rig_txn_op *own = NULL;
        for (const struct rig_txn_op *op = rig_txn_ops(history, found->txn); op < read; op++)
            own = op->key == read->key && !rig_op_reads(op->kind) ? op : own;
        if (own != NULL && own->value == read->value)
            return "read its own write";
    }
    return is_state(history, read) ? "read a state that its key had" : NULL;
}
