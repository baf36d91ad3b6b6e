/*
 * Checks a history as a stream (history/source/source.h): a long one in windows, a short one in memory. The first pass
 * notes the last use of every key (stream_full.h). When a window has guessed the last use of a key wrongly, the rest of
 * the pass only completes these notes, and a second pass judges the history in windows without guesses. So a history is
 * read at most twice; each assumption about registers that turns out false takes one more pass, without that
 * assumption. A history whose events are not in the order of their times is judged as a whole.
 *
 * Threads: the calling one, beside those of the source.
 */
#ifndef RIG_CHECKER_JUDGE_CHECK_SOURCE_H
#define RIG_CHECKER_JUDGE_CHECK_SOURCE_H

#include "checker/judge/stream/stream.h"
#include "history/source/source.h"

/*
 * Reads the source to its end and gives a verdict that owns what it refers to. Errors name the history as `name`.
 * Errors as in history/source/load.h and checker/judge/check.h; RIG_E_LIMIT when options->check.limit_bytes is too
 * small for the windows, or for the whole of a history whose events are not in the order of their times.
 */
enum rig_rc rig_check_source(struct rig_source *source, const char *name, const struct rig_stream_options *options,
                             struct rig_verdict **verdict, struct rig_err *err);

/* The same for the file at `path` ("-": standard input). */
enum rig_rc rig_check_file(const char *path, const struct rig_source_options *source,
                           const struct rig_stream_options *options, struct rig_verdict **verdict, struct rig_err *err);

#endif
