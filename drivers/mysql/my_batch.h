/*
 * A transaction's operations as requests.
 *
 * With the option pipeline a request has as many statements as possible: from BEGIN to COMMIT, unless the plan pauses in
 * between, or a statement depends on the answer to a read. The server executes them in order, skips those after an error,
 * and answers each: so nothing is committed after an error, and nothing is executed outside of the transaction. Without
 * it each statement is a request, prepared or not.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_BATCH_H
#define RIG_DRIVERS_MYSQL_MY_BATCH_H

#include "drivers/mysql/my_session.h"

/* The answer to one statement; its rows are read once. */
struct rig_my_answer {
    uint64_t affected, insert_id;
    MYSQL_RES *result;     /* of a statement as text, or */
    MYSQL_STMT *statement; /* of a prepared one; both NULL: it gives no rows */
};

/* Runs the transaction's operations, to its end or the first error. */
void rig_my_batch_run(struct rig_my_turn *turn);

/* START TRANSACTION and COMMIT by themselves; false, and the turn failed, on an error. */
bool rig_my_turn_begin(struct rig_my_turn *turn);
void rig_my_turn_commit(struct rig_my_turn *turn);
/* Ends the transaction after an error; false: the session cannot be used any longer. */
bool rig_my_turn_roll_back(struct rig_my_turn *turn);

/* Whether the server answers a question with its own answer: no earlier one is still on its way. */
bool rig_my_turn_is_in_step(struct rig_my_turn *turn);

/* Calls core->hold(); the deadline moves along. */
void rig_my_turn_hold(struct rig_my_turn *turn);
/* Runs statement `number` of the schema with its values; false, and the turn failed, on an error. Release the answer. */
bool rig_my_turn_perform(struct rig_my_turn *turn, uint32_t number, const int64_t *values,
                         struct rig_my_answer *answer);
void rig_my_answer_release(struct rig_my_answer *answer);

#endif
