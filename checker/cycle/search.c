#include "checker/cycle/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* What a walk remembers of its edges, the seed included, as bits. */
enum {
    LAST_RW = 1,   /* the edge passed last (its successor in the cycle) is rw */
    WR = 2,        /* a wr edge is among them */
    ADJACENT = 4,  /* two rw edges followed each other */
    RW_SHIFT = 3,  /* two bits: rw edges so far, at most 3 */
    MEMORIES = 32, /* different ones */
    KINDS = 5,
    FORBIDDEN = 255
};

/* What a rule makes of memories, looked up rather than reckoned edge by edge. */
struct table {
    uint8_t after[KINDS][MEMORIES]; /* one edge more, or FORBIDDEN */
    uint32_t better[MEMORIES]; /* as bits, with which memories a walk can be completed in every way it can with this */
};

/* One visited state: a node reached backwards from the seed's start. */
struct visit {
    uint32_t node;
    uint32_t parent; /* the visit it was reached from, i.e. its successor in the cycle; itself for the first */
    uint32_t other;  /* an earlier visit to the node, or NO_VISIT */
    uint32_t length; /* transactions on the walk, both ends included */
    uint8_t memory;
    uint8_t kind; /* enum rig_edge_kind, of the edge to the parent */
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
    struct rig_path_rule rule;
    struct table table; /* of that rule */
    struct rig_seed seed;
    struct rig_region region;
};

/* The last visit to the node, or NO_VISIT. What is left of earlier searches needs no clearing: it does not fit. */
static uint32_t last_visit(const struct rig_search *search, uint32_t node)
{
    uint32_t last = search->last[node];
    return last < search->visits.count && search->visits.at[last].node == node ? last : NO_VISIT;
}

static unsigned rw_count(unsigned memory)
{
    return memory >> RW_SHIFT;
}

/* What the walk remembers after one more edge, or FORBIDDEN. Forgets what the rule never asks. */
static uint8_t remember(const struct rig_path_rule *rule, unsigned before, enum rig_edge_kind kind)
{
    unsigned after = before & ~(unsigned)LAST_RW, rw = rw_count(before);
    if (rule->needs_wr && kind == RIG_EDGE_WR)
        after |= WR;
    if (kind != RIG_EDGE_RW)
        return (uint8_t)after;
    if (before & LAST_RW) {
        if (rule->nonadjacent)
            return FORBIDDEN;
        after |= rule->needs_adjacent ? ADJACENT : 0;
    }
    unsigned most_counted = rule->most_rw < RIG_ANY_RW ? rule->most_rw + 1 : rule->fewest_rw;
    if (rw < most_counted)
        after += 1u << RW_SHIFT;
    if (rule->most_rw < RIG_ANY_RW && rw_count(after) > rule->most_rw)
        return FORBIDDEN;
    return (uint8_t)(rule->nonadjacent || rule->needs_adjacent ? after | LAST_RW : after);
}

/* Whether a walk that remembers `a` can be completed in every way that one with `b` can. */
static bool is_as_good(const struct rig_path_rule *rule, unsigned a, unsigned b)
{
    bool counted = rule->most_rw < RIG_ANY_RW;
    if (counted ? rw_count(a) != rw_count(b) : rw_count(a) < rw_count(b))
        return false;
    if ((b & (WR | ADJACENT)) & ~a)
        return false;
    if (rule->nonadjacent)
        return (a & LAST_RW) <= (b & LAST_RW);
    return !rule->needs_adjacent || (a & ADJACENT) || (a & LAST_RW) >= (b & LAST_RW);
}

/* The table's second half is filled as memories turn up: most rules know few. */
static void make_table(const struct rig_path_rule *rule, struct table *table)
{
    for (unsigned memory = 0; memory < MEMORIES; memory++) {
        table->better[memory] = 0;
        for (unsigned kind = 0; kind < KINDS; kind++)
            table->after[kind][memory] = remember(rule, memory, (enum rig_edge_kind)kind);
    }
}

static uint32_t better_than(struct rig_search *search, unsigned memory)
{
    uint32_t *better = &search->table.better[memory];
    for (unsigned other = 0; other < MEMORIES; other++)
        *better |= (uint32_t)is_as_good(&search->rule, other, memory) << other;
    return *better;
}

static bool is_same_rule(const struct rig_path_rule *a, const struct rig_path_rule *b)
{
    return a->links == b->links && a->process == b->process && a->settled == b->settled &&
           a->fewest_rw == b->fewest_rw && a->most_rw == b->most_rw && a->nonadjacent == b->nonadjacent &&
           a->needs_adjacent == b->needs_adjacent && a->needs_wr == b->needs_wr;
}

/* Most searches have the rule of the one before. */
static void take_rule(struct rig_search *search, const struct rig_path_rule *rule)
{
    if (is_same_rule(&search->rule, rule))
        return;
    search->rule = *rule;
    make_table(rule, &search->table);
}

