#include "checker/evidence/row_judge.h"

#include "base/bug.h"
#include "checker/evidence/row_commits.h"
#include "checker/evidence/row_recover.h"
#include "checker/evidence/row_states.h"

#define NONE UINT32_MAX

static const char removals_open[] = "a commit removes rows, and the answers do not say which transaction made it";

struct judging {
    struct rig_comparison *comparison;
    const struct rig_history *history;
    const struct rig_certificate *certificate;
    struct rig_certified *into;
    struct rig_row_chains *rows;
    struct rig_row_commits commits;
    const struct rig_visibility *visibility; /* the comparison's */
    bool has_views, has_unknown;
    uint32_t *of_txn, *seen; /* rig_read_places */
    uint8_t *same;           /* per operation: it shows the state at its snapshot (row_states.h) */
    uint32_t *shown_by;
    int64_t *shown_version; /* per statement that inserts: the read that shows the row, and how */
    uint32_t reads;
    bool open;      /* a commit removes rows, and may be of a delete whose result is not known */
    bool ambiguous; /* several deletes show the rows that a commit removes, and none is exactly the commit */
};

static void note(struct judging *j, enum rig_discrepancy_kind kind, uint32_t txn, uint32_t op, uint32_t commit,
                 uint32_t snapshot, int64_t row)
{
    struct rig_discrepancy found = rig_discrepancy_at(kind, txn, op);
    found.commit = commit;
    found.snapshot = snapshot;
    found.row = row;
    rig_comparison_note(j->comparison, found);
}

/* ---- writes ---- */

/* The transaction's first statement that changed a row; `commit`: in this commit. NONE. */
static uint32_t first_write(const struct judging *j, uint32_t txn, uint32_t commit)
{
    const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(j->history, txn); i++) {
        if (!rig_row_writes(&ops[i]))
            continue;
        const uint32_t at = rig_rows_statement(j->rows, ops[i].key, ops[i].value);
        RIG_INVARIANT(at != NONE);
        const struct rig_row_write *of = &j->rows->statements[at];
        if (commit == NONE && of->version_count > 0)
            return i;
        for (uint32_t change = commit == NONE ? 0 : j->commits.first[commit];
             commit != NONE && change < j->commits.first[commit + 1]; change++) {
            if (j->commits.changes[change].statement == at)
                return i;
        }
    }
    return NONE;
}

/* Whether some row that the statement shows certainly lacks its removal: commits removed it less often than
 * acknowledged transactions; or, for a transaction that failed, only such ones may have removed it. */
static bool removal_tells(const struct judging *j, const struct rig_row_write *of, bool lost)
{
    for (uint32_t i = 0; i < of->version_count; i++) {
        const uint32_t row = rig_rows_statement(j->rows, of->key, j->rows->versions[of->first_version + i].id);
        if (row == NONE || !rig_row_inserts(j->rows->statements[row].number))
            continue;
        if (lost ? rig_row_commits_removals(&j->commits, row) < rig_row_commits_removers(&j->commits, row, true)
                 : rig_row_commits_removers(&j->commits, row, false) == 0)
            return true;
    }
    return false;
}

/* Whether the commit has the mark of the statement. */
static bool is_marked(const struct judging *j, uint32_t commit, uint32_t statement)
{
    for (uint32_t at = commit == NONE ? 0 : j->commits.first[commit];
         commit != NONE && at < j->commits.first[commit + 1]; at++) {
        const struct rig_row_change *change = &j->commits.changes[at];
        if (change->statement == statement && rig_row_is_mark(change->id, change->version))
            return true;
    }
    return false;
}

/* Whether the statement at operation `op` proves that the transaction was lost, or that it was resurrected. A removal
 * names no statement, unless it has a mark. */
static bool is_proof(const struct judging *j, uint32_t txn, uint32_t op, bool lost)
{
    RIG_REQUIRE(op < rig_txn_op_count(j->history, txn) && rig_row_writes(rig_txn_ops(j->history, txn) + op));
    const struct rig_txn_op *of = rig_txn_ops(j->history, txn) + op;
    const uint32_t at = rig_rows_statement(j->rows, of->key, of->value);
    const struct rig_row_write *statement = &j->rows->statements[at];
    RIG_INVARIANT(at != NONE && statement->txn == txn);
    if (!lost && is_marked(j, j->commits.commit_of[txn], at))
        return true;
    return statement->version_count > 0 &&
           (rig_row_action(of->value) != RIG_ROWS_DELETE || removal_tells(j, statement, lost));
}

