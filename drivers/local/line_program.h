/*
 * A program that exchanges lines with rig: it reads from its standard input, and writes to its standard output.
 *
 * Its standard error goes to the run's log of programs. Threads: one at a time; interrupts come through the descriptor
 * and the flag given to each call.
 */
#ifndef RIG_DRIVERS_LOCAL_LINE_PROGRAM_H
#define RIG_DRIVERS_LOCAL_LINE_PROGRAM_H

#include "base/buf.h"
#include "base/child.h"
#include "base/thread.h"
#include "drivers/driver.h"

struct rig_line_program {
    struct rig_child child;
    const struct rig_run_env *env;
    int to, from;          /* descriptors + 1; 0: none */
    struct rig_buf answer; /* bytes read and not returned yet */
    size_t given;          /* bytes at its front that were */
};

/* The end of a wait. */
enum rig_line_end {
    RIG_LINE_DONE,
    RIG_LINE_ENDED, /* the program closed its side, or is gone */
    RIG_LINE_TIMEOUT,
    RIG_LINE_INTERRUPTED,
    RIG_LINE_TOO_LARGE, /* a line above the maximum */
};

/* The deadline, and the events that end a wait before it. */
struct rig_line_patience {
    const struct rig_core *core;
    int64_t deadline_ns;
    const struct rig_wake *wake; /* NULL: none */
};

/* The path of a plan's `command`: a name without a slash is searched in PATH, another one is relative to `home`.
 * RIG_E_PLAN. */
enum rig_rc rig_line_program_find(const char *name, const char *home, char *path, size_t size, struct rig_err *err);
/* `most_bytes`: of one line. Borrows env. RIG_E_DRIVER when it cannot be started. */
enum rig_rc rig_line_program_start(struct rig_line_program *process, const struct rig_run_env *env,
                                   struct rig_children *children, const char *const *arguments, const char *home,
                                   size_t most_bytes, struct rig_err *err);
/* After RIG_LINE_ENDED: how it ended, for a person: "it ended with exit status 1". Ends its remaining processes. */
void rig_line_program_tell_end(struct rig_line_program *process, char *text, size_t size);
/* That the program gave no greeting, because of `how`, with the end of the log where there is one. Returns `rc`. */
enum rig_rc rig_line_program_refuse(const struct rig_line_program *process, enum rig_rc rc, const char *program,
                                    const char *how, struct rig_err *err);
/* Kills the program. True when it is gone and rig_line_receive() has returned all of its output. */
bool rig_line_program_silence(struct rig_line_program *process);
/* Closes its input, waits `grace_ns` for its end, and then ends it. Safe for a zeroed one. */
void rig_line_program_end(struct rig_line_program *process, int64_t grace_ns);

/* Sends a line, with its newline. `*sent`: the number of bytes that left, whatever the result. */
enum rig_line_end rig_line_send(struct rig_line_program *process, const struct rig_buf *line,
                                const struct rig_line_patience *patience, size_t *sent);
/* Reads a line, without its newline; valid until the next call. */
enum rig_line_end rig_line_receive(struct rig_line_program *process, const struct rig_line_patience *patience,
                                   const char **line, size_t *size);

#endif
