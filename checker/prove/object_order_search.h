/*
 * Whether operations on objects have an order in which each is possible. All claims that they have none rest on this
 * one search.
 *
 * It goes over the orders by their lengths: which operations took effect, and the states that they leave. An operation
 * may be next if no other one of its group that is left ends before it begins. Four rules leave out orders for which
 * another one is as good:
 * - an operation that only observes, may be next and is possible, is next;
 * - in the same states, fewer operations of unknown outcome are as good as more;
 * - equal operations of unknown outcome come in the order of their beginnings;
 * - no order goes on where an operation that is left needs a value of a register that is not there and that none
 *   leaves.
 *
 * Space: the configurations of two lengths, each of a word an object and a group, and a bit for each operation that may
 * take effect while an earlier one of its group is left. Time: exponential in the operations that overlap, up to the
 * limits.
 */
#ifndef RIG_CHECKER_PROVE_OBJECT_SEARCH_H
#define RIG_CHECKER_PROVE_OBJECT_SEARCH_H

#include "base/vec.h"
#include "history/model/history.h"

/* An operation that takes effect at once: a transaction, or one take of a drain. */
struct rig_order_unit {
    uint32_t first_op, end_op; /* in history->ops, of one key */
    uint32_t group;            /* operations of one group keep their order in time: from 0 */
    uint32_t begin, end;       /* one that ends before another one of its group begins comes before it */
    bool certain;              /* it took effect; else it may have */
};

RIG_VEC(struct rig_order_unit, rig_order_units)

/* Configurations from which the orders go on, of operations on one object in one group: a state each, and the
 * operations that had taken effect, by their beginnings. */
struct rig_search_from {
    uint32_t count;
    const char
        *states; /* one after the other: the value of a register or a mutex as an int64_t, the text of a string, the
                         * numbers of a lock */
    const uint32_t *sizes;
    const uint32_t *first; /* per configuration, and one more: into `used` */
    const uint32_t *used;
};

struct rig_order_search {
    const struct rig_history *history; /* of objects */
    struct rig_order_units *units;     /* sorted by the search */
    uint32_t group_count;
    bool in_time;                       /* the order is one in real time */
    const struct rig_search_from *from; /* NULL: from the initial states */
    const int64_t *initial; /* the value that registers are assumed to begin with; NULL: as object_initial.h says */
    uint64_t most_steps;    /* UINT64_MAX: no limit */
    uint64_t most_words;    /* of the configurations of one length */
    int64_t deadline_ns;    /* rig_clock_now_ns(); INT64_MAX: no limit */
};

enum rig_search_answer { RIG_SEARCH_NO_ORDER, RIG_SEARCH_ORDER, RIG_SEARCH_SPENT, RIG_SEARCH_NO_MEMORY };

enum rig_search_answer rig_search_order(const struct rig_order_search *question);

/* Whether operations [first, end) of one transaction change nothing, even where one of them writes the value that it
 * expects. */
bool rig_ops_observe(const struct rig_history *history, uint32_t first, uint32_t end);
/* Whether the operation changes nothing: a read, an expectation, or a take that found nothing. */
bool rig_op_observes(const struct rig_txn_op *op);

#endif