/* The first statement that proves that the transaction was lost; NONE. */
static uint32_t lost_write(const struct judging *j, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(j->history, txn); i++) {
        if (rig_row_writes(&ops[i]) && is_proof(j, txn, i, true))
            return i;
    }
    return NONE;
}

static void compare_writes(struct judging *j, uint32_t txn, uint8_t *never)
{
    const uint32_t commit = j->commits.commit_of[txn], write = first_write(j, txn, commit);
    const bool present = commit != NONE, exact = present && j->commits.matches[commit] == RIG_ROW_COMMIT_EXACT;
    const enum rig_outcome outcome = (enum rig_outcome)j->history->txns[txn].outcome;
    if (outcome == RIG_OUTCOME_FAIL && present && !is_proof(j, txn, write, false))
        j->ambiguous = true;
    else if (outcome == RIG_OUTCOME_FAIL && present)
        note(j, RIG_DISCREPANCY_RESURRECTED_ABORT, txn, write, commit, RIG_SNAPSHOT_NONE, 0);
    if (outcome == RIG_OUTCOME_FAIL)
        return;
    if (present && !exact)
        note(j, RIG_DISCREPANCY_TORN_COMMIT, txn, write, commit, RIG_SNAPSHOT_NONE, 0);
    const uint32_t again = j->commits.again_of[txn];
    if (present && again != NONE)
        note(j, RIG_DISCREPANCY_TORN_COMMIT, txn, first_write(j, txn, again), again, RIG_SNAPSHOT_NONE, 0);
    if (outcome == RIG_OUTCOME_OK) {
        const bool missing = !present && write != NONE && j->certificate->complete && !j->open;
        const uint32_t proof = missing ? lost_write(j, txn) : NONE;
        j->ambiguous |= missing && proof == NONE;
        if (proof != NONE)
            note(j, RIG_DISCREPANCY_LOST_COMMIT, txn, proof, NONE, RIG_SNAPSHOT_NONE, 0);
        return;
    }
    bool writes = j->commits.is_partly_known[txn];
    const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(j->history, txn); i++)
        writes |= rig_row_writes(&ops[i]);
    if (!writes)
        return;
    *never = !present && j->certificate->complete && !j->open;
    rig_comparison_resolve(j->comparison, exact, *never);
}

/* ---- reads ---- */

/* Whether the certificate has the version of the row. */
static bool has_version(const struct judging *j, uint32_t key, int64_t id, int64_t number)
{
    const uint32_t insert = rig_rows_statement(j->rows, key, id);
    uint32_t at = insert == NONE ? NONE : j->commits.last[insert];
    while (at != NONE && j->commits.changes[at].version != number)
        at = j->commits.changes[at].before;
    return at != NONE;
}

static void compare_shown(struct judging *j, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *read = rig_txn_ops(j->history, txn) + op;
    const struct rig_read_list list = rig_txn_op_list(j->history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at);
        const uint32_t statement = rig_rows_statement(j->rows, read->key, rig_read_element(&list, at + 1));
        if (statement != NONE &&
            (j->rows->statements[statement].txn == txn || !j->rows->statements[statement].rows_known))
            continue;
        const uint32_t version = statement == NONE ? NONE : rig_rows_version(j->rows, statement, id);
        if ((version != NONE && j->commits.change_of[version] != NONE) ||
            has_version(j, read->key, id, rig_read_element(&list, at + 1)))
            continue;
        note(j, RIG_DISCREPANCY_CERTIFICATE_MISMATCH, txn, op, NONE, RIG_SNAPSHOT_NONE, id);
        return;
    }
}

static uint32_t change_commit(const struct judging *j, uint32_t version)
{
    RIG_REQUIRE(version < j->rows->version_count);
    const uint32_t change = j->commits.change_of[version];
    return change == NONE ? NONE : j->commits.changes[change].commit;
}

/* The row's last change among the first `seen` commits; RIG_ROW_NONE: it was not inserted. */
static uint32_t seen_change(const struct judging *j, uint32_t insert, uint32_t seen)
{
    RIG_REQUIRE(j->visibility->places != NULL && insert < j->rows->statement_count);
    uint32_t at = j->commits.last[insert];
    while (at != RIG_ROW_NONE && j->visibility->places[j->commits.changes[at].commit] >= seen)
        at = j->commits.changes[at].before;
    return at;
}

