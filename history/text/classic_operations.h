/*
 * Histories of Jepsen's classic workloads, rewritten as transactions before they are read.
 *
 *   set        {:f :add, :value 5}, {:f :read, :value #{1 5}}                      [[:add 0 5]], [[:r 0 #{1 5}]]
 *   counter    {:f :add, :value -2}, {:f :read, :value 7}                          [[:inc 0 -2]], [[:r 0 7]]
 *   bank       {:f :transfer, :value {:from 1, :to 2, :amount 5}},                 [[:inc 1 -5] [:inc 2 5]],
 *              {:f :read, :value {1 10, 2 15}}                                     [[:r 1 10] [:r 2 15]]
 *   long-fork  {:f :read, :value [[:r 0 1] [:r 1 nil]]}                            as it is, see below
 *   sequential, dirty-reads, unique-ids: see classic_registers.c; monotonic: classic_monotonic.c and classic_log.c;
 *   multi-key-acid whose values repeat: classic_multi_key.c
 *
 * An independent tuple [k v] names its key; else the key is 0. A read that was not acknowledged shows nothing, and nor
 * does an acknowledged read of a set or a counter whose value is null. An operation without a process has a client of
 * its own, without process order; its completion is the next one without a process. In a long-fork history each key is
 * written once, by some client: a value that no operation of the file wrote gets a writer of unknown fate, invoked
 * before all others; then positions count from those.
 *
 * Time: linear, and once more for reading the result. Space: that of the rewritten history, and 180 bytes an operation.
 * Threads: one.
 */
#ifndef RIG_HISTORY_TEXT_CLASSIC_OPERATIONS_H
#define RIG_HISTORY_TEXT_CLASSIC_OPERATIONS_H

#include "base/buf.h"
#include "history/source/load.h"
#include "history/text/operation_parser.h"

/*
 * Rewrites the file into `out` and `origin`, empty before, and sets *rewritten and the workload of `options`, if its
 * clients' operations are those of such a workload: the one of the options, or else one that their functions show.
 * RIG_E_INPUT for an operation that the workload does not have, and for indices that do not ascend. The operations may
 * be a sorted copy of the file (index_order.h). `reads_at_once`: see struct rig_history.
 */
enum rig_rc rig_classic_rewrite(const struct rig_text_operations *operations, struct rig_load_options *options,
                                struct rig_buf *out, struct rig_text_origin *origin, bool *rewritten,
                                bool *reads_at_once, struct rig_err *err);

#endif
