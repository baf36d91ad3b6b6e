/*
 * A cycle of transactions, and the anomaly that its edges make it (Kingsbury & Alvaro 2020, section 4.1; Cerone &
 * Gotsman 2018 for adjacency).
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_CYCLE_H
#define RIG_CHECKER_DECIDE_CYCLE_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/infer/versions.h"
#include "checker/model/anomaly.h"
#include "checker/model/verdict.h"

/* One transaction and the kind of the edge to the next one (the last one's leads to the first). */
struct rig_hop {
    uint32_t txn;
    enum rig_edge_kind kind;
};

RIG_VEC(struct rig_hop, rig_cycle)

/*
 * Cuts a closed walk down to a cycle that visits no transaction twice. A walk without adjacent rw edges stays without
 * them: at a transaction passed twice, one of the two halves closes without joining two. False when memory runs out.
 * Time: linear.
 */
bool rig_cycle_simplify(struct rig_cycle *cycle);
/* Rotates it so that the transaction with the lowest number comes first. */
void rig_cycle_rotate(struct rig_cycle *cycle);
/*
 * The anomaly that a cycle of two or more transactions shows. A cycle of ww edges alone is G0 only when each of its
 * transactions was acknowledged, and acknowledged reads show the order after each ww edge. A transaction of unknown
 * fate counts as committed because it was read. If it committed, the cycle is a write cycle; if not, the read was an
 * aborted read. Both break read committed, and nothing weaker is certain, so the cycle is called G1c. `versions` (of
 * lists, else NULL) tell the order that acknowledged reads show.
 */
enum rig_anomaly rig_cycle_anomaly(const struct rig_history *history, const struct rig_versions *versions,
                                   const struct rig_cycle *cycle);

#endif