/* The version of the row that the transaction made itself before the operation; RIG_ROW_NONE. */
static uint32_t own_version(const struct judging *j, uint32_t txn, uint32_t op, int64_t id)
{
    const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
    for (uint32_t i = op; i-- > 0;) {
        if (!rig_row_writes(&ops[i]) || ops[i].key != ops[op].key)
            continue;
        const uint32_t version = rig_rows_version(j->rows, rig_rows_statement(j->rows, ops[i].key, ops[i].value), id);
        if (version != RIG_ROW_NONE)
            return version;
    }
    return RIG_ROW_NONE;
}

/* Notes the rows that the read shows. */
static void take_shown(struct judging *j, const struct rig_txn_op *read)
{
    const struct rig_read_list list = rig_txn_op_list(j->history, read);
    j->reads++;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const uint32_t row = rig_rows_statement(j->rows, read->key, rig_read_element(&list, at));
        if (row == NONE)
            continue;
        j->shown_by[row] = j->reads;
        j->shown_version[row] = rig_read_element(&list, at + 1);
    }
}

struct sum {
    uint64_t count, of; /* as 64-bit numbers, which wrap */
};

/* Whether the read shows the row as it must; false, and noted, else. */
static bool compare_row(struct judging *j, uint32_t txn, uint32_t op, uint32_t snapshot, uint32_t insert,
                        const struct rig_row_where *condition, struct sum *sum)
{
    RIG_REQUIRE(insert < j->rows->statement_count && rig_row_inserts(j->rows->statements[insert].number));
    const struct rig_row_write *row = &j->rows->statements[insert];
    const uint32_t own = own_version(j, txn, op, row->number);
    const uint32_t change =
        own != RIG_ROW_NONE ? NONE : seen_change(j, insert, rig_visibility_prefix(j->visibility, snapshot));
    const int64_t number = own != RIG_ROW_NONE ? rig_rows_number(j->rows, own)
                           : change == NONE    ? 0
                                               : j->commits.changes[change].version;
    const bool meets = number != 0 && rig_row_matches(condition, row->number, number);
    sum->count += meets;
    sum->of += meets ? (uint64_t)number : 0;
    if (condition->form != RIG_ROW_LISTED)
        return true;
    const bool shown = j->shown_by[insert] == j->reads;
    if (shown == meets && (!shown || j->shown_version[insert] == number))
        return true;
    note(j, RIG_DISCREPANCY_SNAPSHOT_MISMATCH, txn, op, change == NONE ? NONE : j->commits.changes[change].commit,
         snapshot, row->number);
    return false;
}

static void compare_state(struct judging *j, uint32_t txn, uint32_t op, uint32_t snapshot)
{
    const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
    const struct rig_row_where condition = rig_row_condition_at(ops, op);
    struct sum sum = {0};
    uint32_t end, i = rig_rows_asked(j->rows, ops[op].key, &condition, &end);
    take_shown(j, &ops[op]);
    while (i < end && compare_row(j, txn, op, snapshot, j->rows->inserts[i], &condition, &sum))
        i++;
    if (condition.form == RIG_ROW_LISTED)
        return;
    const struct rig_read_list list = rig_txn_op_list(j->history, &ops[op]);
    if (list.count != 2 ||
        !rig_row_total_is(&condition, rig_read_element(&list, 0), rig_read_element(&list, 1), sum.count, sum.of))
        note(j, RIG_DISCREPANCY_SNAPSHOT_MISMATCH, txn, op, NONE, snapshot, 0);
}

/* ---- writers ---- */

/* The number that the writer's own statement showed for its rows; 0: none. */
static uint64_t number_by_writer(const struct judging *j, const struct rig_row_write *of)
{
    uint32_t count;
    const struct rig_txn_view_row *row = rig_visibility_rows(j->visibility, of->txn, of->op, &count);
    return count == 0 ? 0 : row->version;
}

static void compare_writer(struct judging *j, uint32_t txn, uint32_t op, int64_t id, int64_t number, uint64_t writer)
{
    const uint32_t key = rig_txn_ops(j->history, txn)[op].key;
    const uint32_t statement = rig_rows_statement(j->rows, key, number);
    const uint32_t version = statement == NONE ? NONE : rig_rows_version(j->rows, statement, id);
    const uint32_t commit = version == NONE ? NONE : change_commit(j, version);
    if (commit == NONE || writer == 0)
        return;
    struct rig_discrepancy found = rig_discrepancy_at(RIG_DISCREPANCY_VERSION_MISMATCH, txn, op);
    found.commit = commit;
    found.row = id;
    rig_comparison_writer(j->comparison, found, writer, number_by_writer(j, &j->rows->statements[statement]));
}

