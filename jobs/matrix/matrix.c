#include "jobs/matrix/matrix.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/option_parse.h"
#include "base/yaml_tree.h"
#include "checker/model/level.h"

enum { VALUES_MOST = 1000, TEXTS_MOST = 1000, RUNS_MOST = 1000 };

struct loading {
    struct rig_yaml_tree tree;
    struct rig_matrix *matrix;
    const char *file;
    struct rig_err *err;
};

static const char *const axis_keys[] = {"servers", "levels", "faults", "seeds"};

/* The keys of a database; the top of the file gives them for all. */
#define DATABASE_KEYS "plan", "plans", "scenarios", "set", "servers", "levels", "faults", "seeds", "runs"

static enum rig_rc out_of_memory(const struct loading *l)
{
    return rig_no_memory(l->err, "the matrix");
}

static const char *keep(const struct loading *l, const char *text)
{
    return rig_arena_text(&l->matrix->arena, text, strlen(text));
}

/* "<a><b>" in the arena. */
static const char *join(const struct loading *l, const char *a, const char *b)
{
    const size_t length = strlen(a);
    char *text = rig_arena_alloc(&l->matrix->arena, length + strlen(b) + 1);
    if (text != NULL) {
        memcpy(text, a, length);
        memcpy(text + length, b, strlen(b) + 1);
    }
    return text;
}

static enum rig_rc add_text(const struct loading *l, const struct rig_yaml_node *node, const char *text,
                            struct rig_matrix_texts *texts)
{
    if (texts->at == NULL)
        texts->at = rig_arena_array(&l->matrix->arena, TEXTS_MOST, sizeof *texts->at);
    if (texts->at == NULL || text == NULL)
        return out_of_memory(l);
    if (texts->count == TEXTS_MOST)
        return rig_yaml_refuse(&l->tree, &node->place, l->err, "more than %d of them", (int)TEXTS_MOST);
    texts->at[texts->count++] = text;
    return RIG_OK;
}

/* ---- settings ---- */

/* A setting `key=value`. */
static enum rig_rc add_setting(const struct loading *l, const char *key, const struct rig_yaml_node *value,
                               struct rig_matrix_texts *settings)
{
    struct rig_buf text;
    rig_buf_init(&text, RIG_YAML_TEXT_BYTES);
    rig_buf_printf(&text, "%s=", key);
    enum rig_rc rc = rig_yaml_write_value(&l->tree, value, &text, l->err);
    if (rc == RIG_OK && text.failed)
        rc = rig_yaml_refuse(&l->tree, &value->place, l->err, "longer than %d bytes", (int)RIG_YAML_TEXT_BYTES);
    if (rc == RIG_OK)
        rc = add_text(l, value, keep(l, rig_buf_text(&text)), settings);
    rig_buf_done(&text);
    return rc;
}

/* `prefix`: the keys above, each with its dot. Nested mappings and dotted keys mean the same. */
static enum rig_rc read_settings(const struct loading *l, const char *prefix, const struct rig_yaml_node *mapping,
                                 struct rig_matrix_texts *settings)
{
    enum rig_rc rc = RIG_OK;
    if (mapping->kind != RIG_YAML_MAPPING)
        return rig_yaml_refuse(&l->tree, &mapping->place, l->err, "expected keys of a plan with values");
    for (const struct rig_yaml_entry *entry = mapping->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        const char *key = join(l, prefix, entry->key);
        if (key == NULL)
            return out_of_memory(l);
        if (entry->value->kind != RIG_YAML_MAPPING) {
            rc = add_setting(l, key, entry->value, settings);
            continue;
        }
        const char *deeper = join(l, key, ".");
        rc = deeper == NULL ? out_of_memory(l) : read_settings(l, deeper, entry->value, settings);
    }
    return rc;
}

/* ---- values of axes ---- */

static enum rig_rc add_plain_setting(const struct loading *l, const struct rig_yaml_node *node, const char *key,
                                     const char *value, struct rig_matrix_texts *settings)
{
    return add_text(l, node, join(l, key, value), settings);
}

