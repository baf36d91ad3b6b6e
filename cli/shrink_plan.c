#include "cli/shrink_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "base/secret.h"
#include "base/yaml_keys.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/rerun.h"
#include "cli/rerun_report.h"
#include "cli/saved_run.h"
#include "cli/stop_signals.h"
#include "plan/plan.h"
#include "report/words.h"
#include "shrink/plan_search.h"
#include "store/store_folder.h"

enum {
    SHOWS_WANTED = 3,
    RUNS_MOST = 60, /* of a candidate */
    CONFIRMATIONS = 5,
    SETTINGS_MOST = RIG_ARGUMENTS_MAX + RIG_PLAN_DIMENSIONS_MOST,
    SETTING_BYTES = 1 << 14,
    PATH_BYTES = RIG_STORE_PATH_BYTES + 64
};

static const int64_t time_ns = INT64_C(600) * RIG_NS_PER_S;

/* Keys of a plan that are lowered, in this order, behind its faults. A plan without a value for one is not lowered there. */
static const struct {
    const char *key;
    bool is_duration;
    int64_t least;
} keys[] = {
    {"clients.count", false, 1},
    {"workload.transactions", false, 10},
    {"workload.duration", true, 500 * RIG_NS_PER_MS},
    {"workload.operations.min", false, 1},
    {"workload.operations.max", false, 1},
    {"workload.keys.active", false, 1},
};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

/* A dimension of the search: a key, or a fault. */
struct dimension {
    size_t key;               /* KEY_COUNT: a fault */
    const char *text, *label; /* of a fault: its entry as a setting has it, and its kind */
};

struct shrinking {
    const struct rig_arguments *args;
    char plan_path[RIG_CLI_PATH_BYTES], folder[RIG_STORE_PATH_BYTES], runs_folder[PATH_BYTES];
    struct rig_plan *plan;
    struct rig_buf resolved; /* the plan, as YAML */
    struct rig_arena arena;
    struct rig_yaml_tree tree;
    struct dimension dimensions[RIG_PLAN_DIMENSIONS_MOST];
    struct rig_plan_search search;
    struct rig_plan_found found;
    struct rig_rerun rerun;
    struct rig_known_anomaly shape;
    struct rig_rerun_result result;
    struct rig_rerun_tally confirmed;
    int64_t confirmed_values[RIG_PLAN_DIMENSIONS_MOST];
    int64_t search_until_ns, until_ns, began_ns;
    int hold;
    struct rig_err *err; /* of a run */
};

static bool is_text(const struct shrinking *s)
{
    return !rig_arguments_json(s->args);
}

/* ---- the dimensions ---- */

/* The node of a dotted key, or NULL. */
static const struct rig_yaml_node *node_of(const struct rig_yaml_node *node, const char *key)
{
    char part[64];
    while (node != NULL && node->kind == RIG_YAML_MAPPING) {
        const size_t length = strcspn(key, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, key);
        node = rig_yaml_value(node, part);
        if (key[length] == '\0')
            return node;
        key += length + 1;
    }
    return NULL;
}

static struct rig_option option_of(size_t key)
{
    return (struct rig_option){.name = keys[key].key,
                               .type = keys[key].is_duration ? RIG_OPTION_DURATION : RIG_OPTION_INT};
}

static void add_dimension(struct shrinking *s, struct dimension dimension, int64_t value, int64_t least)
{
    if (value <= least || s->search.dimension_count == RIG_PLAN_DIMENSIONS_MOST)
        return;
    s->dimensions[s->search.dimension_count] = dimension;
    s->search.dimensions[s->search.dimension_count++] = (struct rig_plan_dimension){value, least};
}

