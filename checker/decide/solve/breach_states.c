#include "checker/decide/solve/breach_states.h"

#include <string.h>

#include "base/bug.h"
#include "base/halve.h"

enum stage { STAGE_MISSED, STAGE_OVERWRITTEN, STAGE_READ, STAGE_PROCESS, STAGE_REALTIME, STAGE_END };

/* A state on the path, and how far its successors are done. */
struct frame {
    uint32_t state, node; /* node: NONE for a state of real time */
    uint32_t low;
    enum stage stage;
    uint32_t cursor, end;
};

RIG_VEC(struct frame, frames)
RIG_VEC(uint32_t, state_list)

struct search {
    struct rig_states *states;
    const struct rig_problem *problem;
    uint32_t node_states; /* those of real time come after them */
    uint32_t *number;     /* per state: 0 new, DONE, or its number among those on the stack */
    uint32_t last_number, last_rank;
    uint32_t *spans; /* per place: edges that lead back from it to an earlier place, or over it */
    struct frames path;
    struct state_list stack;
};

static const uint32_t done = UINT32_MAX;

uint32_t rig_states_port_from(const struct rig_problem *problem, uint32_t node, uint32_t op)
{
    RIG_REQUIRE(node < problem->txn_count);
    const uint32_t first = problem->txns.at[node].first_read, end = problem->txns.at[node + 1].first_read;
    uint32_t low = first;
    for (uint32_t high = end; low < high;)
        rig_halve(&low, &high, problem->reads.at[rig_middle(low, high)].op < op);
    return low - first;
}

uint32_t rig_states_follower(const struct rig_ordered *ordered, uint32_t node, uint32_t last, bool through)
{
    RIG_REQUIRE(ordered->child != NULL);
    if (last == RIG_PROBLEM_NONE)
        return ordered->child[node];
    if (through && ordered->child[last] != RIG_PROBLEM_NONE)
        return ordered->child[last];
    while (last != node && ordered->sibling[last] == RIG_PROBLEM_NONE)
        last = ordered->problem->txns.at[last].before;
    return last == node ? RIG_PROBLEM_NONE : ordered->sibling[last];
}

static bool is_mute(const struct search *s, uint32_t node)
{
    return s->states->mute != NULL && s->states->mute[node];
}

/* The state in which an edge arrives. */
static uint32_t arrive(const struct search *s, uint32_t node, enum rig_edge_kind kind, uint32_t to_op)
{
    const enum rig_follow follow = s->states->moves.follow;
    return rig_states_of(s->problem, follow, node, rig_states_port(s->problem, follow, node, kind, to_op));
}

static void enter_stage(const struct search *s, struct frame *frame, enum stage stage)
{
    RIG_REQUIRE(frame->node != RIG_PROBLEM_NONE && stage < STAGE_END);
    const struct rig_problem_txn *txn = &s->problem->txns.at[frame->node];
    frame->stage = stage;
    frame->cursor = frame->end = 0;
    if (stage == STAGE_OVERWRITTEN && s->states->moves.ww) {
        frame->cursor = txn[0].first_write;
        frame->end = txn[1].first_write;
    } else if (stage == STAGE_READ && s->states->moves.wr) {
        frame->cursor = s->problem->reader_first[txn[0].first_write];
        frame->end = s->problem->reader_first[txn[1].first_write];
    } else if (stage == STAGE_PROCESS) {
        frame->cursor = RIG_PROBLEM_NONE;
    }
}

/* Whether the state has the edges that do not depend on the port. */
static bool is_exit(const struct search *s, const struct frame *frame)
{
    const uint32_t none = rig_states_read_count(s->problem, frame->node);
    return frame->state == rig_states_of(s->problem, s->states->moves.follow, frame->node, none);
}

static struct frame frame_of(const struct search *s, uint32_t state, uint32_t node)
{
    struct frame frame = {.state = state, .node = node, .stage = STAGE_REALTIME};
    const enum rig_follow follow = s->states->moves.follow;
    if (node == RIG_PROBLEM_NONE)
        return frame;
    const struct rig_problem_txn *txn = &s->problem->txns.at[node];
    enter_stage(s, &frame, STAGE_MISSED);
    if (!s->states->moves.rw || is_mute(s, node) || (follow != RIG_FOLLOW_ANY && is_exit(s, &frame)))
        return frame;
    frame.cursor = txn[0].first_read;
    frame.end = txn[1].first_read;
    if (rig_follows_operations(follow)) {
        frame.cursor += state - rig_states_of(s->problem, follow, node, 0);
        frame.end = frame.cursor + 1;
    }
    return frame;
}

