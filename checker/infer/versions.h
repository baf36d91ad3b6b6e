/*
 * Version orders of list-append, taken from the lists: the writer of each value, the transactions that count as
 * committed, and the order of each key's versions (Kingsbury & Alvaro 2020, section 4).
 *
 * The longest committed read of a key without repetitions is its order. Elements of aborted or unknown writers keep
 * their place in the list but are no versions: rig_versions_before() and rig_versions_from() step over them. A
 * transaction of unknown fate (info) counts as committed exactly when a committed read shows one of its writes; in a
 * window (history/model/window.h), an earlier judgement may have decided it.
 *
 * Time: linear in the history (plus sorting for branches). Space: 8 bytes a slot (list_survey.h), 4 an observed
 * element, 1 a transaction, 128 a key.
 */
#ifndef RIG_CHECKER_INFER_VERSIONS_H
#define RIG_CHECKER_INFER_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bug.h"
#include "base/err.h"
#include "history/model/history.h"

#define RIG_TXN_NONE UINT32_MAX
/* Places of an append that is not in its key's order: no committed read shows it; or only reads that contradict the
 * order, or it was lost. */
#define RIG_VERSION_NONE     0x7fffffffu
#define RIG_VERSION_UNPLACED 0x7ffffffeu

/* One appended value. */
struct rig_append {
    uint32_t writer;         /* transaction; RIG_TXN_NONE: none appended this value */
    uint32_t superseded : 1; /* its writer appended to the same key again, later */
    uint32_t position : 31;  /* in the key's order; or RIG_VERSION_NONE, RIG_VERSION_UNPLACED */
};

/*
 * One position of a key's order: its committed writer, and whether that one appended to the key again. Before the first
 * position of each key there is RIG_PLACE_END; after the last one, RIG_PLACE_END or, when more may follow (unread
 * appends), RIG_PLACE_IRREGULAR.
 */
#define RIG_PLACE_WRITER     0x3fffffffu
#define RIG_PLACE_SUPERSEDED 0x40000000u
#define RIG_PLACE_NO_VERSION 0x80000000u
#define RIG_PLACE_END        RIG_PLACE_NO_VERSION
#define RIG_PLACE_IRREGULAR  (RIG_PLACE_NO_VERSION | RIG_PLACE_SUPERSEDED) /* also: an element that is no version */

/* The part of a key that each visited operation needs; the rest is in struct rig_key_versions. */
struct rig_key_places {
    int64_t lowest;       /* value of the first slot, unless the key is sparse */
    uint32_t slot_first;  /* into rig_versions.slots */
    uint32_t place_first; /* of this key's first position, into rig_versions.places */
    uint32_t clean;       /* leading elements that are the same in spine and order, and are versions */
    uint32_t visitor;     /* scratch of a pass over the transactions: the last one that used the key */
    uint32_t start;       /* scratch: the length of the list before `visitor` */
    uint16_t grown;       /* scratch: the number of elements that `visitor` has added */
    uint8_t shift;        /* 0: values are dense; else slots are found by the upper bits of a product */
};

struct rig_key_versions {
    struct rig_list order; /* the longest committed read without repetitions */
    uint32_t order_txn;    /* the transaction of that read, and its operation; RIG_TXN_NONE: the key was never read */
    uint32_t order_op;
    uint32_t spine_agrees;  /* leading elements that the key's spine shares with `order` */
    uint32_t spine_unique;  /* leading elements of the spine without a repetition */
    uint32_t spine_aborted; /* position in the spine of the first element by an aborted writer; none: UINT32_MAX */
    uint32_t spine_garbage; /* the first element there that no transaction appended; none: UINT32_MAX */
    uint32_t slot_count;
    bool gaps;      /* some element of the order is no version */
    bool contested; /* its reads, or its reads and appends, contradict each other: see rig_versions_contest() */
};

/* The same facts about a branch, as far as committed reads show it. */
struct rig_branch_facts {
    uint32_t count; /* of the longest committed read; 0: none */
    uint32_t agrees, unique, aborted, garbage;
};

