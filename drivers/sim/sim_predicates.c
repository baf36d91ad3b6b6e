#include "drivers/sim/sim_predicates.h"

#include "base/bug.h"
#include "drivers/sim/engine_priv.h"
#include "drivers/sim/sim_constraints.h"

#define NONE UINT32_MAX

enum { STALE_COMMITS = 20 };

/* ---- life ---- */

void rig_sim_predicates_init(struct rig_sim_predicates *predicates)
{
    *predicates = (struct rig_sim_predicates){0};
    rig_table_init(&predicates->by_key);
}

static void table_done(struct rig_sim_stored_table *table)
{
    rig_sim_stored_rows_done(&table->rows);
    rig_sim_stored_versions_done(&table->versions);
    rig_sim_stored_changes_done(&table->changes);
}

void rig_sim_predicates_done(struct rig_sim_predicates *predicates)
{
    for (size_t i = 0; i < predicates->tables.count; i++)
        table_done(&predicates->tables.at[i]);
    rig_sim_stored_tables_done(&predicates->tables);
    rig_sim_numbers_done(&predicates->unused);
    rig_sim_evidence_done(&predicates->evidence);
    rig_table_done(&predicates->by_key);
}

void rig_sim_predicates_forget(struct rig_sim_predicates *predicates, int64_t key)
{
    const uint32_t table = rig_table_get(&predicates->by_key, (uint64_t)key);
    if (table == RIG_TABLE_NONE)
        return;
    table_done(&predicates->tables.at[table]);
    rig_table_remove(&predicates->by_key, (uint64_t)key);
    (void)rig_sim_numbers_add(&predicates->unused, table); /* else its place stays empty */
}

void rig_sim_predicate_work_clear(struct rig_sim_predicate_work *work)
{
    work->number = work->view = 0;
    work->aged = false;
    work->left.count = work->written.count = work->reads.count = work->shown.count = 0;
    rig_sim_seen_views_clear(&work->seen);
}

void rig_sim_predicate_work_done(struct rig_sim_predicate_work *work)
{
    rig_sim_left_rows_done(&work->left);
    rig_sim_changes_done(&work->written);
    rig_sim_wheres_done(&work->reads);
    rig_sim_shown_rows_done(&work->shown);
    rig_sim_seen_views_done(&work->seen);
}

/* The table of the key, which is made when it is new; NONE when memory runs out. */
static uint32_t find_table(struct rig_sim_predicates *predicates, int64_t key)
{
    uint32_t *at = rig_table_put(&predicates->by_key, (uint64_t)key);
    if (at == NULL || *at != RIG_TABLE_NONE)
        return at == NULL ? NONE : *at;
    if (predicates->unused.count > 0) {
        *at = (uint32_t)predicates->unused.at[--predicates->unused.count];
    } else if (rig_sim_stored_tables_add(&predicates->tables, (struct rig_sim_stored_table){0})) {
        *at = (uint32_t)predicates->tables.count - 1;
    } else {
        rig_table_remove(&predicates->by_key, (uint64_t)key);
        return NONE;
    }
    return *at;
}

static bool uses_snapshots(const struct rig_sim_engine *engine)
{
    return engine->options.isolation != RIG_SIM_READ_COMMITTED && engine->options.isolation != RIG_SIM_READ_UNCOMMITTED;
}

static bool validates(const struct rig_sim_engine *engine)
{
    return engine->options.isolation == RIG_SIM_SERIALIZABLE || engine->options.isolation == RIG_SIM_REPEATABLE_READ;
}

/* ---- rows ---- */

static struct rig_sim_left_row *find_left(struct rig_sim_predicate_work *work, uint32_t table, uint32_t row)
{
    for (size_t i = 0; i < work->left.count; i++) {
        if (work->left.at[i].table == table && work->left.at[i].row == row)
            return &work->left.at[i];
    }
    return NULL;
}

/* ---- statements ---- */

