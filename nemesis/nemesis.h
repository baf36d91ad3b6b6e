/*
 * The nemesis: one thread that injects the plan's faults while the load goes on, and heals them.
 *
 * rig_nemesis_start() when the cluster is up, rig_nemesis_begin() when the load starts, rig_nemesis_heal_all() when it
 * is over, rig_nemesis_free() when the cluster is down: servers that a fault started may be tied to the thread's life.
 *
 * A fault that the end of the load, or another fault, kept from taking effect is withdrawn: it is healed, and the run
 * goes on. Any other fault without effect, and one that cannot be healed, fail the run: everything is healed, and
 * rig_nemesis_heal_all() gives the error. With `on-failure: continue` in the entry the failure is only reported. When
 * no node fits a target at the moment (a primary while there is none), the nemesis tries again for a while. As soon as
 * the load is to end, it heals everything without being asked.
 *
 * Time: beside the faults' own work the thread wakes 20 times a second. Random choices come from the run's seed in
 * streams of their own.
 */
#ifndef RIG_NEMESIS_NEMESIS_H
#define RIG_NEMESIS_NEMESIS_H

#include "nemesis/faults.h"

struct rig_nemesis;
struct rig_schedule;

enum rig_nemesis_step {
    RIG_NEMESIS_INJECT,   /* a fault is about to be injected */
    RIG_NEMESIS_INJECTED, /* it took effect, or failed to */
    RIG_NEMESIS_HEAL,     /* it is about to be healed */
    RIG_NEMESIS_HEALED,   /* it is healed, or could not be */
};

/* One step of one injection; borrowed for the call. */
enum { RIG_NEMESIS_UNDER_WAY_MOST = 64 }; /* injections together */

struct rig_nemesis_event {
    enum rig_nemesis_step step;
    uint64_t injection; /* from 1 */
    uint32_t slot;      /* below RIG_NEMESIS_UNDER_WAY_MOST: no other injection has it until this one is healed */
    const char *fault;
    const char *targets;  /* "pg-1, pg-2" */
    const char *evidence; /* so far; empty before the effect was seen */
    const char *error;    /* NULL: no error */
    bool withdrawn;       /* the error is no failure: another cause kept the fault from showing an effect */
    int64_t at_ns;        /* rig_clock_now_ns() */
};

struct rig_nemesis_config {
    const struct rig_nemesis_plan *plan;
    const struct rig_core *core;
    const struct rig_cluster_ops *cluster; /* NULL: none */
    void *run;                             /* the driver's */
    const char *run_name;                  /* on the servers */
    bool started;                          /* rig started the cluster */
    uint64_t seed;
    struct rig_schedule *schedule;       /* NULL: the plan's own */
    const struct rig_fault_setup *setup; /* of this plan */
    struct rig_journal *journal;         /* of this rig */
    void *context;
    /* From the nemesis's thread. */
    void (*event)(void *context, const struct rig_nemesis_event *event);
    /* True once the load is to end. */
    bool (*is_over)(void *context);
    /* A fault failed: the run is to end. */
    void (*failed)(void *context, const struct rig_err *err);
};

/* Borrows the config's pointers for its life. */
enum rig_rc rig_nemesis_start(const struct rig_nemesis_config *config, struct rig_nemesis **nemesis,
                              struct rig_err *err);
/* The load starts now: times of the schedule count from here. */
void rig_nemesis_begin(struct rig_nemesis *nemesis, int64_t start_ns);
/*
 * Starts no further fault; heals those in effect, and with `recover` starts all nodes and waits until they are healthy,
 * bounded by the plan's `recover`. Returns the first error of the nemesis, whenever it occurred. Safe to repeat.
 */
enum rig_rc rig_nemesis_heal_all(struct rig_nemesis *nemesis, bool recover, struct rig_err *err);
/* Heals the faults in effect and ends the thread. Takes NULL. */
void rig_nemesis_free(struct rig_nemesis *nemesis);

/* The fault in effect, for the progress line ("kill pg-1"); empty when there is none. From any thread. */
void rig_nemesis_describe(struct rig_nemesis *nemesis, char *text, size_t size);

#endif
