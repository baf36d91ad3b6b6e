/*
 * Promises of delivery, which queues without order make instead of isolation: each message is given at least once, at
 * most once, or exactly once. They are asked for where levels are, and mean that some anomalies do not occur. They say
 * nothing of the order of messages.
 */
#ifndef RIG_CHECKER_MODEL_DELIVERY_H
#define RIG_CHECKER_MODEL_DELIVERY_H

#include <stdbool.h>

#include "checker/model/anomaly.h"

/* The anomalies (bits) that the promise of that name rules out, and its name, which is static. False: there is none. */
bool rig_delivery_promise_find(const char *name, rig_anomaly_set *anomalies, const char **proper);

#endif
