/*
 * Any bytes as a plan.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz_target.h"
#include "tests/plan/plan_property.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char problem[PLAN_PROBLEM_BYTES];
    bool taken = false;
    if (!plan_property_holds((const char *)bytes, size, &taken, problem)) {
        (void)fprintf(stderr, "%s\n", problem);
        abort();
    }
    return 0;
}
