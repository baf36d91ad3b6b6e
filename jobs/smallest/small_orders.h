/*
 * The orders that a few transactions can have: of processes, of real time, or both.
 *
 * Each order of processes, and each interval order, of `count` labelled transactions is made once; the ones that order
 * fewer pairs come first. Time: exponential in the transactions.
 */
#ifndef RIG_JOBS_SMALLEST_SMALL_ORDERS_H
#define RIG_JOBS_SMALLEST_SMALL_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/model/anomaly.h"

enum { RIG_SMALL_TXNS = 4 };

struct rig_small_order {
    uint32_t process[RIG_SMALL_TXNS];
    uint32_t invoked[RIG_SMALL_TXNS], completed[RIG_SMALL_TXNS]; /* positions */
    bool has_invocations;                                        /* else there is no real time */
    uint16_t before; /* bit RIG_SMALL_TXNS * a + b: a comes before b in the process or in real time */
};

RIG_VEC(struct rig_small_order, rig_small_orders)

/* PLAIN: all transactions overlap, each in a process of its own. PROCESS: completions only. REALTIME: in processes of
 * their own or, with `processes`, in all ways. False when memory runs out. */
bool rig_small_orders_find(uint32_t count, enum rig_along along, bool processes, struct rig_small_orders *orders);

#endif
