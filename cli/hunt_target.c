#include "cli/hunt_target.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option_parse.h"
#include "checker/model/level.h"
#include "cli/kept_servers.h"
#include "cli/target_plan.h"
#include "cli/target_url.h"
#include "jobs/matrix/matrix.h"
#include "nemesis/faults.h"
#include "report/words.h"
#include "run/plan/reproduction.h"
#include "run/plan/shipped_plan.h"

enum { PATH_BYTES = 4096, TRANSACTIONS_MOST = 2000, RIG_HUNT_FAULTS_MOST = 32 };

/* The parts of a target while it is read. */
struct reading {
    const struct rig_arguments *args;
    struct rig_hunt_target *target;
    struct rig_hunt_space *space;
    struct rig_plan *plan; /* the first base */
    struct rig_err *err;
};

static const char *keep(const struct reading *r, const char *text)
{
    return rig_arena_text(&r->space->arena, text, strlen(text));
}

/* The last value that --set gives the key, or NULL. */
static const char *given_value(const struct rig_arguments *args, const char *key, size_t length)
{
    const char *setting, *value = NULL;
    for (size_t i = 0; (setting = rig_arguments_value_at(args, "set", i)) != NULL; i++) {
        if (strncmp(setting, key, length) == 0 && setting[length] == '=')
            value = setting + length + 1;
    }
    return value;
}

/* -- every run ----------------------------------------------------------------------------------------------------- */

static enum rig_rc add_last(const struct reading *r, const char *setting)
{
    struct rig_plan_settings *last = &r->target->last;
    const char *text = keep(r, setting);
    if (text == NULL || last->count == RIG_PLAN_SETTINGS_MOST)
        return rig_no_memory(r->err, "the settings of the hunt");
    last->at[last->count++] = text;
    return RIG_OK;
}

/* --set, and what makes runs of a second or two worth a verdict: little evidence is enough, and no long search. */
static enum rig_rc read_last(const struct reading *r)
{
    static const char *const of_short_runs[] = {"check.minimum.acknowledged=20", "check.minimum.load=0%",
                                                "check.budget=2s", "clients.stop-grace=2s"};
    const char *setting;
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < sizeof of_short_runs / sizeof of_short_runs[0]; i++)
        rc = add_last(r, of_short_runs[i]);
    for (size_t i = 0; rc == RIG_OK && (setting = rig_arguments_value_at(r->args, "set", i)) != NULL; i++) {
        rc = rig_hunt_space_pin(r->space, setting, r->err);
        if (rc == RIG_OK)
            rc = add_last(r, setting);
    }
    return rc;
}

/* The levels of --level, separated by commas; NULL where it is not given. */
static enum rig_rc read_levels(const struct reading *r, struct rig_buf *levels)
{
    const char *name;
    enum rig_level level;
    for (size_t i = 0; (name = rig_arguments_value_at(r->args, "level", i)) != NULL; i++) {
        if (!rig_level_find(name, &level))
            return rig_fail(r->err, RIG_E_USAGE,
                            "--level: there is no level `%s`; `rig list levels` shows them, and --set "
                            "database.isolation=... chooses one of the database's",
                            name);
        rig_buf_printf(levels, "%s%s", i == 0 ? "" : ",", name);
    }
    return RIG_OK;
}

/* -- levels -------------------------------------------------------------------------------------------------------- */

/* Whether --set allows the level: each key of it that is given has the same value. */
static bool is_allowed(const struct reading *r, const struct rig_matrix_value *level)
{
    for (size_t i = 0; i < level->settings.count; i++) {
        const char *setting = level->settings.at[i];
        const size_t length = strcspn(setting, "=");
        const char *value = given_value(r->args, setting, length);
        if (value != NULL && strcmp(value, setting + length + 1) != 0)
            return false;
    }
    return true;
}

