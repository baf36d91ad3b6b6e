/*
 * The verdict of rig's checker on a small history: the only place where the oracle's side meets the checker's.
 */
#ifndef RIG_TESTS_ORACLE_ASK_CHECKER_H
#define RIG_TESTS_ORACLE_ASK_CHECKER_H

#include "checker/model/verdict.h"
#include "tests/oracle/oracle.h"

struct checker_answer {
    char problem[1536]; /* empty, or how the checker rejected the history or contradicted itself */
    enum rig_fate fate[RIG_LEVEL_COUNT];
    enum rig_anomaly because[RIG_LEVEL_COUNT]; /* of refuted levels */
    uint64_t count[RIG_ANOMALY_COUNT];
    enum rig_valid valid;
};

/* How the history is presented to the checker: under other names, in another order, which must not matter. */
struct checker_names {
    int64_t key[SMALL_KEYS];
    int64_t process_factor, process_offset;
    uint64_t value_factor; /* odd: values are scrambled one to one */
    uint64_t value_offset[SMALL_KEYS];
    int position_factor, position_offset;
    int order[SMALL_TXNS]; /* a permutation: the order in which transactions are added */
};

/* `names` NULL: unchanged. */
void ask_checker(const struct small_history *history, const struct checker_names *names, struct checker_answer *answer);

/* The history as rig's own; the caller owns it. `names` as above. */
enum rig_rc build_history(const struct small_history *history, const struct checker_names *names,
                          struct rig_history **built, struct rig_err *err);

/* rig's name for the oracle's level. */
enum rig_level checker_level(struct oracle_level level);

#endif
