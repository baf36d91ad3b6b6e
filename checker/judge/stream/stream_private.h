/* The state of a check in windows. Only for the files that implement checker/judge/stream/stream.h. */
#ifndef RIG_CHECKER_JUDGE_STREAM_STREAM_PRIVATE_H
#define RIG_CHECKER_JUDGE_STREAM_STREAM_PRIVATE_H

#include "checker/infer/set_times.h"
#include "checker/objects/object_decide.h"
#include "checker/objects/object_past.h"
#include "checker/judge/stream/budget.h"
#include "checker/judge/stream/retired.h"
#include "checker/judge/stream/type_windows.h"
#include "checker/judge/conclude.h"
#include "checker/judge/stream/stream.h"
#include "history/model/window.h"

struct rig_stream {
    struct rig_stream_options options;
    const struct rig_type_inference *type;
    const struct rig_type_windows *windows;
    struct rig_window *window;
    struct rig_judge judge;
    struct rig_judge interim; /* of interim judgements */
    bool has_interim;         /* `interim` is set up */
    struct rig_retired *retired;
    struct rig_witness_txns *evidence;
    struct rig_findings findings;
    struct rig_verdict_storage *storage;
    struct rig_budget budget;
    uint64_t fed_count;    /* transactions */
    uint32_t fed_until;    /* position of the last completion among them */
    uint64_t new_count;    /* those since the last judgement */
    uint64_t next_look;    /* skip the estimate of a judgement's effect until new_count reaches this */
    uint64_t held_count;   /* transactions in the window after the last judgement that are not finally judged */
    uint32_t old_count;    /* all transactions in the window after the last judgement */
    uint32_t judged_count; /* judgements made */
    bool released_nothing; /* the last judgement could release nothing */
    bool warms;            /* what is fed belongs to an earlier part (stream_part.h): nothing is judged */
    bool unclean;          /* a judgement found a cycle, or could not count real time */
    double share;          /* of the source that was read; 0: unknown */
    size_t judging_bytes;  /* for the latest judgement; SIZE_MAX: no limit */
    int64_t zero_ns;       /* the first invocation */
    int64_t adding_ns;
    const char *conflict;
    uint8_t *open_keys;                       /* per key of the window: rig_stream_open_keys() */
    struct rig_element_timing *elements;      /* of keys that were dropped; NULL: there are no elements */
    struct rig_object_past *objects;          /* of a history of objects, else NULL */
    struct rig_objects_window objects_window; /* what the latest judgement was told of `objects` */
};

/* Whether to judge the window before it takes another segment like this one (stream_full.c). */
bool rig_stream_is_full(struct rig_stream *windows, const struct rig_segment *segment);
/* The memory that the check holds, except for the window and its judgement. */
size_t rig_stream_other_bytes(const struct rig_stream *windows);

/* Whether a key of the window (`view`) may be used again, judged by the idle time that the budget allows; and, where
 * that is a guess, whether the key has been unused for the full idle time of the options. */
bool rig_stream_key_is_in_use(const struct rig_stream *windows, const struct rig_history *view, uint32_t key);
bool rig_stream_key_is_idle(const struct rig_stream *windows, uint32_t key);

/* The levels that the anomalies of the window refute, unless the rest of the history shows another value of an
 * assumption: those of `view`, of which w->judge has inferred what is known. */
enum rig_rc rig_stream_doomed(struct rig_stream *windows, const struct rig_history *view, uint64_t *levels,
                              struct rig_err *err);

/* Fills open_keys: whether the key, shown as `view`, may be used again; `all`: every key may. False when memory runs
 * out. */
bool rig_stream_open_keys(struct rig_stream *windows, const struct rig_history *view, bool all);

/* Limits the judgement of `view` to the memory that is left. */
void rig_stream_limit_judge(struct rig_stream *windows, const struct rig_history *view);

/* Decides the operations on objects in the window as far as later ones cannot change the answer, and drops those that
 * are done (object_windows.c). */
enum rig_rc rig_stream_judge_objects(struct rig_stream *windows, struct rig_err *err);
/* Counts the objects of an interim judgement (`judge` has inferred the window, with open transactions) that are
 * certainly not linearizable; changes nothing. */
enum rig_rc rig_stream_look_at_objects(struct rig_stream *windows, struct rig_judge *judge, uint64_t *refuted,
                                       struct rig_err *err);
/* Before the last judgement: it goes on from the earlier ones. */
void rig_stream_end_objects(struct rig_stream *windows);

/* The history has ended: judges what is left in the window. A conflict is in w->conflict. */
enum rig_rc rig_stream_judge_rest(struct rig_stream *windows, struct rig_err *err);
/* Everything was judged: fills in the verdict. */
enum rig_rc rig_stream_conclude(struct rig_stream *windows, const struct rig_source_facts *facts, struct rig_err *err);

/* RIG_E_LIMIT. */
enum rig_rc rig_stream_no_memory(struct rig_err *err);

#endif