static enum rig_rc add_level(const struct reading *r, const struct rig_matrix_value *level, const char *levels)
{
    struct rig_buf promise;
    const struct rig_text_list settings = {(const char *const *)level->settings.at, level->settings.count};
    rig_buf_init(&promise, 0);
    rig_buf_add_text(&promise, levels);
    for (size_t i = 0; levels[0] == '\0' && i < level->promises.count; i++)
        rig_buf_printf(&promise, "%s%s", i == 0 ? "" : ",", level->promises.at[i]);
    const enum rig_rc rc = rig_hunt_space_add_level(r->space, level->name, &settings, rig_buf_text(&promise), r->err);
    rig_buf_done(&promise);
    return rc;
}

static enum rig_rc read_database_levels(const struct reading *r, const struct rig_matrix *matrix)
{
    struct rig_buf levels;
    rig_buf_init(&levels, 0);
    enum rig_rc rc = read_levels(r, &levels);
    for (size_t job = 0; rc == RIG_OK && job < matrix->job_count; job++) {
        const struct rig_matrix_value *level = matrix->jobs[job].values[RIG_MATRIX_LEVELS];
        if (is_allowed(r, level))
            rc = add_level(r, level, rig_buf_text(&levels));
    }
    if (rc == RIG_OK && levels.size > 0 && r->space->level_count > 1)
        rc = rig_fail(r->err, RIG_E_USAGE,
                      "--level: the database has several levels; choose the one that must keep it, such as --set %s",
                      r->space->levels[r->space->level_count - 1].settings.at[0]);
    rig_buf_done(&levels);
    if (rc == RIG_OK && r->space->level_count == 0)
        return rig_fail(r->err, RIG_E_USAGE,
                        "--set: the promise of this level is not known; `rig try` shows the levels of the database, "
                        "and a plan can ask for any");
    return rc;
}

/* -- recipes ------------------------------------------------------------------------------------------------------- */

/* The settings of a recipe: those of the target, then its load. */
struct recipe {
    const char *at[RIG_HUNT_SETTINGS_MOST];
    size_t count;
};

/* A key of the hunt's own, or one without a value. */
static bool is_left_out(const char *key, const json_t *value)
{
    return json_is_null(value) || strcmp(key, "workload.transactions") == 0 || strcmp(key, "workload.duration") == 0 ||
           strcmp(key, "workload.keys.prefill") == 0 || strcmp(key, "clients.stop-grace") == 0;
}

static bool add_member(const struct reading *r, const char *key, const json_t *value, struct recipe *recipe)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s=", key);
    char *plain = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    rig_buf_add_text(&text, json_is_string(value) ? json_string_value(value) : plain == NULL ? "" : plain);
    free(plain);
    const char *setting = keep(r, rig_buf_text(&text));
    rig_buf_done(&text);
    if (setting == NULL || recipe->count == RIG_HUNT_SETTINGS_MOST)
        return false;
    recipe->at[recipe->count++] = setting;
    return true;
}

/* Adds the members of a section, nested ones with a dot; `only_varied`: those that the hunt varies. */
static bool add_section(const struct reading *r, const char *prefix, json_t *section, bool only_varied,
                        struct recipe *recipe)
{
    const char *name;
    json_t *value;
    bool fits = true;
    json_object_foreach(section, name, value)
    {
        char key[256];
        (void)snprintf(key, sizeof key, "%s.%s", prefix, name);
        if (json_is_object(value))
            fits = fits && add_section(r, key, value, only_varied, recipe);
        else if (!is_left_out(key, value) && !json_is_array(value) &&
                 (!only_varied || rig_hunt_space_find(r->space, key, strlen(key)) >= 0))
            fits = fits && add_member(r, key, value, recipe);
    }
    return fits;
}

/* Faults vary where rig starts the servers and the plan has none. */
static bool faults_vary(const struct reading *r)
{
    const struct rig_cluster_ops *cluster = r->plan->driver->cluster;
    return cluster != NULL && cluster->wanted != NULL && cluster->wanted(r->plan->driver_options) &&
           r->plan->nemesis.entry_count == 0;
}

