#include "checker/asked.h"

#include "base/buf.h"
#include "checker/checker_types.h"

bool rig_verdict_case_of(const struct rig_verdict *verdict, enum rig_anomaly asked, enum rig_anomaly *found)
{
    const uint64_t cases = rig_anomaly_cases(asked);
    *found = asked;
    if (verdict->findings[asked].count > 0)
        return true;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        *found = (enum rig_anomaly)anomaly;
        if ((cases & RIG_ANOMALY_BIT(anomaly)) != 0 && verdict->findings[anomaly].count > 0)
            return true;
    }
    return false;
}

static bool is_found(const struct rig_verdict *verdict, enum rig_anomaly anomaly)
{
    return verdict->findings[anomaly].count > 0;
}

static bool is_of_order(enum rig_anomaly anomaly, enum rig_along order)
{
    for (unsigned shape = 0; shape < RIG_SHAPE_COUNT; shape++) {
        if (rig_anomaly_of_cycle((enum rig_shape)shape, order) == anomaly)
            return true;
    }
    return false;
}

static bool is_g0(enum rig_anomaly anomaly)
{
    return anomaly == RIG_ANOMALY_G0 || anomaly == RIG_ANOMALY_G0_PROCESS || anomaly == RIG_ANOMALY_G0_REALTIME;
}

/*
 * Whether every order of the unread appends may make such a cycle, a different one in each order. Without any cycle,
 * one of these orders makes none (docs/checker.md, "Fates").
 */
static bool rests_on_unread(const struct rig_verdict *verdict, enum rig_anomaly asked)
{
    for (unsigned order = 0; order < RIG_ALONG_COUNT && verdict->scope.unordered_keys > 0; order++) {
        enum rig_anomaly found, any = rig_anomaly_of_cycle(RIG_SHAPE_G2, (enum rig_along)order);
        if (asked == rig_anomaly_of_cycle(RIG_SHAPE_SINGLE, (enum rig_along)order) ||
            asked == rig_anomaly_of_cycle(RIG_SHAPE_NONADJACENT, (enum rig_along)order))
            return rig_verdict_case_of(verdict, any, &found);
    }
    return false;
}

/*
 * The same for a non-cyclic anomaly. The search for appends goes over the order of their key, not over reads that
 * contradict it. Reads with a repeated element are compared with that order only, not with each other. An omitted
 * operation may have written a value that no transaction wrote.
 */
static const char *why_open_without_cycle(const struct rig_verdict *verdict, enum rig_anomaly asked)
{
    bool repeated = is_found(verdict, RIG_ANOMALY_DUPLICATE_ELEMENTS);
    bool contradicted = repeated || is_found(verdict, RIG_ANOMALY_INCOMPATIBLE_ORDER);
    if ((repeated && (asked == RIG_ANOMALY_INCOMPATIBLE_ORDER || asked == RIG_ANOMALY_G1A)) ||
        (contradicted && (asked == RIG_ANOMALY_FRACTURED_APPEND || asked == RIG_ANOMALY_DIRTY_UPDATE)))
        return "reads of some key contradict each other, and not all of them are searched for it";
    if (asked == RIG_ANOMALY_GARBAGE_READ && verdict->scope.lost_count > 0)
        return "an omitted operation may have written the value";
    if (asked == RIG_ANOMALY_LOST_APPEND && !verdict->scope.has_invocations)
        return "the history has no invocations, and so no real-time order";
    return NULL;
}

/*
 * Whether some level may be refuted by cases that were not looked for: the order of some versions is open, and the
 * strongest level that the history allows to ask about has no explanation.
 */
static bool may_need_cases(const struct rig_verdict *verdict)
{
    const enum rig_level strongest =
        verdict->scope.has_invocations ? RIG_LEVEL_STRICT_SERIALIZABLE : RIG_LEVEL_STRONG_SESSION_SERIALIZABLE;
    const bool ordered =
        rig_type_inference(verdict->scope.workload)->total_orders && verdict->scope.unordered_keys == 0;
    return !ordered && verdict->levels[strongest].fate != RIG_FATE_HELD;
}

/* Why the existence of an anomaly that was not found is open; NULL: it certainly does not exist. */
static const char *why_open(const struct rig_verdict *verdict, enum rig_anomaly asked, uint64_t open)
{
    if (asked == RIG_ANOMALY_NO_VERSION_ORDER)
        return may_need_cases(verdict) ? "the order of some versions is open, and levels that are refuted already, or "
                                         "not decided, are not searched for it"
                                       : NULL;
    if (!rig_anomaly_info(asked)->cyclic)
        return why_open_without_cycle(verdict, asked);
    if ((open & RIG_ANOMALY_BIT(asked)) != 0)
        return is_g0(asked) ? "a cycle of writes rests on a transaction of unknown fate"
                            : "a closed walk of its edges passes a transaction twice, and no cycle was found in it";
    if (is_found(verdict, RIG_ANOMALY_INCOMPATIBLE_ORDER) || is_found(verdict, RIG_ANOMALY_FRACTURED_APPEND) ||
        is_found(verdict, RIG_ANOMALY_DUPLICATE_ELEMENTS))
        return "reads of some key contradict each other, so that its versions have no order";
    if (is_found(verdict, RIG_ANOMALY_CYCLIC_VERSIONS))
        return "the assumptions do not order the versions of some key";
    if (rests_on_unread(verdict, asked))
        return "several transactions made appends to a key that no read shows, and the answer depends on their order";
    if (is_of_order(asked, RIG_ALONG_REALTIME) && !verdict->scope.has_invocations)
        return "the history has no invocations, and so no real-time order";
    return NULL;
}

enum rig_rc rig_asked_decide(struct rig_arena *arena, struct rig_verdict *verdict, uint64_t open, struct rig_err *err)
{
    const char *reason = NULL;
    enum rig_anomaly first = RIG_ANOMALY_COUNT;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        enum rig_anomaly asked = (enum rig_anomaly)anomaly, found;
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0)
            continue;
        if (rig_verdict_case_of(verdict, asked, &found)) {
            verdict->valid = RIG_VALID_FALSE;
            continue;
        }
        const char *why = why_open(verdict, asked, open);
        if (why == NULL)
            continue;
        verdict->undecided_anomalies |= RIG_ANOMALY_BIT(anomaly);
        if (reason == NULL) {
            reason = why;
            first = asked;
        }
    }
    if (verdict->valid != RIG_VALID_TRUE || reason == NULL)
        return RIG_OK;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "it is open whether there is a %s: %s", rig_anomaly_info(first)->name, reason);
    verdict->valid = RIG_VALID_UNKNOWN;
    verdict->unknown_reason = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return verdict->unknown_reason != NULL ? RIG_OK : rig_memory_limit(err, "the verdict");
}
