/*
 * The structure of a source of one file (history/source/source.h): source.c has its life and its facts, source_parts.c
 * the parts that are parsed ahead, and their threads. Private to these files.
 */
#ifndef RIG_HISTORY_SOURCE_SOURCE_PRIVATE_H
#define RIG_HISTORY_SOURCE_SOURCE_PRIVATE_H

#include <pthread.h>

#include "history/merge/merge.h"
#include "history/source/form_reader.h"
#include "history/source/source.h"
#include "history/source/source_parts.h"

enum { RIG_SOURCE_THREADS_MOST = 64 };

enum rig_part_state { RIG_PART_FREE, RIG_PART_TAKEN, RIG_PART_READY };

struct rig_source_part {
    enum rig_part_state state; /* under the lock; the state says which thread owns the rest */
    size_t begin, end;
    enum rig_rc rc;
    struct rig_err err;
    struct rig_segment *segment;
};

/*
 * Part k is in parts[k % part_count] from its claim until its segment is returned. The parsing threads claim parts in
 * order; so does the reader's thread while the part that it needs is not ready.
 */
struct rig_source {
    char *name;
    struct rig_source_options options;
    const struct rig_form_reader *reader;
    void *state;             /* the form reader's */
    struct rig_merge *merge; /* of several records, in place of the reader; else NULL */
    bool merged;             /* this is one of several records: what its segments become has notes */
    bool uses_only;          /* segments need no notes; changes only while no part is being parsed */
    struct rig_source_facts facts;
    char *meta;
    struct rig_fault_event_vec faults; /* of all segments given to the caller */
    struct rig_arena fault_texts;
    struct rig_certificate certificate; /* of a text */
    struct rig_rewritten rewritten;     /* of a text */
    struct rig_source_bytes bytes;      /* change only while no part is being parsed */
    bool ended;
    struct rig_err failure; /* the error of every further call */

    unsigned part_count;
    struct rig_source_part *parts;
    struct rig_segment *segments;
    size_t most_bytes;    /* as in the facts */
    size_t planned_bytes; /* for all parts */
    size_t largest_bytes; /* memory of the largest one given */

    pthread_mutex_t lock;
    pthread_cond_t may_claim; /* for the parsing threads */
    pthread_cond_t is_ready;  /* for the reader's thread */
    /* Under the lock. */
    struct rig_segment **idle; /* a stack: the last used is in the cache, and an unused one takes no memory */
    unsigned idle_count;
    size_t given_end; /* of the last segment's part */
    size_t cut_at;
    size_t passed_from;                /* the pages before were released */
    uint64_t claimed, given, released; /* numbers of parts: released <= given <= claimed */
    unsigned parsing;
    bool hungry;   /* nothing complete begins at cut_at */
    bool settling; /* the file no longer grows */
    bool settled;  /* the file no longer grows, and all of it is mapped */
    bool broken;   /* a part could not be parsed: later ones are not claimed */
    bool paused, stopping;

    unsigned thread_count;
    pthread_t threads[RIG_SOURCE_THREADS_MOST];
};

/* How many parts are in memory at a time with this reader. */
unsigned rig_source_part_count(const struct rig_source *source, const struct rig_form_reader *reader);
/* The length of each part under the limit. */
size_t rig_source_part_share(const struct rig_source *source, const struct rig_form_reader *reader,
                             unsigned part_count);
/* Plans the parts and allocates them. False when memory runs out. */
bool rig_source_make_parts(struct rig_source *source);

/* Returns the part whose segment the caller had. Under the lock. */
void rig_source_release_part(struct rig_source *source);
/* The next part in order, once it is parsed; NULL at the end, or if there is none yet. Under the lock. */
enum rig_rc rig_source_wait_for_part(struct rig_source *source, struct rig_source_part **next, struct rig_err *err);
/* Notes the memory of a part, which depends on its content. */
void rig_source_measure(struct rig_source *source, const struct rig_source_part *part);
/* At the end: frees what segments hold. */
void rig_source_empty_segments(struct rig_source *source);

/* Waits until no part is being parsed, and prevents further claims. */
void rig_source_pause(struct rig_source *source);
/* Allows them again, from this byte on. */
void rig_source_resume_at(struct rig_source *source, size_t begin);
void rig_source_stop_threads(struct rig_source *source);

#endif
