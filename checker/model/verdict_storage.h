/*
 * The memory that a verdict owns beyond its struct. Private to checker/.
 */
#ifndef RIG_CHECKER_MODEL_VERDICT_STORAGE_H
#define RIG_CHECKER_MODEL_VERDICT_STORAGE_H

#include "base/arena.h"
#include "checker/model/verdict.h"

struct rig_verdict_storage {
    struct rig_verdict verdict;
    struct rig_arena arena;      /* texts and witnesses */
    struct rig_history *history; /* NULL: the caller's */
};

#endif
