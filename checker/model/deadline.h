/*
 * When a search must stop: it counts its steps, and looks at the clock once in RIG_DEADLINE_PATIENCE of them, and at
 * the first.
 */
#ifndef RIG_CHECKER_MODEL_DEADLINE_H
#define RIG_CHECKER_MODEL_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { RIG_DEADLINE_PATIENCE = 1 << 16 };

struct rig_deadline {
    int64_t at_ns;          /* rig_clock_now_ns(); INT64_MAX: none */
    uint32_t steps_to_look; /* 0 at first */
    bool spent;             /* the deadline came, and stays */
};

/* Counts the steps; whether the deadline has come. */
static inline bool rig_deadline_is_over(struct rig_deadline *deadline, uint32_t steps)
{
    deadline->steps_to_look -= steps < deadline->steps_to_look ? steps : deadline->steps_to_look;
    if (deadline->steps_to_look > 0 || deadline->spent)
        return deadline->spent;
    deadline->steps_to_look = RIG_DEADLINE_PATIENCE;
    deadline->spent = deadline->at_ns != INT64_MAX && rig_clock_now_ns() >= deadline->at_ns;
    return deadline->spent;
}

#endif
