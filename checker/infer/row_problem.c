#include "checker/infer/row_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "checker/infer/row_inference.h"
#include "checker/model/orders.h"

/* A use of a key by a node. */
struct use {
    uint32_t node, key;
    uint32_t writer; /* of the version that it reads; RIG_PROBLEM_NONE: it writes the key */
};

RIG_VEC(struct use, row_uses)

struct making {
    const struct rig_inference *inference;
    const struct rig_history *history;
    const struct rig_row_chains *rows;
    const struct rig_row_counts *counts; /* or NULL */
    struct rig_row_problem *made;
    enum rig_along along;
    uint32_t *node;        /* per transaction: that of its start, or RIG_PROBLEM_NONE */
    uint32_t *before;      /* per transaction: the one before it in its process */
    uint32_t *key_of_node; /* per node: the key of its known edges, or RIG_PROBLEM_NONE */
    uint32_t *shown_by;    /* per statement: one more than the read that shows its row */
    uint32_t node_count, key_count, reads;
    struct row_uses uses;
    struct rig_table sessions;
};

void rig_row_problem_done(struct rig_row_problem *problem)
{
    rig_problem_done(&problem->problem);
    rig_row_choices_done(&problem->choices);
    free(problem->txn_of);
}

static uint32_t commit_of(const struct making *m, uint32_t txn)
{
    return m->node[txn] + (m->made->split ? 1 : 0);
}

/* ---- known edges ---- */

static bool add_arc(struct making *m, uint32_t from, uint32_t to)
{
    if (m->key_of_node[from] == RIG_PROBLEM_NONE) {
        m->key_of_node[from] = m->key_count++;
        if (!row_uses_add(&m->uses, (struct use){from, m->key_of_node[from], RIG_PROBLEM_NONE}))
            return false;
    }
    return from == to || row_uses_add(&m->uses, (struct use){to, m->key_of_node[from], from});
}

static bool add_known(struct making *m)
{
    bool ok = true;
    for (uint32_t txn = 0; ok && txn < m->history->txn_count; txn++) {
        if (m->node[txn] == RIG_PROBLEM_NONE)
            continue;
        struct rig_links_cursor cursor = rig_links_into(&m->inference->links, txn);
        ok = !m->made->split || add_arc(m, m->node[txn], commit_of(m, txn));
        for (uint32_t edge; ok && (edge = rig_links_next(&m->inference->links, &cursor)) != RIG_NODE_NONE;) {
            const uint32_t from = rig_edge_node(edge);
            ok = rig_edge_link(edge) == RIG_LINK_RW ? add_arc(m, m->node[from], commit_of(m, txn))
                                                    : add_arc(m, commit_of(m, from), m->node[txn]);
        }
    }
    return ok;
}

/* ---- choices ---- */

static uint32_t writer_of(const struct making *m, uint32_t version)
{
    return rig_rows_writer(m->rows, version);
}

/* Whether `a` was over before `b` began. */
static bool is_over(const struct making *m, uint32_t a, uint32_t b)
{
    const uint32_t begin = m->history->txns[b].invoke_at;
    return m->along == RIG_ALONG_REALTIME && begin != RIG_POSITION_NONE && rig_txn_end(m->history, a) < begin;
}

/* The read comes before the version, or after the later one. */
static bool add_choice(struct making *m, const struct rig_row_choice *choice)
{
    const uint32_t reader = choice->reader, first = writer_of(m, choice->before), next = writer_of(m, choice->after);
    if (first == reader || first == next || is_over(m, next, reader) || is_over(m, reader, first))
        return true;
    if (is_over(m, reader, next))
        return add_arc(m, m->node[reader], commit_of(m, first));
    if (is_over(m, first, reader))
        return add_arc(m, commit_of(m, next), m->node[reader]);
    return rig_row_choices_add(&m->made->choices, *choice);
}

/* The stretches of versions that meet the condition, and that another version follows, up to the reader's own. */
static bool add_row(struct making *m, uint32_t txn, uint32_t op, uint32_t insert, const struct rig_row_where *condition)
{
    const struct rig_row_write *row = &m->rows->statements[insert];
    const bool is_initial = rig_row_action(row->number) == RIG_ROWS_INITIAL;
    uint32_t first = RIG_ROW_NONE;
    bool ok = true, any_unmet = !is_initial;
    for (uint32_t at = row->first_version; ok && at != RIG_ROW_NONE; at = m->rows->versions[at].next) {
        const uint32_t next = m->rows->versions[at].next;
        if (next != RIG_ROW_NONE && writer_of(m, next) == writer_of(m, at))
            continue;
        const bool meets = rig_rows_meets(m->rows, condition, at);
        if (writer_of(m, at) == txn) /* it saw a version before its own one: the known edges have it */
            return ok;
        if (meets && first == RIG_ROW_NONE)
            first = at;
        if (!meets && first != RIG_ROW_NONE && any_unmet) /* else the known edges have it */
            ok = add_choice(m, &(struct rig_row_choice){txn, op, insert, first, at});
        if (!meets) {
            first = RIG_ROW_NONE;
            any_unmet = true;
        }
    }
    return ok;
}

