#include "drivers/sql/dialect_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/data_folder.h"
#include "base/yaml_tree.h"
#include "drivers/rows.h"

enum { PATH_BYTES = 4096, ROWS_OF_RULE = 2 };

struct reader {
    struct rig_yaml_tree tree;
    struct rig_sql_dialect_file *dialect;
};

/* ---- outcomes that hold for each database ---- */

#define BEFORE_COMMIT RIG_SQL_BEFORE_COMMIT
#define AT_COMMIT     RIG_SQL_AT_COMMIT

/* clang-format off */
static const struct rig_sql_outcome own_rows[] = {
    {RIG_SQL_LOST, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the connection was lost before COMMIT was sent: the server rolls back"},
    {RIG_SQL_TIMEOUT, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig gave up before it sent COMMIT: the session ends, and the server rolls back"},
    {RIG_SQL_INTERRUPTED, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig was told to end before it sent COMMIT: the session ends, and the server rolls back"},
    {RIG_SQL_PROTOCOL, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session is out of step and ends without a COMMIT"},
    {RIG_SQL_LIMIT, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the reads are too long to be recorded: rig rolls back"},
    {RIG_SQL_MALFORMED, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "a result cannot be recorded as rig's operations: rig rolls back"},
    {RIG_ROWS_ROLLED_BACK, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the program rolled its transaction back"},
    {RIG_ROLLED_BACK_CODE, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     RIG_ROLLED_BACK_TEXT},
    {RIG_SQL_POOR, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the transfer would leave a balance below 0: rig rolls it back"},
    {RIG_SQL_MISMATCH, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the comparison did not hold, so no row was changed"},
    {"", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "an error before COMMIT was sent: rig rolls back"},

    {RIG_SQL_LOST, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the connection was lost while COMMIT was under way: it may have been executed"},
    {RIG_SQL_TIMEOUT, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "no answer to COMMIT in time: it may still be executed"},
    {RIG_SQL_INTERRUPTED, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "rig gave up waiting for the answer to COMMIT: it may still be executed"},
    {RIG_SQL_PROTOCOL, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "an invalid answer to COMMIT proves nothing"},
    {"", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the dialect does not say that this error excludes a commit"},
};
/* clang-format on */

enum { OWN_ROWS = sizeof own_rows / sizeof own_rows[0] };

void rig_sql_rule_mark(const struct rig_sql_dialect_file *dialect, const struct rig_sql_rule *rule,
                       char mark[static RIG_SQL_RULE_BYTES])
{
    const size_t number = (size_t)(rule - dialect->rules);
    RIG_REQUIRE(number < dialect->rule_count);
    mark[0] = '#';
    mark[1] = (char)('0' + number / 10);
    mark[2] = (char)('0' + number % 10);
    mark[3] = '\0';
}

const struct rig_sql_rule *rig_sql_dialect_find_rule(const struct rig_sql_dialect_file *dialect,
                                                     const struct rig_sql_fault *fault)
{
    for (uint32_t i = 0; i < dialect->rule_count; i++) {
        const struct rig_sql_rule *rule = &dialect->rules[i];
        if ((rule->state == NULL || strncmp(fault->state, rule->state, strlen(rule->state)) == 0) &&
            (rule->code == 0 || rule->code == fault->code) &&
            (rule->text == NULL || strstr(fault->text, rule->text) != NULL))
            return rule;
    }
    return NULL;
}

/* ---- reading ---- */

static const struct rig_yaml_node *member(const struct rig_yaml_node *node, const char *key)
{
    return node == NULL ? NULL : rig_yaml_value(node, key);
}

/* A text of `node`; `otherwise` where it has none. */
static enum rig_rc read_text(const struct reader *reader, const struct rig_yaml_node *node, const char *key,
                             const char *otherwise, const char **text, struct rig_err *err)
{
    const struct rig_yaml_node *value = member(node, key);
    *text = otherwise;
    return value == NULL ? RIG_OK : rig_yaml_text(&reader->tree, value, text, err);
}

static enum rig_rc read_whole(const struct reader *reader, const struct rig_yaml_node *node, const char *key,
                              int64_t otherwise, int64_t *number, struct rig_err *err)
{
    const struct rig_yaml_node *value = member(node, key);
    const char *text = NULL;
    char *end = NULL;
    *number = otherwise;
    if (value == NULL)
        return RIG_OK;
    const enum rig_rc rc = rig_yaml_text(&reader->tree, value, &text, err);
    if (rc != RIG_OK)
        return rc;
    *number = strlen(text) < 11 ? strtol(text, &end, 10) : 0;
    if (end == NULL || end == text || *end != '\0')
        return rig_yaml_refuse(&reader->tree, &value->place, err, "`%s`: expected a whole number, not `%.60s`", key,
                               text);
    return RIG_OK;
}

/* One of the NULL-ended names. */
static enum rig_rc read_choice(const struct reader *reader, const struct rig_yaml_node *node, const char *key,
                               const char *const *names, unsigned *index, struct rig_err *err)
{
    const struct rig_yaml_node *value = member(node, key);
    const char *text = NULL;
    struct rig_buf all;
    if (value == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_yaml_text(&reader->tree, value, &text, err);
    for (unsigned i = 0; rc == RIG_OK && names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *index = i;
            return RIG_OK;
        }
    }
    rig_buf_init(&all, 400);
    for (unsigned i = 0; names[i] != NULL; i++)
        rig_buf_printf(&all, "%s%s", i == 0 ? "" : ", ", names[i]);
    if (rc == RIG_OK)
        rc = rig_yaml_refuse(&reader->tree, &value->place, err, "`%s`: expected one of %s, not `%.60s`", key,
                             rig_buf_text(&all), text);
    rig_buf_done(&all);
    return rc;
}

static enum rig_rc read_bool(const struct reader *reader, const struct rig_yaml_node *node, const char *key,
                             bool otherwise, bool *value, struct rig_err *err)
{
    static const char *const names[] = {"false", "true", NULL};
    unsigned index = otherwise;
    const enum rig_rc rc = read_choice(reader, node, key, names, &index, err);
    *value = index == 1;
    return rc;
}

static enum rig_rc read_transactions(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {"by", "begin", "begin-read-only", "commit", "rollback", NULL};
    static const char *const ways[] = {"library", "text", NULL};
    struct rig_sql_dialect_file *dialect = reader->dialect;
    const struct rig_yaml_node *node = member(root, "transactions");
    unsigned way = 0;
    enum rig_rc rc = node == NULL ? RIG_OK : rig_yaml_check_keys(&reader->tree, node, keys, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, node, "by", ways, &way, err);
    dialect->by_text = way == 1;
    if (rc == RIG_OK)
        rc = read_text(reader, node, "begin", dialect->by_text ? "BEGIN" : NULL, &dialect->begin, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "begin-read-only", NULL, &dialect->begin_read_only, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "commit", "COMMIT", &dialect->commit, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "rollback", "ROLLBACK", &dialect->rollback, err);
    return rc;
}

static enum rig_rc read_level(const struct reader *reader, const struct rig_yaml_entry *entry,
                              struct rig_sql_dialect_level *level, struct rig_err *err)
{
    static const char *const keys[] = {"is", "shows", NULL};
    level->name = entry->key;
    if (entry->value->kind == RIG_YAML_SCALAR) {
        const enum rig_rc rc = rig_yaml_text(&reader->tree, entry->value, &level->is, err);
        level->shows = level->is;
        return rc;
    }
    enum rig_rc rc = rig_yaml_check_keys(&reader->tree, entry->value, keys, err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&reader->tree, entry->value, "is", &level->is, err);
    return rc == RIG_OK ? read_text(reader, entry->value, "shows", level->is, &level->shows, err) : rc;
}

static enum rig_rc read_default_level(const struct reader *reader, const struct rig_yaml_node *node,
                                      struct rig_err *err)
{
    struct rig_sql_dialect_file *dialect = reader->dialect;
    const struct rig_sql_dialect_level *level = NULL;
    const char *name = NULL;
    dialect->default_level = dialect->level_count - 1;
    enum rig_rc rc = read_text(reader, node, "default", NULL, &name, err);
    if (rc != RIG_OK || name == NULL)
        return rc;
    struct rig_err own = {0};
    if (rig_sql_dialect_find_level(dialect, name, &level, &own) != RIG_OK)
        return rig_yaml_refuse(&reader->tree, &member(node, "default")->place, err, "`default`: %s", own.text);
    dialect->default_level = (uint32_t)(level - dialect->levels);
    return RIG_OK;
}

static enum rig_rc read_isolation(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {"by", "statement", "query", "levels", "default", NULL};
    static const char *const ways[] = {"statement", "library", "begin", NULL};
    struct rig_sql_dialect_file *dialect = reader->dialect;
    const struct rig_yaml_node *node = member(root, "isolation");
    struct rig_yaml_node *levels = NULL;
    unsigned way = 0;
    if (node == NULL)
        return rig_yaml_refuse(&reader->tree, &root->place, err, "`isolation` is missing: the levels of the database");
    enum rig_rc rc = rig_yaml_check_keys(&reader->tree, node, keys, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, node, "by", ways, &way, err);
    dialect->level_by_call = way == 1;
    dialect->level_by_begin = way == 2;
    if (rc == RIG_OK)
        rc = read_text(reader, node, "statement", NULL, &dialect->level_statement, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "query", NULL, &dialect->level_query, err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(&reader->tree, node, "levels", RIG_YAML_MAPPING, &levels, err);
    for (const struct rig_yaml_entry *entry = levels == NULL ? NULL : levels->first; rc == RIG_OK && entry != NULL;
         entry = entry->next) {
        if (dialect->level_count == RIG_SQL_LEVELS_MOST)
            return rig_yaml_refuse(&reader->tree, &entry->key_place, err, "more than %d levels",
                                   (int)RIG_SQL_LEVELS_MOST);
        rc = read_level(reader, entry, &dialect->levels[dialect->level_count++], err);
    }
    if (rc == RIG_OK && dialect->level_count == 0)
        rc = rig_yaml_refuse(&reader->tree, &node->place, err, "`levels` is empty: give at least one");
    const bool by_begin = dialect->begin != NULL && strstr(dialect->begin, "{level}") != NULL;
    if (rc == RIG_OK && way == 2 && !by_begin)
        rc = rig_yaml_refuse(&reader->tree, &node->place, err,
                             "`by: begin` needs `{level}` in the text of `transactions.begin`");
    if (rc == RIG_OK && way == 0 && dialect->level_statement == NULL && dialect->level_count > 1)
        rc = rig_yaml_refuse(
            &reader->tree, &node->place, err,
            "there are several levels, and `statement` is missing: give the statement that sets one, or "
            "`by: library`, or `by: begin`");
    return rc == RIG_OK ? read_default_level(reader, node, err) : rc;
}

static enum rig_rc read_types(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {"integer", "text", NULL};
    struct rig_sql_dialect_file *dialect = reader->dialect;
    const struct rig_yaml_node *node = member(root, "types");
    enum rig_rc rc = node == NULL ? RIG_OK : rig_yaml_check_keys(&reader->tree, node, keys, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "integer", "BIGINT", &dialect->integer, err);
    return rc == RIG_OK ? read_text(reader, node, "text", "VARCHAR(32000)", &dialect->text, err) : rc;
}

static enum rig_rc read_savepoints(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {"set", "return", NULL};
    struct rig_sql_dialect_file *dialect = reader->dialect;
    const struct rig_yaml_node *node = member(root, "savepoint");
    enum rig_rc rc = node == NULL ? RIG_OK : rig_yaml_check_keys(&reader->tree, node, keys, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "set", "SAVEPOINT rig", &dialect->savepoint, err);
    return rc == RIG_OK ? read_text(reader, node, "return", "ROLLBACK TO SAVEPOINT rig", &dialect->return_to, err) : rc;
}

static enum rig_rc read_statements(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {
#define KEY(name, key, text) key,
        RIG_SQL_DIALECT_STATEMENTS(KEY)
#undef KEY
            NULL};
    static const char *const texts[] = {
#define TEXT(name, key, text) text,
        RIG_SQL_DIALECT_STATEMENTS(TEXT)
#undef TEXT
    };
    const struct rig_yaml_node *node = member(root, "statements");
    enum rig_rc rc = node == NULL ? RIG_OK : rig_yaml_check_keys(&reader->tree, node, keys, err);
    for (uint32_t i = 0; rc == RIG_OK && i < RIG_SQL_DIALECT_STATEMENT_COUNT; i++)
        rc = read_text(reader, node, keys[i], texts[i], &reader->dialect->statements[i], err);
    return rc;
}

static enum rig_rc read_lacks(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {
#define KEY(name, key) key,
        RIG_SQL_DIALECT_LACKS(KEY)
#undef KEY
            NULL};
    const struct rig_yaml_node *node = member(root, "lacks");
    enum rig_rc rc = node == NULL ? RIG_OK : rig_yaml_check_keys(&reader->tree, node, keys, err);
    for (uint32_t i = 0; rc == RIG_OK && i < RIG_SQL_DIALECT_LACK_COUNT; i++)
        rc = read_text(reader, node, keys[i], NULL, &reader->dialect->lacks[i], err);
    return rc;
}

/* ---- errors ---- */

/* The parts of a rule that its rows have. */
struct rule_rows {
    unsigned at; /* 0: both, 1: statement, 2: commit */
    unsigned outcome, error_class, ends;
    const char *reason;
};

static enum rig_rc read_rule(const struct reader *reader, const struct rig_yaml_node *node, struct rig_sql_rule *rule,
                             struct rule_rows *rows, struct rig_err *err)
{
    static const char *const keys[] = {"state",   "code",  "text", "name",   "at",
                                       "outcome", "class", "ends", "reason", NULL};
    static const char *const places[] = {"any", "statement", "commit", NULL};
    static const char *const outcomes[] = {"info", "fail", NULL};
    static const char *const classes[] = {"other", "conflict", "resources", NULL};
    static const char *const ends[] = {"transaction", "statement", "session", NULL};
    enum rig_rc rc = rig_yaml_check_keys(&reader->tree, node, keys, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "state", NULL, &rule->state, err);
    if (rc == RIG_OK)
        rc = read_whole(reader, node, "code", 0, &rule->code, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "text", NULL, &rule->text, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "name", NULL, &rule->name, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, node, "at", places, &rows->at, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, node, "outcome", outcomes, &rows->outcome, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, node, "class", classes, &rows->error_class, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, node, "ends", ends, &rows->ends, err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&reader->tree, node, "reason", &rows->reason, err);
    return rc;
}

/* A commit may have been executed after a lost connection, and after an error that the rule cannot tell from one. */
static enum rig_rc check_rule(const struct reader *reader, const struct rig_yaml_node *node,
                              const struct rig_sql_rule *rule, const struct rule_rows *rows, struct rig_err *err)
{
    const bool tells = (rule->state != NULL && rule->state[0] != '\0') || rule->code != 0 || rule->text != NULL;
    if (!tells)
        return rig_yaml_refuse(&reader->tree, &node->place, err,
                               "the rule fits every error: give `state`, `code` or `text`");
    if (rows->outcome == 1 && rows->at != 1 && rule->state != NULL && strncmp(rule->state, "08", 2) == 0)
        return rig_yaml_refuse(&reader->tree, &node->place, err,
                               "`outcome: fail` of an error of class 08 at a commit: the connection was lost, and the "
                               "commit may have been executed; give `outcome: info`, or `at: statement`");
    return RIG_OK;
}

static enum rig_rc read_errors(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    struct rig_sql_dialect_file *dialect = reader->dialect;
    const struct rig_yaml_node *node = member(root, "errors");
    const size_t count = node == NULL ? 0 : node->count;
    if (node != NULL && (node->kind != RIG_YAML_SEQUENCE || count > RIG_SQL_RULES_MOST))
        return rig_yaml_refuse(&reader->tree, &node->place, err, "`errors`: expected a list of at most %d rules",
                               (int)RIG_SQL_RULES_MOST);
    struct rig_sql_outcome *rows = rig_arena_array(&dialect->arena, count * ROWS_OF_RULE + OWN_ROWS, sizeof *rows);
    struct rig_sql_class *classes = rig_arena_array(&dialect->arena, count + 1, sizeof *classes);
    if (rows == NULL || classes == NULL)
        return rig_no_memory(err, "a dialect");
    size_t row_count = 0, class_count = 0;
    for (const struct rig_yaml_entry *entry = node == NULL ? NULL : node->first; entry != NULL; entry = entry->next) {
        struct rig_sql_rule *rule = &dialect->rules[dialect->rule_count++];
        struct rule_rows of = {0};
        char mark[RIG_SQL_RULE_BYTES];
        enum rig_rc rc = read_rule(reader, entry->value, rule, &of, err);
        if (rc == RIG_OK)
            rc = check_rule(reader, entry->value, rule, &of, err);
        if (rc != RIG_OK)
            return rc;
        rig_sql_rule_mark(dialect, rule, mark);
        const char *state = rig_arena_text(&dialect->arena, mark, strlen(mark));
        char code[24];
        (void)snprintf(code, sizeof code, "%lld", (long long)rule->code);
        const char *shown = rule->name != NULL    ? rule->name
                            : rule->state != NULL ? rule->state
                                                  : rig_arena_text(&dialect->arena, code, strlen(code));
        if (state == NULL || shown == NULL)
            return rig_no_memory(err, "a dialect");
        const bool lost = of.ends == 2;
        if (of.at != 2)
            rows[row_count++] = (struct rig_sql_outcome){"", state, BEFORE_COMMIT, RIG_OUTCOME_FAIL, lost, of.reason};
        if (of.at != 1)
            rows[row_count++] = (struct rig_sql_outcome){"",
                                                         state,
                                                         AT_COMMIT,
                                                         of.outcome == 1 ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO,
                                                         lost || of.outcome == 0,
                                                         of.reason};
        if (of.error_class != 0)
            classes[class_count++] = (struct rig_sql_class){shown, (enum rig_error_class)of.error_class};
    }
    memcpy(rows + row_count, own_rows, sizeof own_rows);
    dialect->outcomes = (struct rig_sql_outcomes){.rows = rows,
                                                  .row_count = row_count + OWN_ROWS,
                                                  .classes = classes,
                                                  .class_count = class_count,
                                                  .by_start = true};
    return RIG_OK;
}

/* ---- the file ---- */

static enum rig_rc read_names(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    struct rig_sql_dialect_file *dialect = reader->dialect;
    static const char *const values[] = {"bound", "literal", NULL};
    static const char *const quotes[] = {"none", "lower", "upper", NULL};
    static const char *const remainders[] = {"function", "operator", NULL};
    unsigned way = 0, remainder = 0;
    enum rig_rc rc = rig_yaml_need_text(&reader->tree, root, "name", &dialect->name, err);
    if (rc == RIG_OK)
        rc = read_text(reader, root, "product", dialect->name, &dialect->product, err);
    if (rc == RIG_OK)
        rc = read_text(reader, root, "summary", "", &dialect->summary, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, root, "values", values, &way, err);
    dialect->literal = way == 1;
    if (rc == RIG_OK)
        rc = read_choice(reader, root, "quote", quotes, &dialect->quote, err);
    if (rc == RIG_OK)
        rc = read_choice(reader, root, "remainder", remainders, &remainder, err);
    dialect->percent = remainder == 1;
    if (rc == RIG_OK)
        rc = read_text(reader, root, "lock", NULL, &dialect->lock, err);
    if (rc == RIG_OK)
        rc = read_text(reader, root, "limit", "FETCH FIRST {n} ROWS ONLY", &dialect->limit, err);
    if (rc == RIG_OK)
        rc = read_whole(reader, root, "longest-name", 64, &dialect->longest_name, err);
    if (rc == RIG_OK)
        rc = read_bool(reader, root, "multiple-rows", true, &dialect->multiple_rows, err);
    if (rc == RIG_OK)
        rc = read_text(reader, root, "version", NULL, &dialect->version_query, err);
    if (rc == RIG_OK)
        rc = read_text(reader, root, "session", NULL, &dialect->session_setup, err);
    if (rc == RIG_OK && dialect->longest_name < 24)
        rc = rig_yaml_refuse(&reader->tree, &root->place, err, "`longest-name`: rig's names need 24 characters");
    return rc;
}

static enum rig_rc read_shell(const struct reader *reader, const struct rig_yaml_node *root, struct rig_err *err)
{
    static const char *const keys[] = {"run", "server", "setup", "begin", "mark", NULL};
    struct rig_sql_dialect_shell *shell = &reader->dialect->shell;
    const struct rig_yaml_node *node = member(root, "shell");
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_yaml_check_keys(&reader->tree, node, keys, err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&reader->tree, node, "run", &shell->run, err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&reader->tree, node, "mark", &shell->mark, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "server", "", &shell->server, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "setup", "", &shell->setup, err);
    if (rc == RIG_OK)
        rc = read_text(reader, node, "begin", NULL, &shell->begin, err);
    if (rc == RIG_OK && strstr(shell->mark, "{n}") == NULL)
        rc = rig_yaml_refuse(&reader->tree, &member(node, "mark")->place, err,
                             "`mark` prints a step's number: it has to contain {n}");
    return rc;
}

static enum rig_rc read_root(const struct reader *reader, struct rig_err *err)
{
    static const char *const keys[] = {"quote",         "sql",        "name",    "product",      "summary",
                                       "values",        "types",      "lock",    "limit",        "longest-name",
                                       "multiple-rows", "version",    "session", "transactions", "isolation",
                                       "savepoint",     "statements", "lacks",   "errors",       "shell",
                                       "remainder",     NULL};
    const struct rig_yaml_node *root = reader->tree.root;
    int64_t form = 0;
    enum rig_rc rc = rig_yaml_check_keys(&reader->tree, root, keys, err);
    if (rc == RIG_OK)
        rc = read_whole(reader, root, "sql", 0, &form, err);
    if (rc == RIG_OK && form != 1)
        rc = rig_yaml_refuse(&reader->tree, &root->place, err, "a dialect of SQL begins with `sql: 1`");
    if (rc == RIG_OK)
        rc = read_names(reader, root, err);
    if (rc == RIG_OK)
        rc = read_types(reader, root, err);
    if (rc == RIG_OK)
        rc = read_transactions(reader, root, err);
    if (rc == RIG_OK)
        rc = read_isolation(reader, root, err);
    if (rc == RIG_OK)
        rc = read_savepoints(reader, root, err);
    if (rc == RIG_OK)
        rc = read_statements(reader, root, err);
    if (rc == RIG_OK)
        rc = read_lacks(reader, root, err);
    if (rc == RIG_OK)
        rc = read_shell(reader, root, err);
    return rc == RIG_OK ? read_errors(reader, root, err) : rc;
}

enum rig_rc rig_sql_dialect_load(const char *name, struct rig_sql_dialect_file **dialect, struct rig_err *err)
{
    char path[PATH_BYTES];
    struct rig_buf text;
    struct rig_sql_dialect_file *found = calloc(1, sizeof *found);
    if (found == NULL)
        return rig_no_memory(err, "a dialect");
    rig_arena_init(&found->arena, (size_t)16 << 20);
    rig_buf_init(&text, RIG_YAML_BYTES + 2);
    enum rig_rc rc = rig_data_folder_read(&rig_data_sql_dialects, "`dialect`", name, path, sizeof path, &text, err);
    const char *file = rc == RIG_OK ? rig_arena_text(&found->arena, path, strlen(path)) : NULL;
    struct reader reader = {.dialect = found};
    if (rc == RIG_OK)
        rc = file == NULL ? rig_no_memory(err, "a dialect")
                          : rig_yaml_tree_read(&reader.tree, &found->arena, "dialect", file, rig_buf_text(&text),
                                               text.size, err);
    if (rc == RIG_OK)
        rc = read_root(&reader, err);
    rig_buf_done(&text);
    if (rc == RIG_OK)
        *dialect = found;
    else
        rig_sql_dialect_free(found);
    return rc;
}

void rig_sql_dialect_free(struct rig_sql_dialect_file *dialect)
{
    if (dialect == NULL)
        return;
    rig_arena_done(&dialect->arena);
    free(dialect);
}

enum rig_rc rig_sql_dialect_find_level(const struct rig_sql_dialect_file *dialect, const char *name,
                                       const struct rig_sql_dialect_level **level, struct rig_err *err)
{
    static const struct rig_sql_dialect_level own = {.name = "default", .is = "", .shows = ""};
    struct rig_buf names;
    *level = &dialect->levels[dialect->default_level];
    if (name == NULL || name[0] == '\0')
        return RIG_OK;
    if (strcmp(name, own.name) == 0 && !dialect->level_by_begin) {
        *level = &own;
        return RIG_OK;
    }
    rig_buf_init(&names, 400);
    for (uint32_t i = 0; i < dialect->level_count; i++) {
        *level = &dialect->levels[i];
        if (strcmp((*level)->name, name) == 0) {
            rig_buf_done(&names);
            return RIG_OK;
        }
        rig_buf_printf(&names, "%s%s", i == 0 ? "" : ", ", (*level)->name);
    }
    const enum rig_rc rc =
        rig_fail(err, RIG_E_PLAN, "%s has no level `%.60s`; it has %s%s", dialect->product, name, rig_buf_text(&names),
                 dialect->level_by_begin ? "" : ", and `default`, which leaves the session's level as it is");
    rig_buf_done(&names);
    return rc;
}

void rig_sql_dialect_add_level(const char *text, const struct rig_sql_dialect_level *level, struct rig_buf *sql)
{
    static const char is[] = "{level}", shows[] = "{shows}";
    _Static_assert(sizeof is == sizeof shows, "one length for both");
    while (*text != '\0') {
        const bool asks_is = strncmp(text, is, sizeof is - 1) == 0;
        if (asks_is || strncmp(text, shows, sizeof shows - 1) == 0) {
            rig_buf_add_text(sql, asks_is ? level->is : level->shows);
            text += sizeof is - 1;
        } else {
            rig_buf_add_char(sql, *text++);
        }
    }
}
