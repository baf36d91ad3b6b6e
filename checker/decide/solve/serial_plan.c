#include "checker/decide/solve/serial_plan.h"

#include <string.h>

#include "base/bug.h"

static size_t version_count(const struct rig_problem *problem)
{
    return problem->writes.count + problem->key_count;
}

bool rig_serial_plan_init(struct rig_serial_plan *plan, const struct rig_problem *problem)
{
    const size_t versions = version_count(problem) + 1, txns = (size_t)problem->txn_count + 1;
    *plan = (struct rig_serial_plan){.problem = problem,
                                     .version = malloc((problem->reads.count + 1) * sizeof(uint32_t)),
                                     .latest = malloc(((size_t)problem->key_count + 1) * sizeof(uint32_t)),
                                     .to_come = malloc(versions * sizeof(uint32_t)),
                                     .first_waiter = malloc(versions * sizeof(uint32_t)),
                                     .next_waiter = malloc(txns * sizeof(uint32_t)),
                                     .waits_for = malloc(txns * sizeof(uint32_t)),
                                     .released = malloc(txns * sizeof(uint32_t))};
    if (plan->version == NULL || plan->latest == NULL || plan->to_come == NULL || plan->first_waiter == NULL ||
        plan->next_waiter == NULL || plan->waits_for == NULL || plan->released == NULL)
        return false;
    for (uint32_t version = 0; version < version_count(problem); version++) {
        for (uint32_t i = problem->reader_first[version]; i < problem->reader_first[version + 1]; i++)
            plan->version[problem->readers[i]] = version;
    }
    return true;
}

void rig_serial_plan_done(struct rig_serial_plan *plan)
{
    free(plan->version);
    free(plan->latest);
    free(plan->to_come);
    free(plan->first_waiter);
    free(plan->next_waiter);
    free(plan->waits_for);
    free(plan->released);
    *plan = (struct rig_serial_plan){0};
}

void rig_serial_plan_reset(struct rig_serial_plan *plan)
{
    const struct rig_problem *problem = plan->problem;
    for (uint32_t key = 0; key < problem->key_count; key++)
        plan->latest[key] = (uint32_t)problem->writes.count + key;
    for (uint32_t version = 0; version < version_count(problem); version++) {
        plan->to_come[version] = problem->reader_first[version + 1] - problem->reader_first[version];
        plan->first_waiter[version] = RIG_PROBLEM_NONE;
    }
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        plan->waits_for[txn] = RIG_PROBLEM_NONE;
    plan->released_count = 0;
}

static void count_reads(struct rig_serial_plan *plan, uint32_t txn, uint32_t by)
{
    const struct rig_problem *problem = plan->problem;
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++)
        plan->to_come[plan->version[r]] += by;
}

bool rig_serial_plan_wait(struct rig_serial_plan *plan, uint32_t txn)
{
    const struct rig_problem *problem = plan->problem;
    uint32_t version = RIG_PROBLEM_NONE;
    count_reads(plan, txn, UINT32_MAX); /* it need not wait for itself: one less each */
    for (uint32_t w = problem->txns.at[txn].first_write;
         version == RIG_PROBLEM_NONE && w < problem->txns.at[txn + 1].first_write; w++) {
        const uint32_t latest = plan->latest[problem->writes.at[w].key];
        if (plan->to_come[latest] > 0)
            version = latest;
    }
    count_reads(plan, txn, 1);
    plan->waits_for[txn] = version;
    if (version == RIG_PROBLEM_NONE)
        return false;
    plan->next_waiter[txn] = plan->first_waiter[version];
    plan->first_waiter[version] = txn;
    return true;
}

static void release(struct rig_serial_plan *plan, uint32_t version)
{
    for (uint32_t txn = plan->first_waiter[version]; txn != RIG_PROBLEM_NONE; txn = plan->next_waiter[txn]) {
        if (plan->waits_for[txn] == version)
            plan->released[plan->released_count++] = txn;
        plan->waits_for[txn] = plan->waits_for[txn] == version ? RIG_PROBLEM_NONE : plan->waits_for[txn];
    }
    plan->first_waiter[version] = RIG_PROBLEM_NONE;
}

void rig_serial_plan_place(struct rig_serial_plan *plan, uint32_t txn)
{
    const struct rig_problem *problem = plan->problem;
    plan->released_count = 0;
    plan->waits_for[txn] = RIG_PROBLEM_NONE;
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++) {
        if (--plan->to_come[plan->version[r]] == 0)
            release(plan, plan->version[r]);
    }
    for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
        release(plan, plan->latest[problem->writes.at[w].key]);
        plan->latest[problem->writes.at[w].key] = w;
    }
}
