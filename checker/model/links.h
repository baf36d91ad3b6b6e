/*
 * The edges of a dependency graph as they are found, before its arrays are built (graph.h).
 *
 * A transaction's predecessors over ww and wr, its own edges, lie in one row, transaction after transaction (`own`).
 * Every other edge is in a chain of the node that it leads to. So a history is linked in one pass, and most histories
 * need no more: cycle/core.h decides on the links alone whether there is a cycle, and rig_graph_pack() makes the graph
 * only then.
 *
 * `late_before` guides the search: nodes are numbered in completion order, nearly every edge leads forward in it, and a
 * cycle needs an edge that leads back. The functions that add edges keep it up to date.
 *
 * Space: 4 bytes an own edge, 8 another one, 9 a transaction. Everything lies in the arena. Threads: one at a time.
 */
#ifndef RIG_CHECKER_MODEL_LINKS_H
#define RIG_CHECKER_MODEL_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define RIG_NODE_NONE UINT32_MAX

enum rig_link { RIG_LINK_WW, RIG_LINK_WR, RIG_LINK_RW, RIG_LINK_THROUGH };

enum { RIG_GRAPH_MAX_NODES = 1 << 30 };

static inline uint32_t rig_edge_node(uint32_t edge)
{
    return edge >> 2;
}

static inline enum rig_link rig_edge_link(uint32_t edge)
{
    return (enum rig_link)(edge & 3u);
}

static inline uint32_t rig_edge_of(uint32_t from, enum rig_link link)
{
    return from << 2 | (uint32_t)link;
}

struct rig_chained {
    uint32_t edge; /* predecessor << 2 | enum rig_link */
    uint32_t next; /* the one chained before it to the same node, or RIG_NODE_NONE */
};

struct rig_links {
    struct rig_arena *arena; /* borrowed */
    uint32_t txn_count;
    uint32_t node_count;  /* with relays */
    uint32_t *own;        /* ww and wr edges of transaction t: [own_first[t], own_first[t + 1]) */
    uint32_t *own_first;  /* NULL when there are no own edges */
    uint32_t *head;       /* per transaction, and one slot past the last, never read */
    uint32_t *relay_head; /* per node after the transactions */
    uint32_t relay_room;
    struct rig_chained *chained;
    uint32_t chained_count, chained_room;
    uint32_t
        read_count; /* the first of them, which were chained while the transactions were visited, each by its `from` */
    uint8_t *late_before;   /* per transaction, as head: 1 when an edge may lead to it from one that completed later */
    uint64_t link_count[3]; /* ww, wr, rw; those out of relays are not counted */
};

/*
 * An empty set of links with room for `own_room` own edges (0: none are added) and `chained_room` others, which
 * grows. False when memory runs out.
 */
bool rig_links_init(struct rig_links *links, struct rig_arena *arena, uint32_t txn_count, uint32_t own_room,
                    uint32_t chained_room);
/* Empties it, and keeps its memory. There must be no relays yet. */
void rig_links_clear(struct rig_links *links);
/* Adds nodes after the others; *first is the first of them. False when memory, or ids, run out. */
bool rig_links_add_nodes(struct rig_links *links, uint32_t count, uint32_t *first);
/* Frees the large arrays. Edges may be neither read nor added afterwards. */
void rig_links_abandon(struct rig_links *links);
/* For rig_links_add(). */
bool rig_links_grow(struct rig_links *links);

static inline uint32_t *rig_links_head(const struct rig_links *links, uint32_t node)
{
    return node < links->txn_count ? &links->head[node] : &links->relay_head[node - links->txn_count];
}

/* Walks over the edges into one node: own ones first, then those chained, the last one added first. */
struct rig_links_cursor {
    uint32_t own, own_end;
    uint32_t chained;
};

static inline struct rig_links_cursor rig_links_into(const struct rig_links *links, uint32_t node)
{
    struct rig_links_cursor cursor = {.chained = *rig_links_head(links, node)};
    if (node < links->txn_count && links->own_first != NULL) {
        cursor.own = links->own_first[node];
        cursor.own_end = links->own_first[node + 1];
    }
    return cursor;
}

/* The next of them, or RIG_NODE_NONE. */
static inline uint32_t rig_links_next(const struct rig_links *links, struct rig_links_cursor *cursor)
{
    if (cursor->own < cursor->own_end)
        return links->own[cursor->own++];
    if (cursor->chained == RIG_NODE_NONE)
        return RIG_NODE_NONE;
    const struct rig_chained *chained = &links->chained[cursor->chained];
    cursor->chained = chained->next;
    return chained->edge;
}

/* The next of them that comes from `least` or a node after it, or RIG_NODE_NONE. */
static inline uint32_t rig_links_next_from(const struct rig_links *links, struct rig_links_cursor *cursor,
                                           uint32_t least)
{
    const uint32_t least_edge = rig_edge_of(least, RIG_LINK_WW);
    while (cursor->own < cursor->own_end) {
        uint32_t edge = links->own[cursor->own++];
        if (edge >= least_edge)
            return edge;
    }
    while (cursor->chained != RIG_NODE_NONE) {
        const struct rig_chained *chained = &links->chained[cursor->chained];
        bool is_read = cursor->chained < links->read_count;
        cursor->chained = chained->next;
        if (chained->edge >= least_edge)
            return chained->edge;
        if (is_read) /* edges chained before it come from the same node, or from nodes before that one */
            cursor->chained = RIG_NODE_NONE;
    }
    return RIG_NODE_NONE;
}

/* Adds one edge. Those out of relays leave `late_before` to the caller. False when memory runs out. */
static inline bool rig_links_add(struct rig_links *links, uint32_t from, uint32_t to, enum rig_link link)
{
    if (links->chained_count == links->chained_room && !rig_links_grow(links))
        return false;
    uint32_t *head = rig_links_head(links, to);
    links->chained[links->chained_count] = (struct rig_chained){rig_edge_of(from, link), *head};
    *head = links->chained_count++;
    if (link != RIG_LINK_THROUGH)
        links->link_count[link]++;
    if (to < from && from < links->txn_count)
        links->late_before[to] = 1;
    return true;
}

#endif
