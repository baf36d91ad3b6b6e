#include "checker/decide/solve/breach_closed.h"

#include "base/bug.h"
#include "checker/decide/solve/breach_walk.h"

enum { FIRST_MARGIN = 64, MARGIN_GROWTH = 16 }; /* places */

/* A walk to look for, inside of a component. */
struct seed {
    uint32_t component;
    struct rig_start start;
};

RIG_VEC(struct seed, seeds)

struct closed {
    const struct rig_problem *problem;
    const struct rig_ordered *ordered;
    const struct rig_states *states;
    struct rig_breach_sink *sink;
    struct rig_walker walker;
    struct seeds seeds;
    struct rig_start *starts; /* by component */
    uint32_t *first_start;    /* per component, and one more */
};

struct rig_moves rig_breach_moves(enum rig_rule_form form)
{
    struct rig_moves moves = {.ww = true, .wr = true, .rw = true, .follow = RIG_FOLLOW_ANY};
    switch (form) {
    case RIG_RULE_WRITES:
        moves.wr = moves.rw = false;
        break;
    case RIG_RULE_FLOW:
    case RIG_RULE_CURSOR:
    case RIG_RULE_MONOTONIC_ATOMIC:
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_UPDATE_ATOMIC:
    case RIG_RULE_MONOTONIC_VIEW:
    case RIG_RULE_CONSISTENT:
    case RIG_RULE_CAUSAL:
        moves.rw = false;
        break;
    case RIG_RULE_MONOTONIC_SNAPSHOT:
        moves.follow = RIG_FOLLOW_FROM;
        break;
    case RIG_RULE_PREFIX:
        moves.follow = RIG_FOLLOW_READ;
        break;
    case RIG_RULE_SNAPSHOT:
        moves.follow = RIG_FOLLOW_FLOW;
        break;
    case RIG_RULE_UPDATES:
    case RIG_RULE_SERIAL:
        break;
    case RIG_RULE_COUNT:
        RIG_INVARIANT(false);
    }
    return moves;
}

uint64_t rig_breach_most_steps(const struct rig_problem *problem)
{
    return 16 * (problem->reads.count + problem->writes.count + problem->txn_count);
}

/* ---- where walks begin ---- */

static uint32_t state_at(const struct closed *c, uint32_t node, enum rig_edge_kind kind, uint32_t to_op)
{
    const enum rig_follow follow = c->states->moves.follow;
    return rig_states_of(c->problem, follow, node, rig_states_port(c->problem, follow, node, kind, to_op));
}

static uint32_t exit_of(const struct closed *c, uint32_t node)
{
    return rig_states_of(c->problem, c->states->moves.follow, node, rig_states_read_count(c->problem, node));
}

static bool is_out(const struct closed *c, uint32_t node)
{
    return c->states->left_out != NULL && c->states->left_out[node];
}

static bool goes_back(const struct closed *c, uint32_t from, uint32_t to)
{
    return c->ordered->place[to] < c->ordered->place[from];
}

/* An edge between the states of one component. */
static bool add_seed(struct closed *c, uint32_t from, uint32_t to, enum rig_departure departure, uint32_t index)
{
    const uint32_t component = c->states->component_of[from];
    return component == RIG_PROBLEM_NONE || component != c->states->component_of[to] ||
           seeds_add(&c->seeds, (struct seed){component, {departure, index}});
}

static bool add_seeds_of_read(struct closed *c, uint32_t read)
{
    const struct rig_problem_read *r = &c->problem->reads.at[read];
    const uint32_t reader = c->problem->read_txn[read], later = c->ordered->next[c->ordered->version[read]];
    if (c->states->moves.rw && later != RIG_PROBLEM_NONE && goes_back(c, reader, c->problem->write_txn[later])) {
        const uint32_t from =
            rig_states_of(c->problem, c->states->moves.follow, reader, read - c->problem->txns.at[reader].first_read);
        const uint32_t to = state_at(c, c->problem->write_txn[later], RIG_EDGE_RW, RIG_ARC_NONE);
        if (!add_seed(c, from, to, RIG_DEPART_MISSED, read))
            return false;
    }
    return !c->states->moves.wr || r->writer == RIG_PROBLEM_INITIAL || !goes_back(c, r->writer, reader) ||
           add_seed(c, exit_of(c, r->writer), state_at(c, reader, RIG_EDGE_WR, r->op), RIG_DEPART_READ, read);
}

static bool add_seeds_of_order(struct closed *c, uint32_t node)
{
    const struct rig_ordered *ordered = c->ordered;
    const uint32_t before = ordered->child == NULL ? RIG_PROBLEM_NONE : ordered->lead[node];
    if (before != RIG_PROBLEM_NONE && goes_back(c, before, node) &&
        !add_seed(c, exit_of(c, before), state_at(c, node, RIG_EDGE_PROCESS, RIG_ARC_NONE), RIG_DEPART_PROCESS, node))
        return false;
    if (ordered->after == NULL || ordered->after[node] >= ordered->latest[ordered->place[node]])
        return true;
    const uint32_t in_time = c->states->state_count - c->problem->txn_count + ordered->after[node];
    return add_seed(c, exit_of(c, node), in_time, RIG_DEPART_REALTIME, node);
}

