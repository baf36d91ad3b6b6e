/*
 * Edges from each of these to each of those. Where many meet many the pairs are not written out: passages (graph.h)
 * over the prefixes and suffixes of the targets keep the number of edges linear, and let each source reach every target
 * but itself.
 */
#ifndef RIG_CHECKER_GRAPH_BUNDLE_H
#define RIG_CHECKER_GRAPH_BUNDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/graph/links.h"

struct rig_bundle {
    const uint32_t *targets; /* borrowed; ascending, distinct */
    uint32_t target_count;   /* at least 1 */
    bool passages;           /* pairs are not written out */
    uint32_t prefix_first;   /* node of the passage to targets [0, i] is prefix_first + i */
    uint32_t suffix_first;   /* to targets [i, target_count) */
};

/* Prepares for about `source_count` sources; adds passages where they pay. False when memory runs out. */
bool rig_bundle_init(struct rig_bundle *bundle, const uint32_t *targets, uint32_t target_count, uint64_t source_count,
                     struct rig_links *links);
/* Edges from `source` to every target but itself. */
bool rig_bundle_link(const struct rig_bundle *bundle, uint32_t source, enum rig_link link, struct rig_links *links);

#endif
