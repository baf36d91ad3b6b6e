/*
 * Writes a history in any form, event by event, while it is made.
 *
 * Events come in the order of their times. Times are distinct, except RIG_NO_TIME in the textual forms and those of
 * successive events of one client, or of a rank. The binary form stores no positions: events count from 0 in their
 * order.
 *
 * Time: that of formatting or encoding. Space: the encoder or the kept texts of lists, 1 MiB, 8 bytes a client, and the
 * samples of a clock between two blocks; it does not grow with the number of events. Threads: one at a time.
 */
#ifndef RIG_HISTORY_SOURCE_EVENT_WRITER_H
#define RIG_HISTORY_SOURCE_EVENT_WRITER_H

#include "base/buf.h"
#include "base/err.h"
#include "history/source/load.h"
#include "base/output_file.h"
#include "history/record/record_encoder.h"

struct rig_event_writer_options {
    struct rig_save_options save;
    enum rig_workload workload;
    const char *meta;            /* binary form only; NULL: none */
    uint32_t columns;            /* RIG_COLUMN_BIT()s of the side columns that completions may have */
    bool certificate;            /* rig_event_writer_certify() may be called */
    const struct rig_rank *rank; /* the record's place in a run of ranks, in binary form; NULL: none; for the call */
};

struct rig_event_writer;

/* Borrows the output, which the caller opens and closes. */
enum rig_rc rig_event_writer_new(const struct rig_event_writer_options *options, struct rig_output *output,
                                 struct rig_event_writer **writer, struct rig_err *err);
/* Takes NULL. */
void rig_event_writer_free(struct rig_event_writer *writer);

/* A client begins or ends a transaction. Borrowed for the call. */
struct rig_client_event {
    uint32_t client;
    uint32_t op_count;
    int64_t process;
    int64_t time_ns;
    const struct rig_op *ops;
};

/* A client invokes after its last transaction has completed, or under a new process, which leaves that transaction
 * open. */
enum rig_rc rig_event_writer_invoke(struct rig_event_writer *writer, const struct rig_client_event *event,
                                    struct rig_err *err);
/* Process and operations are those of the client's invocation. */
enum rig_rc rig_event_writer_complete(struct rig_event_writer *writer, const struct rig_client_event *event,
                                      const struct rig_record_completion *completion, struct rig_err *err);
/* With a rank: a sample of its clock. It is in the file before the next event, or after those that are written next. */
enum rig_rc rig_event_writer_clock(struct rig_event_writer *writer, const struct rig_clock_sample *sample,
                                   struct rig_err *err);
/* No later event uses the key, so the writer forgets it. */
void rig_event_writer_forget(struct rig_event_writer *writer, int64_t key);
/* After the last event. */
enum rig_rc rig_event_writer_certify(struct rig_event_writer *writer, const struct rig_certificate *certificate,
                                     struct rig_err *err);
/* Writes the rest. Without it the file is incomplete. */
enum rig_rc rig_event_writer_finish(struct rig_event_writer *writer, struct rig_err *err);

/* Bytes written so far, in blocks of about 1 MiB. */
uint64_t rig_event_writer_bytes(const struct rig_event_writer *writer);
uint64_t rig_event_writer_count(const struct rig_event_writer *writer);

#endif
