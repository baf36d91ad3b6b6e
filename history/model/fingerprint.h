/*
 * A number that tells histories apart: a hash over all transactions, with their names, processes and outcomes, and all
 * operations with their results. The same history has the same fingerprint in every form of file that keeps these.
 *
 * It guards against a proof of another history (docs/proof-format.md), not against forgery. Time: linear in the
 * operations and in the elements of one list a key; a list that continues another one costs its difference. Space: 8
 * bytes an element of the longest lists.
 */
#ifndef RIG_HISTORY_MODEL_FINGERPRINT_H
#define RIG_HISTORY_MODEL_FINGERPRINT_H

#include "base/err.h"
#include "history/model/history.h"

/* RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_history_fingerprint(const struct rig_history *history, uint64_t *fingerprint, struct rig_err *err);

#endif
