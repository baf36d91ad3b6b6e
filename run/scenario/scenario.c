#include "run/scenario/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/yaml_tree.h"
#include "run/scenario/statement_text.h"

struct loading {
    struct rig_yaml_tree tree;
    struct rig_scenario *scenario;
    struct rig_err *err;
};

static enum rig_rc out_of_memory(const struct loading *l)
{
    return rig_no_memory(l->err, "a scenario");
}

static enum rig_rc refuse(const struct loading *l, const struct rig_yaml_place *place, const char *problem)
{
    return rig_yaml_refuse(&l->tree, place, l->err, "%s", problem);
}

/* ---- values ---- */

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t length = strlen(text);
    return length > 0 && length <= 30 && strspn(text, letters) > 0 && strspn(text, rest) == length;
}

static enum rig_rc read_number(const struct loading *l, const struct rig_yaml_node *node, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    const long long value = node->kind == RIG_YAML_SCALAR ? strtoll(node->text, &end, 10) : 0;
    if (end == NULL || end == node->text || *end != '\0' || errno != 0)
        return refuse(l, &node->place, "expected a whole number");
    *number = value;
    return RIG_OK;
}

/* ---- the table ---- */

void rig_scenario_sort(struct rig_scenario_rows *rows, uint32_t column_count)
{
    /* Insertion: rows are few. */
    for (uint32_t i = 1; i < rows->count; i++) {
        for (uint32_t j = i; j > 0; j--) {
            int64_t *above = rows->cells + (size_t)(j - 1) * column_count, *below = above + column_count;
            uint32_t column = 0;
            while (column < column_count && above[column] == below[column])
                column++;
            if (column == column_count || above[column] < below[column])
                break;
            for (column = 0; column < column_count; column++) {
                const int64_t cell = above[column];
                above[column] = below[column];
                below[column] = cell;
            }
        }
    }
}

static enum rig_rc read_rows(struct loading *l, const struct rig_yaml_node *list, struct rig_scenario_rows *rows)
{
    const uint32_t columns = l->scenario->table.column_count;
    if (list->kind != RIG_YAML_SEQUENCE || list->count > RIG_SCENARIO_ROWS_MOST)
        return refuse(l, &list->place, "expected a list of at most 256 rows");
    rows->cells = rig_arena_array(&l->scenario->arena, list->count * columns + 1, sizeof *rows->cells);
    if (rows->cells == NULL)
        return out_of_memory(l);
    rows->count = 0;
    for (const struct rig_yaml_entry *row = list->first; row != NULL; row = row->next) {
        if (row->value->kind != RIG_YAML_SEQUENCE || row->value->count != columns)
            return rig_yaml_refuse(&l->tree, &row->value->place, l->err, "expected a row of %u cells", columns);
        int64_t *cells = rows->cells + (size_t)rows->count++ * columns;
        for (const struct rig_yaml_entry *cell = row->value->first; cell != NULL; cell = cell->next) {
            const enum rig_rc rc = read_number(l, cell->value, cells++);
            if (rc != RIG_OK)
                return rc;
        }
    }
    rig_scenario_sort(rows, columns);
    return RIG_OK;
}

/* The number of the column that `key` names; 0 where it is not given. */
static enum rig_rc read_constraint(struct loading *l, const struct rig_yaml_node *node, const char *key,
                                   uint8_t *column)
{
    const struct rig_row_table *table = &l->scenario->table;
    const struct rig_yaml_node *value = rig_yaml_value(node, key);
    const char *name = NULL;
    if (value == NULL)
        return RIG_OK;
    const enum rig_rc rc = rig_yaml_text(&l->tree, value, &name, l->err);
    if (rc != RIG_OK)
        return rc;
    for (uint32_t i = 1; i < table->column_count; i++) {
        if (strcmp(table->columns[i], name) == 0) {
            *column = (uint8_t)i;
            return RIG_OK;
        }
    }
    return rig_yaml_refuse(&l->tree, &value->place, l->err, "`%s`: expected a column after the first one", key);
}