static enum rig_rc read_promises(const struct loading *l, const struct rig_yaml_node *list,
                                 struct rig_matrix_texts *promises)
{
    enum rig_rc rc = RIG_OK;
    if (list->kind != RIG_YAML_SEQUENCE || list->count == 0)
        return rig_yaml_refuse(&l->tree, &list->place, l->err, "`promises`: expected a list of levels");
    for (const struct rig_yaml_entry *entry = list->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        const char *name = NULL;
        enum rig_level level;
        rc = rig_yaml_text(&l->tree, entry->value, &name, l->err);
        if (rc == RIG_OK && !rig_level_find(name, &level))
            rc = rig_yaml_refuse(&l->tree, &entry->value->place, l->err,
                                 "unknown level `%s`; `rig list levels` shows them", name);
        if (rc == RIG_OK)
            rc = add_text(l, entry->value, name, promises);
    }
    return rc;
}

/* The short forms: a version of a server, a level of the database, no fault. */
static enum rig_rc read_short_value(const struct loading *l, enum rig_matrix_axis axis,
                                    const struct rig_yaml_node *node, struct rig_matrix_value *value)
{
    enum rig_level level;
    enum rig_rc rc = rig_yaml_text(&l->tree, node, &value->name, l->err);
    if (rc != RIG_OK)
        return rc;
    switch (axis) {
    case RIG_MATRIX_SERVERS:
        return add_plain_setting(l, node, "database.cluster.local.version=", value->name, &value->settings);
    case RIG_MATRIX_LEVELS:
        if (!rig_level_find(value->name, &level))
            return rig_yaml_refuse(&l->tree, &node->place, l->err,
                                   "`%s` is no level that rig knows: give what the database promises there, "
                                   "{name: %s, set: {database.isolation: %s}, promises: [LEVEL]}",
                                   value->name, value->name, value->name);
        rc = add_plain_setting(l, node, "database.isolation=", value->name, &value->settings);
        return rc == RIG_OK ? add_text(l, node, value->name, &value->promises) : rc;
    case RIG_MATRIX_FAULTS:
        if (strcmp(value->name, "none") != 0)
            return rig_yaml_refuse(&l->tree, &node->place, l->err,
                                   "expected `none` or {name: NAME, inject: [{fault: kill, every: 10s}]}");
        return add_plain_setting(l, node, "nemesis.faults=", "[]", &value->settings);
    case RIG_MATRIX_RUNS:
    case RIG_MATRIX_AXES:
        break;
    }
    if (value->name[0] == '\0' || strlen(value->name) > 18 || strspn(value->name, "0123456789") != strlen(value->name))
        return rig_yaml_refuse(&l->tree, &node->place, l->err, "expected a seed: a whole number");
    value->seed = value->name;
    value->name = join(l, "seed ", value->seed);
    return value->name == NULL ? out_of_memory(l) : RIG_OK;
}

static enum rig_rc read_value(const struct loading *l, enum rig_matrix_axis axis, const struct rig_yaml_node *node,
                              struct rig_matrix_value *value)
{
    static const char *const keys[RIG_MATRIX_AXES][5] = {[RIG_MATRIX_SERVERS] = {"name", "set", NULL},
                                                         [RIG_MATRIX_LEVELS] = {"name", "set", "promises", NULL},
                                                         [RIG_MATRIX_FAULTS] = {"name", "set", "inject", NULL},
                                                         [RIG_MATRIX_RUNS] = {NULL}};
    if (node->kind == RIG_YAML_SCALAR || axis == RIG_MATRIX_RUNS)
        return read_short_value(l, axis, node, value);
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, node, keys[axis], l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&l->tree, node, "name", &value->name, l->err);
    const struct rig_yaml_node *set = rc == RIG_OK ? rig_yaml_value(node, "set") : NULL;
    const struct rig_yaml_node *promises = rc == RIG_OK ? rig_yaml_value(node, "promises") : NULL;
    const struct rig_yaml_node *inject = rc == RIG_OK ? rig_yaml_value(node, "inject") : NULL;
    if (set != NULL)
        rc = read_settings(l, "", set, &value->settings);
    if (rc == RIG_OK && inject != NULL)
        rc = inject->kind == RIG_YAML_SEQUENCE
                 ? add_setting(l, "nemesis.faults", inject, &value->settings)
                 : rig_yaml_refuse(&l->tree, &inject->place, l->err, "`inject`: expected a list of faults");
    if (rc == RIG_OK && promises != NULL)
        rc = read_promises(l, promises, &value->promises);
    return rc;
}

