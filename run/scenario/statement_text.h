/*
 * The SQL of a scenario's steps as statements of drivers/rows.h.
 *
 *   select * from T [where CONDITION [and CONDITION]...] [order by COLUMN] [for update]
 *   insert into T values (N, N, ...)
 *   update T set COLUMN = N | COLUMN = COLUMN + N | COLUMN = COLUMN - N, ... [where ...]
 *   delete from T [where ...]
 *
 * A condition is `COLUMN = N`, `COLUMN >= N` or `COLUMN < N`. Words are in upper or lower case. Pure functions.
 */
#ifndef RIG_RUN_SCENARIO_STATEMENT_TEXT_H
#define RIG_RUN_SCENARIO_STATEMENT_TEXT_H

#include <stdbool.h>

#include "drivers/rows.h"

enum { RIG_STATEMENT_FAULT_BYTES = 160 };

/* Writes the statement and its values. False: `fault` says what was expected, and before which text. */
bool rig_statement_text_parse(const char *text, const struct rig_row_table *table, struct rig_row_statement *statement,
                              int64_t values[RIG_ROW_VALUES], char fault[RIG_STATEMENT_FAULT_BYTES]);

#endif
