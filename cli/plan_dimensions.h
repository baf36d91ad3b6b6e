/*
 * The dimensions of a plan for the search for a smaller one (jobs/shrink/plan_search.h): faults, phases, and settings
 * of the servers, which can be left out; then keys that can go back to their defaults, first whole groups of them
 * (`long-transactions`), then each; then numbers that can be lowered: clients, transactions, durations, operations,
 * keys, and the sizes of applications and their programs. With phases the numbers are those of each phase; sizes are
 * the same in all of them.
 *
 * Keys that go back are those of the load, and those of clients and of the driver that `rig hunt` varies (struct
 * rig_option_variation), unless a setting of every run has them. With phases only those of the driver do.
 *
 * A smaller plan is the first one with settings (`--set`), which an arena of the caller owns.
 *
 * Faults, phases or settings that cannot be written as a setting, or have secrets, are kept. Threads: one.
 */
#ifndef RIG_CLI_PLAN_DIMENSIONS_H
#define RIG_CLI_PLAN_DIMENSIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "run/plan/plan.h"
#include "jobs/shrink/plan_search.h"

struct rig_plan_dimensions;

enum { RIG_PLAN_SETTINGS_MOST = 1024 };
struct rig_plan_settings {
    const char *at[RIG_PLAN_SETTINGS_MOST];
    uint32_t count;
};
/* The plan with these settings. */
enum rig_rc rig_cli_plan_settings_load(const char *path, const struct rig_plan_settings *settings,
                                       struct rig_plan **plan, struct rig_err *err);

/* `plan` is the one at `path` with the settings `given`. Numbers that cannot be lower in this plan, as they have no
 * effect there, are none. */
enum rig_rc rig_cli_plan_dimensions_new(const struct rig_plan *plan, const char *path,
                                        const struct rig_plan_settings *given, struct rig_plan_dimensions **dimensions,
                                        struct rig_err *err);
/* Takes NULL. */
void rig_cli_plan_dimensions_free(struct rig_plan_dimensions *dimensions);

/* Gives the values of the plan, and how far each can be lowered; returns how many there are. */
uint32_t rig_cli_plan_dimensions_first(const struct rig_plan_dimensions *dimensions,
                                       struct rig_plan_dimension at[RIG_PLAN_DIMENSIONS_MOST]);
/* Whether a lower value makes another plan: not for what belongs to a phase that is left out, nor for the only phase,
 * nor for a key whose group has its defaults. */
bool rig_cli_plan_dimensions_matter(const struct rig_plan_dimensions *dimensions, uint32_t dimension,
                                    const int64_t *values);
/* Adds a setting for each value that is lower than the plan's. False when they do not fit, or there is no memory. */
bool rig_cli_plan_dimensions_set(const struct rig_plan_dimensions *dimensions, const int64_t *values,
                                 struct rig_plan_settings *settings, struct rig_arena *arena);
/* "without fault 1 (kill)", "phase fill: clients.count: 3"; with `instead` " instead of 16" after it. */
void rig_cli_plan_dimensions_words(const struct rig_plan_dimensions *dimensions, uint32_t dimension, int64_t value,
                                   bool instead, struct rig_buf *out);

#endif
