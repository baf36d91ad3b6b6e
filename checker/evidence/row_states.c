#include "checker/evidence/row_states.h"

#include "base/bug.h"

#define NONE UINT32_MAX

struct total {
    uint64_t count, sum; /* sums wrap, as those of the history do */
};

struct row {
    int64_t version; /* 0: it is not there */
    int64_t own;     /* as the transaction of the read left it */
    uint32_t own_of; /* `own` has a value where this is the read's number */
    uint32_t shown_by;
    uint32_t rank; /* among the rows of its table, from 1 on */
};

struct states {
    const struct rig_row_commits *commits;
    const struct rig_row_chains *rows;
    const struct rig_history *history;
    struct row *at;         /* per statement that inserts */
    struct total *ids;      /* per table a Fenwick tree; it begins after insert_first + the number of the table */
    uint32_t *class_first;  /* per key, and one more: into */
    struct total *of_class; /*   these */
    uint8_t *odd;           /* per key: a change has a version that no statement made; nothing is certain */
    uint32_t *reads_at;     /* per number of commits seen: the last read; NONE */
    uint32_t *more;         /* per operation: the read before it */
    uint32_t *txn_of;       /* per operation */
    uint32_t reads;
};

/* ---- preparation ---- */

static bool make_classes(struct states *s, struct rig_arena *arena)
{
    const uint32_t keys = s->history->key_count;
    s->class_first = rig_arena_array(arena, (size_t)keys + 2, sizeof *s->class_first);
    s->odd = rig_arena_array(arena, (size_t)keys + 1, 1);
    if (s->class_first == NULL || s->odd == NULL)
        return false;
    for (uint32_t i = 0; i < s->rows->statement_count; i++) {
        const struct rig_row_write *of = &s->rows->statements[i];
        const uint32_t classes = (uint32_t)rig_row_class(of->number) + 1;
        uint32_t *most = &s->class_first[of->key + 1];
        *most = classes > *most ? classes : *most;
    }
    for (uint32_t key = 0; key < keys; key++)
        s->class_first[key + 1] += s->class_first[key];
    s->of_class = rig_arena_array(arena, (size_t)s->class_first[keys] + 1, sizeof *s->of_class);
    return s->of_class != NULL;
}

static bool make_rows(struct states *s, struct rig_arena *arena)
{
    const struct rig_row_chains *rows = s->rows;
    const uint32_t keys = s->history->key_count;
    s->at = rig_arena_array(arena, (size_t)rows->statement_count + 1, sizeof *s->at);
    s->ids = rig_arena_array(arena, (size_t)rows->insert_first[keys] + keys + 1, sizeof *s->ids);
    if (s->at == NULL || s->ids == NULL)
        return false;
    for (uint32_t key = 0; key < keys; key++) {
        for (uint32_t i = rows->insert_first[key]; i < rows->insert_first[key + 1]; i++)
            s->at[rows->inserts[i]].rank = i - rows->insert_first[key] + 1;
    }
    return true;
}

static bool list_reads(struct states *s, const uint32_t *seen, struct rig_arena *arena)
{
    const struct rig_history *history = s->history;
    const uint32_t commits = (uint32_t)s->commits->certificate->commits.count;
    s->reads_at = rig_arena_room(arena, (size_t)commits + 1, sizeof *s->reads_at);
    s->more = rig_arena_room(arena, (size_t)history->op_count + 1, sizeof *s->more);
    s->txn_of = rig_arena_room(arena, (size_t)history->op_count + 1, sizeof *s->txn_of);
    if (s->reads_at == NULL || s->more == NULL || s->txn_of == NULL)
        return false;
    for (uint32_t i = 0; i <= commits; i++)
        s->reads_at[i] = NONE;
    for (uint32_t txn = history->txn_count; txn-- > 0;) {
        const uint32_t first = history->txns[txn].first_op, count = rig_txn_op_count(history, txn);
        for (uint32_t op = first; op < first + count; op++) {
            if (seen[op] == RIG_PLACE_NONE || seen[op] > commits)
                continue;
            s->txn_of[op] = txn;
            s->more[op] = s->reads_at[seen[op]];
            s->reads_at[seen[op]] = op;
        }
    }
    RIG_INVARIANT(s->reads_at[commits] == NONE || s->reads_at[commits] < history->op_count);
    return true;
}

