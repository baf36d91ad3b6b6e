#include "checker/decide/rule.h"

#include <stddef.h>

#include "base/bug.h"

#define RULES(plain, session, strong, form, internal, items)                                                           \
    [RIG_LEVEL_##plain] = {RIG_RULE_##form, RIG_ALONG_PLAIN, internal, items},                                         \
    [RIG_LEVEL_##session] = {RIG_RULE_##form, RIG_ALONG_PROCESS, internal, items},                                     \
    [RIG_LEVEL_##strong] = {RIG_RULE_##form, RIG_ALONG_REALTIME, internal, items}
#define FORMS(plain, form, internal, items) RULES(plain, STRONG_SESSION_##plain, STRONG_##plain, form, internal, items)

static const struct rig_rule rules[RIG_LEVEL_COUNT] = {
    FORMS(READ_UNCOMMITTED, WRITES, false, false),
    FORMS(READ_COMMITTED, FLOW, false, false),
    FORMS(CURSOR_STABILITY, CURSOR, false, true),
    FORMS(MONOTONIC_VIEW, MONOTONIC_VIEW, false, false),
    FORMS(MONOTONIC_SNAPSHOT_READ, MONOTONIC_SNAPSHOT, false, false),
    FORMS(CONSISTENT_VIEW, CONSISTENT, false, false),
    /* The order of starts and commits is the database's secret: with all transactions concurrent, as it may be, no edge
     * but those of a consistent view is left. */
    [RIG_LEVEL_FORWARD_CONSISTENT_VIEW] = {RIG_RULE_CONSISTENT, RIG_ALONG_PLAIN, false, false},
    FORMS(MONOTONIC_ATOMIC_VIEW, MONOTONIC_ATOMIC, false, false),
    FORMS(READ_ATOMIC, READ_ATOMIC, true, false),
    FORMS(CAUSAL_CERONE, CAUSAL, true, false),
    FORMS(UPDATE_ATOMIC, UPDATE_ATOMIC, true, false),
    FORMS(PREFIX, PREFIX, true, false),
    FORMS(PARALLEL_SNAPSHOT_ISOLATION, CONSISTENT, true, false),
    FORMS(SNAPSHOT_ISOLATION, SNAPSHOT, true, false),
    FORMS(REPEATABLE_READ, SERIAL, true, true),
    FORMS(UPDATE_SERIALIZABLE, UPDATES, false, false),
    [RIG_LEVEL_VIEW_SERIALIZABLE] = {RIG_RULE_SERIAL, RIG_ALONG_PLAIN, true, false},
    RULES(SERIALIZABLE, STRONG_SESSION_SERIALIZABLE, STRICT_SERIALIZABLE, SERIAL, true, false),
};

#undef FORMS
#undef RULES

const struct rig_rule *rig_level_rule(enum rig_level level)
{
    RIG_REQUIRE((unsigned)level < RIG_LEVEL_COUNT);
    return &rules[level];
}

uint64_t rig_levels_without_predicates(void)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const enum rig_rule_form form = rules[level].form;
        if (form == RIG_RULE_WRITES || form == RIG_RULE_FLOW || (form == RIG_RULE_SERIAL && rules[level].items))
            levels |= RIG_LEVEL_BIT(level);
    }
    return levels;
}

uint64_t rig_levels_by_states(void)
{
    static const bool by_states[RIG_RULE_COUNT] = {[RIG_RULE_CONSISTENT] = true,
                                                   [RIG_RULE_READ_ATOMIC] = true,
                                                   [RIG_RULE_UPDATE_ATOMIC] = true,
                                                   [RIG_RULE_CAUSAL] = true,
                                                   [RIG_RULE_PREFIX] = true};
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= by_states[rules[level].form] ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

uint64_t rig_levels_by_operations(void)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const enum rig_rule_form form = rules[level].form;
        if (form == RIG_RULE_MONOTONIC_ATOMIC || form == RIG_RULE_MONOTONIC_VIEW || form == RIG_RULE_MONOTONIC_SNAPSHOT)
            levels |= RIG_LEVEL_BIT(level);
    }
    return levels;
}

const char *rig_rule_cycles(const struct rig_rule *rule)
{
    static const char *const texts[RIG_RULE_COUNT] = {
        [RIG_RULE_WRITES] = " of ww edges",
        [RIG_RULE_FLOW] = " without rw edges",
        [RIG_RULE_CURSOR] = " without rw edges, or of one rw and one ww edge of the same key",
        [RIG_RULE_MONOTONIC_ATOMIC] = " without rw edges, or of one wr and one rw edge out of a later operation",
        [RIG_RULE_MONOTONIC_VIEW] =
            " with at most one rw edge, out of an operation after the one that the cycle enters",
        [RIG_RULE_MONOTONIC_SNAPSHOT] = " whose rw edges leave operations at or after those that the cycle enters",
        [RIG_RULE_CONSISTENT] = " with at most one rw edge",
        [RIG_RULE_READ_ATOMIC] = " without rw edges, or of one rw and one wr edge",
        [RIG_RULE_UPDATE_ATOMIC] = " without rw edges, or of one rw and one other edge",
        [RIG_RULE_CAUSAL] = " without rw edges, or of one rw edge and wr edges",
        [RIG_RULE_PREFIX] = " whose rw edges each follow a wr edge",
        [RIG_RULE_SNAPSHOT] = " without two adjacent rw edges",
        [RIG_RULE_UPDATES] = " with at most one rw edge out of a transaction that writes nothing",
        [RIG_RULE_SERIAL] = "",
    };
    RIG_REQUIRE((unsigned)rule->form < RIG_RULE_COUNT);
    return rule->form == RIG_RULE_SERIAL && rule->items ? " without rw edges by a predicate" : texts[rule->form];
}

