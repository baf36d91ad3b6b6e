/*
 * Random problems of a few transactions (model/problem.h): reads near a hidden order, or of any version, with sessions,
 * real time, transactions of unknown fate and known pairs.
 */
#ifndef RIG_TESTS_UNIT_RANDOM_PROBLEM_H
#define RIG_TESTS_UNIT_RANDOM_PROBLEM_H

#include "base/rng.h"
#include "checker/model/problem.h"

enum { RANDOM_PROBLEM_TXNS = 32 };

/* `most`: transactions, at least 2, at most RANDOM_PROBLEM_TXNS. Beyond 8 of them, few reads are far from the order. */
void random_problem(struct rig_rng *rng, uint32_t most, struct rig_problem *problem);

#endif
