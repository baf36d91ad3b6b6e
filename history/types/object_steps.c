/* The states of a model, and its operations on them (object_specification.h). */
#include "history/types/object_specification.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/value_texts.h"

/*
 * A state is its values, and then each container: the number of its numbers, and these. A set of states is the number
 * of states, and then each one: the number of its numbers, and these; ascending.
 */

static bool fits(const struct rig_model_numbers *numbers, size_t more)
{
    return numbers->count + more <= RIG_MODEL_NUMBERS;
}

static bool put(struct rig_model_numbers *numbers, const int64_t *at, size_t count)
{
    if (!fits(numbers, count) || !rig_model_numbers_reserve(numbers, numbers->count + count))
        return false;
    if (count > 0)
        memcpy(numbers->at + numbers->count, at, count * sizeof *at);
    numbers->count += count;
    return true;
}

/* Where each container's numbers begin; the one before is their number. */
static void find_containers(const struct rig_specification *specification, const int64_t *state, size_t *places)
{
    size_t at = specification->value_count;
    for (uint32_t i = 0; i < specification->container_count; i++) {
        places[i] = at + 1;
        at += 1 + (size_t)state[at];
    }
}

static void look_at(const struct rig_specification *specification, const int64_t *state, const int64_t *arguments,
                    struct rig_model_view *view)
{
    size_t places[RIG_MODEL_VARIABLES];
    *view = (struct rig_model_view){.values = state, .arguments = arguments, .constants = &specification->constants};
    find_containers(specification, state, places);
    for (uint32_t i = 0; i < specification->container_count; i++)
        view->containers[i] = (struct rig_container){state + places[i], (size_t)state[places[i] - 1]};
}

/* ---- updates ---- */

/* In place of `old` numbers from `at` on in the container there are `count` other ones. */
static bool replace(struct rig_model_numbers *state, size_t container, size_t at, size_t old, const int64_t *numbers,
                    size_t count)
{
    int64_t *size = NULL;
    const size_t place = container + at, after = place + old;
    RIG_INVARIANT(after <= state->count);
    if (!fits(state, count) || !rig_model_numbers_reserve(state, state->count + count))
        return false;
    size = &state->at[container - 1];
    memmove(state->at + place + count, state->at + after, (state->count - after) * sizeof *state->at);
    if (count > 0)
        memcpy(state->at + place, numbers, count * sizeof *numbers);
    state->count = state->count - old + count;
    *size += (int64_t)count - (int64_t)old;
    return true;
}

static enum rig_model_answer room(bool there_is)
{
    return there_is ? RIG_MODEL_POSSIBLE : RIG_MODEL_NO_ROOM;
}

/* An entry of a map, of which nil takes one away; or an element that a sequence has. */
static enum rig_model_answer set_entry(const struct rig_specification *specification,
                                       const struct rig_model_update *update, struct rig_model_numbers *state,
                                       size_t place, int64_t key, int64_t value)
{
    const struct rig_container container = {state->at + place, (size_t)state->at[place - 1]};
    const int64_t entry[] = {key, value};
    bool found = false;
    if (update->variable->kind == RIG_VARIABLE_SEQUENCE) {
        if (key < 0 || (uint64_t)key >= container.count)
            return RIG_MODEL_IMPOSSIBLE;
        state->at[place + (size_t)key] = value;
        return RIG_MODEL_POSSIBLE;
    }
    const size_t at = rig_container_place(&container, key, &found);
    const size_t count = value == specification->constants.nil ? 0 : 2;
    return room(replace(state, place, at, found ? 2 : 0, entry, count));
}

/* The first element that is the value, or the entry of that key. */
static enum rig_model_answer take_away(const struct rig_model_update *update, struct rig_model_numbers *state,
                                       size_t place, int64_t value)
{
    const struct rig_container container = {state->at + place, (size_t)state->at[place - 1]};
    bool found = false;
    size_t at = 0;
    if (update->variable->kind == RIG_VARIABLE_MAP) {
        at = rig_container_place(&container, value, &found);
        return room(replace(state, place, at, found ? 2 : 0, NULL, 0));
    }
    while (at < container.count && container.at[at] != value)
        at++;
    return room(replace(state, place, at, at < container.count, NULL, 0));
}

