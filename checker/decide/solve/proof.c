#include "checker/decide/solve/proof.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/case_graph.h"
#include "checker/decide/solve/case_search.h"
#include "checker/decide/solve/shrink.h"

/* How long a shorter proof is looked for. */
#define POLISH_NS INT64_C(50000000)

struct writing {
    const struct rig_history *history;
    const struct rig_problem *part;
    const struct rig_case_graph *graph;
    struct rig_case_proof *proof;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the proof of a witness");
}

/* ---- from the tree to lines; what recurses goes as deep as cases nest, at most RIG_CASE_NESTED_MOST ---- */

static uint32_t txn_of(const struct rig_problem *part, uint32_t node)
{
    return node == RIG_ARC_NONE ? RIG_ARC_NONE : part->txns.at[node].txn;
}

static uint32_t key_of_op(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    return rig_txn_ops(history, txn)[op].key;
}

static struct rig_case_edge edge_of(const struct writing *w, const struct rig_case_arc *from)
{
    struct rig_case_edge edge = {.arc = from->arc, .source = RIG_ORDER_INITIAL, .a = RIG_ARC_NONE, .b = RIG_ARC_NONE};
    const bool ordered = edge.arc.kind == RIG_EDGE_WW || edge.arc.kind == RIG_EDGE_RW;
    edge.arc.from = txn_of(w->part, from->arc.from);
    edge.arc.to = txn_of(w->part, from->arc.to);
    edge.arc.writer = txn_of(w->part, from->arc.writer);
    if (edge.arc.kind == RIG_EDGE_RW)
        edge.arc.key = key_of_op(w->history, edge.arc.from, edge.arc.from_op);
    else if (edge.arc.to_op != RIG_ARC_NONE)
        edge.arc.key = key_of_op(w->history, edge.arc.to, edge.arc.to_op);
    if (ordered && from->pair != RIG_CASE_NONE)
        edge.source = RIG_ORDER_CASE;
    const size_t pairs = w->part->pairs.count;
    if (ordered && from->known != RIG_CASE_NONE && from->known >= pairs) {
        edge.source = RIG_ORDER_UPDATE;
        edge.a = edge.arc.to;
        RIG_INVARIANT(from->known - pairs < w->part->reads.count);
        edge.b = w->part->reads.at[from->known - pairs].op;
    } else if (ordered && from->known != RIG_CASE_NONE) {
        const struct rig_problem_pair *pair = &w->part->pairs.at[from->known];
        edge.source = pair->source;
        edge.a = pair->a;
        edge.b = pair->b;
    }
    return edge;
}

static struct rig_case_line line_of(const struct writing *w, enum rig_case_kind kind, const struct rig_case_node *node)
{
    struct rig_case_line line = {kind, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE, w->proof->edge_count, 0};
    if (node == NULL)
        return line;
    const struct rig_case_pair *pair = &w->graph->pairs.at[node->pair];
    const bool forward = node->supposed == RIG_CASE_FORWARD;
    const uint32_t write = rig_problem_write_of(w->part, pair->a, pair->key);
    RIG_INVARIANT(write != RIG_PROBLEM_NONE);
    line.before = txn_of(w->part, forward ? pair->a : pair->b);
    line.after = txn_of(w->part, forward ? pair->b : pair->a);
    line.key = key_of_op(w->history, txn_of(w->part, pair->a), w->part->writes.at[write].first_op);
    return line;
}

/* `closes`: the split whose supposed case this tree refutes; NULL: none. */
static void add_lines(struct writing *w, const struct rig_case_node *node, const struct rig_case_node *closes)
{
    RIG_INVARIANT(node->nested <= RIG_CASE_NESTED_MOST);
    struct rig_case_proof *proof = w->proof;
    for (; node->first != NULL; node = node->second) {
        proof->lines[proof->line_count++] = line_of(w, RIG_CASE_SUPPOSE, node);
        add_lines(w, node->first, node);
    }
    struct rig_case_line line = line_of(w, RIG_CASE_CYCLE, closes);
    line.edge_count = node->length;
    for (uint32_t i = 0; i < node->length; i++)
        proof->edges[proof->edge_count++] = edge_of(w, &w->graph->arcs.at[node->cycle[i]]);
    proof->lines[proof->line_count++] = line;
}

static uint32_t count_edges(const struct rig_case_node *node)
{
    uint32_t edges = 0;
    for (; node->first != NULL; node = node->second)
        edges += count_edges(node->first);
    return edges + node->length;
}

