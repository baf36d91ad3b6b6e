/*
 * Carries registers, locks and strings over from one window of a history to the next: each one's configurations at the
 * end of the part that was explained (object_search.h), as bytes, because numbers of states and operations are those of
 * one window. Queues and stacks need nothing of this: windows keep those of their operations that matter
 * (object_key.h).
 *
 * Space: 130 bytes a key, and the states. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_PAST_H
#define RIG_CHECKER_OBJECTS_OBJECT_PAST_H

#include "checker/model/verdict.h"
#include "checker/objects/object_rows.h"
#include "checker/objects/object_search.h"

struct rig_object_past;

enum rig_object_standing {
    RIG_OBJECT_STANDS,   /* explained so far */
    RIG_OBJECT_FALLEN,   /* it is not linearizable: its further operations do not matter */
    RIG_OBJECT_GIVEN_UP, /* it was not decided within the budget: its further operations do not matter either */
};

struct rig_object_past_key {
    enum rig_object_standing standing;
    struct rig_begin begin; /* of a register, once it is settled: what is explained begins with it */
    uint32_t from;          /* position of the last completion that was explained */
    uint64_t explained;     /* how many were, of a register, lock or string */
    uint64_t done;          /* operations that were dropped, of a queue or a stack */
    char *states;           /* of each configuration, one after the other; sizes in `sizes` */
    size_t state_bytes;
    struct rig_object_order sizes, first,
        used; /* as rig_object_configs; operations by the positions of their invocations */
};

/* NULL when memory runs out. */
struct rig_object_past *rig_object_past_new(void);
/* Takes NULL. */
void rig_object_past_free(struct rig_object_past *past);
size_t rig_object_past_bytes(const struct rig_object_past *past);

/* Makes room for keys 0 to key_count - 1, which keep their numbers from window to window. False when memory runs
 * out. */
bool rig_object_past_widen(struct rig_object_past *past, uint32_t key_count);
struct rig_object_past_key *rig_object_past_of(struct rig_object_past *past, uint32_t key);

/* The configurations, of operations that are in the order of their invocations and have all those that took effect;
 * *used marks these (`used` per operation, zeroed by the caller). False when memory runs out. */
bool rig_object_past_begin(const struct rig_object_past_key *key, struct rig_object_model *model,
                           const struct rig_object_op *ops, uint32_t count, struct rig_object_configs *configs,
                           uint8_t *used);
/* Replaces the configurations by those at the end of a part. False when memory runs out. */
bool rig_object_past_note(struct rig_object_past *past, struct rig_object_past_key *key,
                          const struct rig_object_model *model, const struct rig_object_op *ops,
                          const struct rig_object_result *result);

/*
 * The search on strings: with those that no read shows as one state (object_strings.h), which decides, and, where there
 * is no order, once more without it, because all operations of a small object prove a refutation by themselves.
 *
 * Where the second search spends its steps, the refutation begins a few completions before the operation that cannot
 * take effect, with the configurations that are possible there.
 *
 * Threads: one at a time.
 */

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
