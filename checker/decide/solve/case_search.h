/*
 * The search for a proof by cases over a few transactions: a tree of suppositions with a forbidden cycle at each leaf.
 *
 * First a proof by propagation (each order whose reverse gives a cycle at once is concluded; a case split where there
 * is none; after many splits, conclusions from cases in each other come before them), less what it does not use; then
 * the proof with the fewest cycles, by iterative deepening, while time lasts.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_CASE_SEARCH_H
#define RIG_CHECKER_DECIDE_SOLVE_CASE_SEARCH_H

#include "base/arena.h"
#include "checker/decide/solve/case_graph.h"

/* A leaf is a cycle; else the pair is supposed in one order, which `first` refutes, and is in the other in `second`. */
struct rig_case_node {
    struct rig_case_node *first, *second;
    uint32_t pair;
    enum rig_case_value supposed;
    uint32_t *cycle; /* arcs of the graph */
    uint32_t length;
    uint32_t nested; /* first cases in each other below, at most */
};

struct rig_case_tree {
    struct rig_case_node *root; /* NULL: there is an explanation, or it is spent; from the arena */
    bool spent;                 /* the deadline came first */
    uint8_t *model; /* an order of each pair that makes no cycle: where there is an explanation; from the arena */
};

/*
 * Up to `deadline_ns` for any proof, and within that up to `polish_ns` for a shorter one. Leaves the graph's pairs
 * open. False when memory runs out.
 */
bool rig_case_search(struct rig_case_graph *graph, int64_t deadline_ns, int64_t polish_ns, struct rig_arena *arena,
                     struct rig_case_tree *tree);

/* The cycles of a tree. Like all that recurses over one: of a tree of rig_case_search(), which nests few enough
 * cases. */
uint32_t rig_case_leaves(const struct rig_case_node *node);

#endif
