/*
 * Committed appends that no read shows. They come after the last observed version of their key: after its writer (ww)
 * and after all its readers (rw). They have no order among themselves. Those of a contested key are counted but not
 * linked.
 */
#ifndef RIG_CHECKER_INFER_UNREAD_H
#define RIG_CHECKER_INFER_UNREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/model/links.h"
#include "checker/infer/versions.h"

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
