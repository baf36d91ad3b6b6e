/*
 * The report of a hunt: each find in a paragraph, and at the end a table of the finds, how much of the space was run,
 * what could not run, keys without an effect, and what silence means.
 *
 * n runs without a find bound the probability of one a run: below 3/n with 95 % confidence (the rule of three), for
 * points as the hunt draws them. One number for all would hide that a bug behind a rare value had few chances, so the
 * report gives it for each level and type of data, and JSON for each value.
 */
#ifndef RIG_JOBS_HUNT_HUNT_REPORT_H
#define RIG_JOBS_HUNT_HUNT_REPORT_H

#include "jobs/hunt/hunt_choice.h"
#include "jobs/hunt/hunt_finds.h"

/* Borrowed. */
struct rig_hunt_facts {
    const struct rig_hunt_space *space;
    const struct rig_hunt_choice *choice; /* with the runs of earlier hunts that the memory has */
    const struct rig_hunt_finds *finds;
    const char *target, *server, *folder;
    uint64_t seed;
    /* Runs of this hunt, also to confirm and explain; on servers that are kept; with a find; without a verdict. */
    uint64_t runs, kept_runs, finding_runs, failed;
    double took_s, explaining_s;
    double load; /* of the machine, now: the average of a minute */
    bool interrupted;
    unsigned columns;
};

/* "MariaDB 10.11 at repeatable read, sets: ...": one find, as it is found. */
void rig_hunt_find_text(const struct rig_hunt_facts *facts, const struct rig_hunt_find *find, struct rig_buf *out);
void rig_hunt_report_text(const struct rig_hunt_facts *facts, struct rig_buf *out);
void rig_hunt_report_json(const struct rig_hunt_facts *facts, struct rig_buf *out);

#endif
