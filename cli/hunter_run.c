#include "cli/hunter_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "checker/model/level.h"
#include "cli/cli.h"
#include "run/load/run.h"

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

/* The plan's own settings of the servers, and those of the point. */
static bool add_server_settings(struct rig_hunter *h, const struct rig_hunt_point *point, struct rig_arena *arena)
{
    const struct rig_hunt_target *target = h->request->target;
    struct rig_buf list;
    rig_buf_init(&list, 0);
    for (size_t i = 0; i < target->server_settings.count; i++)
        rig_buf_printf(&list, ", %s", target->server_settings.at[i]);
    const size_t own = list.size;
    rig_hunt_point_server_settings(h->space, point, &list);
    bool fits = !list.failed;
    if (fits && list.size > own) { /* a list of its own takes the place of the plan's */
        struct rig_buf value;
        rig_buf_init(&value, 0);
        rig_buf_printf(&value, "[%s]", rig_buf_text(&list) + strlen(", "));
        fits = add_setting(h, arena, "database.cluster.local.settings", rig_buf_text(&value));
        rig_buf_done(&value);
    }
    rig_buf_done(&list);
    return fits;
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
    bool fits = add_server_settings(h, point, arena) && add_setting(h, arena, "workload.duration", number);
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

bool rig_hunter_write_plan(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length,
                           struct rig_buf *out, char why[RIG_HUNT_WHY_BYTES])
{
    struct rig_arena arena;
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    const bool fits =
        make_settings(h, point, length, &arena) &&
        rig_cli_plan_settings_load(h->space->bases[point->base].path, &h->settings, &plan, &err) == RIG_OK &&
        rig_run_check(plan, &err) == RIG_OK;
    if (fits && out != NULL)
        rig_plan_write(plan, false, out);
    (void)snprintf(why, RIG_HUNT_WHY_BYTES, "%.*s", (int)strcspn(err.text, "\n"),
                   fits || err.text[0] != '\0' ? err.text : "too many settings");
    rig_plan_free(plan);
    rig_arena_done(&arena);
    return fits;
}

bool rig_hunter_fits(void *context, const struct rig_hunt_point *point, char why[RIG_HUNT_WHY_BYTES])
{
    return rig_hunter_write_plan(context, point, 1, NULL, why);
}

void rig_hunter_drop_defaults(struct rig_hunter *h, struct rig_hunt_point *point)
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
        if (rig_hunter_write_plan(h, point, 1, &with, why) && rig_hunter_write_plan(h, &less, 1, &without, why)) {
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

void rig_hunter_shown_done(struct rig_hunter_shown *shown)
{
    rig_cli_saved_run_done(&shown->saved);
    rig_arena_done(&shown->arena);
}

static enum rig_rc read_stored(struct rig_hunter *h, struct rig_hunter_shown *shown)
{
    const char *slash = strrchr(h->result.folder, '/');
    const int parent = open(h->runs_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return rig_fail(h->err, RIG_E_IO, "%s: %s", h->runs_folder, strerror(errno));
    const enum rig_rc rc = rig_stored_run_read(parent, "runs", slash + 1, &shown->arena, &shown->stored, h->err);
    (void)close(parent);
    return rc == RIG_OK ? rig_cli_saved_run_load(h->result.folder, &shown->saved, h->err) : rc;
}

static void take_outcome(const struct rig_hunter *h, struct rig_hunter_shown *shown)
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

uint32_t rig_hunter_length(const struct rig_hunter *h, const struct rig_hunt_point *point)
{
    const int64_t run_ns = h->request->run_ns, load_ns = h->space->bases[point->base].load_ns;
    const int64_t length = load_ns <= run_ns ? 1 : (load_ns - 1) / run_ns + 1;
    return length > RIG_HUNT_LENGTH_MOST ? RIG_HUNT_LENGTH_MOST : (uint32_t)length;
}

enum rig_rc rig_hunter_run(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length,
                           struct rig_hunter_shown *shown, bool *is_over)
{
    struct rig_arena arena;
    *shown = (struct rig_hunter_shown){.outcome = {.why = ""}};
    rig_arena_init(&shown->arena, 0);
    rig_arena_init(&arena, 0);
    enum rig_rc rc = make_settings(h, point, length, &arena) ? RIG_OK : rig_no_memory(h->err, "a run of the hunt");
    bool server_ended = false;
    if (rc == RIG_OK)
        rc = rig_hunter_run_plan(h, point, &server_ended);
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
    shown->outcome.is_server_end |= server_ended;
    h->judged += shown->outcome.is_judged;
    h->finding_runs += shown->outcome.is_find;
    h->failed += !shown->outcome.is_judged && !h->result.was_cut;
    *is_over = h->result.was_cut && !shown->outcome.is_find;
    return rc;
}

void rig_hunter_remove_run(const struct rig_hunter *h)
{
    char *path = realpath(h->result.folder, NULL);
    if (path != NULL)
        rig_folder_remove(path);
    free(path);
}

enum rig_rc rig_hunter_make_folder(const char *path, struct rig_err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return RIG_OK;
    return rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", path, strerror(errno));
}
