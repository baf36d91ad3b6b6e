/*
 * Witnesses that are no cycles: one read, or two, that no execution at a level can give (contradiction.h names them).
 *
 * Sources: Adya, Liskov & O'Neil 2000, 5.2 (G1a, G1b); Cerone, Bernardi & Gotsman 2015 (internal consistency, lost
 * update); Kingsbury & Alvaro 2020, section 4 (the others).
 */
#ifndef RIG_CHECKER_PROVE_IMPOSSIBLE_H
#define RIG_CHECKER_PROVE_IMPOSSIBLE_H

#include "checker/prove/contradiction.h"

/* Whether levels of this kind forbid that two transactions read one version and write the key. */
bool rig_forbids_lost_update(enum rig_forbids forbids);
/* Whether the read shows the value. */
bool rig_shows(const struct rig_history *history, const struct rig_txn_op *read, int64_t value);
struct rig_impossible {
    uint64_t levels;   /* that it refutes, as bits */
    bool by_predicate; /* it rests on a read that found no row */
    uint32_t against;  /* internal: the transaction's operation with which the read disagrees, from 0 */
};

/* `value`: the one that the read shows, or of a set misses, and is in question; NULL: any. RIG_E_INPUT: the history
 * does not show it. `facts` with their committed transactions. */
enum rig_rc rig_impossible_read(const struct rig_facts *facts, const struct rig_witness_line *line,
                                const int64_t *value, struct rig_impossible *found, struct rig_err *err);

#endif
