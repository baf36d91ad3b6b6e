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
    if (w->found != RIG_PROBLEM_NONE || w->failed || (w->left_out != NULL && w->left_out[node]))
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
        through = through && (w->rank[last] <= w->high || (w->left_out != NULL && w->left_out[last]));
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
    for (uint32_t i = port; i < missed_end && w->moves.rw; i++)
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
        be_read(w, RIG_PROBLEM_NONE, start.index);
        break;
    case RIG_DEPART_PROCESS:
        before = w->ordered->lead[start.index];
        w->target = before;
        come_before(w, RIG_PROBLEM_NONE, before, start.index, RIG_EDGE_PROCESS);
        break;
    case RIG_DEPART_REALTIME:
        follow_time(w, RIG_PROBLEM_NONE, start.index);
        break;
    case RIG_DEPART_ALL:
        expand(w, RIG_PROBLEM_NONE, start.index, 0);
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
    const size_t first = arcs->count;
    for (uint32_t i = w->found; i != RIG_PROBLEM_NONE; i = w->visits.at[i].from) {
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