static uint32_t next_missed(const struct search *s, struct frame *frame)
{
    while (frame->cursor < frame->end) {
        const uint32_t later = s->states->ordered->next[s->states->ordered->version[frame->cursor++]];
        if (later == RIG_PROBLEM_NONE || s->problem->write_txn[later] == frame->node)
            continue;
        const uint32_t state = arrive(s, s->problem->write_txn[later], RIG_EDGE_RW, RIG_ARC_NONE);
        if (state != RIG_PROBLEM_NONE)
            return state;
    }
    if (is_exit(s, frame)) {
        enter_stage(s, frame, STAGE_OVERWRITTEN);
        return RIG_PROBLEM_NONE;
    }
    frame->stage = STAGE_END;
    RIG_INVARIANT(frame->state + 1 < s->node_states); /* the next port of the same transaction */
    return frame->state + 1;
}

static uint32_t next_overwriter(const struct search *s, struct frame *frame)
{
    while (frame->cursor < frame->end) {
        const uint32_t later = s->states->ordered->next[frame->cursor++];
        if (later == RIG_PROBLEM_NONE)
            continue;
        const uint32_t node = s->problem->write_txn[later];
        const uint32_t state = arrive(s, node, RIG_EDGE_WW, s->problem->writes.at[later].first_op);
        if (state != RIG_PROBLEM_NONE)
            return state;
    }
    enter_stage(s, frame, STAGE_READ);
    return RIG_PROBLEM_NONE;
}

static uint32_t next_reader(const struct search *s, struct frame *frame)
{
    while (frame->cursor < frame->end) {
        const uint32_t read = s->problem->readers[frame->cursor++];
        const uint32_t state = arrive(s, s->problem->read_txn[read], RIG_EDGE_WR, s->problem->reads.at[read].op);
        if (state != RIG_PROBLEM_NONE)
            return state;
    }
    enter_stage(s, frame, STAGE_PROCESS);
    return RIG_PROBLEM_NONE;
}

static uint32_t next_in_process(const struct search *s, struct frame *frame)
{
    if (s->states->ordered->child != NULL) {
        frame->cursor = rig_states_follower(s->states->ordered, frame->node, frame->cursor, false);
        if (frame->cursor != RIG_PROBLEM_NONE)
            return arrive(s, frame->cursor, RIG_EDGE_PROCESS, RIG_ARC_NONE);
    }
    enter_stage(s, frame, STAGE_REALTIME);
    return RIG_PROBLEM_NONE;
}

/* From a transaction to those that were invoked after its end; from these to the first one and to the rest. */
static uint32_t next_in_time(const struct search *s, struct frame *frame)
{
    const struct rig_ordered *ordered = s->states->ordered;
    const uint32_t count = s->problem->txn_count;
    const bool is_node = frame->node != RIG_PROBLEM_NONE;
    const uint32_t first = ordered->after == NULL ? count
                           : is_node              ? ordered->after[frame->node]
                                                  : frame->state - s->node_states;
    const uint32_t step = frame->cursor++;
    RIG_INVARIANT(is_node || first < count);
    if (step == 0 && !is_node)
        return arrive(s, ordered->invoked[first], RIG_EDGE_REALTIME, RIG_ARC_NONE);
    frame->stage = STAGE_END;
    const uint32_t rest = is_node ? first : first + 1;
    return rest < count ? s->node_states + rest : RIG_PROBLEM_NONE;
}

/* The next successor, or NONE at the end. */
static uint32_t next_state(const struct search *s, struct frame *frame)
{
    static uint32_t (*const next[STAGE_END])(const struct search *, struct frame *) = {
        next_missed, next_overwriter, next_reader, next_in_process, next_in_time};
    while (frame->stage != STAGE_END) {
        const uint32_t state = next[frame->stage](s, frame);
        if (state != RIG_PROBLEM_NONE)
            return state;
    }
    return RIG_PROBLEM_NONE;
}