struct rig_search *rig_search_new(const struct rig_history *history, const struct rig_graph *graph)
{
    struct rig_search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return NULL;
    search->history = history;
    search->graph = graph;
    make_table(&search->rule, &search->table);
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
    const struct rig_path_rule *rule = &search->rule;
    const struct rig_seed *seed = &search->seed;
    if (visit->node >= search->graph->txn_count || visit->length < 2)
        return false;
    if (seed->to != RIG_NODE_NONE ? visit->node != seed->to : !was_invoked_later(search, visit->node))
        return false;
    bool meets_seed = seed->kind == RIG_EDGE_RW && (visit->memory & LAST_RW);
    if (meets_seed && rule->nonadjacent)
        return false;
    bool adjacent = (visit->memory & ADJACENT) || meets_seed;
    return rw_count(visit->memory) >= rule->fewest_rw && (!rule->needs_wr || (visit->memory & WR)) &&
           (!rule->needs_adjacent || adjacent);
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

/* Whether the node was visited before with all that this visit can lead to; `last` is the last visit to it. */
static inline bool is_known(struct rig_search *search, uint32_t last, unsigned memory, uint32_t length)
{
    uint32_t better = search->table.better[memory];
    if (better == 0)
        better = better_than(search, memory);
    for (uint32_t other = last; other != NO_VISIT; other = search->visits.at[other].other) {
        const struct visit *known = &search->visits.at[other];
        if ((better >> known->memory & 1u) && known->length <= length)
            return true;
    }
    return false;
}

/* Adds a visit, unless it leads out of the region. */
static bool add_visit(struct rig_search *search, uint32_t last, struct visit visit)
{
    const uint32_t id = (uint32_t)search->visits.count;
    if (last == NO_VISIT && !is_inside(search, visit.node))
        return true;
    RIG_INVARIANT(id < NO_VISIT - 1);
    visit.other = last;
    search->last[visit.node] = id;
    bool at_once = visit.node >= search->graph->txn_count;
    return visits_add(&search->visits, visit) && visit_ids_add(at_once ? &search->now : &search->next, id);
}

/* Goes one edge back from a visit. Out of a passage the edge has the kind of the one that led into it. */
static inline bool step(struct rig_search *search, const struct visit *visit, uint32_t id, uint32_t from,
                        enum rig_edge_kind kind, bool through)
{
    uint8_t memory = through ? visit->memory : search->table.after[kind][visit->memory];
    bool left_out = search->rule.settled && search->graph->unsettled != NULL && search->graph->unsettled[from];
    if (memory == FORBIDDEN || left_out)
        return true;
    const uint32_t last = last_visit(search, from), length = visit->length + (from < search->graph->txn_count);
    if (is_known(search, last, memory, length))
        return true;
    return add_visit(
        search, last,
        (struct visit){.node = from, .parent = id, .length = length, .memory = memory, .kind = (uint8_t)kind});
}

static bool expand(struct rig_search *search, const struct visit *visit, uint32_t id)
{
    static const enum rig_edge_kind kinds[] = {RIG_EDGE_WW, RIG_EDGE_WR, RIG_EDGE_RW, RIG_EDGE_WW};
    const struct rig_graph *graph = search->graph;
    const uint32_t node = visit->node;
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        enum rig_link link = rig_edge_link(graph->edges[i]);
        if (rig_link_in(link, search->rule.links) &&
            !step(search, visit, id, rig_edge_node(graph->edges[i]), kinds[link], link == RIG_LINK_THROUGH))
            return false;
    }
    bool process = search->rule.process && node < graph->txn_count && graph->process_before[node] != RIG_NODE_NONE;
    return !process || step(search, visit, id, graph->process_before[node], RIG_EDGE_PROCESS, false);
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
        if (!rig_cycle_add(
                cycle, (struct rig_hop){rig_graph_txn(search->graph, visit->node), (enum rig_edge_kind)visit->kind}))
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
            if (!expand(search, &visit, id))
                return RIG_FOUND_NO_MEMORY;
        }
    }
    return RIG_FOUND_NOTHING;
}

enum rig_found rig_search_cycle(struct rig_search *search, const struct rig_path_rule *rule, struct rig_seed seed,
                                struct rig_region region, size_t most_length, size_t budget, struct rig_cycle *cycle)
{
    take_rule(search, rule);
    search->seed = seed;
    search->region = region;
    search->visits.count = search->now.count = search->next.count = 0;
    uint8_t start = search->table.after[seed.kind][0];
    if (start == FORBIDDEN)
        return RIG_FOUND_NOTHING;
    struct visit first = {.node = seed.from, .length = 1, .memory = start, .kind = (uint8_t)seed.kind};
    if (!add_visit(search, NO_VISIT, first))
        return RIG_FOUND_NO_MEMORY;
    return run(search, most_length, budget, cycle);
}

size_t rig_search_visited(const struct rig_search *search)
{
    return search->visits.count;
}
