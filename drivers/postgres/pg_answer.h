/*
 * Whether an answer can be the one to a statement.
 *
 * Answers carry no number: the place of an answer tells which statement it belongs to. After a message that is lost,
 * doubled or misplaced, an answer would be taken for that of another statement. So each one is compared with the answer
 * that PostgreSQL gives to the statement: the command tag, and the number of rows in it.
 *
 * Source: PostgreSQL's documentation, "Message Formats", CommandComplete.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_ANSWER_H
#define RIG_DRIVERS_POSTGRES_PG_ANSWER_H

#include <stdbool.h>

/* `rows`: the rows that came; -1: the answer has none. Any tag fits a statement that this driver does not write
 * itself. */
bool rig_pg_tag_fits(const char *sql, const char *tag, int rows);
/* Whether no transaction is open after the statement has succeeded. Else one is, if it was open before. */
bool rig_pg_ends_transaction(const char *sql);

#endif