static bool write_proof(struct writing *w, const struct rig_case_node *root, struct rig_arena *arena)
{
    const size_t leaves = rig_case_leaves(root), edges = count_edges(root);
    struct rig_case_proof *proof = w->proof;
    proof->lines = rig_arena_array(arena, 2 * leaves, sizeof proof->lines[0]);
    proof->edges = rig_arena_array(arena, edges, sizeof proof->edges[0]);
    proof->txns = rig_arena_array(arena, w->part->txn_count, sizeof proof->txns[0]);
    if (proof->lines == NULL || proof->edges == NULL || proof->txns == NULL)
        return false;
    add_lines(w, root, NULL);
    RIG_INVARIANT(proof->line_count == 2 * leaves - 1 && proof->edge_count == edges);
    return true;
}

/* ---- a proof of a part ---- */

static void mark_txns(const struct writing *w, const struct rig_case_node *node, bool *used)
{
    for (; node->first != NULL; node = node->second)
        mark_txns(w, node->first, used);
    for (uint32_t i = 0; i < node->length; i++) {
        const struct rig_arc *arc = &w->graph->arcs.at[node->cycle[i]].arc;
        used[arc->from] = true;
        if (arc->writer != RIG_ARC_NONE)
            used[arc->writer] = true;
    }
}

/* The transactions that some cycle passes, or whose version it rests on. */
static bool list_txns(const struct writing *w, const struct rig_case_node *root)
{
    bool *used = calloc((size_t)w->part->txn_count + 1, sizeof used[0]);
    struct rig_case_proof *proof = w->proof;
    if (used == NULL)
        return false;
    mark_txns(w, root, used);
    for (uint32_t node = 0; node < w->part->txn_count; node++) {
        if (used[node])
            proof->txns[proof->txn_count++] = w->part->txns.at[node].txn;
    }
    free(used);
    RIG_INVARIANT(!proof->minimal || proof->txn_count == w->part->txn_count);
    return true;
}

/* The search for a proof of a part. */
struct proving {
    const struct rig_problem *part;
    const struct rig_rule *rule;
    const bool *writes_nothing;
    int64_t deadline_ns;
    struct rig_arena *arena;
    struct rig_case_graph graph;
    struct rig_case_tree tree;
    bool explained; /* an order that the rule allows was found */
};

/* Over all pairs of writers. */
static bool search_all(struct proving *p)
{
    if (!rig_case_graph_init(&p->graph, p->part, p->rule, p->writes_nothing))
        return false;
    if (p->graph.too_large)
        return true;
    const bool done = rig_case_search(&p->graph, p->deadline_ns, POLISH_NS, p->arena, &p->tree);
    p->explained = done && p->tree.model != NULL;
    return done;
}

/* Over these pairs; `more`: others that an order of these pairs needs. */
static bool search_given(struct proving *p, struct rig_case_pairs *pairs, bool *more)
{
    const size_t before = pairs->count;
    *more = false;
    rig_case_graph_done(&p->graph);
    if (!rig_case_graph_init_given(&p->graph, p->part, p->rule, p->writes_nothing, pairs))
        return false;
    if (p->graph.too_large)
        return true;
    if (!rig_case_search(&p->graph, p->deadline_ns, POLISH_NS, p->arena, &p->tree))
        return false;
    if (p->tree.model == NULL)
        return true;
    enum rig_case_pairs_answer answer;
    if (!rig_case_pairs_missing(&p->graph, p->tree.model, p->deadline_ns, pairs, &answer))
        return false;
    p->explained = answer == RIG_CASE_PAIRS_EXPLAINED;
    *more = answer == RIG_CASE_PAIRS_FOUND && pairs->count > before;
    /* The latter cannot happen; a level left open is better than a wrong one. */
    p->graph.too_large = answer == RIG_CASE_PAIRS_FOUND && !*more;
    return true;
}

/* Over pairs as they turn out to be needed: for any number of transactions. */
static bool search_needed(struct proving *p)
{
    struct rig_case_pairs pairs = {0};
    bool more = true, done = rig_case_pairs_forced(p->part, p->rule, p->deadline_ns, &pairs);
    while (done && more)
        done = search_given(p, &pairs, &more);
    rig_case_pairs_done(&pairs);
    return done;
}

