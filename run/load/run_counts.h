/*
 * Counters with one writer, their client, that the monitor reads while they grow.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_COUNTS_H
#define RIG_RUN_LOAD_RUN_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

/* A client's transactions, closing and final reads included. */
struct rig_run_counts {
    _Atomic uint64_t invoked;
    _Atomic uint64_t ok, fail, info;
    _Atomic uint64_t refused;       /* of `fail`: the session was kept */
    _Atomic uint64_t failed_writes; /* transactions that write, of fail and info */
};

static inline void rig_run_count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline uint64_t rig_run_read(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
