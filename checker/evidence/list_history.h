/*
 * A history with what its certificate adds: the history of lists that the clients would have seen if each read had
 * shown the versions before the one it read, and each key had been read once more at its end.
 *
 * - Each value of a register becomes an element: a read of a version becomes a read of the key's chain up to it. So the
 *   order of all versions is known, and registers are decided like lists. A read of the transaction's own last write
 *   shows nothing of others and is left out, because a list would show more than the client saw.
 * - Each key gets a transaction that reads its whole chain, alone, in no real-time and no process order. It stands
 *   between the last version and none, so each cycle through it is one without it; and it makes every version read.
 * - Transactions that certainly did not commit failed.
 *
 * Keys whose chain is irregular, or contradicts the reads, stay as they were read.
 */
#ifndef RIG_CHECKER_EVIDENCE_LIST_HISTORY_H
#define RIG_CHECKER_EVIDENCE_LIST_HISTORY_H

#include "checker/evidence/certificate_chains.h"

/* Changes the history; chains must live as long as it. `never`: as in certificate_judge.h. False when memory runs out;
 * the history can then only be freed. */
bool rig_certificate_extend(struct rig_history *history, const struct rig_certificate_chains *chains,
                            const uint8_t *never);

#endif
