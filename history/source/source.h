/*
 * A history as a stream of segments, in the order of the file, whatever its form.
 *
 * The file is mapped and cut into parts; `threads` threads, the reader's own among them, parse parts, at most threads +
 * 2 parts ahead, so that memory is bounded. Under a limit the parts in memory take about an eighth of it: they are
 * shorter, and there may be fewer threads than requested. Segments come out in order. The reader's thread also parses
 * if the next part is not ready. With one thread, or for a file of one part, everything happens in rig_source_next(),
 * and no thread is started. The first error in the order of the file wins, and stays.
 *
 * Each form has a struct rig_form_reader: how to cut, how to parse a part, and what remains to be done in order.
 */
#ifndef RIG_HISTORY_SOURCE_SOURCE_H
#define RIG_HISTORY_SOURCE_SOURCE_H

#include "base/err.h"
#include "base/vec.h"
#include "history/merge/rank_facts.h"
#include "history/model/certificate.h"
#include "history/model/segment.h"
#include "history/source/load.h"

struct rig_source;

RIG_VEC(size_t, rig_source_offsets)

/* A block of a record, and what it says of the history before it. */
struct rig_source_entry {
    size_t at; /* in the file; the first block: 0 */
    uint64_t txn_count;
    int64_t time_ns; /* of the last event */
};

RIG_VEC(struct rig_source_entry, rig_source_entries)

struct rig_source_options {
    struct rig_load_options load; /* form, workload, limit */
    unsigned threads;             /* 0: one for each core that the process may use */
    bool follow;                  /* the file still grows: see rig_source_next() */
    bool in_order;  /* one part after the other, also where blocks could be parsed side by side: less memory */
    bool by_blocks; /* block by block, where the record has them, also on one thread */
};

/*
 * Facts about the file; complete once rig_source_next() has come to the end. `meta` is known when the source is opened,
 * unless the file is followed and does not have its header yet.
 */
struct rig_source_facts {
    enum rig_form form;
    enum rig_workload workload;
    enum rig_type_origin type_origin;
    const char *meta;                              /* the run's metadata or NULL; lives as long as the source */
    const struct rig_specification *specification; /* of a model: from the options, or from the metadata; or NULL */
    size_t size_bytes;
    int64_t start_utc_ns; /* the wall clock, ns since 1970, when times were 0; 0: unknown */
    uint64_t skipped_count;
    uint64_t lost_count;   /* operations left out that may have read or written: see struct rig_history */
    uint64_t reused_count; /* see rig_segment.reused_count */
    const struct rig_fault_event *faults; /* live as long as the source */
    size_t fault_count;
    struct rig_certificate
        *certificate;     /* NULL: there is none. Lives as long as the source; rig_window_give() takes its content */
    struct rig_rank rank; /* of a record of a run over several ranks; else its count is 0 */
    const struct rig_clock_sample *clock; /* its samples, when the source was opened or rewound; live until then */
    size_t clock_count;
    struct rig_rank_facts ranks; /* of several records; complete at the end, like the rest */
    bool excerpt;                /* as in the options: counts as one operation in lost_count */
    bool has_invocations;
    bool keyword_keys;
    bool value_keys;
    bool sorted;        /* the operations were sorted by their indices: see rig_source_mend() */
    bool reads_at_once; /* see struct rig_history; known when the source is opened */
    bool has_all_rows;  /* see struct rig_history, too */
    bool truncated;
    uint64_t damaged_at;     /* offset of the damage, where reading stopped; 0: none */
    uint64_t damaged_bytes;  /*   from there to the end of the file */
    uint64_t damaged_frames; /*   undamaged frames among them */
    uint64_t damaged_txns;   /* at least this many completed transactions are missing */
    size_t most_bytes;       /* memory that a file of this size may take on this machine without a limit */
    size_t held_bytes;       /* bytes kept of a pipe, so that it can be read again */
    size_t parts_bytes;      /* estimated memory of the parts that are in memory at a time: planned and measured */
};

