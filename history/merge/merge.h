/*
 * The records of the ranks of one run (history/merge/rank_facts.h), read as one history, window by window.
 *
 * Each record is a source of its own. Their events are merged by the times of rank 0's clock, as far as these are
 * known: an invocation stands at the earliest possible time, a completion at the latest. So a transaction precedes
 * another by its positions only if it did so whatever the clocks really showed. Transactions of one process may overlap
 * then, and count as one after the other (`in_turn` in struct rig_history). Times are the most likely ones on rank 0's
 * clock.
 *
 * A rank without a record, or whose record ends early, makes the history one with omitted operations (`lost_count`):
 * other ranks may have read what it wrote later.
 *
 * Space: parts of each source, and of each record the events of twice its clock's error, with the rest of the parts
 * that they are in; 24 bytes an open transaction, 8 a process; up to 24 segments that are merged ahead, 1.5 MiB each,
 * within a 16th of a limit. Time: linear, times the logarithm of the number of records. Threads: those of the sources;
 * with more than one thread, one that merges ahead of the reader, and parses where `threads` is 2.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_H
#define RIG_HISTORY_MERGE_MERGE_H

#include "base/err.h"
#include "history/model/segment.h"
#include "history/source/source.h"

struct rig_merge;

struct rig_merge_records {
    struct rig_source **sources; /* at least one; rig_merge_open() takes them, also on failure */
    const char *const *names;    /* one a source; they outlive the merge */
    size_t count;
    unsigned threads;
    size_t limit_bytes; /* of the whole check; 0: none */
    size_t output_txns; /* transactions of a segment, about; 0: 4,096 */
};

/* Fills in `facts`. RIG_E_INPUT: the sources are not records of one run, or of a kind that cannot be merged. */
enum rig_rc rig_merge_open(const struct rig_merge_records *records, struct rig_source_facts *facts,
                           struct rig_merge **merge, struct rig_err *err);
/* As rig_source_next(); updates the facts. */
enum rig_rc rig_merge_next(struct rig_merge *merge, const struct rig_segment **segment, struct rig_source_facts *facts,
                           struct rig_err *err);
/* Restarts from the beginning. */
enum rig_rc rig_merge_rewind(struct rig_merge *merge, struct rig_source_facts *facts, struct rig_err *err);
/*
 * For processes that check parts of the history; as rig_source_blocks(), rig_source_start_at(), rig_source_given_end(),
 * rig_source_marks() and rig_source_processes(). rig_merge_marks() brings the facts of the ranks up to date; after it
 * the merge has to start again.
 */
bool rig_merge_find_places(struct rig_merge *merge, struct rig_source_offsets *places);
enum rig_rc rig_merge_start_at(struct rig_merge *merge, const struct rig_source_start *start,
                               struct rig_source_facts *facts, struct rig_err *err);
size_t rig_merge_place(const struct rig_merge *merge);
void rig_merge_marks(struct rig_merge *merge, struct rig_source_facts *facts, uint64_t *start, uint64_t *end);
bool rig_merge_list_processes(const struct rig_merge *merge, struct rig_rank_processes *processes);
double rig_merge_share(const struct rig_merge *merge);
/* Takes NULL. */
void rig_merge_close(struct rig_merge *merge);

#endif
