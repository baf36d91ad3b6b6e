/*
 * Orders of the transactions for a proof of a held level (docs/proof-format.md, "Kinds of orders"): topological sorts
 * of the edges that the kind of order has to keep.
 *
 * The sort goes depth first from the ends of the transactions, in the order of completion, those that never ended last.
 * So it keeps real-time order where the edges have no cycle with it: a transaction that is placed under an earlier end
 * was invoked before that end. Space: 16 bytes an edge, 12 a node.
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_PROVE_ORDER_H
#define RIG_CHECKER_JUDGE_PROOF_PROVE_ORDER_H

#include "base/vec.h"
#include "checker/infer/inference.h"
#include "checker/decide/rule.h"
#include "checker/model/problem.h"

RIG_VEC(uint32_t, rig_prove_events)

/* The kind of order that proves levels of this form; NULL: none does. `items`: reads that found no row are left out. */
const char *rig_prove_kind(enum rig_rule_form form, bool items);

/*
 * Fills in transactions (ids of the history) as they stand in the order. `place`, per node: the versions of each key
 * follow it; NULL: they follow the pairs, and versions without pairs the order of completion. *found is false when the
 * edges have a cycle. False when memory runs out.
 */
bool rig_prove_order(const struct rig_problem *problem, const struct rig_history *history, const struct rig_rule *rule,
                     const uint32_t *place, struct rig_prove_events *events, bool *found);

/* The same by the edges of an inference: `links`, bits as RIG_LINKS_WW, among the transactions that count as committed,
 * or the acknowledged ones alone, of lists by what acknowledged reads show. With the order of processes, unless `along`
 * is plain. `split`: a transaction stands where it reads, and where it commits; once, if nothing comes between. */
bool rig_prove_links_order(struct rig_inference *inference, unsigned links, bool acknowledged, bool split,
                           enum rig_along along, struct rig_prove_events *events, bool *found);

#endif