struct statement {
    struct rig_sim_engine *engine;
    struct rig_sim_session *session;
    struct rig_sim_predicate_work *work;
    uint32_t op, table;
    uint64_t commit;    /* the last one that it sees */
    uint64_t claimed;   /* the last one that it should see: the same, without a bug */
    uint64_t tested_at; /* the last one by which it tests its condition: the same, without a bug */
    struct rig_row_where condition;
    int64_t number;               /* of the update or delete that it is; 0: it reads */
    size_t first;                 /* its result, in work->shown */
    bool follows;                 /* no snapshot says what it saw */
    struct rig_row_clause clause; /* of its further read, at `further` */
    uint32_t further;
    uint32_t taken;                   /* bits of codes: the values of partners, with NOT EXISTS and in an inner join */
    uint32_t limit;                   /* the number of rows that it shows at most; 0: it has none */
    struct rig_row_subqueries source; /* of its subqueries */
};

static bool number_work(struct statement *s)
{
    if (s->work->number == 0)
        s->work->number = rig_sim_evidence_enter(&s->engine->predicates.evidence);
    return s->work->number != 0;
}

static bool note_write(struct statement *s, int64_t id, int64_t number)
{
    return rig_sim_changes_add(&s->work->written, (struct rig_sim_change){s->session->ops[s->op].key, id, number});
}

static bool view_row(struct statement *s, uint32_t op, uint64_t writer, bool shown)
{
    return !s->engine->predicates.evidence.full || rig_sim_evidence_row(&s->work->seen, op, writer, shown);
}

/* A row as the statement sees it. */
struct seen_row {
    uint32_t row, base; /* of the table, NONE: its transaction inserted it; its version there */
    int64_t id, number;
    uint32_t contents;
    uint64_t writer;
    struct rig_sim_left_row *left; /* the transaction's own state of the row, or NULL */
};

/* The row meets the condition: shows it, and writes it where the statement does. */
static bool take_row(struct statement *s, const struct seen_row *seen)
{
    const int64_t id = seen->id, number = seen->number;
    const uint64_t writer = seen->writer;
    struct rig_sim_left_row *left = seen->left;
    const bool removes = s->number != 0 && rig_row_action(s->number) == RIG_ROWS_DELETE;
    const bool partner = (s->taken >> rig_row_column_code(seen->contents, s->clause.column) & 1) != 0;
    if ((s->clause.kind == RIG_ROW_ABSENT && partner) || (s->clause.kind == RIG_ROW_PAIRS && !partner))
        return true;
    if (!rig_sim_shown_rows_add(&s->work->shown, id) || !rig_sim_shown_rows_add(&s->work->shown, number))
        return false;
    if (s->condition.form == RIG_ROW_LISTED && (s->number == 0 || removes) && !view_row(s, s->op, writer, !s->follows))
        return false;
    if (s->number == 0)
        return true;
    const int64_t after = removes ? 0 : s->number;
    if (!number_work(s) || !note_write(s, id, after))
        return false;
    const uint32_t contents = rig_row_contents_from(s->number, seen->contents, &s->source);
    if (left != NULL) {
        left->number = after;
        left->contents = contents;
        return true;
    }
    return rig_sim_left_rows_add(&s->work->left,
                                 (struct rig_sim_left_row){s->table, seen->row, seen->base, id, after, contents});
}

/* Whether the statement looks the row up by an index that lost its version: that of its first test. */
static bool is_lost(const struct statement *s, const struct rig_sim_stored_version *version)
{
    if (version->lost == 0 || s->condition.column != RIG_ROW_BY_TESTS)
        return false;
    const struct rig_row_testings *tests = &s->condition.tests;
    return tests->count > 0 && tests->at[0].column + UINT32_C(1) == version->lost;
}

/* Whether the row meets the condition, at the version that the statement looks at. */
static bool finds(const struct statement *s, const struct rig_sim_stored_table *table, uint32_t row, uint32_t version)
{
    const uint32_t looked = s->tested_at == s->commit ? version : rig_sim_version_at(table, row, s->tested_at);
    const struct rig_sim_stored_version *at = looked == NONE ? NULL : &table->versions.at[looked];
    return at != NULL && at->number != 0 && !is_lost(s, at) &&
           rig_row_meets(&s->condition, table->rows.at[row].id, at->number, at->contents);
}

