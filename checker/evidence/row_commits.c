#include "checker/evidence/row_commits.h"

#include "base/bug.h"
#include "checker/evidence/certificate_chains.h"

#define NONE UINT32_MAX

struct matching {
    struct rig_row_commits *into;
    const struct rig_row_chains *rows;
    const struct rig_history *history;
    uint8_t *open_keys; /* per key: a delete has an unknown result */
};

static bool is_insert(const struct rig_row_write *statement)
{
    return rig_row_inserts(statement->number);
}

/* The version that an update or delete shows of the row that it made that version of; 0: it inserted the row. */
static int64_t row_commits_replaced(const struct rig_row_chains *rows, uint32_t version)
{
    RIG_REQUIRE(version < rows->version_count && rows->versions[version].statement < rows->statement_count);
    const struct rig_row_write *of = &rows->statements[rows->versions[version].statement];
    if (is_insert(of))
        return 0;
    RIG_INVARIANT(of->op > 0 && version >= of->first_version && version < of->first_version + of->version_count);
    const struct rig_read_list list = rig_txn_op_list(rows->history, rig_txn_ops(rows->history, of->txn) + of->op - 1);
    return rig_read_element(&list, 2 * (version - of->first_version) + 1);
}

uint32_t rig_row_commits_removals(const struct rig_row_commits *commits, uint32_t insert)
{
    RIG_REQUIRE(insert < commits->rows->statement_count);
    uint32_t count = 0;
    for (uint32_t at = commits->last[insert]; at != NONE; at = commits->changes[at].before)
        count += commits->changes[at].version == 0;
    return count;
}

uint32_t rig_row_commits_removers(const struct rig_row_commits *commits, uint32_t insert, bool acknowledged)
{
    RIG_REQUIRE(insert < commits->rows->statement_count);
    const struct rig_row_chains *rows = commits->rows;
    uint32_t count = 0, last = NONE; /* a result may show a row twice */
    for (uint32_t at = commits->deletes[insert]; at != NONE; at = commits->more[at]) {
        const uint8_t outcome = rows->history->txns[rig_rows_writer(rows, at)].outcome;
        const bool counts = acknowledged ? outcome == RIG_OUTCOME_OK : outcome != RIG_OUTCOME_FAIL;
        count += counts && rows->versions[at].statement != last;
        last = rows->versions[at].statement;
    }
    return count;
}

/* ---- preparation ---- */

static void index_deletes(struct matching *m)
{
    const struct rig_row_chains *rows = m->rows;
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_write *of = &rows->statements[i];
        m->into->deletes[i] = NONE;
        m->into->last[i] = NONE;
        m->into->is_partly_known[of->txn] |= !of->rows_known;
    }
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_write *of = &rows->statements[i];
        if (rig_row_action(of->number) != RIG_ROWS_DELETE)
            continue;
        m->open_keys[of->key] |= !of->rows_known && m->history->txns[of->txn].outcome == RIG_OUTCOME_INFO;
        for (uint32_t at = of->first_version; at < of->first_version + of->version_count; at++) {
            const uint32_t row = rig_rows_statement(rows, of->key, rows->versions[at].id);
            m->into->more[at] = row == NONE ? NONE : m->into->deletes[row];
            if (row != NONE)
                m->into->deletes[row] = at;
        }
    }
}

/* The row and the statement of a change, as far as it names them. */
static void find_change(struct matching *m, struct rig_row_change *change)
{
    const struct rig_row_chains *rows = m->rows;
    change->row = rig_rows_statement(rows, change->key, change->id);
    if (change->row != NONE && !is_insert(&rows->statements[change->row]))
        change->row = NONE;
    if (change->version != 0)
        change->statement = rig_rows_statement(rows, change->key, change->version);
    RIG_INVARIANT(change->statement == NONE || change->statement < rows->statement_count);
    if (change->statement != NONE)
        change->made = rig_rows_version(rows, change->statement, change->id);
}

