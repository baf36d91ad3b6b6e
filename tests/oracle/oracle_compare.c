/*
 * Compares rig's checker with the oracle on random small histories.
 *
 *   oracle_compare [--full] [--count N] [--seed S] [--first NUMBER]
 *
 * A level is refuted exactly when the oracle finds no execution at it; a level that held has one. A disagreement is
 * shrunk and printed, in the oracle's notation and as JSON lines that `rig check -` reads, and the exit status is 1.
 *
 * At the read uncommitted levels only false alarms count: rig, like the literature, refutes them
 * by G0, repetitions and garbage alone.
 *
 * One kind of incompleteness is known and counted apart: at the snapshot isolation levels, where no transaction read
 * several appends to one key, the checker leaves them unordered, and the oracle, which tries both orders, may find that
 * neither is possible. The oracle recognises these cases by a second decision with the same appends unordered.
 *
 * --full takes histories too large for brute force and compares them with the same definitions under the shortcuts that
 * test_oracle tests: explicit edges, transitive closure, one choice.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/ask_checker.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/small_random.h"

enum agreement { AGREE, CONTRADICTION, FALSE_ALARM, MISSED, FALSELY_HELD, MISSED_UNORDERED, AGREEMENTS };

static const char *const agreement_names[] = {
    "agree",
    "CONTRADICTION: the checker contradicts itself",
    "FALSE ALARM: the checker refutes the level, the oracle knows an execution",
    "MISSED: the oracle knows no execution, the checker does not refute the level",
    "FALSELY HELD: the oracle knows no execution, the checker says that the level held",
    "missed, for the unknown order of unobserved appends",
};

static const struct oracle_level levels[] = {
    {ORACLE_READ_UNCOMMITTED, ORACLE_PLAIN},      {ORACLE_READ_UNCOMMITTED, ORACLE_SESSION},
    {ORACLE_READ_UNCOMMITTED, ORACLE_REALTIME},   {ORACLE_READ_COMMITTED, ORACLE_PLAIN},
    {ORACLE_READ_COMMITTED, ORACLE_SESSION},      {ORACLE_READ_COMMITTED, ORACLE_REALTIME},
    {ORACLE_SNAPSHOT_ISOLATION, ORACLE_PLAIN},    {ORACLE_SNAPSHOT_ISOLATION, ORACLE_SESSION},
    {ORACLE_SNAPSHOT_ISOLATION, ORACLE_REALTIME}, {ORACLE_SERIALIZABLE, ORACLE_PLAIN},
    {ORACLE_SERIALIZABLE, ORACLE_SESSION},        {ORACLE_SERIALIZABLE, ORACLE_REALTIME},
};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

enum { TINY_TXNS = 8, SHORT = ORACLE_OBSERVED_INFOS | ORACLE_UNOBSERVED_UNORDERED };

/* Whether an execution exists; for a history too large for brute force, decided under the shortcuts. */
static bool is_possible(const struct small_history *history, struct oracle_level level)
{
    return oracle_explains(history, level, history->txn_count > TINY_TXNS ? SHORT | ORACLE_UNOBSERVED_FORCED : 0);
}

static enum agreement compare(const struct small_history *history, const struct checker_answer *answer,
                              struct oracle_level level)
{
    enum rig_fate fate = answer->fate[checker_level(level)];
    if (answer->problem[0] != '\0')
        return CONTRADICTION;
    if (is_possible(history, level))
        return fate == RIG_FATE_REFUTED ? FALSE_ALARM : AGREE;
    if (fate == RIG_FATE_REFUTED)
        return AGREE;
    if (level.base == ORACLE_READ_UNCOMMITTED)
        return AGREE;
    if (fate == RIG_FATE_HELD)
        return FALSELY_HELD;
    bool unordered = level.base == ORACLE_SNAPSHOT_ISOLATION && oracle_explains(history, level, SHORT);
    return unordered ? MISSED_UNORDERED : MISSED;
}

struct wanted {
    struct oracle_level level;
    enum agreement agreement;
};

static bool still_disagrees(const struct small_history *history, void *context)
{
    const struct wanted *wanted = context;
    struct checker_answer answer;
    ask_checker(history, NULL, &answer);
    return compare(history, &answer, wanted->level) == wanted->agreement;
}

