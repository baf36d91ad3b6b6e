#include "cli/plan_shrinker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json_members.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "base/run_files.h"
#include "cli/cli.h"
#include "cli/rerun.h"
#include "cli/saved_run.h"
#include "jobs/store/store_folder.h"
#include "report/words.h"

/* A test seldom takes more than this many times the runs after which a candidate without the anomaly is given up. */
enum { RUNS_OF_A_TEST = 3 };
enum { SHOWS_WANTED = 3, CONFIRMATIONS = 5, PATH_BYTES = RIG_STORE_PATH_BYTES + 64 };

struct rig_plan_shrinker {
    const struct rig_plan_shrinking *request;
    char runs_folder[PATH_BYTES];
    struct rig_plan_dimensions *dimensions;
    struct rig_plan_search search;
    struct rig_plan_found found;
    struct rig_rerun rerun;
    struct rig_known_anomaly shape;
    struct rig_rerun_result result;
    struct rig_rerun_tally confirmed;
    int64_t confirmed_values[RIG_PLAN_DIMENSIONS_MOST];
    uint32_t earlier_runs; /* of the first plan, made before this search */
    int64_t search_until_ns, until_ns, began_ns;
    struct rig_err *err; /* of a run */
};

/* The settings of a candidate. */
struct settings {
    struct rig_plan_settings all;
    struct rig_arena arena;
};

static bool make_settings(const struct rig_plan_shrinker *s, const int64_t *values, struct settings *settings)
{
    settings->all = *s->request->given;
    rig_arena_init(&settings->arena, 0);
    return rig_cli_plan_dimensions_set(s->dimensions, values, &settings->all, &settings->arena);
}

/* The known bug, or the anomaly. */
static const char *name_of(const struct rig_plan_shrinker *s)
{
    return s->request->entry != NULL ? s->request->entry : rig_anomaly_info(s->rerun.anomaly)->name;
}

/* ---- runs ---- */

/* The first run that refutes a request says which anomaly is looked for. */
static enum rig_rc take_shape(struct rig_plan_shrinker *s, const char *folder, enum rig_anomaly wanted, bool *has)
{
    struct rig_cli_saved_run saved;
    const enum rig_rc rc = rig_cli_saved_run_load(folder, &saved, s->err);
    *has = rc == RIG_OK && rig_cli_saved_run_shape(&saved, wanted, &s->rerun.anomaly, &s->shape);
    if (*has)
        s->rerun.shape = &s->shape;
    rig_cli_saved_run_done(&saved);
    return rc;
}

static enum rig_plan_try judge(struct rig_plan_shrinker *s)
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

static void count_confirmation(struct rig_plan_shrinker *s, const int64_t *values)
{
    if (memcmp(values, s->confirmed_values, sizeof s->confirmed_values) != 0)
        s->confirmed = (struct rig_rerun_tally){.runs = 0};
    memcpy(s->confirmed_values, values, sizeof s->confirmed_values);
    rig_cli_rerun_count(&s->confirmed, &s->result);
}

/* Takes a run of this plan that was made before. The confirmation has none: its runs took no part in the search. */
static bool take_earlier(struct rig_plan_shrinker *s, enum rig_plan_search_phase phase, const struct rig_plan *plan)
{
    const struct rig_plan_shrinking *request = s->request;
    struct rig_buf text;
    const char *folder;
    bool found = false;
    if (request->earlier == NULL || request->server == NULL || phase == RIG_PLAN_CONFIRMATION)
        return false;
    rig_buf_init(&text, 0);
    rig_plan_write(plan, false, &text);
    while (!found && (folder = rig_cli_earlier_runs_next(request->earlier, rig_buf_text(&text))) != NULL) {
        struct rig_err ignored = {0};
        found = rig_cli_rerun_read(&s->rerun, folder, request->server, &s->result, &ignored) == RIG_OK &&
                s->result.is_judged;
    }
    rig_buf_done(&text);
    s->earlier_runs += found && phase == RIG_PLAN_FIRST;
    return found;
}

