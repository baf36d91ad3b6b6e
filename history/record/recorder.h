/*
 * Records a run: each client writes into its own buffer, and one writer thread drains them into `history.rig`.
 *
 * A channel belongs to one client thread. rig_channel_invoke() goes before the transaction's first byte is sent,
 * rig_channel_complete() after the answer; neither locks, allocates in the steady state, or makes a system call, unless
 * the channel is full (then it waits for the writer, and counts the wait in `stalls`).
 *
 * The writer drains at least every 200 ms. Each frame is a consistent cut: it holds every event up to a time, so that a
 * record cut after any frame never shows a read without the invocation of the transaction whose write it saw.
 *
 * Format: docs/history-format.md.
 */
#ifndef RIG_HISTORY_RECORD_RECORDER_H
#define RIG_HISTORY_RECORD_RECORDER_H

#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "history/model/certificate.h"
#include "history/model/fault_event.h"
#include "history/model/names.h"
#include "history/model/transaction.h"

struct rig_recorder;
struct rig_channel;

enum { RIG_RECORDER_ERROR_BYTES = 1000 };

struct rig_recorder_options {
    const char *path; /* created; must not exist */
    enum rig_workload workload;
    uint32_t channel_count;
    size_t channel_bytes; /* of each channel's ring, rounded up to a power of two; 0: 1 MiB */
    int64_t origin_ns;    /* times in the history count from here (rig_clock_now_ns()); 0: from opening */
    bool simulated_time; /* times come from a clock that starts at 0 and has nothing to do with rig_clock_now_ns(); what
                            is in a frame is decided by the real time at which it was recorded */
    bool pack;           /* frames are compressed; RIG_E_PLAN if this build cannot */
    bool certificate;    /* rig_recorder_certify() may be called */
    bool faults;         /* there is a nemesis, or there are phases: rig_recorder_fault() will be called */
    const struct rig_rank *rank; /* NULL: not a run over several ranks. Its origin is set here */
    uint32_t columns; /* RIG_COLUMN_BIT()s of the side columns that transactions may have; others are not recorded */
    struct rig_names *names; /* of columns of names; borrowed, may be NULL without such columns */
    const char *meta;        /* stored in the file: the resolved plan, without secrets */
};

enum rig_rc rig_recorder_open(const struct rig_recorder_options *options, struct rig_recorder **recorder,
                              struct rig_err *err);
struct rig_channel *rig_recorder_channel(struct rig_recorder *recorder, uint32_t index);

/*
 * Before a transaction begins whose operations are known only later: rig_channel_invoke() follows, before anything is
 * sent that could commit, with a time from after this call. Until then no later event is written, so that the record
 * stays in the order of time; events wait in memory.
 */
void rig_channel_begin(struct rig_channel *channel);

/*
 * `at_ns` ascends per channel; an invocation at the very time of the channel's last completion is recorded 1 ns later,
 * so that a client's events are in order by time. `intended_ns`: the start that the rate asked for, == at_ns in a
 * closed loop. The kinds of the operations are those of the recorder's workload. An earlier transaction that was not
 * completed stays open forever.
 */
void rig_channel_invoke(struct rig_channel *channel, int64_t process, int64_t at_ns, int64_t intended_ns,
                        const struct rig_op *ops, uint32_t op_count);
/* Completes the transaction invoked last on this channel. `reads` parallel to its operations; error NULL or "code:
 * text", cut at RIG_RECORDER_ERROR_BYTES. */
void rig_channel_complete(struct rig_channel *channel, int64_t at_ns, enum rig_outcome outcome,
                          const struct rig_read *reads, const int64_t *elements, const char *error);

/* The side columns of the transaction that completes next on this channel: borrowed until it does. NULL: none. The
 * value of RIG_COLUMN_TIMES is a number of operations, and `times` has their starts and ends, on the clock of the
 * invocation. */
void rig_channel_columns(struct rig_channel *channel, const struct rig_column_row *columns, const int64_t *times);

/* An event of the nemesis or of the load, from one thread at a time; `time_ns` is from rig_clock_now_ns(), ascending,
 * and the recorder sets the position. With simulated time it is the time of a client that has not gone on yet. Texts
 * are cut at RIG_RECORDER_ERROR_BYTES. */
void rig_recorder_fault(struct rig_recorder *recorder, const struct rig_fault_event *event);

/* With a rank: a sample of its clock, from any thread, before the recorder is closed. It is in the file after the next
 * frame of events, at the latest 200 ms later. */
void rig_recorder_clock(struct rig_recorder *recorder, const struct rig_clock_sample *sample);

/* The clients have stopped. The certificate is written when the recorder is closed; borrowed until then. */
void rig_recorder_certify(struct rig_recorder *recorder, const struct rig_certificate *certificate);

/*
 * The clients have stopped: drains, writes the closing frame, syncs, closes, frees. Transactions invoked and never
 * completed stay open in the record (they read back as info). Reports the first error of the writer thread;
 * rig_recorder_failed() reports it earlier. Takes NULL.
 */
enum rig_rc rig_recorder_close(struct rig_recorder *recorder, struct rig_err *err);
bool rig_recorder_failed(const struct rig_recorder *recorder);

struct rig_recorder_stats {
    uint64_t events, frames, bytes, stalls;
};
void rig_recorder_stats(const struct rig_recorder *recorder, struct rig_recorder_stats *stats);

#endif