static enum rig_rc read_axis(const struct loading *l, enum rig_matrix_axis axis, const struct rig_yaml_node *list,
                             struct rig_matrix_values *values)
{
    enum rig_rc rc = RIG_OK;
    if (list->kind != RIG_YAML_SEQUENCE || list->count == 0 || list->count > VALUES_MOST)
        return rig_yaml_refuse(&l->tree, &list->place, l->err, "`%s`: expected a list of 1 to %d", axis_keys[axis],
                               (int)VALUES_MOST);
    values->at = rig_arena_alloc(&l->matrix->arena, list->count * sizeof *values->at);
    values->count = 0;
    if (values->at == NULL)
        return out_of_memory(l);
    for (const struct rig_yaml_entry *entry = list->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        struct rig_matrix_value *value = &values->at[values->count++];
        rc = read_value(l, axis, entry->value, value);
        for (const struct rig_matrix_value *other = values->at; rc == RIG_OK && other < value; other++) {
            if (strcmp(other->name, value->name) == 0)
                rc = rig_yaml_refuse(&l->tree, &entry->value->place, l->err, "`%s` is there twice", value->name);
        }
    }
    return rc;
}

/* `runs: N`: N runs with fresh seeds. */
static enum rig_rc read_runs(const struct loading *l, const struct rig_yaml_node *node,
                             struct rig_matrix_values *values)
{
    static const struct rig_option option = {.name = "runs", .type = RIG_OPTION_INT, .least = 1, .most = RUNS_MOST};
    const char *text = NULL;
    int64_t count = 0;
    struct rig_err problem = {0};
    enum rig_rc rc = rig_yaml_text(&l->tree, node, &text, l->err);
    if (rc == RIG_OK && rig_option_parse(&option, text, &count, &problem) != RIG_OK)
        rc = rig_yaml_refuse(&l->tree, &node->place, l->err, "`runs`: %s", problem.text);
    if (rc != RIG_OK)
        return rc;
    values->at = rig_arena_alloc(&l->matrix->arena, (size_t)count * sizeof *values->at);
    values->count = (size_t)count;
    for (int64_t i = 0; values->at != NULL && i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "run %lld", (long long)i + 1);
        values->at[i].name = keep(l, name);
        if (values->at[i].name == NULL)
            return out_of_memory(l);
    }
    return values->at == NULL ? out_of_memory(l) : RIG_OK;
}

/* ---- files ---- */

/* A path or pattern of the file; adds the files that match, sorted. */
static enum rig_rc add_files(const struct loading *l, const struct rig_yaml_node *node, struct rig_matrix_texts *texts)
{
    const char *text = NULL;
    enum rig_rc rc = rig_yaml_text(&l->tree, node, &text, l->err);
    if (rc != RIG_OK)
        return rc;
    const char *pattern = rig_yaml_beside(&l->tree, text);
    if (pattern == NULL)
        return out_of_memory(l);
    glob_t found;
    const int problem = glob(pattern, GLOB_ERR, NULL, &found);
    if (problem != 0)
        return rig_yaml_refuse(&l->tree, &node->place, l->err, "%s: %s", pattern,
                               problem == GLOB_NOMATCH ? "there is no such file" : "cannot be read");
    for (size_t i = 0; i < found.gl_pathc && rc == RIG_OK; i++)
        rc = add_text(l, node, keep(l, found.gl_pathv[i]), texts);
    globfree(&found);
    return rc;
}

/* One of them, or a list. */
static enum rig_rc read_files(const struct loading *l, const struct rig_yaml_node *node, struct rig_matrix_texts *texts)
{
    enum rig_rc rc = RIG_OK;
    *texts = (struct rig_matrix_texts){.at = NULL};
    if (node->kind != RIG_YAML_SEQUENCE)
        return add_files(l, node, texts);
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL && rc == RIG_OK; entry = entry->next)
        rc = add_files(l, entry->value, texts);
    return rc;
}

/* ---- databases ---- */

