/*
 * Checking a history as a stream (history/source.h): in windows where it is long, in memory where it is short. While it
 * is read the last use of every key is noted (census.h): where windows guessed wrong, the rest is read for that only,
 * and then the history is judged in windows again, which guess no more. So nothing is read more than twice. A history
 * whose events are not in the order of their times is judged as a whole.
 *
 * Threads: the calling one, beside those of the source.
 */
#ifndef RIG_CHECKER_CHECK_SOURCE_H
#define RIG_CHECKER_CHECK_SOURCE_H

#include "checker/windows.h"
#include "history/source.h"

/*
 * Reads the source to its end and gives a verdict that owns what it refers to. `name` stands for the history in errors.
 * Errors as in history/load.h and checker/check.h; RIG_E_LIMIT, before the work starts, when the history has to be in
 * memory as a whole (registers) and options->check.limit_bytes is less than that takes.
 */
enum rig_rc rig_check_source(struct rig_source *source, const char *name, const struct rig_windows_options *options,
                             struct rig_verdict **verdict, struct rig_err *err);

/* The same of the file at `path` ("-": standard input). */
enum rig_rc rig_check_file(const char *path, const struct rig_source_options *source,
                           const struct rig_windows_options *options, struct rig_verdict **verdict,
                           struct rig_err *err);

/* About how many bytes it takes to check a history of `size_bytes` in this form as a whole. */
uint64_t rig_check_planned_bytes(enum rig_form form, uint64_t size_bytes);

#endif
