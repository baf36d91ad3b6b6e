/*
 * The answer to one statement: its rows as the reads of an operation, or as the rows of a program.
 *
 * Threads: the session's.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_ANSWER_H
#define RIG_DRIVERS_MYSQL_MY_ANSWER_H

#include "drivers/mysql/my_session.h"

/* Its rows are read once. */
struct rig_my_answer {
    uint64_t affected, insert_id;
    MYSQL_RES *result;     /* of a statement as text; NULL: it gives no rows, or is a prepared one */
    MYSQL_STMT *statement; /* of a prepared one, in the same way */
};

void rig_my_answer_release(struct rig_my_answer *answer);

enum rig_my_cell { RIG_MY_CELL_NONE, RIG_MY_CELL_NULL, RIG_MY_CELL_TEXT, RIG_MY_CELL_BAD };

/* The value of the answer's next row, which has one. */
enum rig_my_cell rig_my_answer_cell(struct rig_my_connection *connection, const struct rig_my_answer *answer,
                                    const char **text, size_t *length);
/* Takes it as that of operation `op`. */
void rig_my_answer_take(struct rig_my_turn *turn, uint32_t op, const struct rig_my_answer *answer);
/* Takes it as rows of a program's table; false, and the turn failed, where they are none. */
bool rig_my_answer_take_rows(struct rig_my_turn *turn, const struct rig_row_table *table,
                             const struct rig_my_answer *from, struct rig_row_answer *answer);

#endif
