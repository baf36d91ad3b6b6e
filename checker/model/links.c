#include "checker/model/links.h"

#include <string.h>

#include "base/bug.h"

enum { LEAST_ROOM = 64 };

void rig_links_clear(struct rig_links *links)
{
    RIG_REQUIRE(links->node_count == links->txn_count);
    memset(links->head, 0xff, ((size_t)links->txn_count + 1) * sizeof *links->head);
    memset(links->late_before, 0, ((size_t)links->txn_count + 1) * sizeof *links->late_before);
    memset(links->link_count, 0, sizeof links->link_count);
    links->chained_count = links->read_count = 0;
}

bool rig_links_init(struct rig_links *links, struct rig_arena *arena, uint32_t txn_count, uint32_t own_room,
                    uint32_t chained_room)
{
    *links = (struct rig_links){
        .arena = arena, .txn_count = txn_count, .node_count = txn_count, .chained_room = chained_room};
    links->head = rig_arena_room(arena, (size_t)txn_count + 1, sizeof *links->head);
    links->late_before = rig_arena_array(arena, (size_t)txn_count + 1, sizeof *links->late_before);
    links->chained = rig_arena_room(arena, (size_t)chained_room + 1, sizeof *links->chained);
    if (links->head == NULL || links->late_before == NULL || links->chained == NULL || txn_count >= RIG_GRAPH_MAX_NODES)
        return false;
    memset(links->head, 0xff, ((size_t)txn_count + 1) * sizeof *links->head);
    if (own_room == 0)
        return true;
    links->own = rig_arena_room(arena, (size_t)own_room + 1, sizeof *links->own);
    links->own_first = rig_arena_room(arena, (size_t)txn_count + 1, sizeof *links->own_first);
    return links->own != NULL && links->own_first != NULL;
}

static uint32_t larger_room(uint32_t room, uint32_t wanted)
{
    room = room < LEAST_ROOM ? LEAST_ROOM : room > UINT32_MAX / 2 ? UINT32_MAX - 1 : room * 2;
    return room < wanted ? wanted : room;
}

bool rig_links_grow(struct rig_links *links)
{
    RIG_INVARIANT(links->read_count <= links->chained_count && links->chained_count <= links->chained_room);
    uint32_t room = larger_room(links->chained_room, 0);
    struct rig_chained *chained = rig_arena_room(links->arena, (size_t)room + 1, sizeof *chained);
    if (chained == NULL || room == links->chained_room)
        return false;
    memcpy(chained, links->chained, links->chained_count * sizeof *chained);
    rig_arena_abandon(links->chained, links->chained_count * sizeof *chained);
    links->chained = chained;
    links->chained_room = room;
    return true;
}

bool rig_links_add_nodes(struct rig_links *links, uint32_t count, uint32_t *first)
{
    RIG_INVARIANT(links->txn_count <= links->node_count && links->node_count <= RIG_GRAPH_MAX_NODES);
    uint32_t relays = links->node_count - links->txn_count;
    if (count > RIG_GRAPH_MAX_NODES - links->node_count)
        return false;
    if (relays + count > links->relay_room) {
        uint32_t room = larger_room(links->relay_room, relays + count);
        uint32_t *heads = rig_arena_room(links->arena, room, sizeof *heads);
        if (heads == NULL)
            return false;
        if (relays > 0)
            memcpy(heads, links->relay_head, relays * sizeof *heads);
        links->relay_head = heads;
        links->relay_room = room;
    }
    if (count > 0)
        memset(links->relay_head + relays, 0xff, count * sizeof *links->relay_head);
    *first = links->node_count;
    links->node_count += count;
    return true;
}

void rig_links_abandon(struct rig_links *links)
{
    const size_t txn_count = links->txn_count;
    RIG_REQUIRE(links->head != NULL);
    if (links->own_first != NULL) {
        rig_arena_abandon(links->own, links->own_first[txn_count] * sizeof *links->own);
        rig_arena_abandon(links->own_first, txn_count * sizeof *links->own_first);
    }
    rig_arena_abandon(links->head, txn_count * sizeof *links->head);
    rig_arena_abandon(links->chained, links->chained_count * sizeof *links->chained);
    links->own = links->own_first = links->head = links->relay_head = NULL;
    links->chained = NULL;
    links->late_before = NULL;
}
