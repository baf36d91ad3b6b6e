#include "drivers/http/dialect_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/http/dialect_template.h"

/* -- values in answers --------------------------------------------------------------------------------------------- */

#define DECODE_NAME(name, text, help) text,
static const char *const decode_names[] = {RIG_DIALECT_DECODE_TABLE(DECODE_NAME) NULL};
#undef DECODE_NAME

static enum rig_rc read_decode(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const char *what, struct rig_answer_value *value, struct rig_err *err)
{
    unsigned index = 0;
    if (node == NULL)
        return RIG_OK;
    if (node->kind == RIG_YAML_SCALAR) {
        const enum rig_rc rc = rig_dialect_choice(reader, node, what, decode_names, &index, err);
        value->decode[value->decode_count++] = (enum rig_dialect_decode)index;
        return rc;
    }
    enum rig_rc rc = rig_dialect_sequence(reader, node, what, RIG_DIALECT_FILTERS_MOST, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        rc = rig_dialect_choice(reader, entry->value, what, decode_names, &index, err);
        value->decode[value->decode_count++] = (enum rig_dialect_decode)index;
    }
    return rc;
}

/* A path, or a mapping with the path (or a header), its decoding, and the default for a missing value. */
static enum rig_rc read_value(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              const char *what, struct rig_answer_value *value, struct rig_err *err)
{
    static const char *const keys[] = {"path", "header", "decode", "absent", NULL};
    if (node == NULL)
        return RIG_OK;
    value->given = true;
    if (node->kind == RIG_YAML_SCALAR)
        return rig_dialect_path(reader, node, what, &value->path, err);
    const struct rig_yaml_node *path = rig_dialect_member(node, "path");
    const struct rig_yaml_node *header = rig_dialect_member(node, "header");
    const struct rig_yaml_node *absent = rig_dialect_member(node, "absent");
    enum rig_rc rc = rig_dialect_mapping(reader, node, what, keys, err);
    if (rc == RIG_OK && (path == NULL) == (header == NULL))
        rc = rig_dialect_refuse(reader, node, what, err, "expected either a `path` or a `header`");
    if (rc == RIG_OK && path != NULL)
        rc = rig_dialect_path(reader, path, what, &value->path, err);
    if (rc == RIG_OK && header != NULL)
        rc = rig_dialect_text(reader, header, what, &value->header, err);
    if (rc == RIG_OK && absent != NULL)
        rc = rig_dialect_text(reader, absent, what, &value->absent, err);
    return rc == RIG_OK ? read_decode(reader, rig_dialect_member(node, "decode"), what, value, err) : rc;
}

/* -- the answer of a step ------------------------------------------------------------------------------------------ */

static uint32_t variable_index(const struct rig_dialect *dialect, const char *name)
{
    uint32_t index = 0;
    while (index < dialect->variable_count && strcmp(dialect->variables[index], name) != 0)
        index++;
    return index;
}

static enum rig_rc read_variables(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                  struct rig_answer_rule *answer, struct rig_err *err)
{
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "answer.set", NULL, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        if (answer->variable_count == RIG_DIALECT_VARIABLES_MOST)
            return rig_dialect_refuse(reader, node, "answer.set", err, "more than %d variables",
                                      (int)RIG_DIALECT_VARIABLES_MOST);
        answer->variables[answer->variable_count].variable = variable_index(reader->dialect, entry->key);
        rc = read_value(reader, entry->value, "answer.set", &answer->variables[answer->variable_count++].value, err);
    }
    return rc;
}

