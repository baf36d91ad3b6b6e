#include "checker/decide/solve/case_pairs.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/forced.h"
#include "checker/decide/solve/order_graph.h"

enum { CYCLES_A_ROUND = 64 };

/* A set of pairs, with the vector that lists them. */
struct listing {
    struct rig_table known;
    struct rig_case_pairs *pairs;
};

static bool list_pair(struct listing *listing, uint32_t one, uint32_t other, uint32_t key)
{
    const struct rig_case_pair pair = {one < other ? one : other, one < other ? other : one, key};
    uint32_t *slot = rig_table_put(&listing->known, (uint64_t)pair.a << 32 | pair.b);
    if (slot == NULL)
        return false;
    if (*slot != RIG_TABLE_NONE)
        return true;
    *slot = 0;
    return rig_case_pairs_add(listing->pairs, pair);
}

static bool open_listing(struct listing *listing, struct rig_case_pairs *pairs)
{
    bool ok = true;
    rig_table_init(&listing->known);
    listing->pairs = pairs;
    for (size_t i = 0; ok && i < pairs->count; i++) {
        uint32_t *slot = rig_table_put(&listing->known, (uint64_t)pairs->at[i].a << 32 | pairs->at[i].b);
        ok = slot != NULL;
        if (ok)
            *slot = 0;
    }
    return ok;
}

/* ---- what reads force ---- */

/* In the order in which they were found: each follows from those before it. */
static bool list_forced(const struct rig_forced *forced, struct rig_case_pairs *pairs)
{
    const struct rig_problem *problem = forced->problem;
    struct listing listing;
    bool ok = open_listing(&listing, pairs);
    for (size_t p = problem->pairs.count; ok && p < forced->pairs.count; p++) {
        const struct rig_forced_pair *pair = &forced->pairs.at[p];
        ok = list_pair(&listing, problem->write_txn[pair->write], pair->after, problem->writes.at[pair->write].key);
    }
    rig_table_done(&listing.known);
    return ok;
}

static bool force(const struct rig_problem *problem, const struct rig_rule_frame *frame,
                  const struct rig_order_graph *graph, int64_t deadline_ns, struct rig_case_pairs *pairs)
{
    struct rig_forced forced;
    bool spent;
    const bool ok = rig_forced_init(&forced, problem, frame, graph->sequence) &&
                    rig_forced_run(&forced, deadline_ns, &spent) && list_forced(&forced, pairs);
    rig_forced_done(&forced);
    return ok;
}

bool rig_case_pairs_forced(const struct rig_problem *problem, const struct rig_rule *rule, int64_t deadline_ns,
                           struct rig_case_pairs *pairs)
{
    struct rig_rule_frame frame = {0};
    struct rig_order_graph graph = {0};
    struct rig_order_cycles cycles = {0};
    uint32_t *rank = malloc(((size_t)problem->txn_count + 1) * sizeof rank[0]);
    uint32_t *place = malloc(((size_t)problem->txn_count + 1) * sizeof place[0]);
    bool ok = rank != NULL && place != NULL && rig_rule_frame_init(&frame, problem, rule) &&
              rig_order_graph_init(&graph, problem, &frame);
    for (uint32_t node = 0; ok && node < problem->txn_count; node++)
        rank[node] = node;
    ok = ok && rig_order_graph_sort(&graph, rank, place, &cycles);
    if (ok && cycles.ends.count == 0) /* else what is known is a cycle already */
        ok = force(problem, &frame, &graph, deadline_ns, pairs);
    rig_order_edges_done(&cycles.edges);
    rig_order_ends_done(&cycles.ends);
    rig_order_graph_done(&graph);
    rig_rule_frame_done(&frame);
    free(rank);
    free(place);
    return ok;
}

/* ---- what is missing ---- */

/* Whether the arc orders transactions in an order that the model allows: rw edges may lead back in it. */
static bool is_ordering(const struct rig_case_graph *graph, const uint8_t *model, const struct rig_case_arc *arc)
{
    if (arc->pair != RIG_CASE_NONE && model[arc->pair] != arc->value)
        return false;
    return arc->arc.kind != RIG_EDGE_RW && (arc->arc.kind != RIG_EDGE_WR || graph->rule->form != RIG_RULE_WRITES);
}

/* A place for each node that keeps these arcs, which have no cycle. */
static bool sort_nodes(const struct rig_case_graph *graph, const uint8_t *model, uint32_t *place)
{
    const uint32_t count = graph->problem->txn_count;
    uint32_t *waits = calloc((size_t)count + 1, sizeof waits[0]);
    uint32_t *queue = calloc((size_t)count + 1, sizeof queue[0]);
    const bool room = waits != NULL && queue != NULL;
    uint32_t begin = 0, end = 0;
    for (size_t i = 0; room && i < graph->arcs.count; i++)
        waits[graph->arcs.at[i].arc.to] += is_ordering(graph, model, &graph->arcs.at[i]);
    for (uint32_t node = 0; room && node < count; node++) {
        if (waits[node] == 0)
            queue[end++] = node;
    }
    for (; begin < end; begin++) {
        const uint32_t node = queue[begin];
        place[node] = begin;
        for (uint32_t i = graph->first_out[node]; i < graph->first_out[node + 1]; i++) {
            const struct rig_case_arc *arc = &graph->arcs.at[graph->out[i]];
            if (is_ordering(graph, model, arc) && --waits[arc->arc.to] == 0)
                queue[end++] = arc->arc.to;
        }
    }
    RIG_INVARIANT(!room || end == count);
    free(waits);
    free(queue);
    return room;
}

static bool list_missing(const struct rig_breaches *found, struct rig_case_pairs *pairs)
{
    struct listing listing;
    bool ok = open_listing(&listing, pairs);
    for (size_t i = 0; ok && i < found->arcs.count; i++) {
        const struct rig_arc *arc = &found->arcs.at[i];
        if (arc->kind == RIG_EDGE_WW)
            ok = list_pair(&listing, arc->from, arc->to, arc->key);
        else if (arc->kind == RIG_EDGE_RW && arc->writer != RIG_ARC_NONE)
            ok = list_pair(&listing, arc->writer, arc->to, arc->key);
    }
    rig_table_done(&listing.known);
    return ok;
}

bool rig_case_pairs_missing(const struct rig_case_graph *graph, const uint8_t *model, int64_t deadline_ns,
                            struct rig_case_pairs *pairs, enum rig_case_pairs_answer *answer)
{
    uint32_t *place = malloc(((size_t)graph->problem->txn_count + 1) * sizeof place[0]);
    struct rig_breaches found = {0};
    const bool ok = place != NULL && sort_nodes(graph, model, place) &&
                    rig_breach_find(graph->problem, graph->rule, place, CYCLES_A_ROUND, deadline_ns, &found) &&
                    list_missing(&found, pairs);
    if (ok && found.ends.count > 0)
        *answer = RIG_CASE_PAIRS_FOUND;
    else if (ok)
        *answer = found.spent ? RIG_CASE_PAIRS_SPENT : RIG_CASE_PAIRS_EXPLAINED;
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    free(place);
    return ok;
}
