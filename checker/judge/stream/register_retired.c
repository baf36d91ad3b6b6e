/* The memory of finished registers (retired.h), and the later uses that are allowed. */
#include "checker/judge/stream/retired_private.h"

/* Remembers all values that any transaction wrote or read, and an anomaly: a later read may show that a write was not
 * lost. */
static bool remember(const struct rig_retiring *r, uint32_t key, bool dropped)
{
    const struct rig_registers *registers = &r->inference->registers;
    uint32_t begin, end;
    rig_registers_versions_of(registers, key, &begin, &end);
    /* A read of the initial state of a key that was never written comes before all later writes of it. */
    if (begin == end)
        return true;
    const struct rig_retired_values values = {.lowest = registers->versions[begin].value,
                                              .highest = registers->versions[end - 1].value,
                                              .count = end - begin};
    struct retired_key *kept = rig_retired_put(r->retired, r->inference->history, key);
    if (kept == NULL || !rig_retired_widen(r->retired, kept, &values))
        return false;
    kept->anomalous |= r->anomalous != NULL && r->anomalous[key];
    for (uint32_t i = begin; kept->bits != NULL && i < end; i++)
        rig_retired_set_bit(kept, registers->versions[i].value);
    return !dropped || rig_retired_rest(r->retired, kept);
}

/* Reads of aborted transactions cause no conflict. */
static void admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    bool old = op->read_state == RIG_READ_NIL || (op->read_state == RIG_READ_SEEN && rig_retired_holds(key, op->value));
    if (!rig_op_reads(op->kind))
        rig_admission_write(a, key, op->value);
    else if (outcome != RIG_OUTCOME_FAIL && key->anomalous && op->read_state != RIG_READ_UNKNOWN)
        a->conflict = "a register with an anomaly is read again after a long time";
    else if (outcome != RIG_OUTCOME_FAIL && old)
        a->conflict = "a register is read after a long time, with its old value";
}

static bool admit(struct rig_admission *a)
{
    rig_admission_walk(a, admit_op);
    return true;
}

/* Never settled: a read of a remembered value is a conflict. */
const struct rig_type_retired rig_register_retired = {.remember = remember, .admit = admit};
