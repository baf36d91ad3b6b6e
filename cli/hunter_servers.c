/* The servers of a hunt's runs: kept from run to run, where the driver can tell another rig how to reach them. */
#include "cli/hunter_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "run/load/run.h"

enum {
    RUNS_MOST = 100,    /* of the same servers, which then begin anew */
    FAILURES_MOST = 3,  /* runs in a row that fail on kept servers and not on their own */
    CLIENTS_LEAST = 16, /* servers take as many clients as any point has */
};

/* The most clients that a point has, or the plan. */
static int64_t most_clients(const struct rig_hunt_space *space, const struct rig_plan *plan)
{
    static const char key[] = "clients.count";
    int64_t most = plan->clients.count > CLIENTS_LEAST ? plan->clients.count : CLIENTS_LEAST;
    const int d = rig_hunt_space_find(space, key, strlen(key));
    for (size_t v = 0; d >= 0 && v < space->dimensions[d].values.count; v++) {
        const int64_t count = strtol(space->dimensions[d].values.at[v], NULL, 10);
        most = count > most ? count : most;
    }
    return most;
}

/* The plan of the point for the servers alone. */
static enum rig_rc load_plan(struct rig_hunter *h, const struct rig_hunt_point *point, struct rig_plan **plan)
{
    struct rig_plan_settings settings = h->settings;
    struct rig_plan *of_point = NULL;
    char clients[64];
    const char *path = h->space->bases[point->base].path;
    enum rig_rc rc = rig_cli_plan_settings_load(path, &settings, &of_point, h->err);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(clients, sizeof clients, "clients.count=%" PRId64, most_clients(h->space, of_point));
    rig_plan_free(of_point);
    if (settings.count + 2 > RIG_PLAN_SETTINGS_MOST)
        return rig_fail(h->err, RIG_E_LIMIT, "too many settings");
    settings.at[settings.count++] = "nemesis.faults=[]";
    settings.at[settings.count++] = clients;
    return rig_cli_plan_settings_load(path, &settings, plan, h->err);
}

/* Whether the servers that are there are those of the point. */
static bool has_servers(const struct rig_hunter *h, const struct rig_hunt_point *point)
{
    return h->servers != NULL && h->servers_runs < RUNS_MOST &&
           rig_hunt_point_has_servers_of(h->space, point, &h->servers_point);
}

void rig_hunter_end_servers(struct rig_hunter *h)
{
    rig_cli_kept_servers_end(h->servers);
    h->servers = NULL;
}

/* Where they do not start, runs have servers of their own, and say why those do not. */
static enum rig_rc start_servers(struct rig_hunter *h, const struct rig_hunt_point *point)
{
    struct rig_plan *plan = NULL;
    rig_hunter_end_servers(h);
    enum rig_rc rc = load_plan(h, point, &plan);
    if (rc == RIG_OK)
        rc = rig_cli_kept_servers_start(plan, h->request->interrupts, &h->servers, h->err);
    if (rc == RIG_E_INTERRUPTED)
        return rc;
    h->servers_point = *point;
    h->servers_runs = 0;
    if (rc != RIG_OK && !h->request->is_quiet)
        rig_cli_complain("hunt: servers to keep did not start, so the run starts its own: %s", h->err->text);
    if (rc != RIG_OK)
        *h->err = (struct rig_err){0};
    return RIG_OK;
}

/* The settings of a run on servers that are there, in place of those of servers that it starts. */
static void add_other(struct rig_hunter *h, const struct rig_plan_settings *own, const struct rig_text_list *access)
{
    static const char local[] = "database.cluster.local";
    h->settings.count = 0;
    for (uint32_t i = 0; i < own->count; i++) {
        if (strncmp(own->at[i], local, strlen(local)) != 0)
            h->settings.at[h->settings.count++] = own->at[i];
    }
    for (size_t i = 0; i < access->count && h->settings.count < RIG_PLAN_SETTINGS_MOST; i++)
        h->settings.at[h->settings.count++] = access->at[i];
}

/* Gives the run of the point the settings of kept servers. False where it needs its own. */
static bool use_servers(struct rig_hunter *h, const struct rig_hunt_point *point, const struct rig_plan_settings *own)
{
    struct rig_plan *plan = NULL;
    struct rig_err ignored = {0};
    add_other(h, own, rig_cli_kept_servers_access(h->servers));
    const bool fits =
        rig_cli_plan_settings_load(h->space->bases[point->base].path, &h->settings, &plan, &ignored) == RIG_OK &&
        rig_run_check(plan, &ignored) == RIG_OK;
    rig_plan_free(plan);
    return fits;
}

/* Faults of processes are faults of servers that the run has started. */
static bool can_use_servers(struct rig_hunter *h, const struct rig_hunt_point *point)
{
    const struct rig_plan_settings own = h->settings;
    const bool can = h->servers != NULL && use_servers(h, point, &own);
    if (!can)
        h->settings = own;
    return can;
}

static enum rig_rc run_plan(struct rig_hunter *h, const struct rig_hunt_point *point)
{
    h->rerun.plan = h->space->bases[point->base].path;
    return rig_cli_rerun(&h->rerun, h->settings.at, h->settings.count, &h->result, h->err);
}

/* The run failed on kept servers: it is made again on its own. */
static enum rig_rc run_again(struct rig_hunter *h, const struct rig_hunt_point *point,
                             const struct rig_plan_settings *own, bool *server_ended)
{
    *server_ended = !rig_cli_kept_servers_answer(h->servers);
    if (*server_ended)
        rig_hunter_end_servers(h);
    rig_hunter_remove_run(h);
    h->settings = *own;
    const enum rig_rc rc = run_plan(h, point);
    const bool was_theirs = rc == RIG_OK && h->result.is_judged && !*server_ended;
    h->servers_failed = was_theirs ? h->servers_failed + 1 : 0;
    if (h->servers_failed == FAILURES_MOST) {
        h->keeps_servers = false;
        rig_hunter_end_servers(h);
    }
    return rc;
}

/* A run on another server, with the settings of the point. */
static enum rig_rc run_on_other(struct rig_hunter *h, const struct rig_hunt_point *point)
{
    const struct rig_plan_settings own = h->settings;
    if (!h->other->is_version)
        add_other(h, &own, &h->other->settings);
    else if (h->settings.count < RIG_PLAN_SETTINGS_MOST)
        h->settings.at[h->settings.count++] = h->other->settings.at[0];
    return run_plan(h, point);
}

enum rig_rc rig_hunter_run_plan(struct rig_hunter *h, const struct rig_hunt_point *point, bool *server_ended)
{
    const struct rig_plan_settings own = h->settings;
    enum rig_rc rc = RIG_OK;
    *server_ended = false;
    h->is_kept = false;
    if (h->other != NULL)
        return run_on_other(h, point);
    if (h->keeps_servers && !has_servers(h, point))
        rc = start_servers(h, point);
    if (rc != RIG_OK || !h->keeps_servers || !can_use_servers(h, point))
        return rc == RIG_OK ? run_plan(h, point) : rc;
    h->servers_runs++;
    rc = run_plan(h, point);
    if (rc == RIG_OK && !h->result.is_judged && !h->result.was_cut)
        return run_again(h, point, &own, server_ended);
    h->servers_failed = 0;
    h->is_kept = true;
    h->kept_runs++;
    return rc;
}
