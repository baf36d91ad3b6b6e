/*
 * One judgement of the window of a check (stream.h): inference, the closing set, the search among it, and what leaves
 * the window. Only for the files that implement checker/judge/stream/stream.h.
 *
 * The steps come in this order: begin (or begin_closing), explain, choose, decide_keys, search, release.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_STREAM_JUDGEMENT_H
#define RIG_CHECKER_JUDGE_STREAM_STREAM_JUDGEMENT_H

#include "checker/judge/stream/closing.h"
#include "checker/judge/stream/explained.h"
#include "checker/judge/stream/stream_private.h"

/* The state of one judgement; arrays come from the judge's scratch. */
struct rig_judgement {
    struct rig_stream *w;
    const struct rig_history *view;
    struct rig_closing closing;
    uint8_t *selected; /* per node: closing, and not judged before */
    uint8_t *settled;  /* per transaction: enum rig_settled, if it is selected */
    uint8_t *all;      /* per transaction: whether it is settled, now or before */
    uint8_t *fate;     /* per key: enum rig_key_fate */
    uint8_t *drop;     /* per key */
    uint64_t selected_count;
    struct rig_err *err;
};

/* Infers the window; `last`: the history has ended. A conflict is in w->conflict. */
enum rig_rc rig_judgement_begin(struct rig_stream *w, bool last, struct rig_judgement *j, struct rig_err *err);
/* The same before the end, and finds the closing set. */
enum rig_rc rig_judgement_begin_closing(struct rig_stream *w, struct rig_judgement *j, struct rig_err *err);
/*
 * Explains what was not judged before, at each level that no earlier window refuted or left open. The levels that have
 * no explanation are searched for a refutation later (findings.h).
 */
enum rig_rc rig_judgement_explain(struct rig_stream *w, const struct rig_history *view, struct rig_explained *explained,
                                  struct rig_err *err);
/* `waits` NULL: the history has ended, and all transactions are closing. False when memory runs out. */
bool rig_judgement_choose(struct rig_judgement *j, const uint8_t *waits);
/*
 * Decides the fate of the keys. A finished key that no waiting transaction used is dropped. Any other finished key is
 * retired as it is now, because some of its transactions may have been judged.
 */
void rig_judgement_decide_keys(struct rig_judgement *j);
enum rig_rc rig_judgement_search(struct rig_judgement *j);
/* Retires the finished keys. With a census it only counts them, because they are certain to be finished. */
enum rig_rc rig_judgement_remember_keys(struct rig_judgement *j);
/* The window loses the transactions that were judged, and the keys that are dropped. */
void rig_judgement_release(struct rig_judgement *j);

/* All of these for the closing set. `always`: also where nothing would leave the window; else that is left for
 * later. */
enum rig_rc rig_stream_judge_closing(struct rig_stream *w, bool always, struct rig_err *err);

/* Before the verdict is given out: the facts of the ranks outlive their source. False when memory runs out. */
bool rig_stream_keep_ranks(struct rig_stream *w, const struct rig_rank_facts *facts);

#endif
