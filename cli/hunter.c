#include "cli/hunter_private.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/plural.h"
#include "cli/cli.h"

enum {
    PATH_BYTES = RIG_HUNT_PATH_BYTES,
    MISFITS_MOST = 300, /* points in a row that are no plan */
    FAILURES_MOST = 20, /* runs in a row without a verdict, when no run had one */
    OLD_TRIES = 3,      /* runs of an old find on another version */
};

static const int64_t tell_every_ns = INT64_C(30000000000);

static void dropped(void *context, uint32_t dimension, uint32_t value, const char *why)
{
    struct rig_hunter *h = context;
    rig_hunt_choice_refused(&h->choice, dimension, value, why);
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
                            const struct rig_hunter_shown *shown)
{
    const struct rig_hunt_point whole = with_type(h, as_chosen, shown->stored.type), *point = &whole;
    const struct rig_hunt_run_facts facts = {.seed = h->result.seed,
                                             .server = shown->outcome.is_judged ? shown->stored.server : "",
                                             .reason = rig_hunt_reason_words[reason],
                                             .status = h->result.status,
                                             .is_kept = h->is_kept};
    enum rig_rc rc = rig_hunt_memory_add_run(&h->memory, h->space, point, &shown->outcome, &facts, h->err);
    if (rc == RIG_OK && !rig_hunt_choice_told(&h->choice, point, &shown->outcome))
        rc = rig_no_memory(h->err, "the hunt");
    if (shown->outcome.is_judged)
        (void)snprintf(h->server, sizeof h->server, "%s", shown->stored.server);
    struct rig_hunt_find now, *known = NULL;
    if (rc == RIG_OK && shown->outcome.is_find) {
        rig_hunter_describe(h, point, shown, &now);
        known = rig_hunt_finds_get(&h->finds, now.anomaly, now.level, now.type);
    }
    if (known != NULL)
        rc = see_again(h, known);
    if (rc == RIG_OK && shown->outcome.is_find && known == NULL)
        rc = rig_hunter_take_find(h, point, shown);
    else
        rig_hunter_remove_run(h);
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
        if (rig_hunt_point_repair(h->space, point, rig_hunter_fits, dropped, h, why))
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
    struct rig_hunter_shown shown;
    bool is_over;
    char why[RIG_HUNT_WHY_BYTES] = "";
    if (!choose(h, &point, &reason, why))
        return rig_fail(h->err, RIG_E_CLUSTER, "no point of the hunt is a plan: %s", why);
    enum rig_rc rc = rig_hunter_run(h, &point, rig_hunter_length(h, &point), &shown, &is_over);
    if (rc == RIG_OK && is_over)
        rig_hunter_remove_run(h);
    else if (rc == RIG_OK)
        rc = take_run(h, &point, reason, &shown);
    rig_hunter_shown_done(&shown);
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
    rig_hunter_end_servers(h);
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
    enum rig_rc rc = rig_hunter_make_folder(store, h->err);
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
        rc = rig_hunter_make_folder(h->folder, h->err);
    return rc == RIG_OK ? rig_hunter_make_folder(h->finds_folder, h->err) : rc;
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
    return rig_hunter_make_folder(h->runs_folder, h->err);
}

enum rig_rc rig_cli_hunter_new(const struct rig_hunt_request *request, struct rig_hunter **hunter, struct rig_err *err)
{
    struct rig_hunter *h = calloc(1, sizeof *h);
    if (h == NULL)
        return rig_no_memory(err, "the hunt");
    h->request = request;
    h->space = &request->target->space;
    h->keeps_servers = request->target->keeps_servers;
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
    rig_hunter_end_servers(h);
    rig_cli_rerun_done(&h->rerun);
    rig_hunt_memory_close(&h->memory);
    rig_hunt_choice_done(&h->choice);
    free(h);
}

struct rig_hunt_facts rig_cli_hunter_facts(const struct rig_hunter *h)
{
    double load = 0;
    (void)getloadavg(&load, 1);
    return (struct rig_hunt_facts){.space = h->space,
                                   .choice = &h->choice,
                                   .finds = &h->finds,
                                   .target = h->request->target->name,
                                   .server = h->server,
                                   .folder = h->folder,
                                   .seed = h->request->seed,
                                   .runs = h->runs,
                                   .kept_runs = h->kept_runs,
                                   .finding_runs = h->finding_runs,
                                   .failed = h->failed,
                                   .took_s = (double)(rig_clock_now_ns() - h->began_ns) / (double)RIG_NS_PER_S,
                                   .explaining_s = (double)h->explaining_ns / (double)RIG_NS_PER_S,
                                   .load = load,
                                   .interrupted = atomic_load(h->request->interrupts) > 0,
                                   .columns = rig_terminal_text_columns(stdout)};
}

uint64_t rig_cli_hunter_judged(const struct rig_hunter *h)
{
    return h->judged;
}
