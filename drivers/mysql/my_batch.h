/*
 * A transaction's operations as requests.
 *
 * With the option pipeline a request has as many statements as possible: from BEGIN to COMMIT, unless the plan pauses
 * in between, or a statement depends on the answer to a read. The server executes them in order, skips those after an
 * error, and answers each: so nothing is committed after an error, and nothing is executed outside of the transaction.
 * Without it each statement is a request, prepared or not.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_BATCH_H
#define RIG_DRIVERS_MYSQL_MY_BATCH_H

#include "drivers/mysql/my_session.h"

/* Runs the transaction's operations, to its end or the first error. */
void rig_my_batch_run(struct rig_my_turn *turn);

/* Functions of struct rig_sql_client, for programs. Each statement is one round trip, because the program decides by
 * its answer what comes next. An update is followed by a locking selection of the same rows. It must find as many rows
 * as the update changed: another transaction can add rows between the two where the isolation level has no range locks,
 * and then rig rolls back. */
bool rig_my_batch_begin(struct rig_sql_turn *turn);
bool rig_my_batch_execute(struct rig_sql_turn *turn, uint32_t index, const int64_t *values,
                          struct rig_row_answer *answer);
void rig_my_batch_commit(struct rig_sql_turn *turn);

/* Ends the transaction after an error; false: the session cannot be used any longer. */
bool rig_my_turn_roll_back(struct rig_my_turn *turn);
/* Whether the server answers a question with its own answer: no earlier one is still on its way. */
bool rig_my_turn_is_in_step(struct rig_my_turn *turn);

#endif