/* Each fault by itself. A plan whose faults cannot be written as a setting, or have secrets, keeps them. */
static enum rig_rc add_faults(struct shrinking *s)
{
    const struct rig_yaml_node *faults = node_of(s->tree.root, "nemesis.faults");
    struct rig_buf text;
    bool fits = faults != NULL && faults->kind == RIG_YAML_SEQUENCE;
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&text, SETTING_BYTES);
    for (const struct rig_yaml_entry *entry = fits ? faults->first : NULL; fits && entry != NULL; entry = entry->next) {
        const struct rig_yaml_node *kind = node_of(entry->value, "fault");
        struct rig_err ignored = {0};
        rig_buf_clear(&text);
        fits = rig_yaml_write_value(&s->tree, entry->value, &text, &ignored) == RIG_OK && !text.failed &&
               strstr(rig_buf_text(&text), RIG_SECRET_MASK) == NULL;
        const struct dimension dimension = {KEY_COUNT, rig_arena_text(&s->arena, rig_buf_text(&text), text.size),
                                            kind == NULL ? "" : kind->text};
        if (dimension.text == NULL)
            rc = rig_no_memory(s->err, "the faults of the plan");
        add_dimension(s, dimension, 1, 0);
    }
    if (!fits)
        s->search.dimension_count = 0;
    rig_buf_done(&text);
    return rc;
}

static enum rig_rc find_dimensions(struct shrinking *s)
{
    rig_plan_write(s->plan, false, &s->resolved);
    enum rig_rc rc = rig_yaml_tree_read(&s->tree, &s->arena, "plan", s->plan_path, rig_buf_text(&s->resolved),
                                        s->resolved.size, s->err);
    if (rc == RIG_OK)
        rc = add_faults(s);
    for (size_t key = 0; rc == RIG_OK && key < KEY_COUNT; key++) {
        const struct rig_yaml_node *node = node_of(s->tree.root, keys[key].key);
        const struct rig_option option = option_of(key);
        int64_t value = 0;
        if (node != NULL && node->kind == RIG_YAML_SCALAR &&
            rig_option_parse(&option, node->text, &value, NULL) == RIG_OK)
            add_dimension(s, (struct dimension){.key = key}, value, keys[key].least);
    }
    return rc;
}

static void write_value(const struct shrinking *s, uint32_t dimension, int64_t value, struct rig_buf *out)
{
    const struct rig_option option = option_of(s->dimensions[dimension].key);
    rig_option_format(&option, &value, out);
}

/* ---- settings ---- */

struct settings {
    const char *at[SETTINGS_MOST];
    uint32_t count, own; /* the first of them are the user's */
    struct rig_arena arena;
};

static bool add_setting(struct settings *settings, struct rig_buf *text)
{
    char *kept = text->failed ? NULL : rig_arena_text(&settings->arena, rig_buf_text(text), text->size);
    rig_buf_clear(text);
    settings->at[settings->count++] = kept;
    return kept != NULL;
}

/* The user's settings, and one for each value that is lower than the plan's. */
static bool make_settings(const struct shrinking *s, const int64_t *values, struct settings *settings)
{
    struct rig_buf text, faults;
    bool fits = true, fewer = false, is_first = true;
    const char *given;
    *settings = (struct settings){.count = 0};
    rig_arena_init(&settings->arena, 0);
    rig_buf_init(&text, SETTING_BYTES);
    rig_buf_init(&faults, SETTING_BYTES);
    while ((given = rig_arguments_value_at(s->args, "set", settings->own)) != NULL)
        settings->at[settings->own++] = given;
    settings->count = settings->own;
    rig_buf_add_text(&faults, "nemesis.faults=[");
    for (uint32_t i = 0; fits && i < s->search.dimension_count; i++) {
        const bool is_lower = values[i] < s->search.dimensions[i].value;
        if (s->dimensions[i].key == KEY_COUNT) {
            fewer = fewer || is_lower;
            if (!is_lower)
                rig_buf_printf(&faults, "%s%s", is_first ? "" : ", ", s->dimensions[i].text);
            is_first = is_first && is_lower;
        } else if (is_lower) {
            rig_buf_printf(&text, "%s=", keys[s->dimensions[i].key].key);
            write_value(s, i, values[i], &text);
            fits = add_setting(settings, &text);
        }
    }
    rig_buf_add_char(&faults, ']');
    if (fits && fewer)
        fits = add_setting(settings, &faults);
    rig_buf_done(&text);
    rig_buf_done(&faults);
    return fits;
}

static enum rig_rc load_plan(const struct shrinking *s, const struct settings *settings, struct rig_plan **plan,
                             struct rig_err *err)
{
    struct rig_plan_override overrides[SETTINGS_MOST];
    for (uint32_t i = 0; i < settings->count; i++)
        overrides[i].text = settings->at[i];
    return rig_plan_load(s->plan_path, overrides, settings->count, NULL, plan, err);
}

