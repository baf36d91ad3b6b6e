#include "checker/decide/cycle/ladder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/decide/cycle/collect.h"
#include "checker/decide/cycle/core.h"
#include "checker/decide/cycle/existence.h"
#include "checker/decide/cycle/pairs.h"
#include "checker/decide/cycle/read_skew.h"
#include "checker/decide/cycle/realtime.h"
#include "checker/decide/cycle/search.h"
#include "checker/decide/cycle/web.h"
#include "checker/infer/list_acknowledged.h"
#include "checker/infer/type_inference.h"
#include "checker/model/components.h"

/* Bounds of the search for short witnesses; no verdict depends on them. */
enum {
    SEEDS_PER_COMPONENT = 16,
    COMPONENTS_PER_RUNG = 256,
    SEEDS_IN_REAL_TIME = 48,
    SKEWS_WANTED = 64,
    SKEWS_TRIED = 4096,    /* rw edges tried where it is not known which ones close a read skew */
    SEARCH_BUDGET = 50000, /* states of one search */
    RUNG_BUDGET = 150000,  /* states of all searches of one rung */
};

struct climb {
    const struct rig_history *history;
    struct rig_inference *inference;
    bool has_versions;
    struct rig_ladder *ladder;
    struct rig_graph graph; /* the core */
    struct rig_web web;     /* the same, with edges between versions that are not adjacent; of total orders */
    struct rig_web
        writes; /* the web of writes, of total orders with transactions of unknown fate that count as committed; */
    struct rig_search *writes_search; /* NULL, like `writes`, until it is needed */
    struct rig_collector collector;
    struct rig_search *search;
    struct rig_components all, flow; /* of those rungs in plain order, while read skew needs them */
    size_t budget;                   /* states left to the rung's searches */
    struct rig_cycle cycle;          /* scratch */
    struct rig_err *err;
};

static const unsigned rung_links[RIG_RUNG_COUNT] = {RIG_LINKS_WW, RIG_LINKS_WW | RIG_LINKS_WR, RIG_LINKS_ALL,
                                                    RIG_LINKS_ALL};

static enum rig_rc no_memory(struct climb *c)
{
    return rig_memory_limit(c->err, "the search for cycles");
}

static struct rig_view view_of(const struct climb *c, enum rig_rung rung, bool process)
{
    RIG_REQUIRE((unsigned)rung < RIG_RUNG_COUNT);
    return (struct rig_view){.graph = rung == RIG_RUNG_WW && c->writes_search != NULL ? &c->writes.graph : &c->graph,
                             .links = rung_links[rung],
                             .process = process,
                             .split = rung == RIG_RUNG_SNAPSHOT,
                             .settled = rung == RIG_RUNG_WW};
}

/* The shape of cycles that belong to a rung and to no lower one. */
static struct rig_path_rule rule_of(enum rig_rung rung, bool process)
{
    struct rig_path_rule rule = {.links = rung_links[rung], .process = process, .most_rw = RIG_ANY_RW};
    rule.settled = rung == RIG_RUNG_WW;
    rule.needs_wr = rung == RIG_RUNG_FLOW;
    rule.nonadjacent = rung == RIG_RUNG_SNAPSHOT;
    rule.fewest_rw = rung == RIG_RUNG_SNAPSHOT ? 1 : 0;
    rule.needs_adjacent = rung == RIG_RUNG_ALL;
    return rule;
}

/* Any cycle of the rung, also one of a lower rung. */
static struct rig_path_rule loose_rule_of(enum rig_rung rung, bool process)
{
    struct rig_path_rule rule = {.links = rung_links[rung], .process = process, .most_rw = RIG_ANY_RW};
    rule.settled = rung == RIG_RUNG_WW;
    rule.nonadjacent = rung == RIG_RUNG_SNAPSHOT;
    return rule;
}

