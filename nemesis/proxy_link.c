#include "nemesis/proxy_link.h"

#include "base/clock.h"

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