/* Whether the plan has the setting "database.journal=wal". */
static bool plan_has(const json_t *plan, const char *setting)
{
    const json_t *at = plan;
    while (at != NULL && setting[strcspn(setting, ".=")] == '.') {
        char part[128];
        const size_t length = strcspn(setting, ".=");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, setting);
        at = json_object_get(at, part);
        setting += length + 1;
    }
    const size_t length = strcspn(setting, "=");
    char last[128];
    (void)snprintf(last, sizeof last, "%.*s", (int)length, setting);
    const char *value = json_string_value(json_object_get(at, last));
    return value != NULL && setting[length] == '=' && strcmp(value, setting + length + 1) == 0;
}

/* The level of the space whose settings the plan has, or -1: any. */
static int level_of(const struct reading *r, const json_t *plan)
{
    for (uint32_t level = 0; level < r->space->level_count; level++) {
        const struct rig_text_list *settings = &r->space->levels[level].settings;
        bool has_all = settings->count > 0;
        for (size_t i = 0; has_all && i < settings->count; i++)
            has_all = plan_has(plan, settings->at[i]);
        if (has_all)
            return (int)level;
    }
    return -1;
}

/* Whether the plan's faults can be taken: the hunt's own servers can have them, and the database promises the same with
 * each of them. Also where it has none. */
static bool takes_faults(const struct reading *r, const struct rig_plan *plan)
{
    bool takes = plan->nemesis.entry_count == 0 || faults_vary(r);
    for (uint32_t entry = 0; takes && entry < plan->nemesis.entry_count; entry++)
        takes = plan->nemesis.entries[entry].fault->varied != NULL;
    return takes;
}

static bool add_its_faults(const struct reading *r, const struct rig_plan *plan, json_t *root, struct recipe *recipe)
{
    json_t *faults = json_object_get(json_object_get(root, "nemesis"), "faults"), *fault;
    size_t i;
    if (plan->nemesis.entry_count == 0 || !takes_faults(r, plan))
        return true;
    json_array_foreach(faults, i, fault)
    {
        const char *key;
        json_t *value;
        void *next;
        json_object_foreach_safe(fault, next, key, value)
        {
            if (json_is_null(value))
                (void)json_object_del(fault, key);
        }
    }
    return add_member(r, "nemesis.faults", faults, recipe);
}

/* Whether a recipe has this load already: that of a known bug is often a shipped plan. */
static bool has_load(const struct rig_hunt_space *space, const struct rig_hunt_base *base)
{
    for (uint32_t i = 0; i < space->base_count; i++) {
        const struct rig_hunt_base *other = &space->bases[i];
        bool is_same = other->level == base->level && other->settings.count == base->settings.count;
        for (size_t s = 0; is_same && s < base->settings.count; s++)
            is_same = strcmp(base->settings.at[s], other->settings.at[s]) == 0;
        if (is_same)
            return true;
    }
    return false;
}

/* Takes the load of a plan: its `workload` and `clients`, and the keys of `database` that the hunt varies. Its servers
 * and promises are not those of the target, and neither are faults with which the database promises less. */
static enum rig_rc take_load(const struct reading *r, const struct rig_hunt_base *of, const struct rig_plan *plan)
{
    struct rig_buf text;
    struct recipe recipe = {.count = 0};
    const struct rig_hunt_base *first = &r->space->bases[0];
    rig_buf_init(&text, 0);
    rig_plan_write_json(plan, &text);
    json_t *root = json_loadb(rig_buf_text(&text), text.size, 0, NULL);
    json_t *database = json_object_get(root, "database");
    rig_buf_done(&text);
    for (size_t i = 0; i < first->settings.count; i++)
        recipe.at[recipe.count++] = first->settings.at[i];
    const bool fits = add_section(r, "workload", json_object_get(root, "workload"), false, &recipe) &&
                      add_section(r, "clients", json_object_get(root, "clients"), false, &recipe) &&
                      add_section(r, "database", database, true, &recipe) && add_its_faults(r, plan, root, &recipe);
    const struct rig_hunt_base base = {.name = of->name,
                                       .path = first->path,
                                       .settings = {recipe.at, recipe.count},
                                       .level = level_of(r, root),
                                       .load_ns = takes_faults(r, plan) ? of->load_ns : 0};
    json_decref(root);
    if (!fits || r->space->base_count == RIG_HUNT_BASES_MOST || has_load(r->space, &base))
        return RIG_OK; /* one recipe less */
    return rig_hunt_space_add_base(r->space, &base, r->err);
}

