/*
 * The closing set of a window: transactions about which all facts are known, and that cannot lie on a cycle with a
 * transaction still to come. docs/checker/windows.md proves that it can be judged by itself.
 *
 * A transaction waits (is not closing)
 *   - while a key that it used may be used again,
 *   - while a transaction that must precede it waits: a writer or reader over ww, wr or rw, also through relays; one
 *     before it in its process; or, by real time, a committed transaction that completed before it was invoked,
 *   - and while a transaction of unknown fate waits that would precede it if it committed: one that read the version of
 *     a key before its own; or, for registers, one that updated the same version.
 * So no edge leads from a waiting transaction to a closing one, now or later.
 *
 * Time: one pass over the transactions from the first that uses a key which may be used again, and further passes over
 * the stretches that backward edges span; a few such rounds where there are relays. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_CLOSING_H
#define RIG_CHECKER_JUDGE_STREAM_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "checker/infer/inference.h"

struct rig_closing {
    uint8_t *waits;         /* per node of the links, relays too; never of a transaction that was judged before */
    uint8_t *alive;         /* per key: it may be used again, or a waiting transaction read it */
    uint64_t waiting_count; /* transactions */
};

/* Call it before the search for cycles. `alive` tells per key whether it may be used again; it is changed, and borrowed
 * by `closing`. `also`, per transaction: it waits for another reason, too (NULL: none does). False when memory runs
 * out. */
bool rig_closing_find(const struct rig_inference *inference, uint8_t *alive, const uint8_t *also,
                      struct rig_arena *arena, struct rig_closing *closing);

#endif
