/*
 * A program that is spoken to in lines: what it reads from its standard input, and writes to its standard output.
 *
 * What it writes to its standard error goes to a log. Threads: one at a time; interrupts come through the descriptor
 * and the flag given to each call.
 */
#ifndef RIG_DRIVERS_EXEC_EXEC_PROCESS_H
#define RIG_DRIVERS_EXEC_EXEC_PROCESS_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/child.h"
#include "drivers/driver.h"

struct rig_exec_process {
    struct rig_child child;
    int to, from;          /* descriptors + 1; 0: none */
    struct rig_buf answer; /* what was read and not given away yet */
    size_t given;          /* bytes at its front that were */
};

/* How a wait ends. */
enum rig_exec_end {
    RIG_EXEC_DONE,
    RIG_EXEC_ENDED, /* the program closed its side, or is gone */
    RIG_EXEC_TIMEOUT,
    RIG_EXEC_INTERRUPTED,
    RIG_EXEC_TOO_LARGE, /* a line above the most that is taken */
};

/* Until when, and what ends it before. */
struct rig_exec_patience {
    const struct rig_core *core;
    int64_t deadline_ns;
    int wake_fd; /* -1: none */
    const atomic_bool *interrupted;
};

/* `most_bytes`: of one line. RIG_E_DRIVER when it cannot be started. */
enum rig_rc rig_exec_process_start(struct rig_exec_process *process, struct rig_children *children,
                                   const char *const *arguments, const char *home, int errors_fd, size_t most_bytes,
                                   struct rig_err *err);
/* After RIG_EXEC_ENDED: how, for a person: "it ended with exit status 1". Ends what is left of it. */
void rig_exec_process_tell_end(struct rig_exec_process *process, char *text, size_t size);
/* Kills the program. True when it is gone and had written nothing that rig_exec_receive() has not given away. */
bool rig_exec_process_silence(struct rig_exec_process *process);
/* Closes its input, gives it `grace_ns` to end, and ends it. Fit for one that is all zero. */
void rig_exec_process_end(struct rig_exec_process *process, int64_t grace_ns);

/* Sends a line, with its newline. `*sent`: how many bytes left, whatever came of it. */
enum rig_exec_end rig_exec_send(struct rig_exec_process *process, const struct rig_buf *line,
                                const struct rig_exec_patience *patience, size_t *sent);
/* Reads a line, without its newline; valid until the next call. */
enum rig_exec_end rig_exec_receive(struct rig_exec_process *process, const struct rig_exec_patience *patience,
                                   const char **line, size_t *size);

#endif
