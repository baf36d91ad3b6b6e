/*
 * The sections of a plan and their option tables, and what hangs on a struct rig_plan.
 *
 * Private to run/plan/.
 */
#ifndef RIG_RUN_PLAN_PLAN_SECTIONS_H
#define RIG_RUN_PLAN_PLAN_SECTIONS_H

#include "base/arena.h"
#include "run/plan/plan.h"
#include "run/plan/plan_bind.h"
#include "run/plan/plan_lists.h"

/* X(id, key), in the order in which a plan is written. */
#define RIG_PLAN_SECTION_TABLE(X)                                                                                      \
    X(WORKLOAD, "workload")                                                                                            \
    X(CLIENTS, "clients")                                                                                              \
    X(DATABASE, "database")                                                                                            \
    X(CHECK, "check")

enum rig_plan_section_id {
#define RIG_PLAN_SECTION_ENUM(id, key) RIG_PLAN_##id,
    RIG_PLAN_SECTION_TABLE(RIG_PLAN_SECTION_ENUM)
#undef RIG_PLAN_SECTION_ENUM
        RIG_PLAN_SECTION_COUNT
};

/* NULL-ended, by id. */
extern const char *const rig_plan_section_names[];
/* The same, and `phases` and `nemesis`, which are no plain sections (plan_lists.h, plan_lists.h). */
extern const char *const rig_plan_top_names[];
extern const char rig_plan_phases_key[];
extern const char rig_plan_nemesis_key[];

/* The top of a plan. */
struct rig_plan_top {
    const char *name;
    int64_t seed;
    struct rig_text_list report;
    const char *store;
    int64_t compress; /* enum rig_record_compression */
    int64_t time_limit_ns;
};

struct rig_plan_database {
    const char *driver;
    int64_t certificate; /* enum rig_certificate_mode */
    struct rig_text_list versions_source;
};

/* As written; struct rig_check_section is what it means. */
struct rig_plan_check {
    struct rig_text_list levels;
    struct rig_text_list anomalies;
    struct rig_text_list assume;
    int64_t lattice; /* enum rig_lattice */
    int64_t budget_ns;
    int64_t max_witnesses;
    bool online;
    int64_t online_memory_bytes;
    int64_t stop_on;
    int64_t server_crash;
    int64_t durability; /* enum rig_promise */
    bool prefilled;
    const char *initial; /* a value; empty: not given */
    bool proof;
    struct rig_text_list known;
    bool known_required;
    int64_t least_acknowledged;
    double least_load, least_answering;
    int64_t require; /* enum rig_require */
};

extern const struct rig_option rig_plan_top_table[];
extern const struct rig_option rig_plan_clients_table[];
extern const struct rig_option rig_plan_database_table[];
extern const struct rig_option rig_plan_check_table[];

/* struct rig_plan.storage */
struct rig_plan_storage {
    struct rig_arena arena; /* owns everything that the plan points to */
    struct rig_plan_section top;
    struct rig_plan_section sections[RIG_PLAN_SECTION_COUNT];
    struct rig_plan_phases phases;
    struct rig_plan_nemesis nemesis;
};

#endif