/* Adds the plan with these settings as a recipe, where it is one of this driver, without phases: `of` has its name,
 * path, settings and `load_ns`. */
static enum rig_rc add_recipe(const struct reading *r, const struct rig_hunt_base *of)
{
    const char *path = of->path;
    const struct rig_text_list *set = &of->settings;
    static struct rig_plan_settings settings; /* one command a process */
    struct rig_plan_database_names names = {{0}, {0}};
    struct rig_plan *plan = NULL;
    struct rig_buf text;
    struct rig_err ignored = {0};
    rig_buf_init(&text, 0);
    bool fits = rig_buf_read_file(&text, path, &ignored) == RIG_OK &&
                rig_plan_parse_database(path, rig_buf_text(&text), text.size, &names, &ignored) == RIG_OK &&
                strcmp(names.driver, r->plan->driver->name) == 0;
    rig_buf_done(&text);
    settings.count = 0;
    for (size_t i = 0; fits && i < set->count; i++)
        settings.at[settings.count++] = set->at[i];
    fits = fits && rig_cli_plan_settings_load(path, &settings, &plan, &ignored) == RIG_OK && plan->phase_count == 0;
    const enum rig_rc rc = fits ? take_load(r, of, plan) : RIG_OK;
    rig_plan_free(plan);
    return rc;
}

/* The plans of known bugs, those that show theirs soonest first. */
static enum rig_rc add_bugs(const struct reading *r, const struct rig_text_list *names)
{
    struct rig_reproduction bugs[RIG_HUNT_BASES_MOST];
    size_t count = 0;
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < names->count && count < RIG_HUNT_BASES_MOST; i++) {
        struct rig_reproduction bug;
        struct rig_err ignored = {0};
        if (rig_reproduction_load(names->at[i], &r->space->arena, &bug, &ignored) != RIG_OK)
            continue;
        size_t at = count++;
        for (; at > 0 && bugs[at - 1].typical_ns > bug.typical_ns; at--)
            bugs[at] = bugs[at - 1];
        bugs[at] = bug;
    }
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        const struct rig_hunt_base of = {
            .name = bugs[i].name, .path = bugs[i].plan, .settings = bugs[i].set, .load_ns = bugs[i].typical_ns};
        rc = add_recipe(r, &of);
    }
    return rc;
}

static enum rig_rc add_recipes(const struct reading *r)
{
    struct rig_text_list plans = {0}, bugs = {0};
    struct rig_err ignored = {0};
    char path[PATH_BYTES];
    enum rig_rc rc;
    /* Libraries without a folder have no recipes. */
    (void)rig_reproduction_names(&r->space->arena, &bugs, &ignored);
    (void)rig_shipped_plan_names(&r->space->arena, &plans, &ignored);
    rc = add_bugs(r, &bugs);
    for (size_t i = 0; rc == RIG_OK && i < plans.count; i++) {
        ignored = (struct rig_err){0};
        if (rig_shipped_plan_find(plans.at[i], path, sizeof path, &ignored) == RIG_OK)
            rc = add_recipe(r, &(struct rig_hunt_base){.name = plans.at[i], .path = path});
    }
    return rc;
}

/* -- the two kinds of targets -------------------------------------------------------------------------------------- */

static void visit(void *context, const char *prefix, const struct rig_option *table)
{
    const struct reading *r = context;
    (void)rig_hunt_space_add_table(r->space, prefix, table, r->err);
}

