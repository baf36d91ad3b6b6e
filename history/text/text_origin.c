#include "history/text/text_origin.h"

#include "base/bug.h"

const struct rig_text_place *rig_text_origin_find(const struct rig_text_origin *origin, size_t at)
{
    size_t low = 0, high = origin->count;
    RIG_REQUIRE(origin->count > 0 && origin->at[0].at == 0);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (origin->at[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return &origin->at[low];
}
