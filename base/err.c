#include "base/err.h"

#include "base/bug.h"

static const struct {
    int status;
    const char *text;
} rc_table[] = {
#define RIG_RC_ROW(name, status, text) {status, text},
    RIG_RC_TABLE(RIG_RC_ROW)
#undef RIG_RC_ROW
};

int rig_rc_exit_status(enum rig_rc rc)
{
    RIG_REQUIRE((size_t)rc < sizeof rc_table / sizeof rc_table[0]);
    return rc_table[rc].status;
}

const char *rig_rc_text(enum rig_rc rc)
{
    RIG_REQUIRE((size_t)rc < sizeof rc_table / sizeof rc_table[0]);
    return rc_table[rc].text;
}
