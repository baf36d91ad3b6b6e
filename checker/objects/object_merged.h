/*
 * The search on strings: with those that no read shows as one state (object_strings.h), which decides, and, where there is no
 * order, once more without it, because all operations of a small object prove a refutation by themselves.
 *
 * Where the second search spends its steps, the refutation begins a few completions before the operation that cannot take
 * effect, with the configurations that are possible there.
 *
 * Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_MERGED_H
#define RIG_CHECKER_OBJECTS_OBJECT_MERGED_H

#include "checker/objects/object_needed.h"
#include "checker/objects/object_past.h"

/* A refutation that begins within a part. */
struct rig_object_narrowed {
    struct rig_object_past *past;  /* the configurations that it begins with, of key 0; NULL: there is none */
    struct rig_object_op_list ops; /* the operations from there on, which the result is about */
    struct rig_object_order spent; /* invocations of those of unknown outcome that all these configurations have */
};

void rig_object_narrowed_done(struct rig_object_narrowed *narrowed);

/* As rig_object_search(). Both results are to be freed in any case. */
enum rig_object_answer rig_object_merged_search(struct rig_object_model *model, const struct rig_object_part *part,
                                                const struct rig_object_search_limits *limits,
                                                struct rig_object_result *result, struct rig_object_narrowed *narrowed);

#endif
