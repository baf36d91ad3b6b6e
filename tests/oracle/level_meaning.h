/*
 * The oracle's definition for each level of rig's: a condition on executions (executions.h), and the order that the
 * execution keeps. Two levels with one meaning are one level in histories of lists and registers.
 */
#ifndef RIG_TESTS_ORACLE_LEVEL_MEANING_H
#define RIG_TESTS_ORACLE_LEVEL_MEANING_H

#include "checker/model/level.h"
#include "tests/oracle/executions.h"

struct level_meaning {
    enum execution_kind kind;
    enum execution_order order;
};

struct level_meaning level_meaning(enum rig_level level);

/* Whether an execution at the level explains the history. */
bool level_exists(const struct executions *executions, enum rig_level level);

#endif
