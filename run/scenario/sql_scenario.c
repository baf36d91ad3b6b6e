#include "run/scenario/sql_scenario.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

struct loading {
    struct rig_sql_scenario *interleaving;
    struct rig_yaml_tree tree;
    struct rig_err *err;
};

static enum rig_rc refuse(struct loading *l, const struct rig_yaml_node *node, const char *what)
{
    return rig_yaml_refuse(&l->tree, &node->place, l->err, "%s", what);
}

static void *room(struct loading *l, size_t count, size_t size)
{
    void *made = rig_arena_array(&l->interleaving->arena, count + 1, size);
    if (made == NULL)
        (void)rig_no_memory(l->err, "a scenario");
    return made;
}

/* ---- statements ---- */

static enum rig_rc read_text(struct loading *l, const struct rig_yaml_node *node, const char *engine,
                             struct rig_engine_text *out)
{
    out->engine = engine;
    if (node->kind != RIG_YAML_SCALAR || node->is_null || node->text[strspn(node->text, " \t\r\n;")] == '\0')
        return refuse(l, node, "expected a statement of SQL");
    out->text = node->text;
    return RIG_OK;
}

/* A statement, or a map of engines. */
static enum rig_rc read_texts(struct loading *l, const struct rig_yaml_node *node, struct rig_engine_texts *out)
{
    enum rig_rc rc = RIG_OK;
    if (node->kind == RIG_YAML_SEQUENCE)
        return refuse(l, node, "expected a statement of SQL, or a map with one for each engine");
    const size_t count = node->kind == RIG_YAML_MAPPING ? node->count : 1;
    out->at = room(l, count, sizeof *out->at);
    if (out->at == NULL)
        return RIG_E_LIMIT;
    if (node->kind == RIG_YAML_SCALAR)
        return read_text(l, node, NULL, &out->at[out->count++]);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = read_text(l, entry->value, entry->key, &out->at[out->count++]);
    return rc;
}

/* One, or a list of them. */
static enum rig_rc read_list(struct loading *l, const struct rig_yaml_node *node, struct rig_engine_texts **list,
                             uint32_t *count)
{
    const size_t length = node->kind == RIG_YAML_SEQUENCE ? node->count : 1;
    enum rig_rc rc = RIG_OK;
    *list = room(l, length, sizeof **list);
    if (*list == NULL)
        return RIG_E_LIMIT;
    if (node->kind != RIG_YAML_SEQUENCE)
        return read_texts(l, node, &(*list)[(*count)++]);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = read_texts(l, entry->value, &(*list)[(*count)++]);
    return rc;
}

/* ---- expectations ---- */

static bool read_whole(const struct rig_yaml_node *node, int64_t *number)
{
    char *end = NULL;
    if (node->kind != RIG_YAML_SCALAR || node->is_null || node->text[0] == '\0')
        return false;
    errno = 0;
    *number = strtoll(node->text, &end, 10);
    return errno == 0 && *end == '\0';
}

static enum rig_rc read_flag(struct loading *l, const struct rig_yaml_node *node, bool *flag)
{
    const bool is_word = node->kind == RIG_YAML_SCALAR && node->text != NULL;
    *flag = is_word && strcmp(node->text, "true") == 0;
    return *flag || (is_word && strcmp(node->text, "false") == 0) ? RIG_OK : refuse(l, node, "expected true or false");
}

/* The number of a step, or `end`; null: it never came. */
static enum rig_rc read_after(struct loading *l, const struct rig_yaml_node *node, uint32_t *after)
{
    int64_t number = 0;
    if (node->kind == RIG_YAML_SCALAR && node->is_null)
        *after = RIG_AFTER_NOTHING;
    else if (node->kind == RIG_YAML_SCALAR && strcmp(node->text, "end") == 0)
        *after = RIG_AFTER_THE_END;
    else if (!read_whole(node, &number) || number < 1 || number >= RIG_AFTER_THE_END)
        return refuse(l, node, "expected the number of a step, or `end`");
    else
        *after = (uint32_t)number;
    return RIG_OK;
}