static bool take_rows(struct statement *s)
{
    const struct rig_sim_stored_table *table = &s->engine->predicates.tables.at[s->table];
    const size_t own = s->work->left.count;
    for (uint32_t row = 0; row < table->rows.count; row++) {
        struct rig_sim_left_row *left = own == 0 ? NULL : find_left(s->work, s->table, row);
        const uint32_t version = rig_sim_version_at(table, row, s->commit);
        const struct rig_sim_stored_version *at = version == NONE ? NULL : &table->versions.at[version];
        const struct seen_row seen = {.row = row,
                                      .base = version,
                                      .id = table->rows.at[row].id,
                                      .number = left != NULL ? left->number
                                                : at == NULL ? 0
                                                             : at->number,
                                      .contents = left != NULL ? left->contents
                                                  : at == NULL ? 0
                                                               : at->contents,
                                      .writer = left != NULL ? s->work->number
                                                : at == NULL ? 0
                                                             : at->writer,
                                      .left = left};
        const bool found = left != NULL ? rig_row_meets(&s->condition, seen.id, seen.number, seen.contents)
                                        : finds(s, table, row, version);
        if (seen.number != 0 && found && !take_row(s, &seen))
            return false;
    }
    for (size_t i = 0; i < own; i++) {
        struct rig_sim_left_row *left = &s->work->left.at[i];
        const struct seen_row seen = {NONE, NONE, left->id, left->number, left->contents, s->work->number, left};
        if (left->table == s->table && left->row == NONE && left->number != 0 &&
            rig_row_meets(&s->condition, left->id, left->number, left->contents) && !take_row(s, &seen))
            return false;
    }
    return true;
}

/* A bug takes a row off the result of a read. */
static void lose_row(struct statement *s)
{
    if (s->number != 0 || s->work->shown.count == s->first || !rig_sim_bug_strikes(s->engine, RIG_SIM_BUG_LOST_ROW))
        return;
    s->work->shown.count -= 2;
    if (s->condition.form == RIG_ROW_LISTED && s->work->seen.rows.count > 0)
        s->work->seen.rows.count--;
}

static void count_rows(struct statement *s)
{
    uint64_t sum = 0;
    const size_t count = s->work->shown.count - s->first;
    for (size_t i = s->first + 1; i < s->work->shown.count; i += 2)
        sum += (uint64_t)s->work->shown.at[i];
    s->work->shown.count = s->first;
    s->work->shown.at[s->work->shown.count++] = s->condition.form == RIG_ROW_COUNTED ? (int64_t)(count / 2) : 0;
    s->work->shown.at[s->work->shown.count++] = (int64_t)sum;
}

/* The snapshot of a statement, where it has one of its own. */
static bool show(struct statement *s)
{
    const struct rig_sim_evidence *evidence = &s->engine->predicates.evidence;
    struct rig_sim_seen_views *seen = &s->work->seen;
    const bool single = uses_snapshots(s->engine);
    const uint64_t commit = single ? s->session->snapshot.last[0] : s->commit;
    if (!evidence->full || s->follows || (single && seen->snapshots.count > 0))
        return true;
    return rig_sim_evidence_show(evidence, commit, s->work->number, seen);
}

static bool view_rest(struct statement *s, size_t rows_before)
{
    const bool wrote =
        s->number != 0 && rig_row_action(s->number) == RIG_ROWS_UPDATE && s->work->shown.count > s->first;
    if (s->work->seen.rows.count == rows_before && !view_row(s, s->op, 0, !s->follows))
        return false;
    return !wrote || view_row(s, s->op + 1, s->work->number, uses_snapshots(s->engine));
}

/* ---- further reads ---- */

static bool is_condition(const struct rig_op *op)
{
    return op->kind == RIG_OP_ROW && op->value < 0;
}

/* The clause of the read at `op`. */
static struct rig_row_clause clause_before(const struct rig_op *ops, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    if (op >= 2 && is_condition(&ops[op - 1]) && is_condition(&ops[op - 2]))
        (void)rig_row_clause_of(ops[op - 2].value, &clause);
    return clause;
}