/* ---- runs ---- */

/* The first run that refutes a request says which anomaly is looked for. */
static enum rig_rc take_shape(struct shrinking *s, const char *folder, enum rig_anomaly wanted, bool *has)
{
    struct rig_cli_saved_run saved;
    const enum rig_rc rc = rig_cli_saved_run_load(folder, &saved, s->err);
    *has = rc == RIG_OK && rig_cli_saved_run_shape(&saved, wanted, &s->rerun.anomaly, &s->shape);
    if (*has)
        s->rerun.shape = &s->shape;
    rig_cli_saved_run_done(&saved);
    return rc;
}

static enum rig_plan_try judge(struct shrinking *s)
{
    const struct rig_rerun_result *result = &s->result;
    bool shows = result->shows;
    if (s->rerun.shape == NULL && result->is_judged && (shows || result->status == RIG_EXIT_ANOMALY) &&
        take_shape(s, result->folder, s->rerun.anomaly, &shows) != RIG_OK)
        return RIG_PLAN_OVER;
    if (shows)
        return RIG_PLAN_SHOWS;
    if (result->was_cut)
        return RIG_PLAN_OVER;
    return result->is_judged ? RIG_PLAN_MISSES : RIG_PLAN_REFUSED;
}

static void count_confirmation(struct shrinking *s, const int64_t *values)
{
    if (memcmp(values, s->confirmed_values, sizeof s->confirmed_values) != 0)
        s->confirmed = (struct rig_rerun_tally){.runs = 0};
    memcpy(s->confirmed_values, values, sizeof s->confirmed_values);
    rig_cli_rerun_count(&s->confirmed, &s->result);
}

static enum rig_plan_try run(void *context, enum rig_plan_search_phase phase, const int64_t *values)
{
    struct shrinking *s = context;
    struct settings *settings = malloc(sizeof *settings);
    struct rig_plan *plan = NULL;
    struct rig_err refusal = {0};
    enum rig_plan_try how = RIG_PLAN_OVER;
    if (settings == NULL)
        return RIG_PLAN_OVER;
    const bool fits = make_settings(s, values, settings);
    s->rerun.until_ns = phase == RIG_PLAN_CONFIRMATION ? s->until_ns : s->search_until_ns;
    if (!fits || load_plan(s, settings, &plan, &refusal) != RIG_OK) {
        how = RIG_PLAN_REFUSED;
    } else if (rig_cli_rerun(&s->rerun, settings->at, settings->count, &s->result, s->err) == RIG_OK) {
        how = judge(s);
        if (is_text(s))
            rig_cli_tell_rerun(&s->rerun, &s->result);
        if (phase == RIG_PLAN_CONFIRMATION && how != RIG_PLAN_OVER)
            count_confirmation(s, values);
    }
    rig_plan_free(plan);
    rig_arena_done(&settings->arena);
    free(settings);
    return how;
}

static void write_change(const struct shrinking *s, uint32_t dimension, int64_t value, struct rig_buf *out)
{
    if (s->dimensions[dimension].key == KEY_COUNT) {
        rig_buf_printf(out, "without fault %u (%s)", (unsigned)dimension + 1, s->dimensions[dimension].label);
        return;
    }
    rig_buf_printf(out, "%s: ", keys[s->dimensions[dimension].key].key);
    write_value(s, dimension, value, out);
}

static void decided(void *context, uint32_t dimension, int64_t value, uint32_t runs, enum rig_plan_try how)
{
    const struct shrinking *s = context;
    struct rig_buf text;
    if (!is_text(s))
        return;
    rig_buf_init(&text, 0);
    write_change(s, dimension, value, &text);
    if (how == RIG_PLAN_SHOWS)
        rig_buf_printf(&text, ": kept (run %u of at most %u shows it)\n", (unsigned)runs, (unsigned)s->found.budget);
    else if (how == RIG_PLAN_MISSES)
        rig_buf_printf(&text, ": not kept, no anomaly in %u run%s\n", (unsigned)runs, rig_plural(runs));
    else
        rig_buf_add_text(&text, how == RIG_PLAN_OVER ? ": not decided, the time is over\n" : ": cannot run\n");
    (void)fputs(rig_buf_text(&text), stdout);
    (void)fflush(stdout);
    rig_buf_done(&text);
}