static enum rig_model_answer update_state(const struct rig_specification *specification,
                                          const struct rig_model_update *update, struct rig_model_numbers *state,
                                          int64_t key, int64_t value)
{
    size_t places[RIG_MODEL_VARIABLES];
    if (update->form == RIG_UPDATE_VALUE) {
        state->at[update->variable->place] = value;
        return RIG_MODEL_POSSIBLE;
    }
    find_containers(specification, state->at, places);
    const size_t place = places[update->variable->place], count = (size_t)state->at[place - 1];
    switch (update->form) {
    case RIG_UPDATE_CLEAR:
        return room(replace(state, place, 0, count, NULL, 0));
    case RIG_UPDATE_APPEND:
        return room(replace(state, place, count, 0, &value, 1));
    case RIG_UPDATE_PREPEND:
        return room(replace(state, place, 0, 0, &value, 1));
    case RIG_UPDATE_REST:
        return count == 0 ? RIG_MODEL_IMPOSSIBLE : room(replace(state, place, 0, 1, NULL, 0));
    case RIG_UPDATE_MOST:
        return count == 0 ? RIG_MODEL_IMPOSSIBLE : room(replace(state, place, count - 1, 1, NULL, 0));
    case RIG_UPDATE_REMOVE:
        return take_away(update, state, place, value);
    case RIG_UPDATE_ENTRY:
    case RIG_UPDATE_VALUE:
        break;
    }
    return set_entry(specification, update, state, place, key, value);
}

/* ---- cases ---- */

/* The value of an expression, if there is one. */
static enum rig_model_answer compute(const struct rig_specification *specification,
                                     const struct rig_expression *expression, const struct rig_model_view *view,
                                     int64_t *value)
{
    bool no_memory = false;
    if (expression->count == 0 || rig_expression_value(&specification->code, expression, view, value, &no_memory))
        return RIG_MODEL_POSSIBLE;
    return no_memory ? RIG_MODEL_NO_ROOM : RIG_MODEL_IMPOSSIBLE;
}

static enum rig_model_answer guard(const struct rig_specification *specification, const struct rig_model_case *one,
                                   const struct rig_model_view *view)
{
    int64_t holds = specification->constants.yes;
    const enum rig_model_answer answer = compute(specification, &one->when, view, &holds);
    return answer == RIG_MODEL_POSSIBLE && holds != specification->constants.yes ? RIG_MODEL_IMPOSSIBLE : answer;
}

/* The updates of a case, computed before the first one is done. `to` is empty before. */
static enum rig_model_answer change(const struct rig_specification *specification, const struct rig_model_case *one,
                                    const struct rig_model_view *view, const int64_t *from, size_t from_count,
                                    struct rig_model_numbers *to)
{
    int64_t keys[RIG_MODEL_VARIABLES * 2] = {0}, values[RIG_MODEL_VARIABLES * 2] = {0};
    enum rig_model_answer answer = room(put(to, from, from_count));
    RIG_REQUIRE(one->update_count <= RIG_MODEL_VARIABLES * 2);
    for (uint32_t i = 0; answer == RIG_MODEL_POSSIBLE && i < one->update_count; i++) {
        answer = compute(specification, &one->updates[i].key, view, &keys[i]);
        if (answer == RIG_MODEL_POSSIBLE)
            answer = compute(specification, &one->updates[i].value, view, &values[i]);
    }
    for (uint32_t i = 0; answer == RIG_MODEL_POSSIBLE && i < one->update_count; i++)
        answer = update_state(specification, &one->updates[i], to, keys[i], values[i]);
    return answer;
}

/* ---- calls ---- */

const struct rig_model_operation *rig_specification_called(const struct rig_specification *specification,
                                                           const struct rig_txn_op *ops, size_t count)
{
    const struct rig_model_operation *operation = NULL;
    for (uint32_t i = 0; count > 0 && operation == NULL && i < specification->operation_count; i++) {
        if (specification->operations[i].number == ops->value)
            operation = &specification->operations[i];
    }
    if (operation == NULL || count != rig_specification_op_count(operation) || ops[0].kind != RIG_OP_CALL)
        return NULL;
    for (size_t i = 1; i < count; i++) {
        if (ops[i].kind != (i <= operation->argument_count ? RIG_OP_ARGUMENT : RIG_OP_RESULT))
            return NULL;
    }
    return operation;
}

struct stepping {
    const struct rig_specification *specification;
    const struct rig_model_operation *operation;
    const struct rig_txn_op *result; /* of an operation that has one */
    int64_t arguments[RIG_MODEL_ARGUMENTS];
    struct rig_model_numbers one;  /* a state after a case */
    struct rig_model_numbers *all; /* the states so far: length and numbers of each */
    struct rig_model_numbers places;
};

