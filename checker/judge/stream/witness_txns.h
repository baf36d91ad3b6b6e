/*
 * Keeps the transactions of witnesses when their window (stream.h) is freed. In the end they form a small history of
 * their own, with their positions in the whole one.
 *
 * A transaction that was judged before, and stayed in the window for some of its keys, is kept with its operations on
 * these keys, unless it was kept before.
 *
 * Space: that of the transactions kept, as a history.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_WITNESS_TXNS_H
#define RIG_CHECKER_JUDGE_STREAM_WITNESS_TXNS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/verdict.h"
#include "history/model/history.h"

struct rig_witness_txns;
struct rig_retired;

/* NULL when memory runs out. */
struct rig_witness_txns *rig_witness_txns_new(enum rig_workload workload);
/* Takes NULL. */
void rig_witness_txns_free(struct rig_witness_txns *evidence);

/*
 * Keeps the transactions of a witness over `history`, and renumbers them in the witness, whose texts are dropped.
 * `retired` gives the elements that the history's lists begin with and no longer show (retired.h).
 */
enum rig_rc rig_witness_txns_keep(struct rig_witness_txns *evidence, const struct rig_history *history,
                                  const struct rig_retired *retired, struct rig_witness *witness, struct rig_err *err);

/*
 * Gives the history to the caller, renumbers the witnesses of all findings for it, and makes their texts in `arena`.
 * `zero_ns` is the time of the first invocation of the whole history, and `start_utc_ns` that of the history.
 */
enum rig_rc rig_witness_txns_give(struct rig_witness_txns *evidence, struct rig_finding *findings, int64_t zero_ns,
                                  int64_t start_utc_ns, struct rig_arena *arena, struct rig_history **history,
                                  struct rig_err *err);

#endif
