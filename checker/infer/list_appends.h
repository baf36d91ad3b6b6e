/*
 * Writers of values: the table of a history's appended values (rig_versions.slots), direct where a key's values are
 * dense, hashed where they are not.
 *
 * Time: one pass over the operations. Space: at most 4 slots of 8 bytes an append, or, of sparse keys, 3 of 16 bytes.
 */
#ifndef RIG_CHECKER_INFER_LIST_APPENDS_H
#define RIG_CHECKER_INFER_LIST_APPENDS_H

#include "checker/infer/list_survey.h"
#include "checker/infer/versions.h"

/*
 * Fills in keys, key_places, slots and slot_values: the writer of each append and whether it was superseded; none has a
 * position yet. Counts the appends of committed transactions in survey->counted. RIG_E_INPUT when a value is appended
 * twice to a key; RIG_E_LIMIT.
 */
enum rig_rc rig_appends_list(const struct rig_survey *survey, struct rig_arena *arena, struct rig_versions *versions,
                             struct rig_err *err);

#endif
