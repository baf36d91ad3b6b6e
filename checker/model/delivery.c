#include "checker/model/delivery.h"

#include <stddef.h>
#include <string.h>

#include "checker/model/anomaly.h"

#define A(id) RIG_ANOMALY_BIT(RIG_ANOMALY_##id)

static const struct {
    const char *name;
    rig_anomaly_set forbids;
} promises[] = {
    {"at-least-once", A(LOST_ELEMENT) | A(PHANTOM_ELEMENT)},
    {"at-most-once", A(DUPLICATED_ELEMENT) | A(PHANTOM_ELEMENT)},
    {"exactly-once", A(LOST_ELEMENT) | A(DUPLICATED_ELEMENT) | A(PHANTOM_ELEMENT)},
};

bool rig_delivery_promise_find(const char *name, rig_anomaly_set *anomalies, const char **proper)
{
    for (size_t i = 0; i < sizeof promises / sizeof promises[0]; i++) {
        if (strcmp(promises[i].name, name) != 0)
            continue;
        *anomalies = promises[i].forbids;
        *proper = promises[i].name;
        return true;
    }
    return false;
}
