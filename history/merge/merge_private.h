/*
 * The structure of a merge. Private to the files that implement history/merge/merge.h: merge.c has its life, its thread
 * and its facts, merge_output.c fills an output, and merge_parts.c lets a process begin and end at cuts.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_PRIVATE_H
#define RIG_HISTORY_MERGE_MERGE_PRIVATE_H

#include <pthread.h>

#include "history/merge/merge.h"
#include "history/merge/merge_output.h"
#include "history/merge/merge_parts.h"

enum {
    RIG_MERGE_OUTPUTS_MOST = 24, /* outputs merged while a window is judged, at most */
    RIG_MERGE_OUTPUT_OPS = 1 << 18
};

enum rig_merge_state { RIG_MERGE_EMPTY, RIG_MERGE_FULL, RIG_MERGE_GIVEN };

struct rig_merge_slot {
    struct rig_merge_output made;
    enum rig_merge_state state; /* under the lock, once there is a thread */
    double share;
    size_t place;  /* of the last cut passed */
    uint64_t mark; /* a digest of the state at `place` */
    bool last;     /* nothing is in it, and nothing follows */
};

/* For a process that reads a part of the history. */
struct rig_merge_parts {
    struct rig_merge_cuts cuts;
    bool is_on;                        /* outputs end at cuts */
    bool uses_only;                    /* outputs have no operations */
    bool is_before;                    /* the events belong to the part before: they only get positions */
    size_t next_cut;                   /* all earlier ones were passed */
    uint64_t txns_before;              /* complete before the part */
    uint64_t mark;                     /* of the last cut passed */
    uint64_t start_mark;               /* of the first one */
    size_t end_place;                  /* of the last cut in what was given */
    uint64_t end_mark;                 /* of the last cut in what was given */
    struct rig_fault_event_vec faults; /* of pieces taken; those before a cut come out there */
    struct rig_arena texts;
};

struct rig_merge {
    struct rig_merge_rank *ranks;
    size_t count;
    struct rig_rank_fact *facts; /* per rank of the run, also of missing ones */
    uint32_t run_count;
    uint32_t missing_count;
    struct rig_time_stream *streams; /* two a rank */
    struct rig_time_order order;
    struct rig_merge_piece **end_pieces; /* per rank: the piece of a batch's ends */
    uint32_t **positions;                /* per stream: the place of its next position */
    struct rig_merge_ids ends;           /* the ranks of a batch's ends, in order */
    struct rig_merge_ids under_way;      /* scratch: starts of one rank */
    struct rig_merge_processes processes;
    struct rig_merge_slot outputs[RIG_MERGE_OUTPUTS_MOST];
    unsigned output_count, filling, giving;
    uint64_t output_number;
    size_t output_txns; /* about the transactions of an output */
    uint32_t next_position;
    bool begun, ended;
    struct rig_err err; /* the merging side's */
    struct rig_merge_parts parts;
    /* The thread that merges ahead. */
    bool threaded, started, stopping;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* ---- merge_output.c ---- */

/* The next output. RIG_E_INPUT, RIG_E_LIMIT, and the errors of the sources. */
enum rig_rc rig_merge_fill(struct rig_merge *merge, struct rig_merge_slot *output, struct rig_err *err);
/* The rank's transactions under way, in merge->under_way. False when memory runs out. */
bool rig_merge_list_under_way(struct rig_merge *merge, const struct rig_merge_rank *rank);
enum rig_rc rig_merge_no_memory(struct rig_err *err);
enum rig_rc rig_merge_too_many(struct rig_err *err);

/* ---- merge_parts.c ---- */

/* INT64_MAX: there is none. */
int64_t rig_merge_next_cut(const struct rig_merge *merge);
/* Whether all events before the next cut have their positions; there is one. merge->streams are the next events. */
bool rig_merge_reaches_cut(const struct rig_merge *merge);
/* They are in outputs, or belong to the part before. */
enum rig_rc rig_merge_pass_cut(struct rig_merge *merge, struct rig_merge_output *out, struct rig_err *err);
/* Gives out the events of faults before that time. False when memory runs out. */
bool rig_merge_put_faults(struct rig_merge *merge, struct rig_merge_output *out, int64_t time_ns);
/* The last cut passed, as a place. */
size_t rig_merge_cut_passed(const struct rig_merge *merge);

/* ---- merge.c ---- */

void rig_merge_stop_thread(struct rig_merge *merge);
/* Begins at a block of each rank, or at the beginning where `blocks` is NULL. */
enum rig_rc rig_merge_restart(struct rig_merge *merge, const struct rig_source_entry *blocks,
                              struct rig_source_facts *facts, struct rig_err *err);
/* The thread does not run. */
void rig_merge_set_rank_facts(struct rig_merge *merge, struct rig_source_facts *facts);

#endif
