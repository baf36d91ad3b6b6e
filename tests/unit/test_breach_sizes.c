/*
 * The search for forbidden cycles on problems of hundreds of transactions, against the transitive closure of each
 * level's relation; and its time on large ones.
 */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/breach_problem.h"

enum { NODES = 512, WORDS = NODES / 64 };

/* Per node: a set of nodes. */
struct relation {
    uint64_t to[NODES][WORDS];
};

struct sheet {
    struct rig_problem problem;
    uint32_t place[NODES];
    struct relation ww, wr, order, first, all, closure; /* first: all but rw */
};

static bool has(const struct relation *relation, uint32_t a, uint32_t b)
{
    return (relation->to[a][b / 64] >> b % 64 & 1) != 0;
}

static void put(struct relation *relation, uint32_t a, uint32_t b)
{
    relation->to[a][b / 64] |= UINT64_C(1) << b % 64;
}

static void put_all(struct relation *relation, const struct relation *more)
{
    for (uint32_t a = 0; a < NODES; a++) {
        for (uint32_t i = 0; i < WORDS; i++)
            relation->to[a][i] |= more->to[a][i];
    }
}

static void close_over(struct relation *relation, uint32_t count)
{
    for (uint32_t via = 0; via < count; via++) {
        for (uint32_t a = 0; a < count; a++) {
            for (uint32_t i = 0; has(relation, a, via) && i < WORDS; i++)
                relation->to[a][i] |= relation->to[via][i];
        }
    }
}

static bool has_cycle(struct relation *relation, uint32_t count)
{
    close_over(relation, count);
    for (uint32_t a = 0; a < count; a++) {
        if (has(relation, a, a))
            return true;
    }
    return false;
}

/* Whether the read returned an earlier version than that of `b`, of another transaction. */
static bool misses(const struct sheet *sheet, uint32_t r, uint32_t b)
{
    const struct rig_problem_read *read = &sheet->problem.reads.at[r];
    return b != sheet->problem.read_txn[r] && rig_problem_write_of(&sheet->problem, b, read->key) != RIG_PROBLEM_NONE &&
           (read->writer == RIG_PROBLEM_INITIAL || sheet->place[read->writer] < sheet->place[b]);
}

static void relate(struct sheet *sheet, enum rig_along along)
{
    const struct rig_problem *problem = &sheet->problem;
    memset(&sheet->ww, 0, sizeof sheet->ww);
    memset(&sheet->wr, 0, sizeof sheet->wr);
    memset(&sheet->order, 0, sizeof sheet->order);
    for (size_t w = 0; w < problem->writes.count; w++) {
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            if (sheet->place[problem->write_txn[w]] < sheet->place[b] &&
                rig_problem_write_of(problem, b, problem->writes.at[w].key) != RIG_PROBLEM_NONE)
                put(&sheet->ww, problem->write_txn[w], b);
        }
    }
    for (size_t r = 0; r < problem->reads.count; r++) {
        if (problem->reads.at[r].writer != RIG_PROBLEM_INITIAL)
            put(&sheet->wr, problem->reads.at[r].writer, problem->read_txn[r]);
    }
    for (uint32_t b = 0; b < problem->txn_count && along != RIG_ALONG_PLAIN; b++) {
        for (uint32_t a = problem->txns.at[b].before; a != RIG_PROBLEM_NONE; a = problem->txns.at[a].before)
            put(&sheet->order, a, b);
        for (uint32_t a = 0; a < problem->txn_count && along == RIG_ALONG_REALTIME && problem->has_realtime; a++) {
            if (problem->txns.at[a].ended < problem->txns.at[b].invoked)
                put(&sheet->order, a, b);
        }
    }
    sheet->first = sheet->ww;
    put_all(&sheet->first, &sheet->wr);
    put_all(&sheet->first, &sheet->order);
    sheet->all = sheet->first;
    for (uint32_t r = 0; r < problem->reads.count; r++) {
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            if (misses(sheet, r, b))
                put(&sheet->all, problem->read_txn[r], b);
        }
    }
}

