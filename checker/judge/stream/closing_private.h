/* The search for a closing set, for the files that implement checker/judge/stream/closing.h and no others. */
#ifndef RIG_CHECKER_JUDGE_STREAM_CLOSING_PRIVATE_H
#define RIG_CHECKER_JUDGE_STREAM_CLOSING_PRIVATE_H

#include "base/table.h"
#include "checker/judge/stream/closing.h"

struct rig_closing_search {
    const struct rig_history *history;
    const struct rig_links *links;
    const struct rig_versions *versions;
    const uint8_t *committed;
    const struct rig_registers *registers;
    const struct rig_sets *sets;
    struct rig_arena *arena;
    uint8_t *read_by_unknown; /* per version of registers; NULL until there is one */
    const uint8_t *also;      /* per transaction: it waits for another reason; NULL: none does */
    struct rig_closing *out;
    struct rig_table *waiting; /* process -> its first waiting transaction; NULL where invocations are known */
    uint32_t least_end;        /* the first end of a waiting committed transaction, in the real-time order */
    uint32_t first;            /* no transaction before this one waits or uses a key that is alive */
    uint32_t *ends;            /* where there are relays, and so several rounds: the end of every stretch, in order */
    uint32_t *least_target;    /* per relay: the first transaction that it leads to directly */
    uint32_t stretch_count;
    bool any;                       /* a committed transaction, or a relay, waits */
    bool changed, again, no_memory; /* again: one waits for a reason other than its predecessors */
};

/* Makes the transaction wait for a reason other than its predecessors, unless it waits or was judged before. */
void rig_closing_wait_again(struct rig_closing_search *s, uint32_t txn);

/* The transaction waits, and later reads may show that it committed. */
static inline bool rig_closing_is_unknown(const struct rig_closing_search *s, uint32_t txn)
{
    return s->out->waits[txn] && !s->committed[txn] && s->history->txns[txn].outcome == RIG_OUTCOME_INFO;
}

/* Makes the transactions wait that a waiting transaction of unknown fate would precede if it committed. */
typedef void rig_closing_unknown(struct rig_closing_search *s);
rig_closing_unknown rig_list_wait_for_unknown, rig_register_wait_for_unknown, rig_set_wait_for_unknown,
    rig_object_wait_for_unknown;

#endif
