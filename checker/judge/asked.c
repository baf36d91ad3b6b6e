#include "checker/judge/asked.h"

#include "base/buf.h"
#include "base/bug.h"
#include "checker/infer/type_inference.h"
#include "checker/infer/register_lost.h"
#include "checker/decide/rule.h"
#include "checker/model/own_level.h"
#include "history/types/types.h"

/* The name of a cycle. One of writes alone is G0 only among acknowledged transactions, and counts as G1c here. */
static enum rig_anomaly name_of(const struct rig_step *steps, uint32_t count)
{
    enum rig_along order = RIG_ALONG_PLAIN;
    uint32_t rw = 0;
    bool adjacent = false, by_predicate = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_step *last = &steps[i == 0 ? count - 1 : i - 1];
        rw += steps[i].kind == RIG_EDGE_RW;
        by_predicate |= steps[i].by_predicate;
        adjacent |= steps[i].kind == RIG_EDGE_RW && last->kind == RIG_EDGE_RW;
        if (steps[i].kind == RIG_EDGE_REALTIME)
            order = RIG_ALONG_REALTIME;
        else if (steps[i].kind == RIG_EDGE_PROCESS && order == RIG_ALONG_PLAIN)
            order = RIG_ALONG_PROCESS;
    }
    const enum rig_shape shape = rw == 0    ? RIG_SHAPE_G1C
                                 : rw == 1  ? RIG_SHAPE_SINGLE
                                 : adjacent ? RIG_SHAPE_G2
                                            : RIG_SHAPE_NONADJACENT;
    const enum rig_anomaly anomaly = rig_anomaly_of_cycle(shape, order);
    return by_predicate ? rig_anomaly_by_predicate(anomaly) : anomaly;
}

static bool writes_key(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) && ops[i].key == key)
            return true;
    }
    return false;
}

/* Whether the two have another key in common, which could have the other order: a cycle of writes. */
static bool share_another_key(const struct rig_history *history, uint32_t one, uint32_t other, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, one);
    for (uint32_t i = 0; i < rig_txn_op_count(history, one); i++) {
        if (!rig_op_reads(ops[i].kind) && ops[i].key != key && writes_key(history, other, ops[i].key))
            return true;
    }
    return false;
}

/*
 * Whether each order of the versions makes a cycle among `cases`: every cycle of the proof is one. No orders may be
 * left out because they make a cycle of another kind: of writes in two keys, or with a version before the one that its
 * transaction read. And no reader may overwrite what it read, because with its own version between the two an edge is
 * ww.
 */
static bool proves_cases(const struct rig_history *history, const struct rig_cases *proof, rig_anomaly_set cases)
{
    bool proves = true;
    for (uint32_t i = 0; i < proof->step_count; i++) {
        const struct rig_step *step = &proof->steps[i];
        const bool ordered = step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_RW;
        proves &= !ordered || step->order != RIG_ORDER_UPDATE;
        proves &= step->kind != RIG_EDGE_RW || !writes_key(history, step->from, step->key);
    }
    for (uint32_t i = 0; i < proof->line_count; i++) {
        const struct rig_case *line = &proof->lines[i];
        if (line->kind == RIG_CASE_SUPPOSE)
            proves &= !share_another_key(history, line->before, line->after, line->key);
        else
            proves &= (cases & RIG_ANOMALY_BIT(name_of(&proof->steps[line->first_step], line->step_count))) != 0;
    }
    return proves;
}

/* Not for a history judged in windows: those keep only a part of a transaction's operations. */
static bool is_proved_by_cases(const struct rig_verdict *verdict, rig_anomaly_set cases)
{
    const struct rig_finding *finding = &verdict->findings[RIG_ANOMALY_NO_VERSION_ORDER];
    const bool whole = rig_type_inference(verdict->scope.workload)->whole && !verdict->history->is_excerpt;
    for (uint32_t i = 0; whole && i < finding->witness_count; i++) {
        const struct rig_cases *proof = finding->witnesses[i].cases;
        if (proof != NULL && proves_cases(verdict->history, proof, cases))
            return true;
    }
    return false;
}

