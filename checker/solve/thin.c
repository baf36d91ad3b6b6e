#include "checker/solve/thin.h"

#include <string.h>

#include "base/clock.h"

struct thinning {
    const struct rig_problem *problem;
    const struct rig_rule *rule;
    const struct rig_solve_budget *budget;
    uint32_t *keys, key_count; /* kept */
    bool *dropped;             /* per key of the problem */
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "a smaller witness");
}

static bool copy_ops(const struct thinning *t, uint32_t node, struct rig_problem *thin)
{
    const struct rig_problem *from = t->problem;
    bool ok = true;
    for (uint32_t r = from->txns.at[node].first_read; ok && r < from->txns.at[node + 1].first_read; r++)
        ok = t->dropped[from->reads.at[r].key] || rig_problem_add_read(thin, &from->reads.at[r]);
    for (uint32_t w = from->txns.at[node].first_write; ok && w < from->txns.at[node + 1].first_write; w++) {
        const struct rig_problem_write *write = &from->writes.at[w];
        ok = t->dropped[write->key] || rig_problem_writes_add(&thin->writes, *write);
    }
    return ok;
}

/* The problem without the dropped keys. */
static bool make(const struct thinning *t, struct rig_problem *thin)
{
    const struct rig_problem *from = t->problem;
    bool ok = true;
    *thin = (struct rig_problem){.has_realtime = from->has_realtime};
    for (uint32_t node = 0; ok && node < from->txn_count; node++)
        ok = rig_problem_add_txn(thin, &from->txns.at[node]) && copy_ops(t, node, thin);
    for (size_t p = 0; ok && p < from->pairs.count; p++)
        ok = t->dropped[from->pairs.at[p].key] || rig_problem_add_pair(thin, &from->pairs.at[p]);
    thin->key_count = from->key_count;
    ok = ok && rig_problem_finish(thin);
    if (!ok)
        rig_problem_done(thin);
    return ok;
}

/* Drops the kept keys [begin, end) for good if the rest has no explanation. */
static enum rig_rc drop(struct thinning *t, uint32_t begin, uint32_t end, bool *done)
{
    struct rig_problem thin;
    struct rig_solution solution = {0};
    for (uint32_t i = begin; i < end; i++)
        t->dropped[t->keys[i]] = true;
    if (!make(t, &thin))
        return no_memory(t->err);
    const enum rig_rc rc = rig_solve(&thin, t->rule, t->budget, &solution, t->err);
    *done = rc == RIG_OK && solution.answer == RIG_ANSWER_NO;
    rig_solution_done(&solution);
    rig_problem_done(&thin);
    for (uint32_t i = begin; i < end; i++)
        t->dropped[t->keys[i]] = *done;
    if (*done) {
        memmove(t->keys + begin, t->keys + end, (t->key_count - end) * sizeof t->keys[0]);
        t->key_count -= end - begin;
    }
    return rc;
}

static enum rig_rc drop_all(struct thinning *t)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t size = (t->key_count + 1) / 2; rc == RIG_OK && size > 0; size /= 2) {
        for (uint32_t begin = 0; rc == RIG_OK && begin < t->key_count;) {
            const uint32_t end = t->key_count - begin < size ? t->key_count : begin + size;
            bool done = false;
            if (rig_clock_now_ns() > t->budget->deadline_ns)
                return RIG_OK;
            rc = drop(t, begin, end, &done);
            begin = done ? begin : end;
        }
    }
    return rc;
}

enum rig_rc rig_thin(const struct rig_problem *problem, const struct rig_rule *rule,
                     const struct rig_solve_budget *budget, struct rig_problem *thin, struct rig_err *err)
{
    struct thinning t = {.problem = problem, .rule = rule, .budget = budget, .err = err};
    t.keys = calloc((size_t)problem->key_count + 1, sizeof t.keys[0]);
    t.dropped = calloc((size_t)problem->key_count + 1, sizeof t.dropped[0]);
    enum rig_rc rc = t.keys == NULL || t.dropped == NULL ? no_memory(err) : RIG_OK;
    for (uint32_t key = 0; rc == RIG_OK && key < problem->key_count; key++) {
        if (problem->writer_first[key] < problem->writer_first[key + 1])
            t.keys[t.key_count++] = key;
        else
            t.dropped[key] = true;
    }
    if (rc == RIG_OK)
        rc = drop_all(&t);
    if (rc == RIG_OK && !make(&t, thin))
        rc = no_memory(err);
    free(t.keys);
    free(t.dropped);
    return rc;
}
