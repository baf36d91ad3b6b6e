/*
 * What rig and the shim inside a node's processes share: a file that both map, one a node.
 *
 * The shim (rig-shim.so, nemesis/shim/) is preloaded into the processes of a node. It is told by this file what to do
 * to calls of the C library that make files durable, that write them, and that read the clock, and counts here what it
 * did. As rig makes the file, zeroed, it does nothing.
 *
 * All members but the folder are atomic: rig writes the orders, every process of the node reads them and adds to the
 * counters. The folder is written before an order that needs it.
 */
#ifndef RIG_NEMESIS_SHIM_CONTROL_H
#define RIG_NEMESIS_SHIM_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment by which the shim finds the file. */
#define RIG_SHIM_VARIABLE "RIG_SHIM_CONTROL"
#define RIG_SHIM_MAGIC    UINT64_C(0x31306d6968736772)

enum { RIG_SHIM_FOLDER_BYTES = 1024 };

/* What becomes of fsync and fdatasync. */
enum rig_shim_sync {
    RIG_SHIM_SYNC_REAL,
    RIG_SHIM_SYNC_SLOW, /* it happens, some time later */
    RIG_SHIM_SYNC_FAIL, /* EIO */
    RIG_SHIM_SYNC_LIE,  /* success, and nothing happened */
};

/* The clock as the node sees it: real + offset_ns + (real - since_ns) * drift_ppm / 10^6. */
struct rig_shim_clock {
    _Atomic int64_t offset_ns;
    _Atomic int64_t since_ns; /* real time */
    _Atomic int64_t drift_ppm;
};

struct rig_shim_control {
    _Atomic uint64_t magic;
    _Atomic uint64_t attached;          /* programs that were started with the shim */
    char folder[RIG_SHIM_FOLDER_BYTES]; /* absolute, without links: files below it are meant, no others */

    /* orders */
    _Atomic uint32_t sync;  /* enum rig_shim_sync */
    _Atomic uint32_t full;  /* 1: no file grows: ENOSPC */
    _Atomic uint64_t share; /* of 2^32: which part of the syncs is meant */
    _Atomic int64_t delay_ns;
    _Atomic uint32_t clock; /* 0: real; else 1 + which of `clocks` holds */
    struct rig_shim_clock clocks[2];

    /* what was done */
    _Atomic uint64_t syncs;   /* slow, failed, or lied about */
    _Atomic uint64_t grows;   /* writes that were refused */
    _Atomic uint64_t clocked; /* readings of the clock that were not the real time */
};

#endif