/* ---- totals ---- */

static bool is_there(int64_t version)
{
    return version != 0 && rig_row_action(version) != RIG_ROWS_DELETE;
}

/* Adds a row of that version, or takes it away. */
static void count_row(struct states *s, uint32_t key, uint32_t rank, int64_t version, bool adds)
{
    RIG_REQUIRE(is_there(version) && rank > 0);
    const uint32_t base = s->rows->insert_first[key] + key;
    const uint32_t rows = s->rows->insert_first[key + 1] - s->rows->insert_first[key];
    RIG_INVARIANT(rank <= rows && (uint32_t)rig_row_class(version) < s->class_first[key + 1] - s->class_first[key]);
    const struct total by =
        adds ? (struct total){1, (uint64_t)version} : (struct total){-UINT64_C(1), 0 - (uint64_t)version};
    struct total *of_class = &s->of_class[s->class_first[key] + (uint32_t)rig_row_class(version)];
    of_class->count += by.count;
    of_class->sum += by.sum;
    for (uint32_t at = rank; at <= rows; at += at & -at) {
        s->ids[base + at].count += by.count;
        s->ids[base + at].sum += by.sum;
    }
}

/* The rows of the table up to that rank. */
static struct total until(const struct states *s, uint32_t key, uint32_t rank)
{
    RIG_REQUIRE(rank <= s->rows->insert_first[key + 1] - s->rows->insert_first[key]);
    const uint32_t base = s->rows->insert_first[key] + key;
    struct total all = {0};
    for (uint32_t at = rank; at > 0; at &= at - 1) {
        all.count += s->ids[base + at].count;
        all.sum += s->ids[base + at].sum;
    }
    return all;
}

static struct total total_of(const struct states *s, uint32_t key, const struct rig_row_where *condition)
{
    struct total all = {0};
    if (condition->column == RIG_ROW_BY_ID) {
        uint32_t end, begin = rig_rows_asked(s->rows, key, condition, &end);
        const uint32_t first = s->rows->insert_first[key];
        if (begin >= end)
            return all;
        RIG_INVARIANT(begin >= first && end <= s->rows->insert_first[key + 1]);
        const struct total before = until(s, key, begin - first);
        all = until(s, key, end - first);
        all.count -= before.count;
        all.sum -= before.sum;
        return all;
    }
    const uint32_t classes = s->class_first[key + 1] - s->class_first[key];
    for (int64_t class = condition->least; class < classes && class <= condition->most; class ++) {
        all.count += s->of_class[s->class_first[key] + (uint32_t) class].count;
        all.sum += s->of_class[s->class_first[key] + (uint32_t) class].sum;
    }
    return all;
}

/* A change is visible from now on. */
static void take_change(struct states *s, const struct rig_row_change *change)
{
    if (change->row == NONE || s->odd[change->key])
        return;
    struct row *row = &s->at[change->row];
    RIG_INVARIANT(row->rank > 0);
    if (is_there(row->version))
        count_row(s, change->key, row->rank, row->version, false);
    row->version = change->version;
    if (is_there(row->version) && change->statement == NONE)
        s->odd[change->key] = 1;
    else if (is_there(row->version))
        count_row(s, change->key, row->rank, row->version, true);
}

/* ---- reads ---- */

