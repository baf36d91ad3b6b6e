#include "history/types/object_specification.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bug.h"
#include "base/json_write.h"
#include "base/yaml_tree.h"
#include "history/model/value_texts.h"

/* Owned by a specification. */
struct storage {
    struct rig_arena arena;
    struct rig_specification specification;
};

struct reader {
    struct rig_yaml_tree tree;
    struct rig_arena *arena;
    struct rig_specification *out;
    struct rig_variable *variables;
    struct rig_model_numbers state; /* the values of the initial state, and then its containers */
    struct rig_err *err;
};

static enum rig_rc no_memory(struct reader *r)
{
    return rig_fail(r->err, RIG_E_LIMIT, "%s: there is no memory for the model", r->tree.file);
}

#define REFUSE(r, place, ...) rig_yaml_refuse(&(r)->tree, (place), (r)->err, __VA_ARGS__)

/* ---- values ---- */

static bool is_integer_text(const char *text, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && strspn(text, "-0123456789") == strlen(text);
}

/* A constant: an integer, true, false, nil, or any other text, as a string. */
static enum rig_rc read_value(struct reader *r, const struct rig_yaml_node *node, int64_t *value)
{
    const struct rig_model_constants *constants = &r->out->constants;
    struct rig_buf text;
    if (node->kind != RIG_YAML_SCALAR)
        return REFUSE(r, &node->place, "a value was expected: an integer, a string, true, false or nil");
    if (node->is_null || (node->plain && strcmp(node->text, "nil") == 0)) {
        *value = constants->nil;
        return RIG_OK;
    }
    if (node->plain && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
        *value = node->text[0] == 't' ? constants->yes : constants->no;
        return RIG_OK;
    }
    if (node->plain && is_integer_text(node->text, value)) {
        if (*value >= RIG_VALUE_TEXTS_BELOW && *value <= -RIG_VALUE_TEXTS_BELOW)
            return RIG_OK;
        return REFUSE(r, &node->place, "an integer from -2^62 to 2^62 was expected, not `%s`", node->text);
    }
    rig_buf_init(&text, 0);
    rig_json_quote(&text, node->text, strlen(node->text));
    const bool fits = !text.failed && rig_value_number(rig_buf_text(&text), text.size, value);
    rig_buf_done(&text);
    return fits ? RIG_OK : no_memory(r);
}

static bool is_name(const char *name)
{
    static const char *const words[] = {"and", "or", "not", "in", "true", "false", "nil", "null", "if"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(name, words[i]) == 0)
            return false;
    }
    const size_t first = strspn(name, letters);
    return first > 0 && strspn(name + first, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
                            strlen(name) - first;
}

static enum rig_rc check_name(struct reader *r, const struct rig_yaml_entry *entry, const char *what)
{
    if (is_name(entry->key))
        return RIG_OK;
    return REFUSE(r, &entry->key_place,
                  "`%s` is no name of %s; a name has letters, digits and _, and is no word of expressions", entry->key,
                  what);
}

/* ---- the state ---- */

static enum rig_rc read_sequence(struct reader *r, const struct rig_yaml_node *node, struct rig_model_numbers *numbers)
{
    enum rig_rc rc = RIG_OK;
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        int64_t value = 0;
        rc = read_value(r, entry->value, &value);
        if (rc == RIG_OK && !rig_model_numbers_add(numbers, value))
            rc = no_memory(r);
    }
    return rc;
}

