/*
 * The checker's table of data types: all that it does differently from one workload to the next is a row of it.
 *
 * A row is asked once a history, window, segment or key, never an operation. Files that are named after a type have
 * what is long of its row; only they and the table name its operations. To add a type is to add a row and such files.
 *
 * Includes nothing of what finds anomalies, so that what proves them again (witness/verify.h) may ask it, too.
 */
#ifndef RIG_CHECKER_TYPES_H
#define RIG_CHECKER_TYPES_H

#include "history/transaction.h"

struct rig_inference;
struct rig_step;
struct rig_type_sentences;
struct rig_type_verifier;

struct rig_type_inference {
    /* The operations behind a step of a cycle (witness/explain.h). */
    bool (*explain_step)(const struct rig_inference *inference, struct rig_step *step);
    const struct rig_type_sentences *sentences; /* witnesses in words (witness/sentence.h) */
    const struct rig_type_verifier *verifier;   /* proves witnesses again (witness/verify_type.h) */
};

/* The row of a workload; NULL: rig does not check histories of it. */
const struct rig_type_inference *rig_type_inference(enum rig_workload workload);

#endif
