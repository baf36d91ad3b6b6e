#include "cli/hunter.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "checker/model/level.h"
#include "cli/cli.h"
#include "cli/rerun.h"
#include "cli/saved_run.h"
#include "jobs/hunt/hunt_memory.h"
#include "jobs/shrink/plan_search.h"
#include "jobs/store/stored_run.h"

enum {
    PATH_BYTES = RIG_HUNT_PATH_BYTES,
    MISFITS_MOST = 300,       /* points in a row that are no plan */
    FAILURES_MOST = 20,       /* runs in a row without a verdict, when no run had one */
    CONFIRMATIONS_MOST = 5,   /* runs with new seeds right after a find */
    CONFIRMATIONS_WANTED = 3, /* that show it again */
    LENGTH_MOST = 10,         /* times the load of a run */
    SEARCH_RUNS_MOST = 15,    /* of a smaller point */
    OLD_TRIES = 3,            /* runs of an old find on another version */
};

static const int64_t explain_most_ns = INT64_C(300000000000);
static const int64_t tell_every_ns = INT64_C(30000000000);

struct rig_hunter {
    const struct rig_hunt_request *request;
    const struct rig_hunt_space *space;
    struct rig_hunt_choice choice;
    struct rig_hunt_finds finds;
    struct rig_hunt_memory memory;
    struct rig_rerun rerun;
    struct rig_rerun_result result;
    char folder[PATH_BYTES], runs_folder[PATH_BYTES], finds_folder[PATH_BYTES];
    char server[RIG_HUNT_TEXT_BYTES];
    struct rig_plan_settings settings;
    uint64_t runs, judged, finding_runs, failed;
    uint32_t new_finds;
    int64_t began_ns, until_ns, explaining_ns, told_ns;
    bool looked_at_old;
    struct rig_err *err;
};

/* -- settings ------------------------------------------------------------------------------------------------------ */

static bool add_setting(struct rig_hunter *h, struct rig_arena *arena, const char *key, const char *value)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s=%s", key, value);
    const char *kept = rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    if (kept == NULL || h->settings.count == RIG_PLAN_SETTINGS_MOST)
        return false;
    h->settings.at[h->settings.count++] = kept;
    return true;
}

/* The settings of a run of the point, its load `length` times as long as that of others; new texts are in the arena. */
static bool make_settings(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length,
                          struct rig_arena *arena)
{
    struct rig_hunt_settings of_point = {.count = 0};
    const struct rig_hunt_target *target = h->request->target;
    const char *promise = rig_hunt_point_promise(h->space, point);
    char number[32];
    h->settings.count = 0;
    if (!rig_hunt_point_settings(h->space, point, &of_point))
        return false;
    for (uint32_t i = 0; i < of_point.count; i++)
        h->settings.at[h->settings.count++] = of_point.at[i];
    (void)snprintf(number, sizeof number, "%" PRId64 "us", h->request->run_ns / 1000 * length);
    bool fits = add_setting(h, arena, "workload.duration", number);
    (void)snprintf(number, sizeof number, "%" PRId64, target->transactions * length);
    if (fits && target->transactions > 0)
        fits = add_setting(h, arena, "workload.transactions", number);
    if (fits && promise != NULL)
        fits = add_setting(h, arena, "check.levels", promise);
    for (uint32_t i = 0; fits && i < target->last.count; i++) {
        fits = h->settings.count < RIG_PLAN_SETTINGS_MOST;
        if (fits)
            h->settings.at[h->settings.count++] = target->last.at[i];
    }
    return fits;
}

/* The plan of the point, as rig would write it; false with the refusal. */
static bool write_plan(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length, struct rig_buf *out,
                       char why[RIG_HUNT_WHY_BYTES])
{
    struct rig_arena arena;
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    const bool fits =
        make_settings(h, point, length, &arena) &&
        rig_cli_plan_settings_load(h->space->bases[point->base].path, &h->settings, &plan, &err) == RIG_OK;
    if (fits && out != NULL)
        rig_plan_write(plan, false, out);
    (void)snprintf(why, RIG_HUNT_WHY_BYTES, "%.*s", (int)strcspn(err.text, "\n"),
                   fits || err.text[0] != '\0' ? err.text : "too many settings");
    rig_plan_free(plan);
    rig_arena_done(&arena);
    return fits;
}