/*
 * Searches from one seed, within the rung's budget unless `bounded` is false. `shortest` holds the length of the
 * shortest cycle so far (0: none) and bounds this search; memory failures are the only error.
 */
static enum rig_rc try_seed(struct climb *c, const struct rig_path_rule *rule, struct rig_seed seed,
                            struct rig_region region, bool bounded, size_t *shortest)
{
    if (bounded && c->budget == 0)
        return RIG_OK;
    size_t budget = !bounded ? 0 : c->budget < SEARCH_BUDGET ? c->budget : SEARCH_BUDGET;
    struct rig_search *search = rule->settled && c->writes_search != NULL ? c->writes_search : c->search;
    enum rig_found found = rig_search_cycle(search, rule, seed, region, *shortest, budget, &c->cycle);
    size_t visited = rig_search_visited(search);
    c->budget -= visited < c->budget ? visited : c->budget;
    switch (found) {
    case RIG_FOUND: {
        enum rig_anomaly anomaly;
        if (!rig_collector_add(&c->collector, &c->cycle, &anomaly))
            return no_memory(c);
        if (*shortest == 0 || c->cycle.count < *shortest)
            *shortest = c->cycle.count;
        return RIG_OK;
    }
    case RIG_FOUND_NOTHING:
    case RIG_FOUND_BUDGET_SPENT:
        return RIG_OK;
    case RIG_FOUND_NO_MEMORY:
        break;
    }
    return no_memory(c);
}

/* ---- seeds inside a component ---- */

/* Up to `most` seeds, spread evenly over the component's members. */
static bool choose_seeds(const struct rig_components *components, uint32_t component, enum rig_edge_kind kind,
                         size_t most, struct rig_seeds *seeds)
{
    RIG_REQUIRE(component < components->list.count && most > 0);
    struct rig_component range = components->list.at[component];
    uint32_t count = range.end - range.begin;
    seeds->count = 0;
    uint32_t stride = count / (uint32_t)(4 * most) + 1;
    for (uint32_t offset = 0; offset < stride && seeds->count < most; offset++) {
        for (uint32_t i = range.begin + offset; i < range.end && seeds->count < most; i += stride) {
            uint32_t node = rig_view_node(&components->view, components->order[i]);
            if (node < components->view.graph->txn_count &&
                !rig_seeds_into(components, component, node, kind, most, seeds))
                return false;
        }
    }
    return true;
}

static enum rig_rc search_component(struct climb *c, const struct rig_components *components, uint32_t component,
                                    enum rig_rung rung, const struct rig_path_rule *rule, struct rig_seeds *seeds)
{
    static const enum rig_edge_kind seed_kinds[RIG_RUNG_COUNT] = {RIG_EDGE_WW, RIG_EDGE_WR, RIG_EDGE_RW, RIG_EDGE_RW};
    enum rig_edge_kind kind = components->view.process ? RIG_EDGE_PROCESS : seed_kinds[rung];
    if (!choose_seeds(components, component, kind, SEEDS_PER_COMPONENT, seeds))
        return no_memory(c);
    size_t shortest = 0;
    const struct rig_region region = {.components = components, .component = component};
    for (size_t i = 0; i < seeds->count; i++) {
        enum rig_rc rc = try_seed(c, rule, seeds->at[i], region, true, &shortest);
        if (rc != RIG_OK)
            return rc;
    }
    return RIG_OK;
}

/*
 * A rung that is cyclic although no witness was found within the budgets: every edge inside a component lies on a
 * cycle, so search from the first one, without bounds.
 */
