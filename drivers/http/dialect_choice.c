#include "drivers/http/dialect_choice.h"

#include <string.h>

static void set_own_parameter(const struct rig_dialect_choice *choice, struct rig_dialect *dialect)
{
    for (uint32_t i = 0; choice->own_parameter != NULL && i < dialect->parameter_count; i++) {
        if (strcmp(dialect->parameters[i].name, choice->own_parameter) == 0)
            dialect->values[i] = choice->own_value;
    }
}

enum rig_rc rig_dialect_choose(const struct rig_dialect_choice *choice, enum rig_workload workload,
                               struct rig_dialect **dialect, struct rig_err *err)
{
    struct rig_dialect *found = NULL;
    const int64_t spread = choice->http->spread;
    const bool by_role = spread == RIG_HTTP_LEADER || spread == RIG_HTTP_FOLLOWERS;
    enum rig_rc rc = rig_dialect_load(choice->name, choice->parameters, &found, err);
    if (rc == RIG_OK && !found->workloads[workload].given)
        rc = rig_fail(err, RIG_E_PLAN, "`dialect`: %s does not describe this workload", found->name);
    if (rc == RIG_OK && by_role && found->role.count == 0)
        rc =
            rig_fail(err, RIG_E_PLAN, "`spread`: the dialect %s does not say which server leads (`role`)", found->name);
    if (rc != RIG_OK) {
        rig_dialect_free(found);
        return rc;
    }
    set_own_parameter(choice, found);
    *dialect = found;
    return RIG_OK;
}

int64_t rig_dialect_most_keys(const struct rig_dialect_choice *choice, enum rig_workload workload)
{
    struct rig_dialect *dialect = NULL;
    if (rig_dialect_choose(choice, workload, &dialect, NULL) != RIG_OK)
        return 0;
    const int64_t most = dialect->workloads[workload].most_keys;
    rig_dialect_free(dialect);
    return most;
}
