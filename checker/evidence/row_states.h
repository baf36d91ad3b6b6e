/*
 * Finds the reads of rows that show exactly the state at their snapshot, without a visit of each row for each read.
 *
 * One pass over the commits in the order of visibility keeps for each row its version, and for each table the number of
 * rows and the sum of their versions: by class, and by ranges of ids in a Fenwick tree. A read shows the state exactly
 * if each row that it shows has this version there and meets the condition, none comes twice, and there are as many
 * rows as the condition has; a count if its number and sum are these. Rows that its transaction wrote itself before are
 * counted as it left them. Nothing rests on digests.
 *
 * Time: O((changes + reads) * log(rows of a table) + rows shown + classes). Space: 33 bytes a statement, 12 a row, 16 a
 * class of each table, 4 an operation. Threads: one.
 */
#ifndef RIG_CHECKER_EVIDENCE_ROW_STATES_H
#define RIG_CHECKER_EVIDENCE_ROW_STATES_H

#include "checker/evidence/row_commits.h"
#include "checker/evidence/visibility.h"

/* `seen`: per operation the number of commits that the read shows, or RIG_PLACE_NONE. Sets `same` of an operation,
 * which is zeroed, where it certainly shows the state; others are compared row by row. False when memory runs out. */
bool rig_row_states_compare(const struct rig_row_commits *commits, const struct rig_visibility *visibility,
                            const uint32_t *seen, struct rig_arena *arena, uint8_t *same);

#endif