static enum rig_rc search_certainly(struct climb *c, const struct rig_components *components, enum rig_rung rung)
{
    RIG_REQUIRE(components->list.count > 0);
    struct rig_path_rule rule = loose_rule_of(rung, components->view.process);
    struct rig_component range = components->list.at[0];
    const struct rig_region region = {.components = components, .component = 0};
    for (uint32_t i = range.begin; i < range.end; i++) {
        uint32_t node = rig_view_node(&components->view, components->order[i]);
        if (node >= components->view.graph->txn_count)
            continue;
        for (unsigned kind = RIG_EDGE_WW; kind <= RIG_EDGE_PROCESS; kind++) {
            bool in_view = kind == RIG_EDGE_PROCESS ? components->view.process : rule.links >> kind & 1u;
            if (!in_view)
                continue;
            struct rig_seeds seeds = {0};
            bool made = rig_seeds_into(components, 0, node, (enum rig_edge_kind)kind, 1, &seeds);
            size_t shortest = 0;
            enum rig_rc rc = made ? RIG_OK : no_memory(c);
            if (rc == RIG_OK && seeds.count > 0) {
                rc = try_seed(c, &rule, seeds.at[0], region, false, &shortest);
                RIG_INVARIANT(rc != RIG_OK || shortest > 0);
                rig_seeds_done(&seeds);
                return rc;
            }
            rig_seeds_done(&seeds);
            if (rc != RIG_OK)
                return rc;
        }
    }
    RIG_INVARIANT(false && "a component without a cycle");
    return RIG_E_BUG;
}

/* ---- findings so far ---- */

enum rig_rung rig_rung_of(enum rig_shape shape)
{
    static const enum rig_rung rungs[RIG_SHAPE_COUNT] = {RIG_RUNG_WW, RIG_RUNG_FLOW, RIG_RUNG_SNAPSHOT,
                                                         RIG_RUNG_SNAPSHOT, RIG_RUNG_ALL};
    RIG_REQUIRE(shape < RIG_SHAPE_COUNT);
    return rungs[shape];
}

uint64_t rig_ladder_count(const struct rig_ladder *ladder, enum rig_anomaly anomaly)
{
    const enum rig_anomaly other = rig_anomaly_by_predicate(anomaly);
    return ladder->found[anomaly].count + (other != anomaly ? ladder->found[other].count : 0);
}

size_t rig_ladder_shortest(const struct rig_ladder *ladder, enum rig_anomaly anomaly)
{
    const struct rig_cycles_found *plain = &ladder->found[anomaly];
    const struct rig_cycles_found *other = &ladder->found[rig_anomaly_by_predicate(anomaly)];
    const size_t shortest = plain->kept_count > 0 ? plain->kept[0].count : 0;
    const bool is_shorter = other->kept_count > 0 && (shortest == 0 || other->kept[0].count < shortest);
    return is_shorter ? other->kept[0].count : shortest;
}

/* Whether a cycle was found that makes the rung cyclic along `order`: of its shapes or those of a lower rung, plain or
 * with edges of that order. */
static bool rung_has_witness(const struct rig_ladder *ladder, enum rig_rung rung, enum rig_along order)
{
    for (enum rig_shape shape = RIG_SHAPE_G0; shape < RIG_SHAPE_COUNT; shape++) {
        if (rig_rung_of(shape) <= rung && (rig_ladder_count(ladder, rig_anomaly_of_cycle(shape, RIG_ALONG_PLAIN)) > 0 ||
                                           rig_ladder_count(ladder, rig_anomaly_of_cycle(shape, order)) > 0))
            return true;
    }
    return false;
}

/* ---- one rung ---- */