static void find_further(struct statement *s)
{
    const struct rig_op *ops = s->session->ops;
    uint32_t first = s->op;
    while (first > 0 && is_condition(&ops[first - 1]))
        first--;
    if (first == 0 || ops[first - 1].kind != RIG_OP_READ_WHERE || rig_row_is_further(clause_before(ops, s->op).kind))
        return;
    const struct rig_row_clause clause = clause_before(ops, first - 1);
    s->further = first - 1;
    s->clause = rig_row_is_further(clause.kind) ? clause : s->clause;
}

static void find_condition(struct statement *s)
{
    const struct rig_op *ops = s->session->ops;
    s->condition = rig_row_all();
    if (s->op > 0 && ops[s->op - 1].kind == RIG_OP_ROW && ops[s->op - 1].key == ops[s->op].key)
        (void)rig_row_condition_of(ops[s->op - 1].value, &s->condition);
}

/* The values of the statement's subqueries over the rows of the read at `op`. */
static void take_source(struct statement *s, uint32_t op)
{
    const struct rig_read *result = &s->session->work->results.at[op];
    for (uint32_t i = 1; i < result->count; i += 2)
        rig_row_source_add(&s->source, s->work->shown.at[result->first_element + i]);
}

static bool run_selection(struct statement *s);

/* A bug runs subqueries and joined tables on the state before the last commits. */
static uint64_t further_commit(const struct statement *s)
{
    const bool stale = rig_sim_bug_strikes(s->engine, RIG_SIM_BUG_STALE_SUBQUERY);
    return stale && s->commit > STALE_COMMITS ? s->commit - STALE_COMMITS : s->commit;
}

/* The further read of a join, or of NOT EXISTS: a read of its own. */
static struct statement further_of(const struct statement *s)
{
    struct statement further = {.engine = s->engine,
                                .session = s->session,
                                .work = s->work,
                                .op = s->further,
                                .commit = further_commit(s),
                                .claimed = s->commit};
    further.table = find_table(&s->engine->predicates, s->session->ops[s->further].key);
    further.tested_at = further.commit;
    find_condition(&further);
    return further;
}

/* The contents of a row of the read, at the version that it shows. */
static uint32_t contents_shown(const struct statement *s, int64_t id, int64_t number)
{
    const struct rig_sim_stored_table *table = &s->engine->predicates.tables.at[s->table];
    for (size_t i = 0; i < s->work->left.count; i++) {
        const struct rig_sim_left_row *left = &s->work->left.at[i];
        if (left->table == s->table && left->id == id && left->number == number)
            return left->contents;
    }
    for (uint32_t row = 0; row < table->rows.count; row++) {
        uint32_t version = table->rows.at[row].id == id ? table->rows.at[row].newest : NONE;
        for (; version != NONE; version = table->versions.at[version].older) {
            if (table->versions.at[version].number == number)
                return table->versions.at[version].contents;
        }
    }
    return RIG_ROW_CONTENTS_UNKNOWN;
}

/* The condition of the further read: partners of the rows that the own read shows, `count` elements from `first` on. */
static struct rig_row_where joined_condition(const struct statement *s, const struct statement *further, uint64_t first,
                                             uint32_t count)
{
    struct rig_row_where condition = further->condition;
    condition.is_joined = true;
    condition.joined_column = s->clause.partner;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        const uint32_t contents = contents_shown(s, s->work->shown.at[first + i], s->work->shown.at[first + i + 1]);
        if (contents != RIG_ROW_CONTENTS_UNKNOWN)
            condition.joined_values |= UINT32_C(1) << rig_row_column_code(contents, s->clause.column);
    }
    return condition;
}

static bool read_partners(struct statement *s, uint64_t first, uint32_t count)
{
    struct statement further = further_of(s);
    if (further.table == NONE)
        return false;
    further.condition = joined_condition(s, &further, first, count);
    return run_selection(&further);
}

