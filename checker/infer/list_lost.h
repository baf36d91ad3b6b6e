/*
 * lost-append: acknowledged appends that are gone.
 *
 * Let T be an acknowledged append of v, and consider the acknowledged reads of the key in other transactions. v is lost
 * when one of them began after T's acknowledgement and after each that shows v completed, and
 *   - none that shows v completed after the acknowledgement, or
 *   - it shows an append that was requested after the acknowledgement: the list went on without v.
 * Lists only grow, so strict serializability requires each read that began after the acknowledgement to show v. A read
 * that misses v before another one shows it again is stale, and v is not lost. Reads that show v, and later ones that
 * show less of the same list, may come from a stale copy.
 *
 * Each such append lies on a cycle with one real-time edge (the later read precedes T by what it misses, and follows it
 * in real time), unless the reads of its key contradict each other. So the search is needed only where there is either.
 *
 * Time: linear in the history, plus sorting the reads of the keys in question. Space: 4 bytes a slot, 8 an element of
 * the lists, and 16 to 32 for each read and append of the keys in question; released before it returns.
 */
#ifndef RIG_CHECKER_INFER_LIST_LOST_H
#define RIG_CHECKER_INFER_LIST_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/infer/noncyclic.h"
#include "checker/infer/versions.h"
#include "checker/model/links.h"

/* Counts and notes them, and adds each one to `all`. False when memory runs out. */
bool rig_list_lost_appends(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic,
                           struct rig_noncyclic_list *all);

/*
 * Committed appends that no read shows. They come after the last observed version of their key: after its writer (ww)
 * and after all its readers (rw). They have no order among themselves. Those of a contested key are counted but not
 * linked.
 */

struct rig_key_txn {
    uint32_t key, txn;
};

RIG_VEC(struct rig_key_txn, rig_key_txns)

struct rig_unread {
    struct rig_key_txns writers; /* unread appends, by key */
    struct rig_key_txns readers; /* reads after which the key's order has no further version */
    uint64_t unordered_keys;     /* set by rig_unread_link() */
};

void rig_unread_done(struct rig_unread *unread);
/* Call them in the order of the transactions. False when memory runs out. */
bool rig_unread_add_writer(struct rig_unread *unread, uint32_t key, uint32_t txn);
bool rig_unread_add_reader(struct rig_unread *unread, uint32_t key, uint32_t txn);
/* Adds the links, and relays. False when memory runs out. */
bool rig_unread_link(struct rig_unread *unread, const struct rig_versions *versions, struct rig_links *links);
/*
 * Also links the unread appends of each key with each other, both ways: what some order of them may have. False when
 * memory runs out.
 */
bool rig_unread_link_any_order(const struct rig_versions *versions, struct rig_links *links);

#endif
