#include "nemesis/proxy_flow.h"

#include <stdlib.h>

#include "base/bug.h"
#include "nemesis/proxy.h"

enum { CAPACITY = RIG_PROXY_FLOW_BYTES };

void rig_proxy_flow_done(struct rig_proxy_flow *flow)
{
    free(flow->bytes);
    flow->bytes = NULL;
    rig_proxy_flow_clear(flow);
}

void rig_proxy_flow_clear(struct rig_proxy_flow *flow)
{
    flow->first = flow->used = 0;
    flow->first_chunk = flow->chunk_count = 0;
    flow->blocked = false;
}

bool rig_proxy_flow_wants(const struct rig_proxy_flow *flow)
{
    return flow->end == RIG_PROXY_OPEN && flow->used < CAPACITY;
}

unsigned char *rig_proxy_flow_room(struct rig_proxy_flow *flow, size_t most, size_t *size)
{
    RIG_REQUIRE(rig_proxy_flow_wants(flow) && most > 0);
    *size = 0;
    if (flow->bytes == NULL)
        flow->bytes = malloc(CAPACITY);
    if (flow->bytes == NULL)
        return NULL;
    if (flow->used == 0)
        flow->first = 0;
    size_t behind = (flow->first + flow->used) % CAPACITY;
    size_t room = behind < flow->first ? flow->first - behind : CAPACITY - behind;
    *size = room < most ? room : most;
    return flow->bytes + behind;
}

static struct rig_proxy_chunk *chunk_at(struct rig_proxy_flow *flow, uint32_t index)
{
    return &flow->chunks[(flow->first_chunk + index) % RIG_PROXY_CHUNKS_MOST];
}

static const struct rig_proxy_chunk *first_chunk(const struct rig_proxy_flow *flow)
{
    return &flow->chunks[flow->first_chunk];
}

static int64_t last_due_ns(struct rig_proxy_flow *flow)
{
    return flow->chunk_count == 0 ? 0 : chunk_at(flow, flow->chunk_count - 1)->due_ns;
}

void rig_proxy_flow_put(struct rig_proxy_flow *flow, size_t size, int64_t due_ns)
{
    RIG_REQUIRE(size > 0 && flow->used + size <= CAPACITY);
    int64_t before_ns = last_due_ns(flow);
    if (due_ns < before_ns)
        due_ns = before_ns;
    flow->used += size;
    /* Many small chunks share the last entry: the first ones of them wait a little longer. */
    bool full = flow->chunk_count == RIG_PROXY_CHUNKS_MOST;
    if (flow->chunk_count > 0 && (full || due_ns == before_ns)) {
        struct rig_proxy_chunk *last = chunk_at(flow, flow->chunk_count - 1);
        last->size += (uint32_t)size;
        last->due_ns = due_ns;
        return;
    }
    *chunk_at(flow, flow->chunk_count++) = (struct rig_proxy_chunk){.size = (uint32_t)size, .due_ns = due_ns};
}

void rig_proxy_flow_put_end(struct rig_proxy_flow *flow, enum rig_proxy_end end)
{
    if (flow->end == RIG_PROXY_RST)
        return;
    if (flow->end == RIG_PROXY_FIN)
        flow->ended = false; /* first a half-close, then a reset: both are forwarded */
    flow->end = end;
    flow->end_due_ns = last_due_ns(flow);
}

size_t rig_proxy_flow_due(const struct rig_proxy_flow *flow, int64_t now_ns, const unsigned char **bytes)
{
    if (flow->chunk_count == 0 || first_chunk(flow)->due_ns > now_ns)
        return 0;
    size_t size = first_chunk(flow)->size;
    *bytes = flow->bytes + flow->first;
    return size < CAPACITY - flow->first ? size : CAPACITY - flow->first;
}

void rig_proxy_flow_take(struct rig_proxy_flow *flow, size_t size)
{
    struct rig_proxy_chunk *chunk = chunk_at(flow, 0);
    RIG_REQUIRE(flow->chunk_count > 0 && size <= chunk->size && size <= flow->used);
    flow->first = (flow->first + size) % CAPACITY;
    flow->used -= size;
    chunk->size -= (uint32_t)size;
    if (chunk->size > 0)
        return;
    flow->first_chunk = (flow->first_chunk + 1) % RIG_PROXY_CHUNKS_MOST;
    flow->chunk_count--;
    RIG_INVARIANT(flow->chunk_count > 0 || flow->used == 0);
}

bool rig_proxy_flow_end_due(const struct rig_proxy_flow *flow, int64_t now_ns)
{
    return flow->end != RIG_PROXY_OPEN && !flow->ended && flow->used == 0 && flow->end_due_ns <= now_ns;
}

int64_t rig_proxy_flow_next_ns(const struct rig_proxy_flow *flow)
{
    if (flow->chunk_count > 0)
        return first_chunk(flow)->due_ns;
    return flow->end != RIG_PROXY_OPEN && !flow->ended ? flow->end_due_ns : INT64_MAX;
}

void rig_proxy_flow_hurry(struct rig_proxy_flow *flow)
{
    for (uint32_t i = 0; i < flow->chunk_count; i++)
        chunk_at(flow, i)->due_ns = 0;
    flow->end_due_ns = 0;
}
