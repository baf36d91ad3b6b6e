#include "checker/decide/solve/shrink.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/rng.h"

enum {
    FEW = 6,            /* transactions: no fewer are looked for */
    AGAIN_TIMES = 8,    /* at random */
    AGAIN_TXNS = 4096,  /* from all transactions, if there are at most this many */
    AGAIN_WORK = 12000, /* transactions solved in all, at random */
};

struct shrinking {
    struct rig_problem part;
    const struct rig_problem *whole; /* the part; nodes below are its */
    const struct rig_rule *rule;
    struct rig_solve_budget budget;
    uint32_t *kept, kept_count; /* ascending, without an explanation */
    uint32_t *trial;
    uint32_t *pool;
    bool *needed; /* per node: the others that are kept have an explanation */
    bool *dropped;
    struct rig_rng rng;
    uint64_t work; /* transactions solved */
    bool spent;
    struct rig_err *err;
};

void rig_shrunk_done(struct rig_shrunk *shrunk)
{
    free(shrunk->nodes);
    *shrunk = (struct rig_shrunk){0};
}

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "a smaller witness");
}

/* Keeps only the transactions of `trial` that its core needs, if it has no explanation. */
static enum rig_rc try_without(struct shrinking *s, uint32_t trial_count, bool *refuted)
{
    RIG_REQUIRE(trial_count <= s->whole->txn_count);
    struct rig_problem part;
    struct rig_solution solution = {0};
    *refuted = false;
    s->work += trial_count;
    if (!rig_problem_part(s->whole, s->trial, trial_count, &part))
        return no_memory(s->err);
    enum rig_rc rc = rig_solve(&part, s->rule, &s->budget, &solution, s->err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO) {
        *refuted = true;
        s->kept_count = solution.core_count;
        RIG_INVARIANT(solution.core_count <= trial_count);
        for (uint32_t i = 0; i < solution.core_count; i++)
            s->kept[i] = s->trial[solution.core[i]];
    }
    s->spent |= rc == RIG_OK && solution.answer == RIG_ANSWER_SPENT;
    rig_solution_done(&solution);
    rig_problem_done(&part);
    return rc;
}

static bool is_over(struct shrinking *s)
{
    s->spent = s->spent || rig_clock_now_ns() > s->budget.deadline_ns;
    return s->spent;
}

/* The solver's cores, while they lose a tenth at least. */
static enum rig_rc follow_cores(struct shrinking *s)
{
    uint32_t before = UINT32_MAX;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !is_over(s) && s->kept_count < before - before / 10) {
        bool refuted;
        before = s->kept_count;
        memcpy(s->trial, s->kept, before * sizeof s->trial[0]);
        rc = try_without(s, before, &refuted);
        if (rc == RIG_OK && !refuted && !s->spent)
            return rig_fail(s->err, RIG_E_BUG,
                            "a core of %u transactions has an explanation; please report this history",
                            (unsigned)before);
    }
    return rc;
}

/* The kept transactions but those of [begin, end) that are not known to be needed. */
static uint32_t fill_trial(const struct shrinking *s, uint32_t begin, uint32_t end)
{
    RIG_REQUIRE(begin <= end);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->kept_count; i++) {
        if (i < begin || i >= end || s->needed[s->kept[i]])
            s->trial[count++] = s->kept[i];
    }
    return count;
}

/* Leaves out `size` transactions at a time. One that is needed stays so when others go. */
static enum rig_rc leave_out(struct shrinking *s, uint32_t size)
{
    RIG_REQUIRE(size > 0);
    enum rig_rc rc = RIG_OK;
    for (uint32_t begin = 0; rc == RIG_OK && begin < s->kept_count && !is_over(s);) {
        const uint32_t end = s->kept_count - begin < size ? s->kept_count : begin + size;
        const uint32_t next = s->kept[begin], count = fill_trial(s, begin, end);
        bool refuted = false;
        if (count < s->kept_count)
            rc = try_without(s, count, &refuted);
        if (!refuted) {
            s->needed[next] |= size == 1 && !s->spent;
            begin = end;
            continue;
        }
        /* A core may have lost some of those before, too. */
        begin = 0;
        while (begin < s->kept_count && s->kept[begin] < next)
            begin++;
    }
    return rc;
}

static enum rig_rc shrink(struct shrinking *s)
{
    enum rig_rc rc = follow_cores(s);
    uint32_t size = s->kept_count / 2;
    while (rc == RIG_OK && size > 1 && !is_over(s)) {
        rc = leave_out(s, size);
        size = s->kept_count < 2 * size ? s->kept_count / 2 : size / 2;
    }
    return rc == RIG_OK && !is_over(s) ? leave_out(s, 1) : rc;
}

/* ---- at random ---- */

/* Drops `size` of the transactions that may not be needed, or all of them. False: each one is needed. */
static bool drop_at_random(struct shrinking *s, uint32_t *size, uint32_t *trial_count, uint32_t *dropped)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->kept_count; i++) {
        if (!s->needed[s->kept[i]])
            s->pool[count++] = s->kept[i];
    }
    *size = *size > count ? count : *size;
    for (uint32_t i = 0; i < *size; i++) {
        const uint32_t other = i + (uint32_t)rig_rng_below(&s->rng, count - i), node = s->pool[other];
        s->pool[other] = s->pool[i];
        s->pool[i] = node;
        s->dropped[node] = true;
    }
    *trial_count = 0;
    for (uint32_t i = 0; i < s->kept_count; i++) {
        if (!s->dropped[s->kept[i]])
            s->trial[(*trial_count)++] = s->kept[i];
    }
    for (uint32_t i = 0; i < *size; i++)
        s->dropped[s->pool[i]] = false;
    *dropped = s->pool[0];
    return count > 0;
}