/* Loads the first base with the settings of every run. */
static enum rig_rc load_first(struct reading *r, const struct rig_text_list *settings, const char *path)
{
    static struct rig_plan_settings all; /* one command a process */
    all.count = 0;
    for (size_t i = 0; i < settings->count; i++)
        all.at[all.count++] = settings->at[i];
    for (uint32_t i = 0; i < r->target->last.count && all.count < RIG_PLAN_SETTINGS_MOST; i++)
        all.at[all.count++] = r->target->last.at[i];
    return rig_cli_plan_settings_load(path, &all, &r->plan, r->err);
}

/* The faults of a dimension, by their names. */
struct faults {
    const char *names[RIG_HUNT_FAULTS_MOST], *settings[RIG_HUNT_FAULTS_MOST];
    size_t count;
    const struct reading *r;
};

/* One alternative of a fault: its name, or with keys "maintain-file: checkpoint: passive". */
static void add_alternative(struct faults *faults, const struct rig_fault *fault, const char *keys, size_t length)
{
    struct rig_buf name, setting;
    if (faults->count == RIG_HUNT_FAULTS_MOST)
        return;
    rig_buf_init(&name, 0);
    rig_buf_init(&setting, 0);
    rig_buf_printf(&name, "%s%s%.*s", fault->name, keys == fault->varied ? "" : ": ",
                   keys == fault->varied ? 0 : (int)length, keys);
    rig_buf_printf(&setting, "nemesis.faults=[{fault: %s, every: 400ms, on-failure: continue%s%.*s}]", fault->name,
                   length > 0 ? ", " : "", (int)length, keys);
    faults->names[faults->count] = keep(faults->r, rig_buf_text(&name));
    faults->settings[faults->count] = keep(faults->r, rig_buf_text(&setting));
    faults->count += faults->names[faults->count] != NULL && faults->settings[faults->count] != NULL;
    rig_buf_done(&name);
    rig_buf_done(&setting);
}

static void add_fault(void *context, const struct rig_fault *fault, bool driver_own)
{
    const char *keys = fault->varied;
    (void)driver_own;
    while (keys != NULL) {
        const size_t length = strcspn(keys, "|");
        add_alternative(context, fault, keys, length);
        keys = keys[length] == '|' ? keys + length + 1 : NULL;
    }
}

static enum rig_rc add_faults(const struct reading *r)
{
    struct faults faults = {.count = 0, .r = r};
    if (!faults_vary(r))
        return RIG_OK;
    rig_fault_each(r->plan->driver->cluster, add_fault, &faults);
    const struct rig_text_list names = {faults.names, faults.count}, settings = {faults.settings, faults.count};
    /* A run with a fault has servers of its own, so that it takes several times as long as one on kept servers. */
    const double chance = r->target->keeps_servers ? 0.15 : 0.3;
    return rig_hunt_space_add_settings(r->space, "nemesis.faults", chance, &names, &settings, r->err);
}

static enum rig_rc add_first(const struct reading *r, const char *path, const struct rig_text_list *settings)
{
    const struct rig_hunt_base base = {.name = "the plan", .path = path, .settings = *settings, .level = -1};
    const enum rig_rc rc = rig_hunt_space_add_base(r->space, &base, r->err);
    if (rc == RIG_OK)
        rig_plan_visit_tables(r->plan->driver, visit, (void *)(uintptr_t)r);
    if (rc == RIG_OK && r->err->rc == RIG_OK)
        (void)add_faults(r);
    return rc == RIG_OK ? r->err->rc : rc;
}

