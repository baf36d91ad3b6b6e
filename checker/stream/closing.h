/*
 * The closing set of a window: transactions of which everything is known, and that no transaction still to come can be
 * tied into a cycle with. Why it can be judged by itself stands in docs/checker.md.
 *
 * A transaction waits (is not closing)
 *   - while a key that it used may be used again,
 *   - while something that has to come before it waits: a writer or reader over ww, wr or rw, also through relays;
 *     one before it in its process; or, by real time, a committed transaction that completed before it was invoked,
 *   - and while a transaction of unknown fate waits that would come before it, should that one turn out committed: one
 *     that read the version of a key before its own; or, of registers, one that updated the same version.
 * So no edge leads from one that waits to one that is closing, now or later.
 *
 * Time: a pass over the transactions from the first one on that uses a key which may be used again, again over the
 * stretches of them that backward edges span; a few such rounds where there are relays. Threads: one.
 */
#ifndef RIG_CHECKER_STREAM_CLOSING_H
#define RIG_CHECKER_STREAM_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "checker/infer/inference.h"

struct rig_closing {
    uint8_t *waits;         /* per node of the links, relays too; never of a transaction that was judged before */
    uint8_t *alive;         /* per key: it may be used again, or a transaction that has to wait read it */
    uint64_t waiting_count; /* transactions */
};

/* Before the links are searched for cycles. `alive` says per key whether it may be used again; it is changed, and
 * borrowed by `closing`. False when memory runs out. */
bool rig_closing_find(const struct rig_inference *inference, uint8_t *alive, struct rig_arena *arena,
                      struct rig_closing *closing);

#endif
