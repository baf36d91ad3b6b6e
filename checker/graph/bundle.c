#include "checker/graph/bundle.h"

#include "base/bug.h"

static uint32_t rank_of(const struct rig_bundle *bundle, uint32_t txn)
{
    uint32_t low = 0, high = bundle->target_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bundle->targets[middle] < txn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_passages(struct rig_bundle *bundle, struct rig_arcs *arcs, uint32_t *node_count)
{
    bundle->prefix_first = *node_count;
    bundle->suffix_first = *node_count + bundle->target_count;
    *node_count += 2 * bundle->target_count;
    for (uint32_t i = 0; i < bundle->target_count; i++) {
        uint32_t prefix = bundle->prefix_first + i, suffix = bundle->suffix_first + i;
        bool linked = rig_arcs_link(arcs, prefix, bundle->targets[i], RIG_LINK_THROUGH) &&
                      rig_arcs_link(arcs, suffix, bundle->targets[i], RIG_LINK_THROUGH) &&
                      (i == 0 || rig_arcs_link(arcs, prefix, prefix - 1, RIG_LINK_THROUGH)) &&
                      (i + 1 == bundle->target_count || rig_arcs_link(arcs, suffix, suffix + 1, RIG_LINK_THROUGH));
        if (!linked)
            return false;
    }
    return true;
}

bool rig_bundle_init(struct rig_bundle *bundle, const uint32_t *targets, uint32_t target_count, uint64_t source_count,
                     struct rig_arcs *arcs, uint32_t *node_count)
{
    RIG_REQUIRE(target_count > 0);
    *bundle = (struct rig_bundle){.targets = targets, .target_count = target_count};
    bundle->passages = target_count * source_count > 64 + 8 * (target_count + source_count);
    return !bundle->passages || make_passages(bundle, arcs, node_count);
}

static bool link_pairs(const struct rig_bundle *bundle, uint32_t source, enum rig_link link, struct rig_arcs *arcs)
{
    for (uint32_t i = 0; i < bundle->target_count; i++) {
        if (bundle->targets[i] != source && !rig_arcs_link(arcs, source, bundle->targets[i], link))
            return false;
    }
    return true;
}

bool rig_bundle_link(const struct rig_bundle *bundle, uint32_t source, enum rig_link link, struct rig_arcs *arcs)
{
    if (!bundle->passages)
        return link_pairs(bundle, source, link, arcs);
    uint32_t rank = rank_of(bundle, source);
    bool is_target = rank < bundle->target_count && bundle->targets[rank] == source;
    if (!is_target)
        return rig_arcs_link(arcs, source, bundle->prefix_first + bundle->target_count - 1, link);
    if (rank > 0 && !rig_arcs_link(arcs, source, bundle->prefix_first + rank - 1, link))
        return false;
    return rank + 1 == bundle->target_count || rig_arcs_link(arcs, source, bundle->suffix_first + rank + 1, link);
}