static enum rig_rc take_url(struct reading *r, const char *url)
{
    struct rig_buf settings;
    char path[PATH_BYTES], place[RIG_PLAN_PLACE_BYTES];
    struct rig_matrix *matrix = NULL;
    const char *list[RIG_ARGUMENTS_MAX];
    size_t count = 0;
    rig_buf_init(&settings, 0);
    enum rig_rc rc = rig_target_url_settings(url, &settings, r->err);
    rig_target_url_hide(url);
    if (rc == RIG_OK)
        rc = rig_target_plan_matrix(&settings, path, sizeof path, r->err);
    if (rc == RIG_OK)
        rc = rig_matrix_load(path, &matrix, r->err);
    const char *text = rig_buf_text(&settings);
    for (size_t at = 0; rc == RIG_OK && at < settings.size && count < RIG_ARGUMENTS_MAX; at += strlen(text + at) + 1)
        list[count++] = text + at;
    /* `rig try` has at least two operations, which many types refuse. */
    if (rc == RIG_OK && count < RIG_ARGUMENTS_MAX)
        list[count++] = "workload.operations.min=1";
    const struct rig_text_list all = {list, count};
    if (rc == RIG_OK)
        rc = read_database_levels(r, matrix);
    if (rc == RIG_OK)
        rc = load_first(r, &all, matrix->jobs[0].plan);
    if (rc == RIG_OK)
        rc = add_first(r, matrix->jobs[0].plan, &all);
    if (rc == RIG_OK) {
        rig_plan_place(r->plan, place);
        (void)snprintf(r->target->name, sizeof r->target->name, "%s", place);
        /* The recipes of drivers of any database are of one database each. */
        rc = strcmp(r->plan->driver->name, "odbc") == 0 ? RIG_OK : add_recipes(r);
    }
    rig_matrix_free(matrix);
    rig_buf_done(&settings);
    return rc;
}

/* The member of the plan's `database`, or NULL; borrows `root`. */
static json_t *database_of(const struct reading *r, json_t **root)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_plan_write_json(r->plan, &text);
    *root = json_loadb(rig_buf_text(&text), text.size, 0, NULL);
    rig_buf_done(&text);
    return json_object_get(*root, "database");
}

/* The name of the plan's level: `database.isolation`, where it has that key. */
static void name_level(const struct reading *r)
{
    json_t *root = NULL;
    const char *isolation = json_string_value(json_object_get(database_of(r, &root), "isolation"));
    (void)snprintf(r->target->level, sizeof r->target->level, "%s", isolation == NULL ? "its level" : isolation);
    json_decref(root);
}

/* The plan's own settings of the servers. */
static enum rig_rc take_server_settings(const struct reading *r)
{
    json_t *root = NULL, *setting;
    size_t i;
    const json_t *local = json_object_get(json_object_get(database_of(r, &root), "cluster"), "local");
    const json_t *settings = json_object_get(local, "settings");
    const char **at = rig_arena_array(&r->space->arena, json_array_size(settings) + 1, sizeof *at);
    struct rig_text_list list = {at, 0};
    json_array_foreach(settings, i, setting)
    {
        const char *text = json_string_value(setting);
        if (at != NULL && text != NULL && (at[list.count] = keep(r, text)) != NULL)
            list.count++;
    }
    r->target->server_settings = list;
    json_decref(root);
    return at == NULL ? rig_no_memory(r->err, "the plan's settings") : RIG_OK;
}

/* Whether the settings can be one of several in a list on a command line. */
static bool are_plain(const struct rig_text_list *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strpbrk(settings->at[i], ",[]{}\"'#") != NULL)
            return false;
    }
    return true;
}

/* Whether the plan itself has the setting. */
static bool is_given(const struct rig_text_list *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++) {
        const size_t length = strcspn(settings->at[i], "= ");
        if (strlen(name) == length && strncmp(settings->at[i], name, length) == 0)
            return true;
    }
    return false;
}

/* Settings of the servers vary where rig starts them. With faults of the plan a database may promise less with one of
 * them: a server that is killed loses what a setting did not make durable. */
static enum rig_rc add_server_settings(const struct reading *r)
{
    const struct rig_cluster_ops *cluster = r->plan->driver->cluster;
    const struct rig_server_variation *varied = cluster == NULL ? NULL : cluster->varied;
    enum rig_rc rc = take_server_settings(r);
    if (varied == NULL || !cluster->wanted(r->plan->driver_options) || r->plan->nemesis.entry_count > 0 ||
        !are_plain(&r->target->server_settings))
        return rc;
    for (; rc == RIG_OK && varied->name != NULL; varied++) {
        const bool promises = varied->level != NULL && strcmp(varied->level, r->target->level) == 0;
        if (!is_given(&r->target->server_settings, varied->name))
            rc = rig_hunt_space_add_server_setting(r->space, varied->name, varied->values,
                                                   promises ? varied->promise : NULL, r->err);
    }
    return rc;
}

