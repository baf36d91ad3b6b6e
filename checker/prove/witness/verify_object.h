/* The verifier of objects (verify_type.h), and its use of the search for an order. */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_OBJECT_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_OBJECT_H

#include "checker/prove/object_order_search.h"
#include "checker/prove/witness/verify_type.h"

/* Proves that the units have no order. Gives what the proof lacks, `has_order` where they have one; NULL: nothing. */
const char *rig_verify_units(const struct rig_proof *proof, struct rig_order_units *units, uint32_t group_count,
                             const struct rig_search_from *from, const char *has_order);

#endif