static enum rig_rc read_table(struct loading *l, const struct rig_yaml_node *node)
{
    static const char *const known[] = {"name", "columns", "rows", "unique", "refers", NULL};
    struct rig_row_table *table = &l->scenario->table;
    struct rig_yaml_node *columns = NULL, *rows = NULL;
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, node, known, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&l->tree, node, "name", &table->name, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&l->tree, node, "columns", RIG_YAML_SEQUENCE, &columns, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&l->tree, node, "rows", RIG_YAML_SEQUENCE, &rows, l->err);
    if (rc != RIG_OK)
        return rc;
    if (!is_name(table->name))
        return refuse(l, &node->place, "`name`: expected letters, digits and `_`");
    if (columns->count < 1 || columns->count > RIG_ROW_COLUMNS)
        return rig_yaml_refuse(&l->tree, &columns->place, l->err, "expected 1 to %d columns", (int)RIG_ROW_COLUMNS);
    table->key_count = 1;
    for (const struct rig_yaml_entry *entry = columns->first; entry != NULL; entry = entry->next) {
        const char *name = NULL;
        rc = rig_yaml_text(&l->tree, entry->value, &name, l->err);
        if (rc == RIG_OK && !is_name(name))
            rc = refuse(l, &entry->value->place, "expected letters, digits and `_`");
        if (rc != RIG_OK)
            return rc;
        table->columns[table->column_count++] = name;
    }
    rc = read_constraint(l, node, "unique", &table->unique);
    if (rc == RIG_OK)
        rc = read_constraint(l, node, "refers", &table->refers);
    if (rc == RIG_OK && table->refers != 0 && (table->unique == 0 || table->unique == table->refers))
        rc = refuse(l, &node->place, "`refers`: refers to the column that `unique` names, another one");
    return rc == RIG_OK ? read_rows(l, rows, &l->scenario->rows) : rc;
}

/* ---- steps ---- */

/* The number of the session, a new one if `may_add`; UINT32_MAX: there is none, or no room for it. */
static uint32_t session_of(struct rig_scenario *scenario, const char *name, bool may_add)
{
    for (uint32_t i = 0; i < scenario->session_count; i++) {
        if (strcmp(scenario->sessions[i], name) == 0)
            return i;
    }
    if (!may_add || scenario->session_count == RIG_SCENARIO_SESSIONS_MOST)
        return UINT32_MAX;
    scenario->sessions[scenario->session_count] = name;
    return scenario->session_count++;
}

static bool is_end(enum rig_scenario_act act)
{
    return act == RIG_SCENARIO_COMMIT || act == RIG_SCENARIO_COMMIT_HELD || act == RIG_SCENARIO_RELEASE ||
           act == RIG_SCENARIO_ROLLBACK;
}

static bool has_act(const struct rig_scenario *scenario, uint32_t session, enum rig_scenario_act act)
{
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        if (scenario->steps[i].session == session && scenario->steps[i].act == act)
            return true;
    }
    return false;
}

/* Whether the session has ended a transaction; `*is_open`: it has begun another one since. */
static bool has_ended(const struct rig_scenario *scenario, uint32_t session, bool *is_open)
{
    bool ended = false;
    *is_open = false;
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        if (scenario->steps[i].session != session || scenario->steps[i].act == RIG_SCENARIO_UNTIL)
            continue;
        *is_open = !is_end(scenario->steps[i].act);
        ended |= !*is_open;
    }
    return ended;
}

/* The step that holds a commit and is not released yet; NULL: there is none. */
static const struct rig_scenario_step *held_step(const struct rig_scenario *scenario)
{
    const struct rig_scenario_step *held = NULL;
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        if (scenario->steps[i].act == RIG_SCENARIO_COMMIT_HELD)
            held = &scenario->steps[i];
        else if (scenario->steps[i].act == RIG_SCENARIO_RELEASE)
            held = NULL;
    }
    return held;
}

/* A word that ends a transaction, or lets its commit end; `fault` says why it may not stand here. */
static bool read_end(struct rig_scenario *scenario, struct rig_scenario_step *out, const char **fault)
{
    static const struct {
        const char *text;
        enum rig_scenario_act act;
    } words[] = {{"commit", RIG_SCENARIO_COMMIT},
                 {"commit held", RIG_SCENARIO_COMMIT_HELD},
                 {"release", RIG_SCENARIO_RELEASE},
                 {"rollback", RIG_SCENARIO_ROLLBACK}};
    const struct rig_scenario_step *held = held_step(scenario);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(out->text, words[i].text) != 0)
            continue;
        out->act = words[i].act;
        scenario->holds_commits |= out->act == RIG_SCENARIO_COMMIT_HELD;
        if (out->act == RIG_SCENARIO_COMMIT_HELD && held != NULL)
            *fault = "another commit is held: release it first";
        else if (out->act == RIG_SCENARIO_RELEASE && (held == NULL || held->session != out->session))
            *fault = "this session holds no commit: `commit held` comes first";
        return true;
    }
    return false;
}

