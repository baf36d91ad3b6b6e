#include "checker/decide/cycle/core.h"

#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/model/orders.h"

/* States of a node. Walked ones are DONE or IN_CORE; PASSED ones are skipped, or not reached yet. */
enum { PASSED = 0, LATE = 1, OPEN = 2, DONE = 3, IN_CORE = 4 };

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
    const struct rig_history *history;
    const uint8_t *selected;  /* NULL: all */
    uint32_t *process_before; /* per transaction */
    uint8_t *state;           /* per node */
    uint32_t *value;    /* per node: when open its index in the order of discovery, when done its latest invocation */
    struct frames path; /* this and the next are freed after the walk */
    struct open_nodes open;
    uint32_t next_index;
    uint32_t start;    /* of this part of the walk; transactions before it are not walked */
    uint32_t ended_at; /* its completion; transactions invoked later violate real time */
    uint32_t horizon;  /* the latest invocation of those; no transaction that completed before it is skipped */
};

static uint32_t invocation(const struct walk *w, uint32_t node)
{
    if (node >= w->links->txn_count || !w->history->has_invocations)
        return 0;
    uint32_t invoked = w->history->txns[node].invoke_at;
    return invoked == RIG_POSITION_NONE ? 0 : invoked;
}

static bool enter(struct walk *w, uint32_t node)
{
    w->state[node] = OPEN;
    w->value[node] = ++w->next_index;
    struct frame frame = {.node = node & (RIG_GRAPH_MAX_NODES - 1u),
                          .stage = node < w->links->txn_count ? AT_PROCESS : AT_CHAINED,
                          .next = node < w->links->txn_count ? 0 : *rig_links_head(w->links, node),
                          .lowest = w->next_index,
                          .latest = invocation(w, node)};
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
        frame->next = chained->next;
        if (is_next(w, frame, rig_edge_node(chained->edge)))
            return rig_edge_node(chained->edge);
    }
    return RIG_NODE_NONE;
}

/* The next predecessor that the walk enters from here, or RIG_NODE_NONE. */
static uint32_t next_of(const struct walk *w, struct frame *frame)
{
    uint32_t from = RIG_NODE_NONE;
    if (frame->stage == AT_PROCESS) {
        const uint32_t before = w->process_before[frame->node];
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
    RIG_INVARIANT(left.lowest <= w->value[left.node] && left.node >= w->start);
    if (left.lowest == w->value[left.node])
        close_component(w, &left);
    if (w->path.count == 0)
        return;
    struct frame *top = &w->path.at[w->path.count - 1];
    top->lowest = left.lowest < top->lowest ? left.lowest : top->lowest;
    top->latest = left.latest > top->latest ? left.latest : top->latest;
}

/* Walks the ancestors of a node that have higher numbers. */
static bool explore(struct walk *w, uint32_t start)
{
    RIG_INVARIANT(w->path.count == 0 && w->open.count == 0);
    w->start = start;
    w->ended_at = w->history->txns[start].complete_at;
    w->next_index = 0;
    if (!enter(w, start))
        return false;
    while (w->path.count > 0) {
        struct frame *top = &w->path.at[w->path.count - 1];
        uint32_t from = next_of(w, top);
        if (from == RIG_NODE_NONE) {
            leave(w);
            continue;
        }
        if (w->state[from] == OPEN)
            top->lowest = w->value[from] < top->lowest ? w->value[from] : top->lowest;
        else if (w->state[from] >= DONE)
            take_latest(w, top, from);
        else if (!enter(w, from))
            return false;
    }
    RIG_INVARIANT(w->open.count == 0);
    return true;
}

static bool walk(struct walk *w)
{
    for (uint32_t node = 0; node < w->links->txn_count; node++) {
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

/* Finds out which nodes are in the core; the states come from the links' arena. */
static enum rig_rc find_nodes(struct walk *w, const uint8_t *committed, struct rig_err *err)
{
    const struct rig_links *links = w->links;
    struct rig_arena *arena = links->arena;
    uint32_t *before = rig_arena_room(arena, (size_t)links->txn_count + 1, sizeof *before);
    w->state = rig_arena_array(arena, (size_t)links->node_count + 1, sizeof *w->state);
    w->value = rig_arena_room(arena, (size_t)links->node_count + 1, sizeof *w->value);
    if (before == NULL || w->state == NULL || w->value == NULL ||
        !rig_process_order(w->history, committed, arena, before))
        return no_memory(err);
    w->process_before = before;
    memcpy(w->state, links->late_before, links->txn_count);
    bool walked = walk(w);
    frames_done(&w->path);
    open_nodes_done(&w->open);
    return walked ? RIG_OK : no_memory(err);
}

enum rig_rc rig_core_find(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                          const uint8_t *selected, struct rig_graph *core, struct rig_err *err)
{
    RIG_REQUIRE(history->txn_count == links->txn_count);
    struct rig_arena *arena = links->arena;
    struct walk w = {.links = links, .history = history, .selected = selected};
    struct rig_subgraph part;
    enum rig_rc rc = find_nodes(&w, committed, err);
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
    struct walk w = {.links = links, .history = history, .selected = selected};
    enum rig_rc rc = find_nodes(&w, committed, err);
    for (uint32_t txn = 0; rc == RIG_OK && txn < links->txn_count; txn++)
        w.state[txn] = w.state[txn] == IN_CORE;
    if (rc == RIG_OK)
        *in_core = w.state;
    return rc;
}