/* An inner join: a row of the other table that changes may become a partner of one that is not shown. */
static bool note_partners(struct statement *s)
{
    const struct statement further = further_of(s);
    return further.table != NONE &&
           (!validates(s->engine) ||
            rig_sim_wheres_add(&s->work->reads,
                               (struct rig_sim_where){further.table, further.claimed, further.condition}));
}

/* NOT EXISTS is a read that shows none: a partner that appears later changes it. */
static bool read_absence(struct statement *s, uint64_t first, uint32_t count)
{
    struct statement further = further_of(s);
    const struct rig_sim_where where = {further.table, further.claimed, joined_condition(s, &further, first, count)};
    return further.table != NONE && (!validates(s->engine) || rig_sim_wheres_add(&s->work->reads, where));
}

/* The values that rows of the other table have: the statement's own rows with one of them are not shown. */
static bool find_taken(struct statement *s)
{
    const struct statement further = further_of(s);
    if (further.table == NONE)
        return false;
    const struct rig_sim_stored_table *table = &s->engine->predicates.tables.at[further.table];
    for (uint32_t row = 0; row < table->rows.count; row++) {
        const uint32_t version = rig_sim_version_at(table, row, further.commit);
        if (find_left(s->work, further.table, row) == NULL && version != NONE && finds(&further, table, row, version))
            s->taken |= UINT32_C(1) << rig_row_column_code(table->versions.at[version].contents, s->clause.partner);
    }
    for (size_t i = 0; i < s->work->left.count; i++) {
        const struct rig_sim_left_row *left = &s->work->left.at[i];
        if (left->table == further.table && left->number != 0 &&
            rig_row_meets(&further.condition, left->id, left->number, left->contents))
            s->taken |= UINT32_C(1) << rig_row_column_code(left->contents, s->clause.partner);
    }
    s->taken &= ~(UINT32_C(1) << RIG_ROW_NULL);
    return true;
}

/* ---- limits ---- */

/* The code by which the row is ordered. */
static uint32_t order_of(const struct statement *s, const int64_t *shown)
{
    return rig_row_column_code(contents_shown(s, shown[0], shown[1]), s->condition.ordered_column);
}

/* Whether another transaction has changed the row since the version that is shown. */
static bool is_changed(const struct statement *s, const int64_t *shown)
{
    const struct rig_sim_stored_table *table = &s->engine->predicates.tables.at[s->table];
    for (uint32_t row = 0; row < table->rows.count; row++) {
        if (table->rows.at[row].id == shown[0])
            return find_left(s->work, s->table, row) == NULL &&
                   table->versions.at[table->rows.at[row].newest].commit > s->commit;
    }
    return false;
}

/* Leaves the first rows by their order; a bug leaves out those of them that changed. */
static void limit_rows(struct statement *s)
{
    int64_t *shown = &s->work->shown.at[s->first];
    const size_t count = (s->work->shown.count - s->first) / 2;
    const bool wrong = s->limit > 0 && rig_sim_bug_strikes(s->engine, RIG_SIM_BUG_WRONG_LIMIT);
    size_t kept = 0;
    if (s->limit == 0)
        return;
    for (size_t i = 0; i < count && i < s->limit; i++) {
        size_t least = i;
        for (size_t at = i + 1; at < count; at++) {
            const uint32_t a = order_of(s, &shown[2 * at]), b = order_of(s, &shown[2 * least]);
            least = a < b || (a == b && shown[2 * at] < shown[2 * least]) ? at : least;
        }
        const int64_t row[] = {shown[2 * least], shown[2 * least + 1]};
        shown[2 * least] = shown[2 * i];
        shown[2 * least + 1] = shown[2 * i + 1];
        shown[2 * i] = row[0];
        shown[2 * i + 1] = row[1];
    }
    for (size_t i = 0; i < count && i < s->limit; i++) {
        if (wrong && is_changed(s, &shown[2 * i]))
            continue;
        shown[2 * kept] = shown[2 * i];
        shown[2 * kept++ + 1] = shown[2 * i + 1];
    }
    s->work->shown.count = s->first + 2 * kept;
}

