/*
 * Synthetic histories: those of clients of the simulated database, made at full speed on one thread.
 *
 * A history is a pure function of its settings, to the byte. Shapes:
 *   simulated  sessions of the simulated database, as the settings of database and workload say
 *   blind      the same, but every read shows the empty list: all appends are unread
 *   ring-wr, ring-rw, ring-mixed   transactions that all overlap in real time, each with an edge of that kind (mixed:
 *              by turns) to the next, the last one to the first: one cycle of all of them, and no shorter one
 *
 * The load of the first two has the shape that `workload.shape` says: random keys, or an application.
 *
 * Clients share one stream of questions, dealt out as they become free: the same keys are in use by all of them at any
 * time, and values of a key count from 1. With `ranks.count` the same transactions are in a record for each rank
 * (synthetic_records.h). The reads that `workload.final-reads` adds to the stream are not counted in
 * `workload.transactions`. Times are virtual, no two the same.
 *
 * Time: about 0.5 us a transaction (bench/RESULTS.md), whatever the lengths of lists and the number of clients. Space:
 * that of the sessions, the keys in use and the keys that wait for their closing read; with `workload.final-reads`
 * `all`, of every key ever used. Rings: 32 bytes a transaction, all of them being open. Threads: one.
 */
#ifndef RIG_GENERATOR_SYNTHETIC_SYNTHETIC_H
#define RIG_GENERATOR_SYNTHETIC_SYNTHETIC_H

#include "drivers/sim/engine.h"
#include "generator/generator.h"
#include "history/merge/rank_facts.h"
#include "history/source/load.h"

/* X(id, name, how the history is made) */
#define RIG_SYNTHETIC_SHAPE_TABLE(X)                                                                                   \
    X(SIMULATED, "simulated", "clients of the simulated database")                                                     \
    X(BLIND, "blind", "the same, but every read shows the empty list")                                                 \
    X(RING_WR, "ring-wr", "one cycle of all transactions, in which each reads the write of the one before")            \
    X(RING_RW, "ring-rw", "one cycle of all transactions, in which each misses the write of the next one")             \
    X(RING_MIXED, "ring-mixed", "one cycle with both kinds in turn")

enum rig_synthetic_shape {
#define RIG_SYNTHETIC_SHAPE_ENUM(id, name, help) RIG_SHAPE_##id,
    RIG_SYNTHETIC_SHAPE_TABLE(RIG_SYNTHETIC_SHAPE_ENUM)
#undef RIG_SYNTHETIC_SHAPE_ENUM
};

enum { RIG_SYNTHETIC_NAME_BYTES = 64 };

struct rig_synthetic {
    struct rig_sim_options sim;
    struct rig_generator_options workload;
    int64_t shape; /* enum rig_synthetic_shape */
    int64_t clients;
    int64_t seed;
    int64_t certificate; /* enum rig_certificate_mode */
    int64_t ranks;
    int64_t clock_error_ns; /* of ranks */
    /* The names of given settings that have no effect with some others; "" when none was given
     * (rig_synthetic_check()). */
    char simulation_setting[RIG_SYNTHETIC_NAME_BYTES];
    bool has_bug_rate, has_patience, has_clock_error;
    uint8_t run[RIG_RANK_RUN_BYTES]; /* in the records of ranks: other settings are another run */
};

/* Every setting at its default: 100,000 transactions of 20 clients, seed 1, else those of a plan with the driver `sim`.
 */
enum rig_rc rig_synthetic_defaults(struct rig_synthetic *synthetic, struct rig_err *err);
/* One setting as `name=value`: workload.*, database.*, clients.count, seed, as in a plan, shape and ranks.*.
 * RIG_E_PLAN. */
enum rig_rc rig_synthetic_set(struct rig_synthetic *synthetic, const char *assignment, struct rig_err *err);
/* RIG_E_PLAN for settings that contradict each other, or have no effect together. The functions below check too. */
enum rig_rc rig_synthetic_check(const struct rig_synthetic *synthetic, struct rig_err *err);

struct rig_synthetic_counts {
    uint64_t transactions; /* complete, those that only read keys once more included */
    uint64_t operations;   /* of these */
    uint64_t ok, fail, info;
    uint64_t keys;
    uint64_t bytes; /* written; until the end, in blocks of about 1 MiB */
};

/* Called now and then with the progress; NULL: not called. */
struct rig_synthetic_watch {
    void (*progress)(void *context, const struct rig_synthetic_counts *counts);
    void *context;
};

/*
 * The file of a rank: `path`, or with several ranks `path` with the rank's number before its suffix `.rig`, or at its
 * end. RIG_E_USAGE without a message when it takes more than `size` bytes.
 */
enum rig_rc rig_synthetic_record_path(const struct rig_synthetic *synthetic, const char *path, uint32_t rank,
                                      char *text, size_t size);

/*
 * Writes the history as it is made, in bounded memory, to `path` ("-" is standard output), or to a file a rank. Each
 * file appears whole or not at all. `counts` is written on success. RIG_E_IO, RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_synthetic_write(const struct rig_synthetic *synthetic, const char *path,
                                const struct rig_save_options *save, const struct rig_synthetic_watch *watch,
                                struct rig_synthetic_counts *counts, struct rig_err *err);

#endif
