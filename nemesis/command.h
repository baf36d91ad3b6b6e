/*
 * Running a command of the plan: a program with its arguments, without a shell, in a session of its own, for a bounded
 * time.
 *
 * Placeholders in its arguments and variables of its environment describe a node (nemesis/placeholder.h). rig reads its
 * output and keeps the first line that is not blank. When its time is over, or the run ends at once, it and its
 * children are killed. The command is complete when the program has ended, even if a child of it (a server it has
 * started) lives on.
 */
#ifndef RIG_NEMESIS_COMMAND_H
#define RIG_NEMESIS_COMMAND_H

#include "base/err.h"
#include "base/option.h"
#include "nemesis/placeholder.h"

enum { RIG_COMMAND_LINE_BYTES = 160, RIG_COMMAND_ARGUMENTS_MOST = 256 };

struct rig_command {
    struct rig_text_list arguments;
    const struct rig_place *place; /* its node; NULL: none */
    const char *directory;         /* its working folder; NULL: rig's */
    int output_plus_one; /* descriptor for its output, + 1, in place of rig, which reads its errors; 0: none */
    int64_t timeout_ns;
    bool (*stopping)(void); /* true: give up; NULL: never */
};

struct rig_command_answer {
    int status; /* exit status; 128 + signal when it was killed */
    char line[RIG_COMMAND_LINE_BYTES];
};

/* RIG_OK when it ended by itself, with whatever status. RIG_E_CLUSTER, with the command's name, when it could not be
 * started, took too long or was given up. */
enum rig_rc rig_command_run(const struct rig_command *command, struct rig_command_answer *answer, struct rig_err *err);
/* The same, and any exit status but 0 is RIG_E_CLUSTER with the line that it printed. */
enum rig_rc rig_command_succeed(const struct rig_command *command, struct rig_command_answer *answer,
                                struct rig_err *err);

#endif
