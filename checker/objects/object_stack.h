/*
 * Decides a stack whose values are unique, and finds an order of the operations, without a search.
 *
 * A value whose addition and take overlap may be taken at once, so it constrains nothing. The others are certainly
 * there from the end of their addition to the beginning of their take. While such times overlap, the stack is not
 * empty, and one value is at its bottom all the time: it is added before any of these additions has to be, and taken
 * after all takes. Any value that may be is as good as another, because additions before the stretch may wait until its
 * beginning, and takes after it may come at its end. So the values that may be at the bottom are left out, the rest
 * falls into shorter stretches, and there is an order if and only if this leaves out all. A stretch in which no value
 * may be at the bottom is a contradiction, and so are the fewest of its values that make up the whole stretch.
 *
 * Sources: Gibbons, Bruno & Phillips 2002, "Black-box correctness tests for basic parallel data structures"; Lee &
 * Mathur 2025, "Efficient decrease-and-conquer linearizability monitoring".
 *
 * Time: n log n for a bounded number of operations that are open at once. Space: 120 bytes a value. Threads: one at a
 * time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_STACK_H
#define RIG_CHECKER_OBJECTS_OBJECT_STACK_H

#include "checker/objects/object_lifetimes.h"
#include "checker/objects/object_search.h"

/* The lifetimes do not contradict each other otherwise (rig_object_lifetimes_contradict()). Fills in the values of a
 * stretch that is a contradiction; else, if `order` is not NULL and the lifetimes are certain, the order. False when
 * memory runs out. */
bool rig_object_stack_decide(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                             struct rig_object_values *values, struct rig_object_order *order);

#endif