static enum rig_rc witness_components(struct climb *c, const struct rig_components *components, enum rig_rung rung)
{
    enum rig_along order = components->view.process ? RIG_ALONG_PROCESS : RIG_ALONG_PLAIN;
    struct rig_seeds seeds = {0};
    enum rig_rc rc = RIG_OK;
    struct rig_path_rule rule = rule_of(rung, components->view.process);
    c->budget = RUNG_BUDGET;
    for (uint32_t i = 0; rc == RIG_OK && i < components->list.count && i < COMPONENTS_PER_RUNG; i++)
        rc = search_component(c, components, i, rung, &rule, &seeds);
    /* A shorter cycle of read skew would hide a long fork, so search for a long fork separately. */
    rule.fewest_rw = 2;
    c->budget = rung == RIG_RUNG_SNAPSHOT ? RUNG_BUDGET : 0;
    for (uint32_t i = 0; rc == RIG_OK && c->budget > 0 && i < components->list.count && i < COMPONENTS_PER_RUNG; i++)
        rc = search_component(c, components, i, rung, &rule, &seeds);
    rig_seeds_done(&seeds);
    if (rc == RIG_OK && !rung_has_witness(c->ladder, rung, order))
        rc = search_certainly(c, components, rung);
    return rc;
}

/* From a transaction that completed before an ancestor was invoked. */
static enum rig_rc try_violation(struct climb *c, const struct rig_path_rule *rule,
                                 const struct rig_components *components, const struct rig_realtime *realtime,
                                 size_t violation, bool bounded, size_t *shortest)
{
    RIG_REQUIRE(violation < realtime->violations.count);
    uint32_t node = realtime->violations.at[violation];
    struct rig_seed seed = {node, RIG_NODE_NONE, RIG_EDGE_REALTIME};
    struct rig_region region = {.components = components,
                                .latest = realtime->latest,
                                .after = rig_txn_end(c->history, rig_graph_txn(&c->graph, node))};
    return try_seed(c, rule, seed, region, bounded, shortest);
}

static enum rig_rc witness_realtime(struct climb *c, const struct rig_components *components,
                                    const struct rig_realtime *realtime, enum rig_rung rung)
{
    size_t shortest = 0, count = realtime->violations.count;
    size_t stride = count / SEEDS_IN_REAL_TIME + 1;
    struct rig_path_rule rule = rule_of(rung, false);
    c->budget = RUNG_BUDGET;
    for (size_t i = 0; i < count; i += stride) {
        enum rig_rc rc = try_violation(c, &rule, components, realtime, i, true, &shortest);
        if (rc != RIG_OK)
            return rc;
    }
    if (rung_has_witness(c->ladder, rung, RIG_ALONG_REALTIME))
        return RIG_OK;
    struct rig_path_rule loose = loose_rule_of(rung, false);
    return try_violation(c, &loose, components, realtime, 0, false, &shortest);
}

/* Real time in addition to the edges of a rung in plain order. */
static enum rig_rc climb_realtime(struct climb *c, const struct rig_components *components, enum rig_rung rung)
{
    struct rig_realtime realtime;
    enum rig_rc rc = rig_realtime_find(c->history, components, &realtime, c->err);
    if (rc == RIG_OK && realtime.violations.count > 0) {
        c->ladder->cyclic[rung][RIG_ALONG_REALTIME] = true;
        rc = witness_realtime(c, components, &realtime, rung);
    }
    rig_realtime_done(&realtime);
    return rc;
}

/* The core's ww edges may be uncertain at read uncommitted, or lack some between acknowledged writers. */
static bool prepare_writes(struct climb *c)
{
    if (c->inference->versions.acknowledged == NULL || c->writes_search != NULL)
        return true;
    if (rig_web_make_writes(&c->inference->versions, &c->graph, &c->writes))
        c->writes_search = rig_search_new(c->history, &c->writes.graph);
    return c->writes_search != NULL;
}

/*
 * Decides one rung in one of the orders that take edges, and finds witnesses; the plain order also serves real time.
 */
