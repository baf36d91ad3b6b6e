/*
 * Refutes levels of objects: some operations have no order, which a complete search shows.
 *
 * The witness names transactions, and the others are left out. That is sound, for an order of all operations would
 * leave an order of these, if each one that is left out (and did not fail)
 * - only observes: a read, or a take that found nothing; or
 * - is on an object of which no operation is named; or
 * - adds or takes values of a queue or a stack which no named operation adds or takes: without all operations on some
 *   values it stays a queue, or a stack; or
 * - leaves a value of a register or a lock which no named operation observes; or
 * - in real time, comes after the operations that the refutation needs: those that ended before the first of these
 *   began. The other named ones may have taken effect, and need not.
 *
 * Then the operations have no order at all (object_order_search.h), up to MOST_STEPS and MOST_WORDS; beyond, the answer
 * is RIG_E_LIMIT.
 */
#ifndef RIG_CHECKER_PROVE_OBJECT_ORDERS_H
#define RIG_CHECKER_PROVE_OBJECT_ORDERS_H

#include "checker/prove/facts.h"
#include "checker/prove/proved_levels.h"

/* `txns`: the named ones (ids); `levels`: bits. RIG_OK: they refute each of the levels. RIG_E_INPUT: they do not.
 * RIG_E_LIMIT: the search is too large. */
enum rig_rc rig_no_order(const struct rig_facts *facts, uint64_t levels, const uint32_t *txns, size_t count,
                         struct rig_err *err);

#endif
