#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/data_folder.h"
#include "base/nearest.h"
#include "drivers/http/dialect_reader.h"
#include "drivers/http/dialect_rules.h"
#include "drivers/http/dialect_template.h"

static bool is_word(const char *text)
{
    return text[0] >= 'a' && text[0] <= 'z' && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

/* A name that is allowed in `${...}` and is not taken. */
static enum rig_rc check_new_name(const struct rig_dialect_reader *reader, const struct rig_yaml_entry *entry,
                                  const char *what, struct rig_err *err)
{
#define VALUE_NAME(kind, text, element, help) text,
    static const char *const values[] = {RIG_DIALECT_VALUE_TABLE(VALUE_NAME) NULL};
#undef VALUE_NAME
    const struct rig_dialect *dialect = reader->dialect;
    bool taken = false;
    for (size_t i = 0; values[i] != NULL; i++)
        taken = taken || strcmp(values[i], entry->key) == 0;
    for (uint32_t i = 0; i < dialect->parameter_count; i++)
        taken = taken || strcmp(dialect->parameters[i].name, entry->key) == 0;
    for (uint32_t i = 0; i < dialect->name_count; i++)
        taken = taken || strcmp(dialect->names[i].name, entry->key) == 0;
    for (uint32_t i = 0; i < dialect->variable_count; i++)
        taken = taken || strcmp(dialect->variables[i], entry->key) == 0;
    if (taken)
        return rig_yaml_refuse(&reader->tree, &entry->key_place, err, "%s: `%.40s` is taken", what, entry->key);
    if (!is_word(entry->key))
        return rig_yaml_refuse(&reader->tree, &entry->key_place, err,
                               "%s: expected a name of small letters, digits and `-`, not `%.40s`", what, entry->key);
    return RIG_OK;
}

static enum rig_rc read_choices(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                struct rig_dialect_parameter *parameter, struct rig_err *err)
{
    size_t count = 0;
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_sequence(reader, node, "parameters.choices", 32, err);
    const char **choices = rig_arena_array(&reader->dialect->arena, node->count + 1, sizeof *choices);
    if (rc == RIG_OK && choices == NULL)
        rc = rig_dialect_no_memory(err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = rig_dialect_text(reader, entry->value, "parameters.choices", &choices[count++], err);
    parameter->choices = choices;
    return rc;
}

static enum rig_rc read_parameter(const struct rig_dialect_reader *reader, const struct rig_yaml_entry *entry,
                                  struct rig_err *err)
{
    static const char *const keys[] = {"default", "choices", "help", NULL};
    struct rig_dialect *dialect = reader->dialect;
    enum rig_rc rc = check_new_name(reader, entry, "parameters", err);
    if (rc == RIG_OK && dialect->parameter_count == RIG_DIALECT_PARAMETERS_MOST)
        rc = rig_dialect_refuse(reader, entry->value, "parameters", err, "more than %d",
                                (int)RIG_DIALECT_PARAMETERS_MOST);
    if (rc == RIG_OK)
        rc = rig_dialect_mapping(reader, entry->value, "parameters", keys, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_dialect_parameter *parameter = &dialect->parameters[dialect->parameter_count++];
    const struct rig_yaml_node *fallback = rig_dialect_member(entry->value, "default");
    const struct rig_yaml_node *help = rig_dialect_member(entry->value, "help");
    parameter->name = entry->key;
    rc = read_choices(reader, rig_dialect_member(entry->value, "choices"), parameter, err);
    if (rc == RIG_OK && fallback == NULL)
        rc = rig_dialect_refuse(reader, entry->value, "parameters", err, "`%s` has no `default`", entry->key);
    if (rc == RIG_OK)
        rc = rig_dialect_text(reader, fallback, "parameters.default", &parameter->default_text, err);
    if (rc == RIG_OK && help != NULL)
        rc = rig_dialect_text(reader, help, "parameters.help", &parameter->help, err);
    dialect->values[dialect->parameter_count - 1] = parameter->default_text;
    return rc;
}

static enum rig_rc read_parameters(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                   struct rig_err *err)
{
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "parameters", NULL, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = read_parameter(reader, entry, err);
    return rc;
}

/* Every variable that any answer sets: a template may precede the answer. The YAML's depth bounds this one's. */
static enum rig_rc collect_variables(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                     struct rig_err *err)
{
    struct rig_dialect *dialect = reader->dialect;
    enum rig_rc rc = RIG_OK;
    if (node == NULL || node->kind == RIG_YAML_SCALAR)
        return RIG_OK;
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        const bool sets = entry->key != NULL && strcmp(entry->key, "answer") == 0;
        const struct rig_yaml_node *set = sets ? rig_dialect_member(entry->value, "set") : NULL;
        const struct rig_yaml_entry *variable = set != NULL && set->kind == RIG_YAML_MAPPING ? set->first : NULL;
        for (; rc == RIG_OK && variable != NULL; variable = variable->next) {
            uint32_t i = 0;
            while (i < dialect->variable_count && strcmp(dialect->variables[i], variable->key) != 0)
                i++;
            if (i < dialect->variable_count)
                continue;
            rc = check_new_name(reader, variable, "answer.set", err);
            if (rc == RIG_OK && i == RIG_DIALECT_VARIABLES_MOST)
                rc = rig_dialect_refuse(reader, set, "answer.set", err, "more than %d variables",
                                        (int)RIG_DIALECT_VARIABLES_MOST);
            if (rc == RIG_OK)
                dialect->variables[dialect->variable_count++] = variable->key;
        }
        if (rc == RIG_OK)
            rc = collect_variables(reader, entry->value, err);
    }
    return rc;
}

static enum rig_rc read_names(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_err *err)
{
    struct rig_dialect *dialect = reader->dialect;
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "names", NULL, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        rc = check_new_name(reader, entry, "names", err);
        if (rc == RIG_OK && dialect->name_count == RIG_DIALECT_NAMES_MOST)
            rc = rig_dialect_refuse(reader, entry->value, "names", err, "more than %d", (int)RIG_DIALECT_NAMES_MOST);
        if (rc != RIG_OK)
            break;
        /* The use decides whether there is an element: here all names are allowed. */
        rc = rig_template_text(reader, entry->value, (struct rig_template_place){"names", RIG_SET_KEYS},
                               &dialect->names[dialect->name_count].text, err);
        dialect->names[dialect->name_count++].name = entry->key;
    }
    return rc;
}

static enum rig_rc read_headers(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                enum rig_dialect_set set, struct rig_dialect_header *headers, uint32_t *count,
                                struct rig_err *err)
{
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "headers", NULL, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        if (*count == RIG_DIALECT_HEADERS_MOST)
            return rig_dialect_refuse(reader, node, "headers", err, "more than %d", (int)RIG_DIALECT_HEADERS_MOST);
        struct rig_dialect_header *header = &headers[(*count)++];
        header->name = entry->key;
        rc = rig_template_text(reader, entry->value, (struct rig_template_place){"headers", set}, &header->value, err);
    }
    return rc;
}

