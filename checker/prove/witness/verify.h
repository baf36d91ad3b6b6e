/*
 * Proves a witness again, from the raw history alone.
 *
 * Shares no code with the inference: it uses no version orders, graphs or spines, only the operations of transactions
 * and their results, and compares lists element by element. A witness that it cannot prove is a bug in rig.
 *
 * Each step must show this; the versions need not be adjacent:
 *   ww                  a committed read lists `from`'s value before `to`'s; or some committed read shows `from`'s and
 *                       none shows `to`'s
 *   wr                  `to` read a list that holds a value that `from` appended
 *   rw                  `from` read a list without a value that `to`, which committed, appended; a committed read shows
 *                       that list with the value after it, and nothing by `from` between; or no read shows the value
 *   process, real time  `from` ended before `to` was invoked (where invocations are known)
 * and the steps must close a cycle of distinct committed transactions whose shape is the anomaly's.
 *
 * Time: linear in the history to begin with, else in the operations of the transactions named and the lists of the
 * keys. Space: 1 byte a transaction, 8 a key and a branch, and 24 an append of unknown fate.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_H

#include "base/err.h"
#include "checker/model/assumption.h"
#include "checker/model/verdict.h"

struct rig_verifier;

/* Borrows the history. `prefilled`: each key had its row before the first transaction. NULL when memory runs out. */
struct rig_verifier *rig_verifier_new(const struct rig_history *history, bool prefilled);
/* Before the first proof, where the user says what registers begin with. */
void rig_verifier_begin(struct rig_verifier *verifier, struct rig_known_initial initial);
/* Takes NULL. */
void rig_verifier_free(struct rig_verifier *verifier);

/* RIG_E_BUG, naming the transaction and what it lacks, when the witness does not hold. */
enum rig_rc rig_verify_witness(const struct rig_verifier *verifier, const struct rig_witness *witness,
                               struct rig_err *err);

#endif
