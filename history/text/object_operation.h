/*
 * Operations on one object, as Jepsen, Knossos and Porcupine write them, as transactions of one operation.
 *
 *   {:process 0, :type :invoke, :f :cas, :value [3 4]}            compare-and-set: [expect 0 3] [w 0 4]
 *   {:process 0, :type :ok, :f :read, :value [5 3]}               an independent tuple of a key and a value: [r 5 3]
 *   {:process 0, :type :ok, :f :append, :key "a", :value "x"}     a key of its own field
 *
 * The function (`f`) says what the value means, so the value is read last. Operations without a key have key 0. At an
 * invocation the value of a read is ignored. Where completions follow invocations, those that are not ok repeat what
 * was invoked, whatever their value is (such as :timed-out), and so does an ok write without a value.
 *
 * A lock is a register of 0 (free) and 1 (held). A drain is several dequeues, of which its invocation shows none.
 *
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_OBJECT_OPERATION_H
#define RIG_HISTORY_TEXT_OBJECT_OPERATION_H

#include "history/text/operation_parser.h"

/* Whether the operation names a function other than `txn`. */
bool rig_object_operation_is(const struct rig_operation *operation);

/* Makes micro-operations of the parser's operation, whose fields were read. `has_process`: it has that field; an
 * operation without one belongs to a client. */
enum rig_rc rig_object_operation_read(struct rig_operation_parser *parser, bool has_process);

/* The first type of objects that has all these functions, as written: ":read" or "\"read\"". False: none has. */
bool rig_object_operation_type(const struct rig_text_slice *functions, size_t count, enum rig_workload *workload);

#endif
