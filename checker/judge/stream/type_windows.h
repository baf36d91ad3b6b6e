/*
 * The table of data types for windows: how a key is finished, what is kept of it, and how much memory judging takes. A
 * row is asked once a window, segment or key.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_TYPE_WINDOWS_H
#define RIG_CHECKER_JUDGE_STREAM_TYPE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "history/model/transaction.h"

struct rig_closing_search;
struct rig_type_retired;

struct rig_type_windows {
    /* For the closing set (closing.h): makes the search wait for transactions of unknown outcome. NULL: none of them
     * counts as committed. */
    void (*wait_for_unknown)(struct rig_closing_search *search);
    const struct rig_type_retired *retired; /* the memory of finished keys: retired_private.h */
    uint32_t load_percent; /* estimated memory for judging a window, of its size, until it is measured */
    bool arena_only;       /* all of that memory comes from the judge's arena, except what the solver takes: */
    uint32_t solver_bytes; /*   bytes for each operation, measured (bench/RESULTS.md) */
};

/* The workload is one that rig checks (rig_type_require()). */
const struct rig_type_windows *rig_type_windows(enum rig_workload workload);

#endif
