#include "checker/decide/cycle/core.h"

#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/model/orders.h"

/* States of a node. Walked ones are DONE or IN_CORE; PASSED ones are skipped, or not reached yet. */
enum { PASSED = 0, LATE = 1, OPEN = 2, DONE = 3, IN_CORE = 4 };

/* The transaction before one in its process is looked for among the last 256; that takes less than making the process
 * order. */
enum { NEAR = 256 };

/* Stages of reading a node's edges: its predecessor in its process, its own edges, those chained. */
enum { AT_PROCESS, AT_OWN, AT_CHAINED };

struct frame {
    uint32_t node : 30;
    uint32_t stage : 2; /* AT_... */
    uint32_t next;      /* the next edge of that stage */
    uint32_t lowest;    /* smallest index reachable so far */
    uint32_t latest;    /* latest invocation among the node and its known ancestors */
};

_Static_assert(RIG_GRAPH_MAX_NODES <= 1 << 30, "the numbers of nodes have 30 bits");

RIG_VEC(struct frame, frames)
RIG_VEC(uint32_t, open_nodes)

struct walk {
    const struct rig_links *links;
    const struct rig_history *history; /* NULL: no real time */
    const uint8_t *committed;
    const uint8_t *selected;  /* NULL: all */
    uint32_t *process_before; /* per transaction; NULL: not made yet */
    bool asks;                /* the walk ends at the first node of the core */
    bool found;               /* with `asks`: there is one */
    bool out_of_memory;
    uint8_t *state;     /* per node */
    uint32_t *value;    /* per node: when open its index in the order of discovery, when done its latest invocation; not
                         * with `asks`: nodes that are done were invoked in time, and an open one closes a cycle */
    struct frames path; /* this and the next are freed after the walk */
    struct open_nodes open;
    uint32_t next_index;
    uint32_t start;    /* of this part of the walk; transactions before it are not walked */
    uint32_t ended_at; /* its completion; transactions invoked later violate real time */
    uint32_t horizon;  /* the latest invocation of those; no transaction that completed before it is skipped */
};

static uint32_t invocation(const struct walk *w, uint32_t node)
{
    if (node >= w->links->txn_count || w->history == NULL || !w->history->has_invocations)
        return 0;
    uint32_t invoked = w->history->txns[node].invoke_at;
    return invoked == RIG_POSITION_NONE ? 0 : invoked;
}

static bool enter(struct walk *w, uint32_t node)
{
    const struct frame frame = {.node = node & (RIG_GRAPH_MAX_NODES - 1u),
                                .stage = node < w->links->txn_count ? AT_PROCESS : AT_CHAINED,
                                .next = node < w->links->txn_count ? 0 : *rig_links_head(w->links, node),
                                .lowest = ++w->next_index,
                                .latest = invocation(w, node)};
    w->state[node] = OPEN;
    if (w->asks) {
        w->found |= frame.latest > w->ended_at;
        return frames_add(&w->path, frame);
    }
    w->value[node] = w->next_index;
    return open_nodes_add(&w->open, node) && frames_add(&w->path, frame);
}

/* Takes over the latest invocation of a predecessor that is done. */
static inline void take_latest(const struct walk *w, struct frame *frame, uint32_t from)
{
    uint32_t latest = w->state[from] >= DONE ? w->value[from] : 0;
    frame->latest = latest > frame->latest ? latest : frame->latest;
}

/* Whether the walk enters `from` from here. From a node before the start it may only take the latest invocation. */
static inline bool is_next(const struct walk *w, struct frame *frame, uint32_t from)
{
    if (from >= w->start)
        return w->selected == NULL || w->selected[from];
    if (w->ended_at < w->horizon)
        take_latest(w, frame, from);
    return false;
}

/* The same among the own edges of a transaction. */
static uint32_t next_own(const struct walk *w, struct frame *frame)
{
    RIG_REQUIRE(frame->stage == AT_OWN && frame->node < w->links->txn_count);
    const struct rig_links *links = w->links;
    const uint32_t end = links->own_first == NULL ? 0 : links->own_first[frame->node + 1];
    while (frame->next < end) {
        uint32_t from = rig_edge_node(links->own[frame->next++]);
        if (is_next(w, frame, from))
            return from;
    }
    frame->stage = AT_CHAINED;
    frame->next = links->head[frame->node];
    return RIG_NODE_NONE;
}

static uint32_t next_chained(const struct walk *w, struct frame *frame)
{
    RIG_REQUIRE(frame->stage == AT_CHAINED);
    while (frame->next != RIG_NODE_NONE) {
        const struct rig_chained *chained = &w->links->chained[frame->next];
        const uint32_t from = rig_edge_node(chained->edge);
        const bool is_read = frame->next < w->links->read_count;
        frame->next = chained->next;
        if (is_next(w, frame, from))
            return from;
        if (is_read && from < w->start && w->ended_at >= w->horizon)
            frame->next = RIG_NODE_NONE; /* edges chained before it come from the same node, or from earlier ones */
    }
    return RIG_NODE_NONE;
}

