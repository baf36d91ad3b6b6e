/*
 * A small refutation of a queue or a stack: operations on one or two of its values that have no order by themselves.
 *
 * Leaving out every operation on some values turns a legal sequence of operations into a legal one (Bouajjani, Emmi, Enea &
 * Hamza 2018), so what has no order refutes the whole. A take of unknown result may have taken another value: it is kept
 * as one that may have happened. Takes that found nothing may be left out, too.
 *
 * Time: a search of few operations a value, and values squared for pairs, which are looked at up to MOST_VALUES of them.
 * Space: 16 bytes an operation. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECT_OBJECT_PAIR_H
#define RIG_CHECKER_OBJECT_OBJECT_PAIR_H

#include "checker/object/object_rows.h"
#include "checker/object/object_search.h"

struct rig_object_pair {
    bool found;
    int64_t values[2];               /* the same twice: one value */
    struct rig_object_op_list ops;   /* the operations on them; txn is the transaction */
    struct rig_object_result result; /* REFUTED, of these */
};

/* `rows` was made of the operations. False when memory runs out. rig_object_pair_done() follows in either case. */
bool rig_object_pair_find(struct rig_object_model *model, const struct rig_object_rows *rows,
                          const struct rig_object_op *ops, uint32_t count,
                          const struct rig_object_search_limits *limits, struct rig_object_pair *pair);
void rig_object_pair_done(struct rig_object_pair *pair);

#endif
