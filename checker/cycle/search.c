#include "checker/cycle/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* What a walk remembers of its edges, the seed included; 6 bits. */
struct memory {
    unsigned last_rw : 1; /* the edge passed last (its successor in the cycle) is rw */
    unsigned rw : 2;      /* rw edges so far, at most 3 */
    unsigned wr : 1;      /* a wr edge is among them */
    unsigned adjacent : 1;
};

/* One visited state: a node reached backwards from the seed's start. */
struct visit {
    uint32_t node;
    uint32_t parent; /* the visit it was reached from, i.e. its successor in the cycle; itself for the first */
    uint32_t other;  /* an earlier visit to the node, or NO_VISIT */
    uint32_t length; /* transactions on the walk, both ends included */
    struct memory memory;
    enum rig_edge_kind kind; /* of the edge to the parent */
    bool through;            /* that edge leaves a passage */
};

#define NO_VISIT UINT32_MAX

RIG_VEC(struct visit, visits)
RIG_VEC(uint32_t, visit_ids)

struct rig_search {
    const struct rig_history *history;
    const struct rig_graph *graph;
    uint32_t *last; /* per node: the last visit to it, if that is a visit of this search and to this node */
    struct visits visits;
    struct visit_ids now, next; /* this length and the next one */
    const struct rig_path_rule *rule;
    struct rig_seed seed;
    struct rig_region region;
};

struct rig_search *rig_search_new(const struct rig_history *history, const struct rig_graph *graph)
{
    struct rig_search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return NULL;
    search->history = history;
    search->graph = graph;
    search->last = calloc((size_t)graph->node_count + 1, sizeof *search->last);
    if (search->last != NULL)
        return search;
    free(search);
    return NULL;
}

void rig_search_free(struct rig_search *search)
{
    if (search == NULL)
        return;
    free(search->last);
    visits_done(&search->visits);
    visit_ids_done(&search->now);
    visit_ids_done(&search->next);
    free(search);
}

static bool is_same(struct memory a, struct memory b)
{
    return a.last_rw == b.last_rw && a.rw == b.rw && a.wr == b.wr && a.adjacent == b.adjacent;
}

/* The last visit to the node, or NO_VISIT. What is left of earlier searches needs no clearing: it does not fit. */
static uint32_t last_visit(const struct rig_search *search, uint32_t node)
{
    uint32_t last = search->last[node];
    return last < search->visits.count && search->visits.at[last].node == node ? last : NO_VISIT;
}

/* What the walk remembers after one more edge; false when the rule forbids it. Forgets what the rule never asks. */
static bool remember(const struct rig_path_rule *rule, struct memory before, enum rig_edge_kind kind,
                     struct memory *after)
{
    *after = before;
    bool rw = kind == RIG_EDGE_RW;
    if (rw && before.last_rw) {
        if (rule->nonadjacent)
            return false;
        after->adjacent = rule->needs_adjacent;
    }
    if (rw) {
        unsigned most_counted = rule->most_rw < RIG_ANY_RW ? rule->most_rw + 1 : rule->fewest_rw;
        if (before.rw < most_counted)
            after->rw = (before.rw + 1u) & 3u;
        if (rule->most_rw < RIG_ANY_RW && after->rw > rule->most_rw)
            return false;
    }
    after->wr = before.wr | (rule->needs_wr && kind == RIG_EDGE_WR);
    after->last_rw = rw && (rule->nonadjacent || rule->needs_adjacent);
    return true;
}

/* After the seed's start completed. */
static bool was_invoked_later(const struct rig_search *search, uint32_t node)
{
    uint32_t invoked = search->history->txns[rig_graph_txn(search->graph, node)].invoke_at;
    uint32_t ended = rig_txn_end(search->history, rig_graph_txn(search->graph, search->seed.from));
    return invoked != RIG_POSITION_NONE && ended < invoked;
}

/* True when the walk that arrived at `visit` closes the cycle with the seed. */
static bool is_goal(const struct rig_search *search, const struct visit *visit)
{
    const struct rig_path_rule *rule = search->rule;
    const struct rig_seed *seed = &search->seed;
    if (visit->node >= search->graph->txn_count || visit->length < 2)
        return false;
    if (seed->to != RIG_NODE_NONE ? visit->node != seed->to : !was_invoked_later(search, visit->node))
        return false;
    bool meets_seed = seed->kind == RIG_EDGE_RW && visit->memory.last_rw;
    if (meets_seed && rule->nonadjacent)
        return false;
    bool adjacent = visit->memory.adjacent || meets_seed;
    return visit->memory.rw >= rule->fewest_rw && (!rule->needs_wr || visit->memory.wr) &&
           (!rule->needs_adjacent || adjacent);
}

