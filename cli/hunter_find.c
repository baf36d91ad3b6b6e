#include "cli/hunter_private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/output_file.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "jobs/shrink/plan_search.h"
#include "run/plan/reproduction.h"

enum {
    PATH_BYTES = RIG_HUNT_PATH_BYTES,
    CONFIRMATIONS_MOST = 5,   /* runs with new seeds right after a find */
    CONFIRMATIONS_WANTED = 3, /* that show it again */
    SEARCH_RUNS_MOST = 15,    /* of a smaller point */
    AGAINST_MOST = 8,         /* runs on the other server */
};

static const int64_t explain_most_ns = INT64_C(300000000000);

/* -- a smaller point ----------------------------------------------------------------------------------------------- */

/* The search for the smallest point (jobs/shrink/plan_search.h): a dimension for each value that the point sets, which
 * is there (1) or not (0). */
struct search {
    struct rig_hunter *hunter;
    struct rig_hunt_point point;
    uint32_t dimensions[RIG_PLAN_DIMENSIONS_MOST], count;
    uint32_t length;
};

static struct rig_hunt_point candidate(const struct search *search, const int64_t *values)
{
    struct rig_hunt_point point = search->point;
    for (uint32_t i = 0; i < search->count; i++) {
        if (values[i] == 0)
            point.values[search->dimensions[i]] = -1;
    }
    return point;
}

enum rig_plan_try rig_hunter_try(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length)
{
    struct rig_hunter_shown shown;
    bool is_over;
    const enum rig_rc rc = rig_hunter_run(h, point, length, &shown, &is_over);
    enum rig_plan_try how = rc != RIG_OK || is_over    ? RIG_PLAN_OVER
                            : shown.outcome.is_find    ? RIG_PLAN_SHOWS
                            : !shown.outcome.is_judged ? RIG_PLAN_REFUSED
                                                       : RIG_PLAN_MISSES;
    if (rc == RIG_OK)
        rig_hunter_remove_run(h);
    rig_hunter_shown_done(&shown);
    return how;
}

static enum rig_plan_try search_run(void *context, enum rig_plan_search_phase phase, const int64_t *values)
{
    const struct search *search = context;
    char why[RIG_HUNT_WHY_BYTES];
    const struct rig_hunt_point point = candidate(search, values);
    (void)phase;
    if (!rig_hunter_fits(search->hunter, &point, why))
        return RIG_PLAN_REFUSED;
    return rig_hunter_try(search->hunter, &point, search->length);
}

/* Takes away what the find does not need, and measures how often the rest shows it. */
static void explain(struct rig_hunter *h, struct rig_hunt_find *find)
{
    struct search search = {.hunter = h, .point = find->point, .length = find->length};
    struct rig_plan_search plans = {.shows_wanted = CONFIRMATIONS_WANTED,
                                    .runs_most = SEARCH_RUNS_MOST,
                                    .confirmations = CONFIRMATIONS_MOST,
                                    .run = search_run,
                                    .context = &search};
    struct rig_plan_found found;
    for (uint32_t d = h->space->level_count > 0; d < h->space->dimension_count; d++) {
        if (find->point.values[d] < 0 || search.count == RIG_PLAN_DIMENSIONS_MOST)
            continue;
        plans.dimensions[search.count] = (struct rig_plan_dimension){.value = 1, .least = 0};
        search.dimensions[search.count++] = d;
    }
    plans.dimension_count = search.count;
    if (!rig_plan_search(&plans, &found))
        return;
    find->point = candidate(&search, found.values);
    find->is_explained = found.is_complete;
    if (found.runs > 0) {
        find->of = found.runs;
        find->shown = found.shows;
    }
}

/* The load with which four of five runs show the find, where runs of `length` loads showed it so often. */
static uint32_t length_for(uint32_t length, uint32_t shown, uint32_t of)
{
    const double p = shown == 0 ? 0.5 / of : (double)shown / of;
    if (p >= 0.5)
        return length;
    const double longer = length * ceil(log(0.2) / log(1 - p));
    return longer > RIG_HUNT_LENGTH_MOST ? RIG_HUNT_LENGTH_MOST : (uint32_t)longer;
}

/* Runs with new seeds, the load as long as it was, until enough of them show the find. */
static void confirm(struct rig_hunter *h, struct rig_hunt_find *find)
{
    while (find->of < CONFIRMATIONS_MOST && find->shown < CONFIRMATIONS_WANTED) {
        const enum rig_plan_try how = rig_hunter_try(h, &find->point, find->length);
        if (how == RIG_PLAN_OVER)
            return;
        find->of++;
        find->shown += how == RIG_PLAN_SHOWS;
    }
}

