/*
 * Texts that a source rewrites before it parses them: lines out of the order of their indices are sorted, and the
 * operations of Jepsen's classic workloads become transactions. Other texts stay as they are.
 *
 * Memory: the rewritten text, at most half of the limit, or of the machine's memory. Threads: none else uses the bytes.
 */
#ifndef RIG_HISTORY_SOURCE_SOURCE_REWRITE_H
#define RIG_HISTORY_SOURCE_SOURCE_REWRITE_H

#include "base/err.h"
#include "history/source/form_reader.h"
#include "history/source/source_bytes.h"
#include "history/text/text_origin.h"

struct rig_rewritten {
    struct rig_text_origin origin; /* where the lines were; none: the text is as it was */
    bool sorted;
    bool reads_at_once; /* see struct rig_history */
};

void rig_rewritten_done(struct rig_rewritten *rewritten);

/* Sorts by index where that is what the text lacks; `sorted` says so. The form is JSON lines or EDN. */
enum rig_rc rig_rewrite_sorted(const char *name, const struct rig_load_options *load, struct rig_source_bytes *bytes,
                               struct rig_rewritten *rewritten, struct rig_err *err);
/* Makes transactions of classic operations, in the order of their indices. Texts of other forms are left alone. */
enum rig_rc rig_rewrite_classic(const char *name, struct rig_load_options *load, struct rig_source_bytes *bytes,
                                struct rig_rewritten *rewritten, struct rig_err *err);

#endif