/* Lists the changes; those of keys that the history does not have have neither row nor statement. */
static bool list_changes(struct matching *m, const struct rig_table *numbers, struct rig_arena *arena)
{
    struct rig_row_commits *into = m->into;
    const struct rig_certificate *certificate = into->certificate;
    const uint32_t key_count = m->history->key_count;
    /* The last change of each key: the next one may share its id, or all of it. */
    int64_t *ids = rig_arena_array(arena, (size_t)key_count + 1, sizeof *ids),
            *numbers_of = rig_arena_array(arena, (size_t)key_count + 1, sizeof *numbers_of);
    uint32_t at = 0;
    if (ids == NULL || numbers_of == NULL)
        return false;
    for (uint32_t commit = 0; commit < certificate->commits.count; commit++) {
        const struct rig_change *changes = rig_commit_changes(certificate, commit);
        into->first[commit] = at;
        for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
            const struct rig_change *of = &changes[i];
            const uint32_t key = rig_table_get(numbers, (uint64_t)of->key);
            struct rig_row_change *change = &into->changes[at++];
            *change = (struct rig_row_change){
                .key = key, .row = NONE, .statement = NONE, .made = NONE, .before = NONE, .commit = commit, .op = NONE};
            if (key == RIG_TABLE_NONE)
                continue;
            const int64_t *elements = certificate->elements.at + of->first;
            ids[key] = of->kept == 0 ? elements[0] : ids[key];
            numbers_of[key] = of->kept < 2 ? elements[of->count - 1] : numbers_of[key];
            change->id = ids[key];
            change->version = numbers_of[key];
            find_change(m, change);
            if (change->row == NONE)
                continue;
            change->before = into->last[change->row];
            into->last[change->row] = at - 1;
        }
    }
    RIG_INVARIANT(at == certificate->changes.count);
    into->first[certificate->commits.count] = at;
    return true;
}

/* ---- the transaction of a commit ---- */

/* The delete of the transaction that shows the removed row, as its version; NONE. */
static uint32_t find_removal(const struct matching *m, const struct rig_row_change *change, uint32_t txn)
{
    RIG_REQUIRE(txn < m->history->txn_count);
    uint32_t at = change->row == NONE ? NONE : m->into->deletes[change->row];
    while (at != NONE && rig_rows_writer(m->rows, at) != txn)
        at = m->into->more[at];
    return at;
}

/* The rows that the transaction's statements changed. */
static uint32_t count_rows(const struct matching *m, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(m->history, txn); i++) {
        if (rig_row_writes(&ops[i]))
            count += m->rows->statements[rig_rows_statement(m->rows, ops[i].key, ops[i].value)].version_count;
    }
    return count;
}

/* The first delete of the transaction, from operation `op` on, whose rows are not known, and whose condition the
 * removed row met; NONE. */
static uint32_t find_open_delete(const struct matching *m, uint32_t txn, uint32_t op,
                                 const struct rig_row_change *change)
{
    const uint32_t key = change->key;
    const int64_t before = change->before == NONE ? 0 : m->into->changes[change->before].version;
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    for (uint32_t i = op; i < rig_txn_op_count(m->history, txn); i++) {
        if (!rig_row_writes(&ops[i]) || ops[i].key != key || rig_row_action(ops[i].value) != RIG_ROWS_DELETE ||
            m->rows->statements[rig_rows_statement(m->rows, key, ops[i].value)].rows_known)
            continue;
        RIG_INVARIANT(i > 0);
        const struct rig_row_where condition = rig_row_condition_at(ops, i - 1);
        if (before != 0 && rig_row_matches(&condition, change->id, before))
            return i;
    }
    return NONE;
}

/* Whether the change is one of the transaction's, on top of the version that it replaced; `*op`: from that operation
 * on, then its statement's. */
