#include "checker/decide/solve/forced_shown.h"

#include <stdlib.h>

struct shown {
    const struct rig_problem *problem;
    bool in_order;
    rig_forced_shown_take *take;
    void *context;
    uint32_t *marked, *first; /* per key: one more than the last reader that read it, and its last read of the key */
    uint32_t *before;         /* per read: one before it of the same transaction and key, or NONE */
    uint32_t *met;            /* per transaction: one more than the last reader of it that was looked at */
};

static void mark_reads(struct shown *s, uint32_t reader)
{
    for (uint32_t r = s->problem->txns.at[reader].first_read; r < rig_problem_reads_end(s->problem, reader); r++) {
        const uint32_t key = s->problem->reads.at[r].key;
        s->before[r] = s->marked[key] == reader + 1 ? s->first[key] : RIG_PROBLEM_NONE;
        s->marked[key] = reader + 1;
        s->first[key] = r;
    }
}

/* `write`: of the transaction that the read `shown_by` returned a version of, and of the key of `read`. */
static bool take_write(const struct shown *s, uint32_t read, uint32_t write, uint32_t shown_by)
{
    const struct rig_problem_read *reads = s->problem->reads.at;
    if (reads[read].writer == reads[shown_by].writer || (s->in_order && reads[shown_by].op >= reads[read].op))
        return true;
    return s->take(s->context, read, write);
}

/* The writer wrote no more keys than the reader read. */
static bool by_writes(const struct shown *s, uint32_t reader, uint32_t shown_by)
{
    const uint32_t writer = s->problem->reads.at[shown_by].writer;
    bool ok = true;
    for (uint32_t w = s->problem->txns.at[writer].first_write; ok && w < rig_problem_writes_end(s->problem, writer);
         w++) {
        const uint32_t key = s->problem->writes.at[w].key;
        uint32_t r = s->marked[key] == reader + 1 ? s->first[key] : RIG_PROBLEM_NONE;
        for (; ok && r != RIG_PROBLEM_NONE; r = s->before[r])
            ok = take_write(s, r, w, shown_by);
    }
    return ok;
}

static bool by_reads(const struct shown *s, uint32_t reader, uint32_t shown_by)
{
    const struct rig_problem_read *reads = s->problem->reads.at;
    bool ok = true;
    for (uint32_t r = s->problem->txns.at[reader].first_read; ok && r < rig_problem_reads_end(s->problem, reader);
         r++) {
        const uint32_t write = rig_problem_write_of(s->problem, reads[shown_by].writer, reads[r].key);
        if (write != RIG_PROBLEM_NONE)
            ok = take_write(s, r, write, shown_by);
    }
    return ok;
}

/* Reads are in the order of the operations, so the first one that shows a transaction is the earliest. */
static bool of_reader(const struct shown *s, uint32_t reader)
{
    const struct rig_problem *problem = s->problem;
    const uint32_t begin = problem->txns.at[reader].first_read, end = rig_problem_reads_end(problem, reader);
    bool ok = true;
    for (uint32_t r = begin; ok && r < end; r++) {
        const uint32_t writer = problem->reads.at[r].writer;
        if (writer == RIG_PROBLEM_INITIAL || s->met[writer] == reader + 1)
            continue;
        s->met[writer] = reader + 1;
        const uint32_t writes = rig_problem_writes_end(problem, writer) - problem->txns.at[writer].first_write;
        const bool read_once = s->first[problem->reads.at[r].key] == r && s->before[r] == RIG_PROBLEM_NONE;
        if (writes > 1 || !read_once)
            ok = writes <= end - begin ? by_writes(s, reader, r) : by_reads(s, reader, r);
    }
    return ok;
}

bool rig_forced_shown(const struct rig_problem *problem, const struct rig_rule_frame *frame,
                      rig_forced_shown_take *take, void *context, bool *ended)
{
    const size_t keys = (size_t)problem->key_count + 1;
    struct shown s = {.problem = problem,
                      .in_order = frame->shown_in_order,
                      .take = take,
                      .context = context,
                      .marked = calloc(keys, sizeof(uint32_t)),
                      .first = calloc(keys, sizeof(uint32_t)),
                      .before = calloc(problem->reads.count + 1, sizeof(uint32_t)),
                      .met = calloc((size_t)problem->txn_count + 1, sizeof(uint32_t))};
    const bool ok = s.marked != NULL && s.first != NULL && s.before != NULL && s.met != NULL;
    *ended = false;
    for (uint32_t reader = 0; ok && !*ended && reader < problem->txn_count; reader++) {
        mark_reads(&s, reader);
        *ended = !of_reader(&s, reader);
    }
    free(s.marked);
    free(s.first);
    free(s.before);
    free(s.met);
    return ok;
}
