/* What a check in windows is made of: for the files that implement checker/windows.h and for nobody else. */
#ifndef RIG_CHECKER_WINDOWS_PRIVATE_H
#define RIG_CHECKER_WINDOWS_PRIVATE_H

#include "checker/budget.h"
#include "checker/retired/retired.h"
#include "checker/verdict_storage.h"
#include "checker/windows.h"
#include "history/window.h"

struct rig_windows {
    struct rig_windows_options options;
    struct rig_window *window;
    struct rig_judge judge;
    struct rig_judge peeking; /* set up by the first peek */
    bool peeks;
    struct rig_retired *retired;
    struct rig_evidence *evidence;
    struct rig_findings findings;
    struct rig_verdict_storage *storage;
    struct rig_budget budget;
    uint64_t fed_count;    /* transactions */
    uint64_t new_count;    /* of them, since the last judgement */
    uint64_t held_count;   /* in the window, after the last judgement: not judged for good; */
    uint32_t old_count;    /*   and all that stayed */
    uint32_t judged_count; /* judgements made */
    bool of_registers;
    bool unclean;    /* a judgement found a cycle, or could not count real time */
    double share;    /* of the source, as read so far; 0: unknown */
    int64_t zero_ns; /* the first invocation */
    int64_t adding_ns;
    const char *conflict;
};

/* RIG_E_LIMIT. */
enum rig_rc rig_windows_no_memory(struct rig_err *err);

#endif
