/*
 * The lifetimes of the values of a queue or a stack, whose values are unique, and what they contradict.
 *
 * A value is certainly there from the end of its addition to the beginning of its take. Such times overlap to stretches
 * in which the object is certainly not empty. No order explains the operations if
 *  - a value is taken twice, without having been added, or before its addition begins;
 *  - a take found nothing within a stretch: the values that make up the stretch then contradict it;
 *  - in a queue, a is added before b, and b is taken before a.
 * A queue has no other contradiction (Henzinger, Sezgin & Vafeiadis 2013, "Aspect-oriented linearizability
 * proofs"; Bouajjani, Emmi, Enea & Hamza 2018), a stack may have (object_values.h).
 *
 * A take of unknown outcome may have taken any value that nothing certainly takes, so these are not certainly there.
 *
 * Space: 40 bytes a value. Time: n log n. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_LIFETIMES_H
#define RIG_CHECKER_OBJECTS_OBJECT_LIFETIMES_H

#include "checker/objects/object_rows.h"

struct rig_object_lifetime {
    int64_t value;
    uint32_t add, take; /* operations; UINT32_MAX: none */
    uint32_t add_from, add_until;
    uint32_t take_from, take_until; /* of a value that nothing takes: the earliest and the latest time possible */
    uint32_t takes;                 /* that are certain */
};

RIG_VEC(struct rig_object_lifetime, rig_object_lifetime_list)
RIG_VEC(int64_t, rig_object_values)
RIG_VEC(uint32_t, rig_object_op_numbers)

struct rig_object_lifetimes {
    bool queue;
    bool certain;                          /* no take is of unknown outcome: the lifetimes say all */
    struct rig_object_lifetime_list at;    /* of values that were certainly added or taken */
    struct rig_object_op_numbers nothings; /* takes that found nothing */
};

/* A history that goes on: transactions from `txn` on are open, and takes of these and of later ones begin at `horizon`
 * or later. RIG_POSITION_NONE and UINT32_MAX: it has ended. */
struct rig_object_open {
    uint32_t horizon, txn;
};

/* False when memory runs out; rig_object_lifetimes_done() follows in either case. */
bool rig_object_lifetimes_init(struct rig_object_lifetimes *lifetimes, const struct rig_object_model *from,
                               const struct rig_object_op *ops, uint32_t count, struct rig_object_open open);
void rig_object_lifetimes_done(struct rig_object_lifetimes *lifetimes);

/* A lifetime from the end of the addition to the beginning of the take; false: it may be empty. */
static inline bool rig_object_lifetime_is_long(const struct rig_object_lifetime *lifetime)
{
    return lifetime->add_until < lifetime->take_from;
}

/*
 * Adds to `values` the fewest of these lifetimes, in the order of the ends of their additions, that are there without a
 * gap from before `from` until after `until`, or `until` itself where it is the end of a stretch. False: there are
 * none.
 */
bool rig_object_lifetimes_cover(const struct rig_object_lifetime *const *lifetimes, uint32_t count, uint32_t from,
                                uint32_t until, struct rig_object_values *values, bool *covered);

/* Fills in values whose operations alone contradict each other, and the take that found nothing, if it is one of these
 * (else UINT32_MAX). No value: no contradiction. False when memory runs out. */
bool rig_object_lifetimes_contradict(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                                     struct rig_object_values *values, uint32_t *nothing);

#endif
