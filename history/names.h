/*
 * Names that a run gives numbers to, for side columns of names (history/columns.h): of nodes, mostly.
 *
 * Numbers count from 0 and stay. Space: the texts, at most RIG_NAMES_MOST. Threads: any; a lock of its own, under which
 * nothing is taken.
 */
#ifndef RIG_HISTORY_NAMES_H
#define RIG_HISTORY_NAMES_H

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
/* The number of the text, new or known. RIG_COLUMN_NONE where it is empty, RIG_COLUMN_NAME_BYTES long or longer, or has
 * control characters, where there are too many names, and when memory runs out. */
int64_t rig_names_number(struct rig_names *names, const char *text);
/* Adds the names that `known` lacks, by their numbers; they live as long as `names`. False when memory runs out. */
bool rig_names_follow(struct rig_names *names, struct rig_name_vec *known);

#endif