static enum rig_rc climb_rung(struct climb *c, enum rig_rung rung, bool process)
{
    struct rig_components components;
    if (rung == RIG_RUNG_WW && !prepare_writes(c))
        return no_memory(c);
    enum rig_rc rc = rig_components_find(view_of(c, rung, process), &components, c->err);
    if (rc == RIG_OK)
        c->ladder->cyclic[rung][process ? RIG_ALONG_PROCESS : RIG_ALONG_PLAIN] = components.list.count > 0;
    if (rc == RIG_OK && components.list.count > 0)
        rc = witness_components(c, &components, rung);
    if (rc == RIG_OK && !process)
        rc = climb_realtime(c, &components, rung);
    struct rig_components *kept = process                 ? NULL
                                  : rung == RIG_RUNG_ALL  ? &c->all
                                  : rung == RIG_RUNG_FLOW ? &c->flow
                                                          : NULL;
    if (kept == NULL)
        rig_components_done(&components);
    else
        *kept = components;
    return rc;
}

/* Read skew is decided separately, because components do not distinguish it from cycles with more rw edges. */
static enum rig_rc climb_read_skew(struct climb *c)
{
    struct rig_skews skews = {0};
    const bool total = c->has_versions;
    enum rig_rc rc = RIG_OK;
    if (c->flow.order == NULL)
        rc = rig_components_find(view_of(c, RIG_RUNG_FLOW, false), &c->flow, c->err);
    if (rc == RIG_OK)
        rc = rig_read_skews(total ? &c->inference->versions : NULL, &c->all, &c->flow,
                            total ? SKEWS_WANTED : SKEWS_TRIED, &skews, c->err);
    struct rig_path_rule rule = {
        .links = RIG_LINKS_WW | RIG_LINKS_WR, .fewest_rw = 1, .most_rw = 1, .nonadjacent = false};
    size_t shortest = 0;
    c->budget = RUNG_BUDGET;
    for (size_t i = 0; rc == RIG_OK && i < skews.count; i++) {
        bool bounded = !total || i + 1 < skews.count || shortest > 0;
        const struct rig_skew *skew = &skews.at[i];
        struct rig_region region = {.components = &c->all, .component = c->all.component_of[skew->reader]};
        rc = try_seed(c, &rule, (struct rig_seed){skew->reader, skew->writer, RIG_EDGE_RW}, region, bounded, &shortest);
    }
    RIG_INVARIANT(rc != RIG_OK || !total || skews.count == 0 || rig_ladder_count(c->ladder, RIG_ANOMALY_G_SINGLE) > 0);
    rig_skews_done(&skews);
    rig_components_done(&c->all);
    rig_components_done(&c->flow);
    return rc;
}

/* A rung includes the lower ones, and process and real-time order include the plain one. */
static void imply(struct rig_ladder *ladder)
{
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
            ladder->cyclic[rung][order] |= ladder->cyclic[rung][RIG_ALONG_PLAIN];
            if (rung > 0)
                ladder->cyclic[rung][order] |= ladder->cyclic[rung - 1][order];
        }
    }
}

/* A witness makes its rung cyclic in its order, and every cyclic rung has a witness. */
static bool agrees_with_witnesses(const struct rig_ladder *ladder)
{
    bool agrees = true;
    for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
        for (unsigned shape = 0; shape < RIG_SHAPE_COUNT; shape++) {
            enum rig_anomaly anomaly = rig_anomaly_of_cycle((enum rig_shape)shape, (enum rig_along)order);
            agrees &=
                rig_ladder_count(ladder, anomaly) == 0 || ladder->cyclic[rig_rung_of((enum rig_shape)shape)][order];
        }
        for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++)
            agrees &=
                !ladder->cyclic[rung][order] || rung_has_witness(ladder, (enum rig_rung)rung, (enum rig_along)order);
    }
    return agrees;
}

static bool clean(const struct rig_ladder *ladder, enum rig_rung rung)
{
    return !ladder->cyclic[rung][RIG_ALONG_PLAIN] && !ladder->cyclic[rung][RIG_ALONG_REALTIME];
}

