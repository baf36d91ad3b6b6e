/*
 * lost-write: acknowledged writes of registers that are gone.
 *
 * Let T be an acknowledged transaction and v the last value that it wrote to a key. A version of the key is older than
 * v for certain when it is the initial state, when its writer or a reader of it was acknowledged before T was invoked,
 * when T read it before it wrote v, or when its writer is acknowledged, was invoked after T's acknowledgement, and read
 * an older version before it wrote: the key went on without v. v is lost when an acknowledged read R of another
 * transaction began after T's acknowledgement, shows an older version, and
 *   - each acknowledged read of another transaction that ended after T's acknowledgement and has a result shows an
 *     older version or v; where values repeat (multi-key-acid), it also tells which write it saw,
 *   - those that show v ended before R began, and if there is one, the key went on without v to the version of R,
 *   - each write of another transaction that did not fail, and was invoked before R ended, made an older version.
 * The last rule is that of overwritten versions: a write that may have come after v may have replaced it.
 *
 * Snapshot isolation forbids lost updates and reads what was committed before the snapshot. So with real-time order an
 * older version precedes v, and R had to see v or a later one.
 *
 * Time: linear for a history where no read shows a version that is older for certain than one acknowledged before;
 * else also a sort of the operations on the keys of such reads, and the reads and writes after each write of them until
 * one shows that it is not lost. Space, in the arena: 12 bytes a version and 5 a key, given back, 8 a version where
 * there are such keys, and 16 to 40 for each read and write of them.
 */
#ifndef RIG_CHECKER_INFER_REGISTER_LOST_H
#define RIG_CHECKER_INFER_REGISTER_LOST_H

#include <stdbool.h>

#include "base/arena.h"
#include "checker/infer/noncyclic.h"
#include "checker/infer/registers.h"

/* Counts and notes them, and adds each one to `all`; not those of `open_keys` (per key: it may be used again; NULL:
 * none may). There are none where operations are missing. False when memory runs out. */
bool rig_register_lost_writes(const struct rig_registers *registers, const uint8_t *open_keys, struct rig_arena *arena,
                              struct rig_noncyclic_findings *noncyclic, struct rig_noncyclic_list *all);

#endif
