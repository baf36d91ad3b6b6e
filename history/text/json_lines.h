/*
 * Histories as JSON: an operation a line, or one array of them, with the field names of Jepsen and Elle.
 *
 *   {"index": 4, "type": "invoke", "process": 0, "time": 9120, "f": "txn", "value": [["append", 5, 1], ["r", 5, null]]}
 *   {"index": 7, "type": "ok", "process": 0, "time": 9455, "f": "txn", "value": [["append", 5, 1], ["r", 5, [1]]]}
 *
 * history/text/operation_reader.h has the rules and the meaning of null. Other fields are skipped. Numbers are integers
 * that fit 64 bits. The parser reads bytes in place, without recursion; nesting below a skipped value is at most
 * RIG_JSON_LINES_DEPTH deep.
 *
 * Time: O(size). Space beside the history: the longest operation.
 */
#ifndef RIG_HISTORY_TEXT_JSON_LINES_H
#define RIG_HISTORY_TEXT_JSON_LINES_H

#include "base/err.h"
#include "history/model/history.h"
#include "base/output_file.h"
#include "history/text/text_cursor.h"

enum { RIG_JSON_LINES_DEPTH = 64 };

enum rig_rc rig_json_lines_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err);
/* Moves over the value at the cursor, checked for its structure. */
enum rig_rc rig_json_skip(struct rig_text_cursor *cursor);

#endif
