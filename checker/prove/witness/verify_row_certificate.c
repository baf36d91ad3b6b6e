/*
 * Proves a discrepancy between a history of rows and its certificate again, from both as they were recorded: the
 * changes are read one after the other, and the state of a row or of a table is built again.
 */
#include "checker/model/certified.h"

#include "base/bug.h"
#include "checker/prove/witness/verify_row_changes.h"
#include "checker/prove/witness/verify_snapshot.h"
#include "checker/prove/witness/verify_type.h"

static const struct rig_txn_op *op_of(const struct rig_history *history, const struct rig_discrepancy *found)
{
    RIG_REQUIRE(found->txn < history->txn_count && found->op < rig_txn_op_count(history, found->txn));
    return rig_txn_ops(history, found->txn) + found->op;
}

static bool is_known_read(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_WHERE && op->read_state != RIG_READ_UNKNOWN;
}

static bool is_by(const struct rig_row_changed *change, int64_t number)
{
    RIG_REQUIRE(number > 0);
    return rig_row_action(number) == RIG_ROWS_DELETE ? change->version == 0 : change->version == number;
}

/* ---- writes ---- */

/* Whether some change, of that commit unless it is UINT32_MAX, is the statement's: a version names it, a removal is of
 * a row that its answer shows. */
static bool has_changes(const struct rig_history *history, const struct rig_row_changes *changes, uint32_t txn,
                        uint32_t op, uint32_t commit)
{
    RIG_REQUIRE(op < rig_txn_op_count(history, txn));
    const struct rig_txn_op *of = rig_txn_ops(history, txn) + op;
    int64_t number = 0;
    if (of->kind == RIG_OP_ROW && rig_row_is_marked(history, of->key, of->value, commit))
        return true;
    for (size_t i = 0; i < changes->count && of->kind == RIG_OP_ROW && of->value > 0; i++) {
        const struct rig_row_changed *change = &changes->at[i];
        if ((commit == UINT32_MAX || change->commit == commit) &&
            (change->version == of->value ||
             (rig_row_changed_by(history, txn, op, change->id, &number) && is_by(change, number))))
            return true;
    }
    return false;
}

/* Acknowledged transactions whose deletes show the row. */
static uint32_t count_removers(const struct rig_history *history, uint32_t key, int64_t id, bool acknowledged)
{
    uint32_t count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool counts = acknowledged ? history->txns[txn].outcome == RIG_OUTCOME_OK
                                         : history->txns[txn].outcome != RIG_OUTCOME_FAIL;
        for (uint32_t op = 0; counts && op < rig_txn_op_count(history, txn); op++) {
            int64_t number = 0;
            count += ops[op].key == key && rig_row_changed_by(history, txn, op, id, &number) &&
                     rig_row_action(number) == RIG_ROWS_DELETE;
        }
    }
    return count;
}

/* Whether some row that the delete shows was removed less often than acknowledged transactions removed it. */
static bool lacks_removal(const struct rig_history *history, const struct rig_discrepancy *found,
                          const struct rig_row_changes *changes)
{
    const struct rig_txn_op *op = op_of(history, found);
    const struct rig_read_list list = rig_txn_op_list(history, op - 1);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at);
        uint32_t removed = 0;
        for (size_t i = 0; i < changes->count; i++)
            removed += changes->at[i].id == id && changes->at[i].version == 0;
        if (removed < count_removers(history, op->key, id, true))
            return true;
    }
    return false;
}

static const char *check_lost(const struct rig_history *history, const struct rig_discrepancy *found,
                              const struct rig_row_changes *changes)
{
    const struct rig_txn_op *op = op_of(history, found);
    const bool deletes = rig_row_action(op->value) == RIG_ROWS_DELETE;
    if (op->kind != RIG_OP_ROW || op->value <= 0 ||
        (!rig_row_inserts(op->value) && (!is_known_read(op - 1) || rig_txn_op_list(history, op - 1).count == 0)))
        return "names no statement that changed a row";
    if (history->txns[found->txn].outcome != RIG_OUTCOME_OK || !history->certificate->complete)
        return "was not acknowledged, or the certificate is not complete";
    if (deletes)
        return lacks_removal(history, found, changes) ? NULL : "removed rows that the certificate removes";
    return has_changes(history, changes, found->txn, found->op, UINT32_MAX) ? "is in the certificate" : NULL;
}

