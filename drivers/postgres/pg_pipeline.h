/*
 * A transaction in pipeline mode: BEGIN, the operations and COMMIT leave in one go, with one Sync behind them, and are
 * answered in one go. A hold or a delay splits it: the earlier part is sent and answered first, with a Sync of its own.
 *
 * From the moment COMMIT is given to libpq it may have left. Errors are certain all the same: the server skips
 * everything between a failed statement and the Sync, so an error answered to a statement before COMMIT excludes the
 * commit. A server that answers anything else between the two has not skipped it: the outcome is unknown then. Reads are
 * evidence when all answers up to the Sync, or up to COMMIT's, are in step.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_PIPELINE_H
#define RIG_DRIVERS_POSTGRES_PG_PIPELINE_H

#include "drivers/postgres/pg_turn.h"

/* Puts a fresh connection into pipeline mode. */
enum rig_rc rig_pg_pipeline_enter(struct rig_pg_connection *connection, struct rig_err *err);
/* Runs the turn's transaction; the answer is in the turn and its transaction. */
void rig_pg_pipeline_run(struct rig_pg_turn *turn);
/* Ends a failed transaction on the server; false when the session cannot be used any more. */
bool rig_pg_pipeline_rollback(struct rig_pg_turn *turn);

#endif
