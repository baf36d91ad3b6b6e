#include "checker/infer/row_reads.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bug.h"
#include "base/table.h"
#include "checker/infer/row_inference.h"
#include "checker/model/orders.h"

struct finding {
    struct rig_row_reads *out;
    const struct rig_history *history;
    const struct rig_row_chains *rows;
    const struct rig_read_places *places;
    uint32_t *row_of;   /* per statement that inserts: its row */
    uint32_t *shown_by; /* per row: one more than the number of the read that shows it */
    uint32_t read;      /* number */
};

void rig_row_reads_done(struct rig_row_reads *reads)
{
    rig_row_numbers_done(&reads->first);
    rig_row_numbers_done(&reads->finals);
    rig_row_read_list_done(&reads->reads);
    rig_row_flags_done(&reads->possible);
    rig_row_sum_list_done(&reads->sums);
}

/* ---- states ---- */

static bool is_final(const struct rig_row_chains *rows, uint32_t version)
{
    const uint32_t next = rows->versions[version].next;
    return next == RIG_ROW_NONE || rig_rows_writer(rows, next) != rig_rows_writer(rows, version);
}

static bool list_states(struct finding *f)
{
    const struct rig_row_chains *rows = f->rows;
    struct rig_row_reads *out = f->out;
    const uint32_t count = rows->insert_first[f->history->key_count];
    bool ok = true;
    for (uint32_t row = 0; ok && row < count; row++) {
        const struct rig_row_write *insert = &rows->statements[rows->inserts[row]];
        f->row_of[rows->inserts[row]] = row;
        ok = rig_row_numbers_add(&out->first, (uint32_t)out->finals.count);
        const uint32_t first = insert->is_whole ? insert->first_version : RIG_ROW_NONE;
        for (uint32_t at = first; ok && at != RIG_ROW_NONE; at = rows->versions[at].next)
            ok = !is_final(rows, at) || rig_row_numbers_add(&out->finals, at);
    }
    return ok && rig_row_numbers_add(&out->first, (uint32_t)out->finals.count);
}

static uint32_t state_count(const struct rig_row_reads *reads, uint32_t row)
{
    return reads->first.at[row + 1] - reads->first.at[row];
}

/* The states of the row before the one that the transaction made. */
static uint32_t states_before(const struct finding *f, uint32_t row, uint32_t txn)
{
    uint32_t states = 0;
    while (states < state_count(f->out, row) &&
           rig_rows_writer(f->rows, rig_row_state_version(f->out, row, states + 1)) != txn)
        states++;
    return states;
}

/* ---- choices ---- */

/* The last possible state whose commit the guess counts among those that the read saw. */
static uint32_t guessed_state(const struct finding *f, const struct rig_row_read *read)
{
    const uint32_t seen = f->places->seen[f->history->txns[read->txn].first_op + read->op];
    uint32_t chosen = RIG_ROW_NONE;
    for (uint32_t state = 0; state <= read->states; state++) {
        const bool is_seen =
            state == 0 ||
            (seen != RIG_PLACE_NONE &&
             f->places->of_txn[rig_rows_writer(f->rows, rig_row_state_version(f->out, read->row, state))] < seen);
        if (f->out->possible.at[read->possible + state] != 0 && (is_seen || chosen == RIG_ROW_NONE))
            chosen = state;
    }
    return chosen;
}

/* `any`: the read may have seen each state; else those that do not meet the condition. */
static bool add_choice(struct finding *f, uint32_t txn, uint32_t op, uint32_t row,
                       const struct rig_row_where *condition, bool any)
{
    struct rig_row_reads *out = f->out;
    struct rig_row_read read = {.txn = txn,
                                .op = op,
                                .row = row,
                                .states = states_before(f, row, txn),
                                .possible = (uint32_t)out->possible.count};
    uint32_t met = 0;
    bool ok = rig_row_flags_add(&out->possible, 1);
    for (uint32_t state = 1; ok && state <= read.states; state++) {
        const bool meets = rig_rows_meets(f->rows, condition, rig_row_state_version(out, row, state));
        met += meets;
        ok = rig_row_flags_add(&out->possible, any || !meets);
    }
    if (!ok || met == 0 || (!any && met == read.states)) {
        out->possible.count = read.possible;
        read.possible = RIG_ROW_NONE;
        return ok && (met == 0 || rig_row_read_list_add(&out->reads, read));
    }
    read.state = guessed_state(f, &read);
    return rig_row_read_list_add(&out->reads, read);
}

/* ---- reads ---- */

