/*
 * A history in memory as the stream of segments that a reader would make of its record: the given number of complete
 * transactions each, with those that are open where it ends. For tests of modules that take segments.
 */
#ifndef RIG_TESTS_MODEL_CUT_HISTORY_H
#define RIG_TESTS_MODEL_CUT_HISTORY_H

#include "history/model/history.h"
#include "history/model/segment.h"

struct cut_history {
    const struct rig_history *history; /* borrowed */
    uint32_t txns_per_segment;
    uint32_t next; /* transaction */
    bool ended;
    struct rig_segment segment;
    uint32_t *key_of;    /* per key of the history: its number in the segment + 1; 0: none */
    uint32_t *keys;      /* of the segment */
    uint32_t *branch_of; /* per branch of the history: the same */
};

/* Stops the program when memory runs out, as all functions here do. */
void cut_history_init(struct cut_history *cut, const struct rig_history *history, uint32_t txns_per_segment);
void cut_history_done(struct cut_history *cut);
/* The next segment, borrowed until the next call; NULL at the end. There is at least one. */
const struct rig_segment *cut_history_next(struct cut_history *cut);

#endif