static enum rig_rc take_plan(struct reading *r, const char *name)
{
    struct rig_buf levels;
    char path[PATH_BYTES];
    const struct rig_text_list nothing = {0};
    rig_buf_init(&levels, 0);
    enum rig_rc rc = rig_shipped_plan_find(name, path, sizeof path, r->err);
    if (rc == RIG_OK)
        rc = read_levels(r, &levels);
    if (rc == RIG_OK && levels.size > 0) {
        struct rig_buf setting;
        rig_buf_init(&setting, 0);
        rig_buf_printf(&setting, "check.levels=%s", rig_buf_text(&levels));
        rc = add_last(r, rig_buf_text(&setting));
        rig_buf_done(&setting);
    }
    if (rc == RIG_OK)
        rc = load_first(r, &nothing, path);
    if (rc == RIG_OK && r->plan->phase_count > 0)
        rc = rig_fail(r->err, RIG_E_PLAN, "%s: a hunt varies one load; take the phases out of the plan", name);
    if (rc == RIG_OK) {
        name_level(r);
        r->target->keeps_servers = rig_cli_kept_servers_wanted(r->plan);
        rc = add_first(r, path, &nothing);
    }
    if (rc == RIG_OK)
        rc = add_server_settings(r);
    if (rc == RIG_OK) {
        rig_buf_clear(&levels);
        rig_words_levels(&levels, r->plan->check.levels);
        (void)snprintf(r->target->promise, sizeof r->target->promise, "%s", rig_buf_text(&levels));
        (void)snprintf(r->target->name, sizeof r->target->name, "plan %s", r->plan->name);
        const int64_t most = (int64_t)r->plan->workload.transactions;
        r->target->transactions = most > TRANSACTIONS_MOST ? TRANSACTIONS_MOST : most;
    }
    rig_buf_done(&levels);
    return rc;
}

/* A URL has letters and a colon before any slash, and no file has its name. */
static bool is_url(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]))
        length++;
    return length > 1 && text[length] == ':';
}

enum rig_rc rig_cli_hunt_target(const struct rig_arguments *args, struct rig_hunt_target *target, struct rig_err *err)
{
    struct reading r = {.args = args, .target = target, .space = &target->space, .err = err};
    rig_hunt_space_init(&target->space);
    enum rig_rc rc = read_last(&r);
    if (rc == RIG_OK)
        rc = is_url(args->positionals[0]) ? take_url(&r, args->positionals[0]) : take_plan(&r, args->positionals[0]);
    if (rc == RIG_OK) {
        (void)snprintf(target->store, sizeof target->store, "%s", r.plan->store);
        target->plan = r.plan;
        target->driver = r.plan->driver;
        target->starts_servers = r.plan->driver->cluster != NULL &&
                                 r.plan->driver->cluster->wanted(r.plan->driver_options) &&
                                 rig_option_find(r.plan->driver->options, "cluster.local.version") != NULL;
    }
    if (rc != RIG_OK)
        rig_plan_free(r.plan);
    return rc;
}

/* The settings of the URL, which has to be one of the target's driver. */
static enum rig_rc take_other_url(struct rig_hunt_target *target, const char *option, const char *url,
                                  struct rig_hunt_other *other, struct rig_err *err)
{
    struct rig_buf settings;
    char driver[128];
    bool has_driver = false;
    rig_buf_init(&settings, 0);
    enum rig_rc rc = rig_target_url_settings(url, &settings, err);
    rig_target_url_hide(url);
    const char **at = rig_arena_array(&target->space.arena, RIG_ARGUMENTS_MAX, sizeof *at);
    const char *text = rc == RIG_OK ? rig_buf_text(&settings) : "";
    (void)snprintf(driver, sizeof driver, "database.driver=%s", target->driver->name);
    for (size_t from = 0; rc == RIG_OK && from < settings.size && other->settings.count < RIG_ARGUMENTS_MAX;
         from += strlen(text + from) + 1) {
        const char *kept = at == NULL ? NULL : rig_arena_text(&target->space.arena, text + from, strlen(text + from));
        if (kept == NULL) {
            rc = rig_no_memory(err, "the other server");
            break;
        }
        has_driver |= strcmp(kept, driver) == 0;
        at[other->settings.count++] = kept;
    }
    other->settings.at = at;
    rig_buf_done(&settings);
    if (rc == RIG_OK && !has_driver)
        return rig_fail(err, RIG_E_USAGE, "--%s: the URL is of another driver than %s, which the hunt is on", option,
                        target->driver->name);
    return rc;
}

