/*
 * Which reads of a set need no look at their elements: those that show the first elements of their key's spine
 * (history/model/history.h), all different and added by transactions that did not fail. Such reads differ only in their
 * number of elements.
 *
 * Each place of a spine is looked at once, whatever the number of reads. Space: a byte an element, 5 a key.
 */
#ifndef RIG_CHECKER_INFER_SET_PLAIN_H
#define RIG_CHECKER_INFER_SET_PLAIN_H

#include "checker/infer/sets.h"

struct rig_set_plain {
    const struct rig_sets *sets; /* borrowed */
    uint32_t *length;            /* per key: number of places of the spine that are known to be plain */
    uint8_t *ended;              /* per key: the place after these is not plain */
    uint8_t *seen;               /* per element: at one of these places */
};

/* Memory comes from the arena; false when it runs out. */
bool rig_set_plain_init(struct rig_set_plain *plain, const struct rig_sets *sets, struct rig_arena *arena);
/* Whether the list that was read of the key is such a part of its spine. */
bool rig_set_plain_is(struct rig_set_plain *plain, uint32_t key, const struct rig_read_list *list);

#endif
