/*
 * The lists of a part: what was read is a prefix of its key's spine, or stored whole.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_PART_LISTS_H
#define RIG_HISTORY_PART_LISTS_H

#include "history/operation_part.h"

/*
 * The list whose text begins at `at`, behind its bracket, as the result of `mop`; where the text goes on behind the
 * closing bracket, or NULL when it has anything unusual in it. `commas`: they must stand between numbers, once; else
 * they are blanks. `grows`: it may become the spine.
 */
const char *rig_part_list_text(struct rig_part *part, struct rig_mop *mop, const char *at, bool commas, bool grows);
/* A list that was parsed. False when memory runs out. */
bool rig_part_list(struct rig_part *part, struct rig_mop *mop, const struct rig_micro *micro, const int64_t *elements,
                   bool grows);

#endif