/* A list of rows, each a list of cells. */
static enum rig_rc read_rows(struct loading *l, const struct rig_yaml_node *node)
{
    if (node->kind != RIG_YAML_SEQUENCE)
        return refuse(l, node, "expected a list of rows, as [[1, \"a\"], [2, null]]");
    for (const struct rig_yaml_entry *row = node->first; row != NULL; row = row->next) {
        if (row->value->kind != RIG_YAML_SEQUENCE)
            return refuse(l, row->value, "expected a row, as [1, \"a\", null]");
    }
    return RIG_OK;
}

static bool is_expectation(const char *key)
{
    static const char *const keys[] = {"rows",         "count",       "error", "waits",    "returns_after",
                                       "starts_after", "rolled_back", "stuck", "not_sent", NULL};
    for (size_t i = 0; keys[i] != NULL; i++) {
        if (strcmp(keys[i], key) == 0)
            return true;
    }
    return false;
}

static enum rig_rc read_expectation(struct loading *l, const char *key, const struct rig_yaml_node *node,
                                    struct rig_expected *out)
{
    bool flag = false;
    out->given = true;
    if (strcmp(key, "rows") == 0) {
        out->rows = node;
        return read_rows(l, node);
    }
    if (strcmp(key, "count") == 0) {
        out->has_count = true;
        return read_whole(node, &out->count) ? RIG_OK : refuse(l, node, "expected a number of rows");
    }
    if (strcmp(key, "error") == 0)
        return rig_yaml_text(&l->tree, node, &out->error, l->err);
    if (strcmp(key, "returns_after") == 0) {
        out->has_wait = out->waits = out->has_after = true;
        return read_after(l, node, &out->after);
    }
    if (strcmp(key, "starts_after") == 0) {
        out->has_start = true;
        return read_after(l, node, &out->starts_after);
    }
    if (strcmp(key, "waits") == 0) {
        out->has_wait = true;
        return read_flag(l, node, &out->waits);
    }
    if (strcmp(key, "rolled_back") == 0)
        return read_flag(l, node, &out->rolled_back);
    return read_flag(l, node, strcmp(key, "stuck") == 0 ? &out->stuck : &flag);
}

/* `ok`, or a map. */
static enum rig_rc read_step_outcome(struct loading *l, const struct rig_yaml_node *node, struct rig_expected *out)
{
    enum rig_rc rc = RIG_OK;
    *out = (struct rig_expected){.given = true, .strict = true};
    if (node->kind == RIG_YAML_SCALAR && node->text != NULL && strcmp(node->text, "ok") == 0)
        return RIG_OK;
    if (node->kind != RIG_YAML_MAPPING)
        return refuse(l, node, "expected `ok`, or a map with rows, count, error, waits, returns_after");
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        if (!is_expectation(entry->key))
            return rig_yaml_refuse(&l->tree, &entry->key_place, l->err,
                                   "`%.60s` is none of rows, count, error, waits, returns_after, starts_after, "
                                   "rolled_back, stuck",
                                   entry->key);
        rc = read_expectation(l, entry->key, entry->value, out);
    }
    return rc;
}

/* ---- steps ---- */

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (isalnum((unsigned char)text[i]) == 0 && strchr("_-.", text[i]) == NULL)
            return false;
    }
    return length > 0;
}

uint32_t rig_sql_scenario_session(struct rig_sql_scenario *interleaving, const char *key, const char **fault)
{
    const size_t length = strcspn(key, "@");
    const char *node = key[length] == '@' ? key + length + 1 : NULL;
    if (!is_name(key, length) || (node != NULL && !is_name(node, strlen(node)))) {
        *fault = "a session's name has letters, digits and `_`, and may name its node, as T1@pg-2";
        return UINT32_MAX;
    }
    for (uint32_t i = 0; i < interleaving->session_count; i++) {
        const char *other = interleaving->nodes[i];
        if (strlen(interleaving->sessions[i]) != length || strncmp(interleaving->sessions[i], key, length) != 0)
            continue;
        if (node == NULL || (other != NULL && strcmp(other, node) == 0))
            return i;
        *fault = "the session began on another node: give a second session";
        return UINT32_MAX;
    }
    *fault = "expected at most 16 sessions";
    if (interleaving->session_count == RIG_SQL_SCENARIO_SESSIONS_MOST)
        return UINT32_MAX;
    interleaving->nodes[interleaving->session_count] = node;
    interleaving->sessions[interleaving->session_count] = rig_arena_text(&interleaving->arena, key, length);
    return interleaving->session_count++;
}

