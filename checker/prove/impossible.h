/*
 * Witnesses that are no cycles: one read, or two, that no execution at a level can give (contradiction.h names them).
 *
 * Sources: Adya, Liskov & O'Neil 2000, 5.2 (G1a, G1b); Cerone, Bernardi & Gotsman 2015 (internal consistency, lost
 * update); Kingsbury & Alvaro 2020, section 4 (the others).
 */
#ifndef RIG_CHECKER_PROVE_IMPOSSIBLE_H
#define RIG_CHECKER_PROVE_IMPOSSIBLE_H

#include "checker/prove/contradiction.h"

/* Whether the read shows the value. */
bool rig_shows(const struct rig_history *history, const struct rig_txn_op *read, int64_t value);
/* Fills in the levels that the line refutes, as bits; RIG_E_INPUT when the history does not show it. */
enum rig_rc rig_impossible_read(const struct rig_facts *facts, const struct rig_witness_line *line, uint32_t *levels,
                                struct rig_err *err);

#endif
