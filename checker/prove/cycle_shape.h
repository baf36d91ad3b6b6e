/*
 * Which levels forbid a cycle, by what its steps are (docs/checker/levels.md has the table).
 */
#ifndef RIG_CHECKER_PROVE_CYCLE_SHAPE_H
#define RIG_CHECKER_PROVE_CYCLE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The properties of a cycle that the levels distinguish. */
struct rig_cycle_shape {
    size_t count;
    uint32_t ww, wr, rw, process, realtime, silent; /* silent: rw steps out of transactions that write nothing */
    bool acknowledged;                              /* below read committed, too */
    bool versions; /* each wr step enters a read of the version that the step's transaction made */
    bool one_key;
    bool updates;      /* each rw step leaves a transaction that also writes the key of the step */
    bool by_predicate; /* an rw step out of a read that found no row */
    bool adjacent;     /* an rw step after an rw step */
    bool behind_wr;    /* each rw step is after a wr, process or real-time step */
    bool ascending;    /* each rw step leaves an operation after that which the step before, ww or wr, enters; or is
                        * after a process or real-time step, which comes before all operations */
    bool snapshots;    /* each rw step leaves that operation, or one after it */
};

/* The levels, as bits, that forbid such a cycle; with each level all stronger ones. */
uint64_t rig_cycle_forbidden(const struct rig_cycle_shape *shape);
/* The same of rows: levels that compare operations, keys or two transactions are left to those below them. */
uint64_t rig_cycle_forbidden_of_rows(const struct rig_cycle_shape *shape);

#endif
