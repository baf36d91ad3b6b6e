/*
 * The file shared by rig and the shim inside a node's processes; both map it, one a node.
 *
 * The shim (rig-shim.so, nemesis/shim/) is preloaded into the processes of a node. This file holds its orders for calls
 * of the C library that make files durable, that write them, that read the clock, and that processes wait for or wake
 * each other with, and its counts of affected calls. As rig makes the file, zeroed, the shim does nothing.
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
#define RIG_SHIM_MAGIC    UINT64_C(0x33306d6968736772)

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

/* The kinds of calls that jitter delays, by their bit in rig_shim_jitter.calls. X(name, what) */
#define RIG_SHIM_CALL_TABLE(X)                                                                                         \
    X(SEMAPHORE, "semaphore") /* after sem_wait has returned, before sem_post */                                       \
    X(WAKE, "wake")           /* before and after kill(SIGURG), with which a process wakes another one */              \
    X(DISK, "disk")           /* after fsync, fdatasync and writes to a position of a file */                          \
    X(NETWORK, "network")     /* before send, after recv, after epoll_wait */                                          \
    X(CLOCK, "clock")         /* after readings of any clock */                                                        \
    X(COMMIT, "commit")       /* of PostgreSQL: a commit is visible to others, and has not released its locks */

enum rig_shim_call {
#define RIG_SHIM_CALL_ENUM(name, what) RIG_SHIM_CALL_##name,
    RIG_SHIM_CALL_TABLE(RIG_SHIM_CALL_ENUM)
#undef RIG_SHIM_CALL_ENUM
        RIG_SHIM_CALL_COUNT
};

enum { RIG_SHIM_DELAYS = 64 };

/*
 * Delays of calls. A call is delayed with the chance, by one of the delays at random: rig fills them with the quantiles
 * of the distribution, so that the shim needs no logarithm. `calls` is written last, and is 0 while the others change.
 */
struct rig_shim_jitter {
    _Atomic uint32_t calls;  /* bits 1 << enum rig_shim_call; 0: none */
    _Atomic uint64_t chance; /* in 2^-32 */
    _Atomic uint64_t seed;
    _Atomic int64_t delays_ns[RIG_SHIM_DELAYS];
};

/*
 * Commits of PostgreSQL, one of a node at a time, that wait at the place of RIG_SHIM_CALL_COMMIT until others have
 * committed. `until` is written last, and is 0 while the others change.
 */
struct rig_shim_holding {
    _Atomic uint32_t until;  /* commits of other processes; 0: no commit waits */
    _Atomic uint64_t chance; /* of a commit, in 2^-32 */
    _Atomic uint64_t seed;
    _Atomic int64_t longest_ns; /* that it waits */
    _Atomic int32_t holder;     /* the process that waits; 0: none */
};

/*
 * The account of changes that are not durable yet (`durable`): before a write or a truncation the shim saves the bytes
 * that it changes in a log of the file, and before a file is removed it keeps a link to it. A sync of the file or the
 * folder drops them. All of it is in the folder `<folder>.undo`: w-<file> is a log of records, d-<folder> has the
 * removed files of a folder by their names. <file> and <folder> are the inode and its time of birth, in hexadecimal.
 */
#define RIG_SHIM_UNDO_SUFFIX ".undo"
#define RIG_SHIM_UNDO_MAGIC  UINT64_C(0x6f646e756d696873)
enum { RIG_SHIM_UNDO_NAME_BYTES = 40, RIG_SHIM_UNDO_MOST = 16384 };

/* Then `length` bytes: the content from `offset` on before the change. */
struct rig_shim_undo {
    uint64_t magic;
    uint64_t offset;
    uint64_t size; /* of the file before the change */
    uint64_t length;
};

/* The name of a log ('w') or of a folder of removed files ('d'). */
static inline void rig_shim_undo_name(char kind, uint64_t inode, uint64_t born,
                                      char name[static RIG_SHIM_UNDO_NAME_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    char *at = name;
    *at++ = kind;
    for (int part = 0; part < 2; part++) {
        const uint64_t number = part == 0 ? inode : born;
        *at++ = '-';
        for (int shift = 60; shift >= 0; shift -= 4)
            *at++ = digits[number >> shift & 15];
    }
    *at = '\0';
}

/*
 * A commit that PostgreSQL holds when others can see it and it has not released its locks. rig makes ATTENDED of NONE
 * before a client sends a commit, so that the server's processes ask for the call, and ARMED of it for one commit.
 */
enum rig_shim_hold {
    RIG_SHIM_HOLD_NONE,
    RIG_SHIM_HOLD_ATTENDED,
    RIG_SHIM_HOLD_ARMED, /* the next commit waits */
    RIG_SHIM_HOLD_HELD,  /* written by the process whose commit waits, until rig writes another value */
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
    struct rig_shim_jitter jitter;
    struct rig_shim_holding holding;
    _Atomic uint32_t hold;    /* enum rig_shim_hold */
    _Atomic uint32_t durable; /* 1: keeps account of what is not durable */

    /* counts */
    _Atomic uint64_t syncs;                         /* slow, failed, or lied about */
    _Atomic uint64_t grows;                         /* writes that were refused */
    _Atomic uint64_t clocked;                       /* wrong readings of the clock */
    _Atomic uint64_t jittered[RIG_SHIM_CALL_COUNT]; /* delayed calls */
    _Atomic uint64_t commits;                       /* while `holding` has orders */
    _Atomic uint64_t held;                          /* commits that waited */
    _Atomic uint64_t passed;                        /* of them, until the others had committed */
    _Atomic uint64_t undos;                         /* changes of files that were saved */
    _Atomic uint64_t undo_bytes;                    /* of the logs; those that were dropped count too */
    _Atomic uint64_t undos_lost;                    /* that could not be saved */
};

#endif
