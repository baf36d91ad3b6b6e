/*
 * The ambiguous reads of a history whose values repeat (history/model/shared_value.h), and what each may have shown:
 * the writes of its value that were invoked before its transaction completed, and the initial state of the key: where
 * the user says that keys begin with the value; or where no read found the key without a value, and no write of the
 * value was acknowledged before the reader began.
 *
 * Time: ambiguous reads times the writes of their values, up to a limit. Space: 16 bytes a choice, 32 a read, 12 an
 * acknowledged write meanwhile.
 */
#ifndef RIG_CHECKER_JUDGE_AMBIGUOUS_READS_H
#define RIG_CHECKER_JUDGE_AMBIGUOUS_READS_H

#include "base/arena.h"
#include "base/vec.h"
#include "checker/model/assumption.h"
#include "history/model/history.h"

#define RIG_CHOICE_INITIAL UINT32_MAX /* in place of a writer: the initial state */

/* A read that may show several versions; its choices are [first, first + count), the likeliest first. */
struct rig_ambiguous_read {
    uint32_t txn, op; /* op: of the history */
    uint32_t first, count;
    int64_t shared; /* the value that its choices share */
};

struct rig_read_choice {
    int64_t value;
    uint32_t writer; /* the transaction, or RIG_CHOICE_INITIAL */
    bool dirty;      /* no version that read committed shows: of an aborted writer, or not its last one (G1a, G1b) */
};

RIG_VEC(struct rig_ambiguous_read, rig_ambiguous_read_vec)
RIG_VEC(struct rig_read_choice, rig_read_choice_vec)

struct rig_ambiguous_reads {
    struct rig_ambiguous_read_vec reads; /* by transaction, then by operation */
    struct rig_read_choice_vec choices;
    bool too_many; /* not all are listed */
};

/* Lists those of acknowledged transactions. False when memory runs out; release with rig_ambiguous_reads_done() in
 * either case. */
bool rig_ambiguous_reads_find(const struct rig_history *history, const struct rig_known_initial *initial,
                              struct rig_ambiguous_reads *found);
void rig_ambiguous_reads_done(struct rig_ambiguous_reads *reads);

/* The history with operations of its own, from `arena`, whose reads rig_ambiguous_reads_set() changes. NULL when memory
 * runs out. */
struct rig_history *rig_ambiguous_reads_own(const struct rig_history *history, struct rig_arena *arena);
/* Gives the reads the values that are chosen for them, per read a choice by its number; `only` (NULL: all): per read
 * whether it has one, the others have no result. */
void rig_ambiguous_reads_set(const struct rig_ambiguous_reads *reads, const uint32_t *chosen, const bool *only,
                             struct rig_history *own);

/* The read that has the choice; the first one of the transaction or of a later one. By number. */
uint32_t rig_ambiguous_read_of(const struct rig_ambiguous_reads *reads, uint32_t choice);
uint32_t rig_ambiguous_reads_from(const struct rig_ambiguous_reads *reads, uint32_t txn);

#endif
