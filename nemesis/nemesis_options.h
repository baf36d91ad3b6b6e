/*
 * A plan's section `nemesis`: the faults with their schedules and targets, and the access to nodes that rig did not
 * start.
 *
 * The tables are those of a mapping of the section, of one entry of `faults` (with the fault's own options), and of one
 * entry of `nodes`. The plan fills the objects; rig_nemesis_check() rejects contradictions.
 */
#ifndef RIG_NEMESIS_NEMESIS_OPTIONS_H
#define RIG_NEMESIS_NEMESIS_OPTIONS_H

#include "base/arena.h"
#include "base/option.h"
#include "drivers/driver.h"

/* The section itself. */
struct rig_nemesis_options {
    bool overlap;
    int64_t quiet_least_ns, quiet_most_ns; /* between two random faults */
    int64_t recover_ns;                    /* time for the cluster to become healthy at the end */
    int64_t command_ns;                    /* time limit of one command */
};

/* The effect of a failed fault on the run, in the order of the choices. */
enum rig_on_failure { RIG_ON_FAILURE_FAIL, RIG_ON_FAILURE_CONTINUE };

/* One entry of `faults`: the schedule. Times count from the start of the load. */
struct rig_nemesis_entry_options {
    const char *fault;
    const char *target; /* NULL: the fault's own */
    struct rig_text_list at;
    int64_t after_ns, every_ns, for_ns;
    int64_t count;      /* 0: no limit */
    double vary;        /* share by which intervals and durations vary */
    int64_t weight;     /* > 0: random schedule */
    int64_t on_failure; /* enum rig_on_failure */
};

/* One entry of `nodes`: a node that rig did not start; commands may be empty. */
struct rig_nemesis_node_options {
    struct rig_text_list kill, stop, start;
    struct rig_text_list pause, resume;
    struct rig_text_list promote, restore;
    struct rig_text_list role, check;
};

extern const struct rig_option rig_nemesis_table[];
extern const struct rig_option rig_nemesis_entry_table[];
extern const struct rig_option rig_nemesis_node_table[];

struct rig_nemesis_entry {
    struct rig_nemesis_entry_options schedule;
    const struct rig_fault *fault;
    const void *options; /* the fault's own */
    int64_t *at_ns;      /* of `schedule.at`, ascending */
    size_t at_count;
};

struct rig_nemesis_node {
    const char *name;
    struct rig_nemesis_node_options commands;
};

/* All of it; immutable, owned by the plan. */
struct rig_nemesis_plan {
    struct rig_nemesis_options options;
    const struct rig_nemesis_entry *entries;
    uint32_t entry_count; /* 0: no nemesis */
    const struct rig_nemesis_node *nodes;
    uint32_t node_count;
};

/* The command that `option` keeps in the object at `options`; an empty one when it is of another type. */
const struct rig_text_list *rig_nemesis_command(const struct rig_option *option, const void *options);
/* Fills `at_ns` from `schedule.at`, and rejects contradictions in the schedule and misspelt placeholders in the fault's
 * commands; the text names the option in backquotes. RIG_E_PLAN. */
enum rig_rc rig_nemesis_entry_resolve(struct rig_nemesis_entry *entry, struct rig_arena *arena, struct rig_err *err);
/* Rejects commands without those that undo them, and misspelt placeholders. RIG_E_PLAN. */
enum rig_rc rig_nemesis_node_check(const struct rig_nemesis_node_options *node, struct rig_err *err);

#endif
