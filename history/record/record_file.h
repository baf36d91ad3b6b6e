/*
 * The frames of a binary record (docs/history-format.md): its beginning, and runs of frames decoded into segments.
 * Private to the record's readers.
 *
 * A run ends early at the first frame that is incomplete or damaged; earlier ones stay valid. A run of format version 2
 * that starts with a checkpoint needs nothing from before it; rig_record_goes_on() checks that it continues the earlier
 * run.
 *
 * Threads: a file may be read by several runs at once, each on one thread.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_FILE_H
#define RIG_HISTORY_RECORD_RECORD_FILE_H

#include "history/record/packing.h"
#include "history/record/record_decoder.h"
#include "history/source/source.h"

struct rig_record_file {
    struct rig_record_shape shape;
    char *name;
    const uint8_t *data;
    size_t size;
    char *meta;
    int64_t start_utc_ns; /* the wall clock's time at the record's start, since 1970; 0: unknown */
    uint64_t skipped_count;
    size_t header_end;        /* 0: the file ends before that */
    struct rig_rank rank;     /* with RIG_RECORD_RANK */
    size_t texts_limit_bytes; /* of the table of values that are not integers; 0: none */
};

struct rig_record_counts {
    uint64_t events, txns;
    uint64_t open; /* a digest of the open transactions */
    int64_t last_time;
    uint32_t next_position;
};

struct rig_record_run {
    struct rig_record_decoder decoder;
    const struct rig_record_file *file;
    struct rig_packer *packer; /* for packed frames */
    struct rig_buf unpacked;
    size_t next;                    /* start of the next frame, or of the one being decoded */
    uint64_t frame_number;          /* of that frame */
    size_t frame_end;               /* of the partly decoded frame of events; 0: none */
    const uint8_t *events;          /* start of those events */
    uint64_t first_number;          /* of the frame that the run started at */
    struct rig_record_counts first; /* from the run's first checkpoint */
    bool in_block;                  /* a checkpoint was decoded */
    bool stopped;                   /* the frame at `next` is incomplete or damaged */
    bool closed;                    /* the closing frame was decoded */
    bool was_cut;                   /* flag of the closing frame */
    struct rig_err err;             /* kept for a caller that reports it later */
};

/* Whether the data is a binary record, by its first bytes (also when there are fewer than the magic's). */
bool rig_record_recognise(const void *data, size_t size);

/* Reads the beginning. rig_record_file_done() is called also after a failure. */
enum rig_rc rig_record_file_init(struct rig_record_file *file, const char *name, const void *data, size_t size,
                                 const struct rig_load_options *options, struct rig_err *err);
/* The file has grown and its mapping has moved. */
void rig_record_file_grow(struct rig_record_file *file, const void *data, size_t size);
void rig_record_file_done(struct rig_record_file *file);
/* The end of the frame at `at`; 0 if it is incomplete or not a frame. */
size_t rig_record_frame_end(const struct rig_record_file *file, size_t at);
/* Whether the file has a frame of this type at `at`, damaged or not. */
bool rig_record_frame_is(const struct rig_record_file *file, size_t at, enum rig_frame_type type);
/* The unpacked size of the frame [at, end), as it states it; at least its size in the file. */
uint64_t rig_record_frame_weight(const struct rig_record_file *file, size_t at, size_t end);
/* The frame number that the checkpoint at `at` states. */
uint64_t rig_record_checkpoint_number(const struct rig_record_file *file, size_t at);

void rig_record_run_init(struct rig_record_run *run, const struct rig_record_file *file);
void rig_record_run_done(struct rig_record_run *run);
/* Continues at the frame at `begin`, which has this number, without knowledge of earlier frames. */
void rig_record_run_start(struct rig_record_run *run, const struct rig_record_file *file, size_t begin,
                          uint64_t frame_number);
/* Decodes the frames up to `end`, and completes the segment. If `end` is within a frame of events, decodes the
 * events before it; in a packed frame, the same share of them. */
enum rig_rc rig_record_run_decode(struct rig_record_run *run, size_t end, struct rig_segment *segment,
                                  struct rig_err *err);
/* The counts after what was decoded. */
struct rig_record_counts rig_record_run_counts(const struct rig_record_run *run);
/* Whether `run` continues `last`; RIG_E_INPUT if its checkpoint contradicts that. */
enum rig_rc rig_record_goes_on(const struct rig_record_run *last, const struct rig_record_run *run,
                               struct rig_err *err);

#endif
