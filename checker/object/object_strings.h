/*
 * Strings that no read shows.
 *
 * The order of concurrent appends is open until a read shows the string, so a search that does not look ahead has to keep
 * all their permutations. But a string that is not the beginning of one that a read of the key shows, and all that
 * appends make of it, only matter until the next put: no read fits them. So all of these are one state here, and an order
 * of the operations exists with that state if and only if it exists without it. That holds for all operations of the key,
 * not for a prefix.
 *
 * Space: 24 bytes for each different beginning of a string that was read. Time: linear in the bytes that were read.
 * Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECT_OBJECT_STRINGS_H
#define RIG_CHECKER_OBJECT_OBJECT_STRINGS_H

#include "base/table.h"
#include "checker/object/object_needed.h"

struct rig_object_strings {
    struct rig_table beginnings;   /* their hashes; equal hashes only keep more states apart */
    struct rig_object_op_list ops; /* the operations, as classes of the model for this key alone */
    bool usable;                   /* false: too many beginnings, or a read shows a byte of the common state */
};

/* False when memory runs out. rig_object_strings_done() follows in either case. */
bool rig_object_strings_init(struct rig_object_strings *strings, const struct rig_object_model *from,
                             const struct rig_object_op *ops, uint32_t count, struct rig_object_model *into);
void rig_object_strings_done(struct rig_object_strings *strings);

/* Makes it the common state unless it is the beginning of a string that was read. */
void rig_object_strings_merge(const struct rig_object_strings *strings, struct rig_buf *state);

#endif
