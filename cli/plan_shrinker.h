/*
 * The smallest plan that still shows an anomaly, by runs of it (jobs/shrink/plan_search.h): what `rig shrink --plan`
 * does, and `rig reproduce` where only the plan brings an anomaly back.
 *
 * Every run is kept. Threads: one caller.
 */
#ifndef RIG_CLI_PLAN_SHRINKER_H
#define RIG_CLI_PLAN_SHRINKER_H

#include <stdatomic.h>

#include "base/json_write.h"
#include "checker/judge/known_anomaly.h"
#include "checker/model/anomaly.h"
#include "cli/earlier_runs.h"
#include "cli/plan_dimensions.h"
#include "run/plan/plan.h"
#include "jobs/shrink/plan_search.h"

enum { RIG_PLAN_SHRINKER_RUNS = 60 }; /* of a candidate, at most, when not given */

/* Borrowed, with all that it refers to. */
struct rig_plan_shrinking {
    const char *path;                      /* of the plan */
    const struct rig_plan *plan;           /* the same, with `given` */
    const struct rig_plan_settings *given; /* settings of every run */
    const char *folder;                    /* is there; gets the folder `runs`, smallest.yaml and shrunk.json */
    enum rig_anomaly anomaly;              /* RIG_ANOMALY_COUNT: the first that a run shows and a request forbids */
    const struct rig_known_anomaly *shape; /* NULL: that of the first run which shows the anomaly */
    const char *entry; /* the known bug with this shape, which a run must match whole; NULL: in name and levels */
    uint64_t seed;     /* before that of the first run */
    uint32_t runs_most;
    int64_t time_ns;
    const atomic_int *interrupts;
    struct rig_earlier_runs *earlier; /* NULL, or runs that need not be made again where a plan is the same */
    const char *server;               /* on which those runs were made; others do not count */
    bool is_text;                     /* tells on standard output what it does and finds */
};

struct rig_plan_shrinker;

/* RIG_E_IO when the folder `runs` cannot be made. */
enum rig_rc rig_cli_plan_shrinker_new(const struct rig_plan_shrinking *request, struct rig_plan_shrinker **shrinker,
                                      struct rig_err *err);
/* Takes NULL. */
void rig_cli_plan_shrinker_free(struct rig_plan_shrinker *shrinker);
/*
 * Searches and writes the files. `*is_found` false: the plan did not show the anomaly often enough, and the error's
 * text says so, with RIG_OK. RIG_E_CLUSTER where the plan does not run, RIG_E_INTERRUPTED before anything was found.
 */
enum rig_rc rig_cli_plan_shrinker_search(struct rig_plan_shrinker *shrinker, bool *is_found, struct rig_err *err);
/* The result as an object, once there is one. */
void rig_cli_plan_shrinker_json(const struct rig_plan_shrinker *shrinker, struct rig_json_writer *json,
                                const char *name);

#endif
