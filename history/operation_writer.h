/*
 * Writing a history as operations, a line each, in a textual form.
 *
 * null or nil is written for the initial state and, in transactions that are not ok and in invocations, for results
 * that are not known. A read of unknown result in an ok transaction has no third member: null would say too much.
 *
 * Space: about 1 MiB, and 8 bytes a transaction.
 */
#ifndef RIG_HISTORY_OPERATION_WRITER_H
#define RIG_HISTORY_OPERATION_WRITER_H

#include "base/err.h"
#include "history/history.h"
#include "history/output.h"

/* What stands between the parts of an operation. */
struct rig_dialect {
    const char *index, *type, *process, *time, *value, *error, *end;
    const char *name_open, *name_close; /* around a micro-operation's name */
    const char *separator;              /* between members of a list */
    const char *null;
    const char *empty; /* a file without operations */
    bool has_keywords;
};

enum rig_rc rig_operation_write(const struct rig_history *history, const struct rig_dialect *dialect,
                                struct rig_output *output, struct rig_err *err);

#endif
