#include "checker/model/assumption.h"

#include <string.h>

#include "history/model/value_texts.h"
#include "history/text/value_reader.h"

static const char nil[] = "nil";

bool rig_initial_is_nil(const struct rig_known_initial *initial)
{
    const char *text = rig_value_text(initial->value);
    return initial->known && text != NULL && strcmp(text, nil) == 0;
}

bool rig_initial_set_nil(struct rig_known_initial *initial)
{
    return initial->known = rig_value_number(nil, strlen(nil), &initial->value);
}

enum rig_rc rig_initial_parse(const char *text, struct rig_known_initial *initial, unsigned *made, struct rig_err *err)
{
    const enum rig_rc rc = rig_value_parse(text, strlen(text), &initial->value, err);
    if (rc != RIG_OK)
        return rc;
    initial->known = true;
    if (!rig_initial_is_nil(initial))
        *made |= RIG_ASSUMES_PREFILLED;
    return RIG_OK;
}
