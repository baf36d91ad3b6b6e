/*
 * The key of a row in the history: the columns of its primary key and the number of its table, packed into 63 bits.
 *
 * Pure functions.
 */
#ifndef RIG_GENERATOR_PROGRAMS_ROW_KEY_H
#define RIG_GENERATOR_PROGRAMS_ROW_KEY_H

#include "base/buf.h"
#include "generator/programs/program.h"

enum { RIG_ROW_KEY_TABLE_BITS = 4 };

/* -1 when a column does not fit its bits: it came from a database. */
int64_t rig_row_key_pack(const struct rig_program *program, uint32_t table, const int64_t *columns);
/* The table, and the columns of its primary key. */
uint32_t rig_row_key_unpack(const struct rig_program *program, int64_t key, int64_t columns[RIG_PROGRAM_KEY_COLUMNS]);

/* The line of a record's metadata by which reports name rows (history/types/row_names.h). */
void rig_row_key_names(const struct rig_program *program, struct rig_buf *line);

#endif
