#include "tests/oracle/level_meaning.h"

#include "base/bug.h"

#define PLAIN(level, kind)                                                                                             \
    {                                                                                                                  \
        RIG_LEVEL_##level,                                                                                             \
        {                                                                                                              \
            EXECUTION_##kind, EXECUTION_PLAIN                                                                          \
        }                                                                                                              \
    }
#define FORMS(level, kind)                                                                                             \
    PLAIN(level, kind), {RIG_LEVEL_STRONG_SESSION_##level, {EXECUTION_##kind, EXECUTION_SESSION}},                     \
    {                                                                                                                  \
        RIG_LEVEL_STRONG_##level,                                                                                      \
        {                                                                                                              \
            EXECUTION_##kind, EXECUTION_STRONG                                                                         \
        }                                                                                                              \
    }

static const struct {
    enum rig_level level;
    struct level_meaning meaning;
} rows[] = {
    FORMS(READ_UNCOMMITTED, RU),
    FORMS(READ_COMMITTED, RC),
    FORMS(CURSOR_STABILITY, CS),
    FORMS(MONOTONIC_ATOMIC_VIEW, MAV),
    FORMS(MONOTONIC_VIEW, ML),
    FORMS(MONOTONIC_SNAPSHOT_READ, MSR),
    FORMS(CONSISTENT_VIEW, CV),
    PLAIN(FORWARD_CONSISTENT_VIEW, CV),
    FORMS(READ_ATOMIC, RA),
    FORMS(CAUSAL_CERONE, CC),
    FORMS(UPDATE_ATOMIC, UA),
    FORMS(PREFIX, PREFIX),
    FORMS(PARALLEL_SNAPSHOT_ISOLATION, PSI),
    FORMS(SNAPSHOT_ISOLATION, SI),
    FORMS(REPEATABLE_READ, RR),
    FORMS(UPDATE_SERIALIZABLE, PL3U),
    PLAIN(VIEW_SERIALIZABLE, SER),
    PLAIN(SERIALIZABLE, SER),
    {RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, {EXECUTION_SER, EXECUTION_SESSION}},
    {RIG_LEVEL_STRICT_SERIALIZABLE, {EXECUTION_SER, EXECUTION_STRONG}},
};
_Static_assert(sizeof rows / sizeof rows[0] == RIG_LEVEL_COUNT, "one a level");

struct level_meaning level_meaning(enum rig_level level)
{
    RIG_REQUIRE((unsigned)level < RIG_LEVEL_COUNT && rows[level].level == level);
    return rows[level].meaning;
}

bool level_exists(const struct executions *executions, enum rig_level level)
{
    const struct level_meaning meaning = level_meaning(level);
    return executions->exists[meaning.kind][meaning.order];
}