static enum rig_rc read_database_keys(const struct loading *l, const struct rig_yaml_node *node,
                                      struct rig_matrix_database *database)
{
    const struct rig_yaml_node *plan = rig_yaml_value(node, "plan"), *plans = rig_yaml_value(node, "plans");
    const struct rig_yaml_node *scenarios = rig_yaml_value(node, "scenarios"), *set = rig_yaml_value(node, "set");
    const struct rig_yaml_node *runs = rig_yaml_value(node, "runs"), *seeds = rig_yaml_value(node, "seeds");
    enum rig_rc rc = RIG_OK;
    if (plan != NULL && plans != NULL)
        return rig_yaml_refuse(&l->tree, &plans->place, l->err, "`plan` and `plans`: leave out one of them");
    if (runs != NULL && seeds != NULL)
        return rig_yaml_refuse(&l->tree, &runs->place, l->err, "`runs` and `seeds`: leave out one of them");
    plan = plan == NULL ? plans : plan;
    if (plan != NULL)
        rc = read_files(l, plan, &database->plans);
    if (rc == RIG_OK && scenarios != NULL)
        rc = read_files(l, scenarios, &database->scenarios);
    if (rc == RIG_OK && set != NULL)
        rc = read_settings(l, "", set, &database->settings);
    for (int axis = 0; axis < RIG_MATRIX_AXES && rc == RIG_OK; axis++) {
        const struct rig_yaml_node *list = rig_yaml_value(node, axis_keys[axis]);
        if (list != NULL)
            rc = read_axis(l, (enum rig_matrix_axis)axis, list, &database->axes[axis]);
    }
    return rc == RIG_OK && runs != NULL ? read_runs(l, runs, &database->axes[RIG_MATRIX_RUNS]) : rc;
}

static enum rig_rc check_database(const struct loading *l, const struct rig_yaml_node *node,
                                  struct rig_matrix_database *database)
{
    if (database->plans.count == 0)
        return rig_yaml_refuse(&l->tree, &node->place, l->err, "the key `plan` is missing");
    if (database->scenarios.count > 0 && database->plans.count > 1)
        return rig_yaml_refuse(&l->tree, &node->place, l->err, "scenarios are played with one plan, not with %zu",
                               database->plans.count);
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++) {
        struct rig_matrix_values *values = &database->axes[axis];
        if (values->count > 0)
            continue;
        values->at = rig_arena_alloc(&l->matrix->arena, sizeof *values->at);
        if (values->at == NULL)
            return out_of_memory(l);
        values->at->name = "";
        values->count = 1;
    }
    return RIG_OK;
}

/* Settings of all databases come before a database's own; the texts of each are its own. */
static enum rig_rc copy_settings(const struct loading *l, const struct rig_yaml_node *node,
                                 const struct rig_matrix_texts *from, struct rig_matrix_texts *to)
{
    enum rig_rc rc = RIG_OK;
    *to = (struct rig_matrix_texts){.at = NULL};
    for (size_t i = 0; i < from->count && rc == RIG_OK; i++)
        rc = add_text(l, node, from->at[i], to);
    return rc;
}

static enum rig_rc read_databases(const struct loading *l)
{
    static const char *const known[] = {"name", DATABASE_KEYS, NULL};
    struct rig_matrix *matrix = l->matrix;
    const struct rig_yaml_node *root = l->tree.root, *list = rig_yaml_value(root, "databases");
    struct rig_matrix_database common = {.name = ""};
    enum rig_rc rc = read_database_keys(l, root, &common);
    if (rc == RIG_OK && list != NULL && (list->kind != RIG_YAML_SEQUENCE || list->count == 0))
        rc = rig_yaml_refuse(&l->tree, &list->place, l->err, "`databases`: expected a list");
    if (rc != RIG_OK)
        return rc;
    matrix->databases = rig_arena_alloc(&matrix->arena, (list == NULL ? 1 : list->count) * sizeof *matrix->databases);
    if (matrix->databases == NULL)
        return out_of_memory(l);
    if (list == NULL) {
        matrix->databases[matrix->database_count++] = common;
        return check_database(l, root, matrix->databases);
    }
    for (const struct rig_yaml_entry *entry = list->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        struct rig_matrix_database *database = &matrix->databases[matrix->database_count++];
        *database = common;
        rc = rig_yaml_check_keys(&l->tree, entry->value, known, l->err);
        if (rc == RIG_OK)
            rc = copy_settings(l, entry->value, &common.settings, &database->settings);
        if (rc == RIG_OK)
            rc = rig_yaml_need_text(&l->tree, entry->value, "name", &database->name, l->err);
        if (rc == RIG_OK)
            rc = read_database_keys(l, entry->value, database);
        if (rc == RIG_OK)
            rc = check_database(l, entry->value, database);
    }
    return rc;
}

/* ---- jobs ---- */

/* Adds the name as a part of a path: letters, digits, `.` and `-`. */
static void add_to_id(struct rig_buf *id, const char *name)
{
    if (name[0] == '\0')
        return;
    if (id->size > 0)
        rig_buf_add_char(id, '_');
    for (const char *at = name; *at != '\0'; at++) {
        const bool fits = isalnum((unsigned char)*at) != 0 || (*at == '.' && at > name);
        rig_buf_add_char(id, fits ? *at : '-');
    }
}

