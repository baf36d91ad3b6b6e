/*
 * The answer of a transaction in words: how it ended and why it failed, and by its side columns
 * (history/model/columns.h) which node and backend answered it, at what time of the wall clock, and how long the client
 * held it open. Each function adds nothing where nothing is known.
 */
#ifndef RIG_CHECKER_EXPLAIN_ANSWERED_H
#define RIG_CHECKER_EXPLAIN_ANSWERED_H

#include "base/buf.h"
#include "history/model/history.h"

enum { RIG_UTC_BYTES = 40, RIG_REASON_BYTES = 240 };

/* ", node pg-2, backend 4711" */
void rig_answered_by(const struct rig_history *history, uint32_t txn, struct rig_buf *text);
/* The wall-clock time of a time of a history that began at `start_utc_ns`, as "2026-03-01T12:03:04.567Z"; false when it
 * is not known. */
bool rig_answered_utc(int64_t start_utc_ns, int64_t time_ns, char text[static RIG_UTC_BYTES]);
/* ", 12:03:04.567 UTC", of the transaction's invocation, of its completion where none was recorded. False: nothing. */
bool rig_answered_at(const struct rig_history *history, uint32_t txn, struct rig_buf *text);
/* The recorded reason why a transaction failed, "40001: could not serialize access": the server's code and text, or the
 * driver's own where COMMIT was never sent. One line, cut at RIG_REASON_BYTES. False when it did not fail or no reason is
 * recorded, and for a part that was rolled back to a savepoint, which has words of its own. */
bool rig_answered_reason(const struct rig_history *history, uint32_t txn, char reason[static RIG_REASON_BYTES]);
/* ", failed (40001: could not serialize access)", ", outcome unknown to the client" */
void rig_answered_outcome(const struct rig_history *history, uint32_t txn, struct rig_buf *text);
/* ", rolled back to a savepoint by the process's next transaction, after 3 operations" */
void rig_answered_savepoint(const struct rig_history *history, uint32_t txn, struct rig_buf *text);
/* "; held 2.000 s after 3 operations, 1,532 transactions committed meanwhile" */
void rig_answered_held(const struct rig_history *history, uint32_t txn, struct rig_buf *text);

#endif
