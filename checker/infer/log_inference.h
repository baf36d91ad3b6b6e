/*
 * Inference for logs (Jepsen, jepsen.tests.kafka): from a history to the non-cyclic anomalies and the dependency graph.
 *
 * Edges: ww from the transaction that sent a record to the one that sent the next record of the log; wr from the
 * transaction that sent the last record of a poll, and of each contested one, to the transaction that polled it: those
 * that sent the records before it precede by ww. There are no rw edges, because a poll may end anywhere: it says
 * nothing of the records after its last one.
 *
 * Polls are compared with the order of the log (infer/logs.h), within a transaction and between the transactions of a
 * process, its consumer. A poll that failed, or of unknown outcome, leaves a consumer where it was. A record that lies
 * below a polled one, and that no poll shows, is lost: consumers begin at the start of a log. Records without a known
 * offset, and polls that left records out or went back, leave open which levels hold. Where a poll of a log has
 * an unknown result, because its transaction is of unknown fate, none of its records is called lost.
 *
 * Time: as infer/logs.h, and a look-up for each poll. Space: 8 bytes an edge, 32 a consumer and log.
 */
#ifndef RIG_CHECKER_INFER_LOG_INFERENCE_H
#define RIG_CHECKER_INFER_LOG_INFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/assumption.h"

/* As rig_type_inference.infer. */
enum rig_rc rig_infer_logs(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);

#endif
