/*
 * Retired keys: keys that are guessed to be finished, after transactions that used them have been judged.
 *
 * The guess may be wrong (stream.h). It is harmless when it is, because lists only grow: a read that begins with the
 * whole list as it was judged orders nothing among the judged transactions, and nothing before them. So a retired key
 * may be used again if all its reads begin with that list; the judged part is then cut off, and the key continues as a
 * new one. Any other use is a conflict: a judgement may have been wrong, and the check has to start over without
 * guesses.
 *
 *   the list as judged    the key's order, and after it the unread append if there was exactly one: every later read
 *                         must show that append
 *   several unread ones   a read would order their writers, so any read is a conflict; but when real time orders them
 *                         and no anomaly was found, reads have to show that order, which adds nothing
 *                         (list_windows.c)
 *   an anomaly            on the key, or a failed or unknown writer in the list: any use is a conflict
 *   a register            may be written again, and reads may show the later values; a read of a judged value, or of
 *                         the initial state once the key was written, is a conflict: it precedes judged transactions;
 *                         so is any use after an anomaly
 *
 * Space: 15 to 20 bytes for a key that no transaction in the window uses, plus one bit for each value between the
 * lowest and the highest written unless all of them were (packed, key_pages.h; 70 more for a key without neighbours);
 * 130 bytes for each of the few others. Forgotten keys take nothing where they are neighbours, and never more than
 * allowed (key_set.h). Time: one look-up for each key of a segment. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_RETIRED_H
#define RIG_CHECKER_JUDGE_STREAM_RETIRED_H

#include "base/err.h"
#include "checker/infer/inference.h"
#include "history/model/segment.h"

struct rig_retired;

/* The workload is one that rig checks (rig_type_require()). The ranges of forgotten keys may take `forgotten_bytes`;
 * 0: a default. NULL when memory runs out. */
struct rig_retired *rig_retired_new(enum rig_workload workload, size_t forgotten_bytes);
/* Takes NULL. */
void rig_retired_free(struct rig_retired *retired);
size_t rig_retired_bytes(const struct rig_retired *retired);
/* Keys with unread appends of two or more committed transactions. */
uint64_t rig_retired_unordered(const struct rig_retired *retired);

/*
 * Whether the key, as inference found it, could be retired now and used again without a conflict, unless it has an
 * anomaly: at most one unread append is committed or may yet turn out to be; or, when the window is `clean`, the unread
 * appends have an order (list_windows.c).
 */
bool rig_retired_is_settled(const struct rig_retired *retired, const struct rig_inference *inference, uint32_t key,
                            bool clean);

/*
 * Frees memory: forgets all facts, except that they were used, about the keys that no transaction in the window uses
 * and that were retired earlier than the average key. Any later use of them is a conflict. False when memory runs out:
 * then it forgets fewer of them.
 */
bool rig_retired_forget(struct rig_retired *retired);

/* The role of a key in a judgement. */
enum rig_key_fate {
    RIG_KEY_ALIVE,
    RIG_KEY_DEAD,    /* some of its transactions are judged: it is retired, and stays in the window */
    RIG_KEY_DROPPED, /* all are: it is retired and leaves the window */
};

/*
 * Retires keys as inference found them. Per key, `fate` is an enum rig_key_fate and `anomalous` tells of an anomaly on
 * it (NULL: on none); per transaction, `judged` tells whether it was judged, now or before. `clean`: the inferred
 * graph has no cycle, real time included. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_retired_remember(struct rig_retired *retired, const struct rig_inference *inference,
                                 const uint8_t *fate, const uint8_t *judged, const uint8_t *anomalous, bool clean,
                                 struct rig_err *err);

/* For keys that are known to be finished: only adds the dropped ones to rig_retired_unordered(). */
void rig_retired_count(struct rig_retired *retired, const struct rig_inference *inference, const uint8_t *fate);

/*
 * Looks for retired keys in a segment. *cleaned is the segment without their judged parts: itself, or a copy that is
 * valid until the next call. *conflict is the reason why the segment may not be used (static text), or NULL.
 */
enum rig_rc rig_retired_admit(struct rig_retired *retired, const struct rig_segment *segment,
                              const struct rig_segment **cleaned, const char **conflict, struct rig_err *err);

/* The judged elements that were cut off the beginning of a key's lists; `history` is a window's. */
struct rig_list rig_retired_prefix(const struct rig_retired *retired, const struct rig_history *history, uint32_t key);

#endif