static void print_answer(const struct small_history *history)
{
    struct checker_answer answer;
    ask_checker(history, NULL, &answer);
    if (answer.problem[0] != '\0')
        printf("  %s\n", answer.problem);
    printf("  level: oracle, checker\n");
    for (int i = 0; i < LEVEL_COUNT; i++) {
        static const char *const fates[] = {"not refuted", "held", "refuted"};
        enum rig_level level = checker_level(levels[i]);
        printf("    %s: %s, %s\n", rig_level_info(level)->name,
               is_possible(history, levels[i]) ? "possible" : "impossible", fates[answer.fate[level]]);
    }
    printf("  anomalies:");
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
        if (answer.count[a] > 0)
            printf(" %s", rig_anomaly_info((enum rig_anomaly)a)->name);
    }
    printf("\n");
}

static void report(const struct small_history *history, struct oracle_level level, enum agreement agreement,
                   enum small_size size, uint64_t seed, uint64_t number)
{
    struct wanted wanted = {level, agreement};
    struct small_history smaller = *history;
    small_shrink(&smaller, still_disagrees, &wanted);
    printf("%s--seed %llu --first %llu --count 1: %s: %s\n", size == SMALL_FULL ? "--full " : "",
           (unsigned long long)seed, (unsigned long long)number, rig_level_info(checker_level(level))->name,
           agreement_names[agreement]);
    printf("  shrunk:\n");
    small_print(&smaller, "    ", stdout);
    print_answer(&smaller);
    small_print_json(&smaller, stdout);
    printf("  as it was:\n");
    small_print(history, "    ", stdout);
}

static bool take_number(int argc, char **argv, int i, const char *name, uint64_t *number)
{
    if (strcmp(argv[i], name) != 0 || i + 1 == argc)
        return false;
    *number = strtoull(argv[i + 1], NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    enum { REPORTS = 5 };
    uint64_t seed = 1;
    uint64_t count = 2000;
    uint64_t first = 0;
    enum small_size size = SMALL_TINY;
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        size = SMALL_FULL;
    for (int i = size == SMALL_FULL ? 2 : 1; i < argc; i += 2) {
        if (!take_number(argc, argv, i, "--seed", &seed) && !take_number(argc, argv, i, "--count", &count) &&
            !take_number(argc, argv, i, "--first", &first)) {
            fprintf(stderr, "usage: oracle_compare [--full] [--count N] [--seed S] [--first NUMBER]\n");
            return 64;
        }
    }
    uint64_t found[LEVEL_COUNT][AGREEMENTS] = {{0}};
    uint64_t refuted[LEVEL_COUNT] = {0};
    uint64_t held[LEVEL_COUNT] = {0};
    uint64_t disagreements = 0;
    int reports = 0;
    for (uint64_t number = first; number < first + count; number++) {
        struct small_history history;
        struct checker_answer answer;
        small_random(seed, number, size, &history);
        ask_checker(&history, NULL, &answer);
        bool reported = false;
        for (int i = 0; i < LEVEL_COUNT; i++) {
            enum agreement agreement = compare(&history, &answer, levels[i]);
            enum rig_fate fate = answer.fate[checker_level(levels[i])];
            found[i][agreement]++;
            refuted[i] += fate == RIG_FATE_REFUTED;
            held[i] += fate == RIG_FATE_HELD;
            if (agreement == AGREE || agreement == MISSED_UNORDERED)
                continue;
            disagreements++;
            if (!reported && reports++ < REPORTS)
                report(&history, levels[i], agreement, size, seed, number);
            reported = true;
        }
    }
    printf("seed %llu, %llu histories\n", (unsigned long long)seed, (unsigned long long)count);
    printf("%-36s %9s %9s %9s %6s %6s %7s %9s\n", "level", "refuted", "held", "open", "false", "missed", "f-held",
           "unordered");
    for (int i = 0; i < LEVEL_COUNT; i++) {
        printf("%-36s %9llu %9llu %9llu %6llu %6llu %7llu %9llu\n", rig_level_info(checker_level(levels[i]))->name,
               (unsigned long long)refuted[i], (unsigned long long)held[i],
               (unsigned long long)(count - refuted[i] - held[i]), (unsigned long long)found[i][FALSE_ALARM],
               (unsigned long long)found[i][MISSED], (unsigned long long)found[i][FALSELY_HELD],
               (unsigned long long)found[i][MISSED_UNORDERED]);
    }
    printf("%llu disagreements\n", (unsigned long long)disagreements);
    return disagreements == 0 ? 0 : 1;
}
