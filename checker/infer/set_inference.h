/*
 * Inference for sets (Kingsbury & Alvaro 2020, section 3): from a history to the non-cyclic anomalies internal, G1a,
 * garbage-read, duplicate-elements and future-read, and the dependency graph.
 *
 * Edges: wr from the transaction that added an element to each transaction that read it; rw from each transaction whose
 * read misses an element to the one that added it, because elements never go away. No two additions are ordered by
 * themselves: each element is an item of its own with one version after its initial state (infer/sets.h), so that its
 * versions have a known order, and there are no ww edges.
 *
 * The edges of a key with many reads go through relays (set_inference.c). Their time is linear in the elements
 * that reads show, its space in reads and elements. Reads that do not fit the chain, and those of other keys, take time
 * and 8 bytes an edge for each element that they show or miss.
 */
#ifndef RIG_CHECKER_INFER_SET_INFERENCE_H
#define RIG_CHECKER_INFER_SET_INFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/assumption.h"

/* As rig_type_inference.infer. */
enum rig_rc rig_infer_sets(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);

/* See struct rig_type_inference. The items share the elements of the inference. */
bool rig_infer_items_of_sets(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items);

#endif