static const char *check_resurrected(const struct rig_history *history, const struct rig_discrepancy *found,
                                     const struct rig_row_changes *changes)
{
    const struct rig_txn_op *op = op_of(history, found);
    if (history->txns[found->txn].outcome != RIG_OUTCOME_FAIL)
        return "did not fail";
    if (!has_changes(history, changes, found->txn, found->op, found->commit))
        return "is not in the commit that it names";
    if (rig_row_action(op->value) != RIG_ROWS_DELETE || rig_row_is_marked(history, op->key, op->value, found->commit))
        return NULL;
    const struct rig_read_list list = rig_txn_op_list(history, op - 1);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (count_removers(history, op->key, rig_read_element(&list, at), false) == 0)
            return NULL;
    }
    return "removed rows that others may have removed";
}

/* ---- commits with other changes ---- */

/* The row's version before the change at `at`; 0: none, -1: it was removed. */
static int64_t version_before(const struct rig_row_changes *changes, size_t at)
{
    RIG_REQUIRE(at < changes->count);
    for (size_t i = at; i-- > 0;) {
        if (changes->at[i].id == changes->at[at].id)
            return changes->at[i].version == 0 ? -1 : changes->at[i].version;
    }
    return 0;
}

/* Whether some transaction inserts the row. */
static bool is_inserted(const struct rig_history *history, uint32_t key, int64_t id)
{
    for (uint32_t op = 0; op < history->op_count; op++) {
        const struct rig_txn_op *of = &history->ops[op];
        if (of->kind == RIG_OP_ROW && of->key == key && of->value == id && id > 0 && rig_row_inserts(id))
            return true;
    }
    return false;
}

/* The statement of the transaction, from operation `op` on, that made the change on top of the version it shows;
 * UINT32_MAX: none. */
static uint32_t find_maker(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key,
                           const struct rig_row_changes *changes, size_t at)
{
    RIG_REQUIRE(at < changes->count && txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const struct rig_row_changed *change = &changes->at[at];
    for (uint32_t i = op; i < rig_txn_op_count(history, txn); i++) {
        int64_t number = 0, replaced = 0;
        if (ops[i].key != key || ops[i].kind != RIG_OP_ROW || ops[i].value <= 0)
            continue;
        const bool inserts = rig_row_inserts(ops[i].value);
        if (!inserts && i > 0 && ops[i - 1].read_state == RIG_READ_UNKNOWN && is_by(change, ops[i].value)) {
            const struct rig_row_where condition = rig_row_condition_before(ops, i - 1);
            const int64_t before = version_before(changes, at);
            if (change->version == 0 && (before <= 0 || !rig_row_matches(&condition, change->id, before)))
                continue;
            return is_inserted(history, key, change->id) ? i : UINT32_MAX;
        }
        if (!rig_row_changed_by(history, txn, i, change->id, &number) || !is_by(change, number))
            continue;
        const struct rig_read_list list = inserts ? (struct rig_read_list){0} : rig_txn_op_list(history, &ops[i - 1]);
        for (uint32_t j = 0; j + 1 < list.count; j += 2)
            replaced = rig_read_element(&list, j) == change->id ? rig_read_element(&list, j + 1) : replaced;
        return version_before(changes, at) == replaced ? i : UINT32_MAX;
    }
    return UINT32_MAX;
}

static uint32_t count_answered(const struct rig_history *history, uint32_t txn, uint32_t key, bool *known)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind != RIG_OP_ROW || ops[i].value <= 0 || ops[i].key != key)
            continue;
        if (rig_row_inserts(ops[i].value)) {
            count++;
            continue;
        }
        *known &= ops[i - 1].read_state != RIG_READ_UNKNOWN;
        count += *known ? rig_txn_op_list(history, &ops[i - 1]).count / 2 : 0;
    }
    return count;
}

