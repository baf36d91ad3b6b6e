/*
 * A guess at what each read of rows saw: an order of the commits, and for each read the number of commits that it saw.
 *
 * The order keeps ww and wr edges and, as far as they allow it, the ends of the transactions. Each row that a read
 * shows, or misses, allows some numbers of commits; a count or a sum is evaluated at each number that is left. A read
 * gets one that they all allow, after the commits of the transactions that ended before its own began if there is one.
 *
 * With such numbers nothing is open, and the graph of all dependencies shows which levels hold (struct
 * rig_read_places). That another guess may do better, or none be right, says nothing against a level.
 *
 * Time: for each read, the versions of the rows that were ever in its table. Space: 20 bytes a transaction, 4 an
 * operation.
 */
#ifndef RIG_CHECKER_INFER_ROW_GUESS_H
#define RIG_CHECKER_INFER_ROW_GUESS_H

#include "checker/infer/inference.h"

enum rig_row_guess {
    RIG_ROW_GUESS_EARLY, /* all reads of a transaction together, at the first number that fits */
    RIG_ROW_GUESS_LATE,  /* the same, at the last one before its own commit */
    RIG_ROW_GUESS_APART, /* each read by itself, at the last one */
    RIG_ROW_GUESSES
};

/* Fills places, in the arena. *unfit: reads without a number; UINT64_MAX: there is no such order. False when memory
 * runs out. */
bool rig_row_guess_find(const struct rig_inference *inference, enum rig_row_guess guess, struct rig_arena *arena,
                        struct rig_read_places *places, uint64_t *unfit);

#endif
