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

#include "drivers/http/dialect_choice.h"

/* For the hook `script`, with the dialect that a plan selects. */
enum rig_rc rig_http_script_show(const struct rig_dialect_choice *choice, enum rig_workload workload,
                                 const struct rig_script_part *part, void (*show)(void *context, const char *text),
                                 void *context, struct rig_err *err);

#endif
