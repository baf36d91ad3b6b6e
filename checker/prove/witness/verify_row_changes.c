#include "checker/prove/witness/verify_row_changes.h"

#include "base/bug.h"

/* Appends the changes of the table that are marks, or those that are not. */
static bool find(const struct rig_history *history, uint32_t key, int64_t id, bool marks,
                 struct rig_row_changes *changes)
{
    RIG_REQUIRE(history->certificate != NULL && key < history->key_count);
    const struct rig_certificate *certificate = history->certificate;
    int64_t last = 0, number = 0; /* a change may share the id of the one before it, or all of it */
    for (uint32_t commit = 0; commit < certificate->commits.count; commit++) {
        const struct rig_change *of = rig_commit_changes(certificate, commit);
        for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
            if (of[i].key != history->keys[key] || of[i].removed || of[i].kept + (uint64_t)of[i].count != 2)
                continue;
            const int64_t *elements = certificate->elements.at + of[i].first;
            last = of[i].kept == 0 ? elements[0] : last;
            number = of[i].kept < 2 ? elements[of[i].count - 1] : number;
            const struct rig_row_changed change = {last, number, commit};
            if ((id == 0 || id == last) && rig_row_is_mark(last, number) == marks &&
                !rig_row_changes_add(changes, change))
                return false;
        }
    }
    return true;
}

bool rig_row_changes_find(const struct rig_history *history, uint32_t key, int64_t id, struct rig_row_changes *changes)
{
    return find(history, key, id, false, changes);
}

bool rig_row_marks_find(const struct rig_history *history, uint32_t key, int64_t number, struct rig_row_changes *marks)
{
    return find(history, key, number, true, marks);
}

bool rig_row_is_marked(const struct rig_history *history, uint32_t key, int64_t number, uint32_t commit)
{
    struct rig_row_changes marks = {0};
    bool found = false;
    if (number > 0 && rig_row_marks_find(history, key, number, &marks)) {
        for (size_t i = 0; i < marks.count; i++)
            found |= commit == UINT32_MAX || marks.at[i].commit == commit;
    }
    rig_row_changes_done(&marks);
    return found;
}

uint32_t rig_row_snapshot_of(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_views *views = &history->certificate->views;
    const int64_t number = rig_history_column(history, txn, RIG_COLUMN_VIEW);
    for (uint32_t view = 0; view < views->views.count; view++) {
        if (number == RIG_COLUMN_NONE || views->views.at[view].number != (uint64_t)number ||
            views->views.at[view].standby)
            continue;
        const struct rig_txn_view_row *rows = rig_txn_view_rows(views, view);
        for (uint32_t i = 0; i < rig_txn_view_row_count(views, view); i++) {
            if (rows[i].op == op)
                return rows[i].snapshot;
        }
    }
    return RIG_SNAPSHOT_NONE;
}

struct rig_row_where rig_row_condition_before(const struct rig_txn_op *ops, uint32_t op)
{
    struct rig_row_where condition = rig_row_all();
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, &condition);
    return condition;
}

bool rig_row_changed_by(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t id, int64_t *number)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (op >= rig_txn_op_count(history, txn) || ops[op].kind != RIG_OP_ROW || ops[op].value <= 0)
        return false;
    *number = ops[op].value;
    if (rig_row_inserts(*number))
        return *number == id;
    if (op == 0 || ops[op - 1].kind != RIG_OP_READ_WHERE || ops[op - 1].read_state == RIG_READ_UNKNOWN)
        return false;
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op - 1]);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at) == id)
            return true;
    }
    return false;
}

int64_t rig_row_left(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key, int64_t id)
{
    RIG_REQUIRE(op <= rig_txn_op_count(history, txn));
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = op; i-- > 0;) {
        int64_t number;
        if (ops[i].kind != RIG_OP_ROW || ops[i].value <= 0 || ops[i].key != key)
            continue;
        if (!rig_row_inserts(ops[i].value) && i > 0 && ops[i - 1].read_state == RIG_READ_UNKNOWN)
            return -1;
        if (rig_row_changed_by(history, txn, i, id, &number))
            return number;
    }
    return 0;
}
