/*
 * Strings that no read shows.
 *
 * The order of concurrent appends is open until a read shows the string, so a search that does not look ahead has to
 * keep all their permutations. This looks ahead. Let R be, of the reads that are invoked after some moment, the one
 * that completes first. If the string is s then, and a read shows it before the next put takes effect, so that s is a
 * beginning of what the read shows, then that read completes after the moment and is invoked before R ends: else R
 * comes first, and shows s as well. So a string that is not a beginning of what one of these reads shows, and all that
 * appends make of it, are the same until the next put: the vague state. A vague string stays vague, whatever later
 * operations show.
 *
 * Where operations follow that are not known yet, R has to end before the first of them is invoked. After the last
 * moment with such an R no string becomes vague.
 *
 * Space: 48 bytes a read, 8 bytes a state, and 12 to 24 bytes for each beginning of the reads of a moment. Time: linear
 * in the bytes that were read. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_STRINGS_H
#define RIG_CHECKER_OBJECTS_OBJECT_STRINGS_H

#include "base/table.h"
#include "checker/objects/object_rows.h"

/* A read of a known string. */
struct rig_string_read {
    uint32_t op, invoke, end;
    uint32_t first_end; /* the first end of this read and those that were invoked after it */
};

RIG_VEC(struct rig_string_read, rig_string_reads)
RIG_VEC(uint64_t, rig_string_hashes)

struct rig_object_strings {
    const struct rig_object_model *model; /* of the classes of `ops` */
    struct rig_object_op_list ops;
    struct rig_string_reads reads;  /* in the order of their invocations */
    struct rig_string_reads by_end; /* in the order of their ends */
    struct rig_table shown;         /* hash of a beginning -> how many of the reads that count now have it; equal hashes
                                        only keep more states apart */
    struct rig_string_hashes hashes; /* of states; 0: not computed */
    size_t added, removed, behind;   /* reads that count are added to `shown`; `behind` were invoked by now */
    uint32_t vague_until;            /* after this position no string becomes vague; RIG_POSITION_NONE: all may */
    bool may_be_vague;               /* now */
};

/* Operations that begin after position `until` are not all known; RIG_POSITION_NONE: they are. `into` is initialised;
 * the operations become classes of it, and it uses the strings from now on. False when memory runs out.
 * rig_object_strings_done() follows in either case, after the last use of `into`. */
bool rig_object_strings_init(struct rig_object_strings *strings, const struct rig_object_model *from,
                             const struct rig_object_op *ops, uint32_t count, uint32_t until,
                             struct rig_object_model *into);
void rig_object_strings_done(struct rig_object_strings *strings);

/* The moment is the one before the completion at `position`. Positions ascend, from rig_object_strings_begin() on.
 * False when memory runs out. */
void rig_object_strings_begin(struct rig_object_strings *strings);
bool rig_object_strings_move(struct rig_object_strings *strings, uint32_t position);

/* The state itself, or the vague one. RIG_OBJECT_NONE when memory runs out. */
uint32_t rig_object_strings_state(struct rig_object_strings *strings, uint32_t state);

#endif
