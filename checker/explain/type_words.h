/*
 * The table of data types for witnesses: the operations that prove their steps, and their sentences in the directives
 * of say.h. A row is asked once a step or sentence.
 */
#ifndef RIG_CHECKER_EXPLAIN_TYPE_WORDS_H
#define RIG_CHECKER_EXPLAIN_TYPE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "history/model/transaction.h"

struct rig_history;
struct rig_inference;
struct rig_step;
struct rig_witness;

struct rig_type_words {
    /* Finds the operations that prove a ww, wr or rw step between two transactions, and the evidence for the order of
     * the versions. Where the step names a key or the operation that reads, these are taken; UINT32_MAX leaves the
     * choice. False: there are none. NULL: the type has no steps. */
    bool (*explain_step)(const struct rig_inference *inference, struct rig_step *step);
    /* Finds the values and the evidence for the known order of the two versions of a ww or rw step of a proof
     * (case_explain.h): of lists, the read that shows both. NULL: the proof has them. */
    void (*explain_order)(const struct rig_inference *inference, struct rig_step *step);
    /* The value of the version that an operation read, where a read also shows earlier ones, or ends with writes of its
     * own transaction; false: the initial state. NULL: a read shows one version. */
    bool (*version_read)(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t *value);
    const char *write, *writes; /* "append to key", "appends to keys" */
    /* Adds the reason of a ww, wr or rw step, after "T17 before T23". Without the full stop where the order of the
     * versions is that of a case. NULL: the type has no steps. */
    void (*add_step)(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text);
    /* Adds what %Q of say.h says of a read by a condition; NULL: the type has none. */
    void (*add_query)(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_buf *text);
    /* Adds the text of a non-cyclic anomaly, after its name. */
    void (*add_noncyclic)(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text);
};

extern const struct rig_type_words rig_list_words, rig_register_words, rig_set_words, rig_object_words,
    rig_counter_words, rig_row_words, rig_log_words;

/* The workload is one that rig checks (rig_type_require()). */
const struct rig_type_words *rig_type_words(enum rig_workload workload);

#endif
