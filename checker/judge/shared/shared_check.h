/*
 * Checks one record, or those of several ranks, with several processes, each of which reads a part of the history,
 * perhaps on another machine.
 *
 * Only a history without anomalies gets its verdict this way: the parts are judged by themselves
 * (stream/stream_part.h), and what they add up to is the verdict. Where a part finds anything, or the record cannot be
 * divided, one process has to check all of it, so that counts and witnesses are always the same.
 *
 * In turn: each process notes the keys of its part, and the leader plans from where each reads
 * (part_plan.h); each judges its part; the leader compares what the two sides say of each border.
 *
 * For records of lists with keys that are numbers, without certificates.
 *
 * Time: that of reading the record once and judging it once, divided by the processes, and of what several of them
 * read. Space: in each process that of a check, and 28 to 40 bytes a key. Threads: one, beside those of the source.
 */
#ifndef RIG_CHECKER_JUDGE_SHARED_SHARED_CHECK_H
#define RIG_CHECKER_JUDGE_SHARED_SHARED_CHECK_H

#include "base/buf.h"
#include "checker/judge/stream/stream.h"
#include "history/source/source.h"

/* The most bytes of a task, and of an answer. */
#define RIG_SHARED_BYTES_MOST ((size_t)256 << 20)

/* The other processes, from the leader's side. */
struct rig_helpers {
    void *context;
    uint32_t count;
    /* Gives a helper its next task. False: it is lost, and `why` says how. */
    bool (*tell)(void *context, uint32_t helper, const struct rig_buf *task, struct rig_err *why);
    /* Waits for its answer. False: the same. */
    bool (*await)(void *context, uint32_t helper, struct rig_buf *answer, struct rig_err *why);
    struct rig_err why; /* after a check: why the processes did not share it; RIG_OK: they did */
};

/*
 * The leader's part. *verdict NULL, with the reason in helpers->why: one process has to check the history, which was
 * read in part. No failure of a helper is one of the check.
 */
enum rig_rc rig_check_shared(struct rig_source *source, const struct rig_stream_options *options,
                             struct rig_helpers *helpers, struct rig_verdict **verdict, struct rig_err *err);

/* A helper's part: does a task, with a source and options like the leader's. An error goes into the answer. */
void rig_shared_help(struct rig_source *source, const struct rig_stream_options *options, const struct rig_buf *task,
                     struct rig_buf *answer);

#endif
