/*
 * Unread appends to a key, in the order in which a read can only show them if all is well: each of them
 * was made by the same transaction as the one before it, or by one that was invoked after that had completed.
 *
 * Any read may still show them otherwise. But who judged a window and found no cycle in it, real time counted, knows
 * that no later one of these writers comes before an earlier one; so that a read that shows this order adds no edge
 * that could close a cycle (docs/checker.md).
 *
 * Time: linear in the key's appends and in the operations of the writers. Threads: one.
 */
#ifndef RIG_CHECKER_STREAM_LIST_UNREAD_CHAIN_H
#define RIG_CHECKER_STREAM_LIST_UNREAD_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/infer/inference.h"

enum { RIG_UNREAD_MOST = 32 };

struct rig_unread_chain {
    int64_t values[RIG_UNREAD_MOST];
    uint32_t count;
};

/*
 * Of the key's unread appends that did not fail: `judged` (NULL: all) says per transaction whose count. False when they
 * are too many, in no such order, or one of them was not acknowledged.
 */
bool rig_unread_chain_find(const struct rig_inference *inference, uint32_t key, const uint8_t *judged,
                           struct rig_unread_chain *chain);

#endif