/* Counts the rows that the transaction wrote before as it left them. */
static void take_own(struct states *s, uint32_t txn, uint32_t op, const struct rig_row_where *condition,
                     struct total *total)
{
    const struct rig_row_chains *rows = s->rows;
    const struct rig_txn_op *ops = rig_txn_ops(s->history, txn);
    for (uint32_t i = op; i-- > 0;) {
        if (!rig_row_writes(&ops[i]) || ops[i].key != ops[op].key)
            continue;
        const struct rig_row_write *of = &rows->statements[rig_rows_statement(rows, ops[i].key, ops[i].value)];
        for (uint32_t at = of->first_version; at < of->first_version + of->version_count; at++) {
            const int64_t id = rows->versions[at].id;
            const uint32_t insert = rig_rows_statement(rows, of->key, id);
            if (insert == NONE || s->at[insert].rank == 0 || s->at[insert].own_of == s->reads)
                continue;
            struct row *row = &s->at[insert];
            row->own_of = s->reads;
            row->own = of->number;
            const bool was = is_there(row->version) && rig_row_matches(condition, id, row->version);
            const bool is = rig_row_matches(condition, id, row->own);
            total->count += (uint64_t)is - (uint64_t)was;
            total->sum += (is ? (uint64_t)row->own : 0) - (was ? (uint64_t)row->version : 0);
        }
    }
}

static bool shows_state(struct states *s, uint32_t at)
{
    RIG_REQUIRE(at < s->history->op_count && s->txn_of[at] < s->history->txn_count);
    const uint32_t txn = s->txn_of[at], op = at - s->history->txns[txn].first_op;
    const struct rig_txn_op *ops = rig_txn_ops(s->history, txn);
    const struct rig_row_where condition = rig_row_condition_at(ops, op);
    const struct rig_read_list list = rig_txn_op_list(s->history, &ops[op]);
    RIG_INVARIANT(op < rig_txn_op_count(s->history, txn));
    if (s->odd[ops[op].key] || (condition.column != RIG_ROW_BY_ID && condition.column != RIG_ROW_BY_CLASS))
        return false;
    struct total total = total_of(s, ops[op].key, &condition);
    s->reads++;
    take_own(s, txn, op, &condition, &total);
    if (condition.form != RIG_ROW_LISTED)
        return list.count == 2 && rig_row_total_is(&condition, rig_read_element(&list, 0), rig_read_element(&list, 1),
                                                   total.count, total.sum);
    if (list.count != 2 * total.count)
        return false;
    for (uint32_t i = 0; i + 1 < list.count; i += 2) {
        const int64_t id = rig_read_element(&list, i), version = rig_read_element(&list, i + 1);
        const uint32_t insert = rig_rows_statement(s->rows, ops[op].key, id);
        struct row *row = insert == NONE ? NULL : &s->at[insert];
        if (row == NULL || row->rank == 0 || row->shown_by == s->reads ||
            version != (row->own_of == s->reads ? row->own : row->version) || !rig_row_matches(&condition, id, version))
            return false;
        row->shown_by = s->reads;
    }
    return true;
}

bool rig_row_states_compare(const struct rig_row_commits *commits, const struct rig_visibility *visibility,
                            const uint32_t *seen, struct rig_arena *arena, uint8_t *same)
{
    RIG_REQUIRE(visibility->order != NULL && commits->rows != NULL);
    struct states s = {.commits = commits, .rows = commits->rows, .history = commits->rows->history};
    const uint32_t count = (uint32_t)commits->certificate->commits.count;
    if (!make_classes(&s, arena) || !make_rows(&s, arena) || !list_reads(&s, seen, arena))
        return false;
    for (uint32_t place = 0; place <= count; place++) {
        for (uint32_t at = s.reads_at[place]; at != NONE; at = s.more[at])
            same[at] = shows_state(&s, at);
        const uint32_t commit = place < count ? visibility->order[place] : NONE;
        for (uint32_t i = commit == NONE ? 0 : commits->first[commit]; commit != NONE && i < commits->first[commit + 1];
             i++)
            take_change(&s, &commits->changes[i]);
    }
    return true;
}
