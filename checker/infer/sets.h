/*
 * The elements of the sets of a history, or the values of its logs, and the transactions that count as committed.
 *
 * A set only grows, and an element is added to a key at most once. So each element is an item of its own: absent first,
 * and there from its one addition on. A read of a key reads every element of the key, as there or as absent.
 *
 * Committed are the acknowledged transactions, and those of unknown fate of which a committed read shows an element.
 *
 * Time: sorting the additions, and one look-up for each element read. Space: 24 bytes an addition, 4 a key.
 */
#ifndef RIG_CHECKER_INFER_SETS_H
#define RIG_CHECKER_INFER_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "history/model/history.h"

#define RIG_SET_NONE UINT32_MAX

struct rig_set_element {
    int64_t value;
    uint32_t key;
    uint32_t writer; /* the transaction that adds it, whatever its outcome */
    uint32_t op;     /* place of the addition in that transaction */
};

struct rig_sets {
    const struct rig_history *history; /* borrowed */
    struct rig_set_element *elements;  /* by key, then value */
    uint32_t element_count;
    uint32_t *key_first; /* per key, and one more: into elements */
    uint8_t *committed;  /* per transaction */
    uint32_t committed_count;
};

/* Memory comes from the arena. RIG_E_INPUT when an operation is of another type or a value is added twice to a key;
 * RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_sets_build(const struct rig_history *history, struct rig_arena *arena, struct rig_sets *sets,
                           struct rig_err *err);

/* The element of the key, or RIG_SET_NONE when no transaction adds it. Time: constant where values follow each other,
 * else logarithmic. */
uint32_t rig_sets_find(const struct rig_sets *sets, uint32_t key, int64_t value);

/* Whether the operation reads a set, with a known result. */
static inline bool rig_set_is_read(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_SET && op->read_state != RIG_READ_UNKNOWN;
}

/* Elements are rows: a read that misses one found no row of it. So each rw edge is by a predicate. */
static inline bool rig_set_found_no_row(const struct rig_history *history, const struct rig_txn_op *read)
{
    (void)history;
    (void)read;
    return true;
}

/* Marks of the elements of a read, so that a walk over the elements of its key finds those that it misses. */
struct rig_set_marks {
    uint32_t *of;   /* per element: the read that marked it last */
    uint32_t count; /* reads */
};

/* Memory comes from the arena; false when it runs out. */
bool rig_set_marks_init(struct rig_set_marks *marks, const struct rig_sets *sets, struct rig_arena *arena);
/* Marks what the operation read. */
void rig_set_marks_take(struct rig_set_marks *marks, const struct rig_sets *sets, const struct rig_txn_op *read);

static inline bool rig_set_is_marked(const struct rig_set_marks *marks, uint32_t element)
{
    return marks->of[element] == marks->count;
}

#endif