static bool fits(void *context, const struct rig_hunt_point *point, char why[RIG_HUNT_WHY_BYTES])
{
    return write_plan(context, point, 1, NULL, why);
}

static void dropped(void *context, uint32_t dimension, uint32_t value, const char *why)
{
    struct rig_hunter *h = context;
    rig_hunt_choice_refused(&h->choice, dimension, value, why);
}

/* Takes values away that make the same plan as the base's own. */
static void drop_defaults(struct rig_hunter *h, struct rig_hunt_point *point)
{
    char why[RIG_HUNT_WHY_BYTES];
    struct rig_buf with, without;
    rig_buf_init(&with, 0);
    rig_buf_init(&without, 0);
    for (uint32_t d = h->space->level_count > 0; d < h->space->dimension_count; d++) {
        struct rig_hunt_point less = *point;
        if (point->values[d] < 0)
            continue;
        less.values[d] = -1;
        rig_buf_clear(&with);
        rig_buf_clear(&without);
        if (write_plan(h, point, 1, &with, why) && write_plan(h, &less, 1, &without, why)) {
            /* A seed is drawn for each. */
            const char *a = strstr(rig_buf_text(&with), "\nworkload:"),
                       *b = strstr(rig_buf_text(&without), "\nworkload:");
            if (a != NULL && b != NULL && strcmp(a, b) == 0)
                *point = less;
        }
    }
    rig_buf_done(&with);
    rig_buf_done(&without);
}

/* -- one run ------------------------------------------------------------------------------------------------------- */

/* A run and what it showed; its texts are in the arena, or in `saved`. */
struct shown {
    struct rig_arena arena;
    struct rig_stored_run stored;
    struct rig_cli_saved_run saved;
    struct rig_hunt_outcome outcome;
    char anomaly[RIG_HUNT_NAME_BYTES];
};

static void shown_done(struct shown *shown)
{
    rig_cli_saved_run_done(&shown->saved);
    rig_arena_done(&shown->arena);
}

static enum rig_rc read_stored(struct rig_hunter *h, struct shown *shown)
{
    const char *slash = strrchr(h->result.folder, '/');
    const int parent = open(h->runs_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return rig_fail(h->err, RIG_E_IO, "%s: %s", h->runs_folder, strerror(errno));
    const enum rig_rc rc = rig_stored_run_read(parent, "runs", slash + 1, &shown->arena, &shown->stored, h->err);
    (void)close(parent);
    return rc == RIG_OK ? rig_cli_saved_run_load(h->result.folder, &shown->saved, h->err) : rc;
}

static void take_outcome(const struct rig_hunter *h, struct shown *shown)
{
    const struct rig_stored_run *stored = &shown->stored;
    struct rig_hunt_outcome *outcome = &shown->outcome;
    struct rig_known_anomaly shape;
    enum rig_anomaly anomaly;
    outcome->is_find = h->result.status == RIG_EXIT_ANOMALY;
    outcome->refuted = stored->refuted;
    outcome->acknowledged = stored->acknowledged;
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++)
        outcome->found |= stored->found[one] > 0 ? RIG_ANOMALY_BIT(one) : 0;
    for (uint32_t i = 0; i < shown->saved.run.error_count && outcome->code_count < RIG_HUNT_CODES_MOST; i++)
        outcome->codes[outcome->code_count++] = shown->saved.run.errors[i].code;
    const struct rig_stored_latency *latency = rig_stored_run_latency(stored);
    outcome->measures[0] = rig_stored_run_rate(stored);
    outcome->measures[1] = latency == NULL ? 0 : (double)latency->p50_ns / 1e6;
    outcome->measures[2] = latency == NULL ? 0 : (double)latency->p99_ns / 1e6;
    outcome->is_server_end = shown->saved.effort.crash_count > 0;
    (void)snprintf(shown->anomaly, sizeof shown->anomaly, "%s",
                   rig_cli_saved_run_shape(&shown->saved, RIG_ANOMALY_COUNT, &anomaly, &shape)
                       ? rig_anomaly_info(anomaly)->name
                       : "condition");
}

