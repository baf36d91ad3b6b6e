/*
 * The SQL that the transactions of a witness, or of a small history, were sent as (history/types/sent_sql.h).
 *
 * Each function adds nothing where the record has no statements: other drivers, older records, other forms of history.
 */
#ifndef RIG_REPORT_SENT_H
#define RIG_REPORT_SENT_H

#include "base/json_write.h"
#include "checker/model/verdict.h"

/* The first transactions of a witness, at most 16. Each line begins with `before`. */
void rig_sent_witness_text(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness,
                           const char *before);
/* A member "sql": an array with an object a transaction, its number and its statements. */
void rig_sent_witness_json(struct rig_json_writer *json, const struct rig_history *history,
                           const struct rig_witness *witness);
/* The same of all transactions of a small history. */
void rig_sent_history_text(struct rig_buf *out, const struct rig_history *history, const char *before);
void rig_sent_history_json(struct rig_json_writer *json, const struct rig_history *history);

#endif
