/*
 * Random histories of registers whose keys are used for a while and replaced by new ones, so that a check in windows
 * releases most of them, and whose serial order is not that of completion, so that an explanation of a part is often
 * not the one that the whole has.
 *
 * A tiny database (serial; snapshots with and without first committer wins; each read for itself; stale versions) runs
 * transactions of a few processes. They take effect at any time between invocation and completion. Some keys are used
 * throughout. Some transactions fail, some have an unknown fate, and some reads are falsified.
 */
#ifndef RIG_TESTS_MODEL_ROTATING_REGISTERS_H
#define RIG_TESTS_MODEL_ROTATING_REGISTERS_H

#include "history/model/history.h"

/* The same (seed, number) gives the same history. The caller owns it; stops the program when memory runs out. */
struct rig_history *rotating_registers(uint64_t seed, uint64_t number);

#endif
