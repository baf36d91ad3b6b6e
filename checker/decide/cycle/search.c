#include "checker/decide/cycle/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/model/orders.h"

/* A walk's facts about its edges, the seed included, as bits: its memory. */
enum {
    LAST_RW = 1,   /* the edge passed last (its successor in the cycle) is rw */
    WR = 2,        /* a wr edge is among them, or a transaction of unknown fate */
    ADJACENT = 4,  /* two rw edges followed each other */
    RW_SHIFT = 3,  /* two bits: rw edges so far, at most 3 */
    MEMORIES = 32, /* different ones */
    KINDS = 5,
    FORBIDDEN = 255
};

enum { LONG_WALK = 64 /* transactions: longer walks are not tested for transactions that they pass twice */ };

/* The effect of a rule on memories, as a table rather than computed edge by edge. */
struct table {
    uint8_t after[KINDS][MEMORIES]; /* one edge more, or FORBIDDEN */
    uint32_t better[MEMORIES];      /* as bits, the memories that allow all completions that this one allows */
};

/* One visited state: a node reached backwards from the seed's start. */
struct visit {
    uint32_t node;
    uint32_t parent; /* the visit it was reached from, i.e. its successor in the cycle; itself for the first */
    uint32_t length; /* transactions on the walk, both ends included */
    uint8_t memory;
    uint8_t kind; /* enum rig_edge_kind, of the edge to the parent */
};

/* A search's facts about a node; valid only if the node has the search's number. */
struct seen {
    uint32_t search;
    uint32_t swept;    /* bits: memories with which all earlier nodes of its process were visited, too */
    uint32_t memories; /* bits: memories with which it was visited; all of them when it is outside the region */
};

RIG_VEC(struct visit, visits)
RIG_VEC(uint32_t, visit_ids)

struct rig_search {
    const struct rig_history *history;
    const struct rig_graph *graph;
    struct seen *seen; /* per node */
    uint32_t number;   /* of the search, from 1 */
    struct visits visits;
    struct visit_ids now, next; /* this length and the next one */
    struct rig_path_rule rule;
    struct table table; /* of that rule */
    struct rig_seed seed;
    struct rig_region region;
};

static unsigned rw_count(unsigned memory)
{
    return memory >> RW_SHIFT;
}

/* The walk's memory after one more edge, or FORBIDDEN. Drops the facts that the rule does not need. */
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

/* The table's second half is filled as memories occur: most rules have few. */
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
           a->needs_adjacent == b->needs_adjacent && a->needs_wr == b->needs_wr && a->simple == b->simple;
}

/* Most searches have the rule of the search before. */
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
    search->seen = calloc((size_t)graph->node_count + 1, sizeof *search->seen);
    if (search->seen != NULL)
        return search;
    free(search);
    return NULL;
}

void rig_search_free(struct rig_search *search)
{
    if (search == NULL)
        return;
    free(search->seen);
    visits_done(&search->visits);
    visit_ids_done(&search->now);
    visit_ids_done(&search->next);
    free(search);
}

/* A search for the shortest cycle through one transaction. */
static bool goes_round(const struct rig_search *search)
{
    return search->seed.to == search->seed.from;
}

/* Whether process order, or real time, puts the transaction after the seed's start. */
static bool comes_later(const struct rig_search *search, uint32_t node)
{
    if (search->seed.kind == RIG_EDGE_PROCESS) {
        uint32_t first = rig_graph_txn(search->graph, search->seed.from), txn = rig_graph_txn(search->graph, node);
        return search->history->txns[first].process == search->history->txns[txn].process &&
               rig_process_precedes(search->history, first, txn);
    }
    uint32_t invoked = search->history->txns[rig_graph_txn(search->graph, node)].invoke_at;
    uint32_t ended = rig_txn_end(search->history, rig_graph_txn(search->graph, search->seed.from));
    return invoked != RIG_POSITION_NONE && ended < invoked;
}

