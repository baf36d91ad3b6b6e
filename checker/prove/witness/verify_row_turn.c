#include "checker/prove/witness/verify_row_turn.h"

#include "checker/prove/witness/verify_row_changes.h"
#include "checker/prove/witness/verify_snapshot.h"
#include "history/model/window_view.h"

struct turn {
    uint32_t reader, read; /* the read that the step rests on */
    uint32_t other, op;    /* the transaction that changed the row, and its statement */
    int64_t id, number;
};

static struct turn turn_of(const struct rig_step *step)
{
    if (step->kind == RIG_EDGE_RW)
        return (struct turn){step->from, step->from_op, step->to, step->to_op, step->from_value, step->to_value};
    return (struct turn){step->to, step->to_op, step->from, step->from_op, step->to_value, step->from_value};
}

/* Whether a change is the one that the statement made. */
static bool is_by(const struct rig_row_changed *change, int64_t number)
{
    return rig_row_action(number) == RIG_ROWS_DELETE ? change->version == 0 : change->version == number;
}

/* Whether the change changes what the read shows of the row, on the side of the snapshot that the step claims, and the
 * snapshot shows a beginning of the row's changes. A total shows each version that meets the condition. *item: the
 * change replaced a version that the total has. */
static const char *check_changes(const struct rig_history *history, const struct rig_row_changes *changes,
                                 const struct turn *turn, const struct rig_row_where *condition, uint32_t snapshot,
                                 bool behind, bool *item)
{
    const bool is_total = condition->form != RIG_ROW_LISTED;
    bool met = false, hidden = false, found = false, counted = false; /* counted: the last version shown is */
    uint32_t passed = 0;                                              /* changes that the snapshot does not show */
    for (size_t i = 0; i < changes->count; i++) {
        const struct rig_row_changed *change = &changes->at[i];
        const bool shows = rig_snapshot_shows(history, snapshot, change->commit);
        const bool meets = change->version != 0 && rig_row_matches(condition, turn->id, change->version);
        if (shows && hidden)
            return "has a snapshot that shows a version of the row, and not the one before it";
        hidden |= !shows;
        if (i + 1 < changes->count && changes->at[i + 1].commit == change->commit)
            continue; /* replaced by its own transaction */
        if (is_by(change, turn->number)) {
            if (shows == behind)
                return behind ? "has a snapshot that shows the change" : "has a snapshot that does not show the change";
            if (meets == met && !(is_total && meets))
                return "names a change that does not change what the read shows of the row";
            *item = counted && passed == 0;
            found = true;
        }
        counted = shows ? is_total && meets : counted;
        passed += !shows;
        met = meets;
    }
    return found ? NULL : "names a change that the certificate does not have";
}

const char *rig_verify_row_turn(const struct rig_history *history, const struct rig_step *step)
{
    const struct turn turn = turn_of(step);
    const struct rig_txn_op *ops = rig_txn_ops(history, turn.reader);
    const bool fits = turn.read < rig_txn_op_count(history, turn.reader) && turn.other < history->txn_count &&
                      ops[turn.read].kind == RIG_OP_READ_WHERE && ops[turn.read].key == step->key &&
                      ops[turn.read].read_state != RIG_READ_UNKNOWN;
    int64_t number = 0;
    if (!fits || history->txns[turn.reader].outcome != RIG_OUTCOME_OK)
        return "has a step without its read";
    if (turn.op >= rig_txn_op_count(history, turn.other) ||
        rig_txn_ops(history, turn.other)[turn.op].key != step->key ||
        !rig_row_changed_by(history, turn.other, turn.op, turn.id, &number) || number != turn.number)
        return "names no statement that changed the row";
    const struct rig_row_where condition = rig_row_condition_before(ops, turn.read);
    if (history->certificate == NULL || !history->certificate->complete)
        return "rests on a certificate that is not complete";
    const uint32_t snapshot = rig_row_snapshot_of(history, turn.reader, turn.read);
    if (snapshot == RIG_SNAPSHOT_NONE)
        return "rests on a read without a snapshot";
    if (rig_row_left(history, turn.reader, turn.read, step->key, turn.id) != 0)
        return "had written the row itself";
    struct rig_row_changes changes = {0};
    const char *lacks = "is too large to be proved: memory ran out";
    bool item = false;
    if (rig_row_changes_find(history, step->key, turn.id, &changes))
        lacks = check_changes(history, &changes, &turn, &condition, snapshot, step->kind == RIG_EDGE_RW, &item);
    rig_row_changes_done(&changes);
    const bool by_predicate = step->kind == RIG_EDGE_RW && condition.column != RIG_ROW_BY_KEY && !item;
    return lacks == NULL && (step->by_predicate != by_predicate || step->absent)
               ? "rests on a predicate, or on a row, and not as the step has it"
               : lacks;
}

/* Whether a change of the certificate is one of the transaction's statements. */
static bool has_change(const struct rig_history *history, uint32_t txn, bool *done)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    bool found = false;
    for (uint32_t op = 0; op < rig_txn_op_count(history, txn) && !found && *done; op++) {
        struct rig_row_changes changes = {0};
        int64_t number = 0;
        if (ops[op].kind != RIG_OP_ROW || ops[op].value <= 0)
            continue;
        *done = rig_row_changes_find(history, ops[op].key, 0, &changes);
        found = rig_row_is_marked(history, ops[op].key, ops[op].value, UINT32_MAX);
        for (size_t i = 0; i < changes.count && !found; i++)
            found = rig_row_changed_by(history, txn, op, changes.at[i].id, &number) && is_by(&changes.at[i], number);
        rig_row_changes_done(&changes);
    }
    return found;
}

bool rig_verify_row_certified(struct rig_proof *proof)
{
    const struct rig_history *history = proof->history;
    bool done = true;
    for (uint32_t txn = 0; history->places != NULL && txn < history->txn_count && done; txn++) {
        if (rig_txn_is_undecided(&history->txns[txn]) && !proof->committed[txn])
            proof->committed[txn] = has_change(history, txn, &done);
    }
    return done;
}
