/*
 * Texts of any SQL through a program (sql_text.h).
 *
 * Where the dialect's transactions are statements, texts are sent as they are; a plain BEGIN takes the plan's level
 * where the dialect's beginning has it. Where the program's library ends transactions, COMMIT and ROLLBACK are its
 * calls, BEGIN is sent to nothing, and a text outside of a transaction is committed at once.
 *
 * Threads: those of the hooks.
 */
#ifndef RIG_DRIVERS_SQL_PROGRAM_TEXT_H
#define RIG_DRIVERS_SQL_PROGRAM_TEXT_H

#include "drivers/sql/sql_text.h"

extern const struct rig_sql_texts rig_sql_program_texts;

#endif
