/*
 * Decides whether the operations on one object are linearizable (Herlihy & Wing 1990), completely.
 *
 * Just-in-time linearization (Lowe 2017, section 5), breadth first over the events of the history: a configuration is a
 * state and the set of open operations that have taken effect. When an operation completes, every configuration is
 * continued by open operations until that one has taken effect; without a configuration left, the prefix up to this
 * completion is not linearizable, and no shorter one is. Configurations that cannot lead further than another one are
 * left out:
 *  - an operation that only observes takes effect as soon as the state allows it;
 *  - of two configurations that differ only in operations of unknown outcome, the one in which fewer took effect;
 *  - of open operations that do the same, the one that completes first takes effect first.
 *
 * A long history is decided in parts: the configurations at the end of one are where the next one begins. A part may
 * end at any completion. An operation of unknown outcome may join at the beginning of a later part, although it was
 * invoked before, if nothing needed its effect so far (object_rows.h).
 *
 * Strings that no read shows are one state where the model has `strings` (object_strings.h). A part that later
 * ones follow may end before `until` then: at the last completion before which strings became vague, unless those after
 * it leave few configurations.
 *
 * A yes comes with the order in which the operations take effect, a no with the configurations before the completion
 * that none of them explains.
 *
 * Time: exponential in the operations that are open at once in the worst case (the problem is NP-complete), linear in
 * the history for a bounded number of them. Space: the configurations of one event, 8 bytes for each move that led to
 * one of them. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_SEARCH_H
#define RIG_CHECKER_OBJECTS_OBJECT_SEARCH_H

#include "checker/objects/object_model.h"

enum rig_object_answer {
    RIG_OBJECT_LINEARIZABLE,
    RIG_OBJECT_REFUTED,
    RIG_OBJECT_TIME,      /* the deadline passed first, or the steps were spent */
    RIG_OBJECT_MEMORY,    /* the configurations did not fit into the limit */
    RIG_OBJECT_NO_MEMORY, /* memory ran out */
};

RIG_VEC(uint32_t, rig_object_order)
RIG_VEC(uint32_t, rig_object_reached)

/* Configurations: a state each, and the operations that have taken effect and are still open. */
struct rig_object_configs {
    struct rig_object_order states; /* one a configuration */
    struct rig_object_order first;  /* one more than states: i has used.at[first[i]] to used.at[first[i + 1] - 1] */
    struct rig_object_order used;
};

void rig_object_configs_done(struct rig_object_configs *configs);

/* A part of the operations on an object: those that complete after `from`, where configurations of the part before go
 * on. */
struct rig_object_part {
    const struct rig_object_op *ops; /* in the order of their invocations; none completes at `from` or before */
    uint32_t count;
    uint32_t until;                         /* the last completion that has to be explained; RIG_POSITION_NONE: all */
    uint32_t from;                          /* the last one that was; only with `begin` */
    const struct rig_object_configs *begin; /* NULL: the initial state, and nothing has taken effect */
};

struct rig_object_result {
    struct rig_object_order order; /* LINEARIZABLE, of all operations: the order in which they take effect */
    struct rig_object_configs end; /* LINEARIZABLE, unless the part is the last: those after the last completion */
    uint32_t end_at;               /* the position of the last completion (`from`: there is none) */
    struct rig_object_order left;  /* operations that are open at `end_at`, and did not take effect in all of `end` */
    uint32_t blocked;              /* REFUTED: the operation whose completion no configuration explains */
    uint32_t explained;            /* REFUTED: the completions before `blocked`, which are explained */
    struct rig_object_order open;  /* REFUTED: operations that are open before `blocked`, itself among them */
    struct rig_object_reached states; /* REFUTED: the different states then, before any further step */
};

struct rig_object_search_limits {
    int64_t deadline_ns;
    size_t bytes;   /* 0: none */
    uint64_t steps; /* operations tried in a state; 0: no limit */
};

/* Operations are numbered from 0 in the part. rig_object_result_done() follows in any case. */
enum rig_object_answer rig_object_search(struct rig_object_model *model, const struct rig_object_part *part,
                                         const struct rig_object_search_limits *limits,
                                         struct rig_object_result *result);
void rig_object_result_done(struct rig_object_result *result);

/* Marks per operation of the part those that a part from result->end_at on does not have: they completed by then, or
 * took effect in all configurations. */
void rig_object_part_done(const struct rig_object_part *part, const struct rig_object_result *result, uint8_t *done);

#endif
