/*
 * The values that the registers of a cas-register begin with, for the programs that prove. It shares nothing with the
 * search (checker/objects/object_begins.h).
 *
 * A register begins with nil, or with the value that the proof assumes. Without such an assumption it begins with the
 * value that a first operation observes, if nothing in the history writes it: a first operation was acknowledged and
 * began before any other acknowledged one on the key ended that observes or writes. Where one of these observes nil,
 * and no write of nil began before its end, the register begins with nil.
 *
 * Time: linear. Space: 4 bytes a key, 32 bytes a first operation. Threads: one at a time.
 */
#ifndef RIG_CHECKER_PROVE_OBJECT_INITIAL_H
#define RIG_CHECKER_PROVE_OBJECT_INITIAL_H

#include "history/model/history.h"

/* Fills in `values`, one per key. `assumed` NULL: nothing is. False when memory runs out. */
bool rig_object_initial_find(const struct rig_history *history, const int64_t *assumed, int64_t *values);

#endif