/* ---- reads ---- */

/* A read by the condition, which may write. */
static bool run_selection(struct statement *s)
{
    s->first = s->work->shown.count;
    const size_t rows_before = s->work->seen.rows.count;
    RIG_REQUIRE(s->limit == 0 || !s->engine->predicates.evidence.full);
    if (validates(s->engine) &&
        !rig_sim_wheres_add(&s->work->reads, (struct rig_sim_where){s->table, s->claimed, s->condition}))
        return false;
    if (!show(s) || !rig_sim_shown_rows_reserve(&s->work->shown, s->first + 2) || !take_rows(s))
        return false;
    limit_rows(s);
    lose_row(s);
    if (s->condition.form != RIG_ROW_LISTED)
        count_rows(s);
    struct rig_read *result = &s->session->work->results.at[s->op];
    result->count = (uint32_t)(s->work->shown.count - s->first);
    result->state = result->count == 0 ? RIG_READ_NIL : RIG_READ_SEEN;
    result->first_element = s->first;
    return view_rest(s, rows_before);
}

static bool run_insert(struct statement *s)
{
    const int64_t id = s->session->ops[s->op].value;
    if (rig_row_has_source(id))
        take_source(s, s->op - 1);
    return (!uses_snapshots(s->engine) || show(s)) && number_work(s) && note_write(s, id, id) &&
           rig_sim_left_rows_add(&s->work->left, (struct rig_sim_left_row){s->table, NONE, NONE, id, id,
                                                                           rig_row_contents_from(id, 0, &s->source)}) &&
           view_row(s, s->op, s->work->number, uses_snapshots(s->engine));
}

static bool run_read(struct statement *s)
{
    const struct rig_op *ops = s->session->ops;
    const struct rig_row_clause clause = clause_before(ops, s->op);
    const enum rig_row_clause_kind kind = clause.kind;
    if (rig_row_is_further(kind) && kind != RIG_ROW_SOURCE)
        return true; /* with the statement's own read */
    find_condition(s);
    s->limit = kind == RIG_ROW_LIMIT ? clause.partner : 0;
    s->condition.is_ordered = kind == RIG_ROW_LIMIT;
    s->condition.ordered_column = clause.column;
    if (kind == RIG_ROW_UPSERT && s->op >= 3) {
        s->condition.is_joined = true;
        s->condition.joined_column = RIG_ROW_UNIQUE;
        s->condition.joined_values =
            UINT32_C(1) << rig_row_column_code((uint32_t)rig_row_payload(ops[s->op - 3].value), RIG_ROW_UNIQUE);
    }
    find_further(s);
    const struct rig_op *behind = s->op + 1 < s->session->op_count ? &ops[s->op + 1] : NULL;
    if (behind != NULL && behind->kind == RIG_OP_ROW && behind->key == ops[s->op].key && behind->value > 0 &&
        !rig_row_inserts(behind->value))
        s->number = behind->value;
    s->follows = s->number != 0 && !uses_snapshots(s->engine);
    if (kind == RIG_ROW_SOURCE || (behind != NULL && behind->kind == RIG_OP_ROW && rig_row_has_source(behind->value)))
        s->commit = s->number == 0 ? further_commit(s) : s->commit;
    s->tested_at = s->number != 0 && rig_sim_bug_strikes(s->engine, RIG_SIM_BUG_SKIPPED_RECHECK)
                       ? s->session->snapshot.last[0]
                       : s->commit;
    if (s->clause.kind == RIG_ROW_SOURCE)
        take_source(s, s->further);
    const bool asks_partners = s->clause.kind == RIG_ROW_ABSENT || s->clause.kind == RIG_ROW_PAIRS;
    if ((asks_partners && !find_taken(s)) || !run_selection(s))
        return false;
    const struct rig_read result = s->session->work->results.at[s->op];
    if (s->clause.kind == RIG_ROW_SOURCE && result.count == 0) /* then the subquery is not run */
        s->session->work->results.at[s->further] = (struct rig_read){.state = RIG_READ_NIL};
    if (s->clause.kind == RIG_ROW_ABSENT) {
        s->session->work->results.at[s->further] = (struct rig_read){.state = RIG_READ_NIL};
        return read_absence(s, result.first_element, result.count);
    }
    if (s->clause.kind == RIG_ROW_PAIRS)
        return note_partners(s) && read_partners(s, result.first_element, result.count);
    if (kind == RIG_ROW_UPSERT && result.count == 0) {
        struct statement insert = *s;
        insert.op = s->op - 3;
        insert.number = 0;
        return run_insert(&insert);
    }
    return s->clause.kind != RIG_ROW_PARTNERS || read_partners(s, result.first_element, result.count);
}

