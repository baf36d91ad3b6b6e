/*
 * The file shared by rig and the shim inside a node's processes; both map it, one a node.
 *
 * The shim (rig-shim.so, nemesis/shim/) is preloaded into the processes of a node. This file holds its orders for calls
 * of the C library that make files durable, that write them, and that read the clock, and its counts of affected calls.
 * As rig makes the file, zeroed, the shim does nothing.
 *
 * All members but the folder are atomic: rig writes the orders, every process of the node reads them and adds to the
 * counters. The folder is written before an order that needs it.
 */
#ifndef RIG_NEMESIS_SHIM_CONTROL_H
#define RIG_NEMESIS_SHIM_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable that names the file. */
#define RIG_SHIM_VARIABLE "RIG_SHIM_CONTROL"
#define RIG_SHIM_MAGIC    UINT64_C(0x31306d6968736772)

enum { RIG_SHIM_FOLDER_BYTES = 1024 };

/* The effect on fsync and fdatasync. */
enum rig_shim_sync {
    RIG_SHIM_SYNC_REAL,
    RIG_SHIM_SYNC_SLOW, /* it happens, after a delay */
    RIG_SHIM_SYNC_FAIL, /* EIO */
    RIG_SHIM_SYNC_LIE,  /* success, without any effect */
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
    char folder[RIG_SHIM_FOLDER_BYTES]; /* absolute, without links: only files below it are affected */

    /* orders */
    _Atomic uint32_t sync;  /* enum rig_shim_sync */
    _Atomic uint32_t full;  /* 1: no file grows: ENOSPC */
    _Atomic uint64_t share; /* in 2^-32: the share of affected syncs */
    _Atomic int64_t delay_ns;
    _Atomic uint32_t clock; /* 0: real; else 1 + which of `clocks` holds */
    struct rig_shim_clock clocks[2];

    /* counts */
    _Atomic uint64_t syncs;   /* slow, failed, or lied about */
    _Atomic uint64_t grows;   /* writes that were refused */
    _Atomic uint64_t clocked; /* wrong readings of the clock */
};

#endif
