#include "checker/decide/cycle/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

void rig_collector_init(struct rig_collector *collector, const struct rig_inference *inference,
                        struct rig_ladder *ladder, uint32_t most_kept)
{
    RIG_REQUIRE(most_kept > 0);
    *collector = (struct rig_collector){
        .history = inference->history, .inference = inference, .ladder = ladder, .most_kept = most_kept};
    rig_table_init(&collector->seen);
}

void rig_collector_done(struct rig_collector *collector)
{
    rig_table_done(&collector->seen);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31);
}

/* Hash of the anomaly and the transactions in cycle order: cycles of a class over the same transactions count once. */
static uint64_t fingerprint(const struct rig_cycle *cycle, enum rig_anomaly anomaly)
{
    uint64_t hash = mix(0x9e3779b97f4a7c15U, (uint64_t)anomaly);
    for (size_t i = 0; i < cycle->count; i++)
        hash = mix(hash, cycle->at[i].txn);
    return hash;
}

static bool is_before(const struct rig_cycle *left, const struct rig_cycle *right)
{
    if (left->count != right->count)
        return left->count < right->count;
    for (size_t i = 0; i < left->count; i++) {
        if (left->at[i].txn != right->at[i].txn)
            return left->at[i].txn < right->at[i].txn;
    }
    return false;
}

static bool are_ascending(const struct rig_cycles_found *found)
{
    bool ascending = true;
    for (uint32_t i = 1; i < found->kept_count; i++)
        ascending &= is_before(&found->kept[i - 1], &found->kept[i]);
    return ascending;
}

bool rig_cycles_keep(struct rig_cycles_found *found, const struct rig_cycle *cycle, uint32_t most_kept)
{
    RIG_REQUIRE(cycle->count >= 2 && most_kept > 0);
    if (found->kept == NULL) {
        found->kept = calloc((size_t)most_kept + 1, sizeof *found->kept);
        if (found->kept == NULL)
            return false;
    }
    if (found->kept_count == most_kept && !is_before(cycle, &found->kept[most_kept - 1]))
        return true;
    if (found->kept_count > 0 && cycle->count > RIG_CYCLE_LONG && !is_before(cycle, &found->kept[0]))
        return true;
    struct rig_cycle copy = {0};
    if (!rig_cycle_reserve(&copy, cycle->count))
        return false;
    memcpy(copy.at, cycle->at, cycle->count * sizeof *copy.at);
    copy.count = cycle->count;
    uint32_t place = found->kept_count;
    for (; place > 0 && is_before(&copy, &found->kept[place - 1]); place--)
        found->kept[place] = found->kept[place - 1];
    found->kept[place] = copy;
    if (found->kept_count < most_kept)
        found->kept_count++;
    else
        rig_cycle_done(&found->kept[most_kept]);
    while (found->kept_count > 1 && found->kept[found->kept_count - 1].count > RIG_CYCLE_LONG)
        rig_cycle_done(&found->kept[--found->kept_count]);
    RIG_INVARIANT(found->kept_count > 0 && found->kept_count <= most_kept && found->kept_count <= found->count);
    RIG_COSTLY(are_ascending(found));
    return true;
}

/* The name that says whether the cycle rests on a predicate. */
static enum rig_anomaly name_of(const struct rig_inference *inference, const struct rig_cycle *cycle,
                                enum rig_anomaly anomaly)
{
    const enum rig_anomaly other = rig_anomaly_by_predicate(anomaly);
    const bool is_apart = inference->is_by_predicate != NULL && other != anomaly;
    return is_apart && inference->is_by_predicate(inference, cycle) ? other : anomaly;
}

bool rig_collector_add(struct rig_collector *collector, struct rig_cycle *cycle, enum rig_anomaly *anomaly)
{
    if (!rig_cycle_simplify(cycle))
        return false;
    rig_cycle_rotate(cycle);
    RIG_INVARIANT(cycle->count >= 2);
    *anomaly = rig_cycle_anomaly(collector->history, &collector->inference->versions, cycle);
    uint32_t *seen = rig_table_put(&collector->seen, fingerprint(cycle, *anomaly));
    if (seen == NULL)
        return false;
    if (*seen != RIG_TABLE_NONE)
        return true;
    *seen = 0;
    struct rig_cycles_found *found = &collector->ladder->found[name_of(collector->inference, cycle, *anomaly)];
    found->count++;
    return rig_cycles_keep(found, cycle, collector->most_kept);
}

enum { SHORTEST_BUDGET = 30000 };

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
    const struct rig_ladder *ladder = s->collector->ladder;
    const enum rig_anomaly anomaly = rig_anomaly_of_cycle(shape, order);
    struct rig_search *search = rule->settled ? s->writes : s->search;
    size_t budget = SHORTEST_BUDGET;
    for (uint32_t node = 0; node < s->graph->txn_count && rig_ladder_shortest(ladder, anomaly) > 2; node++) {
        if (!may_begin(s, node, order))
            continue;
        enum rig_found result = rig_search_cycle(search, rule, seed_of(node, order), (struct rig_region){0},
                                                 rig_ladder_shortest(ladder, anomaly) - 1, budget, &s->cycle);
        enum rig_anomaly of;
        if (result == RIG_FOUND_NO_MEMORY || (result == RIG_FOUND && !rig_collector_add(s->collector, &s->cycle, &of)))
            return false;
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