static enum rig_rc climb_all(struct climb *c)
{
    enum rig_rc rc = RIG_OK;
    /* From the top: a rung without cycles has none below it either. */
    for (int rung = RIG_RUNG_ALL; rc == RIG_OK && rung >= RIG_RUNG_WW; rung--) {
        rc = climb_rung(c, (enum rig_rung)rung, false);
        if (rc == RIG_OK && rung == RIG_RUNG_ALL && !clean(c->ladder, RIG_RUNG_ALL) &&
            !rig_cycle_pairs(c->history, &c->graph, &c->collector))
            rc = no_memory(c);
        if (rc == RIG_OK && clean(c->ladder, (enum rig_rung)rung))
            break;
    }
    if (rc == RIG_OK && c->ladder->cyclic[RIG_RUNG_ALL][RIG_ALONG_PLAIN])
        rc = climb_read_skew(c);
    /* Process order is part of real-time order where invocations are known. */
    bool may_differ = !c->history->has_invocations || !clean(c->ladder, RIG_RUNG_ALL);
    for (int rung = RIG_RUNG_ALL; rc == RIG_OK && may_differ && rung >= RIG_RUNG_WW; rung--) {
        rc = climb_rung(c, (enum rig_rung)rung, true);
        if (rc == RIG_OK && !c->ladder->cyclic[rung][RIG_ALONG_PROCESS])
            break;
    }
    imply(c->ladder);
    RIG_INVARIANT(rc != RIG_OK || agrees_with_witnesses(c->ladder));
    return rc;
}

/* Makes the graphs for the searches. False when memory runs out. */
static bool prepare(struct climb *c)
{
    struct rig_versions *versions = &c->inference->versions;
    const bool unsettled = c->inference->committed_count > c->inference->ok_count;
    if (c->has_versions && !rig_web_make(versions, &c->graph, &c->web))
        return false;
    if (c->has_versions && unsettled && !rig_acknowledged_find(versions, c->inference->links.arena))
        return false;
    c->search = rig_search_new(c->history, c->has_versions ? &c->web.graph : &c->graph);
    return c->search != NULL;
}

/* False when memory runs out. */
static bool find_distant_pairs(struct climb *c)
{
    const struct rig_graph *graph = c->web.first != NULL ? &c->web.graph : &c->graph;
    return rig_cycle_distant_pairs(graph, false, &c->collector) &&
           (c->writes_search == NULL || rig_cycle_distant_pairs(&c->writes.graph, true, &c->collector));
}

/* Nothing outside the core lies on a cycle. */
static enum rig_rc climb_core(struct climb *c, uint32_t most_kept, rig_anomaly_set asked)
{
    RIG_REQUIRE(most_kept > 0 && c->graph.node_count > 0);
    const bool unsettled = c->inference->committed_count > c->inference->ok_count;
    rig_collector_init(&c->collector, c->inference, c->ladder, most_kept);
    enum rig_rc rc = prepare(c) ? climb_all(c) : no_memory(c);
    const struct rig_existence existence = {.history = c->history,
                                            .graph = &c->graph,
                                            .unsettled = unsettled,
                                            .collector = &c->collector,
                                            .search = c->search,
                                            .ladder = c->ladder};
    if (rc == RIG_OK && asked != 0)
        rc = rig_existence_decide(&existence, asked, c->err);
    if (rc == RIG_OK && !find_distant_pairs(c))
        rc = no_memory(c);
    if (rc == RIG_OK && !rig_cycles_shorten(&c->graph, c->search, c->writes_search, &c->collector))
        rc = no_memory(c);
    RIG_INVARIANT(rc != RIG_OK || agrees_with_witnesses(c->ladder));
    rig_search_free(c->search);
    rig_search_free(c->writes_search);
    rig_web_done(&c->web);
    rig_web_done(&c->writes);
    rig_components_done(&c->all);
    rig_components_done(&c->flow);
    rig_cycle_done(&c->cycle);
    rig_collector_done(&c->collector);
    return rc;
}