static enum rig_plan_try run(void *context, enum rig_plan_search_phase phase, const int64_t *values)
{
    struct rig_plan_shrinker *s = context;
    struct settings *settings = malloc(sizeof *settings);
    struct rig_plan *plan = NULL;
    struct rig_err refusal = {0};
    enum rig_plan_try how = RIG_PLAN_OVER;
    if (settings == NULL)
        return RIG_PLAN_OVER;
    const bool fits = make_settings(s, values, settings);
    s->rerun.until_ns = phase == RIG_PLAN_CONFIRMATION ? s->until_ns : s->search_until_ns;
    if (!fits || rig_cli_plan_settings_load(s->request->path, &settings->all, &plan, &refusal) != RIG_OK) {
        how = RIG_PLAN_REFUSED;
    } else if (take_earlier(s, phase, plan) ||
               rig_cli_rerun(&s->rerun, settings->all.at, settings->all.count, &s->result, s->err) == RIG_OK) {
        how = judge(s);
        if (s->request->is_text)
            rig_cli_tell_rerun(&s->rerun, &s->result);
        if (phase == RIG_PLAN_CONFIRMATION && how != RIG_PLAN_OVER)
            count_confirmation(s, values);
    }
    rig_plan_free(plan);
    rig_arena_done(&settings->arena);
    free(settings);
    return how;
}

static bool matters(const void *context, uint32_t dimension, const int64_t *values)
{
    const struct rig_plan_shrinker *s = context;
    return rig_cli_plan_dimensions_matter(s->dimensions, dimension, values);
}

static void decided(void *context, const struct rig_plan_candidate *candidate)
{
    const struct rig_plan_shrinker *s = context;
    const enum rig_plan_try how = candidate->how;
    struct rig_buf text;
    if (!s->request->is_text)
        return;
    rig_buf_init(&text, 0);
    rig_cli_plan_dimensions_words(s->dimensions, candidate->dimension, candidate->value, false, &text);
    if (how == RIG_PLAN_SHOWS || how == RIG_PLAN_MISSES)
        rig_buf_printf(&text, ": %s (%u of %u run%s show%s it)\n", how == RIG_PLAN_SHOWS ? "kept" : "not kept",
                       (unsigned)candidate->shows, (unsigned)candidate->runs, rig_plural(candidate->runs),
                       candidate->runs == 1 ? "s" : "");
    else
        rig_buf_add_text(&text, how == RIG_PLAN_OVER ? ": not decided, the time is over\n" : ": cannot run\n");
    rig_cli_print(&text);
    (void)fflush(stdout);
    rig_buf_done(&text);
}

/* ---- the result ---- */

static enum rig_rc save(const struct rig_plan_shrinker *s, const char *name, const struct rig_buf *text,
                        struct rig_err *err)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", s->request->folder, name);
    return rig_output_save(text, path, err);
}