/* Runs the point and reads its results. `is_over`: it was ended with the hunt, so that its result counts for nothing,
 * unless it is a find. */
static enum rig_rc run_point(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length,
                             struct shown *shown, bool *is_over)
{
    struct rig_arena arena;
    *shown = (struct shown){.outcome = {.why = ""}};
    rig_arena_init(&shown->arena, 0);
    rig_arena_init(&arena, 0);
    enum rig_rc rc = make_settings(h, point, length, &arena) ? RIG_OK : rig_no_memory(h->err, "a run of the hunt");
    h->rerun.plan = h->space->bases[point->base].path;
    if (rc == RIG_OK)
        rc = rig_cli_rerun(&h->rerun, h->settings.at, h->settings.count, &h->result, h->err);
    rig_arena_done(&arena);
    *is_over = rc == RIG_E_INTERRUPTED || rc == RIG_E_LIMIT;
    if (rc != RIG_OK)
        return rc;
    h->runs++;
    shown->outcome.is_judged = h->result.is_judged && h->result.status != RIG_EXIT_FAILED;
    shown->outcome.took_s = h->result.took_s;
    shown->outcome.why = h->result.why;
    if (h->result.is_judged)
        rc = read_stored(h, shown);
    if (rc == RIG_OK && h->result.is_judged)
        take_outcome(h, shown);
    h->judged += shown->outcome.is_judged;
    h->finding_runs += shown->outcome.is_find;
    h->failed += !shown->outcome.is_judged && !h->result.was_cut;
    *is_over = h->result.was_cut && !shown->outcome.is_find;
    return rc;
}

static void remove_run(const struct rig_hunter *h)
{
    char *path = realpath(h->result.folder, NULL);
    if (path != NULL)
        rig_folder_remove(path);
    free(path);
}

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

static enum rig_plan_try try_point(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length)
{
    struct shown shown;
    bool is_over;
    const enum rig_rc rc = run_point(h, point, length, &shown, &is_over);
    enum rig_plan_try how = rc != RIG_OK || is_over    ? RIG_PLAN_OVER
                            : shown.outcome.is_find    ? RIG_PLAN_SHOWS
                            : !shown.outcome.is_judged ? RIG_PLAN_REFUSED
                                                       : RIG_PLAN_MISSES;
    if (rc == RIG_OK)
        remove_run(h);
    shown_done(&shown);
    return how;
}