/* True when the walk that arrived at `visit` closes the cycle with the seed. */
static bool is_goal(const struct rig_search *search, const struct visit *visit)
{
    const struct rig_path_rule *rule = &search->rule;
    const struct rig_seed *seed = &search->seed;
    if (visit->node >= search->graph->txn_count || visit->length < 2 + (uint32_t)goes_round(search))
        return false;
    if (seed->to != RIG_NODE_NONE ? visit->node != seed->to : !comes_later(search, visit->node))
        return false;
    bool meets_seed = !goes_round(search) && seed->kind == RIG_EDGE_RW && (visit->memory & LAST_RW);
    if ((meets_seed || (goes_round(search) && visit->kind == RIG_EDGE_RW)) && rule->nonadjacent)
        return false;
    bool adjacent = (visit->memory & ADJACENT) || meets_seed;
    return rw_count(visit->memory) >= rule->fewest_rw && (!rule->needs_wr || (visit->memory & WR)) &&
           (!rule->needs_adjacent || adjacent);
}

/* Whether a way back may lead through the node. */
static bool is_inside(const struct rig_search *search, uint32_t node)
{
    const struct rig_region *region = &search->region;
    if (region->components == NULL || node >= region->components->view.graph->node_count)
        return true;
    bool split = region->components->view.split;
    uint32_t state = split ? 2 * node : node;
    if (region->latest != NULL)
        return region->latest[state] > region->after || (split && region->latest[state + 1] > region->after);
    const uint32_t *component_of = region->components->component_of;
    return component_of[state] == region->component || (split && component_of[state + 1] == region->component);
}

/* The facts about the node in this search; at the first call, whether it is in the region. */
static inline struct seen *look_up(struct rig_search *search, uint32_t node)
{
    struct seen *seen = &search->seen[node];
    if (seen->search != search->number)
        *seen = (struct seen){.search = search->number, .memories = is_inside(search, node) ? 0 : UINT32_MAX};
    return seen;
}

/* Makes room for `count` more visits. */
static bool make_room(struct rig_search *search, size_t count)
{
    RIG_INVARIANT(search->visits.count + count < UINT32_MAX);
    return visits_reserve(&search->visits, search->visits.count + count) &&
           visit_ids_reserve(&search->now, search->now.count + count) &&
           visit_ids_reserve(&search->next, search->next.count + count);
}

/* Adds a visit, for which there is room, unless an earlier one (which is no longer) allows the same completions. */
static inline void visit_node(struct rig_search *search, uint32_t node, uint32_t parent, uint32_t length,
                              uint8_t memory, enum rig_edge_kind kind)
{
    struct seen *seen = look_up(search, node);
    uint32_t better = search->table.better[memory];
    if (better == 0)
        better = better_than(search, memory);
    if (seen->memories & better)
        return;
    seen->memories |= 1u << memory;
    const uint32_t id = (uint32_t)search->visits.count++;
    struct visit *visit = &search->visits.at[id];
    visit->node = node;
    visit->parent = parent;
    visit->length = length;
    visit->memory = memory;
    visit->kind = (uint8_t)kind;
    struct visit_ids *due = node >= search->graph->txn_count ? &search->now : &search->next;
    due->at[due->count++] = id;
}

static bool is_unsettled(const struct rig_search *search, uint32_t node)
{
    return search->graph->unsettled != NULL && search->graph->unsettled[node] != 0;
}

/* Goes one edge back from a visit; `memory` is the one after that edge, or FORBIDDEN. */
static inline void step(struct rig_search *search, const struct visit *visit, uint32_t id, uint32_t from,
                        uint8_t memory, enum rig_edge_kind kind)
{
    bool unsettled = is_unsettled(search, from);
    if (memory == FORBIDDEN || (unsettled && search->rule.settled))
        return;
    memory |= unsettled && search->rule.needs_wr ? WR : 0;
    visit_node(search, from, id, visit->length + (from < search->graph->txn_count), memory, kind);
}