/* A row that the read shows, at a version of another transaction. */
static bool add_shown(struct finding *f, uint32_t txn, uint32_t op, int64_t id, int64_t number)
{
    const uint32_t key = rig_txn_ops(f->history, txn)[op].key;
    const uint32_t insert = rig_rows_statement(f->rows, key, id), by = rig_rows_statement(f->rows, key, number);
    const uint32_t version = by == RIG_ROW_NONE ? RIG_ROW_NONE : rig_rows_version(f->rows, by, id);
    const uint32_t row = insert == RIG_ROW_NONE ? RIG_ROW_NONE : f->row_of[insert];
    if (row != RIG_ROW_NONE)
        f->shown_by[row] = f->read;
    if (by != RIG_ROW_NONE && f->rows->statements[by].txn == txn)
        return true;
    for (uint32_t state = 1; version != RIG_ROW_NONE && row != RIG_ROW_NONE && state <= state_count(f->out, row);
         state++) {
        if (rig_row_state_version(f->out, row, state) == version)
            return rig_row_read_list_add(
                &f->out->reads,
                (struct rig_row_read){
                    .txn = txn, .op = op, .row = row, .state = state, .states = state, .possible = RIG_ROW_NONE});
    }
    f->out->is_complete = false;
    return true;
}

/* Whether the row may have been in the table and its states are known; those of others make the question incomplete. */
static bool has_states(struct finding *f, uint32_t row, const struct rig_row_where *condition)
{
    const struct rig_row_write *insert = &f->rows->statements[f->rows->inserts[row]];
    if (f->history->txns[insert->txn].outcome == RIG_OUTCOME_FAIL ||
        (!f->rows->committed[insert->txn] && f->history->txns[insert->txn].outcome == RIG_OUTCOME_INFO))
        return false; /* it never was, or one may take it so */
    if (insert->is_whole && rig_rows_tell_contents(f->rows, insert, condition))
        return true;
    f->out->is_complete = false;
    return false;
}

static int compare_reads(const void *left, const void *right)
{
    const struct rig_row_read *a = left, *b = right;
    return (a->row > b->row) - (a->row < b->row);
}

static bool add_listed(struct finding *f, uint32_t txn, uint32_t op, const struct rig_row_where *condition)
{
    const struct rig_txn_op *read = rig_txn_ops(f->history, txn) + op;
    const struct rig_read_list list = rig_txn_op_list(f->history, read);
    const size_t first = f->out->reads.count;
    bool ok = true;
    f->read++;
    for (uint32_t at = 0; ok && condition->form == RIG_ROW_LISTED && at + 1 < list.count; at += 2)
        ok = add_shown(f, txn, op, rig_read_element(&list, at), rig_read_element(&list, at + 1));
    uint32_t end, row = rig_rows_asked(f->rows, read->key, condition, &end);
    for (; ok && row < end; row++) {
        const int64_t id = f->rows->statements[f->rows->inserts[row]].number;
        if (f->shown_by[row] != f->read && has_states(f, row, condition) &&
            rig_row_own_version(f->rows, txn, op, id, NULL) == RIG_ROW_NONE)
            ok = add_choice(f, txn, op, row, condition, false);
    }
    if (f->out->reads.count > first + 1)
        qsort(f->out->reads.at + first, f->out->reads.count - first, sizeof f->out->reads.at[0], compare_reads);
    return ok;
}

static bool add_total(struct finding *f, uint32_t txn, uint32_t op, const struct rig_row_where *condition)
{
    struct rig_row_sum sum = {.txn = txn, .op = op, .first = f->out->reads.count};
    uint32_t end, row = rig_rows_asked(f->rows, rig_txn_ops(f->history, txn)[op].key, condition, &end);
    bool ok = true, known = true;
    for (; ok && known && row < end; row++) {
        const int64_t id = f->rows->statements[f->rows->inserts[row]].number;
        const uint32_t own = rig_row_own_version(f->rows, txn, op, id, NULL);
        const bool was_complete = f->out->is_complete;
        f->out->is_complete = true;
        if (own != RIG_ROW_NONE && rig_rows_meets(f->rows, condition, own)) {
            sum.count++;
            sum.sum += (uint64_t)rig_rows_number(f->rows, own);
        }
        if (own == RIG_ROW_NONE && has_states(f, row, condition))
            ok = add_choice(f, txn, op, row, condition, true);
        known = f->out->is_complete;
        f->out->is_complete = was_complete && known;
    }
    sum.end = f->out->reads.count;
    if (!known)
        f->out->reads.count = sum.first; /* it says nothing */
    return ok && (!known || rig_row_sum_list_add(&f->out->sums, sum));
}