static void compare_writers(struct judging *j, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *read = rig_txn_ops(j->history, txn) + op;
    const struct rig_read_list list = rig_txn_op_list(j->history, read);
    uint32_t count;
    const struct rig_txn_view_row *rows = rig_visibility_rows(j->visibility, txn, op, &count);
    for (uint32_t i = 0; count * 2 == list.count && i < count; i++) {
        RIG_INVARIANT(rows[i].op == op);
        compare_writer(j, txn, op, rig_read_element(&list, 2 * i), rig_read_element(&list, 2 * i + 1), rows[i].version);
    }
}

static void compare_number(struct judging *j, uint32_t txn)
{
    const uint32_t commit = j->commits.commit_of[txn];
    if (rig_comparison_has_other_number(j->comparison, txn, commit))
        note(j, RIG_DISCREPANCY_NUMBER_MISMATCH, txn, first_write(j, txn, commit), commit, RIG_SNAPSHOT_NONE, 0);
}

/* ---- snapshots ---- */

/* Each version of a row is shown no earlier than the one before it. */
static void compare_orders(struct judging *j)
{
    const uint32_t count = j->commits.first[j->certificate->commits.count];
    for (uint32_t at = 0; at < count; at++) {
        const struct rig_row_change *change = &j->commits.changes[at];
        if (change->before != NONE)
            (void)rig_comparison_order(j->comparison, j->commits.changes[change->before].commit, change->commit,
                                       change->id);
    }
}

/* The number of commits that each acknowledged read saw. */
static bool find_seen(struct judging *j)
{
    for (uint32_t txn = 0; j->visibility->order != NULL && txn < j->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
        const bool has_view = j->visibility->view_of[txn] != RIG_VIEW_NONE;
        for (uint32_t i = 0; has_view && i < rig_txn_op_count(j->history, txn); i++) {
            const uint32_t snapshot =
                rig_row_is_read(&ops[i]) ? rig_visibility_snapshot(j->visibility, txn, i) : RIG_SNAPSHOT_NONE;
            if (snapshot != RIG_SNAPSHOT_NONE && j->visibility->shown[snapshot].usable)
                j->seen[j->history->txns[txn].first_op + i] = rig_visibility_prefix(j->visibility, snapshot);
        }
    }
    return j->visibility->order == NULL || !j->certificate->complete ||
           rig_row_states_compare(&j->commits, j->visibility, j->seen, &j->into->arena, j->same);
}

static bool is_on_standby(const struct judging *j, uint32_t txn)
{
    const uint32_t view = j->visibility->view_of[txn];
    return view != RIG_VIEW_NONE && j->certificate->views.views.at[view].standby;
}

static void compare_reads(struct judging *j, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(j->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(j->history, txn); i++) {
        if (!rig_row_is_read(&ops[i]))
            continue;
        const bool listed = rig_row_condition_at(ops, i).form == RIG_ROW_LISTED;
        if (listed && j->certificate->complete)
            compare_shown(j, txn, i);
        if (!j->has_views)
            continue;
        if (listed)
            compare_writers(j, txn, i);
        const uint32_t at = j->history->txns[txn].first_op + i;
        j->into->standby_reads += is_on_standby(j, txn);
        if (j->seen[at] == RIG_PLACE_NONE || !j->certificate->complete)
            continue;
        j->into->reads_compared++;
        if (!j->same[at])
            compare_state(j, txn, i, rig_visibility_snapshot(j->visibility, txn, i));
    }
}

/* ---- all of it ---- */

static bool make_room(struct judging *j)
{
    struct rig_arena *arena = &j->into->arena;
    const size_t txns = (size_t)j->history->txn_count + 1, ops = (size_t)j->history->op_count + 1,
                 statements = (size_t)j->rows->statement_count + 1;
    j->of_txn = rig_arena_array(arena, txns, sizeof *j->of_txn);
    j->seen = rig_arena_array(arena, ops, sizeof *j->seen);
    j->same = rig_arena_array(arena, ops, 1);
    j->shown_by = rig_arena_array(arena, statements, sizeof *j->shown_by);
    j->shown_version = rig_arena_array(arena, statements, sizeof *j->shown_version);
    if (j->of_txn == NULL || j->seen == NULL || j->same == NULL || j->shown_by == NULL || j->shown_version == NULL)
        return false;
    for (size_t i = 0; i < txns; i++)
        j->of_txn[i] = RIG_PLACE_NONE;
    for (size_t i = 0; i < ops; i++)
        j->seen[i] = RIG_PLACE_NONE;
    return true;
}

