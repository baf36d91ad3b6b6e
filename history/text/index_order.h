/*
 * Operations of JSON lines or EDN in the order of their indices, for a file that has them in another order.
 *
 * Elle and Jepsen order operations by `index`, whatever the order of the file. Readers need them in order, so a file
 * that is not is copied once, sorted. Values are not parsed.
 *
 * Time: O(size + n log n) for n operations. Space: a copy of the file and 72 bytes an operation; 24 of them stay, for
 * the lines of errors. Threads: one.
 */
#ifndef RIG_HISTORY_TEXT_INDEX_ORDER_H
#define RIG_HISTORY_TEXT_INDEX_ORDER_H

#include "base/buf.h"
#include "history/text/operation_parser.h"

/*
 * Writes the sorted operations to `out` and their lines to `origin`, both empty before, and sets *sorted if every
 * operation has an index and they do not ascend. Otherwise *sorted is false. RIG_E_INPUT for another fault of a file
 * whose indices do not ascend: two operations of one index, one without; RIG_E_LIMIT if that takes more than
 * `limit_bytes`, half of it for the copy, which also limits `out`.
 */
enum rig_rc rig_index_order_restore(const struct rig_text_operations *operations, size_t limit_bytes,
                                    struct rig_buf *out, struct rig_text_origin *origin, bool *sorted,
                                    struct rig_err *err);

#endif
