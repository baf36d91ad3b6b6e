/*
 * A witness without a cycle as a line of a proof (contradiction.h): what rig proves before it prints the witness, and
 * what a proof file says. Lists, registers, sets, counters and banks.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_SINGLE_LINE_H
#define RIG_CHECKER_PROVE_WITNESS_SINGLE_LINE_H

#include "checker/model/verdict.h"
#include "checker/prove/contradiction.h"
#include "checker/prove/witness/verify_type.h"

/* The transaction's operation that writes the value; the last one that writes the key if none does; UINT32_MAX. */
uint32_t rig_write_of(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value);

/* Fills in the line. False: the witness has none. */
bool rig_single_line(const struct rig_history *history, const struct rig_witness *witness,
                     struct rig_witness_line *line);

/* check_noncyclic() of what reads of lists, registers and sets show: the line holds, of the value that the witness
 * names. */
const char *rig_verify_single(const struct rig_proof *proof, const struct rig_witness *witness);

/* Whether the witness compares a read with the known total of a bank. */
bool rig_takes_total(const struct rig_history *history, const struct rig_witness *witness);

#endif