static uint32_t node_of(const struct search *s, uint32_t state)
{
    if (state >= s->node_states)
        return RIG_PROBLEM_NONE;
    if (s->states->moves.follow == RIG_FOLLOW_ANY)
        return state;
    if (!rig_follows_operations(s->states->moves.follow))
        return state / 2;
    uint32_t low = 0;
    for (uint32_t high = s->problem->txn_count; high - low > 1;) {
        const uint32_t middle = low + (high - low) / 2;
        if (rig_states_of(s->problem, s->states->moves.follow, middle, 0) <= state)
            low = middle;
        else
            high = middle;
    }
    RIG_INVARIANT(rig_states_of(s->problem, s->states->moves.follow, low, 0) <= state);
    return low;
}

static bool begin(struct search *s, uint32_t state)
{
    RIG_REQUIRE(state < s->states->state_count && s->number[state] == 0);
    struct frame frame = frame_of(s, state, node_of(s, state));
    frame.low = s->number[state] = ++s->last_number;
    return frames_add(&s->path, frame) && state_list_add(&s->stack, state);
}

static void finish(struct search *s, const struct frame *frame)
{
    RIG_REQUIRE(s->stack.count > 0);
    struct rig_states *states = s->states;
    const bool alone = s->stack.at[s->stack.count - 1] == frame->state;
    for (uint32_t state = RIG_PROBLEM_NONE; state != frame->state;) {
        RIG_INVARIANT(s->stack.count > 0 && s->last_rank > 0);
        state = s->stack.at[--s->stack.count];
        s->number[state] = done;
        states->rank[state] = --s->last_rank;
        states->component_of[state] = alone ? RIG_PROBLEM_NONE : states->component_count;
    }
    states->component_count += !alone;
}

static bool walk_from(struct search *s, uint32_t root)
{
    if (s->number[root] != 0)
        return true;
    if (!begin(s, root))
        return false;
    while (s->path.count > 0 && !rig_deadline_is_over(s->states->ordered->deadline, 1)) {
        struct frame *top = &s->path.at[s->path.count - 1];
        const uint32_t state = next_state(s, top);
        if (state != RIG_PROBLEM_NONE) {
            if (s->number[state] == 0 && !begin(s, state))
                return false;
            top = &s->path.at[s->path.count - 1];
            if (s->number[state] < top->low)
                top->low = s->number[state];
            continue;
        }
        const struct frame left = *top;
        s->path.count--;
        RIG_INVARIANT(left.low == s->number[left.state] || (left.low < s->number[left.state] && s->path.count > 0));
        if (left.low == s->number[left.state])
            finish(s, &left);
        else if (s->path.at[s->path.count - 1].low > left.low)
            s->path.at[s->path.count - 1].low = left.low;
    }
    return true;
}

/* ---- edges that lead back ---- */

/* An edge from the one place to the other. */
static void note_edge(struct search *s, uint32_t from, uint32_t to)
{
    RIG_REQUIRE(from < s->problem->txn_count);
    if (to > from)
        return;
    s->spans[to]++; /* differences at first: modulo 2^32 */
    s->spans[from + 1]--;
}

static void note_edges_to(struct search *s, uint32_t node)
{
    const struct rig_ordered *ordered = s->states->ordered;
    const struct rig_problem_txn *txn = &s->problem->txns.at[node];
    const uint32_t *place = ordered->place;
    for (uint32_t r = txn[0].first_read; r < txn[1].first_read; r++) {
        const uint32_t writer = s->problem->reads.at[r].writer, later = ordered->next[ordered->version[r]];
        if (s->states->moves.wr && writer != RIG_PROBLEM_INITIAL)
            note_edge(s, place[writer], place[node]);
        if (s->states->moves.rw && !is_mute(s, node) && later != RIG_PROBLEM_NONE &&
            s->problem->write_txn[later] != node)
            note_edge(s, place[node], place[s->problem->write_txn[later]]);
    }
    if (ordered->child != NULL && txn->before != RIG_PROBLEM_NONE)
        note_edge(s, place[txn->before], place[node]);
}

