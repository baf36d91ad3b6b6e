#include "nemesis/proxy_link.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"

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

/* A retransmission time-out doubles with each loss in a row, up to here. */
enum { DOUBLINGS_MOST = 6 };
/* A throttled link may send in portions of this part of a second. */
enum { PIECES_A_SECOND = 20 };

enum rig_rc rig_proxy_link_add(struct rig_proxy_link *link, struct rig_proxy_group *group,
                               const struct rig_proxy_rule *rule, struct rig_err *err)
{
    if (link->rule_count == RIG_PROXY_LINK_RULES_MOST)
        return rig_fail(err, RIG_E_LIMIT,
                        "%u faults are already in effect between %s and %s: let fewer of them overlap",
                        link->rule_count, link->from, link->to);
    link->rules[link->rule_count++] = (struct rig_proxy_link_rule){.rule = *rule, .group = group};
    return RIG_OK;
}

bool rig_proxy_link_remove(struct rig_proxy_link *link, const struct rig_proxy_group *group)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < link->rule_count; i++) {
        if (link->rules[i].group != group)
            link->rules[kept++] = link->rules[i];
    }
    bool removed = kept < link->rule_count;
    link->rule_count = kept;
    return removed;
}

static struct rig_proxy_group *first_of(const struct rig_proxy_link *link, enum rig_proxy_kind kind)
{
    for (uint32_t i = 0; i < link->rule_count; i++) {
        if (link->rules[i].rule.kind == kind)
            return link->rules[i].group;
    }
    return NULL;
}

bool rig_proxy_link_holds(const struct rig_proxy_link *link)
{
    return first_of(link, RIG_PROXY_HOLD) != NULL;
}

bool rig_proxy_link_drops(const struct rig_proxy_link *link)
{
    return first_of(link, RIG_PROXY_DROP) != NULL;
}

struct rig_proxy_group *rig_proxy_link_refuses(const struct rig_proxy_link *link)
{
    return first_of(link, RIG_PROXY_REFUSE);
}

void rig_proxy_link_count_waiting(struct rig_proxy_link *link)
{
    for (uint32_t i = 0; i < link->rule_count; i++) {
        enum rig_proxy_kind kind = link->rules[i].rule.kind;
        if (kind == RIG_PROXY_HOLD || kind == RIG_PROXY_DROP)
            link->rules[i].group->counts.connections++;
    }
}

size_t rig_proxy_link_piece(const struct rig_proxy_link *link, size_t most)
{
    size_t piece = most;
    for (uint32_t i = 0; i < link->rule_count; i++) {
        const struct rig_proxy_rule *rule = &link->rules[i].rule;
        if (rule->kind != RIG_PROXY_THROTTLE)
            continue;
        uint64_t share = (uint64_t)rule->bytes_per_s / PIECES_A_SECOND;
        if (share < piece)
            piece = share == 0 ? 1 : (size_t)share;
    }
    return piece;
}

static int64_t delay_ns(const struct rig_proxy_rule *rule, struct rig_rng *rng)
{
    int64_t jitter_ns = rule->jitter_ns < rule->delay_ns ? rule->jitter_ns : rule->delay_ns;
    if (jitter_ns == 0)
        return rule->delay_ns;
    return rule->delay_ns - jitter_ns + (int64_t)rig_rng_below(rng, 2 * (uint64_t)jitter_ns + 1);
}

/* How long a lost chunk stalls until its last retransmission; it may be lost repeatedly. */
static int64_t stall_ns(const struct rig_proxy_rule *rule, struct rig_rng *rng)
{
    int64_t sum_ns = 0;
    for (int lost = 0; lost < DOUBLINGS_MOST && rig_rng_unit(rng) < rule->share; lost++)
        sum_ns += rule->timeout_ns << lost;
    return sum_ns;
}

/* The chunk's time on a link that sends one byte after another. */
static int64_t passage_ns(struct rig_proxy_link_rule *at, size_t size, int64_t now_ns)
{
    int64_t start_ns = at->free_ns > now_ns ? at->free_ns : now_ns;
    double seconds = (double)size / (double)at->rule.bytes_per_s;
    at->free_ns = start_ns + (int64_t)(seconds * (double)RIG_NS_PER_S);
    return at->free_ns - now_ns;
}

/* The effect of one rule; returns whether it touched the chunk. */
static bool apply(struct rig_proxy_link_rule *at, struct rig_rng *rng, size_t size, int64_t now_ns, int64_t *wait_ns,
                  struct rig_proxy_fate *fate)
{
    int64_t stall = 0;
    switch (at->rule.kind) {
    case RIG_PROXY_HOLD:
        return true;
    case RIG_PROXY_DROP:
        fate->lost = true;
        return true;
    case RIG_PROXY_DELAY:
        *wait_ns += delay_ns(&at->rule, rng);
        return true;
    case RIG_PROXY_THROTTLE:
        *wait_ns += passage_ns(at, size, now_ns);
        return true;
    case RIG_PROXY_LOSS:
        stall = stall_ns(&at->rule, rng);
        *wait_ns += stall;
        return stall > 0;
    case RIG_PROXY_RESET:
        if (fate->resets || rig_rng_unit(rng) >= at->rule.share)
            return false;
        fate->resets = true;
        at->group->counts.connections++;
        return true;
    case RIG_PROXY_REFUSE:
        return false;
    }
    return false;
}

struct rig_proxy_fate rig_proxy_link_fate(struct rig_proxy_link *link, struct rig_rng *rng, size_t size, int64_t now_ns)
{
    struct rig_proxy_fate fate = {0};
    int64_t wait_ns = 0;
    for (uint32_t i = 0; i < link->rule_count; i++) {
        struct rig_proxy_link_rule *at = &link->rules[i];
        if (apply(at, rng, size, now_ns, &wait_ns, &fate)) {
            at->group->counts.bytes += size;
            at->group->counts.chunks++;
        }
    }
    fate.due_ns = wait_ns > 0 ? now_ns + wait_ns : 0;
    return fate;
}
