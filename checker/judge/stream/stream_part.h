/*
 * A part of a history that is judged by itself, beside other parts of it in other processes (shared/shared_check.h).
 *
 * The border of two parts lies after some number of transactions. Which of them close there (closing.h) is a fact of
 * the history, so the part before the border judges those that close, and the part after it those that wait. The
 * latter reads on both sides of the border: from so far before it that it meets each key of the waiting transactions
 * whole, up to its own end. It feeds what lies before the border without judging it, and skips what closes there.
 *
 * A part is good only if it found nothing; then the sums of all parts are those of the history. Both sides of a border
 * say which transactions wait there: if they agree at all borders, each transaction was judged once.
 *
 * For histories whose types are judged in windows without explanations (lists), with a census of the whole history.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_STREAM_PART_H
#define RIG_CHECKER_JUDGE_STREAM_STREAM_PART_H

#include "base/table.h"
#include "checker/judge/stream/stream.h"

/* The transactions that wait at a border. */
struct rig_stream_border {
    uint64_t count;
    uint64_t digest; /* of their positions */
};

/* A part's contribution to a verdict. Plain numbers: processes exchange it. */
struct rig_stream_part {
    bool good; /* no anomaly, no level open, and the border before it could be drawn */
    bool has_invocations, unsettled, some_uncommitted;
    uint64_t own_levels;
    struct rig_stream_border before, behind; /* after the last part: none wait */
    uint64_t ok, fail, info, ops, committed, unknown_reads, open_reads, observations, full_reads, unordered_keys;
    uint64_t edges[3];
    uint64_t windows;
    int64_t infer_ns, search_ns, adding_ns;
};

/* Before anything is fed: the first segment begins after this many transactions of the history. `skips`: up to
 * rig_stream_skip() they belong to an earlier part. */
void rig_stream_warm(struct rig_stream *windows, uint64_t txn_count, bool skips);
/* At the border before the part. `whole`: the keys that are not used before the first segment; each key has some
 * value. */
enum rig_rc rig_stream_skip(struct rig_stream *windows, const struct rig_table *whole, struct rig_stream_part *part,
                            struct rig_err *err);
/* At the end of the part; `last`: of the history, too. Fills in the rest. */
enum rig_rc rig_stream_end_part(struct rig_stream *windows, bool last, struct rig_stream_part *part,
                                struct rig_err *err);
/* After the end of the first part: adds a later one, a good one. */
void rig_stream_add_part(struct rig_stream *windows, const struct rig_stream_part *part);
/* After all were added: the verdict, as rig_stream_finish() gives it. Frees the windows, also on failure. */
enum rig_rc rig_stream_finish_parts(struct rig_stream *windows, const struct rig_source_facts *facts,
                                    struct rig_verdict **verdict, struct rig_err *err);

#endif
