/*
 * The events of a nemesis in a history: each injection of a fault has four steps, between the transactions.
 *
 * The checker does not look at them. They take positions like other events; their times are those of the history.
 */
#ifndef RIG_HISTORY_MODEL_FAULT_EVENT_H
#define RIG_HISTORY_MODEL_FAULT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* X(name, in files) */
#define RIG_FAULT_STEP_TABLE(X)                                                                                        \
    X(RIG_FAULT_INJECT, "inject")     /* it is about to be injected */                                                 \
    X(RIG_FAULT_INJECTED, "injected") /* it took effect */                                                             \
    X(RIG_FAULT_HEAL, "heal")         /* it is about to be healed */                                                   \
    X(RIG_FAULT_HEALED, "healed")

enum rig_fault_step {
#define RIG_FAULT_STEP_ENUM(name, text) name,
    RIG_FAULT_STEP_TABLE(RIG_FAULT_STEP_ENUM)
#undef RIG_FAULT_STEP_ENUM
        RIG_FAULT_STEP_COUNT
};

struct rig_fault_event {
    int64_t time_ns; /* RIG_NO_TIME: none */
    uint32_t position;
    uint32_t injection;      /* from 1; the four steps of one injection share it */
    uint8_t step;            /* enum rig_fault_step */
    bool failed;             /* the step failed: `text` says why */
    const char *fault;       /* "kill" */
    const char *targets;     /* "pg-1, pg-2"; empty: no node */
    const char *text;        /* the evidence so far, or the error */
    uint64_t ok, fail, info; /* transactions that completed, of RIG_FAULT_HEAL since RIG_FAULT_INJECTED, of
                                RIG_FAULT_HEALED since RIG_FAULT_INJECT */
};

/* Start of the text of a failed RIG_FAULT_INJECTED if the fault was withdrawn because the load ended or another
 * fault prevented its effect. This is not a failure of the run. */
#define RIG_FAULT_WITHDRAWN "withdrawn: "

/*
 * A phase of the load has the four steps of a fault of this name that has no effect on any node: the first two when it
 * begins, the others when it ends. Its targets are its name in the plan, and its number is far above those of faults.
 */
#define RIG_PHASE_FAULT          "phase"
#define RIG_PHASE_INJECTION(nth) (UINT32_MAX - (uint32_t)(nth))

bool rig_fault_event_is_phase(const struct rig_fault_event *event);

RIG_VEC(struct rig_fault_event, rig_fault_event_vec)

/* Adds copies, with their texts in the arena. False when memory runs out. */
bool rig_fault_event_keep_all(struct rig_fault_event_vec *events, struct rig_arena *arena,
                              const struct rig_fault_event *from, size_t count);
/* Copies in the arena, or NULL. */
const struct rig_fault_event *rig_fault_events_copy(struct rig_arena *arena, const struct rig_fault_event *from,
                                                    size_t count);
/* The step's name in files, and the step of a name; false for an unknown name. */
const char *rig_fault_step_name(enum rig_fault_step step);
bool rig_fault_step_find(const char *name, size_t length, enum rig_fault_step *step);

#endif