/* Only one that has been named. */
static enum rig_rc read_until(struct loading *l, const struct rig_yaml_node *node, struct rig_sql_scenario_step *out)
{
    const char *name = NULL;
    const enum rig_rc rc = rig_yaml_text(&l->tree, node, &name, l->err);
    if (rc != RIG_OK)
        return rc;
    out->act = RIG_STEP_UNTIL;
    for (uint32_t i = 0; i < l->interleaving->session_count; i++) {
        if (strcmp(l->interleaving->sessions[i], name) == 0) {
            out->session = i;
            return RIG_OK;
        }
    }
    return refuse(l, node, "expected a session that has sent something before");
}

/* {SESSION: STATEMENT}, {until: SESSION}, and with a list of steps also expectations. */
static enum rig_rc read_step(struct loading *l, const struct rig_yaml_node *node, struct rig_sql_scenario_step *out)
{
    enum rig_rc rc = RIG_OK;
    bool has_text = false;
    if (node->kind != RIG_YAML_MAPPING || node->count == 0)
        return refuse(l, node, "expected a session and its statement, as {A: commit}");
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        const char *fault = NULL;
        if (has_text && is_expectation(entry->key)) {
            rc = read_expectation(l, entry->key, entry->value, &out->expected);
            continue;
        }
        if (has_text)
            return rig_yaml_refuse(&l->tree, &entry->key_place, l->err,
                                   "a step has one session; after it come rows, count, error, waits, returns_after, "
                                   "starts_after, rolled_back");
        has_text = true;
        if (strcmp(entry->key, "until") == 0 || strcmp(entry->key, "until_idle") == 0) {
            rc = read_until(l, entry->value, out);
            continue;
        }
        out->session = rig_sql_scenario_session(l->interleaving, entry->key, &fault);
        if (out->session == UINT32_MAX)
            return rig_yaml_refuse(&l->tree, &entry->key_place, l->err, "%s", fault);
        rc = read_texts(l, entry->value, &out->texts);
    }
    return rc;
}

static enum rig_rc read_steps(struct loading *l, const struct rig_yaml_node *node)
{
    struct rig_sql_scenario *interleaving = l->interleaving;
    uint32_t before = 0;
    enum rig_rc rc = RIG_OK;
    if (node->kind == RIG_YAML_SCALAR || node->count == 0 || node->count > RIG_SQL_SCENARIO_STEPS_MOST)
        return rig_yaml_refuse(&l->tree, &node->place, l->err, "`steps`: expected 1 to %d steps",
                               (int)RIG_SQL_SCENARIO_STEPS_MOST);
    interleaving->steps = room(l, node->count, sizeof *interleaving->steps);
    if (interleaving->steps == NULL)
        return RIG_E_LIMIT;
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        struct rig_sql_scenario_step *out = &interleaving->steps[interleaving->step_count++];
        char *end = NULL;
        const unsigned long number = entry->key == NULL ? before + 1 : strtoul(entry->key, &end, 10);
        if (entry->key != NULL && (entry->key[0] == '\0' || *end != '\0' || number <= before || number > 9999))
            return rig_yaml_refuse(&l->tree, &entry->key_place, l->err,
                                   "expected the number of a step, above that of the step before");
        out->number = before = (uint32_t)number;
        rc = read_step(l, entry->value, out);
    }
    return rc;
}

/* ---- outcomes ---- */