/* A key of a map, as a value of its own. */
static enum rig_rc read_map(struct reader *r, const struct rig_yaml_node *node, struct rig_model_numbers *numbers)
{
    enum rig_rc rc = RIG_OK;
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        const struct rig_yaml_node key = {
            .kind = RIG_YAML_SCALAR, .place = entry->key_place, .text = entry->key, .plain = true};
        int64_t pair[2] = {0, 0};
        bool found = false;
        rc = read_value(r, &key, &pair[0]);
        if (rc == RIG_OK)
            rc = read_value(r, entry->value, &pair[1]);
        const struct rig_container map = {numbers->at, numbers->count};
        const size_t at = rig_container_place(&map, pair[0], &found);
        if (rc != RIG_OK)
            break;
        if (!rig_model_numbers_reserve(numbers, numbers->count + 2))
            return no_memory(r);
        if (numbers->count > at)
            memmove(numbers->at + at + 2, numbers->at + at, (numbers->count - at) * sizeof *numbers->at);
        memcpy(numbers->at + at, pair, sizeof pair);
        numbers->count += 2;
    }
    return rc;
}

static enum rig_rc read_containers(struct reader *r, const struct rig_yaml_node *state)
{
    enum rig_rc rc = RIG_OK;
    for (const struct rig_yaml_entry *entry = state->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        struct rig_model_numbers numbers = {0};
        if (entry->value->kind == RIG_YAML_SCALAR)
            continue;
        rc = entry->value->kind == RIG_YAML_MAPPING ? read_map(r, entry->value, &numbers)
                                                    : read_sequence(r, entry->value, &numbers);
        if (rc == RIG_OK && (!rig_model_numbers_add(&r->state, (int64_t)numbers.count) ||
                             !rig_model_numbers_reserve(&r->state, r->state.count + numbers.count)))
            rc = no_memory(r);
        for (size_t i = 0; rc == RIG_OK && i < numbers.count; i++)
            r->state.at[r->state.count++] = numbers.at[i];
        rig_model_numbers_done(&numbers);
    }
    return rc;
}

static enum rig_rc read_state(struct reader *r, const struct rig_yaml_node *state)
{
    enum rig_rc rc = RIG_OK;
    if (state->kind != RIG_YAML_MAPPING)
        return REFUSE(r, &state->place, "the variables of the state were expected, each with its initial value");
    r->variables = rig_arena_array(r->arena, RIG_MODEL_VARIABLES, sizeof *r->variables);
    if (r->variables == NULL)
        return no_memory(r);
    r->out->variables = r->variables;
    for (const struct rig_yaml_entry *entry = state->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        const enum rig_yaml_node_kind kind = entry->value->kind;
        int64_t value = 0;
        if (r->out->variable_count == RIG_MODEL_VARIABLES)
            return REFUSE(r, &entry->key_place, "a state has at most %d variables; a map holds any number of values",
                          RIG_MODEL_VARIABLES);
        rc = check_name(r, entry, "a variable");
        struct rig_variable *variable = &r->variables[r->out->variable_count++];
        *variable = (struct rig_variable){entry->key,
                                          kind == RIG_YAML_SCALAR    ? RIG_VARIABLE_VALUE
                                          : kind == RIG_YAML_MAPPING ? RIG_VARIABLE_MAP
                                                                     : RIG_VARIABLE_SEQUENCE,
                                          kind == RIG_YAML_SCALAR ? r->out->value_count++ : r->out->container_count++};
        if (rc == RIG_OK && kind == RIG_YAML_SCALAR)
            rc = read_value(r, entry->value, &value);
        if (rc == RIG_OK && kind == RIG_YAML_SCALAR && !rig_model_numbers_add(&r->state, value))
            rc = no_memory(r);
    }
    return rc == RIG_OK ? read_containers(r, state) : rc;
}

/* ---- expressions ---- */

/* Where a byte of a scalar's text stands. */
static struct rig_yaml_place place_in(const struct rig_yaml_node *node, size_t at)
{
    struct rig_yaml_place place = node->place;
    place.column += (uint32_t)at + !node->plain;
    return place;
}

