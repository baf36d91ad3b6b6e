#include "checker/evidence/row_recover.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/evidence/row_commits.h"

#define NONE UINT32_MAX

struct recovering {
    struct rig_history *history;
    struct rig_arena *arena;
    const struct rig_row_commits *commits;
    uint8_t *filled; /* per operation */
    uint64_t count;
};

/* Whether the operation is a read of an update or delete whose rows are not known. */
static bool is_lost(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return op + 1 < rig_txn_op_count(history, txn) && ops[op].kind == RIG_OP_READ_WHERE &&
           ops[op].read_state == RIG_READ_UNKNOWN && ops[op + 1].key == ops[op].key && rig_row_writes(&ops[op + 1]) &&
           !rig_row_inserts(ops[op + 1].value);
}

static bool any_is_lost(const struct rig_history *history)
{
    bool any = false;
    for (uint32_t txn = 0; txn < history->txn_count && !any; txn++) {
        for (uint32_t op = 0; op < rig_txn_op_count(history, txn) && !any; op++)
            any = history->txns[txn].outcome == RIG_OUTCOME_INFO && is_lost(history, txn, op);
    }
    return any;
}

/* Puts pairs of a row's id and its version before into the read at `op`; they leave the spine of its table. */
static bool show(struct recovering *r, uint32_t txn, uint32_t op, const int64_t *rows, uint32_t count)
{
    RIG_REQUIRE(is_lost(r->history, txn, op));
    struct rig_history *history = r->history;
    struct rig_txn_op *read = history->ops + history->txns[txn].first_op + op;
    if (history->branch_count >= RIG_LIST_BRANCH - 1)
        return false;
    struct rig_branch *branches =
        realloc(history->branches, ((size_t)history->branch_count + 1) * sizeof *history->branches);
    if (branches == NULL)
        return false;
    history->branches = branches;
    branches[history->branch_count] = (struct rig_branch){.tail = rows, .key = read->key, .count = count};
    read->read_state = RIG_READ_SEEN;
    read->list = RIG_LIST_BRANCH | history->branch_count++;
    read->count = count;
    r->filled[history->txns[txn].first_op + op] = 1;
    r->count++;
    return true;
}

/* The rows that the commit changed by the statement at operation `write`. */
static bool recover_statement(struct recovering *r, uint32_t commit, uint32_t txn, uint32_t write)
{
    RIG_REQUIRE(write > 0 && is_lost(r->history, txn, write - 1));
    const struct rig_row_commits *commits = r->commits;
    const uint32_t end = commits->first[commit + 1];
    uint32_t count = 0;
    for (uint32_t at = commits->first[commit]; at < end; at++)
        count += commits->changes[at].op == write;
    int64_t *rows = rig_arena_array(r->arena, 2 * (size_t)count + 1, sizeof *rows);
    if (rows == NULL)
        return false;
    count = 0;
    for (uint32_t at = commits->first[commit]; at < end; at++) {
        const struct rig_row_change *change = &commits->changes[at];
        if (change->op != write)
            continue;
        rows[count++] = change->id;
        rows[count++] = change->before == NONE ? 0 : commits->changes[change->before].version;
    }
    return show(r, txn, write - 1, rows, count);
}

/* Whether each change of the commit by such a statement replaced a version of the row. */
static bool replaces(const struct rig_row_commits *commits, uint32_t commit, const struct rig_history *history,
                     uint32_t txn)
{
    bool all = true;
    for (uint32_t at = commits->first[commit]; at < commits->first[commit + 1] && all; at++) {
        const struct rig_row_change *change = &commits->changes[at];
        if (change->op == NONE || change->op == 0 || !is_lost(history, txn, change->op - 1))
            continue;
        RIG_INVARIANT(change->op < rig_txn_op_count(history, txn));
        const struct rig_row_where condition = rig_row_condition_at(rig_txn_ops(history, txn), change->op - 1);
        all = change->before != NONE && commits->changes[change->before].version != 0 &&
              rig_row_matches(&condition, change->id, commits->changes[change->before].version);
    }
    return all;
}

static bool recover_commits(struct recovering *r)
{
    const struct rig_row_commits *commits = r->commits;
    for (uint32_t commit = 0; commit < r->history->certificate->commits.count; commit++) {
        const uint32_t txn = commits->writers[commit];
        if (txn == NONE || commits->matches[commit] != RIG_ROW_COMMIT_EXACT || !commits->is_partly_known[txn] ||
            r->history->txns[txn].outcome != RIG_OUTCOME_INFO || !replaces(commits, commit, r->history, txn))
            continue;
        RIG_INVARIANT(txn < r->history->txn_count);
        for (uint32_t op = 0; op < rig_txn_op_count(r->history, txn); op++) {
            if (is_lost(r->history, txn, op) && !recover_statement(r, commit, txn, op + 1))
                return false;
        }
    }
    return true;
}

enum rig_rc rig_row_recover(struct rig_history *history, struct rig_arena *arena, uint8_t **filled, uint64_t *count,
                            struct rig_err *err)
{
    struct rig_row_chains rows;
    struct rig_row_commits commits;
    struct recovering r = {.history = history, .arena = arena, .commits = &commits};
    *filled = NULL;
    *count = 0;
    if (!history->certificate->complete || !any_is_lost(history))
        return RIG_OK;
    const enum rig_rc rc = rig_rows_build(history, arena, &rows, err);
    if (rc != RIG_OK)
        return rc;
    r.filled = rig_arena_array(arena, (size_t)history->op_count + 1, 1);
    if (r.filled == NULL || !rig_row_commits_build(&rows, history->certificate, arena, &commits) ||
        !recover_commits(&r))
        return rig_memory_limit(err, "the certificate");
    *filled = r.filled;
    *count = r.count;
    return RIG_OK;
}
