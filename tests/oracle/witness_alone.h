/*
 * Whether the transactions of a cycle, or of a proof by cases, refute by themselves what the witness refutes: the third
 * oracle is asked for them alone, without the rest of the history. This works for registers without assumptions: the
 * order of two versions then rests on no further transaction.
 */
#ifndef RIG_TESTS_ORACLE_WITNESS_ALONE_H
#define RIG_TESTS_ORACLE_WITNESS_ALONE_H

#include "checker/model/verdict.h"
#include "tests/oracle/small_history.h"

/* `small` is the history that `verdict` judges. NULL, or what is wrong with some witness. */
const char *witnesses_stand_alone(const struct small_history *small, const struct rig_verdict *verdict);

#endif