static bool make_process_order(struct walk *w)
{
    struct rig_arena *arena = w->links->arena;
    uint32_t *before = rig_arena_room(arena, (size_t)w->links->txn_count + 1, sizeof *before);
    if (before == NULL || !rig_process_order(w->history, w->committed, arena, before))
        return false;
    w->process_before = before;
    return true;
}

/* The acknowledged transaction before it in its process, from the start on, or RIG_NODE_NONE. A walk that asks needs it
 * only where processes run in turn: elsewhere the process order is a part of real time. */
static uint32_t process_before(struct walk *w, uint32_t node)
{
    RIG_REQUIRE(node < w->links->txn_count);
    if (w->process_before != NULL)
        return w->process_before[node];
    if (w->history == NULL || !w->history->in_turn)
        return RIG_NODE_NONE;
    const struct rig_txn *txns = w->history->txns;
    const uint32_t end = node - w->start > NEAR ? node - NEAR : w->start;
    for (uint32_t txn = node; txn-- > end;) {
        if (txns[txn].process == txns[node].process && txns[txn].outcome == RIG_OUTCOME_OK && w->committed[txn])
            return txn;
    }
    if (end > w->start && !make_process_order(w))
        w->out_of_memory = true;
    return w->process_before == NULL ? RIG_NODE_NONE : w->process_before[node];
}

/* The next predecessor that the walk enters from here, or RIG_NODE_NONE. */
static uint32_t next_of(struct walk *w, struct frame *frame)
{
    uint32_t from = RIG_NODE_NONE;
    if (frame->stage == AT_PROCESS) {
        const uint32_t before = process_before(w, frame->node);
        frame->stage = AT_OWN;
        frame->next = w->links->own_first == NULL ? 0 : w->links->own_first[frame->node];
        if (before != RIG_NODE_NONE && is_next(w, frame, before))
            return before;
    }
    if (frame->stage == AT_OWN)
        from = next_own(w, frame);
    return from != RIG_NODE_NONE ? from : next_chained(w, frame);
}

/* Closes the component whose root is the frame's node. */
static void close_component(struct walk *w, const struct frame *root)
{
    RIG_REQUIRE(w->open.count > 0 && root->node >= w->start);
    bool alone = w->open.at[w->open.count - 1] == root->node, late = root->latest > w->ended_at;
    uint8_t state = !alone || late ? IN_CORE : DONE;
    uint32_t member;
    if (late && root->latest > w->horizon)
        w->horizon = root->latest;
    do {
        RIG_INVARIANT(w->open.count > 0);
        member = w->open.at[--w->open.count];
        w->state[member] = state;
        w->value[member] = root->latest;
    } while (member != root->node);
}

static void leave(struct walk *w)
{
    struct frame left = w->path.at[--w->path.count];
    if (w->asks) {
        w->state[left.node] = DONE;
        return;
    }
    RIG_INVARIANT(left.lowest <= w->value[left.node] && left.node >= w->start);
    if (left.lowest == w->value[left.node])
        close_component(w, &left);
    if (w->path.count == 0)
        return;
    struct frame *top = &w->path.at[w->path.count - 1];
    top->lowest = left.lowest < top->lowest ? left.lowest : top->lowest;
    top->latest = left.latest > top->latest ? left.latest : top->latest;
}

/* A predecessor that was entered before. */
static void meet(struct walk *w, struct frame *top, uint32_t from)
{
    w->found |= w->asks && w->state[from] == OPEN;
    if (w->asks)
        return;
    if (w->state[from] == OPEN)
        top->lowest = w->value[from] < top->lowest ? w->value[from] : top->lowest;
    else
        take_latest(w, top, from);
}

/*
 * With `asks`, the usual case: the later-numbered predecessors of the start have no later-numbered predecessors
 * themselves. False when they have, or when only a walk can tell.
 */
static bool explore_one_step(struct walk *w)
{
    const struct rig_links *links = w->links;
    struct rig_links_cursor cursor = rig_links_into(links, w->start);
    for (uint32_t edge; (edge = rig_links_next_from(links, &cursor, w->start)) != RIG_NODE_NONE;) {
        const uint32_t from = rig_edge_node(edge);
        if (from >= links->txn_count || invocation(w, from) > w->ended_at || process_before(w, from) != RIG_NODE_NONE)
            return false;
        struct rig_links_cursor behind = rig_links_into(links, from);
        if (w->state[from] != DONE && rig_links_next_from(links, &behind, w->start) != RIG_NODE_NONE)
            return false;
        w->state[from] = DONE;
    }
    w->state[w->start] = DONE;
    return true;
}