/* Whether another commit has the mark of a delete of the transaction, or this one that of another statement. */
static bool is_marked_otherwise(const struct rig_history *history, const struct rig_discrepancy *found, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, found->txn);
    struct rig_row_changes marks = {0};
    bool otherwise = !rig_row_marks_find(history, key, 0, &marks);
    for (size_t i = 0; i < marks.count && !otherwise; i++) {
        bool own = false;
        for (uint32_t op = 0; op < rig_txn_op_count(history, found->txn); op++)
            own |= ops[op].kind == RIG_OP_ROW && ops[op].key == key && ops[op].value == marks.at[i].version;
        otherwise = own != (marks.at[i].commit == found->commit);
    }
    rig_row_changes_done(&marks);
    return otherwise;
}

/* Whether the commit's changes of the table are not those of the transaction, statement by statement, or another commit
 * has some of them. */
static bool differs(const struct rig_history *history, const struct rig_discrepancy *found, uint32_t key,
                    const struct rig_row_changes *changes)
{
    uint32_t op = 0, count = 0;
    bool known = true;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->at[i].commit != found->commit) {
            for (uint32_t j = 0; j < rig_txn_op_count(history, found->txn); j++) {
                const struct rig_txn_op *of = rig_txn_ops(history, found->txn) + j;
                if (of->kind == RIG_OP_ROW && of->key == key && of->value > 0 && of->value == changes->at[i].version)
                    return true;
            }
            continue;
        }
        op = find_maker(history, found->txn, op, key, changes, i);
        if (op == UINT32_MAX)
            return true;
        count++;
    }
    const uint32_t answered = count_answered(history, found->txn, key, &known);
    if (is_marked_otherwise(history, found, key))
        return true;
    return known ? count != answered : count < answered;
}

/* Whether the commit changes the tables in another order than the transaction's statements, or a table that it did
 * not. */
static bool mixes_tables(const struct rig_history *history, const struct rig_discrepancy *found)
{
    RIG_REQUIRE(found->commit < history->certificate->commits.count);
    const struct rig_txn_op *ops = rig_txn_ops(history, found->txn);
    const struct rig_change *changes = rig_commit_changes(history->certificate, found->commit);
    uint32_t op = 0;
    for (uint32_t i = 0; i < rig_commit_change_count(history->certificate, found->commit); i++) {
        while (op < rig_txn_op_count(history, found->txn) &&
               (history->keys[ops[op].key] != changes[i].key || ops[op].kind != RIG_OP_ROW || ops[op].value <= 0))
            op++;
        if (op == rig_txn_op_count(history, found->txn))
            return true;
    }
    return false;
}

static const char *check_torn(const struct rig_history *history, const struct rig_discrepancy *found,
                              const struct rig_row_changes *changes)
{
    if (!has_changes(history, changes, found->txn, found->op, found->commit))
        return "is not in the commit that it names";
    bool other = mixes_tables(history, found), done = true;
    for (uint32_t key = 0; key < history->key_count && !other && done; key++) {
        struct rig_row_changes of_key = {0};
        done = rig_row_changes_find(history, key, 0, &of_key);
        other = done && differs(history, found, key, &of_key);
        rig_row_changes_done(&of_key);
    }
    return other || !done ? NULL : "is the commit that it names";
}

/* ---- reads ---- */

