/*
 * Version orders of list-append, read off the lists: who wrote what, which transactions count as committed, and in what
 * order each key's versions follow each other (Kingsbury & Alvaro 2020, section 4).
 *
 * The longest committed read of a key without repetitions is its order. Elements of aborted or unknown writers keep
 * their place in the list but are no versions: rig_versions_before() and rig_versions_from() step over them. A
 * transaction of unknown fate (info) counts as committed exactly when a committed read shows one of its writes.
 *
 * Time: linear in the history (plus sorting for sparse values and for lists stored whole). Space: 8 bytes an append
 * (values dense per key) and 4 an observed element.
 */
#ifndef RIG_CHECKER_INFER_VERSIONS_H
#define RIG_CHECKER_INFER_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "history/history.h"

#define RIG_TXN_NONE UINT32_MAX
/* Places of an append that is not in its key's order: no committed read shows it; or only reads that contradict the
 * order. */
#define RIG_VERSION_NONE     UINT32_MAX
#define RIG_VERSION_UNPLACED (UINT32_MAX - 1)

/* One appended value. */
struct rig_append {
    uint32_t writer;   /* transaction; RIG_TXN_NONE: nobody appended this value */
    uint32_t position; /* in the key's order; or RIG_VERSION_NONE, RIG_VERSION_UNPLACED */
    bool superseded;   /* its writer appended to the same key again, later */
};

struct rig_key_versions {
    struct rig_list order; /* the longest committed read without repetitions */
    uint32_t order_txn;    /* whose read that is, and which operation; RIG_TXN_NONE when the key was never read */
    uint32_t order_op;
    uint32_t first_position; /* of this key in rig_versions.writer_at */
    uint32_t spine_agrees;   /* leading elements that the key's spine shares with `order` */
    uint32_t spine_unique;   /* leading elements of the spine without a repetition */
    uint32_t spine_aborted;  /* position in the spine of the first element by an aborted writer; none: UINT32_MAX */
    uint32_t spine_garbage;  /* likewise of the first element that nobody appended */
    uint32_t slot_first;     /* into rig_versions.slots */
    uint32_t slot_count;
    int64_t lowest; /* value of the first slot, when the key's values are dense */
    bool sparse;    /* slots are sorted by value, in rig_versions.slot_values, instead */
};

struct rig_versions {
    const struct rig_history *history;
    struct rig_key_versions *keys;
    struct rig_append *slots;
    int64_t *slot_values; /* parallel to slots; set for sparse keys only; NULL when there are none */
    uint32_t *writer_at;  /* per position: the committed writer, else RIG_TXN_NONE */
    uint32_t *before_at;  /* per position: the nearest version at or before it; NULL when every element is a version */
    uint32_t *from_at;    /* per position: the nearest version at or after it; likewise */
    uint8_t *committed;   /* per transaction */
    uint32_t committed_count;
};

/*
 * Everything is allocated from `arena`. RIG_E_INPUT when a value is appended twice to a key or an operation is not of
 * list-append; RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_versions_build(const struct rig_history *history, struct rig_arena *arena,
                               struct rig_versions *versions, struct rig_err *err);

/* True when the append stands in its key's order. */
static inline bool rig_append_is_placed(const struct rig_append *append)
{
    return append->position < RIG_VERSION_UNPLACED;
}

/* The append of `value` to `key`, or NULL when nobody appended it. */
struct rig_append *rig_versions_find(const struct rig_versions *versions, uint32_t key, int64_t value);

/* The position of the last version before `position` (first one at or after it), or RIG_VERSION_NONE. */
uint32_t rig_versions_before(const struct rig_versions *versions, uint32_t key, uint32_t position);
uint32_t rig_versions_from(const struct rig_versions *versions, uint32_t key, uint32_t position);
/* The committed writer of the version at `position`. */
static inline uint32_t rig_versions_writer(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    return versions->writer_at[versions->keys[key].first_position + position];
}

/* True when `list`, as read by `op`, is a prefix of its key's order. */
bool rig_versions_is_prefix(const struct rig_versions *versions, const struct rig_mop *op);

#endif