/* Walks the ancestors of a node that have higher numbers. */
static bool explore(struct walk *w, uint32_t start)
{
    RIG_INVARIANT(w->path.count == 0 && w->open.count == 0);
    w->start = start;
    w->ended_at = w->history == NULL ? UINT32_MAX : w->history->txns[start].complete_at;
    w->next_index = 0;
    if (w->asks && explore_one_step(w))
        return !w->out_of_memory;
    if (!enter(w, start))
        return false;
    while (w->path.count > 0 && !w->found) {
        struct frame *top = &w->path.at[w->path.count - 1];
        uint32_t from = next_of(w, top);
        if (from == RIG_NODE_NONE)
            leave(w);
        else if (w->state[from] >= OPEN)
            meet(w, top, from);
        else if (!enter(w, from))
            return false;
    }
    RIG_INVARIANT(w->found || w->open.count == 0);
    return !w->out_of_memory;
}

static bool walk(struct walk *w)
{
    for (uint32_t node = 0; node < w->links->txn_count && !w->found; node++) {
        if (w->horizon == 0) {
            const uint8_t *late = memchr(w->state + node, LATE, w->links->txn_count - node);
            if (late == NULL)
                return true;
            node = (uint32_t)(late - w->state);
        }
        uint8_t state = w->state[node];
        bool due = state == LATE || (state == PASSED && w->history->txns[node].complete_at < w->horizon);
        if (due && (w->selected == NULL || w->selected[node]) && !explore(w, node))
            return false;
    }
    return true;
}

/* Numbers the nodes of the core in the order of their numbers in the whole, and stores the numbers in `value`. */
static bool number_nodes(const struct walk *w, struct rig_arena *arena, struct rig_subgraph *core)
{
    uint32_t node_count = w->links->node_count, count = 0;
    for (uint32_t node = 0; node < node_count; node++)
        count += w->state[node] == IN_CORE;
    core->nodes = rig_arena_room(arena, (size_t)count + 1, sizeof *core->nodes);
    if (core->nodes == NULL)
        return false;
    core->node_count = core->txn_count = 0;
    for (uint32_t node = 0; node < node_count; node++) {
        bool in_core = w->state[node] == IN_CORE;
        w->value[node] = in_core ? core->node_count : RIG_NODE_NONE;
        core->nodes[core->node_count] = node;
        core->node_count += in_core;
        core->txn_count += in_core && node < w->links->txn_count;
    }
    RIG_INVARIANT(core->node_count == count && core->txn_count <= count);
    core->place = w->value;
    return true;
}

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the search for cycles");
}

/* Finds out which nodes are in the core, or whether any is; the states come from the links' arena. */
static enum rig_rc find_nodes(struct walk *w, struct rig_err *err)
{
    const struct rig_links *links = w->links;
    struct rig_arena *arena = links->arena;
    w->state = rig_arena_array(arena, (size_t)links->node_count + 1, sizeof *w->state);
    if (!w->asks)
        w->value = rig_arena_room(arena, (size_t)links->node_count + 1, sizeof *w->value);
    if (w->state == NULL || (!w->asks && (w->value == NULL || !make_process_order(w))))
        return no_memory(err);
    memcpy(w->state, links->late_before, links->txn_count);
    bool walked = walk(w);
    frames_done(&w->path);
    open_nodes_done(&w->open);
    return walked ? RIG_OK : no_memory(err);
}

enum rig_rc rig_core_is_empty(const struct rig_links *links, const struct rig_history *history,
                              const uint8_t *committed, bool *empty, struct rig_err *err)
{
    RIG_REQUIRE(links->node_count >= links->txn_count);
    RIG_REQUIRE(history == NULL || !history->in_turn || committed != NULL);
    struct walk w = {.links = links, .history = history, .committed = committed, .asks = true};
    enum rig_rc rc = find_nodes(&w, err);
    if (rc == RIG_OK)
        *empty = !w.found;
    if (w.state != NULL)
        rig_arena_abandon(w.state, links->node_count * sizeof *w.state);
    return rc;
}

enum rig_rc rig_core_find(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                          const uint8_t *selected, struct rig_graph *core, struct rig_err *err)
{
    RIG_REQUIRE(history->txn_count == links->txn_count);
    struct rig_arena *arena = links->arena;
    struct walk w = {.links = links, .history = history, .committed = committed, .selected = selected};
    struct rig_subgraph part;
    enum rig_rc rc = find_nodes(&w, err);
    if (rc != RIG_OK)
        return rc;
    if (!number_nodes(&w, arena, &part))
        return no_memory(err);
    rig_arena_abandon(w.state, links->node_count * sizeof *w.state);
    rc = rig_graph_pack(links, &part, arena, core, err);
    if (rc == RIG_OK)
        rc = rig_graph_add_orders(history, committed, w.process_before, arena, core, err);
    rig_arena_abandon(w.process_before, links->txn_count * sizeof *w.process_before);
    return rc;
}

enum rig_rc rig_core_mark(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                          const uint8_t *selected, uint8_t **in_core, struct rig_err *err)
{
    struct walk w = {.links = links, .history = history, .committed = committed, .selected = selected};
    enum rig_rc rc = find_nodes(&w, err);
    for (uint32_t txn = 0; rc == RIG_OK && txn < links->txn_count; txn++)
        w.state[txn] = w.state[txn] == IN_CORE;
    if (rc == RIG_OK)
        *in_core = w.state;
    return rc;
}
