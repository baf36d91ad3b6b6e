/*
 * Which dialect a plan means, and what can be said of it before a run: for every driver on this engine, whatever
 * options it has for it.
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_CHOICE_H
#define RIG_DRIVERS_HTTP_DIALECT_CHOICE_H

#include "drivers/http/dialect.h"
#include "drivers/http/http_options.h"

/* Everything is borrowed. */
struct rig_dialect_choice {
    const char *name;                       /* of a dialect that is installed, or a path */
    const struct rig_text_list *parameters; /* each name=value; NULL: none */
    const char
        *own_parameter; /* one that the driver has an option of its own for; NULL: none. Set where there is one. */
    const char *own_value;
    const struct rig_http_options *http;
};

/* RIG_E_PLAN also when it does not describe the workload, or not who leads where the plan asks for leader or followers.
 */
enum rig_rc rig_dialect_choose(const struct rig_dialect_choice *choice, enum rig_workload workload,
                               struct rig_dialect **dialect, struct rig_err *err);
/* For the hook most_keys: how many keys a transaction may touch; 0: as many as it likes. */
int64_t rig_dialect_most_keys(const struct rig_dialect_choice *choice, enum rig_workload workload);

#endif
