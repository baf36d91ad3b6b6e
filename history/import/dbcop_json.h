/*
 * The JSON of dbcop: an object with `params` and `data`, or the array of sessions that `data` holds.
 * docs/history-format.md has the details.
 */
#ifndef RIG_HISTORY_IMPORT_DBCOP_JSON_H
#define RIG_HISTORY_IMPORT_DBCOP_JSON_H

#include "history/import/session_reader.h"

extern const struct rig_session_form rig_dbcop_json_form;

#endif