/* The transactions that made exactly each commit; `*lacks`: of which one is not known well enough. */
static void take_writers(struct judging *j, uint32_t *writers, const char **lacks)
{
    for (uint32_t commit = 0; commit < j->certificate->commits.count; commit++) {
        const uint8_t match = j->commits.matches[commit];
        writers[commit] = match == RIG_ROW_COMMIT_EXACT ? j->commits.writers[commit] : NONE;
        RIG_INVARIANT(match != RIG_ROW_COMMIT_EXACT || writers[commit] < j->history->txn_count);
        j->into->foreign_count += match == RIG_ROW_COMMIT_FOREIGN;
        j->open |= match == RIG_ROW_COMMIT_OPEN;
        if (match == RIG_ROW_COMMIT_EXACT && j->commits.is_partly_known[writers[commit]])
            *lacks = "a transaction of unknown outcome committed, and its answers do not say which rows it changed";
    }
    if (j->open)
        *lacks = removals_open;
    if (!j->certificate->complete)
        *lacks = "the certificate is not complete, so it does not have all versions of rows";
}

static void place_commits(struct judging *j, const uint32_t *writers)
{
    for (uint32_t commit = 0; commit < j->certificate->commits.count; commit++) {
        if (writers[commit] != NONE)
            j->of_txn[writers[commit]] =
                j->has_views && j->visibility->order != NULL ? j->visibility->places[commit] : commit;
    }
}

/* Each change is a row's id and its version. */
static enum rig_rc check_changes(const struct rig_certificate *certificate, struct rig_err *err)
{
    for (uint32_t commit = 0; commit < certificate->commits.count; commit++) {
        const struct rig_change *changes = rig_commit_changes(certificate, commit);
        for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
            if (changes[i].removed || changes[i].kept + (uint64_t)changes[i].count != 2)
                return rig_fail(err, RIG_E_INPUT,
                                "the certificate's commit %u has a change that is not a row's id and version; a "
                                "certificate of rows is one of a run with the workload predicate",
                                commit + 1);
        }
    }
    return RIG_OK;
}

enum rig_rc rig_row_judge(struct rig_comparison *comparison, struct rig_history *history, uint8_t *never,
                          uint32_t *writers, struct rig_read_places *places, const char **lacks, struct rig_err *err)
{
    struct rig_certified *certified = comparison->into;
    RIG_REQUIRE(history == comparison->history);
    struct judging j = {.comparison = comparison,
                        .history = history,
                        .certificate = history->certificate,
                        .into = certified,
                        .visibility = &comparison->visibility};
    struct rig_arena *arena = &certified->arena;
    uint8_t *filled = NULL;
    *lacks = NULL;
    j.rows = rig_arena_alloc(arena, sizeof *j.rows);
    enum rig_rc rc = j.rows == NULL ? rig_memory_limit(err, "the certificate") : check_changes(j.certificate, err);
    if (rc == RIG_OK)
        rc = rig_row_recover(history, arena, &filled, &certified->recovered, err);
    if (rc == RIG_OK)
        rc = rig_rows_build(history, arena, j.rows, err);
    if (rc != RIG_OK)
        return rc;
    if (!make_room(&j) || !rig_row_commits_build(j.rows, j.certificate, arena, &j.commits))
        return rig_memory_limit(err, "the certificate");
    take_writers(&j, writers, lacks);
    j.has_views = j.certificate->views.views.count > 0;
    if (j.has_views && (!rig_visibility_build(history, writers, arena, &comparison->visibility) || !find_seen(&j)))
        return rig_memory_limit(err, "the certificate");
    if (j.has_views && j.visibility->order != NULL)
        compare_orders(&j);
    for (uint32_t txn = 0; txn < history->txn_count && !comparison->failed; txn++) {
        compare_writes(&j, txn, &never[txn]);
        j.has_unknown |= history->txns[txn].outcome == RIG_OUTCOME_INFO;
        if (history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        compare_reads(&j, txn);
        if (j.has_views)
            compare_number(&j, txn);
    }
    if (j.ambiguous)
        *lacks = removals_open;
    place_commits(&j, writers);
    for (uint32_t op = 0; filled != NULL && op < history->op_count; op++)
        j.seen[op] = filled[op] != 0 ? RIG_PLACE_LOST : j.seen[op];
    /* Where no outcome is unknown, the certificate changes nothing in the rows. */
    *places = (struct rig_read_places){.of_txn = j.of_txn, .seen = j.seen, .rows = j.has_unknown ? NULL : j.rows};
    return comparison->failed ? rig_memory_limit(err, "the certificate") : RIG_OK;
}
