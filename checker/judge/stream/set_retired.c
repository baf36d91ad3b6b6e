/*
 * The memory of finished sets (retired.h): only which keys there were. Every later use of one is a conflict, and the
 * census then tells when a key is finished.
 */
#include "checker/judge/stream/retired_private.h"

static bool remember(const struct rig_retiring *r, uint32_t key, bool dropped)
{
    struct retired_key *kept = rig_retired_put(r->retired, r->inference->history, key);
    if (kept == NULL)
        return false;
    kept->anomalous = 1;
    return !dropped || rig_retired_rest(r->retired, kept);
}

/* Reads of aborted transactions cause no conflict. */
static void admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    if (!rig_op_reads(op->kind))
        rig_admission_write(a, key, op->value);
    else if (outcome != RIG_OUTCOME_FAIL)
        a->conflict = "a set is read again after a long time";
}

static bool admit(struct rig_admission *a)
{
    rig_admission_walk(a, admit_op);
    return true;
}

const struct rig_type_retired rig_set_retired = {.remember = remember, .admit = admit};
