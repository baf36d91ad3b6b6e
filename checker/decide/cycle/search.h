/*
 * Searches for short cycles, breadth first, backwards over predecessors.
 *
 * A search closes a seed edge a -> b by the shortest path from b back to a whose edges obey a rule. The walk remembers
 * those facts about its edges that the rule needs, so the search is exact. Relays cost nothing: lengths count
 * transactions. The walk found may pass a transaction twice in different states; rig_cycle_simplify() then cuts it down
 * to a cycle.
 *
 * A seed from a to a asks for the shortest cycle through a, with any edges; when the rule lets no two rw edges follow
 * each other, for one that leaves a over another edge.
 *
 * A region (struct rig_region) restricts the search to nodes from which a way back is possible.
 *
 * Time: linear in the states visited, which `budget` bounds. Space: 24 bytes a state visited, 12 a node. Whether an
 * anomaly exists never depends on a search: the callers know it before.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_SEARCH_H
#define RIG_CHECKER_DECIDE_CYCLE_SEARCH_H

#include "checker/model/components.h"
#include "checker/decide/cycle/cycle.h"
#include "history/model/history.h"

struct rig_path_rule {
    unsigned links;      /* RIG_LINKS_* that the path may use */
    bool process;        /* the path may use process order, too */
    bool settled;        /* no transaction of unknown fate, the seed's included */
    unsigned fewest_rw;  /* in the whole cycle, the seed included: 0, 1 or 2 */
    unsigned most_rw;    /* 0, 1, or RIG_ANY_RW */
    bool nonadjacent;    /* no two rw edges follow each other in the cycle */
    bool needs_adjacent; /* some two do */
    bool needs_wr;       /* some edge is wr, or some transaction is of unknown fate */
    bool simple;         /* walks that pass a transaction twice are skipped */
};

enum { RIG_ANY_RW = 3 };

/* Nodes of the graph. */
struct rig_seed {
    uint32_t from; /* a */
    uint32_t to;   /* b; RIG_NODE_NONE: any transaction that process order or real time puts after a; a: see above */
    enum rig_edge_kind kind;
};

RIG_VEC(struct rig_seed, rig_seeds)

/* The nodes that the path may visit; all NULL: any. Both members belong to the components' view. */
struct rig_region {
    const struct rig_components *components; /* inside this one of them; or, when `latest` is given: */
    uint32_t component;                      /*   nodes outside their view are allowed; */
    const uint32_t *latest; /* only states whose latest invocation, among the state and its ancestors, is */
    uint32_t after;         /*   after this position */
};

struct rig_search; /* reusable memory */

/* Borrows both. NULL when memory runs out. */
struct rig_search *rig_search_new(const struct rig_history *history, const struct rig_graph *graph);
void rig_search_free(struct rig_search *search);

enum rig_found { RIG_FOUND, RIG_FOUND_NOTHING, RIG_FOUND_BUDGET_SPENT, RIG_FOUND_NO_MEMORY };

/*
 * Fills `cycle`, which keeps its memory, when one is found. `most_length`: the most transactions of a cycle
 * (0: any number); `budget`: states to visit (0: any number).
 */
enum rig_found rig_search_cycle(struct rig_search *search, const struct rig_path_rule *rule, struct rig_seed seed,
                                struct rig_region region, size_t most_length, size_t budget, struct rig_cycle *cycle);

/* The number of states that the last search visited. */
size_t rig_search_visited(const struct rig_search *search);

/* Adds the edges of one kind that lead into `node` from inside its component, through relays too; stops at `most`
 * seeds. Each lies on a cycle of the component's view. False when memory runs out. */
bool rig_seeds_into(const struct rig_components *components, uint32_t component, uint32_t node, enum rig_edge_kind kind,
                    size_t most, struct rig_seeds *seeds);

#endif