/* A clean history has no core: two walks agree. True also when memory runs out. */
static bool has_no_core(const struct rig_inference *inference)
{
    struct rig_arena arena;
    struct rig_links links = inference->links;
    struct rig_graph core = {0};
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    links.arena = &arena;
    enum rig_rc rc = rig_core_find(&links, inference->history, inference->committed, NULL, &core, &err);
    rig_arena_done(&arena);
    return rc != RIG_OK || core.node_count == 0;
}

/* Like `selected`, with the nodes that were added to the links. */
static const uint8_t *select_added(const struct rig_links *links, const uint8_t *selected, uint32_t node_count)
{
    RIG_REQUIRE(links->node_count > node_count);
    uint8_t *all = rig_arena_room(links->arena, (size_t)links->node_count + 1, 1);
    if (all == NULL)
        return NULL;
    memcpy(all, selected, node_count);
    memset(all + node_count, 1, links->node_count - node_count);
    return all;
}

static enum rig_rc note_core(struct climb *c)
{
    const struct rig_links *links = &c->inference->links;
    c->ladder->core = rig_arena_array(links->arena, (size_t)links->txn_count + 1, 1);
    if (c->ladder->core == NULL)
        return no_memory(c);
    for (uint32_t node = 0; node < c->graph.txn_count; node++) {
        RIG_INVARIANT(rig_graph_txn(&c->graph, node) < links->txn_count);
        c->ladder->core[rig_graph_txn(&c->graph, node)] = 1;
    }
    return RIG_OK;
}

/* The core of the graph with all edges that some order of the versions may have. */
static enum rig_rc find_possible(struct climb *c, const uint8_t *selected)
{
    struct rig_inference *inference = c->inference;
    struct rig_links *links = &inference->links;
    const uint32_t node_count = links->node_count;
    const struct rig_type_inference *type = rig_type_inference(c->history->workload);
    if (!type->total_orders || inference->of_items)
        return RIG_OK;
    if (inference->unordered_keys > 0 && !type->link_any_order(inference))
        return no_memory(c);
    if (selected != NULL && links->node_count > node_count) {
        selected = select_added(links, selected, node_count);
        if (selected == NULL)
            return no_memory(c);
    }
    return rig_core_mark(links, c->history, inference->committed, selected, &c->ladder->possible, c->err);
}

enum rig_rc rig_ladder_climb(const struct rig_history *history, struct rig_inference *inference,
                             const uint8_t *selected, uint32_t most_kept, rig_anomaly_set asked,
                             struct rig_ladder *ladder, struct rig_err *err)
{
    bool clean = false;
    *ladder = (struct rig_ladder){0};
    enum rig_rc rc = rig_core_is_empty(&inference->links, history, inference->committed, &clean, err);
    /* Process order is part of real-time order where invocations are known, or was looked at. */
    ladder->clean = rc == RIG_OK && clean && history->has_invocations;
    RIG_COSTLY(!ladder->clean || has_no_core(inference));
    if (rc != RIG_OK || ladder->clean)
        return rc;
    struct climb c = {.history = history,
                      .inference = inference,
                      .has_versions = rig_type_inference(history->workload)->has_versions,
                      .ladder = ladder,
                      .err = err};
    rc = rig_core_find(&inference->links, history, inference->committed, selected, &c.graph, err);
    if (rc == RIG_OK && c.graph.node_count > 0)
        rc = note_core(&c);
    if (rc == RIG_OK && c.graph.node_count > 0)
        rc = find_possible(&c, selected);
    rig_links_abandon(&inference->links);
    return rc == RIG_OK && c.graph.node_count > 0 ? climb_core(&c, most_kept, asked) : rc;
}

void rig_ladder_done(struct rig_ladder *ladder)
{
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++) {
        for (uint32_t j = 0; j < ladder->found[i].kept_count; j++)
            rig_cycle_done(&ladder->found[i].kept[j]);
        free(ladder->found[i].kept);
        ladder->found[i] = (struct rig_cycles_found){0};
    }
}
