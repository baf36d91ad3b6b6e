#include "checker/decide/cycle/shortest.h"

#include "base/bug.h"

struct shorten {
    const struct rig_graph *graph;
    struct rig_search *search, *writes;
    struct rig_collector *collector;
    struct rig_cycle cycle; /* scratch */
};

/* Cycles of one shape and form and of no other. */
static struct rig_path_rule rule_of(enum rig_shape shape, enum rig_along order)
{
    struct rig_path_rule rule = {
        .links = RIG_LINKS_ALL, .process = order != RIG_ALONG_PLAIN, .most_rw = RIG_ANY_RW, .simple = true};
    switch (shape) {
    case RIG_SHAPE_G0:
        rule.links = RIG_LINKS_WW;
        rule.settled = true;
        break;
    case RIG_SHAPE_G1C:
        rule.links = RIG_LINKS_WW | RIG_LINKS_WR;
        rule.needs_wr = true;
        break;
    case RIG_SHAPE_SINGLE:
        rule.fewest_rw = rule.most_rw = 1;
        break;
    case RIG_SHAPE_NONADJACENT:
        rule.fewest_rw = 2;
        rule.nonadjacent = true;
        break;
    case RIG_SHAPE_G2:
    case RIG_SHAPE_COUNT:
        rule.needs_adjacent = true;
        break;
    }
    return rule;
}

static struct rig_seed seed_of(uint32_t node, enum rig_along order)
{
    if (order == RIG_ALONG_PLAIN)
        return (struct rig_seed){node, node, RIG_EDGE_WW};
    return (struct rig_seed){node, RIG_NODE_NONE, order == RIG_ALONG_PROCESS ? RIG_EDGE_PROCESS : RIG_EDGE_REALTIME};
}

/* A process or real-time edge leads from an acknowledged transaction. */
static bool may_begin(const struct shorten *s, uint32_t node, enum rig_along order)
{
    const struct rig_txn *txn = &s->collector->history->txns[rig_graph_txn(s->graph, node)];
    return order == RIG_ALONG_PLAIN || txn->outcome == RIG_OUTCOME_OK;
}

static bool shorten(struct shorten *s, const struct rig_path_rule *rule, enum rig_shape shape, enum rig_along order)
{
    const struct rig_cycles_found *found = &s->collector->ladder->found[rig_anomaly_of_cycle(shape, order)];
    struct rig_search *search = rule->settled ? s->writes : s->search;
    size_t budget = RIG_SHORTEST_BUDGET;
    for (uint32_t node = 0; node < s->graph->txn_count && found->count > 0 && found->kept[0].count > 2; node++) {
        if (!may_begin(s, node, order))
            continue;
        enum rig_found result = rig_search_cycle(search, rule, seed_of(node, order), (struct rig_region){0},
                                                 found->kept[0].count - 1, budget, &s->cycle);
        enum rig_anomaly anomaly;
        if (result == RIG_FOUND_NO_MEMORY ||
            (result == RIG_FOUND && !rig_collector_add(s->collector, &s->cycle, &anomaly)))
            return false;
        RIG_INVARIANT(found->kept_count > 0);
        const size_t spent = rig_search_visited(search);
        if (spent >= budget)
            break;
        budget -= spent;
    }
    return true;
}

bool rig_cycles_shorten(const struct rig_graph *graph, struct rig_search *search, struct rig_search *writes,
                        struct rig_collector *collector)
{
    struct shorten s = {
        .graph = graph, .search = search, .writes = writes != NULL ? writes : search, .collector = collector};
    bool done = true;
    for (unsigned shape = 0; done && shape < RIG_SHAPE_COUNT; shape++) {
        for (unsigned order = 0; done && order < RIG_ALONG_COUNT; order++) {
            const struct rig_path_rule rule = rule_of((enum rig_shape)shape, (enum rig_along)order);
            done = shorten(&s, &rule, (enum rig_shape)shape, (enum rig_along)order);
        }
    }
    rig_cycle_done(&s.cycle);
    return done;
}
