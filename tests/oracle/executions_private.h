/*
 * One search for executions (executions.h), as its files share it: the conditions of the levels (executions.c) and of
 * the assumptions about registers (executions_assumptions.c).
 */
#ifndef RIG_TESTS_ORACLE_EXECUTIONS_PRIVATE_H
#define RIG_TESTS_ORACLE_EXECUTIONS_PRIVATE_H

#include "tests/oracle/executions.h"

enum { NOTHING = -1, LISTS = SMALL_TXNS * SMALL_OPS, KEY_OPS = EXECUTION_TXNS * SMALL_OPS };

/* A known read, as far as it can be judged without knowing which transactions committed. */
struct seen {
    int txn, op, key;
    const struct small_op *read;
    int writer;       /* of the version read, without the reader's own writes after it; NOTHING: the initial state */
    uint32_t writers; /* of all elements that it shows */
    bool own;         /* shows writes of the reader only */
    bool impossible;  /* shows something that no execution has */
    bool uncommitted; /* intermediate, or written only later: no read committed */
};

struct search {
    const struct small_history *history;
    unsigned assumptions;
    struct seen reads[SMALL_TXNS * SMALL_OPS];
    int read_count;
    bool inner[SMALL_TXNS];      /* per transaction: Int */
    bool item_inner[SMALL_TXNS]; /* per transaction: Int of reads that found a row, and of own writes */
    uint32_t before[EXECUTION_ORDERS][SMALL_TXNS];
    uint32_t writes[SMALL_TXNS]; /* bits of keys */
    uint32_t infos, known;       /* known: ok, or shown by one that is known */
    uint32_t ghosts;             /* failed, but assumed operations of a key */
    bool silent[SMALL_KEYS];     /* reads of the key are no evidence at RU */
    /* of one set */
    uint32_t committed;
    bool all_committed_reads, all_inner, all_item_inner; /* the conditions of RC and Int on each read by itself */
    /* of one order */
    int count, order[SMALL_TXNS], place[SMALL_TXNS];
    struct executions *found;
};

static inline bool in(uint32_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

static inline uint32_t bit(int txn)
{
    return UINT32_C(1) << txn;
}

/* The last write of the key by the transaction before operation `before`, or NOTHING. */
static inline int last_write(const struct small_txn *txn, int key, int before)
{
    int last = NOTHING;
    for (int i = 0; i < before; i++) {
        if (txn->ops[i].append && txn->ops[i].key == key)
            last = i;
    }
    return last;
}

/* Whether the read is of a version that is not the reader's own, and that a committed transaction wrote. */
bool executions_is_external(const struct search *s, const struct seen *seen);
/* Whether the order of the search keeps what is assumed of registers. */
bool executions_keep_assumptions(const struct search *s);

#endif