static const char *stem_of(const char *path, char stem[64])
{
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    const size_t length = strcspn(base, ".");
    (void)snprintf(stem, 64, "%.*s", (int)(length > 63 ? 63 : length), base);
    return stem;
}

static enum rig_rc make_job(const struct loading *l, const struct rig_matrix_database *database, size_t plan,
                            const size_t places[RIG_MATRIX_AXES])
{
    struct rig_matrix *matrix = l->matrix;
    struct rig_matrix_job *job = &matrix->jobs[matrix->job_count];
    char stem[64];
    struct rig_buf id;
    *job = (struct rig_matrix_job){.database = database, .plan = database->plans.at[plan]};
    rig_buf_init(&id, RIG_MATRIX_ID_BYTES - 16);
    add_to_id(&id, database->name);
    if (database->plans.count > 1 || database->name[0] == '\0')
        add_to_id(&id, stem_of(job->plan, stem));
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++) {
        job->values[axis] = &database->axes[axis].at[places[axis]];
        add_to_id(&id, job->values[axis]->name);
    }
    char text[RIG_MATRIX_ID_BYTES];
    int length = snprintf(text, sizeof text, "%s", rig_buf_text(&id));
    rig_buf_done(&id);
    bool taken = true;
    for (unsigned number = 2; taken; number++) {
        taken = false;
        for (size_t i = 0; i < matrix->job_count && !taken; i++)
            taken = strcmp(matrix->jobs[i].id, text) == 0;
        if (taken)
            (void)snprintf(text + length, sizeof text - (size_t)length, "_%u", number);
    }
    job->id = keep(l, text);
    matrix->job_count++;
    return job->id == NULL ? out_of_memory(l) : RIG_OK;
}

static size_t jobs_of(const struct rig_matrix_database *database)
{
    size_t count = database->plans.count;
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++)
        count = count > RIG_MATRIX_JOBS_MOST ? count : count * database->axes[axis].count;
    return count;
}

static enum rig_rc make_jobs(const struct loading *l)
{
    struct rig_matrix *matrix = l->matrix;
    size_t count = 0, most_runs = 0;
    for (size_t i = 0; i < matrix->database_count; i++) {
        const size_t runs = matrix->databases[i].axes[RIG_MATRIX_RUNS].count;
        count += jobs_of(&matrix->databases[i]);
        most_runs = runs > most_runs ? runs : most_runs;
    }
    if (count > RIG_MATRIX_JOBS_MOST)
        return rig_yaml_refuse(&l->tree, &l->tree.root->place, l->err, "more than %d runs in all",
                               (int)RIG_MATRIX_JOBS_MOST);
    matrix->jobs = rig_arena_alloc(&matrix->arena, count * sizeof *matrix->jobs);
    if (matrix->jobs == NULL)
        return out_of_memory(l);
    enum rig_rc rc = RIG_OK;
    for (size_t run = 0; run < most_runs; run++) {
        for (size_t i = 0; i < matrix->database_count; i++) {
            const struct rig_matrix_database *database = &matrix->databases[i];
            const struct rig_matrix_values *axes = database->axes;
            if (run >= axes[RIG_MATRIX_RUNS].count)
                continue;
            const size_t cells = jobs_of(database) / axes[RIG_MATRIX_RUNS].count;
            for (size_t cell = 0; cell < cells && rc == RIG_OK; cell++) {
                const size_t faults = axes[RIG_MATRIX_FAULTS].count, levels = axes[RIG_MATRIX_LEVELS].count;
                const size_t servers = axes[RIG_MATRIX_SERVERS].count;
                const size_t places[RIG_MATRIX_AXES] = {[RIG_MATRIX_FAULTS] = cell % faults,
                                                        [RIG_MATRIX_LEVELS] = cell / faults % levels,
                                                        [RIG_MATRIX_SERVERS] = cell / faults / levels % servers,
                                                        [RIG_MATRIX_RUNS] = run};
                rc = make_job(l, database, cell / faults / levels / servers, places);
            }
        }
    }
    return rc;
}

/* ---- the file ---- */

