/* The parts of a check in windows, only for the files that implement checker/stream/stream.h. */
#ifndef RIG_CHECKER_STREAM_STREAM_PRIVATE_H
#define RIG_CHECKER_STREAM_STREAM_PRIVATE_H

#include "checker/stream/budget.h"
#include "checker/stream/retired.h"
#include "checker/verdict_storage.h"
#include "checker/stream/stream.h"
#include "history/window.h"

struct rig_stream {
    struct rig_stream_options options;
    const struct rig_type_inference *type;
    struct rig_window *window;
    struct rig_judge judge;
    struct rig_judge peeking; /* set up by the first peek */
    bool peeks;
    struct rig_retired *retired;
    struct rig_witness_txns *evidence;
    struct rig_findings findings;
    struct rig_verdict_storage *storage;
    struct rig_budget budget;
    uint64_t fed_count;  /* transactions */
    uint64_t new_count;  /* of them, since the last judgement */
    uint64_t next_look;  /* before there are so many new ones it need not be asked again what judging would let go of */
    uint64_t held_count; /* in the window, after the last judgement: not judged for good; */
    uint32_t old_count;  /*   and all that stayed */
    uint32_t judged_count; /* judgements made */
    bool in_vain;          /* the last judgement could let go of nothing */
    bool unclean;          /* a judgement found a cycle, or could not count real time */
    double share;          /* of the source, as read so far; 0: unknown */
    int64_t zero_ns;       /* the first invocation */
    int64_t adding_ns;
    const char *conflict;
};

/* Whether it is time to judge the window, before there comes another segment like this one (stream_full.c). */
bool rig_stream_is_full(struct rig_stream *windows, const struct rig_segment *segment);
/* What is held beside the window and what judging it takes. */
size_t rig_stream_other_bytes(const struct rig_stream *windows);

/* Of a key of the window, shown as `view`: whether it may be used again, as far as boldness goes; and, where that is
 * guessed, whether it has not been used for so long that no boldness is needed to say so. */
bool rig_stream_key_is_in_use(const struct rig_stream *windows, const struct rig_history *view, uint32_t key);
bool rig_stream_key_is_idle(const struct rig_stream *windows, uint32_t key);

/* RIG_E_LIMIT. */
enum rig_rc rig_stream_no_memory(struct rig_err *err);

#endif
