/*
 * Runs of a plan, each by a rig of its own (`rig run`) in a folder that is kept, to see how often an anomaly comes
 * back.
 *
 * A run that crashes or runs out of memory does not end the command that asked for it. When the time is over, or on the
 * first SIGINT or SIGTERM, the load of the run under way is ended; the run is judged and counts. When rig is killed,
 * the kernel ends the other one, which stops its servers.
 *
 * Threads: one caller.
 */
#ifndef RIG_CLI_RERUN_H
#define RIG_CLI_RERUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "base/statistics.h"
#include "checker/judge/known_anomaly.h"
#include "checker/model/anomaly.h"
#include "cli/input_path.h"

struct rig_children;

/* The settings that all runs share, and their state. */
struct rig_rerun {
    const char *plan;                      /* a file */
    enum rig_anomaly anomaly;              /* RIG_ANOMALY_COUNT: any verdict that refutes a request, once a run */
    const struct rig_known_anomaly *shape; /* NULL, or more than the name: what counts as the anomaly */
    bool whole_shape;                      /* all of `shape` counts, once a run; else its names and levels */
    const char *folder;                    /* of the runs; runs are its folders 0001, 0002, ... */
    const atomic_int *interrupts;          /* above 0: no further run */
    int64_t until_ns;                      /* of rig_clock_now_ns(); no run begins after it */
    uint64_t seed;                         /* of run n: seed + n */
    uint32_t run_count;                    /* so far */
    struct rig_children *children;         /* NULL before the first run */
};

/* One of them. */
struct rig_rerun_result {
    char folder[RIG_CLI_PATH_BYTES];
    uint64_t seed;
    int status;      /* of `rig run` */
    bool is_judged;  /* there is a result of a load that began; else only `status` and `why` hold */
    bool was_cut;    /* its time was over */
    bool is_earlier; /* it was made before this command: rig_cli_rerun_read() */
    bool shows;      /* the anomaly, or a special case of it */
    uint64_t events; /* how many */
    uint64_t acknowledged;
    double load_s, took_s;
    char why[512]; /* the first line of its complaints; or empty */
};

/*
 * Runs the plan with `settings` ("A.B=C") and reads its result. RIG_E_INTERRUPTED and, where the time is over,
 * RIG_E_LIMIT before the run; RIG_E_IO or RIG_E_CLUSTER when it cannot be started. A run that fails is a result.
 */
enum rig_rc rig_cli_rerun(struct rig_rerun *rerun, const char *const *settings, uint32_t setting_count,
                          struct rig_rerun_result *result, struct rig_err *err);
/* Packs the folder of a run by `rig bundle`, by a rig of its own, and returns its exit status. After the first run. */
int rig_cli_rerun_bundle(const struct rig_rerun *rerun, const char *run, const char *output);
/* Reads a run that was made before, as if it had been made now. `is_judged` is false where it has no result, or was
 * made on another server. */
enum rig_rc rig_cli_rerun_read(const struct rig_rerun *rerun, const char *folder, const char *server,
                               struct rig_rerun_result *result, struct rig_err *err);
void rig_cli_rerun_done(struct rig_rerun *rerun);

/* Runs and what they showed, added up. */
enum { RIG_RERUNS_MOST = 4096 };
struct rig_rerun_tally {
    struct rig_observed observed[RIG_RERUNS_MOST]; /* of the runs that were judged; times in minutes of load */
    uint32_t runs, showing, failed;                /* judged; of them, with the anomaly; not judged */
};
void rig_cli_rerun_count(struct rig_rerun_tally *tally, const struct rig_rerun_result *result);

/*
 * How often an anomaly came back, as text and as JSON: of how many plays or runs, and how often a minute, each with its
 * interval of 95 % confidence.
 */

/* "3 of 10 plays (95 %: 6.7 % to 65 %)" */
void rig_cli_write_share(uint64_t shown, uint64_t of, const char *noun, struct rig_buf *out);
/* "12 anomalies a minute of load (95 %: 8.1 to 19)" */
void rig_cli_write_rate(const struct rig_rerun_tally *tally, struct rig_buf *out);
/* An object: `of`, `shown` and the share's `least` and `most`. */
void rig_cli_json_share(struct rig_json_writer *json, const char *name, uint64_t shown, uint64_t of);
/* The same, with `failed`, `a-minute` and its interval. */
void rig_cli_json_tally(struct rig_json_writer *json, const char *name, const struct rig_rerun_tally *tally);
/* Prints one run as a line: its folder, its seed, and what it showed. */
void rig_cli_tell_rerun(const struct rig_rerun *rerun, const struct rig_rerun_result *result);

#endif