static enum rig_rc read_body(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             struct rig_dialect_step *step, struct rig_err *err)
{
    const struct rig_yaml_node *body = rig_dialect_member(node, "body");
    const struct rig_yaml_node *text = rig_dialect_member(node, "text");
    if (body != NULL && text != NULL)
        return rig_dialect_refuse(reader, text, "text", err, "a request has a `body` (JSON) or a `text`, not both");
    if (body != NULL)
        return rig_template_json(reader, body, (struct rig_template_place){"body", step->set}, &step->body, err);
    step->has_text = text != NULL;
    if (text == NULL)
        return RIG_OK;
    return rig_template_text(reader, text, (struct rig_template_place){"text", step->set}, &step->text, err);
}

static enum rig_rc read_request(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                struct rig_dialect_step *step, struct rig_err *err)
{
    const struct rig_yaml_node *method = rig_dialect_member(node, "method");
    const struct rig_yaml_node *path = rig_dialect_member(node, "path");
    enum rig_rc rc = RIG_OK;
    step->method = "POST";
    if (path == NULL)
        return rig_dialect_refuse(reader, node, "step", err, "`path` is missing: the path of the request");
    if (method != NULL)
        rc = rig_dialect_text(reader, method, "method", &step->method, err);
    if (rc == RIG_OK && strspn(step->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(step->method))
        rc = rig_dialect_refuse(reader, method, "method", err, "expected GET, POST, PUT, ... in capital letters");
    if (rc == RIG_OK)
        rc = rig_template_text(reader, path, (struct rig_template_place){"path", step->set}, &step->path, err);
    if (rc == RIG_OK && (step->path.count == 0 || step->path.parts[0].kind != RIG_PART_LITERAL ||
                         step->path.parts[0].literal[0] != '/'))
        rc = rig_dialect_refuse(reader, path, "path", err, "expected a path that starts with `/`");
    if (rc == RIG_OK)
        rc = read_headers(reader, rig_dialect_member(node, "headers"), step->set, step->headers, &step->header_count,
                          err);
    return rc == RIG_OK ? read_body(reader, node, step, err) : rc;
}

static bool answer_reads_body(const struct rig_answer_rule *answer)
{
    bool reads = answer->set != RIG_SET_ONCE || answer->expected[RIG_EXPECT_OF_ALL].count > 0 ||
                 answer->exists.text != NULL || (answer->value.given && answer->value.header == NULL) ||
                 (answer->version.given && answer->version.header == NULL) ||
                 (answer->order.given && answer->order.header == NULL) ||
                 (answer->member.given && answer->member.header == NULL);
    for (uint32_t i = 0; i < answer->variable_count; i++)
        reads = reads || answer->variables[i].value.header == NULL;
    return reads;
}

static enum rig_rc read_step(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             bool in_transaction, struct rig_dialect_step *step, struct rig_err *err)
{
    static const char *const keys[] = {"name",    "phase", "when", "for",    "method",   "path",
                                       "headers", "body",  "text", "answer", "outcomes", NULL};
    static const char *const phases[] = {"begin", "operation", "commit", NULL};
    const struct rig_yaml_node *name = rig_dialect_member(node, "name");
    const struct rig_yaml_node *phase = rig_dialect_member(node, "phase");
    const struct rig_yaml_node *set = rig_dialect_member(node, "for");
    const struct rig_yaml_node *answer = rig_dialect_member(node, "answer");
    unsigned index = 2;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "step", keys, err);
    step->name = "request";
    if (rc == RIG_OK && name != NULL)
        rc = rig_dialect_text(reader, name, "name", &step->name, err);
    if (rc == RIG_OK && in_transaction && phase == NULL)
        rc = rig_dialect_refuse(reader, node, "step", err,
                                "`phase` is missing: give begin or operation as long as nothing can be committed, "
                                "else commit");
    if (rc == RIG_OK && phase != NULL)
        rc = rig_dialect_choice(reader, phase, "phase", phases, &index, err);
    step->phase = (enum rig_phase)(RIG_PHASE_BEGIN + index);
    if (rc == RIG_OK && set != NULL) {
        rc = rig_dialect_choice(reader, set, "for", rig_dialect_set_names, &index, err);
        step->set = (enum rig_dialect_set)index;
    }
    if (rc == RIG_OK && !in_transaction && step->set != RIG_SET_ONCE)
        rc = rig_dialect_refuse(reader, set, "for", err,
                                "there is no transaction here, so there are no sets of its "
                                "parts");
    if (rc == RIG_OK)
        rc = rig_template_conditions(reader, rig_dialect_member(node, "when"),
                                     (struct rig_template_place){"when", step->set}, &step->when, err);
    if (rc == RIG_OK)
        rc = read_request(reader, node, step, err);
    if (rc == RIG_OK && answer != NULL)
        rc = rig_rules_answer(reader, answer, &step->answer, err);
    step->answer_is_json = answer_reads_body(&step->answer);
    if (rc == RIG_OK && (step->answer.value.given || step->answer.version.given) && step->answer.set == RIG_SET_ONCE &&
        step->set == RIG_SET_ONCE)
        rc = rig_dialect_refuse(
            reader, answer, "answer", err,
            "the element of the value is unknown: give `each` and `items`, or give the step a `for`");
    if (rc == RIG_OK)
        rc = rig_rules_outcomes(reader, rig_dialect_member(node, "outcomes"), &step->outcomes, err);
    return rc;
}

