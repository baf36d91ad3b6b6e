/*
 * A discrepancy between a history and its certificate in words: what the transaction did, what the certificate has, and
 * what to suspect.
 */
#ifndef RIG_CHECKER_EVIDENCE_DISCREPANCY_SENTENCE_H
#define RIG_CHECKER_EVIDENCE_DISCREPANCY_SENTENCE_H

#include "base/buf.h"
#include "checker/model/certified.h"

void rig_discrepancy_sentence(const struct rig_history *history, const struct rig_discrepancy *found,
                              struct rig_buf *text);

#endif
