#include "checker/decide/solve/breach.h"

#include "base/bug.h"
#include "checker/decide/solve/breach_closed.h"
#include "checker/decide/solve/breach_pairs.h"
#include "checker/decide/solve/breach_single.h"

struct breach {
    const struct rig_problem *problem;
    struct rig_ordered ordered;
    struct rig_breach_sink sink;
    struct rig_arena arena;
    struct rig_deadline deadline;
};

/* Whether the places alone show that no cycle is without rw edges. */
static bool flows_forward(const struct breach *b)
{
    const struct rig_problem *problem = b->problem;
    const uint32_t *place = b->ordered.place;
    for (uint32_t read = 0; read < problem->reads.count; read++) {
        const uint32_t writer = problem->reads.at[read].writer;
        if (writer != RIG_PROBLEM_INITIAL && place[writer] > place[problem->read_txn[read]])
            return false;
    }
    for (uint32_t node = 0; node < problem->txn_count; node++) {
        const uint32_t before = problem->txns.at[node].before;
        if ((b->ordered.child != NULL && before != RIG_PROBLEM_NONE && place[before] > place[node]) ||
            (b->ordered.after != NULL && b->ordered.after[node] < b->ordered.latest[place[node]]))
            return false;
    }
    return true;
}

/* Forms that forbid more than FLOW does, but cannot tell it by a graph of states. */
static bool find_more(struct breach *b, enum rig_rule_form form)
{
    struct rig_states states = {.state_count = b->problem->txn_count};
    const uint32_t *rank = b->ordered.place;
    if (!flows_forward(b)) {
        if (!rig_breach_find_closed(&b->ordered, rig_breach_moves(RIG_RULE_FLOW), NULL, &b->sink, &states, &b->arena))
            return false;
        rank = states.rank;
    }
    if (form == RIG_RULE_FLOW || b->sink.count > 0 || b->deadline.spent)
        return true;
    if (form == RIG_RULE_UPDATES)
        return rig_breach_find_of_updates(&b->ordered, &b->sink, &b->arena);
    if (form == RIG_RULE_MONOTONIC_VIEW || form == RIG_RULE_CONSISTENT || form == RIG_RULE_CAUSAL)
        return rig_breach_find_single(&b->ordered, rank, states.state_count, &b->sink, &b->arena);
    return rig_breach_find_pairs(&b->ordered, &b->sink, &b->arena);
}

static bool find(struct breach *b)
{
    struct rig_states states;
    const enum rig_rule_form form = b->sink.rule->form;
    switch (form) {
    case RIG_RULE_WRITES: /* each version's writer has an earlier place than that of the next one */
        return b->ordered.child == NULL ||
               rig_breach_find_closed(&b->ordered, rig_breach_moves(form), NULL, &b->sink, &states, &b->arena);
    case RIG_RULE_MONOTONIC_SNAPSHOT:
    case RIG_RULE_PREFIX:
    case RIG_RULE_SNAPSHOT:
    case RIG_RULE_SERIAL:
        return rig_breach_find_closed(&b->ordered, rig_breach_moves(form), NULL, &b->sink, &states, &b->arena);
    case RIG_RULE_FLOW:
    case RIG_RULE_CURSOR:
    case RIG_RULE_MONOTONIC_ATOMIC:
    case RIG_RULE_MONOTONIC_VIEW:
    case RIG_RULE_CONSISTENT:
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_UPDATE_ATOMIC:
    case RIG_RULE_CAUSAL:
    case RIG_RULE_UPDATES:
        return find_more(b, form);
    case RIG_RULE_COUNT:
        break;
    }
    RIG_INVARIANT(false);
    return false;
}

bool rig_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     uint32_t most, int64_t deadline_ns, struct rig_breaches *found)
{
    struct breach b = {.problem = problem, .deadline = {.at_ns = deadline_ns}};
    RIG_REQUIRE(most > 0);
    rig_arena_init(&b.arena, 0);
    const bool ok = rig_breach_sink_init(&b.sink, problem, rule, most, found, &b.arena) &&
                    rig_ordered_init(&b.ordered, problem, rule->along, place, &b.deadline, &b.arena) && find(&b);
    found->spent = found->spent || b.deadline.spent;
    rig_breach_sink_done(&b.sink);
    rig_arena_done(&b.arena);
    return ok;
}