/* Whether the read shows the row in another way than at that version, once or more often; version 0: at all. */
static bool shows_otherwise(const struct rig_history *history, const struct rig_txn_op *read, int64_t id,
                            int64_t version)
{
    RIG_REQUIRE(is_known_read(read));
    const struct rig_read_list list = rig_txn_op_list(history, read);
    bool shown = false;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at) == id && (version == 0 || rig_read_element(&list, at + 1) != version))
            return true;
        shown |= rig_read_element(&list, at) == id;
    }
    return version != 0 && !shown;
}

static const char *check_unknown_state(const struct rig_history *history, const struct rig_discrepancy *found,
                                       const struct rig_row_changes *changes)
{
    const struct rig_txn_op *read = op_of(history, found);
    if (!is_known_read(read) || !history->certificate->complete)
        return "names no known read, or the certificate is not complete";
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        bool has = rig_read_element(&list, at) != found->row;
        for (size_t i = 0; i < changes->count && !has; i++)
            has = changes->at[i].id == found->row && changes->at[i].version == rig_read_element(&list, at + 1);
        if (!has)
            return NULL;
    }
    return "read no version of the row that the certificate lacks";
}

/* The version that the row must have for the read; 0: it must not be there. */
static int64_t version_at(const struct rig_history *history, const struct rig_discrepancy *found,
                          const struct rig_row_changes *changes, int64_t id)
{
    const uint32_t key = op_of(history, found)->key;
    const int64_t own = rig_row_left(history, found->txn, found->op, key, id);
    int64_t version = 0;
    if (own != 0)
        return rig_row_action(own) == RIG_ROWS_DELETE ? 0 : own;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->at[i].id == id && rig_snapshot_shows(history, found->snapshot, changes->at[i].commit))
            version = changes->at[i].version;
    }
    return version;
}

static bool counts_otherwise(const struct rig_history *history, const struct rig_discrepancy *found,
                             const struct rig_row_changes *changes, const struct rig_row_where *condition)
{
    const struct rig_read_list list = rig_txn_op_list(history, op_of(history, found));
    uint64_t count = 0, sum = 0;
    for (size_t i = 0; i < changes->count; i++) {
        const int64_t id = changes->at[i].id;
        if (version_before(changes, i) != 0 || !is_inserted(history, op_of(history, found)->key, id))
            continue; /* each row once: at its first change */
        const int64_t version = version_at(history, found, changes, id);
        const bool meets = version != 0 && rig_row_matches(condition, id, version);
        count += meets;
        sum += meets ? (uint64_t)version : 0;
    }
    const struct rig_txn_op *ops = rig_txn_ops(history, found->txn);
    for (uint32_t i = 0; i < found->op; i++) { /* its own inserts, which its snapshot cannot have */
        bool listed = ops[i].kind != RIG_OP_ROW || ops[i].value <= 0 || ops[i].key != op_of(history, found)->key ||
                      !rig_row_inserts(ops[i].value);
        for (size_t j = 0; j < changes->count && !listed; j++)
            listed = changes->at[j].id == ops[i].value;
        const int64_t version = listed ? 0 : version_at(history, found, changes, ops[i].value);
        const bool meets = version != 0 && rig_row_matches(condition, ops[i].value, version);
        count += meets;
        sum += meets ? (uint64_t)version : 0;
    }
    return list.count != 2 ||
           !rig_row_total_is(condition, rig_read_element(&list, 0), rig_read_element(&list, 1), count, sum);
}

static const char *check_state(const struct rig_history *history, const struct rig_discrepancy *found,
                               const struct rig_row_changes *changes)
{
    const struct rig_txn_op *read = op_of(history, found);
    if (!is_known_read(read) || !history->certificate->complete)
        return "names no read with a known result, or the certificate is not complete";
    if (found->snapshot == RIG_SNAPSHOT_NONE || rig_row_snapshot_of(history, found->txn, found->op) != found->snapshot)
        return "names no snapshot of its own";
    const struct rig_row_where condition = rig_row_condition_before(rig_txn_ops(history, found->txn), found->op);
    if (condition.form != RIG_ROW_LISTED)
        return counts_otherwise(history, found, changes, &condition) ? NULL : "counted the rows of its snapshot";
    if (rig_row_left(history, found->txn, found->op, read->key, found->row) < 0)
        return "may have written the row itself";
    const int64_t version = version_at(history, found, changes, found->row);
    const bool meets = version != 0 && rig_row_matches(&condition, found->row, version);
    return shows_otherwise(history, read, found->row, meets ? version : 0) ? NULL : "read the row of its snapshot";
}