static enum rig_rc read_step_outcomes(struct loading *l, const struct rig_yaml_node *node,
                                      struct rig_expected_outcome *out)
{
    const struct rig_sql_scenario *interleaving = l->interleaving;
    enum rig_rc rc = RIG_OK;
    if (node->kind != RIG_YAML_MAPPING)
        return refuse(l, node, "`steps`: expected a map from the numbers of steps");
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        char *end = NULL;
        const unsigned long number = strtoul(entry->key, &end, 10);
        uint32_t at = 0;
        while (at < interleaving->step_count && interleaving->steps[at].number != number)
            at++;
        if (entry->key[0] == '\0' || *end != '\0' || at == interleaving->step_count)
            return rig_yaml_refuse(&l->tree, &entry->key_place, l->err, "expected the number of one of the steps");
        rc = read_step_outcome(l, entry->value, &out->steps[at]);
    }
    return rc;
}

/* A list of texts, or one. */
static enum rig_rc read_levels(struct loading *l, const struct rig_yaml_node *node, struct rig_expected_outcome *out)
{
    enum rig_rc rc = RIG_OK;
    const size_t count = node->kind == RIG_YAML_SEQUENCE ? node->count : 1;
    out->levels = room(l, count, sizeof *out->levels);
    if (out->levels == NULL)
        return RIG_E_LIMIT;
    if (node->kind == RIG_YAML_SCALAR)
        return rig_yaml_text(&l->tree, node, &out->levels[out->level_count++], l->err);
    if (node->kind != RIG_YAML_SEQUENCE)
        return refuse(l, node, "`levels`: expected a list, as [\"read committed\"]");
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = rig_yaml_text(&l->tree, entry->value, &out->levels[out->level_count++], l->err);
    return rc;
}

static enum rig_rc read_outcome(struct loading *l, const char *engine, const struct rig_yaml_node *node,
                                struct rig_expected_outcome *out)
{
    static const char *const known[] = {"levels",      "steps",    "final", "final_if_a_failed_transaction_stops",
                                        "setup_error", "unstable", NULL};
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, node, known, l->err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_yaml_node *levels = rig_yaml_value(node, "levels"), *steps = rig_yaml_value(node, "steps"),
                               *unstable = rig_yaml_value(node, "unstable"),
                               *setup = rig_yaml_value(node, "setup_error");
    out->engine = engine;
    out->final = rig_yaml_value(node, "final");
    out->steps = room(l, l->interleaving->step_count, sizeof *out->steps);
    if (out->steps == NULL)
        return RIG_E_LIMIT;
    for (uint32_t i = 0; i < l->interleaving->step_count; i++)
        out->steps[i] = (struct rig_expected){.given = true, .strict = true};
    if (levels == NULL)
        return refuse(l, node, "`levels` is missing: the isolation levels of this outcome");
    rc = read_levels(l, levels, out);
    if (rc == RIG_OK && steps != NULL)
        rc = read_step_outcomes(l, steps, out);
    if (rc == RIG_OK && unstable != NULL)
        rc = read_flag(l, unstable, &out->unstable);
    if (rc == RIG_OK && setup != NULL)
        rc = rig_yaml_text(&l->tree, setup, &out->setup_error, l->err);
    if (rc == RIG_OK && out->final != NULL && out->final->kind != RIG_YAML_SEQUENCE)
        rc = refuse(l, out->final, "`final`: expected a list, an entry for each query");
    return rc;
}

static enum rig_rc read_outcomes(struct loading *l, const struct rig_yaml_node *node)
{
    struct rig_sql_scenario *interleaving = l->interleaving;
    size_t count = 0;
    enum rig_rc rc = RIG_OK;
    if (node->kind != RIG_YAML_MAPPING)
        return refuse(l, node, "`outcome`: expected a map from engines, as postgresql-15");
    for (const struct rig_yaml_entry *engine = node->first; engine != NULL; engine = engine->next)
        count += engine->value->kind == RIG_YAML_SEQUENCE ? engine->value->count : 1;
    interleaving->outcomes = room(l, count, sizeof *interleaving->outcomes);
    if (interleaving->outcomes == NULL)
        return RIG_E_LIMIT;
    for (const struct rig_yaml_entry *engine = node->first; rc == RIG_OK && engine != NULL; engine = engine->next) {
        if (engine->value->kind != RIG_YAML_SEQUENCE)
            return refuse(l, engine->value, "expected a list of outcomes, each with its `levels`");
        for (const struct rig_yaml_entry *entry = engine->value->first; rc == RIG_OK && entry != NULL;
             entry = entry->next)
            rc = read_outcome(l, engine->key, entry->value, &interleaving->outcomes[interleaving->outcome_count++]);
    }
    return rc;
}