/* From all transactions: halves of them chosen at random, then quarters, and so on. */
static enum rig_rc shrink_at_random(struct shrinking *s, bool *minimal)
{
    uint32_t trial_count, dropped, size = s->whole->txn_count / 2;
    enum rig_rc rc = RIG_OK;
    s->kept_count = s->whole->txn_count;
    for (uint32_t i = 0; i < s->kept_count; i++)
        s->kept[i] = i;
    memset(s->needed, 0, s->kept_count * sizeof s->needed[0]);
    *minimal = false;
    while (rc == RIG_OK && !is_over(s) && s->work <= AGAIN_WORK) {
        bool refuted;
        size = size > 0 ? size : 1;
        if (!drop_at_random(s, &size, &trial_count, &dropped)) {
            *minimal = true;
            break;
        }
        rc = try_without(s, trial_count, &refuted);
        if (refuted || s->spent)
            continue;
        s->needed[dropped] |= size == 1;
        size /= 2;
    }
    return rc;
}

/* Keeps the fewest transactions of several times. */
static enum rig_rc shrink_again(struct shrinking *s, const uint32_t *nodes, struct rig_shrunk *best)
{
    enum rig_rc rc = RIG_OK;
    rig_rng_init(&s->rng, 1, 0);
    for (uint32_t i = 0; rc == RIG_OK && i < AGAIN_TIMES && best->count > FEW && !s->spent; i++) {
        bool minimal;
        rc = shrink_at_random(s, &minimal);
        if (rc != RIG_OK || !minimal || s->kept_count >= best->count)
            continue;
        best->count = s->kept_count;
        for (uint32_t k = 0; k < s->kept_count; k++) {
            RIG_INVARIANT(s->kept[k] < s->whole->txn_count);
            best->nodes[k] = nodes[s->kept[k]];
        }
    }
    return rc;
}

/* ---- all together ---- */

static void close_shrinking(struct shrinking *s)
{
    free(s->kept);
    free(s->trial);
    free(s->pool);
    free(s->needed);
    free(s->dropped);
    rig_problem_done(&s->part);
}

/* For the part of the problem with these nodes, all of which are kept. */
static bool open_shrinking(struct shrinking *s, const struct rig_problem *problem, const uint32_t *nodes,
                           uint32_t count)
{
    RIG_REQUIRE(count > 0 && count <= problem->txn_count);
    if (!rig_problem_part(problem, nodes, count, &s->part))
        return false;
    s->whole = &s->part;
    s->kept_count = count;
    s->kept = calloc(count, sizeof s->kept[0]);
    s->trial = calloc(count, sizeof s->trial[0]);
    s->pool = calloc(count, sizeof s->pool[0]);
    s->needed = calloc(count, sizeof s->needed[0]);
    s->dropped = calloc(count, sizeof s->dropped[0]);
    for (uint32_t i = 0; s->kept != NULL && i < count; i++)
        s->kept[i] = i;
    return s->kept != NULL && s->trial != NULL && s->pool != NULL && s->needed != NULL && s->dropped != NULL;
}

/* Once from the core, in order. */
static enum rig_rc shrink_core(const struct rig_problem *problem, const uint32_t *core, uint32_t core_count,
                               struct shrinking *s, struct rig_shrunk *shrunk)
{
    enum rig_rc rc = open_shrinking(s, problem, core, core_count) ? shrink(s) : no_memory(s->err);
    if (rc != RIG_OK)
        return rc;
    shrunk->nodes = calloc(s->kept_count, sizeof shrunk->nodes[0]);
    if (shrunk->nodes == NULL)
        return no_memory(s->err);
    shrunk->count = s->kept_count;
    shrunk->minimal = !s->spent;
    for (uint32_t i = 0; i < s->kept_count; i++)
        shrunk->nodes[i] = core[s->kept[i]];
    return RIG_OK;
}

/* Then at random: from all transactions where these are not too many, else from the core. */
static enum rig_rc shrink_more(const struct rig_problem *problem, const uint32_t *core, uint32_t core_count,
                               struct shrinking *s, struct rig_shrunk *shrunk)
{
    const uint32_t count = problem->txn_count <= AGAIN_TXNS ? problem->txn_count : core_count;
    uint32_t *nodes = calloc(count, sizeof nodes[0]);
    if (nodes == NULL)
        return no_memory(s->err);
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = count == core_count ? core[i] : i;
    const enum rig_rc rc =
        open_shrinking(s, problem, nodes, count) ? shrink_again(s, nodes, shrunk) : no_memory(s->err);
    free(nodes);
    return rc;
}

enum rig_rc rig_shrink(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *core,
                       uint32_t core_count, const struct rig_solve_budget *budget, struct rig_shrunk *shrunk,
                       struct rig_err *err)
{
    struct shrinking first = {.rule = rule, .budget = *budget, .err = err};
    struct shrinking more = first;
    struct rig_shrunk result = {0};
    RIG_REQUIRE(core_count > 0);
    enum rig_rc rc = shrink_core(problem, core, core_count, &first, &result);
    if (rc == RIG_OK && result.minimal && result.count > FEW)
        rc = shrink_more(problem, core, core_count, &more, &result);
    close_shrinking(&first);
    close_shrinking(&more);
    RIG_INVARIANT(rc != RIG_OK || result.count <= core_count);
    if (rc == RIG_OK)
        *shrunk = result;
    else
        rig_shrunk_done(&result);
    return rc;
}
