#include "checker/decide/counters/counter_levels.h"

#include "base/bug.h"
#include "base/clock.h"

#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)

/* A search, and the levels that its order proves; the stronger ones first. */
struct question {
    enum rig_sum_form form;
    enum rig_along along;
    uint64_t levels;
};

static const struct question questions[] = {
    {RIG_SUM_SERIAL, RIG_ALONG_REALTIME, L(STRICT_SERIALIZABLE)},
    {RIG_SUM_ITEMS, RIG_ALONG_REALTIME, L(STRONG_REPEATABLE_READ)},
    {RIG_SUM_SNAPSHOT, RIG_ALONG_REALTIME, L(STRONG_SNAPSHOT_ISOLATION)},
    {RIG_SUM_OPERATIONS, RIG_ALONG_REALTIME, L(STRONG_MONOTONIC_SNAPSHOT_READ)},
    {RIG_SUM_SERIAL, RIG_ALONG_PROCESS, L(STRONG_SESSION_SERIALIZABLE)},
    {RIG_SUM_ITEMS, RIG_ALONG_PROCESS, L(STRONG_SESSION_REPEATABLE_READ)},
    {RIG_SUM_SNAPSHOT, RIG_ALONG_PROCESS, L(STRONG_SESSION_SNAPSHOT_ISOLATION)},
    {RIG_SUM_OPERATIONS, RIG_ALONG_PROCESS, L(STRONG_SESSION_MONOTONIC_SNAPSHOT_READ)},
    {RIG_SUM_SERIAL, RIG_ALONG_PLAIN, L(SERIALIZABLE) | L(VIEW_SERIALIZABLE)},
    {RIG_SUM_ITEMS, RIG_ALONG_PLAIN, L(REPEATABLE_READ)},
    {RIG_SUM_SNAPSHOT, RIG_ALONG_PLAIN, L(SNAPSHOT_ISOLATION)},
    {RIG_SUM_OPERATIONS, RIG_ALONG_PLAIN, L(MONOTONIC_SNAPSHOT_READ)},
};

#undef L

enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static uint64_t below(uint64_t levels)
{
    uint64_t found = 0;
    for (; levels != 0; levels &= levels - 1)
        found |= rig_level_info((enum rig_level)__builtin_ctzll(levels))->below;
    return found;
}

static bool is_askable(const struct rig_history *history, const struct question *question)
{
    return question->along != RIG_ALONG_REALTIME || history->has_invocations;
}

/* Whether the search does not fit a bank: a read did not find an account, or the history shows reads and leaves the
 * transfers out. */
static bool is_unfit_bank(const struct rig_history *history)
{
    bool unfound = false, transfers = false;
    for (uint32_t op = 0; op < history->op_count; op++) {
        unfound |= rig_op_reads(history->ops[op].kind) && history->ops[op].read_state == RIG_READ_NIL;
        transfers |= !rig_op_reads(history->ops[op].kind);
    }
    return history->workload == RIG_WORKLOAD_BANK && (unfound || !transfers);
}

/* How far a search looks ahead, one after the other: along real time not at all. */
static const uint32_t plain_ahead[] = {64, 1024, RIG_SUM_NONE};

enum { MOST_WHOLE = 64 }; /* events of a search over all orders */

/* Searches one way after the other until one finds an order, or is complete. `is_complete`: a search along real time
 * that finds none refutes, so it takes more steps. An order is found within few of them, or mostly not at all. */
static enum rig_rc ask(const struct rig_sum_events *events, bool is_complete, const struct rig_sum_limits *given,
                       enum rig_sum_answer *answer, struct rig_sum_order *order, struct rig_err *err)
{
    const int64_t deadline_ns = given->deadline_ns;
    struct rig_sum_limits limits = *given;
    const uint64_t few_steps = 4 * (uint64_t)events->list.count + (1 << 16);
    limits.steps = is_complete ? 16 * few_steps : few_steps;
    if (events->in_time)
        return rig_sum_search(events, &limits, answer, order, err);
    enum rig_rc rc = RIG_OK;
    *answer = RIG_SUM_FAILED;
    for (unsigned i = 0; rc == RIG_OK && *answer != RIG_SUM_FOUND && i < 3; i++) {
        limits.ahead = plain_ahead[i];
        if (limits.ahead == RIG_SUM_NONE && events->list.count > MOST_WHOLE) {
            *answer = RIG_SUM_SPENT;
            break;
        }
        const int64_t now_ns = rig_clock_now_ns();
        limits.deadline_ns = i == 2 || deadline_ns == INT64_MAX ? deadline_ns : now_ns + (deadline_ns - now_ns) / 2;
        limits.steps = i == 2 ? 0 : few_steps;
        rc = rig_sum_search(events, &limits, answer, order, err);
    }
    return rc;
}