/* Whether `a` enters the transaction of the read by an edge that arrives before operation `op`: by a wr or a ww edge,
 * or by the order, which is before its first operation. */
static bool enters_before(const struct sheet *sheet, uint32_t a, uint32_t r, uint32_t op, bool ww)
{
    const struct rig_problem *problem = &sheet->problem;
    const uint32_t node = problem->read_txn[r];
    if (has(&sheet->order, a, node))
        return true;
    for (uint32_t i = problem->txns.at[node].first_read; i < problem->txns.at[node + 1].first_read; i++) {
        if (problem->reads.at[i].writer == a && problem->reads.at[i].op < op)
            return true;
    }
    for (uint32_t w = problem->txns.at[node].first_write; ww && w < problem->txns.at[node + 1].first_write; w++) {
        if (problem->writes.at[w].first_op < op && sheet->place[a] < sheet->place[node] &&
            rig_problem_write_of(problem, a, problem->writes.at[w].key) != RIG_PROBLEM_NONE)
            return true;
    }
    return false;
}

/* Adds a -> b for each edge by which `a` enters the reader, where an rw edge may follow, to `b`. */
static bool has_cycle_of_steps(struct sheet *sheet, enum rig_rule_form form)
{
    const uint32_t count = sheet->problem.txn_count;
    sheet->closure = sheet->first;
    for (uint32_t r = 0; r < sheet->problem.reads.count; r++) {
        const uint32_t node = sheet->problem.read_txn[r], op = sheet->problem.reads.at[r].op;
        for (uint32_t a = 0; a < count; a++) {
            const bool enters = form == RIG_RULE_SNAPSHOT ? has(&sheet->first, a, node)
                                : form == RIG_RULE_PREFIX ? has(&sheet->wr, a, node) || has(&sheet->order, a, node)
                                                          : enters_before(sheet, a, r, op + 1, true);
            for (uint32_t b = 0; enters && b < count; b++) {
                if (misses(sheet, r, b))
                    put(&sheet->closure, a, b);
            }
        }
    }
    return has_cycle(&sheet->closure, count);
}

/* Whether a read misses a transaction that its own depends on by `depends`, the last edge as `form` wants it. */
static bool misses_dependency(const struct sheet *sheet, const struct relation *depends, enum rig_rule_form form)
{
    const uint32_t count = sheet->problem.txn_count;
    for (uint32_t r = 0; r < sheet->problem.reads.count; r++) {
        const uint32_t node = sheet->problem.read_txn[r], op = sheet->problem.reads.at[r].op;
        for (uint32_t b = 0; b < count; b++) {
            if (!misses(sheet, r, b))
                continue;
            bool found = form != RIG_RULE_MONOTONIC_VIEW && has(depends, b, node);
            for (uint32_t a = 0; a < count && form == RIG_RULE_MONOTONIC_VIEW && !found; a++)
                found = (a == b || has(depends, b, a)) && enters_before(sheet, a, r, op, true);
            if (found)
                return true;
        }
    }
    return false;
}

static bool has_pair(const struct sheet *sheet, enum rig_rule_form form)
{
    const struct rig_problem *problem = &sheet->problem;
    for (uint32_t r = 0; r < problem->reads.count; r++) {
        const uint32_t node = problem->read_txn[r], key = problem->reads.at[r].key, op = problem->reads.at[r].op;
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            const bool writes = rig_problem_write_of(problem, node, key) != RIG_PROBLEM_NONE;
            const bool reads = has(&sheet->wr, b, node) || has(&sheet->order, b, node);
            if (misses(sheet, r, b) && ((form == RIG_RULE_CURSOR && writes && sheet->place[b] < sheet->place[node]) ||
                                        (form == RIG_RULE_MONOTONIC_ATOMIC && enters_before(sheet, b, r, op, false)) ||
                                        (form == RIG_RULE_READ_ATOMIC && reads) ||
                                        (form == RIG_RULE_UPDATE_ATOMIC && (reads || has(&sheet->ww, b, node)))))
                return true;
        }
    }
    return false;
}

