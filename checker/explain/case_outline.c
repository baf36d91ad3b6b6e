#include "checker/explain/case_outline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bug.h"
#include "checker/decide/solve/case_search.h"

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
        RIG_INVARIANT(depth <= RIG_CASE_NESTED_MOST);
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

/* Depth: the cases around the line, at most RIG_CASE_NESTED_MOST. */
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

void rig_case_heading(const struct rig_cases *cases, const struct rig_case_place *places, uint32_t line,
                      struct rig_buf *text)
{
    const uint32_t item = places[line].number == 0 ? places[line].within : line;
    if (item == UINT32_MAX)
        return;
    rig_case_number(places, item, text);
    rig_buf_add_text(text, ". ");
    rig_buf_add_text(text, cases->lines[item].opening == NULL ? "" : cases->lines[item].opening);
}

bool rig_case_cycle(const struct rig_witness *witness, uint32_t line, struct rig_witness *cycle)
{
    const struct rig_case *l = &witness->cases->lines[line];
    struct rig_witness made = {.anomaly = witness->anomaly,
                               .txn_count = l->step_count,
                               .steps = witness->cases->steps + l->first_step,
                               .step_count = l->step_count,
                               .key = UINT32_MAX,
                               .op = UINT32_MAX,
                               .other_op = UINT32_MAX,
                               .text = l->closing};
    made.txns = malloc((l->step_count + 1) * sizeof made.txns[0]);
    if (made.txns == NULL)
        return false;
    for (uint32_t i = 0; i < l->step_count; i++)
        made.txns[i] = made.steps[i].from;
    *cycle = made;
    return true;
}
