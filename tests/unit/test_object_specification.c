/* Models: their states step by step, and the errors of files that are none. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/buf.h"
#include "history/types/object_specification.h"

static const char queue_model[] = "model: priority-queue\n"
                                  "state:\n"
                                  "  counts: {}\n"
                                  "  waiting: [1]\n"
                                  "  owner: nil\n"
                                  "operations:\n"
                                  "  insert:\n"
                                  "    arguments: {element: 0..9}\n"
                                  "    set:\n"
                                  "      counts[element]: if(element in counts, counts[element] + 1, 1)\n"
                                  "      waiting: append(waiting, element)\n"
                                  "  take:\n"
                                  "    cases:\n"
                                  "      - when: count(counts) == 0\n"
                                  "        returns: nil\n"
                                  "      - set: {owner: \"'x'\"}\n"
                                  "        returns: least(counts)\n"
                                  "  size:\n"
                                  "    returns: count(counts)\n"
                                  "  lose:\n"
                                  "    any:\n"
                                  "      - returns: 1\n"
                                  "      - set: {waiting: []}\n"
                                  "        returns: 1\n";

static struct rig_txn_op call_op(const struct rig_specification *model, const char *name)
{
    const struct rig_model_operation *operation = rig_specification_operation(model, name, strlen(name));
    assert_non_null(operation);
    return (struct rig_txn_op){.kind = RIG_OP_CALL, .value = operation->number};
}

/* The state after a call, as text; NULL: it is impossible. */
static const char *after(const struct rig_specification *model, struct rig_model_numbers *state,
                         const struct rig_txn_op *ops, size_t count)
{
    static struct rig_buf text;
    struct rig_model_numbers next = {0};
    const enum rig_model_answer answer = rig_specification_step(model, ops, count, state->at, state->count, &next);
    if (answer == RIG_MODEL_POSSIBLE) {
        rig_model_numbers_done(state);
        *state = next;
    } else {
        rig_model_numbers_done(&next);
    }
    rig_buf_done(&text);
    rig_buf_init(&text, 0);
    rig_specification_state_text(model, state->at, state->count, &text);
    return answer == RIG_MODEL_POSSIBLE ? rig_buf_text(&text) : NULL;
}

static void states_follow_the_cases(void **unused)
{
    struct rig_specification *model = NULL;
    struct rig_err err = {0};
    struct rig_model_numbers state = {0};
    (void)unused;
    assert_int_equal(rig_specification_read("q.yaml", queue_model, strlen(queue_model), &model, &err), RIG_OK);
    struct rig_txn_op take[] = {call_op(model, "take"), {.kind = RIG_OP_RESULT, .read_state = RIG_READ_NIL}};
    struct rig_txn_op insert[] = {call_op(model, "insert"), {.kind = RIG_OP_ARGUMENT, .value = 4}};
    assert_string_equal(after(model, &state, take, 2), "counts {}, waiting [1], owner nil");
    assert_int_equal(state.count, 0); /* the initial state */
    struct rig_txn_op size[] = {call_op(model, "size"), {.kind = RIG_OP_RESULT, .read_state = RIG_READ_SEEN}};
    assert_true(rig_specification_observes(model, size, 2));
    assert_string_equal(after(model, &state, insert, 2), "counts {4 1}, waiting [1 4], owner nil");
    assert_string_equal(after(model, &state, insert, 2), "counts {4 2}, waiting [1 4 4], owner nil");
    assert_null(after(model, &state, take, 2));
    take[1] = (struct rig_txn_op){.kind = RIG_OP_RESULT, .read_state = RIG_READ_SEEN, .value = 4};
    assert_false(rig_specification_observes(model, take, 2)); /* it may */
    assert_string_equal(after(model, &state, take, 2), "counts {4 2}, waiting [1 4 4], owner \"x\"");
    struct rig_txn_op lose[] = {call_op(model, "lose"), {.kind = RIG_OP_RESULT}};
    assert_non_null(strstr(after(model, &state, lose, 2), " or "));
    assert_int_equal(state.at[0], 2); /* states */
    assert_null(rig_specification_called(model, insert, 1));
    rig_model_numbers_done(&state);
    rig_specification_free(model);
}

static void the_metadata_has_the_model(void **unused)
{
    struct rig_specification *model = NULL;
    struct rig_err err = {0};
    struct rig_buf meta;
    (void)unused;
    rig_buf_init(&meta, 0);
    rig_buf_add_text(&meta, "name: x\n");
    assert_int_equal(rig_specification_read("q.yaml", queue_model, strlen(queue_model), &model, &err), RIG_OK);
    rig_specification_write(model, &meta);
    const struct rig_specification *again = rig_specification_of(rig_buf_text(&meta));
    assert_non_null(again);
    assert_string_equal(again->text, queue_model);
    assert_ptr_equal(again, rig_specification_of(rig_buf_text(&meta)));
    assert_null(rig_specification_of("name: x\n"));
    rig_specification_free(model);
    rig_buf_done(&meta);
}

static void refuses(const char *operations, const char *expected)
{
    struct rig_specification *model = NULL;
    struct rig_err err = {0};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "model: m\nstate: {x: 0, m: {}, q: []}\noperations:\n%s", operations);
    assert_int_equal(rig_specification_read("m.yaml", rig_buf_text(&text), text.size, &model, &err), RIG_E_PLAN);
    if (strstr(err.text, expected) == NULL)
        fail_msg("\"%s\" has no \"%s\"", err.text, expected);
    rig_buf_done(&text);
}

static void errors_name_place_and_remedy(void **unused)
{
    (void)unused;
    refuses("  a: {returns: y}\n", "m.yaml:4:16: in the expression `y`: there is no variable and no argument `y`");
    refuses("  a: {returns: x +}\n", "m.yaml:4:19: in the expression `x +`: a value was expected");
    refuses("  a: {when: x = 1}\n", "`=` is no comparison; write `==`");
    refuses("  a: {returns: m}\n", "`m` is a map; name a part of it");
    refuses("  a: {returns: 'first(m)'}\n", "the name of a sequence was expected");
    refuses("  a: {returns: 'foo(x)'}\n", "there is no function `foo`");
    refuses("  a: {set: {y: 1}}\n", "there is no variable `y` to set");
    refuses("  a: {set: {q: 1}}\n", "it becomes `append(q, value)`");
    refuses("  a: {set: {m: 'append(m, 1)'}}\n", "give `m[key]` a value");
    refuses("  a: {set: {'x[1]': 2}}\n", "`x` is a value, and has no parts");
    refuses("  a: {cases: [{returns: 1}], when: x == 1}\n", "`when` beside `cases`");
    refuses("  a: {cases: []}\n", "a list of 1 to 16 cases was expected");
    refuses("  a: {arguments: {n: 5..1}}\n", "the values of an argument were expected");
    refuses("  a: {arguments: {x: 1..5}}\n", "`x` is a variable of the state, too");
    refuses("  a: {arguments: {i: key, j: key}}\n", "an operation has one key");
    refuses("  a: {weight: -1}\n", "a weight from 0 to 1000 was expected");
    refuses("  a: {return: 1}\n", "return");
    refuses("  a: {returns: 99999999999999999999}\n", "a number below 2^62 was expected");
    refuses("  a: {returns: \"'b\"}\n", "a string without its end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_follow_the_cases),
        cmocka_unit_test(the_metadata_has_the_model),
        cmocka_unit_test(errors_name_place_and_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