static enum rig_rc compile(struct reader *r, const struct rig_expression_scope *scope, const struct rig_yaml_node *node,
                           struct rig_expression *expression)
{
    struct rig_expression_fault fault = {0};
    if (node->kind != RIG_YAML_SCALAR)
        return REFUSE(r, &node->place, "an expression was expected; one with a comma or a bracket stands in quotes");
    if (rig_expression_compile(node->is_null ? "nil" : node->text, scope, &r->out->code, expression, NULL, &fault))
        return RIG_OK;
    const struct rig_yaml_place place = place_in(node, fault.at);
    return REFUSE(r, &place, "in the expression `%s`: %s", node->text, fault.text);
}

/* ---- updates ---- */

static const struct update_word {
    const char *name;
    enum rig_update_form form;
    bool has_value, of_maps;
} update_words[] = {{"append", RIG_UPDATE_APPEND, true, false},
                    {"prepend", RIG_UPDATE_PREPEND, true, false},
                    {"rest", RIG_UPDATE_REST, false, false},
                    {"most", RIG_UPDATE_MOST, false, false},
                    {"remove", RIG_UPDATE_REMOVE, true, true}};

static enum rig_rc bad_change(struct reader *r, const struct rig_yaml_node *node, const struct rig_variable *variable)
{
    const bool is_map = variable->kind == RIG_VARIABLE_MAP;
    return REFUSE(r, &node->place,
                  is_map ? "`%s` is a map; give `%s[key]` a value (nil takes the key away), or all of it `{}` or "
                           "`remove(%s, key)`"
                         : "`%s` is a sequence; it becomes `append(%s, value)`, `prepend`, `remove(%s, value)`, "
                           "`rest`, `most` or `[]`",
                  variable->name, variable->name, variable->name);
}

/* `append(queue, value)` for the variable `queue`, and its like. */
static enum rig_rc read_change(struct reader *r, const struct rig_expression_scope *scope,
                               const struct rig_yaml_node *node, struct rig_model_update *update)
{
    const struct rig_variable *variable = update->variable;
    const char *text = node->kind == RIG_YAML_SCALAR && node->text != NULL ? node->text : "";
    struct rig_expression_fault fault = {0};
    const struct update_word *word = NULL;
    const char *empty = variable->kind == RIG_VARIABLE_MAP ? "{}" : "[]";
    if (node->kind != RIG_YAML_SCALAR ? node->count == 0 : strcmp(text, empty) == 0) {
        update->form = RIG_UPDATE_CLEAR;
        return RIG_OK;
    }
    const size_t length = strcspn(text, "( ");
    for (size_t i = 0; i < sizeof update_words / sizeof update_words[0]; i++) {
        if (strlen(update_words[i].name) == length && memcmp(update_words[i].name, text, length) == 0)
            word = &update_words[i];
    }
    const char *at = text + length + strspn(text + length, " ");
    if (word == NULL || *at != '(' || (variable->kind == RIG_VARIABLE_MAP && !word->of_maps))
        return bad_change(r, node, variable);
    at += 1 + strspn(at + 1, " ");
    if (strncmp(at, variable->name, strlen(variable->name)) != 0)
        return bad_change(r, node, variable);
    at += strlen(variable->name);
    at += strspn(at, " ");
    if (*at != (word->has_value ? ',' : ')'))
        return bad_change(r, node, variable);
    update->form = word->form;
    at++;
    if (word->has_value) {
        size_t end = 0;
        if (!rig_expression_compile(at, scope, &r->out->code, &update->value, &end, &fault)) {
            const struct rig_yaml_place place = place_in(node, (size_t)(at - text) + fault.at);
            return REFUSE(r, &place, "in the expression `%s`: %s", text, fault.text);
        }
        at += end;
        if (*at != ')')
            return bad_change(r, node, variable);
        at++;
    }
    return at[strspn(at, " ")] == '\0' ? RIG_OK : bad_change(r, node, variable);
}