/* ---- the file ---- */

static enum rig_rc read_line(struct loading *l, const char *key, const char **text)
{
    return rig_yaml_value(l->tree.root, key) == NULL
               ? RIG_OK
               : rig_yaml_need_line(&l->tree, l->tree.root, key, &l->interleaving->arena, text, l->err);
}

static enum rig_rc read_all(struct loading *l)
{
    static const char *const known[] = {"name",  "title", "source",     "forms",   "note", "setup",
                                        "steps", "final", "final_rows", "outcome", NULL};
    struct rig_sql_scenario *interleaving = l->interleaving;
    const struct rig_yaml_node *root = l->tree.root;
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, root, known, l->err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_yaml_node *setup = rig_yaml_value(root, "setup"), *steps = rig_yaml_value(root, "steps"),
                               *final = rig_yaml_value(root, "final"), *outcome = rig_yaml_value(root, "outcome");
    interleaving->title = "";
    interleaving->final_rows = rig_yaml_value(root, "final_rows");
    rc = rig_yaml_need_line(&l->tree, root, "name", &interleaving->arena, &interleaving->name, l->err);
    if (rc == RIG_OK)
        rc = read_line(l, "title", &interleaving->title);
    if (rc == RIG_OK)
        rc = read_line(l, "source", &interleaving->source);
    if (rc == RIG_OK && setup != NULL)
        rc = read_list(l, setup, &interleaving->setup, &interleaving->setup_count);
    if (rc == RIG_OK && steps == NULL)
        rc = refuse(l, root, "`steps` is missing: the statements of the sessions, in their order");
    if (rc == RIG_OK)
        rc = read_steps(l, steps);
    if (rc == RIG_OK && final != NULL)
        rc = read_list(l, final, &interleaving->final, &interleaving->final_count);
    if (rc == RIG_OK && interleaving->final_count > RIG_SQL_SCENARIO_FINALS_MOST)
        rc = refuse(l, final, "`final`: expected at most 32 queries");
    if (rc == RIG_OK && interleaving->final_rows != NULL && interleaving->final_rows->kind != RIG_YAML_SEQUENCE)
        rc = refuse(l, interleaving->final_rows, "`final_rows`: expected a list, an entry for each query of `final`");
    return rc == RIG_OK && outcome != NULL ? read_outcomes(l, outcome) : rc;
}

bool rig_sql_scenario_is_one(const char *name, const char *text, size_t size)
{
    struct rig_arena arena;
    struct rig_yaml_tree tree = {0};
    struct rig_err ignored = {0};
    rig_arena_init(&arena, 0);
    const bool read = rig_yaml_tree_read(&tree, &arena, "scenario", name, text, size, &ignored) == RIG_OK;
    const bool is_one = read && rig_yaml_value(tree.root, "table") == NULL &&
                        (rig_yaml_value(tree.root, "setup") != NULL || rig_yaml_value(tree.root, "outcome") != NULL ||
                         rig_yaml_value(tree.root, "final") != NULL);
    rig_arena_done(&arena);
    return is_one;
}

enum rig_rc rig_sql_scenario_parse(const char *name, const char *text, size_t size,
                                   struct rig_sql_scenario **interleaving, struct rig_err *err)
{
    struct rig_sql_scenario *out = calloc(1, sizeof *out);
    if (out == NULL)
        return rig_no_memory(err, "a scenario");
    rig_arena_init(&out->arena, 0);
    struct loading l = {.interleaving = out, .err = err};
    enum rig_rc rc = rig_yaml_tree_read(&l.tree, &out->arena, "scenario", name, text, size, err);
    if (rc == RIG_OK)
        rc = read_all(&l);
    if (rc == RIG_OK)
        *interleaving = out;
    else
        rig_sql_scenario_free(out);
    return rc;
}

void rig_sql_scenario_free(struct rig_sql_scenario *interleaving)
{
    if (interleaving == NULL)
        return;
    rig_arena_done(&interleaving->arena);
    free(interleaving);
}