/* The session of a key "T1" or "T1@pg-2"; UINT32_MAX after an error. */
static uint32_t read_session(struct loading *l, const struct rig_yaml_entry *step, enum rig_rc *rc)
{
    struct rig_scenario *scenario = l->scenario;
    const size_t length = strcspn(step->key, "@");
    const char *node = step->key[length] == '@' ? step->key + length + 1 : NULL;
    const char *name = rig_arena_text(&scenario->arena, step->key, length);
    if (name == NULL || !is_name(name) || (node != NULL && node[0] == '\0')) {
        *rc = name == NULL ? out_of_memory(l)
                           : refuse(l, &step->key_place, "a session's name has letters, digits and `_`");
        return UINT32_MAX;
    }
    const uint32_t session = session_of(scenario, name, true);
    if (session == UINT32_MAX) {
        *rc = rig_yaml_refuse(&l->tree, &step->key_place, l->err, "expected at most %d sessions",
                              (int)RIG_SCENARIO_SESSIONS_MOST);
        return UINT32_MAX;
    }
    if (node != NULL && scenario->nodes[session] != NULL && strcmp(scenario->nodes[session], node) != 0) {
        *rc = refuse(l, &step->key_place, "the session began on another node: give a second session");
        return UINT32_MAX;
    }
    scenario->nodes[session] = node != NULL ? node : scenario->nodes[session];
    scenario->needs_texts |= node != NULL;
    return session;
}

/* BEGIN, or a statement that is sent as it is. */
static void read_text(struct rig_scenario *scenario, struct rig_scenario_step *out)
{
    static const char *const begins[] = {"begin", "start transaction"};
    out->act = RIG_SCENARIO_TEXT;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        const size_t length = strlen(begins[i]);
        if (strncasecmp(out->text, begins[i], length) == 0 && strchr(" \t", out->text[length]) != NULL)
            out->act = RIG_SCENARIO_BEGIN;
    }
    scenario->needs_texts = true;
}

/* `until: T1`. */
static enum rig_rc read_until(struct loading *l, const struct rig_yaml_entry *step, struct rig_scenario_step *out)
{
    out->act = RIG_SCENARIO_UNTIL;
    out->session = session_of(l->scenario, out->text, false);
    if (out->session == UINT32_MAX)
        return refuse(l, &step->value->place, "expected a session that has sent something before");
    out->text = "(until it has returned)";
    l->scenario->needs_texts = true;
    l->scenario->step_count++;
    return RIG_OK;
}

static enum rig_rc read_step(struct loading *l, const struct rig_yaml_entry *entry)
{
    struct rig_scenario *scenario = l->scenario;
    char fault[RIG_STATEMENT_FAULT_BYTES];
    if (entry->value->kind != RIG_YAML_MAPPING || entry->value->count != 1)
        return refuse(l, &entry->value->place, "expected a session and its statement, as `T1: commit`");
    const struct rig_yaml_entry *step = entry->value->first;
    struct rig_scenario_step *out = &scenario->steps[scenario->step_count];
    enum rig_rc rc = rig_yaml_text(&l->tree, step->value, &out->text, l->err);
    if (rc != RIG_OK)
        return rc;
    if (strcmp(step->key, "until") == 0)
        return read_until(l, step, out);
    out->session = read_session(l, step, &rc);
    if (out->session == UINT32_MAX)
        return rc;
    const char *problem = NULL;
    const bool is_end = read_end(scenario, out, &problem);
    if (problem != NULL)
        return refuse(l, &step->value->place, problem);
    bool is_open = false;
    const bool ended = has_ended(scenario, out->session, &is_open);
    if (out->act != RIG_SCENARIO_RELEASE && ended && !is_open && (is_end || scenario->holds_commits))
        return rig_yaml_refuse(&l->tree, &step->key_place, l->err,
                               "the transaction of %s has ended; give a session of another name", step->key);
    scenario->needs_texts |= ended && !is_end;
    if (is_end) {
        scenario->step_count++;
        return RIG_OK;
    }
    if (rig_statement_text_parse(out->text, &scenario->table, &scenario->statements[scenario->statement_count],
                                 out->values, fault))
        out->statement = scenario->statement_count++;
    else if (out->text[0] == '\0')
        return refuse(l, &step->value->place, fault);
    else
        read_text(scenario, out);
    scenario->step_count++;
    return RIG_OK;
}

