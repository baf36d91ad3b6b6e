/*
 * The finds of a hunt: runs that broke a promise, one entry for each anomaly, level and type of data.
 *
 * A find at the level of an explained one, with all that this one needs, may have the same cause: it names that one.
 */
#ifndef RIG_JOBS_HUNT_HUNT_FINDS_H
#define RIG_JOBS_HUNT_HUNT_FINDS_H

#include "jobs/hunt/hunt_space.h"

enum { RIG_HUNT_FINDS_MOST = 256, RIG_HUNT_NAME_BYTES = 64, RIG_HUNT_TEXT_BYTES = 512 };

struct rig_hunt_find {
    uint32_t number;                   /* from 1; 0: not numbered yet */
    char anomaly[RIG_HUNT_NAME_BYTES]; /* the first that the promise forbids; or "condition" */
    char level[RIG_HUNT_NAME_BYTES];   /* the name of the level in the space; or that of the plan */
    char type[RIG_HUNT_NAME_BYTES];    /* of data */
    char promise[RIG_HUNT_TEXT_BYTES], broken[RIG_HUNT_TEXT_BYTES]; /* levels */
    char happened[RIG_HUNT_TEXT_BYTES], server[RIG_HUNT_TEXT_BYTES], folder[RIG_HUNT_TEXT_BYTES];
    struct rig_hunt_point point; /* the smallest that shows it */
    uint32_t length;             /* of its load, in loads of other runs */
    uint32_t of, shown; /* runs with new seeds that took no part in the search; of them, with a broken promise */
    bool is_explained;  /* each value of the point was taken away, and the find went with it */
    bool is_old;        /* from an earlier hunt */
    uint32_t sightings; /* runs of the hunt that showed it, beside those that confirm and explain it */
    char against[RIG_HUNT_NAME_BYTES];       /* another server; empty: it was run on none */
    uint32_t against_of, against_shown;      /* runs there; of them, with a broken promise, by any anomaly */
    char bisection[2 * RIG_HUNT_TEXT_BYTES]; /* over the servers of --bisect, as text; empty: none */
    char bad[RIG_HUNT_NAME_BYTES], good[RIG_HUNT_NAME_BYTES]; /* neighbours among them; empty: not found */
    char known[RIG_HUNT_NAME_BYTES]; /* the entry of the library of known bugs whose shape its run has; or empty */
    uint32_t like;                   /* the number of an earlier find with the same smallest point; 0: none */
};

struct rig_hunt_finds {
    struct rig_hunt_find at[RIG_HUNT_FINDS_MOST];
    uint32_t count;
};

/* The find with this anomaly, level and type, or NULL. */
struct rig_hunt_find *rig_hunt_finds_get(struct rig_hunt_finds *finds, const char *anomaly, const char *level,
                                         const char *type);
/* The number of an explained find at this level that needs no more than the point has; 0: there is none. */
uint32_t rig_hunt_finds_like(const struct rig_hunt_finds *finds, const struct rig_hunt_space *space, const char *level,
                             const struct rig_hunt_point *point);
/* Adds a copy, and fills `number`. NULL when there are RIG_HUNT_FINDS_MOST. */
struct rig_hunt_find *rig_hunt_finds_add(struct rig_hunt_finds *finds, const struct rig_hunt_find *find);

#endif