static enum rig_rc read_steps(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              const char *what, bool in_transaction, struct rig_dialect_steps *steps,
                              struct rig_err *err)
{
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_sequence(reader, node, what, RIG_DIALECT_STEPS_MOST, err);
    if (rc != RIG_OK)
        return rc;
    steps->at = rig_arena_array(&reader->dialect->arena, node->count + 1, sizeof *steps->at);
    if (steps->at == NULL)
        return rig_dialect_no_memory(err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = read_step(reader, entry->value, in_transaction, &steps->at[steps->count++], err);
    return rc;
}

static enum rig_rc read_other_steps(const struct rig_dialect_reader *reader, const struct rig_yaml_node *root,
                                    struct rig_err *err)
{
    struct rig_dialect *dialect = reader->dialect;
    const struct {
        const char *name;
        struct rig_dialect_steps *steps;
    } lists[] = {{"health", &dialect->health},
                 {"setup", &dialect->setup},
                 {"teardown", &dialect->teardown},
                 {"describe", &dialect->describe},
                 {"role", &dialect->role}};
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < sizeof lists / sizeof lists[0]; i++)
        rc = read_steps(reader, rig_dialect_member(root, lists[i].name), lists[i].name, false, lists[i].steps, err);
    return rc;
}

/* `set: list-append`: the steps of another workload, which is described in the same place. */
static const struct rig_yaml_node *follow_name(const struct rig_yaml_node *workloads,
                                               const struct rig_yaml_node *workload)
{
    if (workload == NULL || workload->kind != RIG_YAML_SCALAR)
        return workload;
    const struct rig_yaml_node *named = rig_dialect_member(workloads, workload->text);
    return named != NULL && named->kind == RIG_YAML_MAPPING ? named : workload;
}