/* ---- numbers ---- */

/* The proof for one row of the read: this version, with this writer. */
static const char *check_writer_of(const struct rig_history *history, const struct rig_discrepancy *found,
                                   const struct rig_row_changes *changes, int64_t version, uint64_t writer)
{
    RIG_REQUIRE(found->commit < history->certificate->commits.count);
    bool made = false;
    for (size_t i = 0; i < changes->count; i++)
        made |= changes->at[i].id == found->row && changes->at[i].version == version &&
                changes->at[i].commit == found->commit;
    if (!made || writer == 0)
        return "names another commit than that of the version";
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
            const struct rig_txn_op *of = rig_txn_ops(history, txn) + op;
            if (of->kind == RIG_OP_ROW && of->key == op_of(history, found)->key && of->value == version &&
                rig_view_writer(history, txn, op, 0) == writer)
                return "names the part of the transaction that wrote the version";
        }
    }
    if (history->certificate->commits.at[found->commit].id == writer)
        return "names the commit of the version as the writer";
    return rig_number_is_known(history, writer) == (found->kind == RIG_DISCREPANCY_VERSION_MISMATCH)
               ? NULL
               : "is of the other kind";
}

static const char *check_writer(const struct rig_history *history, const struct rig_discrepancy *found,
                                const struct rig_row_changes *changes)
{
    const struct rig_txn_op *read = op_of(history, found);
    const struct rig_read_list list = is_known_read(read) ? rig_txn_op_list(history, read) : (struct rig_read_list){0};
    const char *lacks = "names no read of a row";
    for (uint32_t at = 0; at + 1 < list.count && lacks != NULL; at += 2) {
        if (rig_read_element(&list, at) == found->row)
            lacks = check_writer_of(history, found, changes, rig_read_element(&list, at + 1),
                                    rig_view_writer(history, found->txn, found->op, at / 2));
    }
    return lacks;
}

static const char *check_number(const struct rig_history *history, const struct rig_discrepancy *found,
                                const struct rig_row_changes *changes)
{
    if (!rig_view_has_other_number(history, found->txn, found->commit))
        return "has the number of its commit";
    return has_changes(history, changes, found->txn, found->op, found->commit) ? NULL : "is not in the commit";
}

/* The acknowledged transaction with a change of the commit ended before the snapshot's began. */
static const char *check_stale(const struct rig_history *history, const struct rig_discrepancy *found)
{
    bool done = true;
    if (!rig_snapshot_is_of(history, found->snapshot, found->txn) ||
        rig_snapshot_shows(history, found->snapshot, found->commit))
        return "has a snapshot that shows the commit";
    for (uint32_t key = 0; key < history->key_count && done; key++) {
        struct rig_row_changes changes = {0};
        bool proved = false;
        done = rig_row_changes_find(history, key, 0, &changes);
        for (uint32_t txn = 0; txn < history->txn_count && done && !proved; txn++) {
            const bool earlier = txn != found->txn && history->txns[txn].outcome == RIG_OUTCOME_OK &&
                                 rig_txn_end(history, txn) < history->txns[found->txn].invoke_at;
            for (uint32_t op = 0; earlier && op < rig_txn_op_count(history, txn); op++)
                proved |=
                    rig_txn_ops(history, txn)[op].key == key && has_changes(history, &changes, txn, op, found->commit);
        }
        rig_row_changes_done(&changes);
        if (proved)
            return NULL;
    }
    return done ? "names a commit of no earlier transaction" : "is too large to be proved: memory ran out";
}

