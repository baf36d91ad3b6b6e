/*
 * Decides the operations on a queue or a stack with unique values by the lifetimes of the values, and makes a small
 * refutation.
 *
 * Leaving out every operation on some values turns a legal sequence of operations into a legal one (Bouajjani, Emmi,
 * Enea & Hamza 2018), so operations on a few values that have no order refute the whole. A take of unknown outcome may
 * have taken another value: it is kept as one that may have happened. Takes that found nothing may be left out, too. A
 * refutation counts when a search over these few operations confirms it.
 *
 * Time: n log n, and the search. Space: 160 bytes a value. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_VALUES_H
#define RIG_CHECKER_OBJECTS_OBJECT_VALUES_H

#include "checker/objects/object_lifetimes.h"
#include "checker/objects/object_search.h"

struct rig_object_key; /* object_key.h */

struct rig_object_refutation {
    bool found;
    struct rig_object_values values;
    struct rig_object_op_list ops;   /* the operations on them; txn is the transaction */
    struct rig_object_result result; /* REFUTED, of these */
};

/*
 * The values are unique (`rows` was made of the operations). If there is no refutation and `order` is not NULL, fills
 * in the order of a stack without takes of unknown outcome. *decided: there is a refutation, or the lifetimes show that
 * there is an order. False when memory runs out. rig_object_refutation_done() follows in either case.
 */
bool rig_object_values_decide(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                              struct rig_object_refutation *refutation, struct rig_object_order *order, bool *decided);
void rig_object_refutation_done(struct rig_object_refutation *refutation);

#endif