static bool is_change_of(const struct matching *m, uint32_t at, uint32_t txn, uint32_t *op)
{
    RIG_REQUIRE(*op <= rig_txn_op_count(m->history, txn));
    const struct rig_row_change *change = &m->into->changes[at];
    const uint32_t made = change->version == 0 ? find_removal(m, change, txn) : change->made;
    const uint32_t statement = made == NONE ? change->statement : m->rows->versions[made].statement;
    const uint32_t removal = made == NONE && change->version == 0 ? find_open_delete(m, txn, *op, change) : NONE;
    if (removal != NONE && change->row != NONE) {
        *op = removal;
        return true;
    }
    if (statement == NONE || change->row == NONE || m->rows->statements[statement].txn != txn)
        return false;
    const struct rig_row_write *of = &m->rows->statements[statement];
    RIG_INVARIANT(of->op < rig_txn_op_count(m->history, txn));
    *op = of->op;
    if (made == NONE)
        return !of->rows_known;
    const int64_t before = change->before == NONE ? 0 : m->into->changes[change->before].version;
    const bool is_removed = change->before != NONE && before == 0;
    return !is_removed && row_commits_replaced(m->rows, made) == before;
}

static bool is_exact(const struct matching *m, uint32_t commit, uint32_t txn)
{
    RIG_REQUIRE(commit < m->into->certificate->commits.count && txn < m->history->txn_count);
    const struct rig_row_commits *into = m->into;
    const uint32_t rows = count_rows(m, txn);
    uint32_t op = 0, count = 0;
    for (uint32_t at = into->first[commit]; at < into->first[commit + 1]; at++) {
        struct rig_row_change *change = &into->changes[at];
        const uint32_t last_op = op;
        if (rig_row_is_mark(change->id, change->version)) {
            if (change->statement == NONE || m->rows->statements[change->statement].txn != txn)
                return false;
            continue;
        }
        if (!is_change_of(m, at, txn, &op) || op < last_op)
            return false;
        change->op = op;
        count++;
    }
    return into->is_partly_known[txn] ? count >= rows : count == rows;
}

/* The transaction that a commit of removals fits best. */
static uint32_t find_remover(const struct matching *m, uint32_t commit)
{
    RIG_REQUIRE(commit < m->into->certificate->commits.count);
    const struct rig_row_commits *into = m->into;
    uint32_t best = NONE;
    for (uint32_t i = into->first[commit]; i < into->first[commit + 1]; i++) {
        const struct rig_row_change *change = &into->changes[i];
        const bool removes = change->row != NONE && change->version == 0;
        for (uint32_t at = removes ? m->into->deletes[change->row] : NONE; at != NONE; at = m->into->more[at]) {
            const uint32_t txn = rig_rows_writer(m->rows, at);
            const bool failed = m->history->txns[txn].outcome == RIG_OUTCOME_FAIL;
            if (!failed && is_exact(m, commit, txn))
                return txn;
            if (best == NONE || (!failed && m->history->txns[best].outcome == RIG_OUTCOME_FAIL))
                best = txn;
        }
    }
    return best;
}

/* Whether changes of the commit name other transactions, of which none is exactly this commit. */
static bool names_others(struct matching *m, uint32_t commit, uint32_t txn)
{
    struct rig_row_commits *into = m->into;
    bool others = false;
    for (uint32_t i = into->first[commit]; i < into->first[commit + 1]; i++) {
        const uint32_t statement = into->changes[i].statement;
        const uint32_t other = statement == NONE ? txn : m->rows->statements[statement].txn;
        if (other == txn)
            continue;
        others = true;
        if (into->commit_of[other] == NONE)
            into->commit_of[other] = commit;
        else
            into->matches[into->commit_of[other]] = RIG_ROW_COMMIT_PARTLY;
    }
    return others;
}

/* Gives each change of the commit its version, where it is the transaction's. False where two changes are one
 * version. */
static bool take_versions(struct matching *m, uint32_t commit, uint32_t txn)
{
    struct rig_row_commits *into = m->into;
    bool once = true;
    for (uint32_t at = into->first[commit]; at < into->first[commit + 1]; at++) {
        struct rig_row_change *change = &into->changes[at];
        if (change->version == 0 && (change->made = find_removal(m, change, txn)) != NONE)
            change->statement = m->rows->versions[change->made].statement;
        if (change->made == NONE)
            continue;
        once &= into->change_of[change->made] == NONE;
        into->change_of[change->made] = at;
    }
    return once;
}

static bool removes_only(const struct rig_row_commits *into, uint32_t commit)
{
    uint32_t at = into->first[commit];
    while (at < into->first[commit + 1] && into->changes[at].version == 0)
        at++;
    return at == into->first[commit + 1];
}

