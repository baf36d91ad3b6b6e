#include "checker/solve/schedule.h"

#include <string.h>

#include "base/bug.h"

static size_t version_count(const struct rig_problem *problem)
{
    return problem->writes.count + problem->key_count;
}

bool rig_schedule_init(struct rig_schedule *schedule, const struct rig_problem *problem)
{
    const size_t versions = version_count(problem) + 1, txns = (size_t)problem->txn_count + 1;
    *schedule = (struct rig_schedule){.problem = problem,
                                      .version = malloc((problem->reads.count + 1) * sizeof(uint32_t)),
                                      .latest = malloc(((size_t)problem->key_count + 1) * sizeof(uint32_t)),
                                      .to_come = malloc(versions * sizeof(uint32_t)),
                                      .first_waiter = malloc(versions * sizeof(uint32_t)),
                                      .next_waiter = malloc(txns * sizeof(uint32_t)),
                                      .waits_for = malloc(txns * sizeof(uint32_t)),
                                      .released = malloc(txns * sizeof(uint32_t))};
    if (schedule->version == NULL || schedule->latest == NULL || schedule->to_come == NULL ||
        schedule->first_waiter == NULL || schedule->next_waiter == NULL || schedule->waits_for == NULL ||
        schedule->released == NULL)
        return false;
    for (uint32_t version = 0; version < version_count(problem); version++) {
        for (uint32_t i = problem->reader_first[version]; i < problem->reader_first[version + 1]; i++)
            schedule->version[problem->readers[i]] = version;
    }
    return true;
}

void rig_schedule_done(struct rig_schedule *schedule)
{
    free(schedule->version);
    free(schedule->latest);
    free(schedule->to_come);
    free(schedule->first_waiter);
    free(schedule->next_waiter);
    free(schedule->waits_for);
    free(schedule->released);
    *schedule = (struct rig_schedule){0};
}

void rig_schedule_reset(struct rig_schedule *schedule)
{
    const struct rig_problem *problem = schedule->problem;
    for (uint32_t key = 0; key < problem->key_count; key++)
        schedule->latest[key] = (uint32_t)problem->writes.count + key;
    for (uint32_t version = 0; version < version_count(problem); version++) {
        schedule->to_come[version] = problem->reader_first[version + 1] - problem->reader_first[version];
        schedule->first_waiter[version] = RIG_PROBLEM_NONE;
    }
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        schedule->waits_for[txn] = RIG_PROBLEM_NONE;
    schedule->released_count = 0;
}

static void count_reads(struct rig_schedule *schedule, uint32_t txn, uint32_t by)
{
    const struct rig_problem *problem = schedule->problem;
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++)
        schedule->to_come[schedule->version[r]] += by;
}

bool rig_schedule_wait(struct rig_schedule *schedule, uint32_t txn)
{
    const struct rig_problem *problem = schedule->problem;
    uint32_t version = RIG_PROBLEM_NONE;
    count_reads(schedule, txn, UINT32_MAX); /* it need not wait for itself: one less each */
    for (uint32_t w = problem->txns.at[txn].first_write;
         version == RIG_PROBLEM_NONE && w < problem->txns.at[txn + 1].first_write; w++) {
        const uint32_t latest = schedule->latest[problem->writes.at[w].key];
        if (schedule->to_come[latest] > 0)
            version = latest;
    }
    count_reads(schedule, txn, 1);
    schedule->waits_for[txn] = version;
    if (version == RIG_PROBLEM_NONE)
        return false;
    schedule->next_waiter[txn] = schedule->first_waiter[version];
    schedule->first_waiter[version] = txn;
    return true;
}

static void release(struct rig_schedule *schedule, uint32_t version)
{
    for (uint32_t txn = schedule->first_waiter[version]; txn != RIG_PROBLEM_NONE; txn = schedule->next_waiter[txn]) {
        if (schedule->waits_for[txn] == version)
            schedule->released[schedule->released_count++] = txn;
        schedule->waits_for[txn] = schedule->waits_for[txn] == version ? RIG_PROBLEM_NONE : schedule->waits_for[txn];
    }
    schedule->first_waiter[version] = RIG_PROBLEM_NONE;
}

void rig_schedule_place(struct rig_schedule *schedule, uint32_t txn)
{
    const struct rig_problem *problem = schedule->problem;
    schedule->released_count = 0;
    schedule->waits_for[txn] = RIG_PROBLEM_NONE;
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++) {
        if (--schedule->to_come[schedule->version[r]] == 0)
            release(schedule, schedule->version[r]);
    }
    for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
        release(schedule, schedule->latest[problem->writes.at[w].key]);
        schedule->latest[problem->writes.at[w].key] = w;
    }
}