struct rig_versions {
    const struct rig_history *history;
    struct rig_key_places *key_places;
    struct rig_key_versions *keys;
    struct rig_append *slots; /* the first one belongs to no value */
    uint32_t slot_count;
    uint32_t sparse_first; /* from here on: slots of sparse keys */
    int64_t *slot_values;  /* of the slots of sparse keys; NULL when there are none */
    uint32_t *places;      /* per key: an end, its order's positions, an end */
    uint32_t *before_at;   /* for keys with gaps, parallel to places: the nearest version at or before a position */
    uint32_t *from_at;     /* for keys with gaps, parallel to places: the nearest version at or after a position */
    struct rig_branch_facts *branches; /* parallel to the history's; NULL when no committed read shows one */
    uint32_t
        *acknowledged;  /* per key: the leading elements that acknowledged reads show (list_acknowledged.h); NULL: they
                               show all that any read shows, or no cycle has needed it yet */
    uint8_t *committed; /* per transaction */
    uint32_t committed_count;
    uint32_t ok_count, fail_count; /* transactions with that outcome */
    uint32_t counted_ops;          /* operations of committed transactions, at most */
    uint32_t counted_reads;        /* reads of committed transactions, at most */
    bool prefilled;                /* each key had its row from the start */
    bool items_only;               /* reads of keys without a row give no rw edges */
};

/*
 * Everything is allocated from `arena`. RIG_E_INPUT when a value is appended twice to a key or an operation is not of
 * list-append; RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_versions_build(const struct rig_history *history, struct rig_arena *arena,
                               struct rig_versions *versions, struct rig_err *err);

/* Whether a read with a known result found no row of its key: an rw edge from it is by a predicate. */
static inline bool rig_list_found_no_row(const struct rig_history *history, const struct rig_txn_op *read)
{
    return (read->read_state != RIG_READ_SEEN || read->count == 0) &&
           (history->had_rows == NULL || !history->had_rows[read->key]);
}

/* True when the append stands in its key's order. */
static inline bool rig_append_is_placed(const struct rig_append *append)
{
    return append->position < RIG_VERSION_UNPLACED;
}

/* For a sparse key: the slot of `value`, or the free one for it. */
static inline uint32_t rig_versions_probe(const struct rig_versions *versions, uint32_t key, int64_t value)
{
    const struct rig_key_places *at = &versions->key_places[key];
    uint32_t mask = versions->keys[key].slot_count - 1;
    uint32_t index = (uint32_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> at->shift);
    while (versions->slots[at->slot_first + index].writer != RIG_TXN_NONE &&
           versions->slot_values[at->slot_first + index - versions->sparse_first] != value)
        index = (index + 1) & mask;
    return at->slot_first + index;
}

/* The append of `value` to `key`, or NULL when no transaction appended it. */
static inline struct rig_append *rig_versions_find(const struct rig_versions *versions, uint32_t key, int64_t value)
{
    const struct rig_key_places *at = &versions->key_places[key];
    uint64_t index = (uint64_t)value - (uint64_t)at->lowest;
    if (at->shift == 0 && index >= versions->keys[key].slot_count)
        return NULL;
    struct rig_append *slot =
        &versions->slots[at->shift == 0 ? at->slot_first + index : rig_versions_probe(versions, key, value)];
    return slot->writer == RIG_TXN_NONE ? NULL : slot;
}

/* The same for a value that some transaction appended. */
static inline struct rig_append *rig_versions_append(const struct rig_versions *versions, uint32_t key, int64_t value)
{
    struct rig_append *append = rig_versions_find(versions, key, value);
    RIG_INVARIANT(append != NULL);
    return append;
}

/* The position of the last version before `position` (first one at or after it), or RIG_VERSION_NONE. */
uint32_t rig_versions_before(const struct rig_versions *versions, uint32_t key, uint32_t position);
uint32_t rig_versions_from(const struct rig_versions *versions, uint32_t key, uint32_t position);
/* The committed writer of the version at `position`, or RIG_TXN_NONE. */
static inline uint32_t rig_versions_writer(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    uint32_t place = versions->places[versions->key_places[key].place_first + position];
    return place & RIG_PLACE_NO_VERSION ? RIG_TXN_NONE : place & RIG_PLACE_WRITER;
}

/* True when `list`, as read by `op`, is a prefix of its key's order. */
bool rig_versions_is_prefix(const struct rig_versions *versions, const struct rig_txn_op *op);
/*
 * Makes the key contested: its reads cannot all be true of a list that only grows, so none of them is evidence for the
 * order of the appends, or for an unread append being later. The order is kept for naming anomalies; it gives no edges.
 */
void rig_versions_contest(const struct rig_versions *versions, uint32_t key);

#endif