/* Whether a row that the read does not show may have been left out for another reason than its condition. */
static bool is_partly_known(const struct rig_txn_op *ops, uint32_t op, const struct rig_row_where *condition)
{
    struct rig_row_clause further = {.kind = RIG_ROW_NO_CLAUSE};
    const struct rig_row_clause own = rig_row_clause_before(ops, op);
    (void)rig_row_further_read(ops, op, &further);
    return (condition->is_partial && own.kind != RIG_ROW_SKIPS) || further.kind == RIG_ROW_PAIRS ||
           own.kind == RIG_ROW_PAIRS;
}

static bool add_read(struct finding *f, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(f->history, txn);
    const struct rig_row_where condition = rig_rows_condition(f->rows, txn, op);
    const struct rig_read_list list = rig_txn_op_list(f->history, &ops[op]);
    const bool is_none =
        list.count == 2 && rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1));
    if (is_partly_known(ops, op, &condition))
        f->out->is_complete = false;
    return condition.form == RIG_ROW_LISTED || is_none ? add_listed(f, txn, op, &condition)
                                                       : add_total(f, txn, op, &condition);
}

bool rig_row_reads_find(const struct rig_inference *inference, const struct rig_read_places *places,
                        struct rig_row_reads *reads)
{
    const struct rig_row_chains *rows = inference->rows;
    struct finding f = {.out = reads, .history = inference->history, .rows = rows, .places = places};
    *reads = (struct rig_row_reads){
        .inference = inference, .rows = rows, .is_complete = inference->noncyclic.kept.count == 0};
    f.row_of = malloc(((size_t)rows->statement_count + 1) * sizeof *f.row_of);
    f.shown_by = calloc((size_t)rows->statement_count + 1, sizeof *f.shown_by);
    bool ok = f.row_of != NULL && f.shown_by != NULL && list_states(&f);
    for (uint32_t txn = 0; ok && txn < f.history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(f.history, txn);
        const uint32_t count = inference->committed[txn] ? rig_txn_op_count(f.history, txn) : 0;
        for (uint32_t op = 0; ok && op < count; op++)
            ok = !rig_row_is_read(&ops[op]) || add_read(&f, txn, op);
        for (uint32_t op = 0; op < count; op++)
            reads->is_complete &= ops[op].kind != RIG_OP_READ_WHERE || rig_row_is_read(&ops[op]);
    }
    free(f.row_of);
    free(f.shown_by);
    return ok && reads->possible.count < RIG_ROW_NONE;
}

const struct rig_row_read *rig_row_reads_of(const struct rig_row_reads *reads, uint32_t txn, uint32_t op, uint32_t row)
{
    size_t low = 0, high = reads->reads.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct rig_row_read *at = &reads->reads.at[middle];
        const bool is_lower = at->txn != txn ? at->txn < txn : at->op != op ? at->op < op : at->row < row;
        low = is_lower ? middle + 1 : low;
        high = is_lower ? high : middle;
    }
    const struct rig_row_read *found = low < reads->reads.count ? &reads->reads.at[low] : NULL;
    return found != NULL && found->txn == txn && found->op == op && found->row == row ? found : NULL;
}

bool rig_row_sum_fits(const struct rig_row_reads *reads, const struct rig_row_sum *sum)
{
    const struct rig_history *history = reads->rows->history;
    const struct rig_row_where condition = rig_rows_condition(reads->rows, sum->txn, sum->op);
    const struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, sum->txn) + sum->op);
    uint64_t count = sum->count, total = sum->sum;
    for (size_t i = sum->first; i < sum->end; i++) {
        const struct rig_row_read *read = &reads->reads.at[i];
        const uint32_t version = read->state == 0 ? RIG_ROW_NONE : rig_row_state_version(reads, read->row, read->state);
        if (version == RIG_ROW_NONE || !rig_rows_meets(reads->rows, &condition, version))
            continue;
        count++;
        total += (uint64_t)rig_rows_number(reads->rows, version);
    }
    return list.count == 2 &&
           rig_row_total_is(&condition, rig_read_element(&list, 0), rig_read_element(&list, 1), count, total);
}

/* ---- the problem ---- */

struct assembling {
    const struct rig_row_reads *reads;
    struct rig_problem *problem;
    uint32_t *node;         /* per transaction, or RIG_PROBLEM_NONE */
    uint32_t *before;       /* per transaction: the one before it in its process */
    uint32_t *first_write;  /* per transaction, and one more: into */
    uint32_t *writes;       /*   states, as places in `finals` */
    uint32_t *row_of_final; /* per state */
    struct rig_table sessions;
    size_t next_read;
};

