/*
 * Synthetic histories: what clients of the simulated database would have seen, made at full speed on one thread.
 *
 * A history is a pure function of its settings. Shapes:
 *   simulated  sessions of the simulated database, as the settings of database and workload say
 *   blind      the same, but every read shows the empty list: all appends are unread
 *   ring-wr, ring-rw, ring-mixed   transactions that all overlap in real time, each with an edge of that kind (mixed:
 *              by turns) to the next, the last one to the first: one cycle of all of them, and no shorter one
 *
 * Time: about 1 us a transaction with short lists and few sessions. Space: that of the history and of the simulated
 * database. Threads: one.
 */
#ifndef RIG_BENCH_SYNTHETIC_H
#define RIG_BENCH_SYNTHETIC_H

#include "drivers/sim/engine.h"
#include "generator/generator.h"
#include "history/history.h"

enum synthetic_shape { SHAPE_SIMULATED, SHAPE_BLIND, SHAPE_RING_WR, SHAPE_RING_RW, SHAPE_RING_MIXED };

struct synthetic {
    struct rig_sim_options sim;
    struct rig_generator_options workload; /* `transactions` is how many there are, before final reads */
    int64_t shape;                         /* enum synthetic_shape */
    int64_t clients;
    int64_t seed;
};

/* Every setting at its default: 20 clients and seed 1, else those of a plan with the driver `sim`. */
enum rig_rc synthetic_defaults(struct synthetic *synthetic, struct rig_err *err);
/* One setting as `name=value`: workload.*, database.*, clients, seed, shape, as in a plan. RIG_E_PLAN. */
enum rig_rc synthetic_set(struct synthetic *synthetic, const char *assignment, struct rig_err *err);
/* Gives. RIG_E_PLAN for settings that contradict each other; RIG_E_LIMIT when memory runs out. */
enum rig_rc synthetic_make(const struct synthetic *synthetic, struct rig_history **history, struct rig_err *err);

#endif
