/*
 * The third oracle, of levels in histories of 8 to 32 transactions: the levels as forbidden cycles, and the order of
 * the versions by cases.
 *
 * The committed transactions are the ok ones, and each info one with a write that a committed one read: leaving out
 * another one breaks no level. A known order of the writers (from reads of lists, reads of written values, and the
 * order that the level keeps) grows by one pair of writers of a key at a time, either way round, until no pair is left
 * or the edges of the known order already make a cycle that the level forbids:
 *
 * - ww from a writer of a key to a later one, wr from the writer of a version to its readers, rw from the reader of a
 *   version to the writer of a later one, and the order of processes or real time, which counts as wr.
 * - RC: no rw. CS: rw and ww of one key. MAV: rw out of an operation, wr of the same writer into an earlier one. ML:
 *   one rw out of an operation, and a path of ww and wr that arrives at an earlier one. MSR: each rw directly behind ww
 *   or wr into an earlier operation. CV, PSI: one rw. RA: rw and wr. UA: rw and wr or ww. CC: one rw, the rest wr.
 *   PREFIX: each rw directly behind wr. SI: no two adjacent rw. PL3U: at most one rw out of a transaction that only
 *   reads.
 *   SER, RR: any. An edge of the order arrives at all operations. (Adya 1999, 4; Cerone, Bernardi & Gotsman 2015, 3;
 *   Cerone & Gotsman 2018, 4; docs/checker/levels.md.)
 * - RA, CC, UA, PREFIX, PSI, SI, RR and SER also need reads that agree with their own transaction (Int).
 *
 * The order of a pair that leads to a forbidden cycle at once is known to be the other one, so that few pairs need both
 * cases. Read uncommitted is not decided here. Shares executions_order() with the second oracle, and nothing else.
 *
 * Time: exponential in the pairs at worst; CASES_MOST looks at a pair, then the answer is CASES_SPENT.
 */
#ifndef RIG_TESTS_ORACLE_VERSION_CASES_H
#define RIG_TESTS_ORACLE_VERSION_CASES_H

#include "tests/oracle/executions.h"

enum { CASES_TXNS = 32, CASES_MOST = 200000 };

enum case_answer { CASES_NO, CASES_YES, CASES_SPENT };

struct case_answers {
    enum case_answer answer[EXECUTION_KINDS][EXECUTION_ORDERS]; /* all but EXECUTION_RU */
    uint32_t split[EXECUTION_KINDS][EXECUTION_ORDERS];          /* pairs of which both cases were tried */
};

/* At most CASES_TXNS transactions. */
void version_cases_find(const struct small_history *history, struct case_answers *answers);

/* A committed read of another transaction's version, or of the initial state. */
struct case_read {
    int txn, op, key;
    int writer; /* -1: the initial state */
};

/* The facts that the third oracle takes from a history. */
struct case_facts {
    bool possible;      /* each read by itself is one of a committed, final version */
    bool inner;         /* Int */
    uint32_t committed; /* bits of transactions, here and below */
    uint32_t writers[SMALL_KEYS];
    uint32_t first[CASES_TXNS]; /* those that precede each one: by reads from them, and in the lists that reads show */
    int read_count;
    struct case_read reads[CASES_TXNS * SMALL_OPS];
};

void version_cases_read(const struct small_history *history, struct case_facts *facts);

/* Whether the level allows the execution in which the versions of each key follow `place`, one number a transaction. */
bool version_cases_allow(const struct small_history *history, enum execution_kind kind, enum execution_order order,
                         const int place[CASES_TXNS]);

#endif
