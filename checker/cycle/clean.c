#include "checker/cycle/clean.h"

#include <string.h>

/* What `reach` becomes in the walk: the latest invocation at or before a node; or that the node is not done. */
#define UNSEEN  UINT32_MAX
#define ON_PATH (UINT32_MAX - 1)

struct frame {
    uint32_t node;
    uint32_t own;     /* next own edge, and */
    uint32_t chained; /* next chained edge, to be looked at */
    uint32_t latest;  /* invocation among the ancestors seen so far */
};

struct walk {
    const struct rig_links *links;
    const struct rig_history *history; /* NULL: no real time */
    uint32_t *latest;                  /* per transaction */
    uint32_t *passage_latest;          /* per passage */
    struct frame *path;
    uint32_t depth, room;
    bool out_of_memory;
};

static uint32_t *latest_of(const struct walk *w, uint32_t node)
{
    uint32_t txn_count = w->links->txn_count;
    return node < txn_count ? &w->latest[node] : &w->passage_latest[node - txn_count];
}

/* Its own invocation added. False when that comes too late for the end of the transaction. */
static bool settle(const struct walk *w, uint32_t node, uint32_t latest)
{
    if (node < w->links->txn_count && w->history != NULL) {
        const struct rig_txn *txn = &w->history->txns[node];
        if (rig_txn_end(w->history, node) < latest)
            return false;
        uint32_t invoked = txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
        latest = latest < invoked ? invoked : latest;
    }
    *latest_of(w, node) = latest;
    return latest < ON_PATH;
}

static bool enter(struct walk *w, uint32_t node)
{
    if (w->depth == w->room) {
        uint32_t room = w->room == 0 ? 256 : w->room * 2;
        struct frame *path = rig_arena_room(w->links->arena, room, sizeof *path);
        w->out_of_memory = path == NULL;
        if (path == NULL)
            return false;
        if (w->depth > 0)
            memcpy(path, w->path, w->depth * sizeof *path);
        w->path = path;
        w->room = room;
    }
    bool has_own = node < w->links->txn_count && w->links->own_first != NULL;
    w->path[w->depth++] = (struct frame){
        .node = node, .own = has_own ? w->links->own_first[node] : 0, .chained = *rig_links_head(w->links, node)};
    *latest_of(w, node) = ON_PATH;
    return true;
}

/* The next predecessor, or RIG_NODE_NONE. */
static uint32_t next_of(const struct walk *w, struct frame *frame)
{
    const struct rig_links *links = w->links;
    bool has_own = frame->node < links->txn_count && links->own_first != NULL;
    if (has_own && frame->own < links->own_first[frame->node + 1])
        return rig_edge_node(links->own[frame->own++]);
    if (frame->chained == RIG_NODE_NONE)
        return RIG_NODE_NONE;
    uint32_t at = frame->chained;
    frame->chained = links->chained[at].next;
    return rig_edge_node(links->chained[at].edge);
}

/* Depth first from a node with predecessors that are not done. False at a cycle. */
static bool explore(struct walk *w, uint32_t start)
{
    if (!enter(w, start))
        return false;
    while (w->depth > 0) {
        struct frame *top = &w->path[w->depth - 1];
        uint32_t from = next_of(w, top);
        if (from == RIG_NODE_NONE) {
            if (!settle(w, top->node, top->latest))
                return false;
            w->depth--;
            if (w->depth > 0 && w->path[w->depth - 1].latest < *latest_of(w, top->node))
                w->path[w->depth - 1].latest = *latest_of(w, top->node);
            continue;
        }
        uint32_t latest = *latest_of(w, from);
        if (latest == ON_PATH || (latest == UNSEEN && !enter(w, from)))
            return false;
        if (latest < ON_PATH && top->latest < latest)
            top->latest = latest;
    }
    return true;
}

/* Nearly always all predecessors are done. */
static bool visit(struct walk *w, uint32_t node)
{
    const struct rig_links *links = w->links;
    uint32_t latest = 0;
    if (links->own_first != NULL) {
        for (uint32_t i = links->own_first[node]; i < links->own_first[node + 1]; i++) {
            uint32_t from = w->latest[rig_edge_node(links->own[i])];
            latest = latest < from ? from : latest;
        }
    }
    for (uint32_t i = links->head[node]; i != RIG_NODE_NONE; i = links->chained[i].next) {
        uint32_t from = *latest_of(w, rig_edge_node(links->chained[i].edge));
        latest = latest < from ? from : latest;
    }
    return latest < ON_PATH ? settle(w, node, latest) : explore(w, node);
}

/* The end of the stretch that begins at `begin`. */
static uint32_t stretch_end(const uint32_t *reach, uint32_t begin)
{
    uint32_t end = reach[begin];
    for (uint32_t node = begin + 1; node <= end; node++)
        end = end < reach[node] ? reach[node] : end;
    return end + 1;
}

static bool walk(struct walk *w)
{
    for (uint32_t node = 0; node < w->links->txn_count; node++) {
        if (w->latest[node] == 0)
            continue;
        uint32_t end = stretch_end(w->latest, node);
        memset(w->latest + node, 0xff, (end - node) * sizeof *w->latest);
        for (; node < end; node++) {
            if (w->latest[node] == UNSEEN && !visit(w, node))
                return false;
        }
        node--;
    }
    return true;
}

enum rig_rc rig_links_clean(struct rig_links *links, const struct rig_history *history, bool *clean,
                            struct rig_err *err)
{
    struct walk w = {.links = links, .latest = links->reach};
    uint32_t passages = links->node_count - links->txn_count;
    w.history = history != NULL && history->has_invocations ? history : NULL;
    w.passage_latest = rig_arena_room(links->arena, (size_t)passages + 1, sizeof *w.passage_latest);
    bool result = false;
    if (w.passage_latest != NULL) {
        memset(w.passage_latest, 0xff, passages * sizeof *w.passage_latest);
        result = walk(&w);
    }
    links->reach = NULL;
    if (w.passage_latest == NULL || w.out_of_memory)
        return rig_fail(err, RIG_E_LIMIT, "not enough memory to look for cycles; raise --max-memory");
    *clean = result;
    return RIG_OK;
}