static void mark_shown(struct making *m, const struct rig_txn_op *read)
{
    const struct rig_read_list list = rig_txn_op_list(m->history, read);
    m->reads++;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const uint32_t insert = rig_rows_statement(m->rows, read->key, rig_read_element(&list, at));
        if (insert != RIG_ROW_NONE)
            m->shown_by[insert] = m->reads;
    }
}

/* Whether the read says of each row whether it saw it. */
static bool tells_rows(const struct making *m, const struct rig_txn_op *read, const struct rig_row_where *condition)
{
    const struct rig_read_list list = rig_txn_op_list(m->history, read);
    return condition->form == RIG_ROW_LISTED ||
           (list.count == 2 && rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1)));
}

/* The versions of a row that a total saw, by the guess: after the last one that changed it, and before the first one
 * after that which would have. */
static bool add_counted(struct making *m, uint32_t txn, uint32_t insert, const struct rig_row_where *condition)
{
    const struct rig_row_write *row = &m->rows->statements[insert];
    uint32_t seen = RIG_ROW_NONE;
    for (uint32_t at = row->first_version; at != RIG_ROW_NONE; at = m->rows->versions[at].next) {
        if (writer_of(m, at) == txn)
            break;
        seen = rig_row_counts_saw(m->counts, txn, writer_of(m, at)) ? at : seen;
    }
    bool ok = true, met = false, is_behind = seen == RIG_ROW_NONE;
    uint32_t turn = RIG_ROW_NONE;
    for (uint32_t at = row->first_version; ok && at != RIG_ROW_NONE; at = m->rows->versions[at].next) {
        const bool meets = rig_rows_meets(m->rows, condition, at);
        if ((meets || met) && is_behind)
            return (turn == RIG_ROW_NONE || add_arc(m, commit_of(m, writer_of(m, turn)), m->node[txn])) &&
                   (writer_of(m, at) == txn || add_arc(m, m->node[txn], commit_of(m, writer_of(m, at))));
        turn = meets || met ? at : turn;
        met = meets;
        is_behind |= at == seen;
    }
    return turn == RIG_ROW_NONE || add_arc(m, commit_of(m, writer_of(m, turn)), m->node[txn]);
}

static bool add_total(struct making *m, uint32_t txn, uint32_t op, const struct rig_row_where *condition)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    uint32_t end, i = rig_rows_asked(m->rows, ops[op].key, condition, &end);
    bool ok = true;
    for (; ok && i < end; i++) {
        const uint32_t insert = m->rows->inserts[i];
        const struct rig_row_write *row = &m->rows->statements[insert];
        if (m->rows->committed[row->txn] && rig_row_own_version(m->rows, txn, op, row->number, NULL) == RIG_ROW_NONE)
            ok = add_counted(m, txn, insert, condition);
    }
    return ok;
}

static bool add_read(struct making *m, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    const struct rig_row_where condition = rig_rows_condition(m->rows, txn, op);
    bool ok = true;
    if (!tells_rows(m, &ops[op], &condition))
        return m->counts == NULL || add_total(m, txn, op, &condition);
    m->reads += condition.form != RIG_ROW_LISTED;
    if (condition.form == RIG_ROW_LISTED)
        mark_shown(m, &ops[op]);
    uint32_t end, i = rig_rows_asked(m->rows, ops[op].key, &condition, &end);
    for (; ok && i < end; i++) {
        const uint32_t insert = m->rows->inserts[i];
        const struct rig_row_write *row = &m->rows->statements[insert];
        if (row->is_whole && rig_rows_tell_contents(m->rows, row, &condition) && m->rows->committed[row->txn] &&
            m->shown_by[insert] != m->reads && rig_row_own_version(m->rows, txn, op, row->number, NULL) == RIG_ROW_NONE)
            ok = add_row(m, txn, op, insert, &condition);
    }
    return ok;
}

static int compare_choices(const void *left, const void *right)
{
    const struct rig_row_choice *a = left, *b = right;
    if (a->reader != b->reader)
        return a->reader < b->reader ? -1 : 1;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    return (a->after > b->after) - (a->after < b->after);
}

/* Several reads of a transaction may say the same of a row. */
static void drop_repeated(struct rig_row_choices *choices)
{
    size_t kept = 0;
    if (choices->count > 1)
        qsort(choices->at, choices->count, sizeof choices->at[0], compare_choices);
    for (size_t i = 0; i < choices->count; i++) {
        if (kept == 0 || compare_choices(&choices->at[kept - 1], &choices->at[i]) != 0)
            choices->at[kept++] = choices->at[i];
    }
    choices->count = kept;
}