bool rig_verdict_case_of(const struct rig_verdict *verdict, enum rig_anomaly asked, enum rig_anomaly *found)
{
    const rig_anomaly_set cases = rig_anomaly_cases(asked);
    *found = asked;
    if (verdict->findings[asked].count > 0)
        return true;
    if (asked == RIG_ANOMALY_G_MIXED) {
        *found = verdict->mixed_read;
        return verdict->mixed_reads > 0;
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        *found = (enum rig_anomaly)anomaly;
        if ((cases & RIG_ANOMALY_BIT(anomaly)) != 0 && verdict->findings[anomaly].count > 0)
            return true;
    }
    *found = RIG_ANOMALY_NO_VERSION_ORDER;
    return rig_anomaly_info(asked)->cyclic && is_proved_by_cases(verdict, cases);
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
 * one of these orders makes none (docs/checker/levels.md, "Open orders of appends").
 */
static bool rests_on_unread(const struct rig_verdict *verdict, enum rig_anomaly asked)
{
    (void)rig_anomaly_is_by_predicate(asked, &asked);
    for (unsigned order = 0; order < RIG_ALONG_COUNT && verdict->scope.unordered_keys > 0; order++) {
        enum rig_anomaly found, any = rig_anomaly_of_cycle(RIG_SHAPE_G2, (enum rig_along)order);
        if (asked == rig_anomaly_of_cycle(RIG_SHAPE_SINGLE, (enum rig_along)order) ||
            asked == rig_anomaly_of_cycle(RIG_SHAPE_NONADJACENT, (enum rig_along)order))
            return rig_verdict_case_of(verdict, any, &found) ||
                   rig_verdict_case_of(verdict, rig_anomaly_by_predicate(any), &found);
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
    static const rig_anomaly_set elements = RIG_ANOMALY_BIT(RIG_ANOMALY_LOST_ELEMENT) |
                                            RIG_ANOMALY_BIT(RIG_ANOMALY_DUPLICATED_ELEMENT) |
                                            RIG_ANOMALY_BIT(RIG_ANOMALY_PHANTOM_ELEMENT);
    bool repeated = is_found(verdict, RIG_ANOMALY_DUPLICATE_ELEMENTS);
    bool contradicted = repeated || is_found(verdict, RIG_ANOMALY_INCOMPATIBLE_ORDER);
    if ((repeated && (asked == RIG_ANOMALY_INCOMPATIBLE_ORDER || asked == RIG_ANOMALY_G1A)) ||
        (contradicted && (asked == RIG_ANOMALY_FRACTURED_APPEND || asked == RIG_ANOMALY_DIRTY_UPDATE)))
        return "reads of some key contradict each other, and not all of them are searched for it";
    if (asked == RIG_ANOMALY_GARBAGE_READ && verdict->scope.lost_count > 0)
        return "an omitted operation may have written the value";
    if (asked == RIG_ANOMALY_BROKEN_UNIQUE || asked == RIG_ANOMALY_BROKEN_REFERENCE)
        return verdict->scope.lost_count > 0 || verdict->scope.truncated || verdict->info_count > 0
                   ? "an omitted operation, or a transaction of unknown fate, may have inserted or deleted rows"
                   : NULL;
    if ((asked == RIG_ANOMALY_POLL_SKIP || asked == RIG_ANOMALY_NONMONOTONIC_POLL) && verdict->scope.lost_count > 0)
        return "an omitted operation may have moved the consumer";
    if (asked == RIG_ANOMALY_LOST_WRITE && verdict->scope.lost_count > 0)
        return "an omitted operation may have overwritten the value";
    if (asked == RIG_ANOMALY_LOST_WRITE && rig_workload_repeats_values(verdict->scope.workload) &&
        verdict->scope.unknown_reads > 0)
        return "a read that leaves its writer open may have shown the value";
    if ((asked == RIG_ANOMALY_LOST_APPEND || asked == RIG_ANOMALY_LOST_WRITE) && !verdict->scope.has_invocations)
        return "the history has no invocations, and so no real-time order";
    if ((elements & RIG_ANOMALY_BIT(asked)) != 0 && verdict->scope.lost_count > 0)
        return "an omitted operation may have added or taken the element";
    if ((elements & RIG_ANOMALY_BIT(asked)) != 0 && !verdict->findings[asked].exact)
        return "takes of unknown outcome, or operations in earlier windows, may have taken what is missing";
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

/* Whether the rule forbids all cycles of the shape, and its special cases, along this order. */
static bool excludes(const struct rig_rule *rule, enum rig_shape shape, enum rig_along order)
{
    if (rule->along < order)
        return false;
    switch (shape) {
    case RIG_SHAPE_G0:
        return true;
    case RIG_SHAPE_G1C:
        return rule->form != RIG_RULE_WRITES;
    case RIG_SHAPE_SINGLE:
        return rule->form == RIG_RULE_CONSISTENT || rule->form == RIG_RULE_SNAPSHOT || rule->form == RIG_RULE_SERIAL;
    case RIG_SHAPE_NONADJACENT:
        return rule->form == RIG_RULE_SNAPSHOT || rule->form == RIG_RULE_SERIAL;
    case RIG_SHAPE_G2:
        return rule->form == RIG_RULE_SERIAL;
    case RIG_SHAPE_COUNT:
        break;
    }
    RIG_INVARIANT(false);
    return false;
}

/* Whether a level that forbids such cycles is held: then some order of the versions makes none. Read uncommitted may be
 * held because a transaction of unknown fate did not commit, and if it did, there may be a cycle of writes. */
static bool is_excluded(const struct rig_verdict *verdict, enum rig_anomaly asked)
{
    const bool by_predicate = rig_anomaly_is_by_predicate(asked, &asked);
    for (unsigned i = 0; i < RIG_SHAPE_COUNT * RIG_ALONG_COUNT && verdict->lattice == RIG_LATTICE_EXACT; i++) {
        const enum rig_shape shape = (enum rig_shape)(i / RIG_ALONG_COUNT);
        const enum rig_along order = (enum rig_along)(i % RIG_ALONG_COUNT);
        for (unsigned level = 0; level < RIG_LEVEL_COUNT && rig_anomaly_of_cycle(shape, order) == asked; level++) {
            const struct rig_rule *rule = rig_level_rule((enum rig_level)level);
            const bool by_fate = rule->form == RIG_RULE_WRITES && verdict->scope.unsettled;
            const bool allows = by_predicate && rule->items;
            if (verdict->levels[level].fate == RIG_FATE_HELD && !by_fate && !allows && excludes(rule, shape, order))
                return true;
        }
    }
    return false;
}

/* Types whose reads show no dependencies leave everything open but what they can show; that, too, where it was
 * dropped. */
static const char *why_open_without_edges(const struct rig_verdict *verdict, const struct rig_type_inference *type,
                                          enum rig_anomaly asked)
{
    const struct rig_scope *scope = &verdict->scope;
    const rig_anomaly_set bounds =
        RIG_ANOMALY_BIT(RIG_ANOMALY_IMPOSSIBLE_VALUE) | RIG_ANOMALY_BIT(RIG_ANOMALY_COUNTER_BOUNDS);
    if ((type->anomalies & RIG_ANOMALY_BIT(asked)) == 0)
        return rig_type_open_for(type, scope->open_reads);
    if ((bounds & RIG_ANOMALY_BIT(asked)) != 0 && (scope->lost_count > 0 || scope->truncated))
        return "an omitted operation may have made an increment";
    if (asked == RIG_ANOMALY_COUNTER_BOUNDS && !scope->has_invocations)
        return "the history has no invocations, and so no real-time order";
    return NULL;
}

static const rig_anomaly_set claims = RIG_ANOMALY_BIT(RIG_ANOMALY_ORDER_MISMATCH) | RIG_ANOMALY_BIT(RIG_ANOMALY_G_SIA) |
                                      RIG_ANOMALY_BIT(RIG_ANOMALY_G_SIB) | RIG_ANOMALY_BIT(RIG_ANOMALY_STALE_SNAPSHOT);

const char *rig_asked_why_contested(const struct rig_verdict *verdict)
{
    if (is_found(verdict, RIG_ANOMALY_INCOMPATIBLE_ORDER))
        return "reads of some key contradict each other, so that its versions have no order";
    if (is_found(verdict, RIG_ANOMALY_FRACTURED_APPEND))
        return "a read of some key shows an append without an earlier one of the same transaction, so that the key's "
               "versions have no order";
    if (is_found(verdict, RIG_ANOMALY_INCONSISTENT_OFFSETS))
        return "an offset of some log has two records, so that these have no place in its order";
    if (is_found(verdict, RIG_ANOMALY_DUPLICATE_ELEMENTS))
        return "a read of some key shows an element twice, so that the key's versions have no order";
    return NULL;
}

/* Whether there are anomalies of several transactions that may break the level of one of them. A lost update is a
 * cycle, too. */
static bool shows_more(const struct rig_verdict *verdict)
{
    const rig_anomaly_set named = rig_own_level_reads | RIG_ANOMALY_BIT(RIG_ANOMALY_LOST_UPDATE) |
                                  RIG_ANOMALY_BIT(RIG_ANOMALY_LOST_UPDATE_PREDICATE);
    bool more = false;
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++)
        more |= verdict->findings[i].count > 0 && !rig_anomaly_info((enum rig_anomaly)i)->cyclic &&
                (named & RIG_ANOMALY_BIT(i)) == 0;
    return more;
}

/* Why it is open whether each transaction has what its own level promises, if nothing refutes it; NULL: it has. */
static const char *why_mixed_open(const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    const struct rig_type_inference *type = rig_type_inference(scope->workload);
    if (scope->own_levels == 0)
        return "no transaction has a level of its own";
    if (type->no_edges || type->objects)
        return "reads of this type show no dependencies";
    if (rig_asked_why_contested(verdict) != NULL)
        return rig_asked_why_contested(verdict);
    if (shows_more(verdict))
        return "an anomaly was found that is neither a cycle nor shown by one read alone";
    bool shows_reads = false;
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++)
        shows_reads |= verdict->findings[i].count > 0 && (rig_own_level_reads & RIG_ANOMALY_BIT(i)) != 0;
    if (scope->unsettled && (scope->some_uncommitted || shows_reads))
        return "a transaction of unknown fate was read";
    if (scope->unknown_reads > 0 || scope->lost_count > 0 || scope->truncated)
        return "reads or transactions are missing in the history";
    if (!type->total_orders && !rig_type_has_conditions(type))
        return "the order of some versions is open";
    return rig_type_open_for(type, scope->open_reads);
}

/* Why the existence of an anomaly that was not found is open; NULL: it certainly does not exist. */
static const char *why_open(const struct rig_verdict *verdict, enum rig_anomaly asked, rig_anomaly_set open)
{
    const struct rig_type_inference *type = rig_type_inference(verdict->scope.workload);
    enum rig_anomaly item;
    if ((claims & RIG_ANOMALY_BIT(asked)) != 0)
        return NULL; /* rig_claims_conclude() */
    if (asked == RIG_ANOMALY_G_MIXED)
        return why_mixed_open(verdict);
    if (type->no_edges)
        return why_open_without_edges(verdict, type, asked);
    if (asked == RIG_ANOMALY_NO_VERSION_ORDER)
        return may_need_cases(verdict) ? "the order of some versions is open, and levels that are refuted already, or "
                                         "not decided, are not searched for it"
                                       : NULL;
    if (!rig_anomaly_info(asked)->cyclic)
        return why_open_without_cycle(verdict, asked);
    if (is_excluded(verdict, asked))
        return NULL;
    if ((open & RIG_ANOMALY_BIT(asked)) != 0)
        return rig_anomaly_is_by_predicate(asked, &item)
                   ? "there are cycles of that shape, and none with a read that found no row was found"
               : is_g0(asked) ? "a cycle of writes rests on a transaction of unknown fate"
                              : "a closed walk of its edges passes a transaction twice, and no cycle was found in it";
    if (rig_asked_why_contested(verdict) != NULL)
        return rig_asked_why_contested(verdict);
    if (is_found(verdict, RIG_ANOMALY_CYCLIC_VERSIONS))
        return "the assumptions do not order the versions of some key";
    if (rests_on_unread(verdict, asked))
        return "several transactions made appends to a key that no read shows, and the answer depends on their order";
    if (is_of_order(asked, RIG_ALONG_REALTIME) && !verdict->scope.has_invocations)
        return "the history has no invocations, and so no real-time order";
    if (!rig_type_inference(verdict->scope.workload)->total_orders)
        return "the order of some versions is open, and no level that forbids such cycles is held";
    return NULL;
}

/* ---- requests that no history can answer ---- */

/* The anomalies that a history of the type can have, and those that answer for them. */
static bool is_possible(const struct rig_type_inference *type, enum rig_anomaly asked)
{
    enum rig_anomaly item;
    if (((type->anomalies | claims) & rig_anomaly_cases(asked)) != 0)
        return true;
    if (asked == RIG_ANOMALY_NO_VERSION_ORDER)
        return type->build_problem != NULL;
    if (!rig_anomaly_info(asked)->cyclic || type->no_edges || type->objects)
        return false;
    return !rig_anomaly_is_by_predicate(asked, &item) || type->link_items != NULL;
}

static bool is_exempt(const struct rig_type_inference *type, rig_anomaly_set anomalies, enum rig_anomaly asked)
{
    const char *name;
    rig_anomaly_set group;
    for (uint32_t i = 0; rig_anomaly_group(i, &name, &group); i++) {
        if ((group & RIG_ANOMALY_BIT(asked)) == 0 || (group & ~anomalies) != 0)
            continue;
        for (unsigned other = 0; other < RIG_ANOMALY_COUNT; other++) {
            if ((group & RIG_ANOMALY_BIT(other)) != 0 && is_possible(type, (enum rig_anomaly)other))
                return true;
        }
    }
    return false;
}

/* Workloads whose histories can have it, as a list of names. */
static void name_workloads(struct rig_buf *text, enum rig_anomaly asked)
{
    const char *separator = "";
    for (unsigned i = 0; i < RIG_WORKLOAD_COUNT; i++) {
        const struct rig_type_inference *type = rig_type_inference((enum rig_workload)i);
        if (type == NULL || !is_possible(type, asked))
            continue;
        rig_buf_printf(text, "%s%s", separator, rig_data_types[i].name);
        separator = ", ";
    }
}

enum rig_rc rig_asked_require_possible(enum rig_workload workload, rig_anomaly_set anomalies, struct rig_err *err)
{
    const struct rig_type_inference *type = rig_type_inference(workload);
    for (unsigned anomaly = 0; type != NULL && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const enum rig_anomaly asked = (enum rig_anomaly)anomaly;
        if ((anomalies & RIG_ANOMALY_BIT(anomaly)) == 0 || is_possible(type, asked) ||
            is_exempt(type, anomalies, asked))
            continue;
        struct rig_buf workloads;
        rig_buf_init(&workloads, 0);
        name_workloads(&workloads, asked);
        const enum rig_rc rc =
            rig_fail(err, RIG_E_USAGE, "the anomaly %s cannot occur in a history of %s; it can in: %s",
                     rig_anomaly_info(asked)->name, rig_data_types[workload].name, rig_buf_text(&workloads));
        rig_buf_done(&workloads);
        return rc;
    }
    return RIG_OK;
}

/* "serializable, read-committed" */
static void name_levels(struct rig_buf *text, uint64_t levels)
{
    const char *separator = "";
    for (unsigned level = RIG_LEVEL_COUNT; level-- > 0;) {
        if ((levels & RIG_LEVEL_BIT(level)) == 0)
            continue;
        rig_buf_printf(text, "%s%s", separator, rig_level_info((enum rig_level)level)->name);
        separator = ", ";
    }
}

/* Whether each transaction has what its own level promises. */
static enum rig_rc decide_mixed(struct rig_arena *arena, struct rig_verdict *verdict, struct rig_err *err)
{
    enum rig_anomaly found;
    struct rig_buf text;
    if (verdict->scope.own_levels == 0)
        return RIG_OK;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, "each transaction at its own level (");
    name_levels(&text, verdict->scope.own_levels);
    const char *why = why_mixed_open(verdict);
    if (rig_verdict_case_of(verdict, RIG_ANOMALY_G_MIXED, &found)) {
        verdict->mixed = RIG_FATE_REFUTED;
        rig_buf_printf(&text, "): refuted by %s", rig_anomaly_info(found)->name);
    } else if (why == NULL) {
        verdict->mixed = RIG_FATE_HELD;
        rig_buf_add_text(&text, "): holds; the edges that are obligatory for these levels form no cycle");
    } else {
        verdict->mixed = RIG_FATE_NOT_REFUTED;
        rig_buf_printf(&text, "): not refuted; %s", why);
    }
    verdict->mixed_reason = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return verdict->mixed_reason != NULL ? RIG_OK : rig_memory_limit(err, "the verdict");
}

enum rig_rc rig_asked_decide(struct rig_arena *arena, struct rig_verdict *verdict, rig_anomaly_set open,
                             struct rig_err *err)
{
    const char *reason = NULL;
    enum rig_anomaly first = RIG_ANOMALY_COUNT;
    const enum rig_rc rc = decide_mixed(arena, verdict, err);
    if (rc != RIG_OK)
        return rc;
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