static bool writes_something(const struct rig_problem *problem, uint32_t node)
{
    return problem->txns.at[node].first_write < problem->txns.at[node + 1].first_write;
}

/* A cycle with rw edges out of transactions that write something, or with one more out of one that does not. */
static bool breaks_updates(struct sheet *sheet)
{
    const struct rig_problem *problem = &sheet->problem;
    sheet->closure = sheet->first;
    for (uint32_t r = 0; r < problem->reads.count; r++) {
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            if (writes_something(problem, problem->read_txn[r]) && misses(sheet, r, b))
                put(&sheet->closure, problem->read_txn[r], b);
        }
    }
    if (has_cycle(&sheet->closure, problem->txn_count))
        return true;
    for (uint32_t r = 0; r < problem->reads.count; r++) {
        for (uint32_t b = 0; b < problem->txn_count; b++) {
            if (misses(sheet, r, b) && has(&sheet->closure, b, problem->read_txn[r]))
                return true;
        }
    }
    return false;
}

/* Whether the level forbids the order, by the relations. */
static bool is_forbidden(struct sheet *sheet, enum rig_rule_form form)
{
    const uint32_t count = sheet->problem.txn_count;
    struct relation *closure = &sheet->closure;
    if (form == RIG_RULE_WRITES) {
        *closure = sheet->ww;
        put_all(closure, &sheet->order);
        return has_cycle(closure, count);
    }
    *closure = sheet->first;
    if (has_cycle(closure, count))
        return true;
    switch (form) {
    case RIG_RULE_CURSOR:
    case RIG_RULE_MONOTONIC_ATOMIC:
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_UPDATE_ATOMIC:
        return has_pair(sheet, form);
    case RIG_RULE_CONSISTENT:
    case RIG_RULE_MONOTONIC_VIEW:
        return misses_dependency(sheet, closure, form);
    case RIG_RULE_CAUSAL:
        *closure = sheet->wr;
        put_all(closure, &sheet->order);
        close_over(closure, count);
        return misses_dependency(sheet, closure, form);
    case RIG_RULE_MONOTONIC_SNAPSHOT:
    case RIG_RULE_PREFIX:
    case RIG_RULE_SNAPSHOT:
        return has_cycle_of_steps(sheet, form);
    case RIG_RULE_UPDATES:
        return breaks_updates(sheet);
    case RIG_RULE_SERIAL:
        *closure = sheet->all;
        return has_cycle(closure, count);
    case RIG_RULE_WRITES:
    case RIG_RULE_FLOW:
    case RIG_RULE_COUNT:
        break;
    }
    return false;
}

static uint32_t problem_count = 150;
static uint32_t tally[RIG_RULE_COUNT][2];

static void compare(struct sheet *sheet, const struct rig_rule *rule, uint32_t most)
{
    struct rig_breaches breaches = {0};
    const bool forbidden = is_forbidden(sheet, rule->form);
    assert_true(rig_breach_find(&sheet->problem, rule, sheet->place, most, INT64_MAX, &breaches));
    if ((breaches.ends.count > 0) != forbidden)
        fail_msg("form %d along %d: found %zu", rule->form, rule->along, breaches.ends.count);
    assert_in_range(breaches.ends.count, 0, most);
    tally[rule->form][forbidden]++;
    for (size_t i = 0; i < breaches.ends.count; i++) {
        const uint32_t begin = i == 0 ? 0 : breaches.ends.at[i - 1];
        breach_check_cycle(&sheet->problem, rule, sheet->place, &breaches.arcs.at[begin], breaches.ends.at[i] - begin);
    }
    rig_arcs_done(&breaches.arcs);
    rig_arc_ends_done(&breaches.ends);
}

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

