#include "checker/decide/solve/breach_walk.h"

#include "base/bug.h"

bool rig_walker_init(struct rig_walker *walker, const struct rig_ordered *ordered, struct rig_moves moves,
                     const uint32_t *rank, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    const size_t nodes = (size_t)problem->txn_count + 1, writes = problem->writes.count + 1;
    *walker = (struct rig_walker){.ordered = ordered, .moves = moves, .rank = rank};
    walker->component = RIG_PROBLEM_NONE;
    walker->high = UINT32_MAX;
    walker->seen = rig_arena_array(arena, nodes, sizeof(uint32_t));
    walker->port = rig_arena_array(arena, nodes, sizeof(uint32_t));
    walker->opened = rig_arena_array(arena, nodes, sizeof(uint32_t));
    walker->missed_end = rig_arena_array(arena, nodes, sizeof(uint32_t));
    walker->followed = rig_arena_array(arena, nodes, sizeof(uint32_t));
    walker->overwritten = rig_arena_array(arena, writes, sizeof(uint32_t));
    walker->missed = rig_arena_array(arena, writes, sizeof(uint32_t));
    return walker->seen != NULL && walker->port != NULL && walker->opened != NULL && walker->missed_end != NULL &&
           walker->followed != NULL && walker->overwritten != NULL && walker->missed != NULL;
}

void rig_walker_done(struct rig_walker *walker)
{
    rig_visits_done(&walker->visits);
}

static const struct rig_problem *problem_of(const struct rig_walker *w)
{
    return w->ordered->problem;
}

static void arrive(struct rig_walker *w, struct rig_visit visit, uint32_t to_op)
{
    const enum rig_follow follow = w->moves.follow;
    const uint32_t node = visit.node;
    w->steps++;
    if (w->found != RIG_PROBLEM_NONE || w->failed)
        return;
    if (node != w->target && (w->rank[node] < w->low || w->rank[node] > w->high))
        return;
    if (w->seen[node] == w->round && w->port[node] == 0)
        return;
    visit.port = rig_states_port(problem_of(w), follow, node, visit.kind, to_op);
    if ((w->seen[node] == w->round && visit.port >= w->port[node]) ||
        (w->component != RIG_PROBLEM_NONE &&
         w->states->component_of[rig_states_of(problem_of(w), follow, node, visit.port)] != w->component))
        return;
    w->failed = !rig_visits_add(&w->visits, visit);
    w->seen[node] = w->round;
    w->port[node] = visit.port;
    if (!w->failed && node == w->target && visit.port <= w->target_port)
        w->found = (uint32_t)w->visits.count - 1;
}

/* Whether the version and all later ones of its key are out of range. */
static bool is_beyond(const struct rig_walker *w, uint32_t write)
{
    return write == RIG_PROBLEM_NONE || w->rank[problem_of(w)->write_txn[write]] > w->high;
}

/* To the writers of all later versions that rw edges have not reached yet. The reader's own version stays unmarked: it
 * is reached by nothing here, but may be from other readers. */
static void miss(struct rig_walker *w, uint32_t from, uint32_t read)
{
    const struct rig_ordered *ordered = w->ordered;
    const struct rig_problem *problem = problem_of(w);
    const uint32_t reader = problem->read_txn[read];
    for (uint32_t later = ordered->next[ordered->version[read]]; !is_beyond(w, later) && w->missed[later] != w->round;
         later = ordered->next[later]) {
        if (problem->write_txn[later] == reader)
            continue;
        w->missed[later] = w->round;
        arrive(w,
               (struct rig_visit){
                   .node = problem->write_txn[later], .from = from, .cause = read, .later = later, .kind = RIG_EDGE_RW},
               RIG_ARC_NONE);
    }
}

static void overwrite(struct rig_walker *w, uint32_t from, uint32_t write)
{
    const struct rig_ordered *ordered = w->ordered;
    const struct rig_problem *problem = problem_of(w);
    for (uint32_t later = ordered->next[write]; !is_beyond(w, later) && w->overwritten[later] != w->round;
         later = ordered->next[later]) {
        w->overwritten[later] = w->round;
        arrive(
            w,
            (struct rig_visit){
                .node = problem->write_txn[later], .from = from, .cause = write, .later = later, .kind = RIG_EDGE_WW},
            problem->writes.at[later].first_op);
    }
}

