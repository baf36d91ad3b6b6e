/*
 * Histories as EDN, as Jepsen stores them: a map an operation, one a line or in one vector or list.
 *
 *   {:index 4, :type :invoke, :process 0, :time 9120, :f :txn, :value [[:append 5 1] [:r 5 nil]]}
 *   #jepsen.history.Op{:index 7, :type :ok, :process 0, :time 9455, :f :txn, :value [[:append 5 1] [:r 5 [1]]]}
 *
 * history/text/operation_reader.h has the rules and the meaning of nil. Keys are integers, strings or keywords; lists
 * that were read are vectors or lists. Other fields are skipped, as are tags (the tagged form is read), comments and
 * discarded forms (#_). No recursion; nesting below a skipped value is at most RIG_EDN_DEPTH deep.
 *
 * Time: O(size). Space beside the history: the longest operation.
 */
#ifndef RIG_HISTORY_TEXT_EDN_H
#define RIG_HISTORY_TEXT_EDN_H

#include "base/err.h"
#include "history/model/history.h"
#include "base/output_file.h"

enum { RIG_EDN_DEPTH = 64 };

enum rig_rc rig_edn_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err);

#endif
