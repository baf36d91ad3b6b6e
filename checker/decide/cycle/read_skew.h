/*
 * Decides G-single exactly: finds the rw edges a -> b that close a cycle through ww and wr edges alone.
 *
 * b reaches a by ww and wr exactly when a's ancestors include a writer of b's version of some key that b wrote, or
 * of a later version of it: each key's writers form a chain. So one number per key and transaction decides, the
 * latest version among the ancestors, carried along the topological order of ww and wr. Keys are processed in
 * batches, over the stretch of the order between the first writer and the last reader in question. Edges that lead
 * forward in that order need no pass, which leaves few.
 *
 * Time: linear in the stretches, i.e. about nodes x (keys in question that live at once) / 8; linear where there are
 * none. Space: 32 bytes a node of the longest stretch, 24 a question.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_READ_SKEW_H
#define RIG_CHECKER_DECIDE_CYCLE_READ_SKEW_H

#include "checker/model/components.h"
#include "checker/infer/versions.h"

struct rig_skew {
    uint32_t reader; /* a */
    uint32_t writer; /* b */
};

RIG_VEC(struct rig_skew, rig_skews)

/*
 * Collects the rw edges that close such a cycle, at most `most` of them. Without `versions` (NULL: the writers of a key
 * form no chain) it collects the edges that the flow order does not rule out, which may close one. `all`: the
 * components of the whole graph; `flow`: those of its ww and wr edges; neither is split or has process order.
 */
enum rig_rc rig_read_skews(const struct rig_versions *versions, const struct rig_components *all,
                           const struct rig_components *flow, size_t most, struct rig_skews *skews,
                           struct rig_err *err);

#endif
