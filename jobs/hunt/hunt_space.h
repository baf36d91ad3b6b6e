/*
 * The space of a hunt: which keys of a plan may differ from it, and the values that they take then. It comes from the
 * option tables (struct rig_option_variation), from the levels of the database, and from further plans, the recipes.
 *
 * A point is a base (the plan, or a recipe) and a value for some dimensions; the others are as the base has them. Each
 * dimension has few values, so that a number drawn from a range does not look new each time.
 *
 * Memory: the arena of the space. Threads: one.
 */
#ifndef RIG_JOBS_HUNT_HUNT_SPACE_H
#define RIG_JOBS_HUNT_HUNT_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"
#include "base/rng.h"

enum {
    RIG_HUNT_DIMENSIONS_MOST = 96,
    RIG_HUNT_VALUES_MOST = 512, /* of all dimensions together */
    RIG_HUNT_LEVELS_MOST = 16,
    RIG_HUNT_BASES_MOST = 64,
    RIG_HUNT_PINNED_MOST = 256,
    RIG_HUNT_SETTINGS_MOST = 256,
    RIG_HUNT_WHY_BYTES = 256,
};

/* The key of the dimension of levels, which stands for settings of its own. */
extern const char rig_hunt_level_key[];
extern const char rig_hunt_type_key[];

struct rig_hunt_dimension {
    const char *key;                       /* "workload.type" */
    double chance;                         /* that a drawn point sets it */
    struct rig_text_list values, settings; /* "set" and "workload.type=set"; a level has none here */
    struct rig_text_list with;             /* settings that any of its values needs */
    bool is_of_servers;                    /* its settings are "name=value" of the servers, and no keys of the plan */
    const char *promise;                   /* the levels that must hold where it is set; NULL: as without it */
    uint32_t first;                        /* the number of its first value among those of all dimensions */
};

struct rig_hunt_level {
    struct rig_text_list settings;
    const char *promise; /* levels that must hold: "snapshot-isolation" */
};

/* A plan that points begin with. */
struct rig_hunt_base {
    const char *name, *path;
    struct rig_text_list settings;
    int level;           /* its own, of the space's levels; -1: a point draws one */
    const char *promise; /* NULL: that of the level, or of the plan where the space has no levels */
    int64_t load_ns;     /* in which the load of a known bug shows it as a rule; 0: not one of a known bug */
};

struct rig_hunt_space {
    struct rig_arena arena;
    struct rig_hunt_dimension dimensions[RIG_HUNT_DIMENSIONS_MOST];
    uint32_t dimension_count, value_count;
    struct rig_hunt_level levels[RIG_HUNT_LEVELS_MOST]; /* by the values of the first dimension, if it is of levels */
    uint32_t level_count;
    struct rig_hunt_base bases[RIG_HUNT_BASES_MOST]; /* the first is the plan, the others are recipes */
    uint32_t base_count;
    const char *pinned[RIG_HUNT_PINNED_MOST];
    uint32_t pinned_count;
};

struct rig_hunt_point {
    uint32_t base;
    int8_t values[RIG_HUNT_DIMENSIONS_MOST]; /* -1: as the base has it */
};

struct rig_hunt_settings {
    const char *at[RIG_HUNT_SETTINGS_MOST];
    uint32_t count;
};

void rig_hunt_space_init(struct rig_hunt_space *space);
void rig_hunt_space_done(struct rig_hunt_space *space);
/* The key of a setting ("A.B=C") keeps its value in all points. Before the tables. */
enum rig_rc rig_hunt_space_pin(struct rig_hunt_space *space, const char *setting, struct rig_err *err);
/* Before the tables. */
enum rig_rc rig_hunt_space_add_level(struct rig_hunt_space *space, const char *name,
                                     const struct rig_text_list *settings, const char *promise, struct rig_err *err);
/* Adds a dimension for each option of the table that varies and is not pinned; `prefix`: "workload.". */
enum rig_rc rig_hunt_space_add_table(struct rig_hunt_space *space, const char *prefix, const struct rig_option *table,
                                     struct rig_err *err);
