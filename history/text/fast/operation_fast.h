/*
 * The short way through operations as programs write them, for JSON and for EDN.
 *
 *   {"index":4,"type":"ok","process":0,"time":9120,"f":"txn","value":[["append",5,1],["r",5,[1,2]]]}
 *   {:index 4, :type :ok, :process 0, :time 9120, :f :txn, :value [[:append 5 1] [:r 5 [1 2]]]}
 *
 * Lines like these are taken as a whole (history/text/fast/fast_lines.h). Fields may also come in any order, with or
 * without a space behind each colon and comma (history/text/fast/fast_fields.h). Whatever else there may be (escapes,
 * comments, more spaces, values that are no transaction, processes that are no client, the file's last bytes) makes it
 * give up: nothing has happened then, and the grammar reads the operation again. So it need not know what is wrong.
 *
 * What is invoked is compared, as text, with what its completion repeats (history/text/fast/fast_repeat.h), and lists
 * with what was read before (history/text/fast/fast_result.h).
 *
 * Written once, and inlined into functions for each instruction set (history/text/scan/text_block.h). What is called
 * often must be inlined too: before a call within the file GCC leaves the wide registers as they are, and the SSE
 * instructions of what is called then take many times as long.
 */
#ifndef RIG_HISTORY_TEXT_FAST_OPERATION_FAST_H
#define RIG_HISTORY_TEXT_FAST_OPERATION_FAST_H

#include "history/text/fast/fast_text.h"

/*
 * Takes operations from *at on, as long as each begins on the line behind the one before it; *at is then behind the
 * last one. False where not even one is taken: nothing has happened. `limit`: RIG_FAST_STEP bytes before the file's
 * end.
 */
typedef bool rig_fast_taker(struct rig_part *part, const char **at, const char *limit);

/* By the number-th set of rig_text_blocks(), or the last one. */
rig_fast_taker *rig_fast_taker_of(enum rig_fast_syntax syntax, size_t number);

#endif
