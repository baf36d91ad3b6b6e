/*
 * The log of one run: lines `<UTC time> <level> <area>: <text>`, redacted (base/secret.h) and printable
 * (base/printable.h), into a file, errors to stderr as well. Library code reports failures through struct rig_err;
 * the log is for what happened on the way.
 *
 * The file is that of the thread and of all threads that it starts (base/thread.h), so that several runs in one process
 * have a log each. It is closed when the last of them closes it or ends.
 *
 * Threads: any; a line is written whole.
 */
#ifndef RIG_BASE_LOG_H
#define RIG_BASE_LOG_H

#include <stdbool.h>

#include "base/err.h"

struct rig_log_file;

/* Lines for debugging are not written. */
enum rig_log_level { RIG_LOG_ERROR, RIG_LOG_WARN, RIG_LOG_INFO, RIG_LOG_DEBUG };

/* This thread appends to the file from now on, until rig_log_close(). Before it, and after, its lines go nowhere, but
 * errors to stderr. */
enum rig_rc rig_log_open(const char *path, struct rig_err *err);
void rig_log_close(void);
/* Another holder of this thread's file; NULL where there is none. Gives it: to rig_log_use() or rig_log_release(). */
struct rig_log_file *rig_log_share(void);
/* Makes the file this thread's, in place of the one it had. Takes it; NULL: none. */
void rig_log_use(struct rig_log_file *file);
/* Takes NULL. */
void rig_log_release(struct rig_log_file *file);

/* Into this thread's file. */
void rig_log(enum rig_log_level level, const char *area, const char *format, ...) RIG_PRINTF(3, 4);
/* Into the given one, which is borrowed; NULL: to stderr only. */
void rig_log_into(struct rig_log_file *file, enum rig_log_level level, const char *area, const char *format, ...)
    RIG_PRINTF(4, 5);

#endif
