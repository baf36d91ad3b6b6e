/*
 * Specifications of objects that a user writes: the file of a model, and what its operations do to a state.
 *
 *   model: bounded-counter
 *   state:
 *     count: 0                          a value: an integer, a string, true, false or nil
 *     held: {}                          a map
 *     waiting: []                       a sequence
 *   operations:
 *     add:
 *       arguments: {n: 1..3}            a range, a list of values, `client`, or `key`: the object
 *       cases:                          the first one whose guard holds
 *         - when: count + n <= 5
 *           set: {count: count + n}
 *           returns: true
 *         - returns: false
 *     read:
 *       returns: count
 *
 * With `any:` in place of `cases:` each case whose guard holds is possible. All expressions of a case
 * (history/types/object_expression.h) are computed in the state before it. A case one of whose expressions has no value
 * is impossible, and a guard without a value does not hold.
 *
 * An operation is the micro-operations of a call (RIG_OP_CALL): its name, its arguments but the key, and its result, if
 * a case returns something.
 * A state here is a set of the states in which the object may be, more than one only where the result does not tell
 * which case was taken: as numbers, and empty for the initial state. An operation is impossible if it is so in each of
 * them.
 *
 * Limits: 16 variables, 64 operations, 8 arguments, 16 cases of an operation, 65,536 numbers in a set of states. Time
 * of a step: linear in its cases and in the set. Threads: a specification is constant; any.
 */
#ifndef RIG_HISTORY_TYPES_OBJECT_SPECIFICATION_H
#define RIG_HISTORY_TYPES_OBJECT_SPECIFICATION_H

#include "base/buf.h"
#include "base/err.h"
#include "history/model/history.h"
#include "history/types/object_expression.h"

enum { RIG_MODEL_OPERATIONS = 64, RIG_MODEL_CASES = 16, RIG_MODEL_NUMBERS = 1 << 16 };

/* Micro-operations of a call at most. */
enum { RIG_CALL_OPS = RIG_MODEL_ARGUMENTS + 2 };

RIG_VEC(int64_t, rig_model_numbers)

enum rig_argument_kind { RIG_ARGUMENT_RANGE, RIG_ARGUMENT_LIST, RIG_ARGUMENT_CLIENT };

/* The values that a load gives to an argument. */
struct rig_model_argument {
    const char *name;
    enum rig_argument_kind kind;
    int64_t least, most;
    const int64_t *values;
    size_t value_count;
};

enum rig_update_form {
    RIG_UPDATE_VALUE,
    RIG_UPDATE_ENTRY, /* of a map, or an element of a sequence */
    RIG_UPDATE_CLEAR,
    RIG_UPDATE_APPEND,
    RIG_UPDATE_PREPEND,
    RIG_UPDATE_REST, /* without its first element */
    RIG_UPDATE_MOST, /* without its last one */
    RIG_UPDATE_REMOVE,
};

struct rig_model_update {
    const struct rig_variable *variable;
    enum rig_update_form form;
    struct rig_expression key, value;
};

struct rig_model_case {
    struct rig_expression when, returns;
    const struct rig_model_update *updates;
    uint32_t update_count;
    bool returns_constant;
    int64_t constant;
};

struct rig_model_operation {
    const char *name;
    int64_t number;                             /* of its name, as a value */
    const struct rig_model_argument *arguments; /* without the key */
    uint32_t argument_count;
    int key_place;     /* of the key among all arguments; -1: none */
    bool any;          /* each case whose guard holds is possible */
    bool returns_list; /* a case may return a list */
    bool has_result;   /* a case returns something */
    double weight;     /* among the operations of a load */
    const struct rig_model_case *cases;
    uint32_t case_count;
};

struct rig_specification {
    const char *name;
    const struct rig_variable *variables;
    uint32_t variable_count, value_count, container_count;
    const struct rig_model_operation *operations;
    uint32_t operation_count;
    bool is_nondeterministic;
    struct rig_model_constants constants;
    struct rig_instructions code;
    struct rig_model_numbers initial; /* the set of the initial state alone */
    const char *text;                 /* of the file */
    const char *file;                 /* its name */
    void *storage;
};

/* Reads the text of a file; `file` names it in errors. RIG_E_PLAN with file, line and column. */
enum rig_rc rig_specification_read(const char *file, const char *text, size_t size,
                                   struct rig_specification **specification, struct rig_err *err);
enum rig_rc rig_specification_load(const char *path, struct rig_specification **specification, struct rig_err *err);
/* The same, one for each different text, which lives as long as the process. */
enum rig_rc rig_specification_open(const char *path, const struct rig_specification **specification,
                                   struct rig_err *err);
/* Takes NULL. */
void rig_specification_free(struct rig_specification *specification);

/*
 * Records of a model have it in their metadata, after the plan: a line `# model: FILE`, then each line of the file
 * after `#| `. Specifications read from there live as long as the process, one for each different text.
 */

/* Adds these lines. */
void rig_specification_write(const struct rig_specification *specification, struct rig_buf *meta);
/* The one in the metadata (may be NULL); NULL: there is none, or it cannot be read. */
const struct rig_specification *rig_specification_of(const char *meta);

/* The operation of this name, or NULL. */
const struct rig_model_operation *rig_specification_operation(const struct rig_specification *specification,
                                                              const char *name, size_t length);
/* The micro-operations of its calls. */
static inline size_t rig_specification_op_count(const struct rig_model_operation *operation)
{
    return 1 + (size_t)operation->argument_count + operation->has_result;
}

/* The operation that is called; NULL: the micro-operations are no call of the model. */
const struct rig_model_operation *rig_specification_called(const struct rig_specification *specification,
                                                           const struct rig_txn_op *ops, size_t count);

enum rig_model_answer {
    RIG_MODEL_IMPOSSIBLE,
    RIG_MODEL_POSSIBLE,
    RIG_MODEL_NO_ROOM, /* memory runs out, or the state is larger than the limit */
};

/* The state after the call, in `to`. */
enum rig_model_answer rig_specification_step(const struct rig_specification *specification,
                                             const struct rig_txn_op *ops, size_t count, const int64_t *from,
                                             size_t from_count, struct rig_model_numbers *to);
/* Whether the call changes no state in which it is possible. */
bool rig_specification_observes(const struct rig_specification *specification, const struct rig_txn_op *ops,
                                size_t count);

/*
 * Executes the call on a simulated object, whose state is one alone and without a set around it; empty: the initial
 * state. `random` chooses among several cases. *result: nil where the operation has none.
 */
enum rig_model_answer rig_specification_simulate(const struct rig_specification *specification,
                                                 const struct rig_op *ops, size_t count, uint64_t random,
                                                 const int64_t *from, size_t from_count, struct rig_model_numbers *to,
                                                 struct rig_read *result);

/* A value as JSON, and the value of JSON; false: it is none, or memory runs out. */
void rig_model_value_write(int64_t value, struct rig_buf *json);
bool rig_model_value_read(const char *json, size_t length, int64_t *value);

/* The state in words: `count 3, held {1 2}`. */
void rig_specification_state_text(const struct rig_specification *specification, const int64_t *state, size_t count,
                                  struct rig_buf *text);

#endif
