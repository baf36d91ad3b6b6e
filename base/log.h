/*
 * The log of one run: lines `<UTC time> <level> <area>: <text>`, redacted (base/secret.h) and printable
 * (base/printable.h), into a file and, when asked for, to stderr. Library code reports failures through struct rig_err;
 * the log is for what happened on the way.
 *
 * Threads: any; a line is written whole.
 */
#ifndef RIG_BASE_LOG_H
#define RIG_BASE_LOG_H

#include <stdbool.h>

#include "base/err.h"

enum rig_log_level { RIG_LOG_ERROR, RIG_LOG_WARN, RIG_LOG_INFO, RIG_LOG_DEBUG };

/* Appends to the file from now on, until rig_log_close(). Before it, and after, lines go nowhere but stderr. */
enum rig_rc rig_log_open(const char *path, struct rig_err *err);
void rig_log_close(void);
/* Lines up to `level` also go to stderr; RIG_LOG_ERROR is the default. */
void rig_log_to_stderr(enum rig_log_level level);
/* Lines up to `level` are written at all; RIG_LOG_INFO is the default. */
void rig_log_verbosity(enum rig_log_level level);

void rig_log(enum rig_log_level level, const char *area, const char *format, ...) RIG_PRINTF(3, 4);

#endif