/* From each transaction to the lowest place of those that were invoked after its end. */
static bool note_times(struct search *s, struct rig_arena *arena)
{
    const struct rig_ordered *ordered = s->states->ordered;
    const uint32_t count = s->problem->txn_count;
    uint32_t *lowest = rig_arena_room(arena, (size_t)count + 1, sizeof lowest[0]);
    if (lowest == NULL)
        return false;
    lowest[count] = count;
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t place = ordered->place[ordered->invoked[i]];
        lowest[i] = place < lowest[i + 1] ? place : lowest[i + 1];
    }
    for (uint32_t node = 0; node < count; node++) {
        RIG_INVARIANT(ordered->after[node] <= count);
        note_edge(s, ordered->place[node], lowest[ordered->after[node]]);
    }
    return true;
}

/* ww edges lead to higher places. */
static bool find_spans(struct search *s, struct rig_arena *arena)
{
    const uint32_t count = s->problem->txn_count;
    s->spans = rig_arena_array(arena, (size_t)count + 2, sizeof s->spans[0]);
    if (s->spans == NULL || (s->states->ordered->after != NULL && !note_times(s, arena)))
        return false;
    for (uint32_t node = 0; node < count; node++)
        note_edges_to(s, node);
    for (uint32_t place = 0; place < count; place++)
        s->spans[place + 1] += s->spans[place];
    RIG_INVARIANT(s->spans[count] == 0); /* each edge that leads back has its end */
    return true;
}

/* ---- all states ---- */

/* No edge leads back over the transaction, so none of its states is on a closed walk. */
static void settle(struct search *s, uint32_t node)
{
    const enum rig_follow follow = s->states->moves.follow;
    for (uint32_t port = rig_states_read_count(s->problem, node) + 1; port-- > 0;) {
        const uint32_t state = rig_states_of(s->problem, follow, node, port);
        if (s->number[state] == done)
            continue;
        RIG_INVARIANT(s->number[state] == 0 && s->last_rank > 0);
        s->number[state] = done;
        s->states->rank[state] = --s->last_rank;
    }
}

/* Later transactions first: all that they lead to is done, except over edges that lead back. */
static bool walk_all(struct search *s)
{
    const enum rig_follow follow = s->states->moves.follow;
    for (uint32_t place = s->problem->txn_count; place-- > 0;) {
        const uint32_t node = s->states->ordered->at[place];
        if (rig_deadline_is_over(s->states->ordered->deadline, 1))
            return true;
        if (s->spans[place] == 0) {
            settle(s, node);
            continue;
        }
        for (uint32_t port = rig_states_read_count(s->problem, node) + 1; port-- > 0;) {
            if (!walk_from(s, rig_states_of(s->problem, follow, node, port)))
                return false;
        }
    }
    return true;
}

bool rig_states_find(struct rig_states *states, const struct rig_ordered *ordered, struct rig_moves moves,
                     const uint8_t *mute, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    struct search s = {.states = states, .problem = problem};
    *states = (struct rig_states){.ordered = ordered, .moves = moves, .mute = mute};
    s.node_states = moves.follow == RIG_FOLLOW_ANY         ? problem->txn_count
                    : rig_follows_operations(moves.follow) ? problem->txn_count + (uint32_t)problem->reads.count
                                                           : 2 * problem->txn_count;
    states->state_count = s.node_states + (ordered->after != NULL ? problem->txn_count : 0);
    s.number = rig_arena_array(arena, (size_t)states->state_count + 1, sizeof(uint32_t));
    states->component_of = rig_arena_room(arena, (size_t)states->state_count + 1, sizeof(uint32_t));
    states->rank = rig_arena_room(arena, (size_t)states->state_count + 1, sizeof(uint32_t));
    bool ok = s.number != NULL && states->component_of != NULL && states->rank != NULL;
    if (ok) {
        memset(states->component_of, 0xff, ((size_t)states->state_count + 1) * sizeof(uint32_t));
        memset(states->rank, 0xff, ((size_t)states->state_count + 1) * sizeof(uint32_t));
        s.last_rank = states->state_count;
        ok = find_spans(&s, arena) && walk_all(&s);
    }
    frames_done(&s.path);
    state_list_done(&s.stack);
    return ok;
}
