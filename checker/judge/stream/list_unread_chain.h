/*
 * The unread appends to a key, in the only order in which a read can show them without an anomaly: each was made by the
 * same transaction as the one before it, or by one that was invoked after the writer before it had completed.
 *
 * A read may still show another order. But when a window was judged and has no cycle, real time included, no later one
 * of these writers comes before an earlier one; so a read that shows this order adds no edge that could close a cycle
 * (docs/checker/windows-memory.md).
 *
 * Time: linear in the key's appends and in the operations of the writers. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_LIST_UNREAD_CHAIN_H
#define RIG_CHECKER_JUDGE_STREAM_LIST_UNREAD_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/infer/inference.h"

enum { RIG_UNREAD_MOST = 32 };

struct rig_unread_chain {
    int64_t values[RIG_UNREAD_MOST];
    uint32_t count;
};

/*
 * Finds the chain of the key's unread appends that did not fail; `judged` (NULL: all) selects their transactions. False
 * when there are too many, they have no such order, or one of them was not acknowledged.
 */
bool rig_unread_chain_find(const struct rig_inference *inference, uint32_t key, const uint8_t *judged,
                           struct rig_unread_chain *chain);

#endif
