/*
 * Checking a history as a stream (history/source.h): in windows where it is long, in memory where it is short. While it
 * is read the last use of every key is noted (census.h): where windows guessed wrong, the rest is read for that only,
 * and then the history is judged in windows again, which guess no more. So nothing is read more than twice, unless what
 * is assumed of registers turns out not to hold of all of them: that takes another pass, without it. A history whose
 * events are not in the order of their times is judged as a whole.
 *
 * Threads: the calling one, beside those of the source.
 */
#ifndef RIG_CHECKER_CHECK_SOURCE_H
#define RIG_CHECKER_CHECK_SOURCE_H

#include "checker/stream/stream.h"
#include "history/source.h"

/*
 * Reads the source to its end and gives a verdict that owns what it refers to. `name` stands for the history in errors.
 * Errors as in history/load.h and checker/check.h; RIG_E_LIMIT when the history has to be in memory as a whole (its
 * events are not in the order of their times) and options->check.limit_bytes is less than that takes, or when windows
 * outgrow it.
 */
enum rig_rc rig_check_source(struct rig_source *source, const char *name, const struct rig_stream_options *options,
                             struct rig_verdict **verdict, struct rig_err *err);

/* The same of the file at `path` ("-": standard input). */
enum rig_rc rig_check_file(const char *path, const struct rig_source_options *source,
                           const struct rig_stream_options *options, struct rig_verdict **verdict, struct rig_err *err);

/* About how many bytes it takes to check a history of `size_bytes` in this form as a whole. */
uint64_t rig_check_planned_bytes(enum rig_form form, uint64_t size_bytes);

#endif