/*
 * Steps to all transactions that come before this one in its process, directly. The sweep ends at the first that an
 * earlier sweep with the same memory passed: that one visited the rest, on walks that are no longer.
 */
static bool sweep_process(struct rig_search *search, const struct visit *visit, uint32_t id)
{
    const uint32_t *process_before = search->graph->process_before;
    const uint8_t memory = search->table.after[RIG_EDGE_PROCESS][visit->memory];
    uint32_t node = process_before[visit->node];
    while (memory != FORBIDDEN && node != RIG_NODE_NONE) {
        struct seen *seen = look_up(search, node);
        if (seen->swept >> memory & 1u)
            break;
        seen->swept |= 1u << memory;
        if (!make_room(search, 1))
            return false;
        step(search, visit, id, node, memory, RIG_EDGE_PROCESS);
        node = process_before[node];
    }
    return true;
}

/* Out of a relay the edge has the kind of the one that led into it. */
static bool expand(struct rig_search *search, const struct visit *visit, uint32_t id)
{
    static const enum rig_edge_kind kinds[] = {RIG_EDGE_WW, RIG_EDGE_WR, RIG_EDGE_RW, RIG_EDGE_WW};
    const struct rig_graph *graph = search->graph;
    const uint32_t node = visit->node, begin = graph->first[node], end = graph->first[node + 1];
    uint8_t after[] = {FORBIDDEN, FORBIDDEN, FORBIDDEN, visit->memory};
    for (unsigned link = RIG_LINK_WW; link <= RIG_LINK_RW; link++) {
        if (search->rule.links >> link & 1u)
            after[link] = search->table.after[kinds[link]][visit->memory];
    }
    if (!make_room(search, (size_t)(end - begin) + 1))
        return false;
    for (uint32_t i = begin; i < end; i++) {
        enum rig_link link = rig_edge_link(graph->edges[i]);
        step(search, visit, id, rig_edge_node(graph->edges[i]), after[link], kinds[link]);
    }
    return !search->rule.process || node >= graph->txn_count || sweep_process(search, visit, id);
}

/* Whether no transaction is on the walk twice, except the seed's end, which closes it. Long walks are not tested. */
static bool is_simple(const struct rig_search *search, uint32_t id)
{
    const struct visit *visits = search->visits.at;
    if (visits[id].length > LONG_WALK)
        return true;
    for (uint32_t i = goes_round(search) ? visits[id].parent : id; visits[i].parent != i; i = visits[i].parent) {
        for (uint32_t j = visits[i].parent;; j = visits[j].parent) {
            if (visits[i].node < search->graph->txn_count && visits[i].node == visits[j].node)
                return false;
            if (visits[j].parent == j)
                break;
        }
    }
    return true;
}

