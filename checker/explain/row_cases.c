#include "checker/explain/row_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "checker/decide/solve/case_graph.h"
#include "checker/decide/solve/case_search.h"
#include "checker/decide/solve/shrink.h"
#include "checker/explain/type_words.h"
#include "checker/infer/row_versions.h"

enum { POLISH_NS = 50000000 };

RIG_VEC(struct rig_step, row_case_steps)
RIG_VEC(struct rig_case, row_case_lines)
RIG_VEC(uint32_t, row_case_txns)

struct writing {
    const struct rig_inference *inference;
    const struct rig_row_problem *made;
    const struct rig_problem *part;
    const struct rig_case_graph *graph;
    struct row_case_lines lines;
    struct row_case_steps steps;
    struct row_case_txns txns;
    bool fits; /* each edge has a witness */
    bool no_memory;
};

/* The node of the whole problem. */
static uint32_t whole(const struct writing *w, uint32_t node)
{
    return w->part->txns.at[node].txn;
}

static uint32_t txn_of(const struct writing *w, uint32_t node)
{
    return w->made->txn_of[whole(w, node)];
}

static const struct rig_row_choice *choice_of(const struct writing *w, uint32_t key)
{
    return key < w->made->first_choice ? NULL : &w->made->choices.at[key - w->made->first_choice];
}

static uint32_t table_of(const struct writing *w, const struct rig_row_choice *choice)
{
    return rig_txn_ops(w->inference->history, choice->reader)[choice->op].key;
}

/* ---- steps ---- */

static void add_step(struct writing *w, const struct rig_step *step)
{
    w->no_memory |= step->from != step->to && !row_case_steps_add(&w->steps, *step);
}

/* An edge of the inference, with the operations that show it. */
static bool add_link(struct writing *w, uint32_t from, uint32_t to, enum rig_edge_kind kind)
{
    struct rig_step step = {.from = from,
                            .to = to,
                            .kind = kind,
                            .from_op = UINT32_MAX,
                            .to_op = UINT32_MAX,
                            .order_txn = UINT32_MAX,
                            .order_other = UINT32_MAX,
                            .order_op = UINT32_MAX};
    if (!rig_type_words(w->inference->history->workload)->explain_step(w->inference, &step))
        return false;
    add_step(w, &step);
    return true;
}

static bool has_link(const struct writing *w, uint32_t from, uint32_t to, enum rig_link link)
{
    struct rig_links_cursor cursor = rig_links_into(&w->inference->links, to);
    uint32_t edge;
    do
        edge = rig_links_next(&w->inference->links, &cursor);
    while (edge != RIG_NODE_NONE && edge != rig_edge_of(from, link));
    return edge != RIG_NODE_NONE;
}

static bool add_known(struct writing *w, const struct rig_arc *arc)
{
    static const struct {
        enum rig_link link;
        enum rig_edge_kind kind;
    } ways[] = {{RIG_LINK_WR, RIG_EDGE_WR}, {RIG_LINK_WW, RIG_EDGE_WW}, {RIG_LINK_RW, RIG_EDGE_RW}};
    const uint32_t from = txn_of(w, arc->from), to = txn_of(w, arc->to);
    const bool only_rw = w->made->split && whole(w, arc->from) % 2 == 0, never_rw = w->made->split && !only_rw;
    for (unsigned i = 0; i < 3; i++) {
        const bool is_rw = ways[i].link == RIG_LINK_RW;
        if (!(is_rw ? never_rw : only_rw) && has_link(w, from, to, ways[i].link))
            return add_link(w, from, to, ways[i].kind);
    }
    return false;
}

/* From the version before the stretch's end to that end: each replaced the one before it. */
static bool add_chain(struct writing *w, const struct rig_row_choice *choice)
{
    const struct rig_row_chains *rows = w->inference->rows;
    bool ok = true;
    for (uint32_t at = choice->before; ok && at != choice->after; at = rows->versions[at].next) {
        const uint32_t from = rig_rows_writer(rows, at), to = rig_rows_writer(rows, rows->versions[at].next);
        ok = from == to || add_link(w, from, to, RIG_EDGE_WW);
    }
    return ok;
}

/* An edge of a choice: between the reader and the writer of the first version, as supposed or concluded; or from the
 * writer of the version after the stretch to the reader, which follows. */