static enum rig_plan_try search_run(void *context, enum rig_plan_search_phase phase, const int64_t *values)
{
    const struct search *search = context;
    char why[RIG_HUNT_WHY_BYTES];
    const struct rig_hunt_point point = candidate(search, values);
    (void)phase;
    if (!fits(search->hunter, &point, why))
        return RIG_PLAN_REFUSED;
    return try_point(search->hunter, &point, search->length);
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

/* The times by which the load must grow for four of five runs to show the find. */
static uint32_t length_for(uint32_t shown, uint32_t of)
{
    const double p = shown == 0 ? 0.5 / of : (double)shown / of;
    if (p >= 0.5)
        return 1;
    const double length = ceil(log(0.2) / log(1 - p));
    return length > LENGTH_MOST ? LENGTH_MOST : (uint32_t)length;
}

/* Runs with new seeds, the load as long as it was, until enough of them show the find. */
static void confirm(struct rig_hunter *h, struct rig_hunt_find *find)
{
    while (find->of < CONFIRMATIONS_MOST && find->shown < CONFIRMATIONS_WANTED) {
        const enum rig_plan_try how = try_point(h, &find->point, 1);
        if (how == RIG_PLAN_OVER)
            return;
        find->of++;
        find->shown += how == RIG_PLAN_SHOWS;
    }
}

/* -- finds --------------------------------------------------------------------------------------------------------- */

static enum rig_rc make_folder(const char *path, struct rig_err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return RIG_OK;
    return rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", path, strerror(errno));
}

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
    enum rig_rc rc = write_plan(h, &find->point, find->length, &text, why)
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

static void describe(const struct rig_hunter *h, const struct rig_hunt_point *point, const struct shown *shown,
                     struct rig_hunt_find *find)
{
    const struct rig_hunt_target *target = h->request->target;
    const char *promise = rig_hunt_point_promise(h->space, point);
    *find = (struct rig_hunt_find){.point = *point, .length = 1};
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
    const enum rig_rc rc = make_folder(find->folder, h->err);
    if (rc == RIG_OK && rename(h->result.folder, to) != 0)
        return rig_fail(h->err, RIG_E_IO, "%s: cannot move to %s: %s", h->result.folder, to, strerror(errno));
    return rc;
}

static enum rig_rc take_new(struct rig_hunter *h, const struct rig_hunt_point *point, const struct shown *shown)
{
    struct rig_hunt_find find;
    const int64_t began_ns = rig_clock_now_ns(), until_ns = h->rerun.until_ns;
    describe(h, point, shown, &find);
    enum rig_rc rc = keep_run(h, &find);
    if (rc != RIG_OK)
        return rc;
    if (began_ns + explain_most_ns < until_ns)
        h->rerun.until_ns = began_ns + explain_most_ns;
    drop_defaults(h, &find.point);
    confirm(h, &find);
    find.like = rig_hunt_finds_like(&h->finds, h->space, find.level, &find.point);
    if (find.of > 0 && find.like == 0) {
        find.length = length_for(find.shown, find.of);
        explain(h, &find);
    }
    h->rerun.until_ns = until_ns;
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

/* The first run of this hunt tells the version of the server: finds on another one come first, those on this one are
 * taboo. */
static enum rig_rc look_at_old(struct rig_hunter *h)
{
    h->looked_at_old = true;
    for (uint32_t i = 0; i < h->finds.count; i++) {
        const struct rig_hunt_find *find = &h->finds.at[i];
        if (strcmp(find->server, h->server) == 0) {
            rig_hunt_choice_avoid(&h->choice, &find->point);
            continue;
        }
        for (unsigned tries = 0; tries < OLD_TRIES; tries++) {
            if (!rig_hunt_choice_try_first(&h->choice, &find->point))
                return rig_no_memory(h->err, "the hunt");
        }
    }
    return RIG_OK;
}

/* -- the hunt ------------------------------------------------------------------------------------------------------ */

/* The point with the type of data that its base has, so that it counts as run. */
static struct rig_hunt_point with_type(const struct rig_hunter *h, const struct rig_hunt_point *point, const char *type)
{
    struct rig_hunt_point whole = *point;
    const int d = rig_hunt_space_find(h->space, rig_hunt_type_key, strlen(rig_hunt_type_key));
    if (d >= 0 && whole.values[d] < 0 && type != NULL)
        whole.values[d] = (int8_t)rig_hunt_dimension_find(&h->space->dimensions[d], type);
    return whole;
}

/* A find that is known; one of another version is now one of this version, too. */
static enum rig_rc see_again(struct rig_hunter *h, struct rig_hunt_find *known)
{
    known->sightings++;
    if (strcmp(known->server, h->server) == 0)
        return RIG_OK;
    (void)snprintf(known->server, sizeof known->server, "%s", h->server);
    return rig_hunt_memory_add_find(&h->memory, h->space, known, h->err);
}

/* After a run of the choice. */
static enum rig_rc take_run(struct rig_hunter *h, const struct rig_hunt_point *as_chosen, enum rig_hunt_reason reason,
                            const struct shown *shown)
{
    const struct rig_hunt_point whole = with_type(h, as_chosen, shown->stored.type), *point = &whole;
    const struct rig_hunt_run_facts facts = {.seed = h->result.seed,
                                             .server = shown->outcome.is_judged ? shown->stored.server : "",
                                             .reason = rig_hunt_reason_words[reason],
                                             .status = h->result.status};
    enum rig_rc rc = rig_hunt_memory_add_run(&h->memory, h->space, point, &shown->outcome, &facts, h->err);
    if (rc == RIG_OK && !rig_hunt_choice_told(&h->choice, point, &shown->outcome))
        rc = rig_no_memory(h->err, "the hunt");
    if (shown->outcome.is_judged)
        (void)snprintf(h->server, sizeof h->server, "%s", shown->stored.server);
    struct rig_hunt_find now, *known = NULL;
    if (rc == RIG_OK && shown->outcome.is_find) {
        describe(h, point, shown, &now);
        known = rig_hunt_finds_get(&h->finds, now.anomaly, now.level, now.type);
    }
    if (known != NULL)
        rc = see_again(h, known);
    if (rc == RIG_OK && shown->outcome.is_find && known == NULL)
        rc = take_new(h, point, shown);
    else
        remove_run(h);
    if (rc == RIG_OK && shown->outcome.is_judged && !h->looked_at_old)
        rc = look_at_old(h);
    return rc;
}

/* A point that is a plan. False where no point is one. */
static bool choose(struct rig_hunter *h, struct rig_hunt_point *point, enum rig_hunt_reason *reason,
                   char why[RIG_HUNT_WHY_BYTES])
{
    for (unsigned misfits = 0; misfits < MISFITS_MOST; misfits++) {
        rig_hunt_choice_next(&h->choice, point, reason);
        if (rig_hunt_point_repair(h->space, point, fits, dropped, h, why))
            return true;
        if (*reason == RIG_HUNT_RECIPE)
            rig_hunt_choice_lose_base(&h->choice, point->base, point->base > 0 ? why : "");
        if (h->space->level_count > 0 && point->base == 0)
            rig_hunt_choice_refused(&h->choice, 0, (uint32_t)point->values[0], why);
    }
    return false;
}

static void tell_progress(struct rig_hunter *h)
{
    const int64_t now_ns = rig_clock_now_ns();
    if (h->request->is_quiet || now_ns < h->told_ns + tell_every_ns)
        return;
    h->told_ns = now_ns;
    const struct rig_hunt_coverage coverage = rig_hunt_choice_coverage(&h->choice);
    (void)fprintf(stderr, "hunt: %" PRIu64 " run%s, %u new find%s, %u of %u values\n", h->runs, rig_plural(h->runs),
                  (unsigned)h->new_finds, rig_plural(h->new_finds), (unsigned)coverage.values_run,
                  (unsigned)coverage.values);
}

static bool is_enough(const struct rig_hunter *h)
{
    return (h->request->finds_most > 0 && h->new_finds >= h->request->finds_most) ||
           (h->request->runs_most > 0 && h->runs >= h->request->runs_most) || rig_clock_now_ns() > h->until_ns ||
           atomic_load(h->request->interrupts) > 0;
}

static enum rig_rc hunt_once(struct rig_hunter *h)
{
    struct rig_hunt_point point;
    enum rig_hunt_reason reason;
    struct shown shown;
    bool is_over;
    char why[RIG_HUNT_WHY_BYTES] = "";
    if (!choose(h, &point, &reason, why))
        return rig_fail(h->err, RIG_E_CLUSTER, "no point of the hunt is a plan: %s", why);
    enum rig_rc rc = run_point(h, &point, 1, &shown, &is_over);
    if (rc == RIG_OK && is_over)
        remove_run(h);
    else if (rc == RIG_OK)
        rc = take_run(h, &point, reason, &shown);
    shown_done(&shown);
    if (rc == RIG_OK && h->judged == 0 && h->failed >= FAILURES_MOST)
        rc = rig_fail(h->err, RIG_E_CLUSTER, "%d runs failed, none had a verdict: %s", (int)FAILURES_MOST,
                      h->result.why[0] != '\0' ? h->result.why : "rig run says why");
    return rc;
}

enum rig_rc rig_cli_hunter_hunt(struct rig_hunter *h, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    h->err = err;
    while (rc == RIG_OK && !is_enough(h)) {
        rc = hunt_once(h);
        tell_progress(h);
    }
    if (rc == RIG_E_INTERRUPTED || (rc == RIG_E_LIMIT && rig_clock_now_ns() > h->until_ns)) {
        *err = (struct rig_err){0};
        rc = RIG_OK;
    }
    rig_folder_remove(h->runs_folder);
    return rc;
}

/* -- beginning and end --------------------------------------------------------------------------------------------- */

/* Letters and digits of the target's name; other characters are a dash each. */
static void write_slug(const char *name, struct rig_buf *out)
{
    for (; *name != '\0'; name++)
        rig_buf_add_char(out, isalnum((unsigned char)*name) || *name == '.' ? *name : '-');
}

static enum rig_rc make_folders(struct rig_hunter *h)
{
    const struct rig_hunt_request *request = h->request;
    struct rig_buf path;
    const char *store = request->store != NULL ? request->store : request->target->store;
    rig_buf_init(&path, PATH_BYTES / 4);
    enum rig_rc rc = make_folder(store, h->err);
    char *whole = rc == RIG_OK ? realpath(store, NULL) : NULL;
    if (rc == RIG_OK && whole == NULL)
        rc = rig_fail(h->err, RIG_E_IO, "%s: %s", store, strerror(errno));
    rig_buf_printf(&path, "%s/hunt-", whole == NULL ? "" : whole);
    write_slug(request->target->name, &path);
    free(whole);
    if (path.failed)
        rc = rig_fail(h->err, RIG_E_USAGE, "the path of the store is too long; give a shorter --store");
    (void)snprintf(h->folder, sizeof h->folder, "%s", rig_buf_text(&path));
    (void)snprintf(h->runs_folder, sizeof h->runs_folder, "%s/runs", rig_buf_text(&path));
    (void)snprintf(h->finds_folder, sizeof h->finds_folder, "%s/finds", rig_buf_text(&path));
    rig_buf_done(&path);
    if (rc == RIG_OK)
        rc = make_folder(h->folder, h->err);
    return rc == RIG_OK ? make_folder(h->finds_folder, h->err) : rc;
}

static enum rig_rc begin(struct rig_hunter *h)
{
    char path[PATH_BYTES + 32];
    enum rig_rc rc = make_folders(h);
    if (rc == RIG_OK)
        rc = rig_hunt_choice_init(&h->choice, h->space, h->request->seed, h->err);
    (void)snprintf(path, sizeof path, "%s/memory.jsonl", h->folder);
    if (rc == RIG_OK)
        rc = rig_hunt_memory_open(path, h->request->target->name, &h->choice, &h->finds, &h->memory, h->err);
    if (rc != RIG_OK)
        return rc;
    rig_folder_remove(h->runs_folder); /* of a hunt that was killed */
    h->rerun = (struct rig_rerun){.anomaly = RIG_ANOMALY_COUNT,
                                  .folder = h->runs_folder,
                                  .interrupts = h->request->interrupts,
                                  .seed = h->request->seed + h->memory.runs};
    h->began_ns = rig_clock_now_ns();
    h->told_ns = h->began_ns;
    h->until_ns = h->began_ns + h->request->time_ns;
    h->rerun.until_ns = h->until_ns;
    return make_folder(h->runs_folder, h->err);
}

enum rig_rc rig_cli_hunter_new(const struct rig_hunt_request *request, struct rig_hunter **hunter, struct rig_err *err)
{
    struct rig_hunter *h = calloc(1, sizeof *h);
    if (h == NULL)
        return rig_no_memory(err, "the hunt");
    h->request = request;
    h->space = &request->target->space;
    h->memory.file = -1;
    h->err = err;
    const enum rig_rc rc = begin(h);
    if (rc == RIG_OK)
        *hunter = h;
    else
        rig_cli_hunter_free(h);
    return rc;
}

void rig_cli_hunter_free(struct rig_hunter *h)
{
    if (h == NULL)
        return;
    rig_cli_rerun_done(&h->rerun);
    rig_hunt_memory_close(&h->memory);
    rig_hunt_choice_done(&h->choice);
    free(h);
}

struct rig_hunt_facts rig_cli_hunter_facts(const struct rig_hunter *h)
{
    return (struct rig_hunt_facts){.space = h->space,
                                   .choice = &h->choice,
                                   .finds = &h->finds,
                                   .target = h->request->target->name,
                                   .server = h->server,
                                   .folder = h->folder,
                                   .seed = h->request->seed,
                                   .runs = h->runs,
                                   .finding_runs = h->finding_runs,
                                   .failed = h->failed,
                                   .took_s = (double)(rig_clock_now_ns() - h->began_ns) / (double)RIG_NS_PER_S,
                                   .explaining_s = (double)h->explaining_ns / (double)RIG_NS_PER_S,
                                   .interrupted = atomic_load(h->request->interrupts) > 0,
                                   .columns = rig_terminal_text_columns(stdout)};
}

uint64_t rig_cli_hunter_judged(const struct rig_hunter *h)
{
    return h->judged;
}
