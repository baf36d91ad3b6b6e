/*
 * Witnesses of single reads over rows (contradiction.h), shown by the raw history: T's operation is a read of a
 * committed transaction; U's is a statement, except for garbage-read and duplicate-elements.
 *
 * Time: the rows that the read shows times the statements of a transaction.
 */
#ifndef RIG_CHECKER_PROVE_ROW_IMPOSSIBLE_H
#define RIG_CHECKER_PROVE_ROW_IMPOSSIBLE_H

#include "checker/prove/contradiction.h"

/* *levels: bits of those that it refutes. RIG_E_INPUT: the history does not show it. */
enum rig_rc rig_impossible_row(const struct rig_facts *facts, const struct rig_witness_line *line, uint64_t *levels,
                               struct rig_err *err);

#endif