static void match(struct matching *m, uint32_t commit)
{
    struct rig_row_commits *into = m->into;
    uint32_t txn = NONE;
    bool open = false;
    for (uint32_t at = into->first[commit]; at < into->first[commit + 1] && txn == NONE; at++) {
        const struct rig_row_change *change = &into->changes[at];
        txn = change->statement == NONE ? NONE : m->rows->statements[change->statement].txn;
        open |= change->row != NONE && change->version == 0 && m->open_keys[change->key];
    }
    if (txn == NONE && into->first[commit] < into->first[commit + 1])
        txn = find_remover(m, commit);
    into->writers[commit] = txn;
    into->matches[commit] = open ? RIG_ROW_COMMIT_OPEN : RIG_ROW_COMMIT_FOREIGN;
    if (txn == NONE)
        return;
    const bool exact = is_exact(m, commit, txn), first = into->commit_of[txn] == NONE;
    const bool alone = !names_others(m, commit, txn), once = take_versions(m, commit, txn);
    into->matches[commit] = exact && once && alone && first ? RIG_ROW_COMMIT_EXACT : RIG_ROW_COMMIT_PARTLY;
    if (first)
        into->commit_of[txn] = commit;
    else if (into->matches[into->commit_of[txn]] == RIG_ROW_COMMIT_EXACT && removes_only(into, commit))
        into->again_of[txn] = commit;
    else
        into->matches[into->commit_of[txn]] = RIG_ROW_COMMIT_PARTLY;
}

static bool make_room(struct matching *m, struct rig_arena *arena)
{
    struct rig_row_commits *into = m->into;
    const size_t commits = into->certificate->commits.count + 1, txns = (size_t)m->history->txn_count + 1,
                 versions = (size_t)m->rows->version_count + 1, statements = (size_t)m->rows->statement_count + 1;
    into->changes = rig_arena_array(arena, into->certificate->changes.count + 1, sizeof *into->changes);
    into->first = rig_arena_array(arena, commits, sizeof *into->first);
    into->writers = rig_arena_array(arena, commits, sizeof *into->writers);
    into->matches = rig_arena_array(arena, commits, 1);
    into->commit_of = rig_arena_array(arena, txns, sizeof *into->commit_of);
    into->again_of = rig_arena_array(arena, txns, sizeof *into->again_of);
    into->is_partly_known = rig_arena_array(arena, txns, 1);
    into->change_of = rig_arena_array(arena, versions, sizeof *into->change_of);
    into->more = rig_arena_array(arena, versions, sizeof *into->more);
    into->deletes = rig_arena_array(arena, statements, sizeof *into->deletes);
    into->last = rig_arena_array(arena, statements, sizeof *into->last);
    m->open_keys = rig_arena_array(arena, (size_t)m->history->key_count + 1, 1);
    if (into->changes == NULL || into->first == NULL || into->writers == NULL || into->matches == NULL ||
        into->commit_of == NULL || into->again_of == NULL || into->is_partly_known == NULL || into->change_of == NULL ||
        into->more == NULL || into->deletes == NULL || into->last == NULL || m->open_keys == NULL)
        return false;
    for (size_t i = 0; i < txns; i++)
        into->commit_of[i] = into->again_of[i] = NONE;
    for (size_t i = 0; i < versions; i++)
        into->change_of[i] = into->more[i] = NONE;
    return true;
}

bool rig_row_commits_build(const struct rig_row_chains *rows, const struct rig_certificate *certificate,
                           struct rig_arena *arena, struct rig_row_commits *commits)
{
    struct matching m = {.into = commits, .rows = rows, .history = rows->history};
    struct rig_table numbers;
    *commits = (struct rig_row_commits){.rows = rows, .certificate = certificate};
    rig_table_init(&numbers);
    bool done = make_room(&m, arena) && rig_certificate_number_keys(rows->history, &numbers);
    if (done) {
        index_deletes(&m);
        done = list_changes(&m, &numbers, arena);
    }
    rig_table_done(&numbers);
    for (uint32_t commit = 0; done && commit < certificate->commits.count; commit++)
        match(&m, commit);
    return done;
}
