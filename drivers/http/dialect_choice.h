/*
 * The dialect that a plan selects, and its properties before a run, for every driver on this engine, whatever its
 * options for the dialect.
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_CHOICE_H
#define RIG_DRIVERS_HTTP_DIALECT_CHOICE_H

#include "drivers/http/dialect.h"
#include "drivers/http/http_options.h"

/* Everything is borrowed. */
struct rig_dialect_choice {
    const char *name;                       /* of an installed dialect, or a path */
    const struct rig_text_list *parameters; /* each name=value; NULL: none */
    const char
        *own_parameter; /* a parameter with an option of the driver's own; NULL: none. Set when the dialect has it. */
    const char *own_value;
    const struct rig_http_options *http;
};

/* RIG_E_PLAN also when it does not describe the workload, or does not report the leader where the plan asks for leader
 * or followers. */
enum rig_rc rig_dialect_choose(const struct rig_dialect_choice *choice, enum rig_workload workload,
                               struct rig_dialect **dialect, struct rig_err *err);
/* For the hook most_keys: the maximum number of keys in a transaction; 0: no limit. */
int64_t rig_dialect_most_keys(const struct rig_dialect_choice *choice, enum rig_workload workload);

#endif
