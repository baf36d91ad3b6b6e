/*
 * Replays the proofs of verdicts on random small histories of every type.
 *
 *   proofs_compare [--count N] [--seed S] [--first NUMBER] [--workload NAME]
 *
 * rig checks N histories of each type (proof_histories.h), and writes a proof of each. rig-verify's code must accept
 * each claim, and must prove of each level what the verdict says. The proof may leave one level in a thousand open, and
 * those of rows that are refuted (docs/proof-format.md). A failure is printed with its history as JSON lines, and the
 * exit status is 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/decide/rule.h"
#include "checker/judge/proof/prove.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "tests/proof/proof_histories.h"
#include "tests/proof/replay_proof.h"

struct counted {
    uint64_t histories, decided, open, failed;
    uint64_t refuted, held; /* histories with such a level */
    char why_open[200];
};

/* Other levels of rows may be held without a proof. */
static uint64_t levels_with_orders_of_rows(void)
{
    uint64_t levels = 0;
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        const enum rig_rule_form form = rig_level_rule((enum rig_level)level)->form;
        if (form == RIG_RULE_WRITES || form == RIG_RULE_FLOW || form == RIG_RULE_SNAPSHOT || form == RIG_RULE_SERIAL)
            levels |= RIG_LEVEL_BIT(level);
    }
    return levels;
}

static void compare(enum rig_workload workload, uint64_t seed, uint64_t number, struct counted *counted)
{
    const struct rig_check_options options = proof_history_options(workload, number);
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct replayed replayed = {0};
    struct rig_history *history = proof_history(workload, seed, number);
    const bool checked = history != NULL && rig_check(history, &options, &verdict, &err) == RIG_OK;
    if (checked)
        replay_proof(history, verdict, &options, &replayed);
    if (checked && (verdict->findings[RIG_ANOMALY_BROKEN_UNIQUE].count > 0 ||
                    verdict->findings[RIG_ANOMALY_BROKEN_CHECK].count > 0 ||
                    verdict->findings[RIG_ANOMALY_BROKEN_REFERENCE].count > 0))
        replayed.open = 0; /* docs/proof-format.md */
    if (workload == RIG_WORKLOAD_PREDICATE || workload == RIG_WORKLOAD_SQL)
        replayed.open &= levels_with_orders_of_rows();
    for (int level = 0; checked && level < RIG_LEVEL_COUNT; level++) {
        counted->held += level == 0 && verdict->levels[level].fate == RIG_FATE_HELD;
        counted->refuted += level == RIG_LEVEL_STRICT_SERIALIZABLE && verdict->levels[level].fate == RIG_FATE_REFUTED;
    }
    counted->histories += checked;
    counted->decided += (uint64_t)__builtin_popcountll(replayed.decided);
    counted->open += (uint64_t)__builtin_popcountll(replayed.open);
    if (replayed.open != 0)
        memcpy(counted->why_open, replayed.why_open, sizeof counted->why_open);
    if (replayed.problem[0] != '\0' && counted->failed++ < 3) {
        printf("--seed %" PRIu64 " --first %" PRIu64 " --count 1 --workload %s (assumptions %x): %s\n", seed, number,
               rig_data_types[workload].name, options.assumptions, replayed.problem);
        (void)fflush(stdout);
        (void)rig_history_save(history, "-", &(struct rig_save_options){.form = RIG_FORM_JSON_LINES}, &err);
    }
    rig_verdict_free(verdict);
    rig_history_free(history);
}

int main(int argc, char **argv)
{
    uint64_t count = 200, seed = 1, first = 0, failed = 0;
    const char *only = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--count") == 0)
            count = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--workload") == 0)
            only = argv[i + 1];
    }
    for (int type = 0; type < RIG_WORKLOAD_COUNT; type++) {
        const enum rig_workload workload = (enum rig_workload)type;
        struct counted counted = {0};
        if (only != NULL && strcmp(only, rig_data_types[type].name) != 0)
            continue;
        if (!proof_histories_have(workload))
            continue;
        for (uint64_t number = first; number < first + count; number++)
            compare(workload, seed, number, &counted);
        failed += counted.failed + (counted.open > counted.decided / 1000);
        printf("%-16s %" PRIu64 " histories (%" PRIu64 " hold some level, %" PRIu64 " refute some), %" PRIu64
               " levels decided, %" PRIu64 " open%s%s, %" PRIu64 " failed\n",
               rig_data_types[type].name, counted.histories, counted.held, counted.refuted, counted.decided,
               counted.open, counted.open > 0 ? ": " : "", counted.why_open, counted.failed);
        (void)fflush(stdout);
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
