/*
 * Transactions of the workload sql that are steered toward dangerous structures, in the place of those whose statements
 * are drawn one by one.
 *
 * Each table has a gap: a range of one of its number columns, which follows from its key, so that all clients know it.
 * The transactions read, change, delete and insert rows in the gaps of two tables, those of the first two slots of
 * keys.
 *
 *   skew      selects the gap of one table, and changes the rows in that of the other: two such transactions in
 *             opposite directions have two rw edges in a row
 *   crossing  selects the gap of one table, and inserts a row into that of the other: the same, by predicates
 *   phantom   selects the gap of a table, and inserts a row into it
 *   again     deletes the rows in the gap of a table, inserts one into it, and selects the gap of the other
 *
 * Private to generator/. Time: constant.
 */
#ifndef RIG_GENERATOR_SQL_SHAPES_H
#define RIG_GENERATOR_SQL_SHAPES_H

#include "generator/workload.h"

enum { RIG_SQL_SHAPE_STATEMENTS = 3 };

/* Writes a transaction of such a form; returns the number of operations, at most RIG_SQL_OPS_A_STATEMENT for each of
 * RIG_SQL_SHAPE_STATEMENTS. */
uint32_t rig_sql_shape_draw(struct rig_generator *generator, struct rig_op *ops);

#endif
