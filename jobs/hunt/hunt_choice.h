/*
 * The choice of the points of a hunt, and what their runs have shown so far.
 *
 * In this order: the points of old finds, where the server is another version; the plan as it is; each recipe as it
 * is, in their order, within a third of the time; and those of known bugs again and again, within a sixth of it, once
 * each of them has run: one run that misses a bug of chance says little. The rest of the time goes to points that set
 * values and pairs of values which were run least, the best of a few drawn ones, and a sixth of it to neighbours of
 * points with a run that showed something new: a refuted level, an anomaly, an error code, a message of a run that
 * failed. A point with the cause of a find is taboo: it is chosen last, and its recipe not again.
 *
 * Memory: a square of bytes over the values of the space, and 150 bytes a run. Threads: one.
 */
#ifndef RIG_JOBS_HUNT_HUNT_CHOICE_H
#define RIG_JOBS_HUNT_HUNT_CHOICE_H

#include "base/vec.h"
#include "checker/model/anomaly.h"
#include "jobs/hunt/hunt_space.h"

/* X(id, word): why a point is run. */
#define RIG_HUNT_REASON_TABLE(X)                                                                                       \
    X(OLD_FIND, "old find")                                                                                            \
    X(RECIPE, "recipe")                                                                                                \
    X(COVERAGE, "coverage")                                                                                            \
    X(NEIGHBOUR, "neighbour")

enum rig_hunt_reason {
#define RIG_HUNT_REASON_ENUM(id, word) RIG_HUNT_##id,
    RIG_HUNT_REASON_TABLE(RIG_HUNT_REASON_ENUM)
#undef RIG_HUNT_REASON_ENUM
        RIG_HUNT_REASON_COUNT
};
extern const char *const rig_hunt_reason_words[RIG_HUNT_REASON_COUNT + 1]; /* NULL-ended */

enum { RIG_HUNT_CODES_MOST = 16, RIG_HUNT_FEATURES_MOST = 4096, RIG_HUNT_TABOO_MOST = 256, RIG_HUNT_MEASURES = 3 };

/* The outcome of one run. Texts are borrowed. */
struct rig_hunt_outcome {
    bool is_judged;     /* there is a verdict; else only `why` and `took_s` hold */
    bool is_find;       /* the promise is broken */
    bool is_server_end; /* it ended because a server did */
    uint64_t refuted;   /* bits of levels */
    rig_anomaly_set found;
    const char *codes[RIG_HUNT_CODES_MOST];
    uint32_t code_count;
    uint64_t acknowledged;
    double measures[RIG_HUNT_MEASURES]; /* acknowledged a second; median and 99th percentile of latencies in ms */
    double took_s;
    const char *why; /* of a run without a verdict */
};

/* A value of a dimension, over all runs. */
struct rig_hunt_value_count {
    uint32_t runs, finds;         /* judged; of them, with a find */
    uint32_t refused;             /* the plan was refused with it */
    uint32_t failed;              /* runs without a verdict */
    uint64_t acknowledged;        /* transactions of the judged runs */
    char why[RIG_HUNT_WHY_BYTES]; /* the last refusal or failure */
};

struct rig_hunt_past_run {
    struct rig_hunt_point point;
    bool is_find;
    double measures[RIG_HUNT_MEASURES];
};
RIG_VEC(struct rig_hunt_past_run, rig_hunt_past_runs)

struct rig_hunt_parent {
    struct rig_hunt_point point;
    uint32_t used;
};
RIG_VEC(struct rig_hunt_parent, rig_hunt_parents)

struct rig_hunt_choice {
    struct rig_hunt_point servers; /* the next `servers_left` drawn points have its settings of the servers */
    uint32_t servers_left;
    const struct rig_hunt_space *space;
    struct rig_rng rng;
    struct rig_hunt_value_count values[RIG_HUNT_VALUES_MOST];
    uint8_t *pairs; /* value_count squared: runs with both, up to 255 */
    uint32_t base_runs[RIG_HUNT_BASES_MOST];
    char base_why[RIG_HUNT_BASES_MOST][RIG_HUNT_WHY_BYTES]; /* the refusal of a recipe; or empty */
    double runs_s, recipes_s, again_s; /* that all runs took; first runs of recipes; their further runs */
    struct rig_hunt_past_runs runs;
    uint32_t failed; /* runs without a verdict */
    /* Runs without a find that had the anomaly, by level (0 where the space has none): the promise allows it. */
    uint32_t allowed[RIG_HUNT_LEVELS_MOST][RIG_ANOMALY_COUNT];
    uint64_t features[RIG_HUNT_FEATURES_MOST];
    uint32_t feature_count;
    struct rig_hunt_parents parents, old_finds;
    struct rig_hunt_point taboo[RIG_HUNT_TABOO_MOST];
    uint32_t taboo_count;
};

/* `space` is complete. RIG_E_LIMIT: no memory. */
enum rig_rc rig_hunt_choice_init(struct rig_hunt_choice *choice, const struct rig_hunt_space *space, uint64_t seed,
                                 struct rig_err *err);
void rig_hunt_choice_done(struct rig_hunt_choice *choice);

/* The next point; it may be no valid plan. */
void rig_hunt_choice_next(struct rig_hunt_choice *choice, struct rig_hunt_point *point, enum rig_hunt_reason *reason);
/* A run of the point is over. False when memory runs out. */
bool rig_hunt_choice_told(struct rig_hunt_choice *choice, const struct rig_hunt_point *point,
                          const struct rig_hunt_outcome *outcome);
/* The plan is refused with this value. */
void rig_hunt_choice_refused(struct rig_hunt_choice *choice, uint32_t dimension, uint32_t value, const char *why);
/* The base is refused: it is not run again. */
void rig_hunt_choice_lose_base(struct rig_hunt_choice *choice, uint32_t base, const char *why);
/* Points that contain this one are chosen last. */
void rig_hunt_choice_avoid(struct rig_hunt_choice *choice, const struct rig_hunt_point *point);
/* The point of a find on another version of the server: it comes first. */
bool rig_hunt_choice_try_first(struct rig_hunt_choice *choice, const struct rig_hunt_point *point);

/* A value that only made plans that were refused, or runs that failed, three times or more. */
bool rig_hunt_is_not_to_be_had(const struct rig_hunt_value_count *value);

/* How much of the space was run. A value or pair that only a refused plan would have is none. */
struct rig_hunt_coverage {
    uint32_t values, values_run;
    uint64_t pairs, pairs_run; /* of values that were run */
};
struct rig_hunt_coverage rig_hunt_choice_coverage(const struct rig_hunt_choice *choice);

/*
 * Whether no measure of the runs differs by more than chance explains (p above 5 % each) between those that set the
 * dimension and the others. Runs of recipes do not count. `with` gets the runs that set it; false for fewer than ten on
 * a side.
 */
bool rig_hunt_choice_has_no_effect(const struct rig_hunt_choice *choice, uint32_t dimension, uint32_t *with);

#endif