/* `name`, or `name[key]`. */
static enum rig_rc read_target(struct reader *r, const struct rig_expression_scope *scope,
                               const struct rig_yaml_entry *entry, struct rig_model_update *update)
{
    struct rig_expression_fault fault = {0};
    const size_t length = strcspn(entry->key, "[");
    update->variable = rig_variable_find(scope, entry->key, length);
    if (update->variable == NULL)
        return REFUSE(r, &entry->key_place, "there is no variable `%.*s` to set; the variables are those of `state`",
                      (int)length, entry->key);
    if (entry->key[length] == '\0') {
        update->form = RIG_UPDATE_VALUE;
        return RIG_OK;
    }
    if (update->variable->kind == RIG_VARIABLE_VALUE)
        return REFUSE(r, &entry->key_place, "`%s` is a value, and has no parts", update->variable->name);
    update->form = RIG_UPDATE_ENTRY;
    size_t end = 0;
    const char *inner = entry->key + length + 1;
    if (!rig_expression_compile(inner, scope, &r->out->code, &update->key, &end, &fault)) {
        struct rig_yaml_place place = entry->key_place;
        place.column += (uint32_t)(length + 1 + fault.at);
        return REFUSE(r, &place, "in `%s`: %s", entry->key, fault.text);
    }
    if (strcmp(inner + end, "]") != 0)
        return REFUSE(r, &entry->key_place, "`%s` does not end with `]`", entry->key);
    return RIG_OK;
}

static enum rig_rc read_updates(struct reader *r, const struct rig_expression_scope *scope,
                                const struct rig_yaml_node *set, struct rig_model_case *one)
{
    enum rig_rc rc = RIG_OK;
    if (set->kind != RIG_YAML_MAPPING)
        return REFUSE(r, &set->place, "the variables that change were expected, each with its new value");
    if (set->count > 2 * RIG_MODEL_VARIABLES)
        return REFUSE(r, &set->place, "a case sets at most %d values", 2 * RIG_MODEL_VARIABLES);
    struct rig_model_update *updates = rig_arena_array(r->arena, set->count + 1, sizeof *updates);
    if (updates == NULL)
        return no_memory(r);
    one->updates = updates;
    for (const struct rig_yaml_entry *entry = set->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        struct rig_model_update *update = &updates[one->update_count++];
        rc = read_target(r, scope, entry, update);
        if (rc == RIG_OK && update->form == RIG_UPDATE_VALUE && update->variable->kind != RIG_VARIABLE_VALUE)
            rc = read_change(r, scope, entry->value, update);
        else if (rc == RIG_OK)
            rc = compile(r, scope, entry->value, &update->value);
    }
    return rc;
}

/* ---- operations ---- */

/* A constant is one that each state and each call gives. */
static void note_constant(struct reader *r, struct rig_model_case *one)
{
    const struct rig_model_view view = {.constants = &r->out->constants};
    bool no_room = false;
    one->constant = r->out->constants.nil;
    one->returns_constant = one->returns.count == 0;
    if (rig_expression_is_constant(&r->out->code, &one->returns))
        one->returns_constant = rig_expression_value(&r->out->code, &one->returns, &view, &one->constant, &no_room);
}

static enum rig_rc read_case(struct reader *r, const struct rig_expression_scope *scope,
                             const struct rig_yaml_node *node, struct rig_model_case *one)
{
    const struct rig_yaml_node *when = rig_yaml_value(node, "when"), *set = rig_yaml_value(node, "set"),
                               *returns = rig_yaml_value(node, "returns");
    enum rig_rc rc = when == NULL ? RIG_OK : compile(r, scope, when, &one->when);
    if (rc == RIG_OK && set != NULL)
        rc = read_updates(r, scope, set, one);
    if (rc == RIG_OK && returns != NULL)
        rc = compile(r, scope, returns, &one->returns);
    if (rc == RIG_OK)
        note_constant(r, one);
    return rc;
}

