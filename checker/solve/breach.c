#include "checker/solve/breach.h"

#include <string.h>

#include "base/bug.h"
#include "checker/solve/breach_order.h"
#include "checker/solve/breach_pairs.h"
#include "checker/solve/breach_sink.h"
#include "checker/solve/breach_states.h"
#include "checker/solve/breach_walk.h"

/* A walk to look for, inside of a component. */
struct seed {
    uint32_t component;
    struct rig_start start;
};

RIG_VEC(struct seed, seeds)

struct breach {
    const struct rig_problem *problem;
    const struct rig_rule *rule;
    struct rig_ordered ordered;
    struct rig_breach_sink sink;
    struct rig_arena arena;
    struct seeds seeds;
    uint64_t most_steps; /* of all walks after the first one of each component */
};

/* The edges of the closed walks that a rule forbids, or of some more among which these are. */
static struct rig_moves moves_of(enum rig_rule_form form)
{
    switch (form) {
    case RIG_RULE_WRITES:
        return (struct rig_moves){.ww = true, .follow = RIG_FOLLOW_ANY};
    case RIG_RULE_FLOW:
    case RIG_RULE_CURSOR:
    case RIG_RULE_MONOTONIC_ATOMIC:
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_UPDATE_ATOMIC:
        return (struct rig_moves){.ww = true, .wr = true, .follow = RIG_FOLLOW_ANY};
    case RIG_RULE_MONOTONIC_VIEW:
    case RIG_RULE_MONOTONIC_SNAPSHOT:
        return (struct rig_moves){.ww = true, .wr = true, .rw = true, .follow = RIG_FOLLOW_LATER};
    case RIG_RULE_CAUSAL:
    case RIG_RULE_PREFIX:
        return (struct rig_moves){.ww = true, .wr = true, .rw = true, .follow = RIG_FOLLOW_READ};
    case RIG_RULE_CONSISTENT:
    case RIG_RULE_SNAPSHOT:
        return (struct rig_moves){.ww = true, .wr = true, .rw = true, .follow = RIG_FOLLOW_FLOW};
    case RIG_RULE_UPDATES:
    case RIG_RULE_SERIAL:
        return (struct rig_moves){.ww = true, .wr = true, .rw = true, .follow = RIG_FOLLOW_ANY};
    case RIG_RULE_COUNT:
        break;
    }
    RIG_INVARIANT(false);
    return (struct rig_moves){0};
}

/* ---- where walks begin ---- */

static uint32_t state_at(const struct rig_states *states, uint32_t node, uint32_t port)
{
    return rig_states_of(states->ordered->problem, states->moves.follow, node, port);
}

static uint32_t exit_of(const struct rig_states *states, uint32_t node)
{
    return state_at(states, node, rig_states_read_count(states->ordered->problem, node));
}

/* Where process order arrives. */
static uint32_t arrival_of(const struct rig_states *states, uint32_t node)
{
    const struct rig_problem *problem = states->ordered->problem;
    return state_at(states, node, rig_states_port(problem, states->moves.follow, node, RIG_EDGE_PROCESS, RIG_ARC_NONE));
}

/* The component in which an edge between these states lies, or NONE. */
static uint32_t component_of(const struct rig_states *states, uint32_t from, uint32_t to)
{
    const uint32_t component = states->component_of[from];
    return component == states->component_of[to] ? component : RIG_PROBLEM_NONE;
}

/* The component of the edges from a read to the writers of later versions. */
static uint32_t component_of_read(const struct rig_states *states, uint32_t read)
{
    const struct rig_problem *problem = states->ordered->problem;
    const uint32_t later = states->ordered->next[states->ordered->version[read]];
    const uint32_t reader = problem->read_txn[read];
    if (later == RIG_PROBLEM_NONE || problem->write_txn[later] == reader ||
        (states->left_out != NULL && (states->left_out[reader] || states->left_out[problem->write_txn[later]])))
        return RIG_PROBLEM_NONE;
    return component_of(states, state_at(states, reader, read - problem->txns.at[reader].first_read),
                        exit_of(states, problem->write_txn[later]));
}

static bool add_seed(struct breach *b, uint32_t component, enum rig_departure departure, uint32_t index)
{
    return component == RIG_PROBLEM_NONE || seeds_add(&b->seeds, (struct seed){component, {departure, index}});
}

static bool goes_back(const struct breach *b, uint32_t from, uint32_t to)
{
    return b->ordered.place[to] < b->ordered.place[from];
}

static bool add_seeds_of_read(struct breach *b, const struct rig_states *states, uint32_t read)
{
    const struct rig_problem *problem = b->problem;
    const struct rig_problem_read *r = &problem->reads.at[read];
    const uint32_t reader = problem->read_txn[read], later = b->ordered.next[b->ordered.version[read]];
    if (states->moves.rw && later != RIG_PROBLEM_NONE && goes_back(b, reader, problem->write_txn[later]) &&
        !add_seed(b, component_of_read(states, read), RIG_DEPART_MISSED, read))
        return false;
    if (!states->moves.wr || r->writer == RIG_PROBLEM_INITIAL || !goes_back(b, r->writer, reader))
        return true;
    const uint32_t port = rig_states_port(problem, states->moves.follow, reader, RIG_EDGE_WR, r->op);
    const uint32_t component = component_of(states, exit_of(states, r->writer), state_at(states, reader, port));
    return add_seed(b, component, RIG_DEPART_READ, read);
}