/* Writes the cycle that ends at visit `id`: the seed's start first, then along the path. */
static bool write_cycle(const struct rig_search *search, uint32_t id, struct rig_cycle *cycle)
{
    cycle->count = 0;
    const struct rig_hop first = {rig_graph_txn(search->graph, search->seed.from), search->seed.kind};
    if (!goes_round(search) && !rig_cycle_add(cycle, first))
        return false;
    for (; search->visits.at[id].parent != id; id = search->visits.at[id].parent) {
        const struct visit *visit = &search->visits.at[id];
        if (visit->node >= search->graph->txn_count)
            continue;
        /* The edge out of a transaction has the kind, also when it leads through relays. */
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
            if (is_goal(search, &visit) && (!search->rule.simple || is_simple(search, id))) {
                if (!write_cycle(search, id, cycle))
                    return RIG_FOUND_NO_MEMORY;
                RIG_INVARIANT(cycle->count + goes_round(search) == visit.length);
                RIG_INVARIANT(most_length == 0 || cycle->count <= most_length);
                return RIG_FOUND;
            }
            if (budget > 0 && search->visits.count > budget)
                return RIG_FOUND_BUDGET_SPENT;
            if (goes_round(search) && visit.parent != id && visit.node == search->seed.from)
                continue;
            if (most_length > 0 && visit.length >= most_length + goes_round(search))
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
    RIG_REQUIRE(seed.from < search->graph->txn_count);
    RIG_REQUIRE(seed.to == RIG_NODE_NONE || seed.to < search->graph->txn_count);
    RIG_REQUIRE(!(rule->nonadjacent && rule->needs_adjacent) && rule->fewest_rw <= rule->most_rw);
    take_rule(search, rule);
    search->seed = seed;
    search->region = region;
    search->number++;
    RIG_INVARIANT(search->number > 0);
    search->visits.count = search->now.count = search->next.count = 0;
    uint8_t start = goes_round(search) ? 0 : search->table.after[seed.kind][0];
    if (start == FORBIDDEN)
        return RIG_FOUND_NOTHING;
    if (!make_room(search, 1))
        return RIG_FOUND_NO_MEMORY;
    start |= is_unsettled(search, seed.from) && rule->needs_wr ? WR : 0;
    visit_node(search, seed.from, 0, 1, start, seed.kind);
    if (goes_round(search)) /* the walk returns to it at the end */
        look_up(search, seed.from)->memories = 0;
    return run(search, most_length, budget, cycle);
}

size_t rig_search_visited(const struct rig_search *search)
{
    return search->visits.count;
}

/* ---- seeds inside a component ---- */

/* The state of a node that was reached over an rw edge, or over another one. */
static uint32_t state_of(const struct rig_view *view, uint32_t node, bool came_by_rw)
{
    return view->split ? node * 2 + came_by_rw : node;
}

/* Whether an edge of `kind` from `from`, into a state of the component, lies inside it, and so on a cycle. */
static bool starts_inside(const struct rig_components *components, uint32_t component, uint32_t from,
                          enum rig_edge_kind kind)
{
    const struct rig_view *view = &components->view;
    bool by_other = components->component_of[state_of(view, from, false)] == component;
    bool by_rw = components->component_of[state_of(view, from, true)] == component;
    return by_other || (by_rw && kind != RIG_EDGE_RW);
}

bool rig_seeds_into(const struct rig_components *components, uint32_t component, uint32_t node, enum rig_edge_kind kind,
                    size_t most, struct rig_seeds *seeds)
{
    const struct rig_graph *graph = components->view.graph;
    bool rw = kind == RIG_EDGE_RW;
    if (components->component_of[state_of(&components->view, node, rw)] != component)
        return true;
    if (kind == RIG_EDGE_PROCESS) {
        uint32_t before = graph->process_before[node];
        bool inside = before != RIG_NODE_NONE && starts_inside(components, component, before, kind);
        return !inside || rig_seeds_add(seeds, (struct rig_seed){before, node, kind});
    }
    enum rig_link link = kind == RIG_EDGE_WW ? RIG_LINK_WW : kind == RIG_EDGE_WR ? RIG_LINK_WR : RIG_LINK_RW;
    struct visit_ids open = {0};
    bool done = visit_ids_add(&open, node);
    while (done && open.count > 0 && seeds->count < most) {
        uint32_t at = open.at[--open.count];
        for (uint32_t i = graph->first[at]; done && i < graph->first[at + 1] && seeds->count < most; i++) {
            uint32_t from = rig_edge_node(graph->edges[i]);
            if (rig_edge_link(graph->edges[i]) == RIG_LINK_THROUGH) {
                if (components->component_of[state_of(&components->view, from, rw)] == component)
                    done = visit_ids_add(&open, from);
            } else if (rig_edge_link(graph->edges[i]) == link && starts_inside(components, component, from, kind)) {
                done = rig_seeds_add(seeds, (struct rig_seed){from, node, kind});
            }
        }
    }
    visit_ids_done(&open);
    return done;
}
