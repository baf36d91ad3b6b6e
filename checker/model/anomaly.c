#include "checker/model/anomaly.h"

#include <string.h>

#include "base/bug.h"

static const struct rig_anomaly_info table[RIG_ANOMALY_COUNT] = {
#define RIG_ANOMALY_ROW(id, name, cyclic, definition, source) {name, cyclic, definition, source},
    RIG_ANOMALY_TABLE(RIG_ANOMALY_ROW)
#undef RIG_ANOMALY_ROW
};

const struct rig_anomaly_info *rig_anomaly_info(enum rig_anomaly anomaly)
{
    RIG_REQUIRE((unsigned)anomaly < RIG_ANOMALY_COUNT);
    return &table[anomaly];
}

bool rig_anomaly_find(const char *name, enum rig_anomaly *anomaly)
{
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *anomaly = (enum rig_anomaly)i;
            return true;
        }
    }
    return false;
}