static void be_read(struct rig_walker *w, uint32_t from, uint32_t read)
{
    const struct rig_problem *problem = problem_of(w);
    arrive(w, (struct rig_visit){.node = problem->read_txn[read], .from = from, .cause = read, .kind = RIG_EDGE_WR},
           problem->reads.at[read].op);
}

static void come_before(struct rig_walker *w, uint32_t from, uint32_t node, uint32_t to, enum rig_edge_kind kind)
{
    arrive(w, (struct rig_visit){.node = to, .from = from, .cause = node, .kind = kind}, RIG_ARC_NONE);
}

/* To all that come later in the process, and that process order has not reached yet. */
static void follow_process(struct rig_walker *w, uint32_t from, uint32_t node)
{
    const struct rig_ordered *ordered = w->ordered;
    if (ordered->child == NULL)
        return;
    bool through = true;
    for (uint32_t last = RIG_PROBLEM_NONE;;) {
        last = rig_states_follower(ordered, node, last, through);
        if (last == RIG_PROBLEM_NONE)
            return;
        through = w->followed[last] != w->round;
        w->followed[last] = w->round;
        if (through)
            come_before(w, from, node, last, RIG_EDGE_PROCESS);
        /* Beyond the range there are further ones only. */
        through = through && w->rank[last] <= w->high;
    }
}

static void follow_time(struct rig_walker *w, uint32_t from, uint32_t node)
{
    const struct rig_ordered *ordered = w->ordered;
    if (ordered->after == NULL)
        return;
    const bool is_bounded = w->rank == ordered->place && w->high < problem_of(w)->txn_count;
    const uint32_t end = is_bounded ? ordered->latest[w->high] : UINT32_MAX;
    for (uint32_t i = ordered->after[node]; i < w->invoked_from && i < end; i++)
        come_before(w, from, node, ordered->invoked[i], RIG_EDGE_REALTIME);
    if (ordered->after[node] < w->invoked_from)
        w->invoked_from = ordered->after[node];
}

/* Goes on by the edges of a node: those that no port forbids once, those of reads from a lower port. */
static void expand(struct rig_walker *w, uint32_t from, uint32_t node, uint32_t port)
{
    RIG_REQUIRE(node < problem_of(w)->txn_count && port <= rig_states_read_count(problem_of(w), node));
    const struct rig_problem *problem = problem_of(w);
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    uint32_t missed_end = rig_states_read_count(problem, node);
    if (w->opened[node] == w->round) {
        missed_end = w->missed_end[node];
    } else {
        for (uint32_t i = txn[0].first_write; i < txn[1].first_write && w->moves.ww; i++)
            overwrite(w, from, i);
        const uint32_t end = problem->reader_first[txn[1].first_write];
        for (uint32_t i = problem->reader_first[txn[0].first_write]; i < end && w->moves.wr; i++)
            be_read(w, from, problem->readers[i]);
        follow_process(w, from, node);
        follow_time(w, from, node);
    }
    const bool is_mute = w->mute != NULL && w->mute[node];
    for (uint32_t i = port; i < missed_end && w->moves.rw && !is_mute; i++)
        miss(w, from, txn->first_read + i);
    w->opened[node] = w->round;
    w->missed_end[node] = port < missed_end ? port : missed_end;
}

static void begin(struct rig_walker *w, struct rig_start start)
{
    w->round++;
    w->visits.count = 0;
    w->found = RIG_PROBLEM_NONE;
    w->failed = false;
    w->invoked_from = problem_of(w)->txn_count;
    w->target = start.index;
    w->target_port = UINT32_MAX;
}

static void depart(struct rig_walker *w, struct rig_start start)
{
    const struct rig_problem *problem = problem_of(w);
    uint32_t before;
    switch (start.departure) {
    case RIG_DEPART_MISSED:
        w->target = problem->read_txn[start.index];
        w->target_port = start.index - problem->txns.at[w->target].first_read;
        miss(w, RIG_PROBLEM_NONE, start.index);
        break;
    case RIG_DEPART_READ:
        w->target = problem->reads.at[start.index].writer;
        RIG_REQUIRE(w->target != RIG_PROBLEM_INITIAL);
        be_read(w, RIG_PROBLEM_NONE, start.index);
        break;
    case RIG_DEPART_PROCESS:
        before = w->ordered->lead[start.index];
        RIG_REQUIRE(before != RIG_PROBLEM_NONE);
        w->target = before;
        come_before(w, RIG_PROBLEM_NONE, before, start.index, RIG_EDGE_PROCESS);
        break;
    case RIG_DEPART_REALTIME:
        follow_time(w, RIG_PROBLEM_NONE, start.index);
        break;
    }
}

