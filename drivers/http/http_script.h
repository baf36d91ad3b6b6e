/*
 * A script of requests that repeats what a few transactions did. It needs curl and jq, and no rig.
 *
 * It sends the requests of each turn (drivers/driver.h) one after the other to the server whose URL is its argument,
 * and takes from each answer what a later request needs: a key's value, its version, a variable. Then it compares the
 * outcome and the reads of each acknowledged transaction with what the part says. Its keys have a name of their own,
 * and go at the end.
 *
 * Exit status: 0: all is as in the part; 1: something differs; 2: no comparison was possible; 64: no URL.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_SCRIPT_H
#define RIG_DRIVERS_HTTP_HTTP_SCRIPT_H

#include "drivers/http/dialect.h"
#include "drivers/http/http_options.h"

/*
 * The dialect that a plan selects, and its properties before a run, for every driver on this engine, whatever its
 * options for the dialect.
 */

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

/* For the hook `script`, with the dialect that a plan selects. */
enum rig_rc rig_http_script_show(const struct rig_dialect_choice *choice, enum rig_workload workload,
                                 const struct rig_script_part *part, void (*show)(void *context, const char *text),
                                 void *context, struct rig_err *err);

#endif
