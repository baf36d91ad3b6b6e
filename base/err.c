#include "base/err.h"

#include "base/bug.h"

static const int rc_statuses[] = {
#define RIG_RC_ROW(name, status, text) status,
    RIG_RC_TABLE(RIG_RC_ROW)
#undef RIG_RC_ROW
};

int rig_rc_exit_status(enum rig_rc rc)
{
    RIG_REQUIRE((size_t)rc < sizeof rc_statuses / sizeof rc_statuses[0]);
    return rc_statuses[rc];
}
