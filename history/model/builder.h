/*
 * Builds a rig_history, one transaction at a time: for small histories made in memory, and for tests.
 *
 * Transactions are added in any order; rig_history_builder_finish() numbers them in completion order. It takes the
 * memory of a window (history/model/window.h), which `limit_bytes` bounds: RIG_E_LIMIT beyond.
 */
#ifndef RIG_HISTORY_MODEL_BUILDER_H
#define RIG_HISTORY_MODEL_BUILDER_H

#include "base/err.h"
#include "history/model/history.h"

struct rig_history_builder;

/* One transaction to add; everything is borrowed for the call. */
struct rig_txn_input {
    int64_t invoke_ns, complete_ns;  /* RIG_NO_TIME when unknown */
    uint32_t invoke_at, complete_at; /* positions, RIG_POSITION_NONE when there was no such event */
    int64_t process;
    enum rig_outcome outcome;
    const struct rig_op *ops;
    const struct rig_read *reads; /* parallel to ops; NULL: no results */
    uint32_t op_count;
    const int64_t *elements;
    const char *error;                    /* NULL or "code: text" */
    size_t error_length;                  /* 0: `error` ends with a NUL */
    const struct rig_column_row *columns; /* NULL: none. Values of columns of names are indices into `names` */
    const char *const *names;
    struct rig_spans spans;      /* of the column of spans, in place of its value; count 0: none */
    const int64_t *const *lists; /* parallel to ops, or NULL: lists that were read, in place of `elements` */
};

/* `limit_bytes` 0: no limit. NULL when memory runs out. */
struct rig_history_builder *rig_history_builder_new(enum rig_workload workload, size_t limit_bytes);
/* For a builder that is not finished. Takes NULL. */
void rig_history_builder_free(struct rig_history_builder *builder);

/* For text keys: returns the int64 to use as the key of this text. A history's keys are all numbers or all texts. */
enum rig_rc rig_history_builder_text_key(struct rig_history_builder *builder, const char *text, size_t length,
                                         int64_t *key, struct rig_err *err);

/* The texts were EDN keywords. */
void rig_history_builder_keyword_keys(struct rig_history_builder *builder);

/* After a failure the builder can only be freed (or finished, which fails again). */
enum rig_rc rig_history_builder_add(struct rig_history_builder *builder, const struct rig_txn_input *txn,
                                    struct rig_err *err);

/* Adds a transaction with the times, positions, process, outcome, error and side columns of transaction `txn` of
 * `history`; `content` has its operations, their reads, lists and spans, and nothing else. */
enum rig_rc rig_history_builder_add_like(struct rig_history_builder *builder, const struct rig_history *history,
                                         uint32_t txn, const struct rig_txn_input *content, struct rig_err *err);

/* The history's metadata. */
enum rig_rc rig_history_builder_meta(struct rig_history_builder *builder, const char *meta, size_t length,
                                     struct rig_err *err);

/* Gives the history to the caller and frees the builder, also on failure. */
enum rig_rc rig_history_builder_finish(struct rig_history_builder *builder, struct rig_history **history,
                                       struct rig_err *err);

#endif