/* One path, or a list of them. */
static enum rig_rc read_expectation(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                    struct rig_expectation *expected, struct rig_err *err)
{
    if (node == NULL)
        return RIG_OK;
    if (node->kind == RIG_YAML_SCALAR)
        return rig_dialect_path(reader, node, "answer.expect", &expected->paths[expected->count++], err);
    enum rig_rc rc = rig_dialect_sequence(reader, node, "answer.expect", RIG_DIALECT_EXPECTED_MOST, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = rig_dialect_path(reader, entry->value, "answer.expect", &expected->paths[expected->count++], err);
    return rc;
}

/* For every item; or, in a mapping, for those of operations that read, and for those that write. */
static enum rig_rc read_expected(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                 struct rig_answer_rule *answer, struct rig_err *err)
{
    static const char *const keys[] = {"read", "write", NULL};
    if (node == NULL || node->kind != RIG_YAML_MAPPING)
        return read_expectation(reader, node, &answer->expected[RIG_EXPECT_OF_ALL], err);
    enum rig_rc rc = rig_dialect_mapping(reader, node, "answer.expect", keys, err);
    if (rc == RIG_OK && answer->set != RIG_SET_OPERATIONS)
        rc = rig_dialect_refuse(reader, node, "answer.expect", err,
                                "`read` and `write` belong to operations: they need `each: operations`");
    if (rc == RIG_OK)
        rc = read_expectation(reader, rig_dialect_member(node, "read"), &answer->expected[RIG_EXPECT_OF_READS], err);
    if (rc == RIG_OK)
        rc = read_expectation(reader, rig_dialect_member(node, "write"), &answer->expected[RIG_EXPECT_OF_WRITES], err);
    return rc;
}

enum rig_rc rig_rules_answer(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             struct rig_answer_rule *answer, struct rig_err *err)
{
    static const char *const keys[] = {"each", "items", "expect", "exists",  "value", "version",
                                       "set",  "order", "member", "missing", NULL};
    const struct rig_yaml_node *items = rig_dialect_member(node, "items");
    const struct rig_yaml_node *exists = rig_dialect_member(node, "exists");
    const struct rig_yaml_node *each = rig_dialect_member(node, "each");
    const struct rig_yaml_node *missing = rig_dialect_member(node, "missing");
    enum rig_rc rc = rig_dialect_mapping(reader, node, "answer", keys, err);
    if (rc == RIG_OK && (each == NULL) != (items == NULL))
        rc = rig_dialect_refuse(reader, node, "answer", err,
                                "`each` and `items` belong together: the set of elements, and the path of their list");
    if (rc == RIG_OK && each != NULL) {
        unsigned set = 0;
        rc = rig_dialect_choice(reader, each, "answer.each", rig_dialect_set_names + 1, &set, err);
        answer->set = (enum rig_dialect_set)(set + 1);
        if (rc == RIG_OK)
            rc = rig_dialect_path(reader, items, "answer.items", &answer->items, err);
    }
    if (rc == RIG_OK && exists != NULL)
        rc = rig_dialect_path(reader, exists, "answer.exists", &answer->exists, err);
    if (rc == RIG_OK && missing != NULL)
        rc = rig_dialect_whole(reader, missing, "answer.missing", 100, 599, &answer->missing, err);
    if (rc == RIG_OK)
        rc = read_expected(reader, rig_dialect_member(node, "expect"), answer, err);
    if (rc == RIG_OK)
        rc = read_value(reader, rig_dialect_member(node, "value"), "answer.value", &answer->value, err);
    if (rc == RIG_OK)
        rc = read_value(reader, rig_dialect_member(node, "version"), "answer.version", &answer->version, err);
    if (rc == RIG_OK)
        rc = read_value(reader, rig_dialect_member(node, "order"), "answer.order", &answer->order, err);
    if (rc == RIG_OK)
        rc = read_value(reader, rig_dialect_member(node, "member"), "answer.member", &answer->member, err);
    return rc == RIG_OK ? read_variables(reader, rig_dialect_member(node, "set"), answer, err) : rc;
}

/* -- outcomes ------------------------------------------------------------------------------------------------------ */

/* `404`, `5xx`, or a list of such. */
static enum rig_rc read_status(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               struct rig_outcome_rule *rule, struct rig_err *err)
{
    if (node->kind == RIG_YAML_SEQUENCE) {
        enum rig_rc rc = rig_dialect_sequence(reader, node, "outcomes.status", RIG_DIALECT_STATUSES_MOST, err);
        for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
            if (entry->value->kind != RIG_YAML_SCALAR)
                return rig_dialect_refuse(reader, entry->value, "outcomes.status", err, "expected a status");
            rc = read_status(reader, entry->value, rule, err);
        }
        return rc;
    }
    const char *text = NULL;
    long status = 0;
    enum rig_rc rc = rig_dialect_text(reader, node, "outcomes.status", &text, err);
    if (rc != RIG_OK)
        return rc;
    const uint32_t at = rule->status_count;
    if (strlen(text) == 3 && text[0] >= '1' && text[0] <= '5' && strcmp(text + 1, "xx") == 0) {
        rule->statuses[at].from = (text[0] - '0') * 100L;
        rule->statuses[at].to = rule->statuses[at].from + 99;
    } else {
        rc = rig_dialect_whole(reader, node, "outcomes.status", 100, 599, &status, err);
        rule->statuses[at].from = rule->statuses[at].to = status;
    }
    rule->status_count++;
    return rc;
}

