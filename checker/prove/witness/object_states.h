/*
 * The specifications of objects for their verifiers (verify_type.h). States are texts, and share nothing with those of the
 * search (checker/objects/object_model.h).
 *
 * Space: the states reached. Threads: one at a time.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_OBJECT_STATES_H
#define RIG_CHECKER_PROVE_WITNESS_OBJECT_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/model/history.h"

RIG_VEC(char *, rig_proved_texts)
RIG_VEC(uint32_t, rig_proved_lengths)

struct rig_proved_states {
    enum rig_workload workload;
    struct rig_proved_texts texts; /* by the number of the state */
    struct rig_proved_lengths lengths;
    struct rig_table ids;
    struct rig_buf text; /* scratch */
    bool no_memory;
};

uint64_t rig_proved_hash(const char *bytes, size_t size);

void rig_proved_states_init(struct rig_proved_states *states, enum rig_workload workload);
void rig_proved_states_done(struct rig_proved_states *states);

/* The number of the state that `text` has; sets `no_memory` when memory runs out. */
uint32_t rig_proved_state(struct rig_proved_states *states);
/* The number of the initial state. */
uint32_t rig_proved_initial(struct rig_proved_states *states);
/* The state after the micro-operations; false: they are impossible, or memory ran out. */
bool rig_proved_apply(struct rig_proved_states *states, uint64_t state, const struct rig_txn_op *ops, uint32_t count,
                      uint32_t *after);

/* A drain is a transaction of several takes, each an operation of its own. */
bool rig_proved_takes_only(const struct rig_txn_op *ops, uint32_t count);
/* A read of a register or a string, which changes nothing. */
bool rig_proved_observes(const struct rig_txn_op *ops, uint32_t count);

#endif
