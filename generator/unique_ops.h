/*
 * Operations that write a value which no other operation writes to the key, and reads of all of a key: for lists, where
 * a read shows the whole version history of its key, and for registers, which are written blindly (Kingsbury & Alvaro
 * 2020).
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_UNIQUE_OPS_H
#define RIG_GENERATOR_UNIQUE_OPS_H

#include "generator/generator.h"

struct rig_key_slot;

/* Writes one operation; true when it reads. */
bool rig_unique_op(struct rig_generator *generator, struct rig_op *op);
/* The same on the slot's key. */
struct rig_op rig_unique_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads);

#endif