static enum rig_rc read_steps(struct loading *l, const struct rig_yaml_node *list)
{
    enum rig_rc rc = RIG_OK;
    if (list->count == 0 || list->count > RIG_SCENARIO_STEPS_MOST)
        return rig_yaml_refuse(&l->tree, &list->place, l->err, "expected 1 to %d steps", (int)RIG_SCENARIO_STEPS_MOST);
    for (const struct rig_yaml_entry *entry = list->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = read_step(l, entry);
    if (rc == RIG_OK && held_step(l->scenario) != NULL)
        rc = rig_yaml_refuse(&l->tree, &list->place, l->err, "the commit of %s is held and never released",
                             l->scenario->sessions[held_step(l->scenario)->session]);
    for (uint32_t i = 0; rc == RIG_OK && i < l->scenario->session_count; i++) {
        bool is_open = false;
        const bool ended = has_ended(l->scenario, i, &is_open);
        if ((!ended || is_open) && !has_act(l->scenario, i, RIG_SCENARIO_BEGIN))
            rc = rig_yaml_refuse(&l->tree, &list->place, l->err, "%s neither commits nor rolls back",
                                 l->scenario->sessions[i]);
    }
    return rc;
}

/* ---- signs ---- */

static enum rig_rc read_answer(struct loading *l, const struct rig_yaml_entry *entry,
                               struct rig_scenario_answer *answer)
{
    struct rig_scenario *scenario = l->scenario;
    char *end = NULL;
    const unsigned long number = strtoul(entry->key, &end, 10);
    if (*entry->key == '\0' || *end != '\0' || number < 1 || number > scenario->step_count)
        return rig_yaml_refuse(&l->tree, &entry->key_place, l->err, "expected the number of a step, 1 to %u",
                               scenario->step_count);
    const struct rig_scenario_step *step = &scenario->steps[number - 1];
    const bool selects =
        step->act == RIG_SCENARIO_STATEMENT && scenario->statements[step->statement].act == RIG_ROW_SELECT;
    if (!selects && step->act != RIG_SCENARIO_TEXT)
        return rig_yaml_refuse(&l->tree, &entry->key_place, l->err, "step %lu gives no rows", number);
    answer->step = (uint32_t)number - 1;
    return read_rows(l, entry->value, &answer->rows);
}

static enum rig_rc read_sign(struct loading *l, const struct rig_yaml_node *node, struct rig_scenario_sign *sign)
{
    static const char *const known[] = {"committed", "answers", NULL};
    struct rig_yaml_node *committed = NULL;
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, node, known, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&l->tree, node, "committed", RIG_YAML_SEQUENCE, &committed, l->err);
    for (const struct rig_yaml_entry *entry = rc == RIG_OK ? committed->first : NULL; entry != NULL;
         entry = entry->next) {
        const char *name = NULL;
        rc = rig_yaml_text(&l->tree, entry->value, &name, l->err);
        const uint32_t session = rc == RIG_OK ? session_of(l->scenario, name, false) : UINT32_MAX;
        if (session == UINT32_MAX)
            return rc != RIG_OK ? rc : refuse(l, &entry->value->place, "expected a session of the steps");
        sign->committed |= UINT32_C(1) << session;
    }
    const struct rig_yaml_node *answers = rig_yaml_value(node, "answers");
    if (rc != RIG_OK || answers == NULL)
        return rc;
    if (answers->kind != RIG_YAML_MAPPING)
        return refuse(l, &answers->place, "`answers`: expected numbers of steps, with rows");
    sign->answers = rig_arena_array(&l->scenario->arena, answers->count + 1, sizeof *sign->answers);
    if (sign->answers == NULL)
        return out_of_memory(l);
    for (const struct rig_yaml_entry *entry = answers->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = read_answer(l, entry, &sign->answers[sign->answer_count++]);
    return rc;
}

static enum rig_rc read_signs(struct loading *l, const struct rig_yaml_node *list)
{
    struct rig_scenario *scenario = l->scenario;
    enum rig_rc rc = RIG_OK;
    if (list->count == 0)
        return refuse(l, &list->place, "`shows`: expected at least one entry");
    scenario->signs = rig_arena_array(&scenario->arena, list->count, sizeof *scenario->signs);
    if (scenario->signs == NULL)
        return out_of_memory(l);
    for (const struct rig_yaml_entry *entry = list->first; rc == RIG_OK && entry != NULL; entry = entry->next) {
        rc = read_sign(l, entry->value, &scenario->signs[scenario->sign_count++]);
        const struct rig_scenario_sign *sign = &scenario->signs[scenario->sign_count - 1];
        if (rc == RIG_OK && sign->committed == 0 && sign->answer_count == 0)
            rc = refuse(l, &entry->value->place, "expected `committed` or `answers`: an empty entry shows nothing");
    }
    return rc;
}

/* ---- the file ---- */

static enum rig_rc read_all(struct loading *l)
{
    static const char *const known[] = {"name", "title", "anomaly", "level", "source", "table", "steps", "shows", NULL};
    struct rig_scenario *scenario = l->scenario;
    const struct rig_yaml_node *root = l->tree.root;
    struct rig_yaml_node *table = NULL, *steps = NULL, *shows = NULL;
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, root, known, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_line(&l->tree, root, "name", &scenario->arena, &scenario->name, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_line(&l->tree, root, "title", &scenario->arena, &scenario->title, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_line(&l->tree, root, "anomaly", &scenario->arena, &scenario->anomaly, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&l->tree, root, "level", &scenario->level, l->err);
    if (rc == RIG_OK && rig_yaml_value(root, "source") != NULL)
        rc = rig_yaml_need_line(&l->tree, root, "source", &scenario->arena, &scenario->source, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&l->tree, root, "table", RIG_YAML_MAPPING, &table, l->err);
    if (rc == RIG_OK)
        rc = read_table(l, table);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&l->tree, root, "steps", RIG_YAML_SEQUENCE, &steps, l->err);
    if (rc == RIG_OK)
        rc = read_steps(l, steps);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&l->tree, root, "shows", RIG_YAML_SEQUENCE, &shows, l->err);
    if (rc == RIG_OK)
        rc = read_signs(l, shows);
    return rc;
}

enum rig_rc rig_scenario_parse(const char *name, const char *text, size_t size, struct rig_scenario **scenario,
                               struct rig_err *err)
{
    struct rig_scenario *out = calloc(1, sizeof *out);
    if (out == NULL)
        return rig_no_memory(err, "a scenario");
    rig_arena_init(&out->arena, 0);
    struct loading l = {.scenario = out, .err = err};
    enum rig_rc rc = rig_yaml_tree_read(&l.tree, &out->arena, "scenario", name, text, size, err);
    if (rc == RIG_OK)
        rc = read_all(&l);
    if (rc == RIG_OK)
        *scenario = out;
    else
        rig_scenario_free(out);
    return rc;
}

enum rig_rc rig_scenario_load(const char *path, struct rig_scenario **scenario, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, RIG_YAML_BYTES + 1); /* one more than the tree takes, which refuses the file then */
    enum rig_rc rc = rig_buf_read_input(&text, path, err);
    if (rc == RIG_OK)
        rc = rig_scenario_parse(path, rig_buf_text(&text), text.size, scenario, err);
    rig_buf_done(&text);
    return rc;
}

