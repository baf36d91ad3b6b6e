/*
 * The facts of a run from its folder: mark, results, size. A folder that is damaged, half written or no run at all has
 * a state that says so.
 *
 * Folders are read by descriptors, and no link is followed. Time: the size of results.json. Threads: one a run.
 */
#ifndef RIG_JOBS_STORE_STORED_RUN_H
#define RIG_JOBS_STORE_STORED_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/anomaly.h"

/* X(id, word, meaning); the first three are verdicts. */
#define RIG_STORED_STATE_TABLE(X)                                                                                      \
    X(OK, "ok", "nothing refutes a requested level")                                                                   \
    X(REFUTED, "refuted", "an anomaly that a requested level forbids")                                                 \
    X(UNDECIDED, "undecided", "neither")                                                                               \
    X(FAILED, "failed", "the run itself failed")                                                                       \
    X(RUNNING, "running", "a rig is writing it")                                                                       \
    X(UNFINISHED, "unfinished", "its rig ended before it wrote a result")                                              \
    X(DAMAGED, "damaged", "its result cannot be read")                                                                 \
    X(REMOVING, "removing", "its removal was cut short; `rig store gc` ends it")                                       \
    X(FOREIGN, "no-run", "not a run of rig")

enum rig_stored_state {
#define RIG_STORED_STATE_ENUM(id, word, meaning) RIG_STORED_##id,
    RIG_STORED_STATE_TABLE(RIG_STORED_STATE_ENUM)
#undef RIG_STORED_STATE_ENUM
        RIG_STORED_STATE_COUNT
};

/* A run that is being removed is renamed so first. */
#define RIG_STORE_REMOVING_PREFIX ".removing-"

extern const char *const rig_stored_state_words[RIG_STORED_STATE_COUNT + 1]; /* NULL-ended */

/* A part of the load's time (`course.slots` of results.json). */
struct rig_stored_slot {
    uint64_t ok;
    int64_t p50_ns, p99_ns;
};

struct rig_stored_latency {
    const char *name;
    uint64_t count;
    int64_t p50_ns, p99_ns, p999_ns;
};

enum { RIG_STORED_LATENCIES_MOST = 4 };

/* Texts are owned by the arena, are UTF-8 and have no control characters. The names of folders (`name`, `time`) may
 * have any bytes. */
struct rig_stored_run {
    const char *name, *time; /* names of its two folders, as they are on disk */
    enum rig_stored_state state;
    const char *why;   /* of a state that is no verdict, and of `undecided`; "" */
    bool has_mark;     /* else an older rig made it, or it is no run */
    bool is_protected; /* there is a file `KEEP` in it */
    bool is_reproduction;
    bool is_matrix;     /* its cells are runs of the list, too */
    bool is_cell;       /* of a matrix: it goes with the matrix */
    const char *folder; /* path from the store */
    uint64_t bytes;
    /* From results.json; empty where there is none. */
    const char *driver, *server, *isolation, *seed, *version;
    const char *requested; /* levels and anomalies, separated by ", " */
    const char *broken;    /* the weakest levels that are refuted, separated by ", " */
    const char *type;      /* of data: "list-append" */
    const char *happened;  /* a sentence on the most serious damage; "" */
    uint64_t acknowledged;
    uint64_t anomalies; /* occurrences that what was requested forbids */
    bool is_counted;    /* their number is exact */
    uint64_t found[RIG_ANOMALY_COUNT];
    uint32_t fewest[RIG_ANOMALY_COUNT]; /* transactions of its smallest witness; 0: it has none */
    rig_anomaly_set forbidden;          /* bits of the anomalies that what was requested forbids */
    uint64_t refuted;                   /* bits of levels */
    double load_s, took_s;
    uint64_t unknown; /* completions of unknown outcome in the history */
    struct rig_stored_latency latencies[RIG_STORED_LATENCIES_MOST];
    uint32_t latency_count;
    int64_t slot_ns;
    struct rig_stored_slot *slots;
    uint32_t slot_count;
};

/*
 * Reads the folder `time` in the open folder `parent`. RIG_E_LIMIT out of memory; whatever else is wrong with the
 * folder is in its state.
 */
enum rig_rc rig_stored_run_read(int parent, const char *name, const char *time, struct rig_arena *arena,
                                struct rig_stored_run *run, struct rig_err *err);
typedef enum rig_rc rig_stored_run_add(void *context, const struct rig_stored_run *run, struct rig_err *err);
/*
 * Gives each cell of a matrix that was run, as a run: its name is that of the matrix, a slash, and the cell's values
 * without the number of the run. `matrix` is what rig_stored_run_read() gave for `matrix->time` in `parent`.
 */
enum rig_rc rig_stored_run_cells(int parent, const struct rig_stored_run *matrix, struct rig_arena *arena,
                                 rig_stored_run_add *add, void *context, struct rig_err *err);
/* Whether the text has the form of the times that name runs. */
bool rig_stored_run_is_time(const char *text);
/* Whether the run has a verdict about a load: ok, refuted or undecided. */
bool rig_stored_run_is_judged(const struct rig_stored_run *run);
/* Acknowledged transactions in a second of load; 0 when not known. */
double rig_stored_run_rate(const struct rig_stored_run *run);
/* The latency of the kind with the most transactions, or NULL. */
const struct rig_stored_latency *rig_stored_run_latency(const struct rig_stored_run *run);

#endif
