/*
 * A history of lists as one of registers: an append becomes a write, and the read of a list a read of its last element.
 * Most anomalies of the lists become similar anomalies of the registers. Some transactions can be made indeterminate
 * although their reads are known.
 */
#ifndef RIG_TESTS_MODEL_AS_REGISTERS_H
#define RIG_TESTS_MODEL_AS_REGISTERS_H

#include "history/model/history.h"

/* Keys of `lists` must be numbers. One ok transaction in `doubt` on average, chosen by the seed, becomes info (0:
 * none). The caller owns the result; stops the program when memory runs out. */
struct rig_history *as_registers(const struct rig_history *lists, uint32_t doubt, uint64_t seed);

#endif