static void write_rate(const struct rig_plan_shrinker *s, struct rig_buf *out)
{
    const char *name = name_of(s);
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

static void write_text(const struct rig_plan_shrinker *s, struct rig_buf *out)
{
    const struct rig_plan_found *found = &s->found;
    char before[64] = "";
    bool is_lower = false;
    if (s->earlier_runs > 0)
        (void)snprintf(before, sizeof before, ", %u of them made before", (unsigned)s->earlier_runs);
    rig_buf_printf(
        out,
        "\nThe first plan showed %s in %u of %u runs%s. A candidate that shows it half as often as the first plan\nis "
        "missed in at most 5 %% of all cases, one that shows it an eighth as often is kept in at most 10 %%%s.\n",
        name_of(s), (unsigned)found->first_shows, (unsigned)found->first_runs, before,
        found->budget > s->search.runs_most / RUNS_OF_A_TEST ? ", if --runs allows enough runs" : "");
    rig_buf_printf(out, "%u candidate%s, %u kept, %u withdrawn; %u runs in ", (unsigned)found->candidates,
                   rig_plural(found->candidates), (unsigned)found->kept, (unsigned)found->withdrawn,
                   (unsigned)s->rerun.run_count);
    rig_words_duration(out, rig_clock_now_ns() - s->began_ns);
    rig_buf_printf(out, "%s.\n\nThe smallest plan is %s/smallest.yaml:\n",
                   found->is_complete ? "" : ", then the time was over: a smaller plan may exist", s->request->folder);
    for (uint32_t i = 0; i < s->search.dimension_count; i++) {
        if (found->values[i] >= s->search.dimensions[i].value)
            continue;
        is_lower = true;
        rig_buf_add_text(out, "  ");
        rig_cli_plan_dimensions_words(s->dimensions, i, found->values[i], true, out);
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_text(out, is_lower ? "" : "  the first plan; nothing could be lowered\n");
    write_rate(s, out);
}

void rig_cli_plan_shrinker_json(const struct rig_plan_shrinker *s, struct rig_json_writer *json, const char *name)
{
    struct settings *settings = malloc(sizeof *settings);
    rig_json_begin_object(json, name);
    rig_json_string(json, "anomaly", rig_anomaly_info(s->rerun.anomaly)->name);
    if (s->request->entry != NULL)
        rig_json_string(json, "known", s->request->entry);
    rig_json_bool(json, "minimal", s->found.is_complete);
    rig_json_object(json, "first", "of: %d, shown: %d, before: %d", s->found.first_runs, s->found.first_shows,
                    s->earlier_runs);
    rig_json_members(json, "budget: %d, candidates: %d, kept: %d, withdrawn: %d, runs: %d", s->found.budget,
                     s->found.candidates, s->found.kept, s->found.withdrawn, s->rerun.run_count);
    rig_json_begin_array(json, "changes");
    if (settings != NULL && make_settings(s, s->found.values, settings)) {
        for (uint32_t i = s->request->given->count; i < settings->all.count; i++)
            rig_json_string(json, NULL, settings->all.at[i]);
    }
    rig_json_end(json);
    rig_cli_json_tally(json, "confirmation", &s->confirmed);
    rig_json_string(json, "folder", s->request->folder);
    rig_json_end(json);
    if (settings != NULL)
        rig_arena_done(&settings->arena);
    free(settings);
}

static void write_plan(const struct rig_plan_shrinker *s, const struct settings *settings, const struct rig_plan *plan,
                       struct rig_buf *out)
{
    rig_buf_printf(out,
                   "# The smallest plan that still shows %s, found by `rig shrink --plan`. Secrets are masked. The "
                   "same:\n#   rig run",
                   name_of(s));
    for (uint32_t i = s->request->given->count; i < settings->all.count; i++)
        rig_buf_printf(out, " --set '%s'", settings->all.at[i]);
    rig_buf_printf(out, " PLAN\n");
    rig_plan_write(plan, false, out);
}

static enum rig_rc save_plan(const struct rig_plan_shrinker *s, struct rig_buf *text)
{
    struct settings *settings = malloc(sizeof *settings);
    struct rig_plan *plan = NULL;
    if (settings == NULL)
        return rig_no_memory(s->err, "the result");
    enum rig_rc rc = make_settings(s, s->found.values, settings) ? RIG_OK : rig_no_memory(s->err, "the result");
    if (rc == RIG_OK)
        rc = rig_cli_plan_settings_load(s->request->path, &settings->all, &plan, s->err);
    if (rc == RIG_OK) {
        write_plan(s, settings, plan, text);
        rc = save(s, RIG_RUN_SMALLEST_PLAN, text, s->err);
    }
    rig_plan_free(plan);
    rig_arena_done(&settings->arena);
    free(settings);
    return rc;
}

static enum rig_rc conclude(struct rig_plan_shrinker *s)
{
    struct rig_json_writer json;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    enum rig_rc rc = save_plan(s, &text);
    rig_buf_clear(&text);
    if (rc == RIG_OK) {
        rig_json_init(&json, &text);
        rig_cli_plan_shrinker_json(s, &json, NULL);
        rig_buf_add_char(&text, '\n');
        rc = save(s, RIG_RUN_SHRUNK, &text, s->err);
    }
    if (rc == RIG_OK && s->request->is_text) {
        rig_buf_clear(&text);
        write_text(s, &text);
        rig_cli_print(&text);
    }
    rig_buf_done(&text);
    return rc;
}

/* ---- the search ---- */

/* The plan did not show the anomaly often enough. */
static enum rig_rc explain(struct rig_plan_shrinker *s)
{
    const struct rig_plan_found *found = &s->found;
    if (s->err->rc == RIG_E_IO || s->err->rc == RIG_E_CLUSTER || s->err->rc == RIG_E_INTERRUPTED)
        return s->err->rc;
    *s->err = (struct rig_err){.rc = RIG_OK};
    if (found->first_runs == 0 && !s->result.is_judged && s->result.why[0] != '\0')
        return rig_fail(s->err, RIG_E_CLUSTER, "the plan does not run: %s", s->result.why);
    (void)snprintf(
        s->err->text, sizeof s->err->text,
        "the plan showed the anomaly in %u of %u run%s only, so nothing can be shrunk; its runs are in %.400s",
        (unsigned)found->first_shows, (unsigned)found->first_runs, rig_plural(found->first_runs), s->runs_folder);
    return RIG_OK;
}

enum rig_rc rig_cli_plan_shrinker_search(struct rig_plan_shrinker *s, bool *is_found, struct rig_err *err)
{
    const int64_t limit_ns = s->request->time_ns;
    s->err = err;
    s->began_ns = rig_clock_now_ns();
    s->until_ns = s->began_ns + limit_ns;
    s->search_until_ns = s->began_ns + limit_ns / 4 * 3; /* the rest is for the confirmation */
    *is_found = rig_plan_search(&s->search, &s->found);
    if (!*is_found)
        return explain(s);
    *err = (struct rig_err){.rc = RIG_OK}; /* the end of the time */
    return conclude(s);
}

enum rig_rc rig_cli_plan_shrinker_new(const struct rig_plan_shrinking *request, struct rig_plan_shrinker **shrinker,
                                      struct rig_err *err)
{
    struct rig_plan_shrinker *s = calloc(1, sizeof *s);
    if (s == NULL)
        return rig_no_memory(err, "the search");
    s->request = request;
    enum rig_rc rc = rig_cli_plan_dimensions_new(request->plan, request->path, request->given, &s->dimensions, err);
    (void)snprintf(s->runs_folder, sizeof s->runs_folder, "%s/" RIG_RUN_RUNS, request->folder);
    if (rc == RIG_OK && mkdir(s->runs_folder, 0700) != 0)
        rc = rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", s->runs_folder, strerror(errno));
    if (rc != RIG_OK) {
        rig_cli_plan_shrinker_free(s);
        return rc;
    }
    s->search = (struct rig_plan_search){.shows_wanted = SHOWS_WANTED,
                                         .confirmations = CONFIRMATIONS,
                                         .runs_most = request->runs_most,
                                         .run = run,
                                         .matters = matters,
                                         .decided = decided,
                                         .context = s};
    s->search.dimension_count = rig_cli_plan_dimensions_first(s->dimensions, s->search.dimensions);
    s->rerun = (struct rig_rerun){.plan = request->path,
                                  .anomaly = request->anomaly,
                                  .shape = request->shape,
                                  .whole_shape = request->entry != NULL,
                                  .folder = s->runs_folder,
                                  .interrupts = request->interrupts,
                                  .seed = request->seed};
    *shrinker = s;
    return RIG_OK;
}

void rig_cli_plan_shrinker_free(struct rig_plan_shrinker *s)
{
    if (s == NULL)
        return;
    rig_cli_rerun_done(&s->rerun);
    rig_cli_plan_dimensions_free(s->dimensions);
    free(s);
}
