/*
 * A raw history, indexed for replaying proofs: the write of each value, the transaction of each name, and, for
 * witnesses, which transactions certainly committed.
 *
 * Supported: lists, registers and sets with unique values, objects, counters and banks, and rows. Time: linear in
 * operations and elements shown, but one list counts once however many reads show it. Space: 16 bytes a write, and for
 * witnesses a byte a transaction, 9 a key.
 */
#ifndef RIG_CHECKER_PROVE_FACTS_H
#define RIG_CHECKER_PROVE_FACTS_H

#include "base/err.h"
#include "history/model/history.h"
#include "history/types/types.h"

#define RIG_FACT_NONE UINT32_MAX

struct rig_fact_write {
    uint32_t op; /* in history->ops; RIG_FACT_NONE: an empty slot */
    uint32_t txn;
};

/* The way in which a type is proved: by versions of keys; by states of objects; by sums of increments; by rows. */
enum rig_facts_form { RIG_FACTS_VERSIONS, RIG_FACTS_OBJECTS, RIG_FACTS_SUMS, RIG_FACTS_ROWS };

struct rig_facts {
    const struct rig_history *history; /* borrowed */
    enum rig_result_shape shape;       /* of what reads show: a list, a set, or one value */
    struct rig_fact_write *writes;     /* the index: open addressing, at most half full; NULL: there is none. For rows:
                                          each statement that writes, by its number */
    uint64_t mask;
    enum rig_facts_form form;
    bool prefilled; /* each key had its row before the first transaction: by the record, or by the proof */
    bool assumes_balances, assumes_total; /* by the proof: no balance falls below 0; all accounts have this total: */
    int64_t total;
    bool assumes_initial; /* by the proof: each key begins with this value: */
    int64_t initial;
    uint32_t completed; /* transactions with a completion: ids below it */
    /* from rig_facts_witness() */
    bool *committed;    /* per transaction: acknowledged, or unknown with a write that a committed one shows */
    uint8_t *contested; /* per key: two committed reads of the list contradict each other */
    uint32_t *longest;  /* per key: the committed read of the longest list; RIG_FACT_NONE: none */
    uint32_t *longest_acknowledged; /* the same of acknowledged transactions */
};

/* RIG_E_LIMIT: rig-verify cannot say anything of this history (its type, values that repeat, memory). Release with
 * rig_facts_done(), also after a failure. */
enum rig_rc rig_facts_init(struct rig_facts *facts, const struct rig_history *history, struct rig_err *err);
void rig_facts_done(struct rig_facts *facts);
/* Fills in what witnesses need, once. */
enum rig_rc rig_facts_witness(struct rig_facts *facts, struct rig_err *err);

/* The value that each key begins with, where the proof assumes one; else NULL. */
static inline const int64_t *rig_facts_initial(const struct rig_facts *facts)
{
    return facts->assumes_initial ? &facts->initial : NULL;
}

/* Whether the read of a register shows the value that the proof assumes each key to begin with. */
bool rig_facts_begins(const struct rig_facts *facts, const struct rig_txn_op *read);

/* Whether two committed reads of the list contradict each other; false where it was not asked. */
static inline bool rig_facts_contested(const struct rig_facts *facts, uint32_t key)
{
    return facts->contested != NULL && facts->contested[key] != 0;
}

/* The place in history->ops of the transaction's write of the value to the key, or RIG_FACT_NONE. */
uint32_t rig_facts_write_in(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value);
/* Whether a transaction writes the value, whatever became of it. Linear in the history where there is no index. */
bool rig_facts_is_written(const struct rig_facts *facts, uint32_t key, int64_t value);
/* The write of the value, or NULL; by the index. */
const struct rig_fact_write *rig_facts_writer(const struct rig_facts *facts, uint32_t key, int64_t value);
/* The transaction of that name (rig_txn_name()), or RIG_FACT_NONE. */
uint32_t rig_facts_named(const struct rig_facts *facts, uint32_t name);
/* Whether an operation (of the history) is a read that found no row of its key, or may have missed elements of a set.
 * `prefilled`: each key had its row from the start. */
bool rig_read_found_no_row(const struct rig_history *history, bool prefilled, uint32_t op);
bool rig_facts_found_no_row(const struct rig_facts *facts, uint32_t op);
/* The elements of a list that was read, without those of the reader itself at its end. */
struct rig_read_list rig_facts_external(const struct rig_facts *facts, uint32_t txn, uint32_t op);

#endif
