/*
 * The errors that clients met, by code and outcome, with how often.
 *
 * Space: RIG_RUN_ERROR_ROWS rows; the last one counts the kinds that found no row of their own. Threads: one.
 */
#ifndef RIG_RUN_LOAD_RUN_ERRORS_H
#define RIG_RUN_LOAD_RUN_ERRORS_H

#include "drivers/driver.h"

enum { RIG_RUN_ERROR_ROWS = 32 };

/* One kind of error. */
struct rig_run_error {
    char code[RIG_ERROR_CODE_BYTES];
    char text[RIG_ERROR_TEXT_BYTES]; /* of the first */
    enum rig_outcome outcome;
    uint64_t count;
};

/* A zeroed one is empty. */
struct rig_run_errors {
    struct rig_run_error rows[RIG_RUN_ERROR_ROWS];
    uint32_t count;
};

/* One more error; texts are cut to fit. */
void rig_run_errors_add(struct rig_run_errors *errors, enum rig_outcome outcome, const char *code, const char *text);
/* Adds what `more` counted. */
void rig_run_errors_merge(struct rig_run_errors *errors, const struct rig_run_errors *more);
/* Most frequent first. */
void rig_run_errors_sort(struct rig_run_errors *errors);
/* How many errors there were. */
uint64_t rig_run_errors_total(const struct rig_run_errors *errors);

#endif
