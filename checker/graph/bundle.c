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

static bool make_passages(struct rig_bundle *bundle, struct rig_links *links)
{
    if (!rig_links_add_nodes(links, 2 * bundle->target_count, &bundle->prefix_first))
        return false;
    bundle->suffix_first = bundle->prefix_first + bundle->target_count;
    for (uint32_t i = 0; i < bundle->target_count; i++) {
        links->late_before[bundle->targets[i]] = 1; /* whoever the sources will be */
        uint32_t prefix = bundle->prefix_first + i, suffix = bundle->suffix_first + i;
        bool linked = rig_links_add(links, prefix, bundle->targets[i], RIG_LINK_THROUGH) &&
                      rig_links_add(links, suffix, bundle->targets[i], RIG_LINK_THROUGH) &&
                      (i == 0 || rig_links_add(links, prefix, prefix - 1, RIG_LINK_THROUGH)) &&
                      (i + 1 == bundle->target_count || rig_links_add(links, suffix, suffix + 1, RIG_LINK_THROUGH));
        if (!linked)
            return false;
    }
    return true;
}

bool rig_bundle_init(struct rig_bundle *bundle, const uint32_t *targets, uint32_t target_count, uint64_t source_count,
                     struct rig_links *links)
{
    RIG_REQUIRE(target_count > 0);
    *bundle = (struct rig_bundle){.targets = targets, .target_count = target_count};
    bundle->passages = target_count * source_count > 64 + 8 * (target_count + source_count);
    return !bundle->passages || make_passages(bundle, links);
}

static bool link_pairs(const struct rig_bundle *bundle, uint32_t source, enum rig_link link, struct rig_links *links)
{
    for (uint32_t i = 0; i < bundle->target_count; i++) {
        if (bundle->targets[i] != source && !rig_links_add(links, source, bundle->targets[i], link))
            return false;
    }
    return true;
}

bool rig_bundle_link(const struct rig_bundle *bundle, uint32_t source, enum rig_link link, struct rig_links *links)
{
    if (!bundle->passages)
        return link_pairs(bundle, source, link, links);
    uint32_t rank = rank_of(bundle, source);
    bool is_target = rank < bundle->target_count && bundle->targets[rank] == source;
    if (!is_target)
        return rig_links_add(links, source, bundle->prefix_first + bundle->target_count - 1, link);
    if (rank > 0 && !rig_links_add(links, source, bundle->prefix_first + rank - 1, link))
        return false;
    return rank + 1 == bundle->target_count || rig_links_add(links, source, bundle->suffix_first + rank + 1, link);
}
