#include "report/witness_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rig_witness_file_name(enum rig_anomaly anomaly, uint32_t number, const char *suffix,
                           char name[RIG_WITNESS_FILE_BYTES])
{
    (void)snprintf(name, RIG_WITNESS_FILE_BYTES, "%s-%" PRIu32 ".%s", rig_anomaly_info(anomaly)->name, number, suffix);
}

bool rig_witness_file_is(const char *name)
{
    static const char *const endings[] = {".txt", ".svg", ".dot", ".jsonl"};
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const char *prefix = rig_anomaly_info((enum rig_anomaly)anomaly)->name;
        const size_t length = strlen(prefix);
        if (strncmp(name, prefix, length) != 0 || name[length] != '-')
            continue;
        const char *rest = name + length + 1;
        const size_t digits = strspn(rest, "0123456789");
        for (size_t i = 0; digits > 0 && i < sizeof endings / sizeof endings[0]; i++) {
            if (strcmp(rest + digits, endings[i]) == 0)
                return true;
        }
    }
    return false;
}
