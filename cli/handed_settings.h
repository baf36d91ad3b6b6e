/*
 * Settings of a plan ("A.B=C") for a child run of this rig. They travel in its environment: all users of a machine can
 * read the arguments of a process, and settings can hold passwords.
 *
 * Memory: the settings, at most 128 KiB. Threads: one caller; rig_cli_handed_take() before others begin.
 */
#ifndef RIG_CLI_HANDED_SETTINGS_H
#define RIG_CLI_HANDED_SETTINGS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json_write.h"

struct rig_cli_handed {
    struct rig_buf text;
    struct rig_json_writer writer;
    const char **environment; /* the child's whole environment, NULL-ended; after rig_cli_handed_end() */
};

void rig_cli_handed_begin(struct rig_cli_handed *handed);
void rig_cli_handed_add(struct rig_cli_handed *handed, const char *setting);
/* RIG_E_LIMIT: the settings are too long. */
enum rig_rc rig_cli_handed_end(struct rig_cli_handed *handed, struct rig_err *err);
/* Also after an error. The child must have begun. */
void rig_cli_handed_done(struct rig_cli_handed *handed);

/* In the child: appends the settings in their order, each with its ending NUL, and removes them from the environment,
 * so that programs of the run do not get them. Nothing is added where there are none. RIG_E_USAGE: the variable has
 * another content. */
enum rig_rc rig_cli_handed_take(struct rig_buf *settings, struct rig_err *err);

#endif
