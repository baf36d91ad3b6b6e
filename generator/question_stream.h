/*
 * The source of a run's questions: one stream of transactions a client.
 *
 * `struct rig_questions` is the source for a whole run, `struct rig_question_stream` the stream of one client of it. A
 * source fills in the functions and puts its own members behind them. The generator is one
 * (generator/generated_questions.h); a list of recorded transactions can be another.
 *
 * Threads: `open` and `key_schedule` from one thread; each stream from one thread at a time.
 */
#ifndef RIG_GENERATOR_QUESTION_STREAM_H
#define RIG_GENERATOR_QUESTION_STREAM_H

#include <stdint.h>

#include "base/err.h"

struct rig_key_schedule;
struct rig_transaction;
struct rig_question_stream;

#define RIG_QUESTIONS_ENDLESS UINT64_MAX

struct rig_question_stream_ops {
    /* Writes ops (owned by the stream, valid until the next call), op_count, hold and read_only of the next transaction.
       Not called when none is left. (required) */
    void (*next)(struct rig_question_stream *stream, struct rig_transaction *transaction);
    /* The number of transactions left; RIG_QUESTIONS_ENDLESS. (required) */
    uint64_t (*left)(const struct rig_question_stream *stream);
    /* The number of transactions behind, skipped ones included. (required) */
    uint64_t (*position)(const struct rig_question_stream *stream);
    /* Every key that was used so far is in [0, this). (required) */
    int64_t (*key_bound)(const struct rig_question_stream *stream);
    /* Skips transactions until `position` of them are behind; no-op when they are already. NULL: the stream is issued
     * whole. */
    void (*skip_to)(struct rig_question_stream *stream, uint64_t position);
    /* (required) */
    void (*free)(struct rig_question_stream *stream);
};

/* The first member of an implementation's stream. */
struct rig_question_stream {
    const struct rig_question_stream_ops *ops;
};

/* The first member of an implementation's source. Immutable during the run. */
struct rig_questions {
    uint32_t most_operations; /* of a transaction */
    /* The stream of `client`, from 0 on. RIG_E_LIMIT. (required) */
    enum rig_rc (*open)(const struct rig_questions *questions, uint32_t client, uint32_t client_count,
                        struct rig_question_stream **stream, struct rig_err *err);
    /*
     * Makes the schedule by which keys leave every stream. NULL: there is none, and no key is known to be finished
     * before the end. Requires `skip_to`. RIG_E_LIMIT.
     */
    enum rig_rc (*key_schedule)(const struct rig_questions *questions, uint32_t client_count,
                                struct rig_key_schedule *schedule, struct rig_err *err);
};

#endif