static bool rules_say_ok(const struct rig_outcome_rule *rule)
{
    while (rule != NULL && rule->ruling != RIG_RULING_OK)
        rule = rule->next;
    return rule != NULL;
}

static enum rig_rc check_steps(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const struct rig_dialect_steps *steps, struct rig_err *err)
{
    bool commits = false;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct rig_dialect_step *step = &steps->at[i];
        if (commits && step->phase != RIG_PHASE_COMMIT)
            return rig_dialect_refuse(reader, node, "steps", err,
                                      "the step `%s` follows a step that commits, so its phase must be commit",
                                      step->name);
        commits = step->phase == RIG_PHASE_COMMIT;
        if (!rules_say_ok(step->outcomes) && !rules_say_ok(reader->dialect->outcomes))
            return rig_dialect_refuse(reader, node, "steps", err, "no outcome makes the step `%s` ok", step->name);
    }
    if (!commits)
        return rig_dialect_refuse(reader, node, "steps", err, "no step is in the phase commit");
    return RIG_OK;
}

static enum rig_rc read_workload(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                 struct rig_dialect_workload *workload, struct rig_err *err)
{
    static const char *const keys[] = {"most-keys", "steps", "abort", NULL};
    const struct rig_yaml_node *steps = rig_dialect_member(node, "steps");
    const struct rig_yaml_node *most = rig_dialect_member(node, "most-keys");
    long most_keys = 0;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "workloads", keys, err);
    if (rc == RIG_OK && steps == NULL)
        rc = rig_dialect_refuse(reader, node, "workloads", err, "`steps` is missing: the requests of a transaction");
    if (rc == RIG_OK && most != NULL)
        rc = rig_dialect_whole(reader, most, "most-keys", 1, 10000, &most_keys, err);
    workload->most_keys = most_keys;
    workload->given = true;
    if (rc == RIG_OK)
        rc = read_steps(reader, steps, "steps", true, &workload->steps, err);
    if (rc == RIG_OK)
        rc = check_steps(reader, steps, &workload->steps, err);
    return rc == RIG_OK ? read_steps(reader, rig_dialect_member(node, "abort"), "abort", false, &workload->abort, err)
                        : rc;
}

static enum rig_rc read_workloads(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                  struct rig_err *err)
{
#define WORKLOAD_NAME(name, text, ...) text,
    static const char *const names[] = {RIG_WORKLOAD_TABLE(WORKLOAD_NAME) NULL};
#undef WORKLOAD_NAME
    enum rig_rc rc = rig_dialect_mapping(reader, node, "workloads", names, err);
    for (size_t i = 0; rc == RIG_OK && names[i] != NULL; i++) {
        const struct rig_yaml_node *workload = follow_name(node, rig_dialect_member(node, names[i]));
        if (workload != NULL && workload->kind == RIG_YAML_SCALAR)
            rc = rig_dialect_refuse(reader, workload, names[i], err,
                                    "`%s` names no workload with steps in this dialect", workload->text);
        else if (workload != NULL)
            rc = read_workload(reader, workload, &reader->dialect->workloads[i], err);
    }
    return rc;
}

static enum rig_rc read_top(struct rig_dialect_reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {"name",     "summary",  "parameters", "names",    "headers",   "health", "setup",
                                       "teardown", "describe", "role",       "outcomes", "workloads", NULL};
    struct rig_dialect *dialect = reader->dialect;
    const struct rig_yaml_node *name = rig_dialect_member(root, "name");
    const struct rig_yaml_node *summary = rig_dialect_member(root, "summary");
    const struct rig_yaml_node *workloads = rig_dialect_member(root, "workloads");
    enum rig_rc rc = rig_dialect_mapping(reader, root, "dialect", keys, err);
    dialect->name = dialect->summary = "";
    if (rc == RIG_OK && (name == NULL || workloads == NULL))
        rc = rig_dialect_refuse(reader, root, "dialect", err, "`%s` is missing", name == NULL ? "name" : "workloads");
    if (rc == RIG_OK)
        rc = rig_dialect_text(reader, name, "name", &dialect->name, err);
    if (rc == RIG_OK && summary != NULL)
        rc = rig_dialect_text(reader, summary, "summary", &dialect->summary, err);
    if (rc == RIG_OK)
        rc = read_parameters(reader, rig_dialect_member(root, "parameters"), err);
    if (rc == RIG_OK)
        rc = collect_variables(reader, root, err);
    if (rc == RIG_OK)
        rc = read_names(reader, rig_dialect_member(root, "names"), err);
    if (rc == RIG_OK)
        rc = read_headers(reader, rig_dialect_member(root, "headers"), RIG_SET_ONCE, dialect->headers,
                          &dialect->header_count, err);
    if (rc == RIG_OK)
        rc = rig_rules_outcomes(reader, rig_dialect_member(root, "outcomes"), &dialect->outcomes, err);
    if (rc == RIG_OK)
        rc = read_other_steps(reader, root, err);
    return rc == RIG_OK ? read_workloads(reader, workloads, err) : rc;
}