static bool add_choices(struct making *m)
{
    bool ok = true;
    for (uint32_t txn = 0; ok && txn < m->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
        const uint32_t count = m->node[txn] == RIG_PROBLEM_NONE ? 0 : rig_txn_op_count(m->history, txn);
        for (uint32_t op = 0; ok && op < count; op++)
            ok = !rig_row_is_read(&ops[op]) || add_read(m, txn, op);
    }
    drop_repeated(&m->made->choices);
    m->made->first_choice = m->key_count;
    for (size_t i = 0; ok && i < m->made->choices.count; i++) {
        const struct rig_row_choice *choice = &m->made->choices.at[i];
        const uint32_t key = m->key_count++, first = commit_of(m, writer_of(m, choice->before));
        ok = row_uses_add(&m->uses, (struct use){first, key, RIG_PROBLEM_NONE}) &&
             row_uses_add(&m->uses, (struct use){m->node[choice->reader], key, RIG_PROBLEM_NONE}) &&
             row_uses_add(&m->uses, (struct use){commit_of(m, writer_of(m, choice->after)), key, first});
    }
    return ok;
}

/* ---- the problem ---- */

static int compare_uses(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->writer > b->writer) - (a->writer < b->writer);
}

static bool add_node(struct making *m, uint32_t txn, bool commits, size_t *next)
{
    const struct rig_txn *t = &m->history->txns[txn];
    const uint32_t end = rig_txn_end(m->history, txn), before = m->before[txn];
    const uint32_t node = commits ? commit_of(m, txn) : m->node[txn];
    const bool follows = commits && m->made->split;
    uint32_t *session = rig_table_put(&m->sessions, (uint32_t)t->process);
    if (session == NULL)
        return false;
    if (*session == RIG_TABLE_NONE)
        *session = m->made->problem.session_count;
    m->made->txn_of[node] = txn;
    bool ok =
        rig_problem_add_txn(&m->made->problem, &(struct rig_problem_txn){
                                                   .txn = node,
                                                   .session = *session,
                                                   .before = follows                   ? m->node[txn]
                                                             : before == RIG_NODE_NONE ? RIG_PROBLEM_NONE
                                                                                       : commit_of(m, before),
                                                   .invoked = t->invoke_at == RIG_POSITION_NONE ? 0 : t->invoke_at,
                                                   .ended = end == RIG_POSITION_NONE ? UINT32_MAX : end,
                                               });
    for (; ok && *next < m->uses.count && m->uses.at[*next].node == node; (*next)++) {
        const struct use *use = &m->uses.at[*next];
        const bool repeats = *next > 0 && compare_uses(use, use - 1) == 0;
        if (use->writer == RIG_PROBLEM_NONE)
            ok = rig_problem_add_write(&m->made->problem, use->key, 0);
        else if (!repeats)
            ok = rig_problem_add_read(&m->made->problem,
                                      &(struct rig_problem_read){.op = 0, .key = use->key, .writer = use->writer});
    }
    return ok;
}

static bool add_nodes(struct making *m)
{
    size_t next = 0;
    bool ok = true;
    if (m->uses.count > 1)
        qsort(m->uses.at, m->uses.count, sizeof m->uses.at[0], compare_uses);
    m->made->problem.has_realtime = m->history->has_invocations;
    for (uint32_t txn = 0; ok && txn < m->history->txn_count; txn++) {
        if (m->node[txn] == RIG_PROBLEM_NONE)
            continue;
        ok = add_node(m, txn, !m->made->split, &next) && (!m->made->split || add_node(m, txn, true, &next));
    }
    return ok && rig_problem_finish(&m->made->problem);
}

static bool number_nodes(struct making *m)
{
    const size_t txns = (size_t)m->history->txn_count + 1;
    struct rig_arena *arena = m->inference->links.arena;
    m->node = malloc(txns * sizeof *m->node);
    m->key_of_node = malloc(2 * txns * sizeof *m->key_of_node);
    m->shown_by = calloc((size_t)m->rows->statement_count + 1, sizeof *m->shown_by);
    m->before = rig_arena_room(arena, txns, sizeof *m->before);
    if (m->node == NULL || m->key_of_node == NULL || m->shown_by == NULL || m->before == NULL ||
        !rig_process_order(m->history, m->inference->committed, arena, m->before))
        return false;
    memset(m->key_of_node, 0xff, 2 * txns * sizeof *m->key_of_node);
    for (uint32_t txn = 0; txn < m->history->txn_count; txn++) {
        m->node[txn] = m->inference->committed[txn] ? m->node_count : RIG_PROBLEM_NONE;
        m->node_count += m->inference->committed[txn] ? (m->made->split ? 2 : 1) : 0;
    }
    m->made->txn_of = malloc(((size_t)m->node_count + 1) * sizeof *m->made->txn_of);
    return m->made->txn_of != NULL;
}

enum rig_rc rig_row_problem_make(const struct rig_inference *inference, const struct rig_row_question *question,
                                 struct rig_row_problem *made, struct rig_err *err)
{
    *made = (struct rig_row_problem){.split = question->split};
    struct making m = {.inference = inference,
                       .history = inference->history,
                       .rows = inference->rows,
                       .counts = question->counts,
                       .made = made,
                       .along = question->along};
    rig_table_init(&m.sessions);
    const bool ok = number_nodes(&m) && add_known(&m) && add_choices(&m) && add_nodes(&m);
    free(m.node);
    free(m.key_of_node);
    free(m.shown_by);
    row_uses_done(&m.uses);
    rig_table_done(&m.sessions);
    return ok ? RIG_OK : rig_memory_limit(err, "the order of the commits");
}
