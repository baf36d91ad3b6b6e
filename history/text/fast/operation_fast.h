/*
 * The fast path through operations as programs write them, for JSON and EDN.
 *
 *   {"index":4,"type":"ok","process":0,"time":9120,"f":"txn","value":[["append",5,1],["r",5,[1,2]]]}
 *   {:index 4, :type :ok, :process 0, :time 9120, :f :txn, :value [[:append 5 1] [:r 5 [1 2]]]}
 *
 * Lines like these are taken as a whole. Fields may also come in any order, with or without a space after each colon
 * and comma. For anything else (escapes,
 * comments, more spaces, values that are not transactions, processes that are not clients, the file's last bytes) it
 * gives up, with nothing changed, and the grammar reads the operation again. So it need not word errors.
 *
 * A completion is compared, as text, with its invocation (history/text/fast/fast_repeat.h), and a list with earlier
 * ones (history/text/fast/fast_txn.h).
 *
 * Written once, and inlined into functions for each instruction set (history/text/scan/text_block.h). Functions that
 * are called often must be inlined, too: before a call within the file GCC does not clear the wide registers, and SSE
 * instructions in the called function then take many times as long.
 */
#ifndef RIG_HISTORY_TEXT_FAST_OPERATION_FAST_H
#define RIG_HISTORY_TEXT_FAST_OPERATION_FAST_H

#include "history/text/fast/fast_text.h"

/*
 * Takes operations from *at on, as long as each begins on the line after the one before it, and moves *at past the last
 * one. False if it takes none, with nothing changed. `limit`: RIG_FAST_STEP bytes before the file's end.
 */
typedef bool rig_fast_taker(struct rig_part *part, const char **at, const char *limit);

/* The function for the number-th set of rig_text_blocks(), or for the last one. */
rig_fast_taker *rig_fast_taker_of(enum rig_fast_syntax syntax, size_t number);

#endif
