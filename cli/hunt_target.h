/*
 * The target of `rig hunt`: a plan, or the database of a URL, as the space of the hunt (jobs/hunt/hunt_space.h).
 *
 * A URL: points begin with the load of `rig try`, at each level of configs/try/<driver>.yaml, which says what the
 * database promises there; the recipes are the loads of shipped plans and of known bugs of this driver. A plan: points
 * begin with it, at its level, and its `check.levels` must hold.
 */
#ifndef RIG_CLI_HUNT_TARGET_H
#define RIG_CLI_HUNT_TARGET_H

#include "cli/arguments.h"
#include "cli/plan_dimensions.h"
#include "jobs/hunt/hunt_finds.h"

enum { RIG_HUNT_TARGET_BYTES = 1024 };

struct rig_hunt_target {
    struct rig_hunt_space space;
    char name[RIG_HUNT_TARGET_BYTES];    /* the driver and servers, or the plan's name */
    char level[64];                      /* that of a plan, where the space has none */
    char promise[RIG_HUNT_TARGET_BYTES]; /* the same */
    char store[RIG_HUNT_TARGET_BYTES];   /* of the plan */
    struct rig_plan *plan;               /* the first base; owned */
    const struct rig_driver *driver;
    bool starts_servers;                  /* rig starts them, of a version that the plan can choose */
    bool keeps_servers;                   /* rig starts the plan's servers, and other rigs can use them */
    struct rig_text_list server_settings; /* of the plan, each "name=value" */
    int64_t transactions;                 /* that a run of the plan has at most; 0: bounded by its time alone */
    struct rig_plan_settings last;        /* settings of every run, after those of the point */
};

/* Another server, on which a find runs as well: that of --against, or one of --bisect. */
struct rig_hunt_other {
    char name[RIG_HUNT_NAME_BYTES];
    struct rig_text_list settings; /* after those of a run, without its `cluster.local` */
    bool is_version;               /* of the servers that rig starts, which keep their other settings */
};

enum { RIG_HUNT_OTHERS_MOST = 64 };
struct rig_hunt_others {
    struct rig_hunt_other at[RIG_HUNT_OTHERS_MOST];
    uint32_t count;
};

/* Reads the URL or the name of a plan, --set and --level. Errors: those of plans and URLs, each with its remedy. */
enum rig_rc rig_cli_hunt_target(const struct rig_arguments *args, struct rig_hunt_target *target, struct rig_err *err);
/*
 * Adds the servers of the option: a URL, or versions with commas between them. Borrows the target. RIG_E_USAGE for a
 * version where rig starts no servers, or that is not installed, and for a URL of another driver.
 */
enum rig_rc rig_cli_hunt_others(const struct rig_arguments *args, const char *option, struct rig_hunt_target *target,
                                struct rig_hunt_others *others, struct rig_err *err);
void rig_cli_hunt_target_done(struct rig_hunt_target *target);

#endif