/* Adds a state that was not visited before; the queue is chosen by whether the edge costs a transaction. */
static bool visit_state(struct rig_search *search, struct visit *visit)
{
    const uint32_t last = last_visit(search, visit->node), id = (uint32_t)search->visits.count;
    for (uint32_t other = last; other != NO_VISIT; other = search->visits.at[other].other) {
        const struct visit *known = &search->visits.at[other];
        if (is_same(known->memory, visit->memory) && known->length <= visit->length)
            return true;
    }
    RIG_INVARIANT(search->visits.count < NO_VISIT - 1);
    visit->other = last;
    search->last[visit->node] = id;
    bool at_once = visit->node >= search->graph->txn_count;
    return visits_add(&search->visits, *visit) && visit_ids_add(at_once ? &search->now : &search->next, id);
}

/* Whether a way back may lead through the node. */
static bool is_inside(const struct rig_search *search, uint32_t node)
{
    const struct rig_region *region = &search->region;
    if (region->components == NULL)
        return true;
    bool split = region->components->view.split;
    uint32_t state = split ? 2 * node : node;
    if (region->latest != NULL)
        return region->latest[state] > region->after || (split && region->latest[state + 1] > region->after);
    const uint32_t *component_of = region->components->component_of;
    return component_of[state] == region->component || (split && component_of[state + 1] == region->component);
}

static bool step(struct rig_search *search, uint32_t id, uint32_t from, enum rig_edge_kind kind, bool through)
{
    if (search->rule->settled && search->graph->unsettled != NULL && search->graph->unsettled[from])
        return true;
    if (!is_inside(search, from))
        return true;
    const struct visit visit = search->visits.at[id];
    struct visit reached = {.node = from, .parent = id, .length = visit.length, .kind = kind, .through = through};
    if (through)
        reached.memory = visit.memory;
    else if (!remember(search->rule, visit.memory, kind, &reached.memory))
        return true;
    if (from < search->graph->txn_count)
        reached.length++;
    return visit_state(search, &reached);
}

static bool expand(struct rig_search *search, uint32_t id)
{
    static const enum rig_edge_kind kinds[] = {RIG_EDGE_WW, RIG_EDGE_WR, RIG_EDGE_RW, RIG_EDGE_WW};
    const struct rig_graph *graph = search->graph;
    uint32_t node = search->visits.at[id].node;
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        enum rig_link link = rig_edge_link(graph->edges[i]);
        if (!rig_link_in(link, search->rule->links))
            continue;
        if (!step(search, id, rig_edge_node(graph->edges[i]), kinds[link], link == RIG_LINK_THROUGH))
            return false;
    }
    bool process = search->rule->process && node < graph->txn_count && graph->process_before[node] != RIG_NODE_NONE;
    return !process || step(search, id, graph->process_before[node], RIG_EDGE_PROCESS, false);
}

/* Writes the cycle that ends at visit `id`: the seed's start first, then along the path. */
static bool write_cycle(const struct rig_search *search, uint32_t id, struct rig_cycle *cycle)
{
    cycle->count = 0;
    if (!rig_cycle_add(cycle, (struct rig_hop){rig_graph_txn(search->graph, search->seed.from), search->seed.kind}))
        return false;
    for (; search->visits.at[id].parent != id; id = search->visits.at[id].parent) {
        const struct visit *visit = &search->visits.at[id];
        if (visit->node >= search->graph->txn_count)
            continue;
        /* The edge out of a transaction names the kind, also when it leads through passages. */
        if (!rig_cycle_add(cycle, (struct rig_hop){rig_graph_txn(search->graph, visit->node), visit->kind}))
            return false;
    }
    return true;
}

static enum rig_found run(struct rig_search *search, size_t most_length, size_t budget, struct rig_cycle *cycle)
{
    while (search->next.count > 0) {
        struct visit_ids swap = search->now;
        search->now = search->next;
        search->next = swap;
        search->next.count = 0;
        for (size_t i = 0; i < search->now.count; i++) {
            uint32_t id = search->now.at[i];
            const struct visit visit = search->visits.at[id];
            if (is_goal(search, &visit))
                return write_cycle(search, id, cycle) ? RIG_FOUND : RIG_FOUND_NO_MEMORY;
            if (budget > 0 && search->visits.count > budget)
                return RIG_FOUND_BUDGET_SPENT;
            if (most_length > 0 && visit.length >= most_length)
                continue;
            if (!expand(search, id))
                return RIG_FOUND_NO_MEMORY;
        }
    }
    return RIG_FOUND_NOTHING;
}

enum rig_found rig_search_cycle(struct rig_search *search, const struct rig_path_rule *rule, struct rig_seed seed,
                                struct rig_region region, size_t most_length, size_t budget, struct rig_cycle *cycle)
{
    search->rule = rule;
    search->seed = seed;
    search->region = region;
    search->visits.count = search->now.count = search->next.count = 0;
    struct memory nothing = {0}, start;
    if (!remember(rule, nothing, seed.kind, &start))
        return RIG_FOUND_NOTHING;
    struct visit first = {.node = seed.from, .length = 1, .memory = start, .kind = seed.kind};
    if (!visit_state(search, &first))
        return RIG_FOUND_NO_MEMORY;
    return run(search, most_length, budget, cycle);
}

size_t rig_search_visited(const struct rig_search *search)
{
    return search->visits.count;
}
