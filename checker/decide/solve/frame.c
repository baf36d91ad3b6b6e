#include "checker/decide/solve/frame.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"

static void set_form(struct rig_rule_frame *frame, enum rig_rule_form form)
{
    frame->reads_order = frame->ww_path = frame->ww_starts = true;
    switch (form) {
    case RIG_RULE_SERIAL:
    case RIG_RULE_UPDATES:
    case RIG_RULE_SNAPSHOT:
    case RIG_RULE_PREFIX:
        frame->rw_path = true;
        frame->sinks = form == RIG_RULE_UPDATES;
        frame->split = form == RIG_RULE_SNAPSHOT || form == RIG_RULE_PREFIX;
        frame->ww_starts = form != RIG_RULE_PREFIX;
        frame->reads = RIG_RULE_FRAME_READS_ALL;
        break;
    case RIG_RULE_CAUSAL:
        frame->ww_path = false;
        frame->reads = RIG_RULE_FRAME_READS_ALL;
        break;
    case RIG_RULE_CONSISTENT:
        frame->reads = RIG_RULE_FRAME_READS_ALL;
        break;
    case RIG_RULE_MONOTONIC_VIEW:
    case RIG_RULE_MONOTONIC_SNAPSHOT:
        frame->reads = RIG_RULE_FRAME_READS_LATER;
        break;
    case RIG_RULE_CURSOR:
    case RIG_RULE_UPDATE_ATOMIC:
        frame->reads = RIG_RULE_FRAME_READS_UPDATED;
        break;
    case RIG_RULE_WRITES:
        frame->reads_order = false;
        break;
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_MONOTONIC_ATOMIC:
        frame->shown = true;
        frame->shown_in_order = form == RIG_RULE_MONOTONIC_ATOMIC;
        break;
    case RIG_RULE_FLOW:
        break;
    case RIG_RULE_COUNT:
        RIG_REQUIRE(false);
    }
}

static int compare_moments(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first of `count` ascending moments whose position is later than `ended`. */
static uint32_t first_later(const uint64_t *moments, uint32_t count, uint32_t ended)
{
    uint32_t low = 0, high = count;
    while (low < high)
        rig_halve(&low, &high, moments[rig_middle(low, high)] >> 32 <= ended);
    return low;
}

static bool add_moments(struct rig_rule_frame *frame, const struct rig_problem *problem)
{
    const uint32_t count = frame->txn_count;
    const size_t room = (size_t)count + 1;
    uint64_t *moments = malloc(room * sizeof moments[0]);
    frame->moment_txn = malloc(room * sizeof frame->moment_txn[0]);
    frame->next_moment = malloc(room * sizeof frame->next_moment[0]);
    const bool ok = moments != NULL && frame->moment_txn != NULL && frame->next_moment != NULL;
    for (uint32_t txn = 0; ok && txn < count; txn++)
        moments[txn] = (uint64_t)problem->txns.at[txn].invoked << 32 | txn;
    if (ok)
        qsort(moments, count, sizeof moments[0], compare_moments);
    for (uint32_t i = 0; ok && i < count; i++)
        frame->moment_txn[i] = (uint32_t)moments[i];
    for (uint32_t txn = 0; ok && txn < count; txn++) {
        const uint32_t later = first_later(moments, count, problem->txns.at[txn].ended);
        frame->next_moment[txn] = later == count ? RIG_PROBLEM_NONE : frame->first_moment + later;
    }
    free(moments);
    return ok;
}

static bool find_leads(struct rig_rule_frame *frame, const struct rig_problem *problem)
{
    frame->lead = malloc(((size_t)frame->txn_count + 1) * sizeof frame->lead[0]);
    for (uint32_t txn = 0; frame->lead != NULL && txn < frame->txn_count; txn++) {
        const uint32_t before = problem->txns.at[txn].before;
        const bool skipped = before != RIG_PROBLEM_NONE && rig_rule_frame_is_sink(frame, problem, before);
        RIG_INVARIANT(before == RIG_PROBLEM_NONE || before < txn);
        frame->lead[txn] = skipped ? frame->lead[before] : before;
    }
    return frame->lead != NULL;
}

static bool has_sinks(const struct rig_rule_frame *frame, const struct rig_problem *problem)
{
    uint32_t txn = 0;
    while (txn < problem->txn_count && !rig_rule_frame_is_sink(frame, problem, txn))
        txn++;
    return txn < problem->txn_count;
}

bool rig_rule_frame_init(struct rig_rule_frame *frame, const struct rig_problem *problem, const struct rig_rule *rule)
{
    RIG_REQUIRE(UINT64_C(3) * problem->txn_count < RIG_PROBLEM_NONE);
    const uint32_t count = problem->txn_count;
    *frame = (struct rig_rule_frame){.txn_count = count, .process = rule->along != RIG_ALONG_PLAIN};
    set_form(frame, rule->form);
    frame->sinks = frame->sinks && has_sinks(frame, problem);
    frame->first_start = frame->split ? count : 0;
    frame->first_moment = frame->first_start + count;
    frame->node_count = frame->first_moment;
    if (frame->process && !find_leads(frame, problem))
        return false;
    if (rule->along != RIG_ALONG_REALTIME || !problem->has_realtime)
        return true;
    frame->node_count += count;
    return add_moments(frame, problem);
}

void rig_rule_frame_done(struct rig_rule_frame *frame)
{
    free(frame->moment_txn);
    free(frame->next_moment);
    free(frame->lead);
    *frame = (struct rig_rule_frame){0};
}