static bool add_seeds_of_order(struct breach *b, const struct rig_states *states, uint32_t node)
{
    const uint32_t exit = exit_of(states, node);
    uint32_t before = b->problem->txns.at[node].before;
    while (before != RIG_PROBLEM_NONE && states->left_out != NULL && states->left_out[before])
        before = b->problem->txns.at[before].before;
    if (b->ordered.child != NULL && before != RIG_PROBLEM_NONE && goes_back(b, before, node) &&
        !add_seed(b, component_of(states, exit_of(states, before), arrival_of(states, node)), RIG_DEPART_PROCESS, node))
        return false;
    if (b->ordered.after == NULL || b->ordered.after[node] == b->problem->txn_count)
        return true;
    const uint32_t rest = states->state_count - b->problem->txn_count + b->ordered.after[node];
    return add_seed(b, component_of(states, exit, rest), RIG_DEPART_REALTIME, node);
}

/* Each closed walk leads back in the places somewhere. */
static bool add_seeds(struct breach *b, const struct rig_states *states)
{
    bool ok = true;
    b->seeds.count = 0;
    for (uint32_t read = 0; ok && read < b->problem->reads.count; read++) {
        const uint32_t reader = b->problem->read_txn[read];
        if (states->left_out == NULL || !states->left_out[reader])
            ok = add_seeds_of_read(b, states, read);
    }
    for (uint32_t node = 0; ok && node < b->problem->txn_count; node++) {
        if (states->left_out == NULL || !states->left_out[node])
            ok = add_seeds_of_order(b, states, node);
    }
    return ok;
}

/* ---- cycles of many edges ---- */

/* Walks from each seed: from the first one of each component, then from the second ones, and so on. */
static bool walk_from_seeds(struct breach *b, const struct rig_states *states, struct rig_walker *walker)
{
    const uint32_t components = states->component_count;
    uint32_t *first = rig_arena_array(&b->arena, (size_t)components + 2, sizeof(uint32_t));
    struct rig_start *starts = rig_arena_room(&b->arena, b->seeds.count + 1, sizeof starts[0]);
    if (first == NULL || starts == NULL)
        return false;
    for (size_t i = 0; i < b->seeds.count; i++)
        first[b->seeds.at[i].component + 1]++;
    uint32_t most = 0;
    for (uint32_t c = 0; c < components; c++) {
        most = first[c + 1] > most ? first[c + 1] : most;
        first[c + 1] += first[c];
    }
    for (size_t i = b->seeds.count; i-- > 0;)
        starts[--first[b->seeds.at[i].component + 1]] = b->seeds.at[i].start;
    for (uint32_t turn = 0; turn < most && !rig_breach_sink_is_full(&b->sink); turn++) {
        for (uint32_t c = 0; c < components && !rig_breach_sink_is_full(&b->sink); c++) {
            const uint32_t end = c + 1 < components ? first[c + 2] : (uint32_t)b->seeds.count;
            if (first[c + 1] + turn >= end)
                continue;
            if (turn > 0 && walker->steps > b->most_steps)
                return true;
            if (!rig_walker_close(walker, starts[first[c + 1] + turn], c, &b->sink.walk) ||
                !rig_breach_sink_take(&b->sink, NULL))
                return false;
        }
    }
    return true;
}

/* The cycles by the moves, without the transactions that are left out. */
static bool find_by_moves(struct breach *b, struct rig_moves moves, const uint8_t *left_out)
{
    struct rig_states states;
    struct rig_walker walker = {0};
    bool ok = rig_states_find(&states, &b->ordered, moves, left_out, &b->arena);
    if (ok && states.component_count > 0) {
        const uint32_t count = b->sink.count;
        ok = add_seeds(b, &states) && rig_walker_init(&walker, &states, moves, left_out, &b->arena) &&
             walk_from_seeds(b, &states, &walker);
        RIG_INVARIANT(!ok || b->sink.count > count || rig_breach_sink_is_full(&b->sink));
    }
    rig_walker_done(&walker);
    return ok;
}

/* The cycles with one rw edge, on which no other follows. */
static bool find_single(struct breach *b)
{
    struct rig_moves moves = moves_of(b->rule->form);
    struct rig_states states;
    struct rig_walker walker = {0};
    bool ok = rig_states_find(&states, &b->ordered, moves, NULL, &b->arena);
    if (!ok || states.component_count == 0)
        return ok;
    moves.rw = false;
    moves.ww = b->rule->form != RIG_RULE_CAUSAL;
    ok = rig_walker_init(&walker, &states, moves, NULL, &b->arena);
    for (uint32_t read = 0; ok && read < b->problem->reads.count && !rig_breach_sink_is_full(&b->sink); read++) {
        const uint32_t component = component_of_read(&states, read);
        if (component != RIG_PROBLEM_NONE)
            ok = rig_walker_close(&walker, (struct rig_start){RIG_DEPART_MISSED, read}, component, &b->sink.walk) &&
                 rig_breach_sink_take(&b->sink, NULL);
    }
    rig_walker_done(&walker);
    return ok;
}

