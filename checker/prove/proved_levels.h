/*
 * The isolation levels as rig-verify defines them: the cycles of transactions that each forbids, and which levels
 * follow from which. Written from the sources alone, without the checker's tables.
 *
 * A read that found no row of its key, or misses an element of a set, is no read of an item but one by a predicate:
 * what appears there is a phantom, which PL-2.99 and PL-CS allow.
 *
 * A cycle joins distinct committed transactions by ww (wrote an earlier version than the next one), wr (wrote what the
 * next one read) and rw (read a version before that of the next one) edges. Each level above read uncommitted also
 * forbids reads of aborted, intermediate and impossible values.
 *
 * Sources: Adya, Liskov & O'Neil 2000 (PL-1, PL-2, PL-2.99, PL-3); Adya 1999, chapter 4 (PL-2L, PL-MSR, PL-2+, PL-FCV,
 * PL-CS, PL-3U, PL-SI); Bailis et al. 2014, 5.1.2 (monotonic atomic view); Cerone, Bernardi & Gotsman 2015, section 3
 * (read atomic, causal, update atomic, parallel snapshot isolation, prefix); Cerone & Gotsman 2018, section 4 (snapshot
 * isolation: no cycle without two adjacent rw edges); Daudjee & Salem 2004, 2006 (session and strong forms: the orders
 * of processes and of real time count as what a transaction sees before its first operation); Herlihy & Wing 1990 and
 * Papadimitriou 1979 (strict and view serializability).
 */
#ifndef RIG_CHECKER_PROVE_PROVED_LEVELS_H
#define RIG_CHECKER_PROVE_PROVED_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cycles that are forbidden. Cycles without rw edges are among them, except for WRITES. */
enum rig_forbids {
    RIG_FORBIDS_WRITES,          /* ww edges only */
    RIG_FORBIDS_FLOW,            /* no rw edge */
    RIG_FORBIDS_CURSOR,          /* one rw and one ww edge of one key, whose row was read */
    RIG_FORBIDS_ATOMIC_LATER,    /* one wr edge, and one rw edge out of a later operation of the reader */
    RIG_FORBIDS_MONOTONIC_VIEW,  /* one rw edge, out of an operation after the one that the cycle enters */
    RIG_FORBIDS_MONOTONIC_READS, /* rw edges, each like that or out of that operation: one snapshot an operation */
    RIG_FORBIDS_SINGLE,          /* one rw edge */
    RIG_FORBIDS_ATOMIC,          /* one wr and one rw edge */
    RIG_FORBIDS_CAUSAL,          /* wr edges and one rw edge */
    RIG_FORBIDS_UPDATE_ATOMIC,   /* one wr or ww edge and one rw edge */
    RIG_FORBIDS_PREFIX,          /* rw edges, each after a wr edge */
    RIG_FORBIDS_SNAPSHOT,        /* rw edges, no two of which are adjacent */
    RIG_FORBIDS_UPDATES,         /* at most one rw edge out of a transaction that writes nothing */
    RIG_FORBIDS_ITEMS,           /* any edges, but no rw edge out of a read that found no row */
    RIG_FORBIDS_ANY,             /* any edges */
};

static inline bool rig_forbids_items_alone(enum rig_forbids forbids)
{
    return forbids == RIG_FORBIDS_CURSOR || forbids == RIG_FORBIDS_ITEMS;
}

/* The order that also joins transactions; real time includes that of processes. */
enum rig_keeps { RIG_KEEPS_NOTHING, RIG_KEEPS_PROCESSES, RIG_KEEPS_TIME };

enum { RIG_PROVED_LEVELS = 50 };

struct rig_proved_level {
    const char *name;
    enum rig_forbids forbids;
    enum rig_keeps keeps;
    bool internal;        /* reads agree with the transaction's own earlier reads and writes */
    const char *below[5]; /* the levels that follow directly */
};

/* Weaker levels come before stronger ones. */
extern const struct rig_proved_level rig_proved_levels[RIG_PROVED_LEVELS];

/* The index of a level, or -1. */
int rig_proved_level_find(const char *name, size_t length);
/* Bits: the levels of `set` and all that follow from them; or all from which one of them follows. */
uint64_t rig_proved_levels_below(uint64_t set);
uint64_t rig_proved_levels_above(uint64_t set);
/* Bits: the levels that compare the operations of a transaction. */
uint64_t rig_proved_levels_by_operations(void);

#endif