/* Adds s->one unless it is there. */
static bool keep(struct stepping *s)
{
    for (size_t i = 0; i < s->places.count; i++) {
        const int64_t *known = s->all->at + s->places.at[i];
        if ((size_t)known[0] == s->one.count && memcmp(known + 1, s->one.at, s->one.count * sizeof *known) == 0)
            return true;
    }
    const int64_t place = (int64_t)s->all->count, length = (int64_t)s->one.count;
    return put(&s->places, &place, 1) && put(s->all, &length, 1) && put(s->all, s->one.at, s->one.count);
}

/* Whether the call may have had this result. */
static bool may_return(const struct stepping *s, int64_t value)
{
    if (!s->operation->has_result || s->result->read_state == RIG_READ_UNKNOWN)
        return true;
    return value == (s->result->read_state == RIG_READ_NIL ? s->specification->constants.nil : s->result->value);
}

/* Adds the states to which the call leads from one state. */
static enum rig_model_answer step_from(struct stepping *s, const int64_t *from, size_t from_count)
{
    struct rig_model_view view;
    look_at(s->specification, from, s->arguments, &view);
    for (uint32_t i = 0; i < s->operation->case_count; i++) {
        const struct rig_model_case *one = &s->operation->cases[i];
        int64_t value = s->specification->constants.nil;
        enum rig_model_answer answer = guard(s->specification, one, &view);
        const bool holds = answer == RIG_MODEL_POSSIBLE;
        if (holds)
            answer = compute(s->specification, &one->returns, &view, &value);
        if (answer == RIG_MODEL_POSSIBLE && may_return(s, value)) {
            s->one.count = 0;
            answer = change(s->specification, one, &view, from, from_count, &s->one);
            if (answer == RIG_MODEL_POSSIBLE && !keep(s))
                answer = RIG_MODEL_NO_ROOM;
        }
        if (answer == RIG_MODEL_NO_ROOM)
            return answer;
        if (holds && !s->operation->any)
            break;
    }
    return s->places.count > 0 ? RIG_MODEL_POSSIBLE : RIG_MODEL_IMPOSSIBLE;
}

/* Moves the states of `all` into `to` in ascending order, as a set; the initial state is empty. */
static bool make_set(const struct stepping *s, struct rig_model_numbers *to)
{
    const struct rig_model_numbers *initial = &s->specification->initial;
    int64_t count = (int64_t)s->places.count;
    for (size_t i = 1; i < s->places.count; i++) { /* few: those of cases that one result does not tell apart */
        for (size_t j = i; j > 0; j--) {
            int64_t *here = &s->places.at[j], before = s->places.at[j - 1];
            const int64_t *a = s->all->at + before, *b = s->all->at + *here;
            const size_t size = (size_t)(a[0] + 1) * sizeof *a;
            if (a[0] < b[0] || (a[0] == b[0] && memcmp(a, b, size) <= 0))
                break;
            s->places.at[j - 1] = *here;
            *here = before;
        }
    }
    to->count = 0;
    bool done = put(to, &count, 1);
    for (size_t i = 0; done && i < s->places.count; i++) {
        const int64_t *at = s->all->at + s->places.at[i];
        done = put(to, at, (size_t)at[0] + 1);
    }
    if (to->count == initial->count && memcmp(to->at, initial->at, to->count * sizeof *to->at) == 0)
        to->count = 0;
    return done;
}

enum rig_model_answer rig_specification_step(const struct rig_specification *specification,
                                             const struct rig_txn_op *ops, size_t count, const int64_t *from,
                                             size_t from_count, struct rig_model_numbers *to)
{
    struct rig_model_numbers all = {0};
    struct stepping s = {.specification = specification,
                         .operation = rig_specification_called(specification, ops, count),
                         .result = &ops[count - 1],
                         .all = &all};
    enum rig_model_answer answer = RIG_MODEL_IMPOSSIBLE;
    RIG_REQUIRE(s.operation != NULL);
    for (size_t i = 0; i < s.operation->argument_count; i++)
        s.arguments[i] = ops[i + 1].value;
    if (from_count == 0) {
        from = specification->initial.at;
        from_count = specification->initial.count;
    }
    for (size_t at = 1; at < from_count && answer != RIG_MODEL_NO_ROOM; at += (size_t)from[at] + 1)
        answer = step_from(&s, from + at + 1, (size_t)from[at]);
    if (answer == RIG_MODEL_POSSIBLE && !make_set(&s, to))
        answer = RIG_MODEL_NO_ROOM;
    rig_model_numbers_done(&s.one);
    rig_model_numbers_done(&s.places);
    rig_model_numbers_done(&all);
    return answer;
}

