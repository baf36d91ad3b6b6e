/*
 * Operations as text, a line each: common to the textual forms of a history.
 *
 * null or nil is written for the initial state and, in transactions that are not ok and in invocations, for unknown
 * results. A read with an unknown result in an ok transaction has no third member, because null would be a claim.
 *
 * Lists with an origin (rig_record_read.origin) are written from a text that is kept for each key, so that a prefix of
 * a long list costs a copy of its text. Time: that of copying the output, and of formatting new elements. Space: 8 to
 * 24 bytes an element of the lists kept, at most about 64 MiB.
 *
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_OPERATION_TEXT_H
#define RIG_HISTORY_TEXT_OPERATION_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/output_file.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/model/history.h"
#include "history/record/record_encoder.h"

/* Separators between the parts of an operation. */
struct rig_syntax {
    const char *field_open, *field_close; /* around the name of a field after others */
    const char *index, *type, *process, *time, *value, *error, *end;
    const char *name_open, *name_close; /* around a micro-operation's name */
    const char *separator;              /* between members of a list */
    const char *null;
    const char *empty; /* a file without operations */
    bool has_keywords;
};

extern const struct rig_syntax rig_syntax_json, rig_syntax_edn;

struct rig_operation_head {
    uint64_t index;
    int64_t process;
    int64_t time_ns; /* RIG_NO_TIME: none */
};

RIG_VEC(uint32_t, rig_text_ends)

/* The text of a list as far as it was written: element i ends at ends[i], without its separator. */
struct rig_list_text {
    uint64_t origin;
    struct rig_buf text;
    struct rig_text_ends ends;
};

RIG_VEC(struct rig_list_text, rig_list_texts)

struct rig_operation_text {
    const struct rig_syntax *dialect;
    char *const *key_texts; /* borrowed; NULL: keys are numbers, else their indices */
    bool keyword_keys;
    bool value_keys;
    struct rig_buf buf; /* the output; the caller empties it. `failed` when memory ran out */
    struct rig_table list_ids;
    struct rig_list_texts lists;
    struct rig_text_ends free_lists;
    size_t kept_bytes;
};

/* The form of keys is the history's; NULL: they are numbers. */
void rig_operation_text_init(struct rig_operation_text *text, const struct rig_syntax *dialect,
                             const struct rig_history *history);
void rig_operation_text_done(struct rig_operation_text *text);

void rig_operation_text_invoke(struct rig_operation_text *text, const struct rig_operation_head *head,
                               const struct rig_op *ops, uint32_t op_count);
/* With the operations that were invoked. */
void rig_operation_text_complete(struct rig_operation_text *text, const struct rig_operation_head *head,
                                 const struct rig_op *ops, uint32_t op_count,
                                 const struct rig_record_completion *completion);

/* The key is no longer used: drops its list. */
void rig_operation_text_forget(struct rig_operation_text *text, int64_t key);

/*
 * Writes a history as operations, a line each, in a textual form (history/text/operation_text.h).
 *
 * Space: about 1 MiB, and 8 bytes a transaction.
 */
enum rig_rc rig_operation_write(const struct rig_history *history, const struct rig_syntax *dialect,
                                struct rig_output *output, struct rig_err *err);

#endif
