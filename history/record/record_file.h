/*
 * The frames of a binary record (docs/history-format.md): its beginning, and runs of frames decoded into segments.
 * Private to the record's readers.
 *
 * A run ends early at the first frame that is not whole or damaged: what came before it stays valid. A run of format
 * version 2 that starts with a checkpoint needs nothing from before it; whether it goes on from what came before is
 * then up to rig_record_goes_on().
 *
 * Threads: a file may be read by several runs at once, each on one thread.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_FILE_H
#define RIG_HISTORY_RECORD_RECORD_FILE_H

#include "history/record/packing.h"
#include "history/record/record_decoder.h"
#include "history/source.h"

struct rig_record_file {
    struct rig_record_shape shape;
    char *name;
    const uint8_t *data;
    size_t size;
    char *meta;
    int64_t start_utc_ns; /* the wall clock's time at the record's start, since 1970; 0: unknown */
    uint64_t skipped_count;
    size_t header_end; /* 0: the file is cut before that */
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
    size_t next;                    /* where the frame to come begins, or the one that is being decoded */
    uint64_t frame_number;          /* of that frame */
    size_t frame_end;               /* of the frame whose events are decoded in part; 0: there is none */
    const uint8_t *events;          /*   where they begin */
    uint64_t first_number;          /* of the frame that the run started at */
    struct rig_record_counts first; /* as the run's first checkpoint tells them */
    bool in_block;                  /* a checkpoint was decoded */
    bool stopped;                   /* the frame at `next` is not whole or damaged */
    bool closed;                    /* the closing frame was decoded */
    bool was_cut;                   /* so says the closing frame */
    struct rig_err err;             /* for who cannot tell it at once */
};

/* Whether the data is a binary record, by its first bytes (also when there are fewer than the magic's). */
bool rig_record_recognise(const void *data, size_t size);

/* Reads the beginning. Done also after a failure. */
enum rig_rc rig_record_file_init(struct rig_record_file *file, const char *name, const void *data, size_t size,
                                 const struct rig_load_options *options, struct rig_err *err);
/* The file has grown and lies elsewhere. */
void rig_record_file_grow(struct rig_record_file *file, const void *data, size_t size);
void rig_record_file_done(struct rig_record_file *file);
/* Where the frame at `at` ends; 0 when it is not whole, or no frame. */
size_t rig_record_frame_end(const struct rig_record_file *file, size_t at);
/* Whether the file has a frame of this type at `at`, damaged or not. */
bool rig_record_frame_is(const struct rig_record_file *file, size_t at, enum rig_frame_type type);
/* The bytes of the frame [at, end) once they are unpacked, by its own word; not less than it has in the file. */
uint64_t rig_record_frame_weight(const struct rig_record_file *file, size_t at, size_t end);
/* The number that the checkpoint at `at` has by its own word. */
uint64_t rig_record_checkpoint_number(const struct rig_record_file *file, size_t at);

void rig_record_run_init(struct rig_record_run *run, const struct rig_record_file *file);
void rig_record_run_done(struct rig_record_run *run);
/* Goes on at the frame at `begin`, which has this number; nothing is known of what came before. */
void rig_record_run_start(struct rig_record_run *run, const struct rig_record_file *file, size_t begin,
                          uint64_t frame_number);
/* Decodes the frames up to `end`, and completes the segment. Where `end` lies within a frame of events, so many of them
 * as lie before it; in a packed frame, a share as large. */
enum rig_rc rig_record_run_decode(struct rig_record_run *run, size_t end, struct rig_segment *segment,
                                  struct rig_err *err);
/* Whether `run` is what follows `last`; RIG_E_INPUT when its checkpoint says otherwise. */
enum rig_rc rig_record_goes_on(const struct rig_record_run *last, const struct rig_record_run *run,
                               struct rig_err *err);

#endif
