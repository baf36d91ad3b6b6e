#include "checker/decide/cycle/clean.h"

#include <string.h>

#include "base/bug.h"
#include "checker/model/orders.h"

/* Values of `late_before` during the walk. */
enum { LATE = 1, ON_PATH = 2, DONE = 3 };

/* The transaction before one in its process is looked for among the last 256; that takes less than making the process
 * order. */
enum { NEAR = 256 };

struct frame {
    uint32_t node;
    struct rig_links_cursor cursor;
    bool in_process; /* the predecessor in its process is still to be looked at */
};

struct walk {
    const struct rig_links *links;
    const struct rig_txn *txns;        /* NULL: no real time */
    const struct rig_history *in_turn; /* NULL: the process order is a part of real time */
    const uint8_t *committed;
    uint32_t *before;     /* the process order; NULL: not made yet */
    uint8_t *state;       /* per transaction */
    uint8_t *relay_state; /* per relay */
    struct frame *path;
    uint32_t depth, room;
    uint32_t start;    /* of this part of the walk; nothing before it is walked */
    uint32_t ended_at; /* the completion of `start` */
    bool out_of_memory;
};

static uint8_t *state_of(const struct walk *w, uint32_t node)
{
    uint32_t txn_count = w->links->txn_count;
    return node < txn_count ? &w->state[node] : &w->relay_state[node - txn_count];
}

static bool grow(struct walk *w)
{
    RIG_REQUIRE(w->depth == w->room);
    uint32_t room = w->room == 0 ? 256 : w->room * 2;
    struct frame *path = rig_arena_room(w->links->arena, room, sizeof *path);
    w->out_of_memory = path == NULL;
    if (path == NULL)
        return false;
    if (w->depth > 0)
        memcpy(path, w->path, w->depth * sizeof *path);
    w->path = path;
    w->room = room;
    return true;
}

/* It was invoked after a transaction completed that must follow it. */
static inline bool is_too_late(const struct walk *w, uint32_t txn)
{
    uint32_t invoked = w->txns == NULL ? RIG_POSITION_NONE : w->txns[txn].invoke_at;
    return w->ended_at < invoked && invoked != RIG_POSITION_NONE;
}

/* False when it was invoked too late, or memory runs out. */
static bool enter(struct walk *w, uint32_t node)
{
    if (node < w->links->txn_count && is_too_late(w, node))
        return false;
    if (w->depth == w->room && !grow(w))
        return false;
    RIG_INVARIANT(node >= w->start && w->depth < w->room);
    w->path[w->depth++] = (struct frame){node, rig_links_into(w->links, node), w->in_turn != NULL};
    *state_of(w, node) = ON_PATH;
    return true;
}

/* The process order, made when it is first needed. NULL when memory runs out. */
static const uint32_t *process_order(struct walk *w)
{
    if (w->before == NULL) {
        uint32_t *before = rig_arena_room(w->links->arena, (size_t)w->links->txn_count + 1, sizeof *before);
        if (before != NULL && rig_process_order(w->in_turn, w->committed, w->links->arena, before))
            w->before = before;
        w->out_of_memory |= w->before == NULL;
    }
    return w->before;
}

/* The acknowledged transaction before it in its process, or RIG_NODE_NONE; it is not among the NEAR ones from the start
 * on. */
static uint32_t far_before(struct walk *w, uint32_t node)
{
    const uint32_t *before = process_order(w);
    return before == NULL || before[node] < w->start ? RIG_NODE_NONE : before[node];
}

/* The acknowledged transaction before it in its process, unless that is before the start. */
static uint32_t process_before(struct walk *w, uint32_t node)
{
    if (w->in_turn == NULL || node >= w->links->txn_count)
        return RIG_NODE_NONE;
    const struct rig_txn *txns = w->in_turn->txns;
    const uint32_t end = node - w->start > NEAR ? node - NEAR : w->start;
    for (uint32_t txn = node; txn-- > end;) {
        if (txns[txn].process == txns[node].process && txns[txn].outcome == RIG_OUTCOME_OK && w->committed[txn])
            return txn;
    }
    return end == w->start ? RIG_NODE_NONE : far_before(w, node);
}

/* The next predecessor that is not before the start, or RIG_NODE_NONE. */
static uint32_t next_of(struct walk *w, struct frame *frame)
{
    if (frame->in_process) {
        frame->in_process = false;
        const uint32_t before = process_before(w, frame->node);
        if (before != RIG_NODE_NONE)
            return before;
    }
    uint32_t edge = rig_links_next_from(w->links, &frame->cursor, w->start);
    return edge == RIG_NODE_NONE ? edge : rig_edge_node(edge);
}

/*
 * The usual case: the later-numbered predecessors of the start have no later-numbered predecessors themselves. False
 * when they have, or when only a walk can tell.
 */
static bool explore_one_step(struct walk *w)
{
    const struct rig_links *links = w->links;
    struct rig_links_cursor cursor = rig_links_into(links, w->start);
    for (uint32_t edge; (edge = rig_links_next_from(links, &cursor, w->start)) != RIG_NODE_NONE;) {
        uint32_t from = rig_edge_node(edge);
        if (from >= links->txn_count || is_too_late(w, from) || process_before(w, from) != RIG_NODE_NONE)
            return false;
        struct rig_links_cursor behind = rig_links_into(links, from);
        if (w->state[from] != DONE && rig_links_next_from(links, &behind, w->start) != RIG_NODE_NONE)
            return false;
        w->state[from] = DONE;
    }
    w->state[w->start] = DONE;
    return true;
}

/* False when there is a cycle, of dependencies or with real time. */
static bool explore(struct walk *w, uint32_t start)
{
    RIG_REQUIRE(start < w->links->txn_count);
    w->start = start;
    w->ended_at = w->txns == NULL ? 0 : w->txns[start].complete_at;
    if (explore_one_step(w))
        return true;
    w->depth = 0;
    if (!enter(w, start))
        return false;
    while (w->depth > 0) {
        struct frame *top = &w->path[w->depth - 1];
        uint32_t from = next_of(w, top);
        if (from == RIG_NODE_NONE) {
            *state_of(w, top->node) = DONE;
            w->depth--;
            continue;
        }
        uint8_t state = *state_of(w, from);
        if (state == ON_PATH || (state != DONE && !enter(w, from)))
            return false;
    }
    return true;
}

static bool walk(struct walk *w)
{
    const uint8_t *late = w->state, *end = late + w->links->txn_count;
    for (; (late = memchr(late, LATE, (size_t)(end - late))) != NULL; late++) {
        if (!explore(w, (uint32_t)(late - w->state)))
            return false;
    }
    return true;
}

enum rig_rc rig_links_clean(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                            bool *clean, struct rig_err *err)
{
    RIG_REQUIRE(links->node_count >= links->txn_count);
    struct walk w = {.links = links, .state = links->late_before};
    uint32_t relays = links->node_count - links->txn_count;
    w.txns = history != NULL && history->has_invocations ? history->txns : NULL;
    w.relay_state = rig_arena_array(links->arena, (size_t)relays + 1, sizeof *w.relay_state);
    if (history != NULL && history->in_turn) {
        RIG_REQUIRE(committed != NULL);
        w.in_turn = history;
        w.committed = committed;
    }
    const bool result = w.relay_state != NULL && walk(&w);
    for (uint32_t node = 0; node < links->txn_count; node++)
        links->late_before[node] = links->late_before[node] != 0;
    if (w.relay_state == NULL || w.out_of_memory)
        return rig_memory_limit(err, "the search for cycles");
    *clean = result;
    return RIG_OK;
}