static struct rig_arc arc_of(const struct rig_problem *problem, const struct rig_visit *visit)
{
    switch (visit->kind) {
    case RIG_EDGE_WW:
        return rig_ordered_ww(problem, visit->cause, visit->later);
    case RIG_EDGE_WR:
        return rig_ordered_wr(problem, visit->cause);
    case RIG_EDGE_RW:
        return rig_ordered_rw(problem, visit->cause, visit->later);
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        break;
    }
    return rig_ordered_arc(visit->cause, visit->node, visit->kind);
}

static bool unroll(const struct rig_walker *w, struct rig_arcs *arcs)
{
    RIG_REQUIRE(w->found < w->visits.count);
    const size_t first = arcs->count;
    for (uint32_t i = w->found; i != RIG_PROBLEM_NONE; i = w->visits.at[i].from) {
        RIG_INVARIANT(w->visits.at[i].from == RIG_PROBLEM_NONE || w->visits.at[i].from < i);
        if (!rig_arcs_add(arcs, arc_of(problem_of(w), &w->visits.at[i])))
            return false;
    }
    for (size_t low = first, high = arcs->count - 1; low < high; low++, high--) {
        const struct rig_arc swap = arcs->at[low];
        arcs->at[low] = arcs->at[high];
        arcs->at[high] = swap;
    }
    return true;
}

bool rig_walker_close(struct rig_walker *walker, struct rig_start start, struct rig_arcs *arcs)
{
    RIG_REQUIRE(walker->low <= walker->high);
    begin(walker, start);
    depart(walker, start);
    for (size_t i = 0; i < walker->visits.count && walker->found == RIG_PROBLEM_NONE && !walker->failed; i++) {
        const struct rig_visit at = walker->visits.at[i];
        const uint64_t before = walker->steps;
        if (walker->port[at.node] == at.port)
            expand(walker, (uint32_t)i, at.node, at.port);
        if (rig_deadline_is_over(walker->ordered->deadline, 1 + (uint32_t)(walker->steps - before)))
            break;
    }
    return !walker->failed && (walker->found == RIG_PROBLEM_NONE || unroll(walker, arcs));
}

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

static bool goes_back(const struct closed *c, uint32_t from, uint32_t to)
{
    return c->ordered->place[to] < c->ordered->place[from];
}

/* An edge between the states of one component. */
static bool add_seed(struct closed *c, uint32_t from, uint32_t to, enum rig_departure departure, uint32_t index)
{
    RIG_REQUIRE(from < c->states->state_count && to < c->states->state_count);
    const uint32_t component = c->states->component_of[from];
    return component == RIG_PROBLEM_NONE || component != c->states->component_of[to] ||
           seeds_add(&c->seeds, (struct seed){component, {departure, index}});
}

static bool add_seeds_of_read(struct closed *c, uint32_t read)
{
    const struct rig_problem_read *r = &c->problem->reads.at[read];
    const uint32_t reader = c->problem->read_txn[read], later = c->ordered->next[c->ordered->version[read]];
    const bool is_mute = c->states->mute != NULL && c->states->mute[reader];
    if (c->states->moves.rw && !is_mute && later != RIG_PROBLEM_NONE &&
        goes_back(c, reader, c->problem->write_txn[later])) {
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
    for (size_t i = 0; i < c->seeds.count; i++) {
        RIG_INVARIANT(c->seeds.at[i].component < components);
        first[c->seeds.at[i].component + 2]++;
    }
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
    RIG_INVARIANT(*low <= *high);
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

bool rig_breach_find_closed(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *mute,
                            struct rig_breach_sink *sink, struct rig_states *states, struct rig_arena *arena)
{
    struct closed c = {.problem = ordered->problem, .ordered = ordered, .states = states, .sink = sink};
    if (!rig_states_find(states, ordered, moves, mute, arena))
        return false;
    if (states->component_count == 0 || ordered->deadline->spent)
        return true;
    bool ok =
        add_seeds(&c) && sort_seeds(&c, arena) && rig_walker_init(&c.walker, ordered, moves, ordered->place, arena);
    c.walker.states = states;
    c.walker.mute = mute;
    ok = ok && walk_from_all(&c);
    rig_walker_done(&c.walker);
    seeds_done(&c.seeds);
    return ok;
}
