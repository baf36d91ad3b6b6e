#include "base/version.h"

const char *rig_version(void)
{
    return RIG_VERSION;
}

const char *rig_commit(void)
{
    return RIG_COMMIT;
}
