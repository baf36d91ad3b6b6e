/*
 * Keys that are taken to be done with, after transactions that used them have been judged.
 *
 * Whether a key will be used again is a guess (stream.h). What makes a wrong guess harmless is that lists only grow: a
 * read that shows the whole list as it was judged, and whatever came later behind it, orders nothing among those who
 * were judged, and nothing before them. So a retired key may come back, if all its reads begin with that list; the part
 * that was judged is then cut off, and the key goes on as if it were new. Everything else is a conflict: what was
 * judged may have been judged wrong, and the check has to start over without guesses.
 *
 *   the list as judged    is that of the key's order, and the one append that nobody had read, if there was one: nobody
 *                         may miss it from now on
 *   several unread ones   may be read in any order, which would order those who made them: any read is a conflict; but
 *                         where all was well and real time orders them, they have to be read in that order, which is no
 *                         news then (list_unread_chain.h)
 *   anything odd          (anomalies, failed or unknown writers in the list): any use is a conflict
 *   a register            may be written again, and shows what is written from then on; who reads what it held, or its
 *                         initial state once it was written, is a conflict: it would come before those who were judged
 *
 * Space: of a key that no transaction in the window uses, 15 to 20 bytes, and a bit for each value between the lowest
 * and the highest written, where not all of them were (packed, key_pages.h; keys that are no neighbours 70 more); of
 * the few others 130. Forgotten ones take nothing where they are neighbours, and never more than was allowed
 * (key_set.h). Time: a look-up a key of a segment. Threads: one.
 */
#ifndef RIG_CHECKER_STREAM_RETIRED_H
#define RIG_CHECKER_STREAM_RETIRED_H

#include "base/err.h"
#include "checker/infer/inference.h"
#include "history/segment.h"

struct rig_retired;

/* The workload is one that rig checks (rig_type_require()). The ranges of forgotten keys may take so many bytes; 0: a
 * default. NULL when memory runs out. */
struct rig_retired *rig_retired_new(enum rig_workload workload, size_t forgotten_bytes);
/* Takes NULL. */
void rig_retired_free(struct rig_retired *retired);
size_t rig_retired_bytes(const struct rig_retired *retired);
/* Keys with unread appends of two or more committed transactions. */
uint64_t rig_retired_unordered(const struct rig_retired *retired);

/*
 * Whether the key, as inference found it, could be remembered now and come back without a conflict as long as nothing
 * is wrong with it: at most one append that nobody read is committed or may yet turn out to be, or, where the window is
 * `clean`, they have an order (list_unread_chain.h).
 */
bool rig_retired_is_settled(const struct rig_retired *retired, const struct rig_inference *inference, uint32_t key,
                            bool clean);

/*
 * Makes room: of the keys that no transaction in the window used and that were remembered longer ago than the others on
 * average, it is kept from now on that they were used, and no more; any use of them is a conflict. Without memory for
 * that less is forgotten: false.
 */
bool rig_retired_forget(struct rig_retired *retired);

/* The role of a key in a judgement. */
enum rig_key_fate {
    RIG_KEY_ALIVE,
    RIG_KEY_DEAD,    /* some of its transactions are judged: it is remembered, and stays in the window */
    RIG_KEY_DROPPED, /* all are: it is remembered and leaves the window */
};

/*
 * Remembers keys as inference found them. `fate` is an enum rig_key_fate per key, `judged` says per transaction whether
 * it has been judged, now or before; `odd` per key whether there is an anomaly on it (NULL: on none); `clean`: in what
 * inference found there is no cycle, real time counted. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_retired_remember(struct rig_retired *retired, const struct rig_inference *inference,
                                 const uint8_t *fate, const uint8_t *judged, const uint8_t *odd, bool clean,
                                 struct rig_err *err);

/* Only counts, as rig_retired_unordered() does, the dropped keys: of those that are known not to come back. */
void rig_retired_count(struct rig_retired *retired, const struct rig_inference *inference, const uint8_t *fate);

/*
 * Looks for retired keys in a segment. *cleaned is the segment without what was judged of them: itself, or a copy that
 * is valid until the next call. *conflict says why it may not be used, or NULL: a text that does not need to be freed.
 */
enum rig_rc rig_retired_admit(struct rig_retired *retired, const struct rig_segment *segment,
                              const struct rig_segment **cleaned, const char **conflict, struct rig_err *err);

/* The elements that lists of a key of `history` (a window's) begin with and do not show, because they were judged. */
struct rig_list rig_retired_prefix(const struct rig_retired *retired, const struct rig_history *history, uint32_t key);

#endif
