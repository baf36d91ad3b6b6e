/*
 * Names of rows for keys that pack a table and its primary key (generator/programs/program_call.h): `stock(1,88)` for
 * 22530.
 *
 * A record of a program has them in its metadata, a line after the plan:
 *
 *     # rows: 4 warehouse:14 district:14:4 stock:14:20
 *
 * The first number is the width of the table's number, the low bits of a key; then each table has its name and the
 * width of each column of its primary key, the last column in the lowest bits above.
 *
 * Layouts live as long as the process, one for each different line, so that histories, excerpts and reports share them
 * without owning them. Threads: any; one lock, under which no other is taken.
 */
#ifndef RIG_HISTORY_TYPES_ROW_NAMES_H
#define RIG_HISTORY_TYPES_ROW_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define RIG_ROW_NAMES_LINE "# rows: "

struct rig_row_names;

/* The layout in the metadata (may be NULL); NULL when there is none, or it is malformed. */
const struct rig_row_names *rig_row_names_of(const char *meta);
/* Writes the row's name into `text`, cut to fit; the number where it is no key of a row. */
void rig_row_names_show(const struct rig_row_names *names, int64_t key, char *text, size_t size);

#endif