/* The value that a path of the body is compared with: a scalar of JSON, or the words `present` and `absent`. */
static enum rig_rc read_body_test(const struct rig_dialect_reader *reader, const struct rig_yaml_entry *entry,
                                  struct rig_body_test *test, struct rig_err *err)
{
    static const struct {
        const char *word;
        enum rig_body_expects expects;
    } words[] = {
        {"present", RIG_BODY_PRESENT}, {"absent", RIG_BODY_ABSENT}, {"true", RIG_BODY_TRUE}, {"false", RIG_BODY_FALSE}};
    const struct rig_yaml_node key = {.kind = RIG_YAML_SCALAR, .place = entry->key_place, .text = entry->key};
    const struct rig_yaml_node *node = entry->value;
    const enum rig_rc rc = rig_dialect_path(reader, &key, "outcomes.body", &test->path, err);
    if (rc != RIG_OK)
        return rc;
    if (node->kind != RIG_YAML_SCALAR)
        return rig_dialect_refuse(reader, node, "outcomes.body", err, "expected a value, `present` or `absent`");
    test->expects = node->is_null ? RIG_BODY_NULL : RIG_BODY_TEXT;
    test->text = node->text;
    if (!node->plain || node->is_null)
        return RIG_OK;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, node->text) == 0)
            test->expects = words[i].expects;
    }
    char *end = NULL;
    errno = 0;
    test->integer = strtoll(node->text, &end, 10);
    if (test->expects == RIG_BODY_TEXT && end != node->text && *end == '\0' && errno == 0)
        test->expects = RIG_BODY_INTEGER;
    return RIG_OK;
}

static enum rig_rc read_body_tests(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                   struct rig_outcome_rule *rule, struct rig_err *err)
{
    enum rig_rc rc = rig_dialect_mapping(reader, node, "outcomes.body", NULL, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        if (rule->test_count == RIG_DIALECT_EXPECTED_MOST)
            return rig_dialect_refuse(reader, node, "outcomes.body", err, "more than %d paths",
                                      (int)RIG_DIALECT_EXPECTED_MOST);
        rc = read_body_test(reader, entry, &rule->tests[rule->test_count++], err);
    }
    return rc;
}

static enum rig_rc read_ending(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               struct rig_outcome_rule *rule, struct rig_err *err)
{
    static const char *const phases[] = {"operation", "commit", NULL};
    const struct rig_yaml_node *transport = rig_dialect_member(node, "transport");
    const struct rig_yaml_node *phase = rig_dialect_member(node, "phase");
    unsigned index = 0;
    enum rig_rc rc = RIG_OK;
    rule->end = RIG_HTTP_ANSWERED;
    rule->any_phase = phase == NULL;
    if (transport != NULL) {
        rc = rig_dialect_choice(reader, transport, "outcomes.transport", rig_http_end_names, &index, err);
        rule->end = (enum rig_http_end)index;
    }
    if (rc == RIG_OK && phase != NULL) {
        rc = rig_dialect_choice(reader, phase, "outcomes.phase", phases, &index, err);
        rule->at_commit = index == 1;
    }
    return rc;
}