/* ---- the result ---- */

static enum rig_rc save(const struct shrinking *s, const char *name, const struct rig_buf *text, struct rig_err *err)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return rig_output_save(text, path, err);
}

static void write_rate(const struct shrinking *s, struct rig_buf *out)
{
    const char *name = rig_anomaly_info(s->rerun.anomaly)->name;
    if (s->found.runs == 0) {
        rig_buf_printf(out, "No time was left to measure its rate; it showed %s in the search.\n", name);
        return;
    }
    rig_buf_printf(out, "It showed %s in ", name);
    rig_cli_write_share(s->confirmed.showing, s->confirmed.runs, "run", out);
    rig_buf_add_text(out, ", ");
    rig_cli_write_rate(&s->confirmed, out);
    rig_buf_add_text(out, ".\nThese runs took no part in the search.\n");
}

static void write_text(const struct shrinking *s, struct rig_buf *out)
{
    const struct rig_plan_found *found = &s->found;
    bool is_lower = false;
    rig_buf_printf(
        out,
        "\nThe first plan showed %s in %u of %u runs. A candidate had %u run%s to show it: one that shows it half as "
        "often\nas the first plan is missed in at most 5 %% of all cases%s.\n",
        rig_anomaly_info(s->rerun.anomaly)->name, (unsigned)found->first_shows, (unsigned)found->first_runs,
        (unsigned)found->budget, rig_plural(found->budget),
        found->budget == s->search.runs_most ? ", if so many runs are enough (--runs)" : "");
    rig_buf_printf(out, "%u candidate%s, %u kept, %u withdrawn; %u runs in ", (unsigned)found->candidates,
                   rig_plural(found->candidates), (unsigned)found->kept, (unsigned)found->withdrawn,
                   (unsigned)s->rerun.run_count);
    rig_words_duration(out, rig_clock_now_ns() - s->began_ns);
    rig_buf_printf(out, "%s.\n\nThe smallest plan is %s/smallest.yaml:\n",
                   found->is_complete ? "" : ", then the time was over: a smaller plan may exist", s->folder);
    for (uint32_t i = 0; i < s->search.dimension_count; i++) {
        if (found->values[i] >= s->search.dimensions[i].value)
            continue;
        is_lower = true;
        rig_buf_add_text(out, "  ");
        write_change(s, i, found->values[i], out);
        if (s->dimensions[i].key != KEY_COUNT) {
            rig_buf_add_text(out, " instead of ");
            write_value(s, i, s->search.dimensions[i].value, out);
        }
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_text(out, is_lower ? "" : "  the first plan; nothing could be lowered\n");
    write_rate(s, out);
}

static void write_json(const struct shrinking *s, const struct settings *settings, struct rig_buf *out)
{
    struct rig_json_writer json;
    rig_json_init(&json, out);
    rig_json_begin_object(&json, NULL);
    rig_json_string(&json, "anomaly", rig_anomaly_info(s->rerun.anomaly)->name);
    rig_json_bool(&json, "minimal", s->found.is_complete);
    rig_json_begin_object(&json, "first");
    rig_json_int(&json, "of", s->found.first_runs);
    rig_json_int(&json, "shown", s->found.first_shows);
    rig_json_end(&json);
    rig_json_int(&json, "budget", s->found.budget);
    rig_json_int(&json, "candidates", s->found.candidates);
    rig_json_int(&json, "kept", s->found.kept);
    rig_json_int(&json, "withdrawn", s->found.withdrawn);
    rig_json_int(&json, "runs", s->rerun.run_count);
    rig_json_begin_array(&json, "changes");
    for (uint32_t i = settings->own; i < settings->count; i++)
        rig_json_string(&json, NULL, settings->at[i]);
    rig_json_end(&json);
    rig_cli_json_tally(&json, "confirmation", &s->confirmed);
    rig_json_string(&json, "folder", s->folder);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}

static void write_plan(const struct shrinking *s, const struct settings *settings, const struct rig_plan *plan,
                       struct rig_buf *out)
{
    rig_buf_printf(out,
                   "# The smallest plan that still shows %s, found by `rig shrink --plan`. Secrets are masked. The "
                   "same:\n#   rig run",
                   rig_anomaly_info(s->rerun.anomaly)->name);
    for (uint32_t i = settings->own; i < settings->count; i++)
        rig_buf_printf(out, " --set '%s'", settings->at[i]);
    rig_buf_printf(out, " PLAN\n");
    rig_plan_write(plan, false, out);
}

static enum rig_rc conclude(struct shrinking *s)
{
    struct settings *settings = malloc(sizeof *settings);
    struct rig_plan *plan = NULL;
    struct rig_buf text;
    if (settings == NULL)
        return rig_no_memory(s->err, "the result");
    rig_buf_init(&text, 0);
    enum rig_rc rc = make_settings(s, s->found.values, settings) ? RIG_OK : rig_no_memory(s->err, "the result");
    if (rc == RIG_OK)
        rc = load_plan(s, settings, &plan, s->err);
    if (rc == RIG_OK) {
        write_plan(s, settings, plan, &text);
        rc = save(s, "smallest.yaml", &text, s->err);
        rig_buf_clear(&text);
    }
    if (rc == RIG_OK) {
        write_json(s, settings, &text);
        rc = save(s, "shrunk.json", &text, s->err);
    }
    if (rc == RIG_OK && is_text(s)) {
        rig_buf_clear(&text);
        write_text(s, &text);
    }
    (void)fputs(rig_buf_text(&text), stdout);
    rig_plan_free(plan);
    rig_arena_done(&settings->arena);
    free(settings);
    rig_buf_done(&text);
    return rc;
}

/* ---- the command ---- */

static enum rig_rc read_anomaly(struct shrinking *s)
{
    const char *name = rig_arguments_value(s->args, "anomaly"), *proper;
    uint64_t anomalies;
    s->rerun.anomaly = RIG_ANOMALY_COUNT;
    if (rig_arguments_value_at(s->args, "anomaly", 1) != NULL)
        return rig_fail(s->err, RIG_E_USAGE, "--anomaly: with --plan, name one anomaly");
    if (name != NULL && !rig_anomaly_find_all(name, &anomalies, &proper))
        return rig_fail(s->err, RIG_E_USAGE, "--anomaly: there is no anomaly `%s`; `rig list anomalies` shows them",
                        name);
    for (unsigned one = 0; name != NULL && one < RIG_ANOMALY_COUNT; one++) {
        if (s->rerun.anomaly == RIG_ANOMALY_COUNT && (anomalies & RIG_ANOMALY_BIT(one)) != 0)
            s->rerun.anomaly = (enum rig_anomaly)one;
    }
    return RIG_OK;
}

/* A plan, or the folder of a run, whose anomaly is the one looked for. */
static enum rig_rc find_plan(struct shrinking *s)
{
    const char *given = s->args->positionals[0];
    char folder[RIG_CLI_PATH_BYTES];
    struct stat status;
    bool has = false;
    const bool is_run = stat(given, &status) == 0 && S_ISDIR(status.st_mode);
    enum rig_rc rc = is_run ? rig_cli_find_run(given, folder, s->err) : RIG_OK;
    if (rc == RIG_OK && is_run)
        rc = take_shape(s, folder, s->rerun.anomaly, &has);
    if (rc == RIG_OK && is_run && !has)
        rc = rig_fail(s->err, RIG_E_INPUT, "%s: the run has no such anomaly", given);
    if (rc == RIG_OK)
        (void)snprintf(s->plan_path, sizeof s->plan_path, is_run ? "%.4000s/plan.yaml" : "%.4000s",
                       is_run ? folder : given);
    return rc;
}

static enum rig_rc prepare(struct shrinking *s)
{
    const char *output = rig_arguments_value(s->args, "output");
    struct settings *settings = malloc(sizeof *settings);
    char name[256];
    if (settings == NULL)
        return rig_no_memory(s->err, "the plan");
    enum rig_rc rc = read_anomaly(s);
    if (rc == RIG_OK)
        rc = find_plan(s);
    if (rc == RIG_OK && make_settings(s, NULL, settings)) /* the user's: there are no dimensions yet */
        rc = load_plan(s, settings, &s->plan, s->err);
    if (rc == RIG_OK)
        rig_arena_done(&settings->arena);
    free(settings);
    if (rc == RIG_OK)
        rc = find_dimensions(s);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(name, sizeof name, "%.200s-shrink", s->plan->name);
    rc = output != NULL ? rig_store_take(output, s->folder, &s->hold, s->err)
                        : rig_store_make(s->plan->store, name, s->folder, &s->hold, s->err);
    (void)snprintf(s->runs_folder, sizeof s->runs_folder, "%s/runs", s->folder);
    if (rc == RIG_OK && mkdir(s->runs_folder, 0700) != 0)
        rc = rig_fail(s->err, RIG_E_IO, "%s: cannot create the folder: %s", s->runs_folder, strerror(errno));
    return rc;
}

static enum rig_rc search(struct shrinking *s, bool *is_found)
{
    const int64_t limit_ns = s->until_ns;
    enum rig_rc rc = prepare(s);
    if (rc != RIG_OK)
        return rc;
    s->began_ns = rig_clock_now_ns();
    s->until_ns = s->began_ns + limit_ns;
    s->search_until_ns = s->began_ns + limit_ns / 4 * 3; /* the rest is for the confirmation */
    s->rerun.plan = s->plan_path;
    s->rerun.folder = s->runs_folder;
    s->rerun.seed = s->plan->seed;
    (void)rig_arguments_number(s->args, "seed", 0, INT64_MAX, &s->rerun.seed);
    *is_found = rig_plan_search(&s->search, &s->found);
    if (*is_found) {
        *s->err = (struct rig_err){.rc = RIG_OK}; /* the end of the time */
        return conclude(s);
    }
    if (s->err->rc == RIG_E_IO || s->err->rc == RIG_E_CLUSTER || s->err->rc == RIG_E_INTERRUPTED)
        return s->err->rc;
    *s->err = (struct rig_err){.rc = RIG_OK};
    if (s->found.first_runs == 0 && !s->result.is_judged && s->result.why[0] != '\0')
        return rig_fail(s->err, RIG_E_CLUSTER, "the plan does not run: %s", s->result.why);
    rig_cli_complain("the plan showed the anomaly in %u of %u run%s only, so nothing can be shrunk; its runs are in %s",
                     (unsigned)s->found.first_shows, (unsigned)s->found.first_runs, rig_plural(s->found.first_runs),
                     s->runs_folder);
    return RIG_OK;
}

/* False after a complaint. */
static bool read_arguments(struct shrinking *s)
{
    static const struct rig_option duration = {.name = "time", .type = RIG_OPTION_DURATION, .least = 1e6, .most = 1e15};
    const char *text = rig_arguments_value(s->args, "time");
    uint64_t runs = RUNS_MOST, seed;
    struct rig_err err = {0};
    if (!rig_arguments_number(s->args, "runs", SHOWS_WANTED, 1000, &runs) ||
        !rig_arguments_number(s->args, "seed", 0, INT64_MAX, &seed))
        return false;
    s->search.runs_most = (uint32_t)runs;
    s->until_ns = time_ns; /* from its start on */
    if (text == NULL || rig_option_parse(&duration, text, &s->until_ns, &err) == RIG_OK)
        return true;
    rig_cli_complain("--time: %s", err.text);
    return false;
}

int rig_cli_shrink_plan(const struct rig_arguments *args)
{
    struct rig_err err = {0};
    bool is_found = false;
    int status = RIG_EXIT_USAGE;
    struct shrinking *s = calloc(1, sizeof *s);
    if (s == NULL)
        return RIG_EXIT_FAILED;
    s->args = args;
    s->err = &err;
    s->hold = -1;
    s->search = (struct rig_plan_search){
        .shows_wanted = SHOWS_WANTED, .confirmations = CONFIRMATIONS, .run = run, .decided = decided, .context = s};
    rig_arena_init(&s->arena, 0);
    rig_buf_init(&s->resolved, 0);
    if (read_arguments(s)) {
        s->rerun.interrupts = rig_cli_stop_signals_begin();
        const enum rig_rc rc = search(s, &is_found);
        rig_cli_stop_signals_end();
        status = rc != RIG_OK ? rig_cli_fail(&err) : is_found ? RIG_EXIT_OK : RIG_EXIT_UNDECIDED;
    }
    rig_cli_rerun_done(&s->rerun);
    rig_plan_free(s->plan);
    rig_buf_done(&s->resolved);
    rig_arena_done(&s->arena);
    if (s->hold >= 0)
        (void)close(s->hold);
    free(s);
    return status;
}