static bool add_chosen(struct writing *w, const struct rig_row_choice *choice, const struct rig_arc *arc)
{
    const struct rig_row_chains *rows = w->inference->rows;
    const uint32_t first = rig_rows_writer(rows, choice->before), next = rig_rows_writer(rows, choice->after);
    const int64_t id = rows->statements[choice->insert].number;
    const uint32_t from = txn_of(w, arc->from), to = txn_of(w, arc->to);
    struct rig_step step = {.from = from,
                            .to = to,
                            .kind = from == choice->reader ? RIG_EDGE_RW : RIG_EDGE_WR,
                            .key = table_of(w, choice),
                            .order = RIG_ORDER_CASE,
                            .order_txn = first,
                            .order_other = choice->reader,
                            .absent = true,
                            .from_op = choice->op,
                            .to_op = choice->op};
    if (from == first && to == next && to != choice->reader)
        return add_chain(w, choice);
    if (from == choice->reader && to == first) {
        step.by_predicate = true;
        step.to_op = rows->statements[rows->versions[choice->before].statement].op;
        step.from_value = id;
        step.to_value = rig_rows_number(rows, choice->before);
    } else if (to == choice->reader && (from == first || from == next)) {
        step.from_op = UINT32_MAX;
        step.absent = from == next;
        step.from_value = rig_rows_number(rows, from == next ? choice->after : choice->before);
        step.to_value = id;
    } else {
        return false;
    }
    add_step(w, &step);
    return true;
}

static bool add_arc(struct writing *w, const struct rig_arc *arc)
{
    const uint32_t from = txn_of(w, arc->from), to = txn_of(w, arc->to);
    if (from == to)
        return true;
    if (arc->kind == RIG_EDGE_PROCESS || arc->kind == RIG_EDGE_REALTIME) {
        add_step(w, &(struct rig_step){.from = from,
                                       .to = to,
                                       .kind = arc->kind,
                                       .from_op = UINT32_MAX,
                                       .to_op = UINT32_MAX,
                                       .order_txn = UINT32_MAX,
                                       .order_other = UINT32_MAX,
                                       .order_op = UINT32_MAX});
        return true;
    }
    const struct rig_row_choice *choice = choice_of(w, arc->key);
    return choice == NULL ? add_known(w, arc) : add_chosen(w, choice, arc);
}

/* Whether the steps from `first` on are a cycle that passes no transaction twice. */
static bool is_cycle(const struct writing *w, size_t first)
{
    bool ok = w->steps.count >= first + 2;
    for (size_t i = first; ok && i < w->steps.count; i++) {
        ok = w->steps.at[i].to == w->steps.at[i + 1 < w->steps.count ? i + 1 : first].from;
        for (size_t j = first; ok && j < i; j++)
            ok = w->steps.at[j].from != w->steps.at[i].from;
    }
    return ok;
}

/* ---- lines ---- */

/* The line that supposes the order of a step's reader and writer, or its reverse. With snapshots the writer's reads and
 * the reader's commit are another question. */
