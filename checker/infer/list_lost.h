/*
 * lost-append: acknowledged appends that are gone.
 *
 * Let T be an acknowledged append of v, and consider the acknowledged reads of the key in other transactions. v is lost
 * when one of them began after T's acknowledgement and after each that shows v completed, and
 *   - none that shows v completed after the acknowledgement, or
 *   - it shows an append that was requested after the acknowledgement: the list went on without v.
 * Lists only grow, so strict serializability requires each read that began after the acknowledgement to show v. A read
 * that misses v before another one shows it again is stale, and v is not lost. Reads that show v, and later ones that
 * show less of the same list, may come from a stale copy.
 *
 * Each such append lies on a cycle with one real-time edge (the later read precedes T by what it misses, and follows it
 * in real time), unless the reads of its key contradict each other. So the search is needed only where there is either.
 *
 * Time: linear in the history, plus sorting the reads of the keys in question. Space: 4 bytes a slot, 8 an element of
 * the lists, and 16 to 32 for each read and append of the keys in question; released before it returns.
 */
#ifndef RIG_CHECKER_INFER_LIST_LOST_H
#define RIG_CHECKER_INFER_LIST_LOST_H

#include <stdbool.h>

#include "checker/infer/noncyclic.h"
#include "checker/infer/versions.h"

/* Counts and notes them, and adds each one to `all`. False when memory runs out. */
bool rig_list_lost_appends(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic,
                           struct rig_noncyclic_list *all);

#endif