/* The cycles of updates, and those through one transaction that writes nothing. */
static bool find_of_updates(struct breach *b)
{
    const struct rig_moves moves = moves_of(b->rule->form);
    struct rig_states states;
    struct rig_walker walker = {0};
    uint8_t *left_out = rig_arena_room(&b->arena, (size_t)b->problem->txn_count + 1, sizeof left_out[0]);
    if (left_out == NULL)
        return false;
    for (uint32_t node = 0; node < b->problem->txn_count; node++)
        left_out[node] = rig_ordered_writes_nothing(b->problem, node);
    bool ok = find_by_moves(b, moves, left_out) && rig_states_find(&states, &b->ordered, moves, NULL, &b->arena);
    if (!ok || states.component_count == 0)
        return ok;
    ok = rig_walker_init(&walker, &states, moves, left_out, &b->arena);
    for (uint32_t node = 0; ok && node < b->problem->txn_count && !rig_breach_sink_is_full(&b->sink); node++) {
        const uint32_t component = states.component_of[exit_of(&states, node)];
        if (!left_out[node] || component == RIG_PROBLEM_NONE)
            continue;
        left_out[node] = 0;
        ok = rig_walker_close(&walker, (struct rig_start){RIG_DEPART_ALL, node}, component, &b->sink.walk) &&
             rig_breach_sink_take(&b->sink, NULL);
        left_out[node] = 1;
    }
    rig_walker_done(&walker);
    return ok;
}

/* Whether the places alone show that no cycle is without rw edges. */
static bool flows_forward(const struct breach *b)
{
    const struct rig_problem *problem = b->problem;
    for (uint32_t i = 0; i < problem->reads.count; i++) {
        const uint32_t writer = problem->reads.at[i].writer;
        if (writer != RIG_PROBLEM_INITIAL && goes_back(b, writer, problem->read_txn[i]))
            return false;
    }
    for (uint32_t node = 0; node < problem->txn_count && b->ordered.child != NULL; node++) {
        const uint32_t before = problem->txns.at[node].before;
        if (before != RIG_PROBLEM_NONE && goes_back(b, before, node))
            return false;
    }
    uint32_t latest = 0; /* invocation so far */
    for (uint32_t place = 0; place < problem->txn_count && b->ordered.after != NULL; place++) {
        const struct rig_problem_txn *txn = &problem->txns.at[b->ordered.at[place]];
        if (txn->ended < latest)
            return false;
        latest = txn->invoked > latest ? txn->invoked : latest;
    }
    return true;
}

static bool find(struct breach *b)
{
    const enum rig_rule_form form = b->rule->form;
    switch (form) {
    case RIG_RULE_WRITES:
    case RIG_RULE_MONOTONIC_SNAPSHOT:
    case RIG_RULE_PREFIX:
    case RIG_RULE_SNAPSHOT:
    case RIG_RULE_SERIAL:
        return find_by_moves(b, moves_of(form), NULL);
    case RIG_RULE_UPDATES:
    case RIG_RULE_FLOW:
    case RIG_RULE_CURSOR:
    case RIG_RULE_MONOTONIC_ATOMIC:
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_UPDATE_ATOMIC:
    case RIG_RULE_MONOTONIC_VIEW:
    case RIG_RULE_CONSISTENT:
    case RIG_RULE_CAUSAL:
    case RIG_RULE_COUNT:
        break;
    }
    if (!flows_forward(b) && !find_by_moves(b, moves_of(RIG_RULE_FLOW), NULL))
        return false;
    if (form == RIG_RULE_FLOW || b->sink.count > 0)
        return true;
    if (form == RIG_RULE_UPDATES)
        return find_of_updates(b);
    if (form == RIG_RULE_MONOTONIC_VIEW || form == RIG_RULE_CONSISTENT || form == RIG_RULE_CAUSAL)
        return find_single(b);
    return rig_breach_find_pairs(&b->ordered, &b->sink, &b->arena);
}

bool rig_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     uint32_t most, struct rig_breaches *found)
{
    struct breach b = {.problem = problem, .rule = rule};
    b.most_steps = 16 * (problem->reads.count + problem->writes.count + problem->txn_count);
    rig_arena_init(&b.arena, 0);
    RIG_REQUIRE(most > 0);
    const bool ok = rig_breach_sink_init(&b.sink, problem, rule, most, found, &b.arena) &&
                    rig_ordered_init(&b.ordered, problem, rule->along, place, &b.arena) && find(&b);
    rig_breach_sink_done(&b.sink);
    seeds_done(&b.seeds);
    rig_arena_done(&b.arena);
    return ok;
}
