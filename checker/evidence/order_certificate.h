/*
 * A certificate from the places that a database gives to transactions (`order`, or `commit-ts`): the user assumes that
 * the versions of registers follow them (--assume order). Then certify.h compares it with the reads, and decides the
 * levels by it.
 *
 * Commits are the acknowledged transactions with a write, in the order of their places, and those of unknown fate with
 * a place. Others of unknown fate did not commit, as far as reads show.
 *
 * Time: sorting the transactions. Space: that of the certificate, and 16 bytes a transaction. Threads: one.
 */
#ifndef RIG_CHECKER_EVIDENCE_ORDER_CERTIFICATE_H
#define RIG_CHECKER_EVIDENCE_ORDER_CERTIFICATE_H

#include "base/buf.h"
#include "base/err.h"
#include "history/model/history.h"

/*
 * Gives a certificate, freed with rig_order_certificate_free(); or NULL, and says why the places order nothing: a
 * commit has none, or two have the same one, or keys are no integers. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_order_certificate_make(const struct rig_history *history, struct rig_certificate **certificate,
                                       struct rig_buf *lacks, struct rig_err *err);
/* Takes NULL. */
void rig_order_certificate_free(struct rig_certificate *certificate);

#endif
