/*
 * Rings: transactions that all overlap in real time, each with one edge to the next. Private to generator/synthetic/.
 *
 * Transaction i appends 1 to key i and reads a neighbour's key: that of the one before it, with its append (wr into i),
 * or that of the one after it, still empty (rw out of i). In a mixed ring the links from even transactions are wr, the
 * others rw; with an odd number of transactions the last two edges are both wr.
 */
#ifndef RIG_GENERATOR_SYNTHETIC_RING_H
#define RIG_GENERATOR_SYNTHETIC_RING_H

#include "generator/synthetic/synthetic_records.h"
#include "generator/synthetic/synthetic.h"

enum rig_rc rig_ring_write(const struct rig_synthetic *synthetic, struct rig_synthetic_records *records,
                           struct rig_synthetic_counts *counts, struct rig_err *err);

#endif