static uint32_t line_of(const struct writing *w, const struct rig_step *step)
{
    for (size_t i = w->lines.count; i-- > 0;) {
        const struct rig_case *line = &w->lines.at[i];
        if (line->kind == RIG_CASE_SUPPOSE && (!w->made->split || line->reader == step->order_other) &&
            ((line->before == step->order_txn && line->after == step->order_other) ||
             (line->before == step->order_other && line->after == step->order_txn)))
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

static void add_cycle(struct writing *w, const struct rig_case_node *leaf, const struct rig_case *closes)
{
    struct rig_case line =
        closes == NULL
            ? (struct rig_case){.before = UINT32_MAX, .after = UINT32_MAX, .key = UINT32_MAX, .reader = UINT32_MAX}
            : *closes;
    const size_t first = w->steps.count;
    for (uint32_t i = 0; w->fits && i < leaf->length; i++)
        w->fits = add_arc(w, &w->graph->arcs.at[leaf->cycle[i]].arc);
    w->fits = w->fits && is_cycle(w, first);
    for (size_t i = first; w->fits && i < w->steps.count; i++) {
        struct rig_step *step = &w->steps.at[i];
        if (step->order != RIG_ORDER_CASE || step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME)
            continue;
        step->order_op = line_of(w, step);
        w->fits = step->order_op != UINT32_MAX;
    }
    line.kind = RIG_CASE_CYCLE;
    line.first_step = (uint32_t)first;
    line.step_count = (uint32_t)(w->steps.count - first);
    w->no_memory |= !row_case_lines_add(&w->lines, line);
}

/* Recurses as deep as cases nest, at most RIG_CASE_NESTED_MOST. */
static void add_tree(struct writing *w, const struct rig_case_node *node, const struct rig_case *closes)
{
    for (; w->fits && !w->no_memory && node->first != NULL; node = node->second) {
        const struct rig_case_pair *pair = &w->graph->pairs.at[node->pair];
        const struct rig_row_choice *choice = choice_of(w, pair->key);
        const bool forward = node->supposed == RIG_CASE_FORWARD;
        if (choice == NULL) {
            w->fits = false;
            return;
        }
        const struct rig_case line = {.kind = RIG_CASE_SUPPOSE,
                                      .before = txn_of(w, forward ? pair->a : pair->b),
                                      .after = txn_of(w, forward ? pair->b : pair->a),
                                      .key = table_of(w, choice),
                                      .reader = choice->reader,
                                      .first_step = (uint32_t)w->steps.count};
        w->no_memory |= !row_case_lines_add(&w->lines, line);
        add_tree(w, node->first, &line);
    }
    if (w->fits && !w->no_memory)
        add_cycle(w, node, closes);
}

/* ---- the witness ---- */

static int compare_txns(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void list_txns(struct writing *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->steps.count && !w->no_memory; i++)
        w->no_memory |= !row_case_txns_add(&w->txns, w->steps.at[i].from);
    for (size_t i = 0; i < w->lines.count && !w->no_memory; i++) {
        if (w->lines.at[i].kind == RIG_CASE_SUPPOSE)
            w->no_memory |= !row_case_txns_add(&w->txns, w->lines.at[i].before) ||
                            !row_case_txns_add(&w->txns, w->lines.at[i].after);
    }
    if (w->txns.count > 1)
        qsort(w->txns.at, w->txns.count, sizeof w->txns.at[0], compare_txns);
    for (size_t i = 0; i < w->txns.count; i++) {
        if (kept == 0 || w->txns.at[kept - 1] != w->txns.at[i])
            w->txns.at[kept++] = w->txns.at[i];
    }
    w->txns.count = kept;
}

static void *copy(struct rig_arena *arena, const void *at, size_t count, size_t size)
{
    void *copied = rig_arena_room(arena, count + 1, size);
    if (copied != NULL && count > 0)
        memcpy(copied, at, count * size);
    return copied;
}

static bool fill(struct writing *w, enum rig_level level, bool minimal, struct rig_arena *arena,
                 struct rig_witness *witness)
{
    struct rig_cases *cases = rig_arena_alloc(arena, sizeof *cases);
    *witness = (struct rig_witness){.anomaly = RIG_ANOMALY_NO_VERSION_ORDER,
                                    .key = UINT32_MAX,
                                    .op = UINT32_MAX,
                                    .other_op = UINT32_MAX,
                                    .txns = copy(arena, w->txns.at, w->txns.count, sizeof w->txns.at[0]),
                                    .txn_count = (uint32_t)w->txns.count,
                                    .cases = cases,
                                    .refutes = rig_level_info(level)->above};
    if (cases == NULL || witness->txns == NULL)
        return false;
    *cases = (struct rig_cases){.level = level,
                                .minimal = minimal,
                                .lines = copy(arena, w->lines.at, w->lines.count, sizeof w->lines.at[0]),
                                .line_count = (uint32_t)w->lines.count,
                                .steps = copy(arena, w->steps.at, w->steps.count, sizeof w->steps.at[0]),
                                .step_count = (uint32_t)w->steps.count};
    return cases->lines != NULL && cases->steps != NULL;
}

/* The proof of a part. */
static bool explain_part(struct writing *w, const struct rig_rule *rule, int64_t deadline_ns, struct rig_arena *arena,
                         bool *found)
{
    struct rig_case_graph graph;
    struct rig_case_tree tree = {0};
    bool *nothing = rig_arena_array(arena, (size_t)w->part->txn_count + 1, sizeof nothing[0]);
    bool done = nothing != NULL && rig_case_graph_init(&graph, w->part, rule, nothing);
    if (nothing == NULL)
        return false;
    if (done && !graph.too_large)
        done = rig_case_search(&graph, deadline_ns, POLISH_NS, arena, &tree);
    w->graph = &graph;
    w->fits = true;
    *found = done && tree.root != NULL;
    if (*found) {
        add_tree(w, tree.root, NULL);
        list_txns(w);
        done = !w->no_memory;
        *found = done && w->fits && w->lines.count > 1;
    }
    rig_case_graph_done(&graph);
    return done;
}

enum rig_rc rig_explain_row_cases(const struct rig_row_refutation *no, const struct rig_solve_budget *budget,
                                  struct rig_arena *arena, struct rig_witness *witness, bool *found,
                                  struct rig_err *err)
{
    const struct rig_rule rule = {.form = RIG_RULE_SERIAL, .along = rig_level_rule(no->level)->along};
    const struct rig_problem *problem = &no->made->problem;
    struct rig_shrunk shrunk = {0};
    struct rig_problem part = {0};
    struct writing w = {.inference = no->inference, .made = no->made, .part = &part};
    *found = false;
    enum rig_rc rc = rig_shrink(problem, &rule, no->refuted->core, no->refuted->core_count, budget, &shrunk, err);
    bool ok = rc == RIG_OK && rig_problem_part(problem, shrunk.nodes, shrunk.count, &part);
    ok = ok && explain_part(&w, &rule, budget->deadline_ns, arena, found);
    if (ok && *found)
        ok = fill(&w, no->level, shrunk.minimal, arena, witness);
    row_case_lines_done(&w.lines);
    row_case_steps_done(&w.steps);
    row_case_txns_done(&w.txns);
    rig_problem_done(&part);
    rig_shrunk_done(&shrunk);
    return rc != RIG_OK ? rc : ok ? RIG_OK : rig_memory_limit(err, "the witnesses");
}