/* Adds a dimension: its key, and texts separated by blanks. */
enum rig_rc rig_hunt_space_add(struct rig_hunt_space *space, const char *key, double chance, const char *values,
                               const char *with, struct rig_err *err);
/* The same with a whole setting for each value, which may have blanks. */
enum rig_rc rig_hunt_space_add_settings(struct rig_hunt_space *space, const char *key, double chance,
                                        const struct rig_text_list *values, const struct rig_text_list *settings,
                                        struct rig_err *err);
/* Adds a setting of the servers with these values, separated by blanks; its key is "servers.NAME". `promise`: levels,
 * or NULL. */
enum rig_rc rig_hunt_space_add_server_setting(struct rig_hunt_space *space, const char *name, const char *values,
                                              const char *promise, struct rig_err *err);
/* Copies the base; RIG_E_LIMIT when there are RIG_HUNT_BASES_MOST. */
enum rig_rc rig_hunt_space_add_base(struct rig_hunt_space *space, const struct rig_hunt_base *base,
                                    struct rig_err *err);
/* The dimension with this key, or -1; the value of a dimension with this text, or -1. */
int rig_hunt_space_find(const struct rig_hunt_space *space, const char *key, size_t length);
int rig_hunt_dimension_find(const struct rig_hunt_dimension *dimension, const char *value);

void rig_hunt_point_clear(const struct rig_hunt_space *space, uint32_t base, struct rig_hunt_point *point);
/* Draws a point of the base, each dimension by its chance. */
void rig_hunt_point_draw(const struct rig_hunt_space *space, struct rig_rng *rng, uint32_t base,
                         struct rig_hunt_point *point);
/* Changes one or two dimensions of the point, and drops those that contradict them. */
void rig_hunt_point_change(const struct rig_hunt_space *space, struct rig_rng *rng, struct rig_hunt_point *point);
/* Adds the settings that make the point of its base's plan, without those of the servers; false when they are too many.
 * Borrows the space. */
bool rig_hunt_point_settings(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                             struct rig_hunt_settings *settings);
/* Adds ", name=value" for each setting of the servers that the point has. */
void rig_hunt_point_server_settings(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                                    struct rig_buf *out);
/* Whether both points have the same settings of the servers. */
bool rig_hunt_point_has_servers_of(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                                   const struct rig_hunt_point *other);
/* Gives the point the settings of the servers that the other one has. */
void rig_hunt_point_take_servers(const struct rig_hunt_space *space, const struct rig_hunt_point *from,
                                 struct rig_hunt_point *point);
/* The levels that must hold at the point; NULL: those that the plan asks for. */
const char *rig_hunt_point_promise(const struct rig_hunt_space *space, const struct rig_hunt_point *point);
/* Adds "workload.type=set, clients.count=40" without the level; "nothing" where all is as the base has it. */
void rig_hunt_point_words(const struct rig_hunt_space *space, const struct rig_hunt_point *point, struct rig_buf *out);
/* Whether `point` has all that `part` sets; each base has what the first one has, as far as a hunt knows. */
bool rig_hunt_point_contains(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                             const struct rig_hunt_point *part);

/* Whether the point is a valid plan; `why` gets the refusal. */
typedef bool rig_hunt_fits(void *context, const struct rig_hunt_point *point, char why[RIG_HUNT_WHY_BYTES]);
/* A value that made the plan invalid beside the others, with the refusal; it was dropped. */
typedef void rig_hunt_dropped(void *context, uint32_t dimension, uint32_t value, const char *why);
/*
 * Makes the point valid: sets its values one after the other, and drops each with which the plan is refused. False,
 * with `why`, when the base is refused with the point's level alone.
 */
bool rig_hunt_point_repair(const struct rig_hunt_space *space, struct rig_hunt_point *point, rig_hunt_fits *fits,
                           rig_hunt_dropped *dropped, void *context, char why[RIG_HUNT_WHY_BYTES]);

#endif
