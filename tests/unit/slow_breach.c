#include "tests/unit/slow_breach.h"

#include "base/bug.h"
#include "base/vec.h"

RIG_VEC(struct rig_arc, slow_arcs)

struct walk {
    const struct rig_problem *problem;
    const struct rig_rule *rule;
    struct slow_arcs arcs[SLOW_TXNS]; /* by their start */
    struct rig_arc *cycle;
    uint32_t length; /* of the cycles that are tried */
};

static void add(struct walk *walk, struct rig_arc arc)
{
    struct slow_arcs *arcs = &walk->arcs[arc.from];
    for (size_t i = 0; i < arcs->count; i++) {
        const struct rig_arc *other = &arcs->at[i];
        if (other->to == arc.to && other->kind == arc.kind && other->key == arc.key && other->from_op == arc.from_op &&
            other->to_op == arc.to_op)
            return;
    }
    RIG_REQUIRE(slow_arcs_add(arcs, arc));
}

static uint32_t end_of_writes(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn + 1].first_write;
}

static void add_writes(struct walk *walk, const uint32_t *place, uint32_t from)
{
    const struct rig_problem *problem = walk->problem;
    for (uint32_t w = problem->txns.at[from].first_write; w < end_of_writes(problem, from); w++) {
        const uint32_t key = problem->writes.at[w].key;
        for (uint32_t i = problem->writer_first[key]; i < problem->writer_first[key + 1]; i++) {
            const uint32_t to = problem->writers[i];
            if (place[from] < place[to]) {
                const struct rig_problem_write *next = &problem->writes.at[rig_problem_write_of(problem, to, key)];
                add(walk, (struct rig_arc){from, to, RIG_EDGE_WW, key, from, RIG_ARC_NONE, next->first_op});
            }
        }
    }
}

static void add_reads(struct walk *walk, const uint32_t *place, uint32_t reader)
{
    const struct rig_problem *problem = walk->problem;
    for (uint32_t r = problem->txns.at[reader].first_read; r < problem->txns.at[reader + 1].first_read; r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        const bool initial = read->writer == RIG_PROBLEM_INITIAL;
        if (!initial)
            add(walk,
                (struct rig_arc){read->writer, reader, RIG_EDGE_WR, read->key, read->writer, RIG_ARC_NONE, read->op});
        for (uint32_t i = problem->writer_first[read->key]; i < problem->writer_first[read->key + 1]; i++) {
            const uint32_t to = problem->writers[i];
            if (to != reader && to != read->writer && (initial || place[read->writer] < place[to]))
                add(walk, (struct rig_arc){reader, to, RIG_EDGE_RW, read->key, read->writer, read->op, RIG_ARC_NONE});
        }
    }
}

static void add_orders(struct walk *walk, uint32_t to)
{
    const struct rig_problem *problem = walk->problem;
    if (walk->rule->along == RIG_ALONG_PLAIN)
        return;
    for (uint32_t from = problem->txns.at[to].before; from != RIG_PROBLEM_NONE; from = problem->txns.at[from].before)
        add(walk, (struct rig_arc){from, to, RIG_EDGE_PROCESS, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE});
    for (uint32_t from = 0; from < problem->txn_count && walk->rule->along == RIG_ALONG_REALTIME; from++) {
        if (problem->has_realtime && problem->txns.at[from].ended < problem->txns.at[to].invoked)
            add(walk,
                (struct rig_arc){from, to, RIG_EDGE_REALTIME, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE});
    }
}

static bool forbids(const struct walk *walk)
{
    bool writes_nothing[SLOW_TXNS];
    for (uint32_t i = 0; i < walk->length; i++) {
        const uint32_t txn = walk->cycle[i].from;
        writes_nothing[i] = walk->problem->txns.at[txn].first_write == end_of_writes(walk->problem, txn);
    }
    return rig_rule_forbids(walk->rule, walk->cycle, walk->length, writes_nothing);
}

