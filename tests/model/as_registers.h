/*
 * A history of lists as one of registers: who appended writes, and who read a list reads its last element. What was
 * false of the lists is false of the registers in much the same ways. What became of some transactions can be unknown
 * although their reads are known.
 */
#ifndef RIG_TESTS_MODEL_AS_REGISTERS_H
#define RIG_TESTS_MODEL_AS_REGISTERS_H

#include "history/history.h"

/* Keys of `lists` must be numbers. Of those that are ok every `doubt`th on average, as the seed has it, becomes info
 * (0: none). Gives; stops the program when memory runs out. */
struct rig_history *as_registers(const struct rig_history *lists, uint32_t doubt, uint64_t seed);

#endif