static enum rig_rc take_other_version(struct rig_hunt_target *target, const char *option, const char *version,
                                      size_t length, struct rig_hunt_other *other, struct rig_err *err)
{
    const struct rig_cluster_ops *cluster = target->driver->cluster;
    char name[RIG_HUNT_NAME_BYTES];
    struct rig_buf setting;
    (void)snprintf(name, sizeof name, "%.*s", (int)length, version);
    if (!target->starts_servers)
        return rig_fail(err, RIG_E_USAGE,
                        "--%s: rig starts no servers of a version for %s; give the URL of another server", option,
                        target->name);
    if (cluster->has_version != NULL && !cluster->has_version(target->plan->driver_options, name))
        return rig_fail(err, RIG_E_USAGE, "--%s: version %s of %s is not installed; docs/clusters.md says how", option,
                        name, target->driver->name);
    rig_buf_init(&setting, 0);
    rig_buf_printf(&setting, "database.cluster.local.version=%s", name);
    const char **at = rig_arena_array(&target->space.arena, 1, sizeof *at);
    const char *kept = rig_arena_text(&target->space.arena, rig_buf_text(&setting), setting.size);
    rig_buf_done(&setting);
    if (at == NULL || kept == NULL)
        return rig_no_memory(err, "the other version");
    at[0] = kept;
    other->settings = (struct rig_text_list){at, 1};
    other->is_version = true;
    return RIG_OK;
}

/* Adds one server. A URL may have commas between its hosts. */
static enum rig_rc add_other(struct rig_hunt_target *target, const char *option, const char *text, size_t length,
                             struct rig_hunt_others *others, struct rig_err *err)
{
    if (others->count == RIG_HUNT_OTHERS_MOST)
        return rig_fail(err, RIG_E_LIMIT, "--%s: more than %d servers", option, (int)RIG_HUNT_OTHERS_MOST);
    struct rig_hunt_other *other = &others->at[others->count++];
    *other = (struct rig_hunt_other){.is_version = false};
    if (!is_url(text))
        (void)snprintf(other->name, sizeof other->name, "version %.*s", length > 40 ? 40 : (int)length, text);
    else if (strcmp(option, "against") == 0)
        (void)snprintf(other->name, sizeof other->name, "the other server");
    else
        (void)snprintf(other->name, sizeof other->name, "server %u", (unsigned)others->count);
    return is_url(text) ? take_other_url(target, option, text, other, err)
                        : take_other_version(target, option, text, length, other, err);
}

enum rig_rc rig_cli_hunt_others(const struct rig_arguments *args, const char *option, struct rig_hunt_target *target,
                                struct rig_hunt_others *others, struct rig_err *err)
{
    const char *text;
    enum rig_rc rc = RIG_OK;
    others->count = 0;
    for (size_t i = 0; rc == RIG_OK && (text = rig_arguments_value_at(args, option, i)) != NULL; i++) {
        while (rc == RIG_OK && text != NULL) {
            const size_t length = is_url(text) ? strlen(text) : strcspn(text, ",");
            const bool is_last = text[length] == '\0';
            rc = add_other(target, option, text, length, others, err);
            text = is_last ? NULL : text + length + 1;
        }
    }
    return rc;
}

void rig_cli_hunt_target_done(struct rig_hunt_target *target)
{
    rig_plan_free(target->plan);
    rig_hunt_space_done(&target->space);
}
