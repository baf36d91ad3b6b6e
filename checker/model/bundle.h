/*
 * A complete bipartite set of edges, from each source to each target. Relays (graph.h) replace the pairs where these
 * are many, and keep the number of edges linear. One relay leads to all targets. A source that is also a target must
 * not reach itself: it has one relay to the targets before it and one to those after it, each built from its neighbour.
 *
 * Space: an edge a target, one or two a source; and for each source that is a target two relays with two or three
 * edges each. Time: linear.
 */
#ifndef RIG_CHECKER_MODEL_BUNDLE_H
#define RIG_CHECKER_MODEL_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/model/links.h"

struct rig_bundle_source {
    uint32_t txn;
    enum rig_link link; /* of the edges from it */
};

RIG_VEC(struct rig_bundle_source, rig_bundle_sources)

/* Whether relays need fewer edges than the pairs. */
static inline bool rig_bundle_pays(uint64_t target_count, uint64_t source_count)
{
    return target_count * source_count > 64 + 8 * (target_count + source_count);
}

/*
 * Links every source with every target but itself. Targets are ascending and distinct, at least one; sources ascending.
 * `relays`: pairs are not written out. False when memory runs out, or ids.
 */
bool rig_bundle_link(const uint32_t *targets, uint32_t target_count, const struct rig_bundle_source *sources,
                     size_t source_count, bool relays, struct rig_links *links);

#endif
