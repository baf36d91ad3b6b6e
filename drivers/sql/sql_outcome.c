#include "drivers/sql/sql_outcome.h"

#include <string.h>

#include "base/bug.h"

static bool fits(const struct rig_sql_outcomes *outcomes, const char *code, const char *wanted)
{
    return outcomes->by_start ? strncmp(code, wanted, strlen(wanted)) == 0 : strcmp(code, wanted) == 0;
}

const struct rig_sql_outcome *rig_sql_outcome_find(const struct rig_sql_outcomes *outcomes, enum rig_phase phase,
                                                   const char *code, const char *state)
{
    RIG_INVARIANT(code != NULL && state != NULL);
    const struct rig_sql_outcome *found = NULL;
    for (size_t i = 0; found == NULL && i < outcomes->row_count; i++) {
        const struct rig_sql_outcome *row = &outcomes->rows[i];
        if (phase >= row->from && phase <= row->to && (row->code[0] == '\0' || fits(outcomes, code, row->code)) &&
            strncmp(state, row->state, strlen(row->state)) == 0)
            found = row;
    }
    RIG_INVARIANT(found != NULL);
    return found;
}

enum rig_error_class rig_sql_error_class(const struct rig_sql_outcomes *outcomes, const char *code)
{
    for (size_t i = 0; i < outcomes->class_count; i++) {
        if (fits(outcomes, code, outcomes->classes[i].code))
            return outcomes->classes[i].error_class;
    }
    return RIG_ERROR_OTHER;
}
