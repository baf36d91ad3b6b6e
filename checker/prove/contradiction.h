/*
 * Replays the witness of a proof for a refuted level: an impossible read, a cycle, or a proof by cases. Each statement
 * is shown by the raw history; what a database could explain in any way is not accepted.
 *
 * An order of two versions is accepted for these reasons, which hold in each execution at read committed or above:
 * committed reads of a list are prefixes of one order, so what one misses comes later; the initial state comes first; a
 * transaction that reads a version and writes the key comes after it (else its version would precede what it read); and
 * in a proof by cases, what is supposed, or what the opposite supposition refuted. An edge called rw may be ww in
 * truth, if the reader's own version comes before the other one: the cycle is forbidden by the same levels then.
 *
 * Steps over rows are in row_contradiction.h. Their cases stand only at levels whose transactions have a snapshot, or
 * an order.
 *
 * Below read committed, only acknowledged transactions and their reads count, of lists whose reads agree.
 */
#ifndef RIG_CHECKER_PROVE_CONTRADICTION_H
#define RIG_CHECKER_PROVE_CONTRADICTION_H

#include "base/vec.h"
#include "checker/prove/facts.h"
#include "checker/prove/proved_levels.h"

/* The first words of the lines of a witness. */
#define RIG_WITNESS_LINES(X)                                                                                           \
    X(WW, "ww")                             /* T op U op: T wrote an earlier version than U */                         \
    X(WR, "wr")                             /* T op U op: T wrote what U read */                                       \
    X(RW, "rw")                             /* T op U op: T read a version before that of U */                         \
    X(PROCESS, "process")                   /* T U: T ended before U began, in one process */                          \
    X(REALTIME, "realtime")                 /* T U: T ended before U began */                                          \
    X(CYCLE, "cycle")                       /* the steps since the last line of this kind are a cycle */               \
    X(READS, "reads")                       /* T U: opens a case, in which T reads rows before U commits */            \
    X(COMMITS, "commits")                   /* T U: opens a case, in which T commits before U reads rows */            \
    X(SUPPOSE, "suppose")                   /* T U: opens a case, in which versions of T come before those of U */     \
    X(G1A, "G1a")                           /* T op U op: T read what U wrote, which failed */                         \
    X(G1B, "G1b")                           /* T op U op: T read what U wrote, and then wrote over */                  \
    X(GARBAGE, "garbage-read")              /* T op U op: T read what none wrote; registers: U read another one */     \
    X(DUPLICATE, "duplicate-elements")      /* T op U op: T read an element twice (U op: ignored) */                   \
    X(INCOMPATIBLE, "incompatible-order")   /* T op U op: two reads of a list contradict each other */                 \
    X(FRACTURED, "fractured-append")        /* T op U op: T read a later append of U without this one */               \
    X(FUTURE, "future-read")                /* T op U op: T read what it writes later (U op: ignored) */               \
    X(INTERNAL, "internal")                 /* T op U op: the read disagrees with T's own operations */                \
    X(MISMATCH, "predicate-mismatch")       /* T op U op, of rows: what U wrote does not meet T's condition */         \
    X(READ_MISS, "predicate-read-miss")     /* T op U op, of rows: misses U's row, which always met the condition */   \
    X(LOST_UPDATE, "lost-update")           /* T op U op: both read one version of a key, and both write it */         \
    X(IMPOSSIBLE_VALUE, "impossible-value") /* T op U op, of counters: no increments sum up to it (U op: ignored) */   \
    X(BOUNDS, "counter-bounds")     /* T op U op, of counters: less or more than its time allows (U op: ignored) */    \
    X(NEGATIVE, "negative-balance") /* T op U op, of accounts: below 0 (U op: ignored) */                              \
    X(TOTAL, "wrong-total")         /* T op U op, of accounts: another total than U read; U is T: as assumed */

enum rig_witness_kind {
#define RIG_WITNESS_ENUM(id, name) RIG_WITNESS_##id,
    RIG_WITNESS_LINES(RIG_WITNESS_ENUM)
#undef RIG_WITNESS_ENUM
        RIG_WITNESS_KINDS
};

extern const char *const rig_witness_kinds[RIG_WITNESS_KINDS];

/* Why one version comes before another one of a register. */
enum rig_reason {
    RIG_REASON_PLAIN,
    RIG_REASON_UPDATE,
    RIG_REASON_CASE,
    RIG_REASON_SEQUENTIAL, /* assumed: later transactions of a process meet no older version of a key */
    /* assumed: transactions that begin after another one ended meet no older version of a key */
    RIG_REASON_LINEARIZABLE,
};

/* The assumptions that a proof may make, as bits of their reasons. UPDATE is one below read committed only. */
#define RIG_ASSUMES(reason) (1U << (reason))

struct rig_witness_line {
    enum rig_witness_kind kind;
    uint32_t from, to;       /* transactions (ids) */
    uint32_t from_op, to_op; /* operations within them, from 0 */
    enum rig_reason reason;
    uint32_t reason_op; /* UPDATE: the operation of `to` that reads the earlier version */
    uint32_t left, met; /* assumed: the transactions that leave the earlier version, and meet the later one */
};

RIG_VEC(struct rig_witness_line, rig_witness_lines)

/* `levels`: bits; `assumed`: RIG_ASSUMES() of the assumptions that may be made. RIG_OK: the witness refutes them all.
 * RIG_E_INPUT: it does not. `facts` with rig_facts_witness(). */
enum rig_rc rig_contradict(const struct rig_facts *facts, uint64_t levels, unsigned assumed,
                           const struct rig_witness_lines *lines, struct rig_err *err);

#endif