/* -- finds --------------------------------------------------------------------------------------------------------- */

/* The plan that shows the find, with a comment. */
static enum rig_rc save_plan(struct rig_hunter *h, const struct rig_hunt_find *find)
{
    char path[PATH_BYTES + RIG_HUNT_TEXT_BYTES], why[RIG_HUNT_WHY_BYTES];
    struct rig_buf text;
    (void)snprintf(path, sizeof path, "%s/plan.yaml", find->folder);
    rig_buf_init(&text, 0);
    rig_buf_printf(
        &text,
        "# Shows %s at %s (%s), found by `rig hunt`: `rig run` with this plan. Secrets are masked; give them "
        "by --set.\n",
        find->anomaly, find->level, find->type);
    enum rig_rc rc = rig_hunter_write_plan(h, &find->point, find->length, &text, why)
                         ? RIG_OK
                         : rig_fail(h->err, RIG_E_PLAN, "the plan of a find: %s", why);
    if (rc == RIG_OK)
        rc = rig_output_save(&text, path, h->err);
    rig_buf_done(&text);
    return rc;
}

/* `rig bundle` of the run. A run that cannot be bundled is no reason to end the hunt. */
static void bundle(const struct rig_hunter *h, const struct rig_hunt_find *find)
{
    char run[PATH_BYTES], output[PATH_BYTES];
    (void)snprintf(run, sizeof run, "%s/run", find->folder);
    (void)snprintf(output, sizeof output, "%s/bundle.tar.gz", find->folder);
    if (rig_cli_rerun_bundle(&h->rerun, run, output) != RIG_EXIT_OK)
        rig_cli_complain("hunt: %s was not bundled; `rig bundle` there says why", run);
}

static void tell(const struct rig_hunter *h, const struct rig_hunt_find *find)
{
    const struct rig_hunt_facts facts = rig_cli_hunter_facts(h);
    struct rig_buf text;
    if (!h->request->is_text)
        return;
    rig_buf_init(&text, 0);
    rig_hunt_find_text(&facts, find, &text);
    rig_cli_print(&text);
    (void)fflush(stdout);
    rig_buf_done(&text);
}

void rig_hunter_describe(const struct rig_hunter *h, const struct rig_hunt_point *point,
                         const struct rig_hunter_shown *shown, struct rig_hunt_find *find)
{
    const struct rig_hunt_target *target = h->request->target;
    const char *promise = rig_hunt_point_promise(h->space, point);
    *find = (struct rig_hunt_find){.point = *point, .length = rig_hunter_length(h, point)};
    (void)snprintf(find->anomaly, sizeof find->anomaly, "%s", shown->anomaly);
    (void)snprintf(find->level, sizeof find->level, "%s",
                   h->space->level_count > 0 ? h->space->dimensions[0].values.at[point->values[0]] : target->level);
    (void)snprintf(find->type, sizeof find->type, "%s", shown->stored.type);
    (void)snprintf(find->promise, sizeof find->promise, "%.500s", promise != NULL ? promise : target->promise);
    (void)snprintf(find->broken, sizeof find->broken, "%s", shown->stored.broken);
    (void)snprintf(find->happened, sizeof find->happened, "%s", shown->stored.happened);
    (void)snprintf(find->server, sizeof find->server, "%s", shown->stored.server);
}

/* Keeps the run in a folder of the find's own. */
static enum rig_rc keep_run(struct rig_hunter *h, struct rig_hunt_find *find)
{
    char to[PATH_BYTES];
    (void)snprintf(find->folder, sizeof find->folder, "%.400s/%02u-%.60s", h->finds_folder,
                   (unsigned)h->finds.count + 1, find->anomaly);
    (void)snprintf(to, sizeof to, "%s/run", find->folder);
    const enum rig_rc rc = rig_hunter_make_folder(find->folder, h->err);
    if (rc == RIG_OK && rename(h->result.folder, to) != 0)
        return rig_fail(h->err, RIG_E_IO, "%s: cannot move to %s: %s", h->result.folder, to, strerror(errno));
    return rc;
}

