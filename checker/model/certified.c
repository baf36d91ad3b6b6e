#include "checker/model/certified.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct rig_discrepancy_info rig_discrepancy_infos[RIG_DISCREPANCY_COUNT] = {
#define RIG_DISCREPANCY_ROW(id, name, definition) {name, definition},
    RIG_DISCREPANCY_TABLE(RIG_DISCREPANCY_ROW)
#undef RIG_DISCREPANCY_ROW
};

bool rig_discrepancy_is_name(const char *name)
{
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        if (strcmp(rig_discrepancy_infos[kind].name, name) == 0)
            return true;
    }
    return false;
}

void rig_certificate_print_place(uint64_t place, uint32_t timeline, char text[static 64])
{
    if (timeline > 0)
        (void)snprintf(text, 64, "%" PRIX32 "/%" PRIX32 " on timeline %" PRIu32, (uint32_t)(place >> 32),
                       (uint32_t)place, timeline);
    else
        (void)snprintf(text, 64, "%" PRIu64, place);
}

void rig_certificate_place(const struct rig_certificate *certificate, uint32_t commit, char text[static 64])
{
    rig_certificate_print_place(certificate->commits.at[commit].place, certificate->commits.at[commit].timeline, text);
}