bool rig_specification_observes(const struct rig_specification *specification, const struct rig_txn_op *ops,
                                size_t count)
{
    const struct rig_model_operation *operation = rig_specification_called(specification, ops, count);
    if (operation == NULL)
        return false;
    const struct stepping s = {.specification = specification, .operation = operation, .result = &ops[count - 1]};
    for (uint32_t i = 0; i < operation->case_count; i++) {
        const struct rig_model_case *one = &operation->cases[i];
        if (one->update_count > 0 && (!one->returns_constant || may_return(&s, one->constant)))
            return false;
    }
    return true;
}

/* ---- simulation ---- */

/* The cases that are possible in the state, and how many. */
static size_t find_cases(const struct rig_specification *specification, const struct rig_model_operation *operation,
                         const struct rig_model_view *view, const struct rig_model_case **cases)
{
    size_t count = 0;
    for (uint32_t i = 0; i < operation->case_count; i++) {
        const struct rig_model_case *one = &operation->cases[i];
        if (guard(specification, one, view) != RIG_MODEL_POSSIBLE)
            continue;
        cases[count++] = one;
        if (!operation->any)
            break;
    }
    return count;
}

enum rig_model_answer rig_specification_simulate(const struct rig_specification *specification,
                                                 const struct rig_op *ops, size_t count, uint64_t random,
                                                 const int64_t *from, size_t from_count, struct rig_model_numbers *to,
                                                 struct rig_read *result)
{
    const struct rig_model_operation *operation = NULL;
    const struct rig_model_case *cases[RIG_MODEL_CASES];
    int64_t arguments[RIG_MODEL_ARGUMENTS] = {0}, value = specification->constants.nil;
    struct rig_model_view view;
    for (uint32_t i = 0; operation == NULL && i < specification->operation_count; i++)
        operation = specification->operations[i].number == ops->value ? &specification->operations[i] : NULL;
    RIG_REQUIRE(operation != NULL && count == rig_specification_op_count(operation));
    for (uint32_t i = 0; i < operation->argument_count; i++)
        arguments[i] = ops[i + 1].value;
    if (from_count == 0) {
        from = specification->initial.at + 2; /* after the number of states, and the length of this one */
        from_count = specification->initial.count - 2;
    }
    look_at(specification, from, arguments, &view);
    const size_t found = find_cases(specification, operation, &view, cases);
    if (found == 0)
        return RIG_MODEL_IMPOSSIBLE;
    const struct rig_model_case *one = cases[random % found];
    enum rig_model_answer answer = compute(specification, &one->returns, &view, &value);
    to->count = 0;
    if (answer == RIG_MODEL_POSSIBLE)
        answer = change(specification, one, &view, from, from_count, to);
    *result = (struct rig_read){.state = value == specification->constants.nil ? RIG_READ_NIL : RIG_READ_SEEN,
                                .value = value};
    return answer;
}

/* ---- words ---- */

static void add_container(const struct rig_container *container, bool is_map, struct rig_buf *text)
{
    enum { SHOWN = 24 };
    rig_buf_add_char(text, is_map ? '{' : '[');
    for (size_t i = 0; i < container->count && i < SHOWN; i++) {
        rig_buf_add_text(text, i == 0 ? "" : is_map && i % 2 == 0 ? ", " : " ");
        rig_value_add(text, container->at[i]);
    }
    if (container->count > SHOWN)
        rig_buf_add_text(text, " ...");
    rig_buf_add_char(text, is_map ? '}' : ']');
}

static void add_state(const struct rig_specification *specification, const int64_t *state, struct rig_buf *text)
{
    struct rig_model_view view;
    look_at(specification, state, NULL, &view);
    for (uint32_t i = 0; i < specification->variable_count; i++) {
        const struct rig_variable *variable = &specification->variables[i];
        rig_buf_printf(text, "%s%s ", i == 0 ? "" : ", ", variable->name);
        if (variable->kind == RIG_VARIABLE_VALUE)
            rig_value_add(text, view.values[variable->place]);
        else
            add_container(&view.containers[variable->place], variable->kind == RIG_VARIABLE_MAP, text);
    }
}

void rig_specification_state_text(const struct rig_specification *specification, const int64_t *state, size_t count,
                                  struct rig_buf *text)
{
    enum { SHOWN = 3 };
    size_t number = 0;
    if (count == 0) {
        state = specification->initial.at;
        count = specification->initial.count;
    }
    for (size_t at = 1; at < count && number < SHOWN; at += (size_t)state[at] + 1, number++) {
        rig_buf_add_text(text, number == 0 ? "" : " or ");
        add_state(specification, state + at + 1, text);
    }
    if (state[0] > SHOWN)
        rig_buf_add_text(text, " or others");
}