/* "parameter=value" of a plan. Without a place: the caller names the option. */
static enum rig_rc set_parameter(struct rig_dialect *dialect, const char *text, struct rig_err *err)
{
    const char *equals = strchr(text, '=');
    const char *names[RIG_DIALECT_PARAMETERS_MOST + 1] = {NULL};
    char name[64] = "";
    if (equals == NULL || (size_t)(equals - text) >= sizeof name)
        return rig_fail(err, RIG_E_PLAN, "`parameters`: expected NAME=VALUE, not `%.60s`", text);
    memcpy(name, text, (size_t)(equals - text));
    for (uint32_t i = 0; i < dialect->parameter_count; i++) {
        const struct rig_dialect_parameter *parameter = &dialect->parameters[i];
        names[i] = parameter->name;
        if (strcmp(parameter->name, name) != 0)
            continue;
        dialect->values[i] = rig_arena_text(&dialect->arena, equals + 1, strlen(equals + 1));
        if (dialect->values[i] == NULL)
            return rig_dialect_no_memory(err);
        for (size_t c = 0; parameter->choices != NULL; c++) {
            if (parameter->choices[c] == NULL)
                return rig_fail(err, RIG_E_PLAN, "`parameters`: %s of the dialect %s cannot be `%.40s`", name,
                                dialect->name, equals + 1);
            if (strcmp(parameter->choices[c], equals + 1) == 0)
                break;
        }
        return RIG_OK;
    }
    const char *near = rig_nearest_of(name, names);
    return rig_fail(err, RIG_E_PLAN, "`parameters`: the dialect %s has no parameter `%s`%s%s%s", dialect->name, name,
                    near == NULL ? "" : "; did you mean `", near == NULL ? "" : near, near == NULL ? "" : "`?");
}

void rig_dialect_free(struct rig_dialect *dialect)
{
    if (dialect == NULL)
        return;
    rig_arena_done(&dialect->arena);
    free(dialect);
}

enum rig_rc rig_dialect_parse(const char *file, const char *text, size_t size, const struct rig_text_list *values,
                              struct rig_dialect **dialect, struct rig_err *err)
{
    struct rig_dialect *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_dialect_no_memory(err);
    rig_arena_init(&made->arena, 0);
    made->run_name = "rig_run";
    struct rig_dialect_reader reader = {.dialect = made};
    made->file = rig_arena_text(&made->arena, file, strlen(file));
    enum rig_rc rc = made->file == NULL
                         ? rig_dialect_no_memory(err)
                         : rig_yaml_tree_read(&reader.tree, &made->arena, "dialect", made->file, text, size, err);
    if (rc == RIG_OK)
        rc = read_top(&reader, reader.tree.root, err);
    for (size_t i = 0; rc == RIG_OK && values != NULL && i < values->count; i++)
        rc = set_parameter(made, values->at[i], err);
    if (rc == RIG_OK)
        *dialect = made;
    else
        rig_dialect_free(made);
    return rc;
}

enum rig_rc rig_dialect_load(const char *name, const struct rig_text_list *values, struct rig_dialect **dialect,
                             struct rig_err *err)
{
    char path[4096];
    struct rig_buf text;
    rig_buf_init(&text, RIG_YAML_BYTES + 2); /* a file that is longer is refused by the reader */
    enum rig_rc rc = rig_data_folder_read(&rig_data_dialects, "`dialect`", name, path, sizeof path, &text, err);
    if (rc == RIG_OK)
        rc = rig_dialect_parse(path, rig_buf_text(&text), text.size, values, dialect, err);
    rig_buf_done(&text);
    return rc;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* -- workloads ----------------------------------------------------------------------------------------------------- */

/* -- parameters, names, variables ---------------------------------------------------------------------------------- */

/* -- the whole dialect --------------------------------------------------------------------------------------------- */