static enum rig_rc read_cases(struct reader *r, const struct rig_expression_scope *scope,
                              const struct rig_yaml_node *node, struct rig_model_operation *operation)
{
    static const char *const keys[] = {"when", "set", "returns", NULL};
    const struct rig_yaml_node *cases = rig_yaml_value(node, "cases"), *any = rig_yaml_value(node, "any");
    const struct rig_yaml_node *several = cases != NULL ? cases : any;
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; several != NULL && keys[i] != NULL; i++) {
        const struct rig_yaml_node *own = rig_yaml_value(node, keys[i]);
        if (own != NULL)
            return REFUSE(r, &own->place, "`%s` beside `%s`; give it to the cases", keys[i],
                          any == several ? "any" : "cases");
    }
    if (cases != NULL && any != NULL)
        return REFUSE(r, &any->place, "`any` beside `cases`; give one of them");
    if (several != NULL &&
        (several->kind != RIG_YAML_SEQUENCE || several->count == 0 || several->count > RIG_MODEL_CASES))
        return REFUSE(r, &several->place, "a list of 1 to %d cases was expected, each with `when`, `set` or `returns`",
                      RIG_MODEL_CASES);
    const size_t count = several == NULL ? 1 : several->count;
    struct rig_model_case *all = rig_arena_array(r->arena, count, sizeof *all);
    if (all == NULL)
        return no_memory(r);
    operation->any = any != NULL;
    operation->cases = all;
    operation->case_count = (uint32_t)count;
    if (several == NULL)
        rc = read_case(r, scope, node, &all[0]);
    const struct rig_yaml_entry *entry = several == NULL ? NULL : several->first;
    for (size_t i = 0; rc == RIG_OK && entry != NULL; i++, entry = entry->next) {
        rc = rig_yaml_check_keys(&r->tree, entry->value, keys, r->err);
        if (rc == RIG_OK)
            rc = read_case(r, scope, entry->value, &all[i]);
    }
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        operation->has_result |= all[i].returns.count > 0;
        operation->returns_list |= rig_expression_has_list(&r->out->code, &all[i].returns);
    }
    return rc;
}

/* `1..5`, a list of values, or `client`. */
static enum rig_rc read_argument(struct reader *r, const struct rig_yaml_node *node,
                                 struct rig_model_argument *argument)
{
    struct rig_model_numbers values = {0};
    const char *dots = node->kind == RIG_YAML_SCALAR && node->text != NULL ? strstr(node->text, "..") : NULL;
    char first[32] = "";
    if (node->kind == RIG_YAML_SEQUENCE && node->count > 0) {
        const enum rig_rc rc = read_sequence(r, node, &values);
        int64_t *copy = rc == RIG_OK ? rig_arena_array(r->arena, values.count, sizeof *copy) : NULL;
        if (copy != NULL)
            memcpy(copy, values.at, values.count * sizeof *copy);
        argument->kind = RIG_ARGUMENT_LIST;
        argument->values = copy;
        argument->value_count = values.count;
        rig_model_numbers_done(&values);
        return rc != RIG_OK ? rc : copy == NULL ? no_memory(r) : RIG_OK;
    }
    if (dots != NULL && (size_t)(dots - node->text) < sizeof first) {
        memcpy(first, node->text, (size_t)(dots - node->text));
        argument->kind = RIG_ARGUMENT_RANGE;
        if (is_integer_text(first, &argument->least) && is_integer_text(dots + 2, &argument->most) &&
            argument->least <= argument->most && argument->least >= RIG_VALUE_TEXTS_BELOW &&
            argument->most <= -RIG_VALUE_TEXTS_BELOW)
            return RIG_OK;
    }
    argument->kind = RIG_ARGUMENT_CLIENT;
    if (node->kind == RIG_YAML_SCALAR && node->text != NULL && strcmp(node->text, "client") == 0)
        return RIG_OK;
    return REFUSE(r, &node->place,
                  "the values of an argument were expected: a range as `1..5`, a list as `[a, b]`, `client` for the "
                  "number of the client, or `key` for the object");
}

