#include "checker/model/bundle.h"

#include "base/bug.h"

/*
 * The targets that are sources cut the row of targets into segments. Cut j stands between segments j and j + 1. The end
 * of the row, after the last segment, also counts as a cut.
 */
struct cut {
    uint32_t rank;    /* of the target */
    uint32_t segment; /* relay to the targets between the cut before and this one; each RIG_NODE_NONE for no targets */
    uint32_t before;  /* to all targets before this cut */
    uint32_t behind;  /* to all targets after it */
};

RIG_VEC(struct cut, cuts)

struct bundle {
    const uint32_t *targets;
    uint32_t target_count;
    const struct rig_bundle_source *sources;
    size_t source_count;
    struct cuts cuts;
    struct rig_links *links;
};

static bool link_pairs(const struct bundle *b)
{
    for (size_t s = 0; s < b->source_count; s++) {
        for (uint32_t i = 0; i < b->target_count; i++) {
            bool itself = b->targets[i] == b->sources[s].txn;
            if (!itself && !rig_links_add(b->links, b->sources[s].txn, b->targets[i], b->sources[s].link))
                return false;
        }
    }
    return true;
}

static bool find_cuts(struct bundle *b)
{
    uint32_t rank = 0;
    for (size_t s = 0; s < b->source_count; s++) {
        RIG_REQUIRE(s == 0 || b->sources[s - 1].txn <= b->sources[s].txn);
        RIG_REQUIRE(b->sources[s].txn < b->links->txn_count && b->sources[s].link != RIG_LINK_THROUGH);
        while (rank < b->target_count && b->targets[rank] < b->sources[s].txn)
            rank++;
        bool cuts = rank < b->target_count && b->targets[rank] == b->sources[s].txn;
        bool known = b->cuts.count > 0 && b->cuts.at[b->cuts.count - 1].rank == rank;
        if (cuts && !known && !cuts_add(&b->cuts, (struct cut){.rank = rank}))
            return false;
    }
    return cuts_add(&b->cuts, (struct cut){.rank = b->target_count});
}

/* Makes a relay to these nodes, except those that are RIG_NODE_NONE. */
static bool make_relay(struct rig_links *links, const uint32_t *to, unsigned count, uint32_t *relay)
{
    if (!rig_links_add_nodes(links, 1, relay))
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (to[i] != RIG_NODE_NONE && !rig_links_add(links, *relay, to[i], RIG_LINK_THROUGH))
            return false;
    }
    return true;
}

static bool make_segments(struct bundle *b)
{
    uint32_t first = 0;
    for (size_t j = 0; j < b->cuts.count; j++) {
        struct cut *cut = &b->cuts.at[j];
        cut->segment = RIG_NODE_NONE;
        if (first < cut->rank && !make_relay(b->links, NULL, 0, &cut->segment))
            return false;
        for (uint32_t i = first; i < cut->rank; i++) {
            if (!rig_links_add(b->links, cut->segment, b->targets[i], RIG_LINK_THROUGH))
                return false;
        }
        RIG_INVARIANT(j == 0 || b->cuts.at[j - 1].rank < cut->rank);
        first = cut->rank + 1;
    }
    return true;
}

/* Makes the relays before and after each cut: from the relay of the neighbouring cut, its target, and the segment
 * between them. */
static bool make_ways(struct bundle *b)
{
    struct cut *cuts = b->cuts.at;
    const size_t last = b->cuts.count - 1;
    cuts[0].before = cuts[0].segment;
    for (size_t j = 1; j <= last; j++) {
        const uint32_t to[] = {cuts[j - 1].before, b->targets[cuts[j - 1].rank], cuts[j].segment};
        if (!make_relay(b->links, to, 3, &cuts[j].before))
            return false;
    }
    cuts[last].behind = RIG_NODE_NONE;
    for (size_t j = last; j-- > 0;) {
        if (j + 1 == last) {
            cuts[j].behind = cuts[last].segment;
            continue;
        }
        const uint32_t to[] = {cuts[j + 1].behind, b->targets[cuts[j + 1].rank], cuts[j + 1].segment};
        if (!make_relay(b->links, to, 3, &cuts[j].behind))
            return false;
    }
    return true;
}

static bool link_to(const struct bundle *b, const struct rig_bundle_source *source, uint32_t relay)
{
    RIG_INVARIANT(relay == RIG_NODE_NONE || (relay >= b->links->txn_count && relay < b->links->node_count));
    return relay == RIG_NODE_NONE || rig_links_add(b->links, source->txn, relay, source->link);
}

static bool link_sources(const struct bundle *b)
{
    const struct cut *cut = b->cuts.at, *end = b->cuts.at + b->cuts.count - 1;
    for (size_t s = 0; s < b->source_count; s++) {
        const struct rig_bundle_source *source = &b->sources[s];
        while (cut < end && b->targets[cut->rank] < source->txn)
            cut++;
        bool itself = cut < end && b->targets[cut->rank] == source->txn;
        const struct cut *way = itself ? cut : end;
        if (!link_to(b, source, way->before) || (itself && !link_to(b, source, way->behind)))
            return false;
    }
    return true;
}

bool rig_bundle_link(const uint32_t *targets, uint32_t target_count, const struct rig_bundle_source *sources,
                     size_t source_count, bool relays, struct rig_links *links)
{
    struct bundle b = {.targets = targets,
                       .target_count = target_count,
                       .sources = sources,
                       .source_count = source_count,
                       .links = links};
    RIG_REQUIRE(target_count > 0);
    if (source_count == 0)
        return true;
    if (!relays)
        return link_pairs(&b);
    for (uint32_t i = 0; i < target_count; i++) {
        RIG_REQUIRE(i == 0 || targets[i - 1] < targets[i]);
        RIG_REQUIRE(targets[i] < links->txn_count);
        links->late_before[targets[i]] |= targets[i] < sources[source_count - 1].txn;
    }
    bool linked = find_cuts(&b) && make_segments(&b) && make_ways(&b) && link_sources(&b);
    cuts_done(&b.cuts);
    return linked;
}