/* Each closed walk leads back in the places somewhere. */
static bool add_seeds(struct closed *c)
{
    bool ok = true;
    for (uint32_t node = 0; ok && node < c->problem->txn_count; node++) {
        const struct rig_problem_txn *txn = &c->problem->txns.at[node];
        if (is_out(c, node))
            continue;
        for (uint32_t read = txn[0].first_read; ok && read < txn[1].first_read; read++)
            ok = add_seeds_of_read(c, read);
        ok = ok && add_seeds_of_order(c, node);
    }
    return ok;
}

static bool sort_seeds(struct closed *c, struct rig_arena *arena)
{
    const uint32_t components = c->states->component_count;
    uint32_t *first = c->first_start = rig_arena_array(arena, (size_t)components + 2, sizeof first[0]);
    c->starts = rig_arena_room(arena, c->seeds.count + 1, sizeof c->starts[0]);
    if (first == NULL || c->starts == NULL)
        return false;
    for (size_t i = 0; i < c->seeds.count; i++)
        first[c->seeds.at[i].component + 2]++;
    for (uint32_t i = 0; i < components; i++)
        first[i + 2] += first[i + 1];
    for (size_t i = 0; i < c->seeds.count; i++)
        c->starts[first[c->seeds.at[i].component + 1]++] = c->seeds.at[i].start;
    return true;
}

/* ---- walks ---- */

/* The places of a transaction and of one to which the edge leads back. */
static void find_ends(const struct closed *c, struct rig_start start, uint32_t *low, uint32_t *high)
{
    const struct rig_problem *problem = c->problem;
    uint32_t from = start.index, to = start.index;
    if (start.departure == RIG_DEPART_MISSED) {
        from = problem->read_txn[start.index];
        to = problem->write_txn[c->ordered->next[c->ordered->version[start.index]]];
    } else if (start.departure == RIG_DEPART_READ) {
        from = problem->reads.at[start.index].writer;
        to = problem->read_txn[start.index];
    }
    *low = c->ordered->place[to];
    *high = c->ordered->place[from];
}

/* Most cycles are of transactions near to each other: looks there first. */
static bool walk_from(struct closed *c, struct rig_start start)
{
    const uint32_t last = c->problem->txn_count - 1;
    uint32_t low, high;
    find_ends(c, start, &low, &high);
    for (uint64_t margin = FIRST_MARGIN;; margin *= MARGIN_GROWTH) {
        c->walker.low = low > margin ? low - (uint32_t)margin : 0;
        c->walker.high = last - high > margin ? high + (uint32_t)margin : last;
        if (!rig_walker_close(&c->walker, start, &c->sink->walk))
            return false;
        if (c->sink->walk.count > 0)
            return rig_breach_sink_take(c->sink, NULL);
        if (c->ordered->deadline->spent)
            return true;
        RIG_INVARIANT(c->walker.low > 0 || c->walker.high < last);
    }
}

/* From the first edge of each component, then from the second ones, and so on. */
static bool walk_from_all(struct closed *c)
{
    const uint32_t components = c->states->component_count;
    const uint64_t most_steps = rig_breach_most_steps(c->problem);
    bool more = true;
    for (uint32_t turn = 0; more; turn++) {
        more = false;
        for (uint32_t component = 0; component < components; component++) {
            const uint32_t i = c->first_start[component] + turn;
            if (rig_breach_sink_is_full(c->sink) || c->ordered->deadline->spent ||
                (turn > 0 && c->walker.steps > most_steps))
                return true;
            RIG_INVARIANT(turn > 0 || i < c->first_start[component + 1]);
            if (i >= c->first_start[component + 1])
                continue;
            more = true;
            c->walker.component = component;
            if (!walk_from(c, c->starts[i]))
                return false;
        }
    }
    return true;
}

bool rig_breach_find_closed(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *left_out,
                            struct rig_breach_sink *sink, struct rig_states *states, struct rig_arena *arena)
{
    struct closed c = {.problem = ordered->problem, .ordered = ordered, .states = states, .sink = sink};
    if (!rig_states_find(states, ordered, moves, left_out, arena))
        return false;
    if (states->component_count == 0 || ordered->deadline->spent)
        return true;
    bool ok =
        add_seeds(&c) && sort_seeds(&c, arena) && rig_walker_init(&c.walker, ordered, moves, ordered->place, arena);
    c.walker.states = states;
    c.walker.left_out = left_out;
    ok = ok && walk_from_all(&c);
    rig_walker_done(&c.walker);
    seeds_done(&c.seeds);
    return ok;
}
