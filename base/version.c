#include "base/version.h"

const char *rig_version(void)
{
    return RIG_VERSION;
}

const char *rig_commit(void)
{
    return RIG_COMMIT;
}

const char *rig_compiler(void)
{
#ifdef __clang__
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

const char *rig_build_type(void)
{
    return RIG_BUILD_TYPE;
}

const char *rig_libraries(void)
{
    return RIG_LIBRARIES;
}
