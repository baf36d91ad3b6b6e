#include "generator/applications.h"

static const struct rig_application *const applications[RIG_LOAD_SHAPE_COUNT] = {
    [RIG_LOAD_TPCC] = &rig_app_tpcc,
    [RIG_LOAD_RUBIS] = &rig_app_rubis,
    [RIG_LOAD_TWITTER] = &rig_app_twitter,
    [RIG_LOAD_SMALLBANK] = &rig_app_smallbank,
    [RIG_LOAD_COURSEWARE] = &rig_app_courseware,
    [RIG_LOAD_CART] = &rig_app_cart,
};

const struct rig_application *rig_application_of(int64_t shape)
{
    return applications[shape];
}
