/*
 * Perturbed scheduling of a node's processes: brief stops, random priorities, few cores. The fault `stutter` is its
 * only user.
 *
 * A helper process does it, a fork of rig that makes system calls only: its steps are some hundred microseconds apart,
 * and it must act after rig was killed. The kernel then sends it SIGTERM (PR_SET_PDEATHSIG): it resumes what it
 * stopped, restores priorities and cores, and ends. rig finds the processes, writes each into the undo journal, and
 * offers it to the helper in a table in shared memory.
 *
 * A process is known to the helper by a pidfd and by its open /proc/<pid>/stat, both of which stay those of this
 * process when its number goes to another one. Scheduling calls take a number: the helper makes them only while the
 * pidfd shows that the process has not ended. Numbers are given out in turn, so none returns within the microseconds
 * between.
 *
 * Source of the priorities: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi & Nagarakatte 2010). Each
 * process gets a random priority, and a few change at random moments; a low priority keeps a process inside the window
 * of a race for as long as others run. RIG_STUTTER_PCT is their algorithm, one round after the other: n processes get
 * the priorities d to d + n - 1 in a random order, and at the i-th of d - 1 random change points, each one of k steps
 * of the round, the process that runs gets priority d - i. A round hits a race of depth d (d ordering constraints
 * between steps) with a chance of at least 1 / (n * k^(d-1)), their theorem 9, if the race lies in the round, the
 * processes share one processor, and nothing else delays them. A step is a length of time here, not an operation: the
 * bound is for races whose constraints are a step or more apart.
 *
 * Limits: RIG_STUTTER_MOST processes a fault, the others are left alone. Threads: one at a time.
 */
#ifndef RIG_NEMESIS_STUTTER_H
#define RIG_NEMESIS_STUTTER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/process.h"

enum { RIG_STUTTER_MOST = 400 }; /* two descriptors each */

enum rig_stutter_priorities { RIG_STUTTER_AUTO, RIG_STUTTER_FIFO, RIG_STUTTER_NICE, RIG_STUTTER_OFF, RIG_STUTTER_PCT };

enum { RIG_STUTTER_DEPTH_MOST = 10 };

struct rig_stutter_range {
    int64_t least_ns, most_ns;
};

/* The treatment of the processes. */
struct rig_stutter_orders {
    struct rig_stutter_range gap;           /* from one stop to the next, uniformly distributed */
    struct rig_stutter_range stop;          /* length of a stop, log-uniformly distributed */
    struct rig_stutter_range redraw;        /* from one new priority to the next, uniformly distributed */
    double share;                           /* of the processes, stopped at a time at most (but one); 0: no stops */
    bool running_only;                      /* only processes that run, or wait for a processor, are stopped */
    enum rig_stutter_priorities priorities; /* never AUTO */
    /* of PCT */
    uint32_t depth;   /* 1 to RIG_STUTTER_DEPTH_MOST */
    int64_t round_ns; /* at least one step */
    int64_t step_ns;
    uint64_t seed;
};

/* How a process is scheduled without the fault. */
struct rig_stutter_normal {
    cpu_set_t cpus;
    int policy, priority, nice;
};

/* FREE -> OFFERED (by rig) -> TAKEN or, when the process has ended, GONE (by the helper) -> LEFT (by rig) -> FREE */
enum rig_stutter_state { RIG_STUTTER_FREE, RIG_STUTTER_OFFERED, RIG_STUTTER_TAKEN, RIG_STUTTER_GONE, RIG_STUTTER_LEFT };

struct rig_stutter_slot {
    _Atomic uint32_t state; /* enum rig_stutter_state; the members below are rig's while it is FREE */
    struct rig_process process;
    struct rig_stutter_normal normal;
};

/* In memory that rig and the helper share. */
struct rig_stutter_table {
    struct rig_stutter_orders orders;
    cpu_set_t helper_cpus;     /* where the helper itself runs; empty: anywhere */
    _Atomic uint32_t used;     /* slots from 0 on that were ever used */
    _Atomic uint32_t changes;  /* of slots by rig: the helper then looks at them */
    _Atomic uint32_t end;      /* 1: restore everything and end */
    _Atomic uint32_t restored; /* 1: the helper has done so */
    _Atomic uint64_t stops;
    _Atomic uint64_t seen_stopped;  /* of the stops that were looked at: /proc showed the process stopped */
    _Atomic uint64_t held_ns;       /* total time for which processes were stopped */
    _Atomic uint64_t priorities;    /* priorities that were set */
    _Atomic uint64_t seen_set;      /* of those that were looked at: the kernel reported the new one */
    _Atomic uint64_t rounds;        /* of PCT */
    _Atomic uint64_t most_in_round; /* processes */
    _Atomic uint64_t changes_made;  /* at change points */
    struct rig_stutter_slot slots[RIG_STUTTER_MOST];
};

/* The helper's life; returns when it has restored everything. In a forked process: async-signal-safe calls only. */
void rig_stutter_help(struct rig_stutter_table *table);

/* Whether rig may give processes such priorities and take them back. */
bool rig_stutter_may(enum rig_stutter_priorities priorities);
/* The chance that a round of PCT hits a race of depth `depth`, at least. */
double rig_stutter_chance(uint64_t processes, int64_t steps, uint32_t depth);
/* FIFO where permitted, else NICE, else OFF. */
enum rig_stutter_priorities rig_stutter_best(void);

/* The present scheduling of a process; false: it has ended. */
bool rig_stutter_look(pid_t pid, struct rig_stutter_normal *normal);
/* Puts each thread of the process on these processors. False: it has ended. */
bool rig_stutter_pin(pid_t pid, const cpu_set_t *cpus);
/* Resumes the process and restores its scheduling; true when it is so, or has ended. */
bool rig_stutter_restore(const struct rig_process *process, const struct rig_stutter_normal *normal);

struct rig_stutter {
    struct rig_stutter_table *table; /* NULL: none */
    pid_t helper;
};

/* Starts the helper. The calling thread must outlive it: the kernel ends it with the thread. RIG_E_LIMIT. */
enum rig_rc rig_stutter_start(struct rig_stutter *stutter, const struct rig_stutter_orders *orders,
                              const cpu_set_t *helper_cpus, struct rig_err *err);
/* Offers a process; returns its slot, RIG_STUTTER_MOST when there is none. */
uint32_t rig_stutter_offer(struct rig_stutter *stutter, const struct rig_process *process,
                           const struct rig_stutter_normal *normal);
/* The process in this slot has ended. False: the helper has not looked at the offer yet; call again later. */
bool rig_stutter_leave(struct rig_stutter *stutter, uint32_t slot);
/* Whether the helper still runs. */
bool rig_stutter_lives(const struct rig_stutter *stutter);
/* Ends the helper, which restores everything; false: it had to be killed, or had ended before. The table stays. */
bool rig_stutter_end(struct rig_stutter *stutter);
/* Frees the table. Takes an ended or a zeroed one. */
void rig_stutter_done(struct rig_stutter *stutter);

#endif