static enum rig_rc read_duration(const struct loading *l, const char *key, int64_t *duration_ns)
{
    const struct rig_option option = {
        .name = key, .type = RIG_OPTION_DURATION, .least = 1e9, .most = 31.0 * 24 * 3600 * 1e9};
    const struct rig_yaml_node *node = rig_yaml_value(l->tree.root, key);
    const char *text = NULL;
    struct rig_err problem = {0};
    if (node == NULL)
        return RIG_OK;
    enum rig_rc rc = rig_yaml_text(&l->tree, node, &text, l->err);
    if (rc == RIG_OK && rig_option_parse(&option, text, duration_ns, &problem) != RIG_OK)
        rc = rig_yaml_refuse(&l->tree, &node->place, l->err, "`%s`: %s", key, problem.text);
    return rc;
}

static bool is_name(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (isalnum((unsigned char)*at) == 0 && *at != '-' && *at != '_')
            return false;
    }
    return text[0] != '\0' && strlen(text) <= 64;
}

static enum rig_rc read_all(const struct loading *l)
{
    static const char *const known[] = {"name", "title", "budget", "limit", "databases", DATABASE_KEYS, NULL};
    const struct rig_yaml_node *root = l->tree.root, *name = rig_yaml_value(root, "name");
    enum rig_rc rc = rig_yaml_check_keys(&l->tree, root, known, l->err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&l->tree, root, "name", &l->matrix->name, l->err);
    if (rc == RIG_OK && !is_name(l->matrix->name))
        rc = rig_yaml_refuse(&l->tree, &name->place, l->err, "`name`: expected letters, digits, `-` and `_`");
    if (rc == RIG_OK && rig_yaml_value(root, "title") != NULL)
        rc = rig_yaml_need_line(&l->tree, root, "title", &l->matrix->arena, &l->matrix->title, l->err);
    if (rc == RIG_OK)
        rc = read_duration(l, "budget", &l->matrix->budget_ns);
    if (rc == RIG_OK)
        rc = read_duration(l, "limit", &l->matrix->limit_ns);
    if (rc == RIG_OK)
        rc = read_databases(l);
    return rc == RIG_OK ? make_jobs(l) : rc;
}

enum rig_rc rig_matrix_load(const char *path, struct rig_matrix **matrix, struct rig_err *err)
{
    struct rig_matrix *out = calloc(1, sizeof *out);
    if (out == NULL)
        return rig_no_memory(err, "the matrix");
    rig_arena_init(&out->arena, 0);
    struct loading l = {.matrix = out, .file = path, .err = err};
    struct rig_buf text;
    rig_buf_init(&text, RIG_YAML_BYTES + 1); /* one more than the tree takes, which refuses the file then */
    enum rig_rc rc = rig_buf_read_input(&text, path, err);
    if (rc == RIG_OK)
        rc = rig_yaml_tree_read(&l.tree, &out->arena, "matrix", path, rig_buf_text(&text), text.size, err);
    if (rc == RIG_OK)
        rc = read_all(&l);
    rig_buf_done(&text);
    if (rc == RIG_OK)
        *matrix = out;
    else
        rig_matrix_free(out);
    return rc;
}

void rig_matrix_free(struct rig_matrix *matrix)
{
    if (matrix == NULL)
        return;
    rig_arena_done(&matrix->arena);
    free(matrix);
}

enum rig_rc rig_matrix_job_settings(struct rig_matrix *matrix, const struct rig_matrix_job *job,
                                    struct rig_matrix_texts *settings, struct rig_err *err)
{
    const struct rig_matrix_texts *sources[RIG_MATRIX_AXES + 1] = {&job->database->settings};
    const struct rig_matrix_texts *promises = &job->values[RIG_MATRIX_LEVELS]->promises;
    size_t count = 1;
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++)
        sources[axis + 1] = &job->values[axis]->settings;
    for (int i = 0; i <= RIG_MATRIX_AXES; i++)
        count += sources[i]->count;
    *settings = (struct rig_matrix_texts){.at = rig_arena_array(&matrix->arena, count, sizeof *settings->at)};
    if (settings->at == NULL)
        return rig_no_memory(err, "the settings of a run");
    for (int i = 0; i <= RIG_MATRIX_AXES; i++) {
        for (size_t j = 0; j < sources[i]->count; j++)
            settings->at[settings->count++] = sources[i]->at[j];
    }
    if (promises->count == 0)
        return RIG_OK;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (size_t i = 0; i < promises->count; i++)
        rig_buf_printf(&text, "%s%s", i == 0 ? "check.levels=" : ",", promises->at[i]);
    settings->at[settings->count] = rig_arena_text(&matrix->arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return settings->at[settings->count++] == NULL ? rig_no_memory(err, "the settings of a run") : RIG_OK;
}
