#include "checker/decide/solve/forced_steps.h"

#include <stdlib.h>

#include "base/bug.h"

static bool add_step(struct rig_forced_steps *steps, uint32_t to, uint32_t pair, uint32_t write)
{
    return rig_forced_steps_add(steps, (struct rig_forced_step){to, pair, write});
}

static bool steps_from_commit(const struct rig_forced *forced, uint32_t txn, uint32_t limit,
                              struct rig_forced_steps *steps)
{
    RIG_REQUIRE(txn < forced->problem->txn_count);
    const struct rig_problem *problem = forced->problem;
    const struct rig_rule_frame *frame = forced->frame;
    bool ok = true;
    for (uint32_t w = problem->txns.at[txn].first_write; ok && w < rig_problem_writes_end(problem, txn); w++) {
        for (uint32_t i = problem->reader_first[w]; ok && frame->reads_order && i < problem->reader_first[w + 1]; i++)
            ok = add_step(steps, rig_rule_frame_start(forced->frame, problem->read_txn[problem->readers[i]]),
                          RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
        for (uint32_t p = forced->first_pair[w]; ok && frame->ww_path && p != RIG_PROBLEM_NONE;
             p = forced->pairs.at[p].next) {
            const uint32_t after = forced->pairs.at[p].after;
            if (p < limit)
                ok = add_step(steps, frame->ww_starts ? rig_rule_frame_start(forced->frame, after) : after, p,
                              RIG_PROBLEM_NONE);
        }
    }
    for (uint32_t next = forced->first_child[txn]; ok && next != RIG_PROBLEM_NONE; next = forced->next_child[next])
        ok = add_step(steps, rig_rule_frame_start(forced->frame, next), RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    if (ok && frame->next_moment != NULL && frame->next_moment[txn] != RIG_PROBLEM_NONE)
        ok = add_step(steps, frame->next_moment[txn], RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    return ok;
}

/* The initial state precedes the first writers of each chain. */
static bool steps_from_initial(const struct rig_forced *forced, uint32_t txn, uint32_t key,
                               struct rig_forced_steps *steps)
{
    const struct rig_chains *chains = &forced->clocks.chains;
    bool ok = true;
    for (uint32_t l = chains->lane_first[key]; ok && l < chains->lane_first[key + 1]; l++) {
        const uint32_t first = forced->problem->write_txn[chains->lane_writes[chains->lanes.at[l].begin]];
        if (first != txn)
            ok = add_step(steps, first, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    }
    return ok;
}

static bool steps_from_start(const struct rig_forced *forced, uint32_t txn, uint32_t limit,
                             struct rig_forced_steps *steps)
{
    const struct rig_problem *problem = forced->problem;
    bool ok = !forced->frame->split || add_step(steps, txn, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE);
    for (uint32_t r = problem->txns.at[txn].first_read;
         ok && forced->frame->rw_path && r < rig_problem_reads_end(problem, txn); r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        if (read->writer == RIG_PROBLEM_INITIAL) {
            ok = steps_from_initial(forced, txn, read->key, steps);
            continue;
        }
        const uint32_t write = forced->version[r];
        RIG_INVARIANT(write < problem->writes.count);
        for (uint32_t p = forced->first_pair[write]; ok && p != RIG_PROBLEM_NONE; p = forced->pairs.at[p].next) {
            if (p < limit && forced->pairs.at[p].after != txn)
                ok = add_step(steps, forced->pairs.at[p].after, p, write);
        }
    }
    return ok;
}

bool rig_forced_find_steps(const struct rig_forced *forced, uint32_t node, uint32_t limit,
                           struct rig_forced_steps *steps)
{
    RIG_REQUIRE(node < forced->frame->node_count);
    const struct rig_rule_frame *frame = forced->frame;
    steps->count = 0;
    if (node >= frame->first_moment) {
        const uint32_t start = rig_rule_frame_start(forced->frame, frame->moment_txn[node - frame->first_moment]);
        return add_step(steps, start, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE) &&
               (node + 1 == frame->node_count || add_step(steps, node + 1, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE));
    }
    const uint32_t txn = rig_rule_frame_txn(frame, node);
    if (rig_rule_frame_is_sink(forced->frame, forced->problem, txn))
        return true;
    return (node != txn || steps_from_commit(forced, txn, limit, steps)) &&
           (node != rig_rule_frame_start(forced->frame, txn) || steps_from_start(forced, txn, limit, steps));
}

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
    RIG_REQUIRE(s->problem->write_txn[write] == reads[shown_by].writer &&
                s->problem->writes.at[write].key == reads[read].key);
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
    RIG_REQUIRE(frame->shown);
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
