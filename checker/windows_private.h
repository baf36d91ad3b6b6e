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
    uint64_t fed_count;  /* transactions */
    uint64_t new_count;  /* of them, since the last judgement */
    uint64_t next_look;  /* before there are so many new ones it need not be asked again what judging would let go of */
    uint64_t held_count; /* in the window, after the last judgement: not judged for good; */
    uint32_t old_count;  /*   and all that stayed */
    uint32_t judged_count; /* judgements made */
    bool in_vain;          /* the last judgement could let go of nothing */
    bool of_registers;
    bool unclean;    /* a judgement found a cycle, or could not count real time */
    double share;    /* of the source, as read so far; 0: unknown */
    int64_t zero_ns; /* the first invocation */
    int64_t adding_ns;
    const char *conflict;
};

/* Whether it is time to judge the window, before there comes another segment like this one (windows_full.c). */
bool rig_windows_is_full(struct rig_windows *windows, const struct rig_segment *segment);
/* What is held beside the window and what judging it takes. */
size_t rig_windows_other_bytes(const struct rig_windows *windows);

/* Of a key of the window, shown as `view`: whether it may be used again, as far as boldness goes; and, where that is
 * guessed, whether it has not been used for so long that no boldness is needed to say so. */
bool rig_windows_key_is_in_use(const struct rig_windows *windows, const struct rig_history *view, uint32_t key);
bool rig_windows_key_is_idle(const struct rig_windows *windows, uint32_t key);

/* RIG_E_LIMIT. */
enum rig_rc rig_windows_no_memory(struct rig_err *err);

#endif