void rig_scenario_free(struct rig_scenario *scenario)
{
    if (scenario == NULL)
        return;
    rig_arena_done(&scenario->arena);
    free(scenario);
}

enum rig_rc rig_scenario_schema_init(struct rig_scenario_schema *joined, struct rig_scenario *const *scenarios,
                                     uint32_t count, struct rig_err *err)
{
    *joined = (struct rig_scenario_schema){.first_statement = NULL};
    rig_arena_init(&joined->arena, 0);
    uint32_t statement_count = 0;
    for (uint32_t i = 0; i < count; i++)
        statement_count += scenarios[i]->statement_count;
    struct rig_row_table *tables = rig_arena_array(&joined->arena, count, sizeof *tables);
    struct rig_row_statement *statements = rig_arena_array(&joined->arena, statement_count + 1, sizeof *statements);
    joined->first_statement = rig_arena_array(&joined->arena, count, sizeof *joined->first_statement);
    if (tables == NULL || statements == NULL || joined->first_statement == NULL)
        return rig_no_memory(err, "the tables of scenarios");
    joined->schema = (struct rig_row_schema){.tables = tables, .table_count = count, .statements = statements};
    for (uint32_t i = 0; i < count; i++) {
        char name[64];
        tables[i] = scenarios[i]->table;
        (void)snprintf(name, sizeof name, "%s_%u", tables[i].name, (unsigned)i + 1);
        tables[i].name = rig_arena_text(&joined->arena, name, strlen(name));
        if (tables[i].name == NULL)
            return rig_no_memory(err, "the tables of scenarios");
        joined->first_statement[i] = joined->schema.statement_count;
        for (uint32_t j = 0; j < scenarios[i]->statement_count; j++) {
            statements[joined->schema.statement_count] = scenarios[i]->statements[j];
            statements[joined->schema.statement_count++].table = i;
        }
    }
    return RIG_OK;
}

void rig_scenario_schema_done(struct rig_scenario_schema *joined)
{
    rig_arena_done(&joined->arena);
}