/* `path` "-" is standard input. Errors as in history/source/load.h. */
enum rig_rc rig_source_open(const char *path, const struct rig_source_options *options, struct rig_source **source,
                            struct rig_err *err);
/*
 * The records of the ranks of one run as one history (history/merge/merge.h), also if some are missing. One path may
 * also be any other history, as above.
 */
enum rig_rc rig_source_open_ranks(const char *const *paths, size_t count, const struct rig_source_options *options,
                                  struct rig_source **source, struct rig_err *err);
/* From memory, which must outlive the source; `name` stands for the file in errors. */
enum rig_rc rig_source_open_memory(const char *name, const void *data, size_t size,
                                   const struct rig_source_options *options, struct rig_source **source,
                                   struct rig_err *err);
/*
 * The next segment, or NULL at the end; borrowed until the next call. With `follow`, NULL also means that no complete
 * frame is there yet: call again later, and call rig_source_settle() once the file no longer grows.
 */
enum rig_rc rig_source_next(struct rig_source *source, const struct rig_segment **segment, struct rig_err *err);
/* The followed file is complete: read the rest, to the end. */
void rig_source_settle(struct rig_source *source);
/* Exchanges the content of the segment given last, until the next call, with that of another one, which then owns it.
 * Not for texts as keys. Private to the merge. */
void rig_source_exchange(struct rig_source *source, struct rig_segment *segment);
/* Restarts from the beginning. */
enum rig_rc rig_source_rewind(struct rig_source *source, struct rig_err *err);
/*
 * For processes that read parts of one history. The places where it can be entered, in order, the first one 0: the
 * beginnings of a record's blocks in its file, or cuts through several records, as if these were one file
 * (history/merge/merge_parts.h). False where the source is read in another way, and for a record that has a
 * certificate.
 */
bool rig_source_blocks(struct rig_source *source, struct rig_source_offsets *blocks);
/* How a process reads from a place on. */
struct rig_source_start {
    size_t block;       /* one of these places */
    uint64_t txn_count; /* transactions that complete before it; a single record says so itself */
    bool uses_only;     /* segments may lack operations and notes, and positions may be wrong */
};

/* Restarts there. Transactions that are open there are given as open ones. */
enum rig_rc rig_source_start_at(struct rig_source *source, const struct rig_source_start *start, struct rig_err *err);
/* The place where the last segment given ends; of several records, the last place that was reached. */
size_t rig_source_given_end(const struct rig_source *source);
/* Digests of what the source says (counts, times, open transactions) where the first segment given since the start
 * begins, and where the last one ends: the end of one process is the start of the next one unless something between
 * them is damaged. With several records, brings the facts of the ranks up to date; then start anew. */
void rig_source_marks(struct rig_source *source, uint64_t *start, uint64_t *end);
/* Adds the processes of several records that were met since the start; after rig_source_marks(). False when memory runs
 * out. */
bool rig_source_processes(const struct rig_source *source, struct rig_rank_processes *processes);
/* The blocks of one record, for the merge. False as for rig_source_blocks(), and if times need not ascend or a
 * checkpoint is damaged. */
bool rig_source_find_entries(struct rig_source *source, struct rig_source_entries *entries);
/*
 * After rig_source_next() failed: whether the operations of JSON lines or EDN can be read in another way; then the
 * source restarts from its beginning. Operations whose indices do not ascend are sorted, in memory, and keys of several
 * kinds are read as values. `why` holds the failure; it is cleared, or replaced where sorting fails. Sorting may take
 * half of the limit, less what is held of a pipe; it takes a copy of the file and 72 bytes an operation
 * (text/index_order.h). Call it again after another failure: there are few ways.
 */
bool rig_source_mend(struct rig_source *source, struct rig_err *why);
/* How much of the source lies before the end of the last segment given: 0 to 1. */
double rig_source_share(const struct rig_source *source);
const struct rig_source_facts *rig_source_facts(const struct rig_source *source);
/* Stops the threads. Takes NULL. */
void rig_source_close(struct rig_source *source);

#endif
