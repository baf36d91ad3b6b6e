/*
 * The table of data types for witnesses in words. A row is asked once a step or sentence.
 */
#ifndef RIG_CHECKER_EXPLAIN_TYPE_WORDS_H
#define RIG_CHECKER_EXPLAIN_TYPE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "history/model/transaction.h"

struct rig_history;
struct rig_inference;
struct rig_step;
struct rig_type_sentences;

struct rig_type_words {
    /* Finds the operations that prove a ww, wr or rw step (explain.h). */
    bool (*explain_step)(const struct rig_inference *inference, struct rig_step *step);
    /* Finds the values and the evidence for the known order of the two versions of a ww or rw step of a proof
     * (case_explain.h). NULL: the proof has them. */
    void (*explain_order)(const struct rig_inference *inference, struct rig_step *step);
    const struct rig_type_sentences *sentences; /* sentence.h */
    /* The value of the version that an operation read, where a read also shows earlier ones, or ends with writes of its own
     * transaction; false: the initial state. NULL: a read shows one version. */
    bool (*version_read)(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t *value);
};

/* The workload is one that rig checks (rig_type_require()). */
const struct rig_type_words *rig_type_words(enum rig_workload workload);

#endif
