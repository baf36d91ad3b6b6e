#include "checker/witness/case_outline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bug.h"

struct rig_case_place *rig_case_outline(const struct rig_cases *cases)
{
    struct rig_case_place *places = calloc((size_t)cases->line_count + 1, sizeof places[0]);
    uint32_t *items = calloc((size_t)cases->line_count + 1, sizeof items[0]); /* per depth: items so far */
    uint32_t *last = calloc((size_t)cases->line_count + 1, sizeof last[0]);   /* per depth: the last supposition */
    uint32_t depth = 0, within = UINT32_MAX;
    if (places == NULL || items == NULL || last == NULL) {
        free(places);
        places = NULL;
    }
    for (uint32_t i = 0; places != NULL && i < cases->line_count; i++) {
        struct rig_case_place *place = &places[i];
        *place = (struct rig_case_place){within, depth, 0, UINT32_MAX, UINT32_MAX};
        if (cases->lines[i].kind == RIG_CASE_SUPPOSE) {
            place->number = ++items[depth];
            last[depth++] = i;
            items[depth] = 0;
            within = i;
            continue;
        }
        if (items[depth] > 0) {
            place->number = ++items[depth];
            place->choice = last[depth];
            places[last[depth]].choice = i;
        }
        RIG_INVARIANT(depth > 0 || i + 1 == cases->line_count);
        if (depth > 0) {
            place->other = within;
            places[within].other = i;
            within = places[within].within;
            depth--;
        }
    }
    free(items);
    free(last);
    return places;
}

void rig_case_number(const struct rig_case_place *places, uint32_t line, struct rig_buf *text)
{
    const struct rig_case_place *place = &places[line];
    if (place->number == 0 && place->within == UINT32_MAX)
        return;
    if (place->within != UINT32_MAX)
        rig_case_number(places, place->within, text);
    if (place->number > 0)
        rig_buf_printf(text, "%s%" PRIu32, place->within != UINT32_MAX ? "." : "", place->number);
}