/* The kind of the clause that the operation is. */
static enum rig_row_clause_kind clause_at(const struct rig_sim_session *session, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    if (op < session->op_count && session->ops[op].kind == RIG_OP_ROW)
        (void)rig_row_clause_of(session->ops[op].value, &clause);
    return clause.kind;
}

enum rig_sim_progress rig_sim_run_row_operation(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    const struct rig_op *op = &session->ops[session->next_op];
    const bool inserts = op->kind == RIG_OP_ROW && op->value > 0 && rig_row_inserts(op->value);
    struct statement s = {
        .engine = engine, .session = session, .work = &session->work->predicate, .op = session->next_op};
    if (inserts && clause_at(session, session->next_op + 1) == RIG_ROW_UPSERT)
        return RIG_SIM_WENT_ON; /* with the read behind it */
    if (!inserts && op->kind != RIG_OP_READ_WHERE)
        return RIG_SIM_WENT_ON; /* a part of the read behind it or before it */
    const bool moves = !uses_snapshots(engine) || rig_sim_bug_strikes(engine, RIG_SIM_BUG_MOVING_SNAPSHOT);
    s.commit = s.claimed = moves ? engine->commit : session->snapshot.last[0];
    s.table = find_table(&engine->predicates, op->key);
    return s.table != NONE && (inserts ? run_insert(&s) : run_read(&s)) ? RIG_SIM_WENT_ON : RIG_SIM_NO_MEMORY;
}

/* ---- commits ---- */

static bool has_conflict(const struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work)
{
    for (size_t i = 0; i < work->left.count; i++) {
        const struct rig_sim_left_row *left = &work->left.at[i];
        if (left->row != NONE && engine->predicates.tables.at[left->table].rows.at[left->row].newest != left->base)
            return true;
    }
    return false;
}

/* Whether the row meets the read's condition at the version; not where there is none. */
static bool met_at(const struct rig_sim_stored_table *table, const struct rig_sim_where *read, uint32_t row,
                   uint32_t version)
{
    const struct rig_sim_stored_version *at = version == NONE ? NULL : &table->versions.at[version];
    return at != NULL && at->number != 0 &&
           rig_row_meets(&read->condition, table->rows.at[row].id, at->number, at->contents);
}

/* Whether a change since the read, of the table's `change`, changes its result; or a row of it, where rows may appear.
 * */
static bool changes_result(const struct rig_sim_stored_table *table, const struct rig_sim_where *read,
                           const struct rig_sim_stored_change *change, bool may_appear)
{
    const uint32_t before =
        may_appear ? rig_sim_version_at(table, change->row, read->commit) : table->versions.at[change->version].older;
    const bool was = met_at(table, read, change->row, before);
    const bool is = met_at(table, read, change->row, change->version);
    return was || (is && !may_appear);
}

static bool reads_hold(const struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work)
{
    const bool may_appear = engine->options.isolation == RIG_SIM_REPEATABLE_READ;
    for (size_t i = 0; i < work->reads.count; i++) {
        const struct rig_sim_where *read = &work->reads.at[i];
        const struct rig_sim_stored_table *table = &engine->predicates.tables.at[read->table];
        for (size_t at = table->changes.count; at-- > 0 && table->changes.at[at].commit > read->commit;) {
            if (changes_result(table, read, &table->changes.at[at], may_appear))
                return false;
        }
    }
    return true;
}