/* Lists the states that each transaction made. */
static void sort_writes(struct assembling *a)
{
    const struct rig_row_reads *reads = a->reads;
    const uint32_t txns = reads->inference->history->txn_count;
    for (uint32_t row = 0; row + 1 < reads->first.count; row++) {
        for (uint32_t i = reads->first.at[row]; i < reads->first.at[row + 1]; i++) {
            a->row_of_final[i] = row;
            a->first_write[rig_rows_writer(reads->rows, reads->finals.at[i]) + 2]++;
        }
    }
    for (uint32_t txn = 0; txn < txns; txn++)
        a->first_write[txn + 2] += a->first_write[txn + 1];
    for (uint32_t i = 0; i < reads->finals.count; i++)
        a->writes[a->first_write[rig_rows_writer(reads->rows, reads->finals.at[i]) + 1]++] = i;
}

static bool add_txn(struct assembling *a, uint32_t txn)
{
    const struct rig_history *history = a->reads->inference->history;
    const struct rig_txn *t = &history->txns[txn];
    const uint32_t end = rig_txn_end(history, txn), before = a->before[txn];
    uint32_t *session = rig_table_put(&a->sessions, (uint32_t)t->process);
    if (session == NULL)
        return false;
    if (*session == RIG_TABLE_NONE)
        *session = a->problem->session_count;
    return rig_problem_add_txn(
        a->problem, &(struct rig_problem_txn){.txn = txn,
                                              .session = *session,
                                              .before = before == RIG_NODE_NONE ? RIG_PROBLEM_NONE : a->node[before],
                                              .invoked = t->invoke_at == RIG_POSITION_NONE ? 0 : t->invoke_at,
                                              .ended = end == RIG_POSITION_NONE ? UINT32_MAX : end});
}

static bool add_reads_and_writes(struct assembling *a, uint32_t txn)
{
    const struct rig_row_reads *reads = a->reads;
    bool ok = true;
    for (; ok && a->next_read < reads->reads.count && reads->reads.at[a->next_read].txn == txn; a->next_read++) {
        const struct rig_row_read *read = &reads->reads.at[a->next_read];
        const uint32_t writer =
            read->state == 0
                ? RIG_PROBLEM_INITIAL
                : a->node[rig_rows_writer(reads->rows, rig_row_state_version(reads, read->row, read->state))];
        ok = rig_problem_add_read(a->problem,
                                  &(struct rig_problem_read){.op = read->op, .key = read->row, .writer = writer});
    }
    for (uint32_t i = a->first_write[txn]; ok && i < a->first_write[txn + 1]; i++) {
        const uint32_t version = reads->finals.at[a->writes[i]];
        const uint32_t op = reads->rows->statements[reads->rows->versions[version].statement].op;
        ok = rig_problem_add_write(a->problem, a->row_of_final[a->writes[i]], op);
    }
    return ok;
}

static bool assemble(struct assembling *a)
{
    const struct rig_inference *inference = a->reads->inference;
    const uint32_t txns = inference->history->txn_count;
    uint32_t count = 0;
    sort_writes(a);
    for (uint32_t txn = 0; txn < txns; txn++)
        a->node[txn] = inference->committed[txn] ? count++ : RIG_PROBLEM_NONE;
    a->problem->has_realtime = inference->history->has_invocations;
    bool ok = true;
    for (uint32_t txn = 0; ok && txn < txns; txn++)
        ok = !inference->committed[txn] || (add_txn(a, txn) && add_reads_and_writes(a, txn));
    return ok && rig_problem_finish(a->problem);
}

enum rig_rc rig_row_reads_problem(const struct rig_row_reads *reads, struct rig_problem *problem, struct rig_err *err)
{
    const struct rig_inference *inference = reads->inference;
    const size_t txns = (size_t)inference->history->txn_count + 3, states = reads->finals.count + 1;
    struct rig_arena arena;
    struct assembling a = {.reads = reads, .problem = problem};
    *problem = (struct rig_problem){0};
    rig_arena_init(&arena, 0);
    rig_table_init(&a.sessions);
    a.node = rig_arena_array(&arena, txns, sizeof *a.node);
    a.before = rig_arena_array(&arena, txns, sizeof *a.before);
    a.first_write = rig_arena_array(&arena, txns, sizeof *a.first_write);
    a.writes = rig_arena_array(&arena, states, sizeof *a.writes);
    a.row_of_final = rig_arena_array(&arena, states, sizeof *a.row_of_final);
    const bool ok = a.node != NULL && a.before != NULL && a.first_write != NULL && a.writes != NULL &&
                    a.row_of_final != NULL &&
                    rig_process_order(inference->history, inference->committed, &arena, a.before) && assemble(&a);
    rig_table_done(&a.sessions);
    rig_arena_done(&arena);
    return ok ? RIG_OK : rig_memory_limit(err, "the decision of the levels");
}