/* Goes on from `txn`, `depth` arcs behind the start; the start has the lowest number of the cycle. */
static bool go_on(struct walk *walk, uint32_t start, uint32_t txn, uint32_t depth, unsigned seen)
{
    for (size_t i = 0; i < walk->arcs[txn].count; i++) {
        const struct rig_arc arc = walk->arcs[txn].at[i];
        walk->cycle[depth] = arc;
        if (depth + 1 == walk->length) {
            if (arc.to == start && forbids(walk))
                return true;
        } else if (arc.to > start && (seen >> arc.to & 1) == 0 &&
                   go_on(walk, start, arc.to, depth + 1, seen | 1U << arc.to)) {
            return true;
        }
    }
    return false;
}

uint32_t slow_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                          struct rig_arc cycle[SLOW_TXNS])
{
    RIG_REQUIRE(problem->txn_count <= SLOW_TXNS);
    struct walk walk = {.problem = problem, .rule = rule, .cycle = cycle};
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        add_writes(&walk, place, txn);
        add_reads(&walk, place, txn);
        add_orders(&walk, txn);
    }
    bool found = false;
    for (uint32_t length = 2; !found && length <= problem->txn_count; length++) {
        walk.length = length;
        for (uint32_t start = 0; !found && start < problem->txn_count; start++)
            found = go_on(&walk, start, start, 0, 1U << start);
    }
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        slow_arcs_done(&walk.arcs[txn]);
    return found ? walk.length : 0;
}

static bool write_common_key(const struct rig_problem *problem, uint32_t a, uint32_t b)
{
    for (uint32_t w = problem->txns.at[a].first_write; w < end_of_writes(problem, a); w++) {
        if (rig_problem_write_of(problem, b, problem->writes.at[w].key) != RIG_PROBLEM_NONE)
            return true;
    }
    return false;
}

/* Which of each two writers of a key comes first: all that matters of an order. */
static uint32_t signature(const struct rig_problem *problem, const uint32_t *place)
{
    uint32_t bits = 0, bit = 0;
    for (uint32_t a = 0; a < problem->txn_count; a++) {
        for (uint32_t b = a + 1; b < problem->txn_count; b++, bit++)
            bits |= (uint32_t)(place[a] < place[b] && write_common_key(problem, a, b)) << bit;
    }
    return bits;
}

static bool keeps_pairs(const struct rig_problem *problem, const uint32_t *place)
{
    for (size_t p = 0; p < problem->pairs.count; p++) {
        if (place[problem->pairs.at[p].before] > place[problem->pairs.at[p].after])
            return false;
    }
    return true;
}

struct orders {
    const struct rig_problem *problem;
    const struct rig_rule *rule;
    uint32_t place[SLOW_TXNS], used;
    uint32_t *tried; /* signatures */
    size_t tried_count;
};

static bool is_new(struct orders *orders)
{
    const uint32_t bits = signature(orders->problem, orders->place);
    for (size_t i = 0; i < orders->tried_count; i++) {
        if (orders->tried[i] == bits)
            return false;
    }
    orders->tried[orders->tried_count++] = bits;
    return true;
}

static bool some_order(struct orders *orders, uint32_t txn)
{
    if (txn == orders->problem->txn_count) {
        struct rig_arc cycle[SLOW_TXNS];
        return keeps_pairs(orders->problem, orders->place) && is_new(orders) &&
               slow_breach_find(orders->problem, orders->rule, orders->place, cycle) == 0;
    }
    bool found = false;
    for (uint32_t place = 0; !found && place < orders->problem->txn_count; place++) {
        if ((orders->used >> place & 1) != 0)
            continue;
        orders->used |= 1U << place;
        orders->place[txn] = place;
        found = some_order(orders, txn + 1);
        orders->used &= ~(1U << place);
    }
    return found;
}

bool slow_breach_explains(const struct rig_problem *problem, const struct rig_rule *rule)
{
    size_t orders_count = 1;
    for (uint32_t i = 2; i <= problem->txn_count; i++)
        orders_count *= i;
    struct orders orders = {.problem = problem, .rule = rule, .tried = malloc(orders_count * sizeof(uint32_t))};
    RIG_REQUIRE(orders.tried != NULL);
    const bool found = some_order(&orders, 0);
    free(orders.tried);
    return found;
}
