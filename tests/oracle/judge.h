/*
 * What rig's checker says of a small history: the only place where the oracle's side meets the checker's.
 */
#ifndef RIG_TESTS_ORACLE_JUDGE_H
#define RIG_TESTS_ORACLE_JUDGE_H

#include "checker/verdict.h"
#include "tests/oracle/oracle.h"

struct judgement {
    enum rig_fate fate[RIG_LEVEL_COUNT];
    enum rig_anomaly because[RIG_LEVEL_COUNT]; /* of refuted levels */
    uint64_t count[RIG_ANOMALY_COUNT];
    enum rig_valid valid;
};

/* How the history is told to the checker: under other names, in another order, which must not matter. */
struct judge_names {
    int64_t key[SMALL_KEYS];
    int64_t process_factor, process_offset;
    uint64_t value_factor; /* odd: values are scrambled one to one */
    uint64_t value_offset[SMALL_KEYS];
    int position_factor, position_offset;
    int order[SMALL_TXNS]; /* a permutation: which transaction is added when */
};

/* `names` NULL: as they are. Stops the program with a message when the checker refuses the history or contradicts
 * itself.
 */
void judge(const struct small_history *history, const struct judge_names *names, struct judgement *judgement);

/* rig's name for the oracle's level. */
enum rig_level judge_level(struct oracle_level level);

#endif