static struct breach_shape random_shape(struct rig_rng *rng)
{
    struct breach_shape shape = {.txns = 20 + below(rng, below(rng, 4) == 0 ? NODES - 20 : 130)};
    shape.ops = 1 + below(rng, 8);
    shape.keys = 1 + below(rng, 1U << (3 + below(rng, 6)));
    shape.sessions = 1 + below(rng, 20);
    shape.reads_percent = 20 + below(rng, 75);
    shape.lag = below(rng, 2) == 0 ? 0 : 1 + below(rng, 1U << below(rng, 10));
    shape.one_snapshot = below(rng, 3) != 0;
    shape.first_committer = below(rng, 3) != 0;
    shape.realtime = below(rng, 2) == 0;
    shape.swaps = below(rng, 2) == 0 ? 0 : below(rng, 6);
    return shape;
}

static void agrees_with_closures(void **state)
{
    (void)state;
    static struct sheet sheet;
    struct rig_rng rng;
    rig_rng_init(&rng, 15, 0);
    for (uint32_t i = 0; i < problem_count; i++) {
        const struct breach_shape shape = random_shape(&rng);
        breach_problem(&rng, &shape, &sheet.problem, sheet.place);
        const enum rig_along along = below(&rng, 2) == 0 ? RIG_ALONG_PLAIN : (enum rig_along)below(&rng, 3);
        relate(&sheet, along);
        for (int form = 0; form < RIG_RULE_COUNT; form++)
            compare(&sheet, &(struct rig_rule){(enum rig_rule_form)form, along, false, false}, 1 + below(&rng, 100));
        rig_problem_done(&sheet.problem);
    }
    for (int form = 0; form < RIG_RULE_COUNT; form++) {
        assert_true(tally[form][false] > problem_count / 20);
        assert_true(form == RIG_RULE_WRITES || tally[form][true] > problem_count / 20);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_of(uint32_t txns, const struct rig_rule *rule, uint32_t swaps)
{
    const struct breach_shape shape = {.txns = txns,
                                       .ops = 8,
                                       .keys = txns / 10,
                                       .sessions = 32,
                                       .reads_percent = 50,
                                       .lag = 40,
                                       .one_snapshot = true,
                                       .first_committer = true,
                                       .realtime = true,
                                       .swaps = swaps};
    struct rig_rng rng;
    struct rig_problem problem;
    uint32_t *place = malloc(txns * sizeof place[0]);
    double best = 1e9;
    assert_non_null(place);
    rig_rng_init(&rng, 16, 0);
    breach_problem(&rng, &shape, &problem, place);
    for (int i = 0; i < 3; i++) {
        struct rig_breaches breaches = {0};
        const double begin = seconds();
        assert_true(rig_breach_find(&problem, rule, place, 100, INT64_MAX, &breaches));
        const double took = seconds() - begin;
        best = took < best ? took : best;
        rig_arcs_done(&breaches.arcs);
        rig_arc_ends_done(&breaches.ends);
    }
    rig_problem_done(&problem);
    free(place);
    return best;
}

/* Eight times the transactions: not 64 times the time. */
static void takes_linear_time(void **state)
{
    (void)state;
    for (int form = 0; form < RIG_RULE_COUNT; form++) {
        for (int along = 0; along < RIG_ALONG_COUNT; along += 2) {
            const struct rig_rule rule = {(enum rig_rule_form)form, (enum rig_along)along, false, false};
            for (uint32_t swaps = 0; swaps <= 20; swaps += 20) {
                const double small = time_of(4000, &rule, swaps), large = time_of(32000, &rule, swaps);
                if (large > 30 * small)
                    fail_msg("form %d along %d: %.2f ms, then %.2f ms", form, along, 1e3 * small, 1e3 * large);
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        problem_count = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_closures),
        cmocka_unit_test(takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