static enum rig_rc read_arguments(struct reader *r, const struct rig_yaml_node *node,
                                  struct rig_model_operation *operation, struct rig_expression_scope *scope)
{
    enum rig_rc rc = RIG_OK;
    int place = 0;
    operation->key_place = -1;
    if (node == NULL)
        return RIG_OK;
    if (node->kind != RIG_YAML_MAPPING)
        return REFUSE(r, &node->place, "the arguments were expected, each with its values, such as `{n: 1..5}`");
    struct rig_model_argument *arguments = rig_arena_array(r->arena, RIG_MODEL_ARGUMENTS, sizeof *arguments);
    if (arguments == NULL)
        return no_memory(r);
    operation->arguments = arguments;
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL;
         entry = entry->next, place++) {
        const struct rig_yaml_node *values = entry->value;
        rc = check_name(r, entry, "an argument");
        if (rc == RIG_OK && rig_variable_find(scope, entry->key, strlen(entry->key)) != NULL)
            rc = REFUSE(r, &entry->key_place, "`%s` is a variable of the state, too; rename the argument", entry->key);
        if (rc == RIG_OK && values->kind == RIG_YAML_SCALAR && values->text != NULL &&
            strcmp(values->text, "key") == 0) {
            if (operation->key_place >= 0)
                return REFUSE(r, &values->place, "an operation has one key; another argument is it already");
            operation->key_place = place;
            continue;
        }
        if (rc == RIG_OK && operation->argument_count == RIG_MODEL_ARGUMENTS)
            return REFUSE(r, &entry->key_place, "an operation has at most %d arguments", RIG_MODEL_ARGUMENTS);
        if (rc == RIG_OK) {
            scope->arguments[scope->argument_count++] = entry->key;
            arguments[operation->argument_count].name = entry->key;
            rc = read_argument(r, values, &arguments[operation->argument_count++]);
        }
    }
    return rc;
}

static enum rig_rc read_operation(struct reader *r, const struct rig_yaml_entry *entry,
                                  struct rig_model_operation *operation)
{
    static const char *const keys[] = {"arguments", "when", "set", "returns", "cases", "any", "weight", NULL};
    struct rig_expression_scope scope = {.variables = r->variables, .variable_count = r->out->variable_count};
    const struct rig_yaml_node *weight = NULL;
    struct rig_buf text;
    enum rig_rc rc = rig_yaml_check_keys(&r->tree, entry->value, keys, r->err);
    operation->name = entry->key;
    operation->weight = 1;
    if (rc == RIG_OK)
        rc = read_arguments(r, rig_yaml_value(entry->value, "arguments"), operation, &scope);
    if (rc == RIG_OK)
        rc = read_cases(r, &scope, entry->value, operation);
    if (rc == RIG_OK)
        weight = rig_yaml_value(entry->value, "weight");
    if (weight != NULL) {
        int64_t number = 0;
        if (weight->kind != RIG_YAML_SCALAR || !is_integer_text(weight->text, &number) || number < 0 || number > 1000)
            return REFUSE(r, &weight->place, "a weight from 0 to 1000 was expected");
        operation->weight = (double)number;
    }
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&text, 0);
    rig_json_quote(&text, entry->key, strlen(entry->key));
    const bool fits = !text.failed && rig_value_number(rig_buf_text(&text), text.size, &operation->number);
    rig_buf_done(&text);
    r->out->is_nondeterministic |= operation->any;
    return fits ? RIG_OK : no_memory(r);
}

static enum rig_rc read_operations(struct reader *r, const struct rig_yaml_node *node)
{
    enum rig_rc rc = RIG_OK;
    double weight = 0;
    if (node->kind != RIG_YAML_MAPPING || node->count == 0 || node->count > RIG_MODEL_OPERATIONS)
        return REFUSE(r, &node->place, "1 to %d operations were expected, each under its name", RIG_MODEL_OPERATIONS);
    struct rig_model_operation *operations = rig_arena_array(r->arena, node->count, sizeof *operations);
    if (operations == NULL)
        return no_memory(r);
    r->out->operations = operations;
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        rc = read_operation(r, entry, &operations[r->out->operation_count]);
        weight += operations[r->out->operation_count++].weight;
    }
    if (rc == RIG_OK && weight <= 0)
        return REFUSE(r, &node->place, "each operation has the weight 0; one needs more");
    return rc;
}