/* Runs the find on the server of --against, until it shows there or enough runs say that it does not. */
static void try_against(struct rig_hunter *h, struct rig_hunt_find *find)
{
    if (h->request->against == NULL)
        return;
    (void)snprintf(find->against, sizeof find->against, "%s", h->request->against->name);
    h->other = h->request->against;
    while (find->against_of < AGAINST_MOST && find->against_shown == 0) {
        const enum rig_plan_try how = rig_hunter_try(h, &find->point, find->length);
        if (how == RIG_PLAN_OVER || how == RIG_PLAN_REFUSED)
            break;
        find->against_of++;
        find->against_shown += how == RIG_PLAN_SHOWS;
    }
    h->other = NULL;
}

/* -- known bugs ---------------------------------------------------------------------------------------------------- */

/* Reads the entry, where it is one about such a run. */
static bool is_about(const char *name, const struct rig_reproduction_run *run, struct rig_arena *arena,
                     struct rig_reproduction *entry)
{
    struct rig_err ignored = {0};
    struct rig_buf why_not;
    bool unsure;
    rig_buf_init(&why_not, 0);
    const bool is = rig_reproduction_load(name, arena, entry, &ignored) == RIG_OK &&
                    rig_reproduction_is_about(entry, run, &unsure, &why_not);
    rig_buf_done(&why_not);
    return is;
}

/* Names the known bug whose shape the find's run has. A find without a history that can be judged again has none. */
static void find_known(struct rig_hunt_find *find, const struct rig_hunter_shown *shown)
{
    const struct rig_report_run *facts = &shown->saved.run;
    const struct rig_reproduction_run run = {
        .driver = facts->driver, .isolation = facts->isolation, .server = facts->server};
    const struct rig_source_options from = {.load = {.form = RIG_FORM_RIG}};
    struct rig_stream_options options = {.guess_failed = false};
    struct rig_verdict *verdict = NULL;
    struct rig_text_list names = {0};
    struct rig_err ignored = {0};
    struct rig_arena arena;
    char folder[PATH_BYTES];
    rig_arena_init(&arena, 0);
    (void)snprintf(folder, sizeof folder, "%s/run", find->folder);
    rig_cli_saved_run_options(&shown->saved, &options.check);
    (void)rig_reproduction_names(&arena, &names, &ignored);
    for (size_t i = 0; i < names.count && find->known[0] == '\0'; i++) {
        struct rig_reproduction entry;
        if (!is_about(names.at[i], &run, &arena, &entry))
            continue;
        if (verdict == NULL && rig_cli_check_run(folder, NULL, &from, &options, &verdict, &ignored) != RIG_OK)
            break;
        if (rig_known_anomaly_find(&entry.expect, verdict) != NULL)
            (void)snprintf(find->known, sizeof find->known, "%s", entry.name);
    }
    rig_verdict_free(verdict);
    rig_arena_done(&arena);
}

enum rig_rc rig_hunter_take_find(struct rig_hunter *h, const struct rig_hunt_point *point,
                                 const struct rig_hunter_shown *shown)
{
    struct rig_hunt_find find;
    const int64_t began_ns = rig_clock_now_ns(), until_ns = h->rerun.until_ns;
    rig_hunter_describe(h, point, shown, &find);
    enum rig_rc rc = keep_run(h, &find);
    if (rc != RIG_OK)
        return rc;
    find_known(&find, shown);
    if (began_ns + explain_most_ns < until_ns)
        h->rerun.until_ns = began_ns + explain_most_ns;
    rig_hunter_drop_defaults(h, &find.point);
    confirm(h, &find);
    find.like = rig_hunt_finds_like(&h->finds, h->space, find.level, &find.point);
    if (find.of > 0 && find.like == 0) {
        find.length = length_for(find.length, find.shown, find.of);
        explain(h, &find);
    }
    h->rerun.until_ns = until_ns;
    if (find.of > 0)
        try_against(h, &find);
    if (find.shown > 0)
        rig_hunter_bisect(h, &find);
    if (h->err->rc == RIG_E_INTERRUPTED || h->err->rc == RIG_E_LIMIT)
        *h->err = (struct rig_err){0}; /* the end of the time for this find, or of the hunt */
    h->explaining_ns += rig_clock_now_ns() - began_ns;
    find.sightings = 1;
    const struct rig_hunt_find *added = rig_hunt_finds_add(&h->finds, &find);
    if (added == NULL)
        return rig_fail(h->err, RIG_E_LIMIT, "more than %d finds; mend some first", (int)RIG_HUNT_FINDS_MOST);
    h->new_finds++;
    rc = save_plan(h, added);
    if (rc == RIG_OK)
        rc = rig_hunt_memory_add_find(&h->memory, h->space, added, h->err);
    bundle(h, added);
    rig_hunt_choice_avoid(&h->choice, &added->point);
    tell(h, added);
    return rc;
}
