/* Witnesses of objects that are not linearizable. */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_WITNESS_H
#define RIG_CHECKER_OBJECTS_OBJECT_WITNESS_H

#include "checker/objects/object_key.h"
#include "checker/model/verdict.h"

/* After REFUTED: fills in the witness, which has no texts yet (explain/sentence.h); arrays come from the arena, what is from
 * earlier windows is borrowed. `number` is that of the key. False when memory runs out. */
bool rig_object_witness(const struct rig_object_key *key, uint32_t number, const struct rig_object_decided *decided,
                        struct rig_arena *arena, struct rig_witness *witness);

#endif
