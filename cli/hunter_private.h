/*
 * A hunt under way: private to hunter.c, which chooses points, hunter_run.c, which runs one, hunter_servers.c, which
 * has its servers, hunter_find.c, which confirms, explains and keeps what breaks a promise, and hunter_bisect.c, which
 * looks for the first server that shows it.
 */
#ifndef RIG_CLI_HUNTER_PRIVATE_H
#define RIG_CLI_HUNTER_PRIVATE_H

#include "cli/hunter.h"
#include "cli/kept_servers.h"
#include "cli/rerun.h"
#include "cli/saved_run.h"
#include "jobs/hunt/hunt_memory.h"
#include "jobs/shrink/plan_search.h"
#include "jobs/store/stored_run.h"

enum { RIG_HUNT_LENGTH_MOST = 10 }; /* times the load of a run */

struct rig_hunter {
    const struct rig_hunt_request *request;
    const struct rig_hunt_space *space;
    struct rig_hunt_choice choice;
    struct rig_hunt_finds finds;
    struct rig_hunt_memory memory;
    struct rig_rerun rerun;
    struct rig_rerun_result result;
    char folder[RIG_HUNT_PATH_BYTES], runs_folder[RIG_HUNT_PATH_BYTES], finds_folder[RIG_HUNT_PATH_BYTES];
    char server[RIG_HUNT_TEXT_BYTES];
    struct rig_plan_settings settings;
    uint64_t runs, kept_runs, judged, finding_runs, failed;
    uint32_t new_finds;
    int64_t began_ns, until_ns, explaining_ns, told_ns;
    bool looked_at_old;
    bool keeps_servers;                    /* rig starts servers, and another rig can use them */
    struct rig_cli_kept_servers *servers;  /* NULL: none are up */
    struct rig_hunt_point servers_point;   /* they have its settings */
    const struct rig_hunt_other *other;    /* runs are on this server; NULL: on the target */
    bool is_kept;                          /* the last run was on them */
    uint32_t servers_runs, servers_failed; /* runs on them; in a row that failed on them alone */
    struct rig_err *err;
};

/* A run and what it showed; its texts are in the arena, or in `saved`. */
struct rig_hunter_shown {
    struct rig_arena arena;
    struct rig_stored_run stored;
    struct rig_cli_saved_run saved;
    struct rig_hunt_outcome outcome;
    char anomaly[RIG_HUNT_NAME_BYTES];
};

void rig_hunter_shown_done(struct rig_hunter_shown *shown);

/* Whether the point is a plan that can run; else the refusal. `context`: the hunter. */
bool rig_hunter_fits(void *context, const struct rig_hunt_point *point, char why[RIG_HUNT_WHY_BYTES]);
/* The plan of the point, as rig would write it, its load `length` times as long; false with the refusal. */
bool rig_hunter_write_plan(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length,
                           struct rig_buf *out, char why[RIG_HUNT_WHY_BYTES]);
/* Takes values away that make the same plan as the base's own. */
void rig_hunter_drop_defaults(struct rig_hunter *h, struct rig_hunt_point *point);
/* How long the load of the point is, in loads of other runs: that of a known bug runs as long as its plan takes to show
 * it, at most RIG_HUNT_LENGTH_MOST. */
uint32_t rig_hunter_length(const struct rig_hunter *h, const struct rig_hunt_point *point);
/* Runs the point and reads its results. `is_over`: it was ended with the hunt, so that its result counts for nothing,
 * unless it is a find. */
enum rig_rc rig_hunter_run(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length,
                           struct rig_hunter_shown *shown, bool *is_over);
/* Runs the plan with the settings of the hunter, on kept servers where that is the same. `server_ended`: a kept one did
 * by itself. */
enum rig_rc rig_hunter_run_plan(struct rig_hunter *h, const struct rig_hunt_point *point, bool *server_ended);
void rig_hunter_end_servers(struct rig_hunter *h);
/* Removes the folder of the last run. */
void rig_hunter_remove_run(const struct rig_hunter *h);
enum rig_rc rig_hunter_make_folder(const char *path, struct rig_err *err);

/* One run of a find, whose folder goes. */
enum rig_plan_try rig_hunter_try(struct rig_hunter *h, const struct rig_hunt_point *point, uint32_t length);
/* Looks for the first of the servers of --bisect that shows the find. */
void rig_hunter_bisect(struct rig_hunter *h, struct rig_hunt_find *find);

/* Fills in the find that the run shows, without its rate. */
void rig_hunter_describe(const struct rig_hunter *h, const struct rig_hunt_point *point,
                         const struct rig_hunter_shown *shown, struct rig_hunt_find *find);
/* A find that is not known: confirms, explains, keeps, bundles and tells it. */
enum rig_rc rig_hunter_take_find(struct rig_hunter *h, const struct rig_hunt_point *point,
                                 const struct rig_hunter_shown *shown);

#endif
