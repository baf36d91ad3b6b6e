/*
 * Numbers for names, mostly of nodes, in the side columns of a run (history/model/columns.h).
 *
 * Numbers count from 0 and do not change. Space: the texts, at most RIG_NAMES_MOST. Threads: any; it has a lock, under
 * which no other is taken.
 */
#ifndef RIG_HISTORY_MODEL_NAMES_H
#define RIG_HISTORY_MODEL_NAMES_H

#include <pthread.h>

#include "base/vec.h"
#include "history/text/text_table.h"

enum { RIG_NAMES_MOST = 1 << 16 };

RIG_VEC(const char *, rig_name_vec)

struct rig_names {
    pthread_mutex_t lock;
    struct rig_text_table texts;
};

void rig_names_init(struct rig_names *names);
void rig_names_done(struct rig_names *names);
/* The number of the text, new or known. RIG_COLUMN_NONE if it is empty, has RIG_COLUMN_NAME_BYTES or more bytes or
 * control characters, if there are too many names, or when memory runs out. */
int64_t rig_names_number(struct rig_names *names, const char *text);
/* Adds the names that `known` lacks, by their numbers; they live as long as `names`. False when memory runs out. */
bool rig_names_follow(struct rig_names *names, struct rig_name_vec *known);

#endif