/* No description of a database can make certain what a client cannot know. */
static enum rig_rc check_rule(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              const struct rig_outcome_rule *rule, struct rig_err *err)
{
    const bool answered = rule->end == RIG_HTTP_ANSWERED;
    if (!answered && rule->ruling == RIG_RULING_OK)
        return rig_dialect_refuse(reader, node, "outcomes", err,
                                  "without an answer nothing is acknowledged, so `%s` cannot be ok",
                                  rig_http_end_names[rule->end]);
    if (!answered && rule->end != RIG_HTTP_NOT_SENT && rule->ruling == RIG_RULING_FAIL &&
        (rule->any_phase || rule->at_commit))
        return rig_dialect_refuse(
            reader, node, "outcomes", err,
            "after `%s` of a commit its outcome is unknown, so it cannot be fail (with `phase: operation` it can)",
            rig_http_end_names[rule->end]);
    if (!answered && (rule->status_count > 0 || rule->test_count > 0 || rule->contains != NULL))
        return rig_dialect_refuse(reader, node, "outcomes", err, "`%s` has no status and no body",
                                  rig_http_end_names[rule->end]);
    if (rule->ruling == RIG_RULING_FAIL && rule->reason == NULL)
        return rig_dialect_refuse(
            reader, node, "outcomes", err,
            "a fail needs its `reason`: why is it certain that nothing was and will be committed?");
    return RIG_OK;
}

static enum rig_rc read_rule(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             struct rig_outcome_rule *rule, struct rig_err *err)
{
    static const char *const keys[] = {"transport", "status", "body",   "contains",     "phase",
                                       "outcome",   "code",   "reason", "session-lost", NULL};
    static const char *const rulings[] = {"ok", "fail", "info", NULL};
    const struct rig_yaml_node *status = rig_dialect_member(node, "status");
    const struct rig_yaml_node *body = rig_dialect_member(node, "body");
    const struct rig_yaml_node *contains = rig_dialect_member(node, "contains");
    const struct rig_yaml_node *outcome = rig_dialect_member(node, "outcome");
    const struct rig_yaml_node *code = rig_dialect_member(node, "code");
    const struct rig_yaml_node *reason = rig_dialect_member(node, "reason");
    const struct rig_yaml_node *lost = rig_dialect_member(node, "session-lost");
    unsigned ruling = 0;
    enum rig_rc rc = rig_dialect_mapping(reader, node, "outcomes", keys, err);
    if (rc == RIG_OK && outcome == NULL)
        rc = rig_dialect_refuse(reader, node, "outcomes", err, "`outcome` is missing: ok, fail or info");
    if (rc == RIG_OK)
        rc = rig_dialect_choice(reader, outcome, "outcomes.outcome", rulings, &ruling, err);
    rule->ruling = (enum rig_ruling)ruling;
    if (rc == RIG_OK)
        rc = read_ending(reader, node, rule, err);
    if (rc == RIG_OK && status != NULL)
        rc = read_status(reader, status, rule, err);
    if (rc == RIG_OK && body != NULL)
        rc = read_body_tests(reader, body, rule, err);
    if (rc == RIG_OK && contains != NULL)
        rc = rig_dialect_text(reader, contains, "outcomes.contains", &rule->contains, err);
    if (rc == RIG_OK && code != NULL)
        rc = rig_dialect_text(reader, code, "outcomes.code", &rule->code, err);
    if (rc == RIG_OK && reason != NULL)
        rc = rig_dialect_text(reader, reason, "outcomes.reason", &rule->reason, err);
    if (rc == RIG_OK && lost != NULL)
        rc = rig_dialect_bool(reader, lost, "outcomes.session-lost", &rule->session_lost, err);
    return rc == RIG_OK ? check_rule(reader, node, rule, err) : rc;
}

enum rig_rc rig_rules_outcomes(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const struct rig_outcome_rule **outcomes, struct rig_err *err)
{
    struct rig_outcome_rule *last = NULL;
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_dialect_sequence(reader, node, "outcomes", 64, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        struct rig_outcome_rule *rule = rig_arena_alloc(&reader->dialect->arena, sizeof *rule);
        if (rule == NULL)
            return rig_dialect_no_memory(err);
        if (last == NULL)
            *outcomes = rule;
        else
            last->next = rule;
        last = rule;
        rc = read_rule(reader, entry->value, rule, err);
    }
    return rc;
}
