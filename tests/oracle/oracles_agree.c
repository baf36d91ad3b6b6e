/*
 * Compares the second oracle (executions.h) with the third (version_cases.h) on random tiny histories.
 *
 *   oracles_agree [--count N] [--seed S]
 *
 * A disagreement is shrunk and printed; the exit status is then 1.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/small_execution.h"
#include "tests/oracle/small_random.h"
#include "tests/oracle/small_wild.h"
#include "tests/oracle/version_cases.h"

struct level {
    int kind, order;
};

static bool is_compared(struct level level)
{
    return level.kind != EXECUTION_RU;
}

static bool disagrees(const struct small_history *history, void *context)
{
    const struct level *level = context;
    struct executions executions;
    struct case_answers answers;
    executions_find(history, EXECUTION_PREFILLED, &executions);
    version_cases_find(history, &answers);
    return executions.exists[level->kind][level->order] != (answers.answer[level->kind][level->order] == CASES_YES);
}

/* The first level on which they disagree. */
static bool find_disagreement(const struct small_history *history, struct level *level)
{
    for (level->kind = 0; level->kind < EXECUTION_KINDS; level->kind++) {
        for (level->order = 0; level->order < EXECUTION_ORDERS; level->order++) {
            if (is_compared(*level) && disagrees(history, level))
                return true;
        }
    }
    return false;
}

static bool agree(const struct small_history *history)
{
    struct executions executions;
    struct case_answers answers;
    executions_find(history, EXECUTION_PREFILLED, &executions);
    version_cases_find(history, &answers);
    for (int kind = 0; kind < EXECUTION_KINDS; kind++) {
        for (int order = 0; order < EXECUTION_ORDERS; order++) {
            if (is_compared((struct level){kind, order}) &&
                executions.exists[kind][order] != (answers.answer[kind][order] == CASES_YES))
                return false;
        }
    }
    return true;
}

static void report(struct small_history history, uint64_t number)
{
    static const char *const kinds[EXECUTION_KINDS] = {"RU", "RC", "CS",     "ML",  "MAV", "CV", "MSR",  "RA",
                                                       "CC", "UA", "PREFIX", "PSI", "SI",  "RR", "PL3U", "SER"};
    static const char *const orders[EXECUTION_ORDERS] = {"plain", "session", "strong"};
    struct level level;
    if (!find_disagreement(&history, &level))
        return;
    small_shrink(&history, disagrees, &level);
    struct executions executions;
    executions_find(&history, EXECUTION_PREFILLED, &executions);
    printf("history %llu: %s, %s: the second oracle knows %s\n", (unsigned long long)number, kinds[level.kind],
           orders[level.order], executions.exists[level.kind][level.order] ? "an execution" : "no execution");
    small_print(&history, "    ", stdout);
}

int main(int argc, char **argv)
{
    enum { REPORTS = 5 };
    uint64_t seed = 1, count = 4000, wrong = 0;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--count") == 0) {
            count = strtoull(argv[i + 1], NULL, 10);
        } else {
            fprintf(stderr, "usage: oracles_agree [--count N] [--seed S]\n");
            return 64;
        }
    }
    for (uint64_t number = 0; number < count; number++) {
        struct small_history history;
        const struct small_shape shape = {.registers = number % 2 != 0, .least = 2, .most = EXECUTION_TXNS};
        if (number % 8 < 2)
            small_wild(seed, number, &history);
        else
            small_execution(seed, number, shape, &history);
        if (!agree(&history) && wrong++ < REPORTS)
            report(history, number);
    }
    printf("seed %llu: %llu histories, %llu with a disagreement\n", (unsigned long long)seed, (unsigned long long)count,
           (unsigned long long)wrong);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
