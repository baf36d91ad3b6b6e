/*
 * Each level by its own definition: the cycles that it forbids (docs/checker/levels.md).
 *
 * The nodes of a cycle are distinct committed transactions; its edges are ww, wr and rw (of any two versions of a key
 * in their order, adjacent or not), and process or real-time order where the level respects it. Every level above read
 * uncommitted also forbids what one read alone can show (G1a, G1b, ...), and some forbid `internal`.
 *
 *   form                 forbids cycles with
 *   WRITES               ww edges only
 *   FLOW                 no rw edge; so does each form below
 *   CURSOR               one rw and one ww edge of the same key (G-cursor)
 *   MONOTONIC_ATOMIC     one rw and one wr edge, where the transaction that misses the write had read another write of
 *                        the same writer before
 *   MONOTONIC_VIEW       one rw edge out of an operation, and into the same transaction a ww or wr edge that leads to
 *                        an earlier operation of it (G-monotonic)
 *   MONOTONIC_SNAPSHOT   any number of rw edges, each directly after a ww or wr edge into the same operation or an
 *                        earlier one of the same transaction (G-MSR). The same: one operation reads one snapshot
 *   CONSISTENT           exactly one rw edge (G-single)
 *   READ_ATOMIC          one rw edge and one wr edge
 *   UPDATE_ATOMIC        one rw edge and one wr or ww edge
 *   CAUSAL               one rw edge and otherwise wr edges
 *   PREFIX               rw edges each directly after a wr edge
 *   SNAPSHOT             rw edges no two of which are adjacent
 *   UPDATES              at most one rw edge out of a transaction that writes nothing (G-update)
 *   SERIAL               any edges
 *
 * Repeatable read (PL-2.99) and cursor stability are about items: they allow every cycle with an rw edge by a
 * predicate. A read of a key without a row is one, and so is the miss of an element of a set.
 *
 * Process and real-time edges count as what the reader sees: like wr edges, into all operations of a transaction.
 * CURSOR forbids them in cycles without rw edges only.
 */
#ifndef RIG_CHECKER_DECIDE_RULE_H
#define RIG_CHECKER_DECIDE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/model/anomaly.h"
#include "checker/model/level.h"
#include "checker/model/verdict.h"

enum rig_rule_form {
    RIG_RULE_WRITES,
    RIG_RULE_FLOW,
    RIG_RULE_CURSOR,
    RIG_RULE_MONOTONIC_ATOMIC,
    RIG_RULE_MONOTONIC_VIEW,
    RIG_RULE_MONOTONIC_SNAPSHOT,
    RIG_RULE_CONSISTENT,
    RIG_RULE_READ_ATOMIC,
    RIG_RULE_UPDATE_ATOMIC,
    RIG_RULE_CAUSAL,
    RIG_RULE_PREFIX,
    RIG_RULE_SNAPSHOT,
    RIG_RULE_UPDATES,
    RIG_RULE_SERIAL,
    RIG_RULE_COUNT
};

struct rig_rule {
    enum rig_rule_form form;
    enum rig_along along; /* the order that is respected, too; real time includes process order */
    bool internal;        /* forbids `internal` */
    bool items; /* allows each cycle with an rw edge by a predicate: rig_rule_forbids() is not to be asked then */
};

/* The rule of a level. Levels of equal rules hold of the same histories (unique values, no predicates). */
const struct rig_rule *rig_level_rule(enum rig_level level);

/* The levels of items, as bits. */
uint64_t rig_levels_of_items(void);
/* Bits: the levels that count no rw edge by a predicate: those that count no rw edge, and repeatable read. */
uint64_t rig_levels_without_predicates(void);
/* Bits: the levels with one state a transaction that compare few transactions or count one rw edge: read atomic, update
 * atomic, causal, prefix, consistent view and parallel snapshot isolation, in all orders. */
uint64_t rig_levels_by_states(void);
/* Bits: the levels whose rules compare the operations of a transaction. */
uint64_t rig_levels_by_operations(void);

/* Which cycles the rule forbids, after "a cycle" or "cycles": " with at most one rw edge"; nothing for any cycles. */
const char *rig_rule_cycles(const struct rig_rule *rule);

/*
 * Whether the rule forbids this cycle: arcs[i].to is arcs[i + 1].from, and the last one's `to` is arcs[0].from.
 * `writes_nothing`, per arc: its `from` writes nothing; only UPDATES asks for it.
 */
bool rig_rule_forbids(const struct rig_rule *rule, const struct rig_arc *arcs, uint32_t count,
                      const bool *writes_nothing);

#endif
