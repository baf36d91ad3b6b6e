/*
 * Discrepancies between a history and the snapshots of its certificate in words.
 */
#ifndef RIG_CHECKER_EVIDENCE_SNAPSHOT_SENTENCE_H
#define RIG_CHECKER_EVIDENCE_SNAPSHOT_SENTENCE_H

#include "base/buf.h"
#include "checker/model/certified.h"

/* Behind "T17 = process 3: it ". */
void rig_snapshot_sentence(const struct rig_history *history, const struct rig_discrepancy *found,
                           struct rig_buf *text);
/* "the commit at PLACE (transaction N of the database)". */
void rig_certificate_commit_sentence(const struct rig_certificate *certificate, uint32_t commit, struct rig_buf *text);

#endif
