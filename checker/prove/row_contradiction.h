/*
 * The steps of witnesses over rows (contradiction.h), shown by the raw history.
 *
 *   wr  operation j of U shows a version that operation i of T wrote; or it misses a row that was there from the start,
 *       and that met its condition until operation i of T
 *   ww  operation j of U replaced a version that operation i of T wrote
 *   rw  operation i of T shows a version that operation j of U replaced; or it misses a row that meets its condition
 *       since operation j of U (by a predicate, unless it asked for the row's key)
 *
 * A case supposes that T reads before U commits, or after it; at a serial level that T comes before U. With `case`, rw
 * is such an order, and wr either is one, or follows from one: operation j of U misses a row, and saw a version that
 * meets its condition, so it saw that of operation i of T, the next one that does not.
 *
 * A read of all rows shows either each row, or a number and a sum of 0. Time of a step: linear in the history.
 */
#ifndef RIG_CHECKER_PROVE_ROW_CONTRADICTION_H
#define RIG_CHECKER_PROVE_ROW_CONTRADICTION_H

#include "checker/prove/contradiction.h"

/* Supposed or concluded: `before` comes before `after`. At a level with snapshots one of both is the reader: its reads
 * come before the other one's commit, or after it. */
struct rig_witness_order {
    uint32_t before, after, reader;
};

RIG_VEC(struct rig_witness_order, rig_witness_orders)

/* The proof that the step lacks, or NULL. *by_predicate is set where it is an rw step by a predicate. `serial`: at
 * levels whose transactions have an order. The transactions committed, and the operations are of one table. */
const char *rig_row_check_line(const struct rig_facts *facts, const struct rig_witness_orders *orders, bool serial,
                               const struct rig_witness_line *line, bool *by_predicate);

/* Whether the read of a wr step shows the version of its statement, and not only that it saw that one or a later
 * one. */
bool rig_row_line_shows(const struct rig_facts *facts, const struct rig_witness_line *line);

#endif
