#include "checker/solve/shrink.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

/* How long it may take: a witness that is not minimal is one, too. */
#define SHRINK_NS INT64_C(10000000000)

struct shrinking {
    const struct rig_problem *whole; /* the core's part; nodes below are its */
    const struct rig_rule *rule;
    struct rig_solve_budget budget;
    uint32_t *kept, kept_count; /* ascending, without an explanation */
    uint32_t *trial;
    bool *needed; /* per node: the others that are kept have an explanation */
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
    struct rig_problem part;
    struct rig_solution solution = {0};
    *refuted = false;
    if (!rig_problem_part(s->whole, s->trial, trial_count, &part))
        return no_memory(s->err);
    enum rig_rc rc = rig_solve(&part, s->rule, &s->budget, &solution, s->err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO) {
        *refuted = true;
        s->kept_count = solution.core_count;
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
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->kept_count; i++) {
        if (i < begin || i >= end || s->needed[s->kept[i]])
            s->trial[count++] = s->kept[i];
    }
    return count;
}

/* Leaves out so many at a time. One that is needed stays so when others go. */
static enum rig_rc leave_out(struct shrinking *s, uint32_t size)
{
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

enum rig_rc rig_shrink(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *core,
                       uint32_t core_count, const struct rig_solve_budget *budget, struct rig_shrunk *shrunk,
                       struct rig_err *err)
{
    const int64_t latest = rig_clock_now_ns() + SHRINK_NS;
    struct rig_problem whole = {0};
    struct shrinking s = {.whole = &whole,
                          .rule = rule,
                          .budget = {budget->deadline_ns < latest ? budget->deadline_ns : latest},
                          .kept_count = core_count,
                          .err = err};
    RIG_REQUIRE(core_count > 0);
    const bool has_part = rig_problem_part(problem, core, core_count, &whole);
    s.kept = calloc(core_count, sizeof s.kept[0]);
    s.trial = calloc(core_count, sizeof s.trial[0]);
    s.needed = calloc(core_count, sizeof s.needed[0]);
    const bool ready = has_part && s.kept != NULL && s.trial != NULL && s.needed != NULL;
    for (uint32_t i = 0; ready && i < core_count; i++)
        s.kept[i] = i;
    const enum rig_rc rc = ready ? shrink(&s) : no_memory(err);
    for (uint32_t i = 0; rc == RIG_OK && i < s.kept_count; i++)
        s.kept[i] = core[s.kept[i]];
    if (rc == RIG_OK)
        *shrunk = (struct rig_shrunk){.nodes = s.kept, .count = s.kept_count, .minimal = !s.spent};
    else
        free(s.kept);
    free(s.trial);
    free(s.needed);
    if (has_part)
        rig_problem_done(&whole);
    return rc;
}
