/*
 * Orders that prove levels of histories of rows (docs/proof-format.md): from the edges of an inference without open
 * reads, or of one whose open reads only miss rows. The replay of rig-verify (prove/replay.h) decides whether an order
 * proves the level.
 *
 * Time: linear in the edges, and the replay. Space: 24 bytes a transaction, 16 an edge, and that of the replay.
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_ROW_ORDERS_H
#define RIG_CHECKER_JUDGE_PROOF_ROW_ORDERS_H

#include "base/vec.h"
#include "checker/infer/inference.h"
#include "checker/judge/proof/prove_order.h"
#include "checker/model/level.h"
#include "checker/prove/replay.h"

RIG_VEC(struct rig_missed, rig_row_missed)

struct rig_row_order {
    enum rig_order_kind kind;
    struct rig_prove_events events;
    struct rig_row_missed missed; /* by `op` */
};

void rig_row_order_done(struct rig_row_order *order);

/* Finds an order that proves the level, by the edges of the inference. `facts`: of its history. *found is false where
 * the edges have a cycle, or the replay refuses the order. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_row_order_find(struct rig_inference *inference, enum rig_level level, const struct rig_facts *facts,
                               struct rig_row_order *order, bool *found, struct rig_err *err);

/* Whether this order proves the level: its events, and what counts missed. Fills in the kind. */
enum rig_rc rig_row_order_try(enum rig_level level, const struct rig_facts *facts, struct rig_row_order *order,
                              bool *found, struct rig_err *err);

#endif
