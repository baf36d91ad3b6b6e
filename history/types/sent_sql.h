/*
 * The SQL that a run sent. A record keeps the text of each form of statement once (history/types/sql_forms.h), as lines
 * of its metadata after the plan:
 *
 *     # sql: 1 tables, 16 clients, no read locks by chance
 *     # sql read: SELECT v FROM rig_run.rig_list_0 WHERE k = $1::bigint
 *
 * The statements of a transaction follow from its operations, so an operation takes no space for them. A text of
 * several statements has `\n` between them; one that begins with -- is a remark. A read that locks only by chance is
 * shown in both forms, because its record does not say which one it took.
 *
 * Pure functions; each reads the metadata again. Time: linear in it and in the operations.
 */
#ifndef RIG_HISTORY_TYPES_SENT_SQL_H
#define RIG_HISTORY_TYPES_SENT_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "history/model/history.h"
#include "history/types/sql_forms.h"

enum { RIG_SENT_SQL_OPS = 64 /* operations of a transaction that are shown */ };

struct rig_sent_sql {
    struct {
        const char *at; /* into the metadata; NULL: the run has no such statement */
        size_t length;
    } texts[RIG_SQL_FORM_COUNT];
    int64_t table_count;
    uint32_t client_count;
    bool locks_some; /* a read of a transaction that writes may lock or not */
};

/* Adds the lines. `text` with its statements in lines. */
void rig_sent_sql_add_head(int64_t table_count, uint32_t client_count, bool locks_some, struct rig_buf *meta);
void rig_sent_sql_add_form(enum rig_sql_form form, const char *text, struct rig_buf *meta);

/* False: there are none, or they are malformed. Borrows `meta`, which may be NULL. */
bool rig_sent_sql_read(const char *meta, struct rig_sent_sql *sent);

/* A transaction; the result of an operation has the same place as the operation. */
struct rig_sent_question {
    enum rig_workload workload;
    const struct rig_op *ops;
    uint32_t op_count;
    const struct rig_read *reads; /* states and values; of reads of lists the elements do not matter */
    uint32_t client;
    bool read_only;
    bool rolls_back;                       /* in place of the commit */
    uint32_t savepoint_from, savepoint_to; /* as struct rig_rollback */
};

/* Add lines that end with a semicolon, each after `before`: those that open a session; those of a transaction. */
void rig_sent_sql_say_session(const struct rig_sent_sql *sent, const char *before, struct rig_buf *out);
void rig_sent_sql_say(const struct rig_sent_sql *sent, const struct rig_sent_question *question, const char *before,
                      struct rig_buf *out);
/* The same of a transaction of a history; the last line says how it ended. False, and nothing is added, when memory
 * runs out or its keys are texts. */
bool rig_sent_sql_say_txn(const struct rig_sent_sql *sent, const struct rig_history *history, uint32_t txn,
                          const char *before, struct rig_buf *out);

#endif