/* Memory for everything that the commit installs. */
static bool reserve(struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work)
{
    for (size_t i = 0; i < work->left.count; i++) {
        struct rig_sim_stored_table *table = &engine->predicates.tables.at[work->left.at[i].table];
        if (!rig_sim_stored_rows_reserve(&table->rows, table->rows.count + work->left.count) ||
            !rig_sim_stored_versions_reserve(&table->versions, table->versions.count + work->left.count) ||
            !rig_sim_stored_changes_reserve(&table->changes, table->changes.count + work->left.count))
            return false;
    }
    return true;
}

/* A bug leaves the version out of the index of a column. */
static uint32_t lose_entry(struct rig_sim_engine *engine, int64_t number)
{
    if (number == 0 || !rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_INDEX_ENTRY))
        return 0;
    return 1 + (uint32_t)(rig_row_serial(number) >> RIG_ROW_PAYLOAD_BITS) % RIG_ROW_VALUE_COLUMNS;
}

/* False when memory runs out: nothing is changed then. */
static bool install(struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work)
{
    struct rig_sim_evidence *evidence = &engine->predicates.evidence;
    if (work->written.count == 0)
        return true;
    if (!reserve(engine, work) || (evidence->keeps && !rig_sim_evidence_log(evidence, work->number, &work->written)))
        return false;
    engine->commit++;
    for (size_t i = 0; i < work->left.count; i++) {
        const struct rig_sim_left_row *left = &work->left.at[i];
        struct rig_sim_stored_table *table = &engine->predicates.tables.at[left->table];
        uint32_t row = left->row;
        if (row == NONE && left->number == 0)
            continue; /* inserted and removed */
        if (row == NONE) {
            row = (uint32_t)table->rows.count;
            table->rows.at[table->rows.count++] = (struct rig_sim_stored_row){.id = left->id, .newest = NONE};
        }
        table->versions.at[table->versions.count] =
            (struct rig_sim_stored_version){.number = left->number,
                                            .commit = engine->commit,
                                            .writer = work->number,
                                            .older = table->rows.at[row].newest,
                                            .contents = left->contents,
                                            .lost = lose_entry(engine, left->number)};
        table->rows.at[row].newest = (uint32_t)table->versions.count++;
        table->changes.at[table->changes.count++] =
            (struct rig_sim_stored_change){.commit = engine->commit, .row = row, .version = table->rows.at[row].newest};
    }
    return true;
}

static void leave(struct rig_sim_engine *engine, struct rig_sim_predicate_work *work)
{
    if (work->number != 0)
        rig_sim_evidence_leave(&engine->predicates.evidence, work->number);
}

enum rig_sim_progress rig_sim_commit_rows(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    struct rig_sim_predicate_work *work = &session->work->predicate;
    const bool blind = work->left.count > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_UPDATE);
    if (!blind && has_conflict(engine, work))
        return RIG_SIM_CONFLICT;
    const bool unchecked = blind || (work->aged && work->left.count == 0);
    if (validates(engine) && !unchecked && !reads_hold(engine, work) &&
        !rig_sim_bug_strikes(engine, RIG_SIM_BUG_MISSED_PIVOT))
        return RIG_SIM_PIVOT;
    if (!rig_sim_keeps_constraints(engine, work, session->snapshot.last[0]))
        return RIG_SIM_CONSTRAINT;
    if (!rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_COMMIT) && !install(engine, work))
        return RIG_SIM_NO_MEMORY;
    leave(engine, work);
    return RIG_SIM_COMMITTED;
}

void rig_sim_roll_back_rows(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (session->work == NULL)
        return; /* it has not begun */
    struct rig_sim_predicate_work *work = &session->work->predicate;
    if (work->left.count > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_ABORTED_COMMIT))
        (void)install(engine, work);
    leave(engine, work);
}

bool rig_sim_view_rows_of(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    struct rig_sim_predicate_work *work = &session->work->predicate;
    bool failed = false;
    work->view =
        rig_sim_evidence_view(&engine->predicates.evidence, work->number, uses_snapshots(engine), &work->seen, &failed);
    return !failed;
}