/* ---- files ---- */

static enum rig_rc read_model(struct reader *r)
{
    static const char *const keys[] = {"model", "state", "operations", NULL};
    struct rig_yaml_node *state = NULL, *operations = NULL;
    struct rig_model_numbers *initial = &r->out->initial;
    const struct rig_yaml_node *root = r->tree.root;
    enum rig_rc rc = rig_yaml_check_keys(&r->tree, root, keys, r->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&r->tree, root, "model", &r->out->name, r->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&r->tree, root, "state", RIG_YAML_MAPPING, &state, r->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&r->tree, root, "operations", RIG_YAML_MAPPING, &operations, r->err);
    if (rc == RIG_OK && !rig_model_constants_find(&r->out->constants))
        rc = no_memory(r);
    if (rc == RIG_OK)
        rc = read_state(r, state);
    if (rc == RIG_OK)
        rc = read_operations(r, operations);
    if (rc != RIG_OK)
        return rc;
    if (!rig_model_numbers_add(initial, 1) || !rig_model_numbers_add(initial, (int64_t)r->state.count) ||
        !rig_model_numbers_reserve(initial, initial->count + r->state.count + 1))
        return no_memory(r);
    for (size_t i = 0; i < r->state.count; i++)
        initial->at[initial->count++] = r->state.at[i];
    return RIG_OK;
}

enum rig_rc rig_specification_read(const char *file, const char *text, size_t size,
                                   struct rig_specification **specification, struct rig_err *err)
{
    struct storage *storage = calloc(1, sizeof *storage);
    if (storage == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: there is no memory for the model", file);
    storage->specification.storage = storage;
    rig_arena_init(&storage->arena, 0);
    struct reader r = {.arena = &storage->arena, .out = &storage->specification, .err = err};
    const char *name = rig_arena_text(r.arena, file, strlen(file));
    r.out->text = rig_arena_text(r.arena, text, size);
    r.out->file = name;
    enum rig_rc rc = name == NULL || r.out->text == NULL
                         ? rig_fail(err, RIG_E_LIMIT, "%s: there is no memory for the model", file)
                         : rig_yaml_tree_read(&r.tree, r.arena, "model", name, text, size, err);
    if (rc == RIG_OK)
        rc = read_model(&r);
    rig_model_numbers_done(&r.state);
    if (rc == RIG_OK)
        *specification = r.out;
    else
        rig_specification_free(r.out);
    return rc;
}

enum rig_rc rig_specification_load(const char *path, struct rig_specification **specification, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, RIG_YAML_BYTES);
    enum rig_rc rc = rig_buf_read_file(&text, path, err);
    if (rc == RIG_OK)
        rc = rig_specification_read(path, rig_buf_text(&text), text.size, specification, err);
    rig_buf_done(&text);
    return rc;
}

void rig_specification_free(struct rig_specification *specification)
{
    if (specification == NULL)
        return;
    struct storage *storage = specification->storage;
    rig_instructions_done(&specification->code);
    rig_model_numbers_done(&specification->initial);
    rig_arena_done(&storage->arena);
    free(storage);
}

const struct rig_model_operation *rig_specification_operation(const struct rig_specification *specification,
                                                              const char *name, size_t length)
{
    for (uint32_t i = 0; i < specification->operation_count; i++) {
        const struct rig_model_operation *operation = &specification->operations[i];
        if (strlen(operation->name) == length && memcmp(operation->name, name, length) == 0)
            return operation;
    }
    return NULL;
}