/* The transactions of the events, as often as they stand in a proof. */
static enum rig_rc name_events(const struct rig_sum_events *events, struct rig_sum_order *order, struct rig_err *err)
{
    struct rig_sum_order txns = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < order->count; i++) {
        const struct rig_sum_event *event = &events->list.at[order->at[i]];
        for (uint32_t times = 0; ok && times < event->stands; times++)
            ok = rig_sum_order_add(&txns, event->txn);
    }
    rig_sum_order_done(order);
    *order = txns;
    return ok ? RIG_OK : rig_memory_limit(err, "the proof");
}

/* `txns` NULL: the answer alone. */
static enum rig_rc ask_one(const struct rig_history *history, const struct question *question,
                           const struct rig_sum_limits *limits, enum rig_sum_answer *answer, struct rig_sum_order *txns,
                           struct rig_err *err)
{
    struct rig_sum_events events = {0};
    struct rig_sum_order own = {0};
    struct rig_sum_order *order = txns == NULL ? &own : txns;
    enum rig_rc rc = rig_sum_events_make(history, question->form, question->along, &events, err);
    if (rc == RIG_OK)
        rc = ask(&events, question->form != RIG_SUM_OPERATIONS, limits, answer, order, err);
    if (rc == RIG_OK && *answer == RIG_SUM_FOUND && txns != NULL)
        rc = name_events(&events, order, err);
    rig_sum_order_done(&own);
    rig_sum_events_done(&events);
    return rc;
}

enum rig_rc rig_sums_decide(const struct rig_history *history, uint64_t levels, const struct rig_sum_limits *limits,
                            struct rig_sum_decided *decided, struct rig_err *err)
{
    struct rig_sum_limits share = *limits;
    enum rig_rc rc = RIG_OK;
    *decided = (struct rig_sum_decided){0};
    if (is_unfit_bank(history))
        return RIG_OK;
    for (unsigned i = 0; rc == RIG_OK && i < QUESTIONS; i++) {
        const struct question *question = &questions[i];
        const uint64_t asked = question->levels & levels & ~decided->held;
        enum rig_sum_answer answer;
        if (asked == 0 || !is_askable(history, question))
            continue;
        const int64_t now_ns = rig_clock_now_ns();
        if (limits->deadline_ns != INT64_MAX)
            share.deadline_ns = now_ns + (limits->deadline_ns - now_ns) / 2;
        rc = ask_one(history, question, &share, &answer, NULL, err);
        if (rc != RIG_OK)
            break;
        if (answer == RIG_SUM_FOUND)
            decided->held |= below(asked) & levels;
        else if (question->form != RIG_SUM_OPERATIONS && answer == RIG_SUM_FAILED)
            decided->refuted |= asked;
        else if (question->form != RIG_SUM_OPERATIONS)
            decided->open |= asked;
    }
    decided->open &= ~decided->held;
    RIG_INVARIANT((decided->held & decided->refuted) == 0);
    return rc;
}

enum rig_rc rig_sums_order(const struct rig_history *history, enum rig_level level, const struct rig_sum_limits *limits,
                           enum rig_sum_form *form, struct rig_sum_order *txns, bool *found, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    *found = false;
    if (is_unfit_bank(history))
        return RIG_OK;
    for (unsigned i = 0; rc == RIG_OK && !*found && i < QUESTIONS; i++) {
        enum rig_sum_answer answer;
        if ((questions[i].levels & RIG_LEVEL_BIT(level)) == 0 || !is_askable(history, &questions[i]))
            continue;
        rc = ask_one(history, &questions[i], limits, &answer, txns, err);
        *found = rc == RIG_OK && answer == RIG_SUM_FOUND;
        *form = questions[i].form;
    }
    return rc;
}
