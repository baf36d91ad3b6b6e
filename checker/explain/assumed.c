#include "checker/explain/assumed.h"

#include "checker/model/assumption.h"

static unsigned assumed_in(const struct rig_step *steps, uint32_t count)
{
    unsigned assumptions = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].kind != RIG_EDGE_WW && steps[i].kind != RIG_EDGE_RW)
            continue;
        if (steps[i].order == RIG_ORDER_WFR)
            assumptions |= RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS);
        if (steps[i].order == RIG_ORDER_SEQUENTIAL)
            assumptions |= RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS);
        if (steps[i].order == RIG_ORDER_LINEARIZABLE)
            assumptions |= RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS);
    }
    return assumptions;
}

unsigned rig_witness_assumed(const struct rig_witness *witness)
{
    const struct rig_cases *cases = witness->cases;
    return assumed_in(witness->steps, witness->step_count) |
           (cases == NULL ? 0 : assumed_in(cases->steps, cases->step_count));
}

void rig_assumed_text(unsigned assumptions, struct rig_buf *text)
{
    static const char *const names[RIG_ASSUMPTION_COUNT] = {
#define RIG_ASSUMPTION_NAME(id, name, meaning) name,
        RIG_ASSUMPTION_TABLE(RIG_ASSUMPTION_NAME)
#undef RIG_ASSUMPTION_NAME
    };
    const char *before = "assuming ";
    for (unsigned assumption = 0; assumption < RIG_ASSUMPTION_COUNT; assumption++) {
        if ((assumptions & RIG_ASSUMPTION_BIT(assumption)) == 0)
            continue;
        rig_buf_add_text(text, before);
        rig_buf_add_text(text, names[assumption]);
        before = " and ";
    }
}