uint64_t rig_levels_of_items(void)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= rules[level].items ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

/* The edges of a cycle, counted by kind. */
struct shape {
    uint32_t ww, wr, rw, order, readers; /* order: process and real-time edges */
    bool realtime, process;
    bool adjacent;  /* some rw edge follows an rw edge */
    bool behind_ww; /* some rw edge follows a ww edge */
    /* some rw edge leaves an operation that is not after the one at which the edge before arrives; or one before it */
    bool out_of_order, out_of_snapshot;
    bool one_key; /* all edges are of one key */
};

static struct shape shape_of(const struct rig_arc *arcs, uint32_t count, const bool *writes_nothing)
{
    struct shape shape = {.one_key = true};
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_arc *arc = &arcs[i], *before = &arcs[i == 0 ? count - 1 : i - 1];
        shape.ww += arc->kind == RIG_EDGE_WW;
        shape.wr += arc->kind == RIG_EDGE_WR;
        shape.rw += arc->kind == RIG_EDGE_RW;
        shape.process |= arc->kind == RIG_EDGE_PROCESS;
        shape.realtime |= arc->kind == RIG_EDGE_REALTIME;
        shape.one_key &= arc->key == arcs[0].key;
        shape.readers += arc->kind == RIG_EDGE_RW && writes_nothing != NULL && writes_nothing[i];
        if (arc->kind != RIG_EDGE_RW)
            continue;
        shape.adjacent |= before->kind == RIG_EDGE_RW;
        shape.behind_ww |= before->kind == RIG_EDGE_WW;
        const bool enters = before->kind != RIG_EDGE_RW && before->to_op != RIG_ARC_NONE;
        const bool ordered = before->kind == RIG_EDGE_PROCESS || before->kind == RIG_EDGE_REALTIME;
        shape.out_of_order |= !ordered && (!enters || before->to_op >= arc->from_op);
        shape.out_of_snapshot |= !ordered && (!enters || before->to_op > arc->from_op);
    }
    RIG_INVARIANT(shape.ww + shape.wr + shape.rw <= count && shape.readers <= count);
    shape.order = count - shape.ww - shape.wr - shape.rw;
    return shape;
}

static bool keeps_order(const struct rig_rule *rule, const struct shape *shape)
{
    return (!shape->realtime || rule->along == RIG_ALONG_REALTIME) &&
           (!shape->process || rule->along != RIG_ALONG_PLAIN);
}

bool rig_rule_forbids(const struct rig_rule *rule, const struct rig_arc *arcs, uint32_t count,
                      const bool *writes_nothing)
{
    RIG_REQUIRE(count >= 2);
    const struct shape shape = shape_of(arcs, count, writes_nothing);
    if (!keeps_order(rule, &shape))
        return false;
    if (rule->form == RIG_RULE_WRITES)
        return shape.wr + shape.rw == 0;
    if (shape.rw == 0)
        return true;
    switch (rule->form) {
    case RIG_RULE_WRITES:
    case RIG_RULE_FLOW:
        return false;
    case RIG_RULE_CURSOR:
        return count == 2 && shape.rw == 1 && shape.ww == 1 && shape.one_key;
    case RIG_RULE_MONOTONIC_ATOMIC:
        return count == 2 && shape.rw == 1 && shape.ww == 0 && !shape.out_of_order;
    case RIG_RULE_MONOTONIC_VIEW:
        return shape.rw == 1 && !shape.out_of_order;
    case RIG_RULE_MONOTONIC_SNAPSHOT:
        return !shape.out_of_snapshot;
    case RIG_RULE_CONSISTENT:
        return shape.rw == 1;
    case RIG_RULE_READ_ATOMIC:
        return count == 2 && shape.rw == 1 && shape.ww == 0;
    case RIG_RULE_UPDATE_ATOMIC:
        return count == 2 && shape.rw == 1;
    case RIG_RULE_CAUSAL:
        return shape.rw == 1 && shape.ww == 0;
    case RIG_RULE_PREFIX:
        return !shape.adjacent && !shape.behind_ww;
    case RIG_RULE_SNAPSHOT:
        return !shape.adjacent;
    case RIG_RULE_UPDATES:
        RIG_REQUIRE(writes_nothing != NULL);
        return shape.readers <= 1;
    case RIG_RULE_SERIAL:
        return true;
    case RIG_RULE_COUNT:
        break;
    }
    RIG_INVARIANT(false);
    return false;
}
