/*
 * The source of a run's questions: one stream of transactions a client.
 *
 * A load may have phases. Then a stream has a part for each phase, which are independent of each other: a client goes
 * from one part to the next wherever it is. Positions order all of it: that of transaction i of phase p is
 * p * 2^RIG_PHASE_SHIFT + i.
 *
 * `struct rig_questions` is the source for a whole run, `struct rig_question_stream` the stream of one client of it. A
 * source fills in the functions and puts its own members behind them. The generator is one
 * (generator/generated_questions.h); a list of recorded transactions can be another.
 *
 * Threads: `open` and `key_schedule` from one thread; each stream from one thread at a time.
 */
#ifndef RIG_GENERATOR_QUESTION_STREAM_H
#define RIG_GENERATOR_QUESTION_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rig_load_schedule;
struct rig_transaction;
struct rig_question_stream;

#define RIG_QUESTIONS_ENDLESS UINT64_MAX

enum { RIG_PHASE_SHIFT = 40 };

static inline uint64_t rig_phase_position(uint32_t phase, uint64_t in_phase)
{
    return ((uint64_t)phase << RIG_PHASE_SHIFT) + in_phase;
}

static inline uint32_t rig_position_phase(uint64_t position)
{
    return (uint32_t)(position >> RIG_PHASE_SHIFT);
}

static inline uint64_t rig_position_in_phase(uint64_t position)
{
    return position & ((UINT64_C(1) << RIG_PHASE_SHIFT) - 1);
}

struct rig_question_stream_ops {
    /* Writes ops (owned by the stream, valid until the next call), op_count, hold, rollback, rolls_back and read_only
     * of the next
       transaction. Not called when none is left. (required) */
    void (*next)(struct rig_question_stream *stream, struct rig_transaction *transaction);
    /* The number of transactions left; RIG_QUESTIONS_ENDLESS. (required) */
    uint64_t (*left)(const struct rig_question_stream *stream);
    /* The position of the next transaction, skipped ones included. (required) */
    uint64_t (*position)(const struct rig_question_stream *stream);
    /* Every key that was used so far is in [0, this). (required) */
    int64_t (*key_bound)(const struct rig_question_stream *stream);
    /* Skips transactions up to `position`; no-op when they are done already, or in another phase. NULL: the stream is
     * issued whole. */
    void (*skip_to)(struct rig_question_stream *stream, uint64_t position);
    /* Goes on to a later phase. NULL: there is one only. */
    void (*enter)(struct rig_question_stream *stream, uint32_t phase);
    /* The transactions of a phase that were issued or skipped. NULL with `enter` NULL. */
    uint64_t (*behind)(const struct rig_question_stream *stream, uint32_t phase);
    /* Whether a key below key_bound was in use so far, by any client at the same position. NULL: each was. */
    bool (*used)(const struct rig_question_stream *stream, int64_t key);
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
    uint32_t phase_count;     /* of the load; 0 or 1: there is one only */
    /* The stream of `client`, from 0 on. RIG_E_LIMIT. (required) */
    enum rig_rc (*open)(const struct rig_questions *questions, uint32_t client, uint32_t client_count,
                        struct rig_question_stream **stream, struct rig_err *err);
    /*
     * Makes the schedule by which keys leave every stream. NULL: there is none, and no key is known to be finished
     * before the end. Requires `skip_to`. RIG_E_LIMIT.
     */
    enum rig_rc (*key_schedule)(const struct rig_questions *questions, uint32_t client_count,
                                struct rig_load_schedule *schedule, struct rig_err *err);
};

#endif
