/*
 * Compares the checker with brute force over small histories: whether each requested anomaly exists, and whether the
 * first witness of each kind of cycle has the least length. The keys have their rows before the load: brute force knows
 * no phantoms.
 *
 *     compare_cycles [--count N] [--seed N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/judge/check.h"
#include "tests/cycles/brute_cycles.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_random.h"

struct tally {
    unsigned long histories, contradictions, asked, there, open, witnesses, longer;
};

static bool complain(const struct small_history *small, enum rig_anomaly anomaly, const char *what)
{
    printf("%s: %s\n", rig_anomaly_info(anomaly)->name, what);
    small_print(small, "  ", stdout);
    return false;
}

/* Whether brute force found a cycle that answers the request, or the checker found a non-cyclic anomaly. */
static bool is_there(const struct brute_cycles *brute, const struct rig_verdict *verdict, enum rig_anomaly asked)
{
    const rig_anomaly_set cases = rig_anomaly_cases(asked);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        bool cyclic = rig_anomaly_info((enum rig_anomaly)anomaly)->cyclic;
        if ((cases & RIG_ANOMALY_BIT(anomaly)) != 0 &&
            (cyclic ? brute->shortest[anomaly] > 0 : verdict->findings[anomaly].count > 0))
            return true;
    }
    return false;
}

static bool compare_request(const struct small_history *small, const struct rig_history *history,
                            const struct brute_cycles *brute, enum rig_anomaly asked, struct tally *tally)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_verdict *verdict = NULL;
    const struct rig_check_options options = {.anomalies = RIG_ANOMALY_BIT(asked),
                                              .assumptions = RIG_ASSUMES_PREFILLED};
    if (rig_check(history, &options, &verdict, &err) != RIG_OK)
        return complain(small, asked, err.text);
    bool there = is_there(brute, verdict, asked), agrees = true;
    bool open = (verdict->undecided_anomalies & RIG_ANOMALY_BIT(asked)) != 0;
    if (verdict->valid == RIG_VALID_FALSE && !there)
        agrees = complain(small, asked, "is not there, but the checker says so");
    if (verdict->valid == RIG_VALID_TRUE && there)
        agrees = complain(small, asked, "is there, but the checker says that it is not");
    if (verdict->valid == RIG_VALID_UNKNOWN && there)
        agrees = complain(small, asked, "is there, but the checker cannot tell");
    tally->asked++;
    tally->there += there;
    tally->open += open;
    rig_verdict_free(verdict);
    return agrees;
}

static bool compare_witnesses(const struct small_history *small, const struct rig_history *history,
                              const struct brute_cycles *brute, struct tally *tally)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_verdict *verdict = NULL;
    const struct rig_check_options options = {.assumptions = RIG_ASSUMES_PREFILLED};
    bool agrees = true;
    if (rig_check(history, &options, &verdict, &err) != RIG_OK)
        return complain(small, RIG_ANOMALY_G0, err.text);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        const int shortest = brute->shortest[anomaly];
        if (!rig_anomaly_info((enum rig_anomaly)anomaly)->cyclic || finding->witness_count == 0)
            continue;
        tally->witnesses++;
        if (shortest == 0 || finding->witnesses[0].txn_count < (uint32_t)shortest)
            agrees = complain(small, (enum rig_anomaly)anomaly, "has a witness that brute force does not know");
        if (finding->witnesses[0].txn_count > (uint32_t)shortest) {
            tally->longer++;
            agrees = complain(small, (enum rig_anomaly)anomaly, "has a first witness that is not the shortest");
            printf("  shortest %d, found %u: %s\n", shortest, finding->witnesses[0].txn_count,
                   finding->witnesses[0].text);
        }
    }
    rig_verdict_free(verdict);
    return agrees;
}

static bool compare(const struct small_history *small, struct tally *tally)
{
    struct brute_cycles brute;
    struct rig_history *history = NULL;
    struct rig_err err = {.rc = RIG_OK};
    bool agrees = true;
    brute_cycles(small, &brute);
    tally->histories++;
    tally->contradictions += brute.contradiction;
    if (brute.contradiction)
        return true;
    if (build_history(small, NULL, &history, &err) != RIG_OK)
        return complain(small, RIG_ANOMALY_G0, err.text);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
        if (info->cyclic && strstr(info->name, "predicate") == NULL) /* lists have no conditions */
            agrees &= compare_request(small, history, &brute, (enum rig_anomaly)anomaly, tally);
    }
    agrees &= compare_witnesses(small, history, &brute, tally);
    rig_history_free(history);
    return agrees;
}

static unsigned long number_after(int argc, char **argv, const char *name, unsigned long otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return strtoul(argv[i + 1], NULL, 10);
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    const unsigned long count = number_after(argc, argv, "--count", 2000), seed = number_after(argc, argv, "--seed", 1);
    struct tally tally = {0};
    unsigned long wrong = 0;
    for (unsigned long number = 0; number < count && wrong < 10; number++) {
        struct small_history small;
        small_random(seed, number, SMALL_TINY, &small);
        wrong += !compare(&small, &tally);
    }
    printf("%lu histories, %lu with contradictions; %lu requests, %lu there, %lu open; %lu first witnesses, %lu longer "
           "than need be; %lu histories differ\n",
           tally.histories, tally.contradictions, tally.asked, tally.there, tally.open, tally.witnesses, tally.longer,
           wrong);
    bool idle = tally.there * 20 < tally.asked || tally.witnesses < count / 20 || tally.open * 10 > tally.asked;
    return wrong > 0 || idle ? EXIT_FAILURE : EXIT_SUCCESS;
}