/* Whether both commits change the row of that table. */
static bool change_both(const struct rig_history *history, const struct rig_discrepancy *found, uint32_t key)
{
    struct rig_row_changes changes = {0};
    bool later = false, before = false;
    const bool done = rig_row_changes_find(history, key, found->row, &changes);
    for (size_t i = 0; i < changes.count; i++) {
        before |= changes.at[i].commit == found->other_commit;
        later |= changes.at[i].commit == found->commit;
    }
    rig_row_changes_done(&changes);
    return done && later && before;
}

static const char *check_inversion(const struct rig_history *history, const struct rig_discrepancy *found)
{
    bool both = false;
    for (uint32_t key = 0; key < history->key_count && found->row != 0 && !both; key++)
        both = change_both(history, found, key);
    if (!both || found->other_commit >= found->commit || !rig_snapshot_is_of(history, found->snapshot, found->txn))
        return "names no two versions of a row and a snapshot";
    return rig_snapshot_shows(history, found->snapshot, found->commit) &&
                   !rig_snapshot_shows(history, found->snapshot, found->other_commit)
               ? NULL
               : "has a snapshot that shows the earlier commit";
}

/* ---- all of it ---- */

static const char *check(const struct rig_history *history, const struct rig_discrepancy *found,
                         const struct rig_row_changes *changes)
{
    switch ((int)found->kind) {
    case RIG_DISCREPANCY_LOST_COMMIT:
        return check_lost(history, found, changes);
    case RIG_DISCREPANCY_RESURRECTED_ABORT:
        return check_resurrected(history, found, changes);
    case RIG_DISCREPANCY_TORN_COMMIT:
        return check_torn(history, found, changes);
    case RIG_DISCREPANCY_CERTIFICATE_MISMATCH:
        return check_unknown_state(history, found, changes);
    case RIG_DISCREPANCY_SNAPSHOT_MISMATCH:
        return check_state(history, found, changes);
    case RIG_DISCREPANCY_MISSED_COMMIT:
        return check_stale(history, found);
    case RIG_DISCREPANCY_VERSION_INVERSION:
        return check_inversion(history, found);
    case RIG_DISCREPANCY_VERSION_MISMATCH:
    case RIG_DISCREPANCY_UNKNOWN_VERSION:
        return check_writer(history, found, changes);
    case RIG_DISCREPANCY_NUMBER_MISMATCH:
        return check_number(history, found, changes);
    case RIG_DISCREPANCY_SNAPSHOT_FORK:
    case RIG_DISCREPANCY_UNSTEADY_SNAPSHOT:
        return rig_verify_snapshot(history, found);
    default:
        return "is of a kind that rows do not have";
    }
}

static bool needs_acknowledged(enum rig_discrepancy_kind kind)
{
    return kind > RIG_DISCREPANCY_TORN_COMMIT;
}

const char *rig_verify_row_discrepancy(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const bool has_commit = found->commit < history->certificate->commits.count;
    const bool commits = found->kind == RIG_DISCREPANCY_RESURRECTED_ABORT ||
                         found->kind == RIG_DISCREPANCY_TORN_COMMIT || found->kind > RIG_DISCREPANCY_SNAPSHOT_MISMATCH;
    if (found->txn >= history->txn_count || found->op >= rig_txn_op_count(history, found->txn))
        return "names no operation";
    if (commits && found->kind != RIG_DISCREPANCY_UNSTEADY_SNAPSHOT && !has_commit)
        return "names no commit";
    if (needs_acknowledged(found->kind) && history->txns[found->txn].outcome != RIG_OUTCOME_OK)
        return "was not acknowledged";
    struct rig_row_changes changes = {0};
    const char *lacks = "is too large to be proved: memory ran out";
    if (rig_row_changes_find(history, op_of(history, found)->key, 0, &changes))
        lacks = check(history, found, &changes);
    rig_row_changes_done(&changes);
    return lacks;
}