static enum rig_rc prove_part(const struct rig_problem *part, const struct rig_history *history, int64_t deadline_ns,
                              struct rig_arena *arena, struct rig_case_proof *proof, struct rig_err *err)
{
    bool *writes_nothing = rig_arena_array(arena, (size_t)part->txn_count + 1, sizeof writes_nothing[0]);
    struct proving p = {.part = part,
                        .rule = rig_level_rule(proof->level),
                        .writes_nothing = writes_nothing,
                        .deadline_ns = deadline_ns,
                        .arena = arena};
    if (writes_nothing == NULL)
        return no_memory(err);
    for (uint32_t node = 0; node < part->txn_count; node++)
        writes_nothing[node] = rig_problem_writes_nothing(part, node);
    bool done = search_all(&p) && (!p.graph.too_large || search_needed(&p));
    if (done && p.tree.root != NULL) {
        struct writing w = {history, part, &p.graph, proof};
        done = write_proof(&w, p.tree.root, arena) && list_txns(&w, p.tree.root);
    }
    RIG_INVARIANT(!p.explained || p.tree.root == NULL);
    proof->too_large = p.graph.too_large;
    rig_case_graph_done(&p.graph);
    if (done && p.explained)
        return rig_fail(err, RIG_E_BUG, "%s: a core of %u transactions has an explanation; please report this history",
                        rig_level_info(proof->level)->name, (unsigned)part->txn_count);
    return done ? RIG_OK : no_memory(err);
}

/* The nodes to prove: fewer than those of the core, unless these are not to be shrunk. */
static enum rig_rc shrink(const struct rig_problem *problem, const struct rig_prove_options *options,
                          struct rig_shrunk *shrunk, struct rig_err *err)
{
    const uint32_t *core = options->core, core_count = options->core_count;
    RIG_REQUIRE(core_count > 0);
    const int64_t end_ns = options->shrink_deadline_ns;
    const struct rig_solve_budget limit = {
        .deadline_ns = end_ns < options->budget.deadline_ns ? end_ns : options->budget.deadline_ns,
        .limit_bytes = options->budget.limit_bytes};
    if (!options->shrunk)
        return rig_shrink(problem, rig_level_rule(options->level), core, core_count, &limit, shrunk, err);
    *shrunk = (struct rig_shrunk){calloc((size_t)core_count + 1, sizeof core[0]), core_count, options->minimal};
    if (shrunk->nodes == NULL)
        return no_memory(err);
    memcpy(shrunk->nodes, core, core_count * sizeof core[0]);
    return RIG_OK;
}

static enum rig_rc prove_nodes(const struct rig_problem *problem, const struct rig_history *history,
                               const struct rig_shrunk *shrunk, int64_t deadline_ns, struct rig_arena *arena,
                               struct rig_case_proof *proof, struct rig_err *err)
{
    struct rig_problem part;
    if (!rig_problem_part(problem, shrunk->nodes, shrunk->count, &part))
        return no_memory(err);
    const enum rig_rc rc = prove_part(&part, history, deadline_ns, arena, proof, err);
    rig_problem_done(&part);
    return rc;
}

/* The transactions are too many for a proof: looks for fewer while the budget lasts. */
static enum rig_rc prove_fewer(const struct rig_problem *problem, const struct rig_history *history,
                               struct rig_shrunk *shrunk, const struct rig_solve_budget *budget,
                               struct rig_arena *arena, struct rig_case_proof *proof, struct rig_err *err)
{
    RIG_REQUIRE(!shrunk->minimal);
    struct rig_shrunk fewer;
    enum rig_rc rc =
        rig_shrink(problem, rig_level_rule(proof->level), shrunk->nodes, shrunk->count, budget, &fewer, err);
    if (rc != RIG_OK)
        return rc;
    rig_shrunk_done(shrunk);
    *shrunk = fewer;
    *proof = (struct rig_case_proof){.level = proof->level, .minimal = shrunk->minimal};
    return prove_nodes(problem, history, shrunk, budget->deadline_ns, arena, proof, err);
}

enum rig_rc rig_prove_no(const struct rig_problem *problem, const struct rig_history *history,
                         const struct rig_prove_options *options, struct rig_arena *arena, struct rig_case_proof *proof,
                         struct rig_err *err)
{
    struct rig_shrunk shrunk;
    enum rig_rc rc = shrink(problem, options, &shrunk, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_case_proof made = {.level = options->level, .minimal = shrunk.minimal};
    rc = prove_nodes(problem, history, &shrunk, options->budget.deadline_ns, arena, &made, err);
    if (rc == RIG_OK && made.too_large && !shrunk.minimal)
        rc = prove_fewer(problem, history, &shrunk, &options->budget, arena, &made, err);
    rig_shrunk_done(&shrunk);
    RIG_INVARIANT(rc != RIG_OK || made.line_count == 0 || (made.txn_count >= 2 && made.edge_count >= 2));
    if (rc == RIG_OK)
        *proof = made;
    return rc;
}
