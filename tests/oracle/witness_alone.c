#include "tests/oracle/witness_alone.h"

#include <string.h>

#include "tests/oracle/level_meaning.h"
#include "tests/oracle/version_cases.h"

static int small_id(const struct small_history *small, const struct rig_history *history, uint32_t txn)
{
    const int name = (int)rig_txn_name(history, txn);
    for (int t = 0; t < small->txn_count; t++) {
        const struct small_txn *candidate = &small->txns[t];
        if (candidate->complete_at == name || (candidate->complete_at == SMALL_NEVER && candidate->invoke_at == name))
            return t;
    }
    return -1;
}

static bool in(uint32_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

/* The history of the transactions in `set` alone, which all count as committed; reads from others become unknown. */
static void keep_part(const struct small_history *history, uint32_t set, struct small_history *part)
{
    *part = *history;
    for (int t = 0; t < part->txn_count; t++) {
        part->txns[t].outcome = SMALL_OK;
        for (int i = 0; i < part->txns[t].op_count; i++) {
            struct small_op *op = &part->txns[t].ops[i];
            int write, writer = op->append || op->count == 0 ? t : small_writer(history, op->key, op->list[0], &write);
            if (!op->append && writer >= 0 && !in(set, writer))
                op->known = false;
        }
    }
    for (int t = part->txn_count; t-- > 0;) {
        if (in(set, t))
            continue;
        memmove(&part->txns[t], &part->txns[t + 1], (size_t)(part->txn_count - t - 1) * sizeof part->txns[0]);
        part->txn_count--;
    }
}

static enum case_answer explain_part(const struct small_history *history, uint32_t set, struct level_meaning meaning)
{
    struct small_history part;
    struct case_answers answers;
    keep_part(history, set, &part);
    version_cases_find(&part, &answers);
    return answers.answer[meaning.kind][meaning.order];
}

/* Whether any one of the transactions can be left out, although the proof says that it is minimal. */
static bool has_needless(const struct small_history *history, uint32_t set, enum rig_level level)
{
    for (int t = 0; t < history->txn_count; t++) {
        if (in(set, t) && explain_part(history, set & ~(UINT32_C(1) << t), level_meaning(level)) == CASES_NO)
            return true;
    }
    return false;
}

static const char *judge(const struct small_history *small, const struct rig_history *history,
                         const struct rig_witness *witness)
{
    uint32_t set = 0;
    bool acknowledged = true;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const int t = small_id(small, history, witness->txns[i]);
        if (t < 0)
            return "a witness names a transaction that is not there";
        set |= UINT32_C(1) << t;
        acknowledged &= small->txns[t].outcome == SMALL_OK;
    }
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct level_meaning meaning = level_meaning((enum rig_level)level);
        const bool asked = (witness->refutes & RIG_LEVEL_BIT(level)) != 0 && meaning.kind != EXECUTION_RU &&
                           (meaning.order == EXECUTION_PLAIN || acknowledged);
        if (asked && explain_part(small, set, meaning) == CASES_YES)
            return "the transactions of a witness alone have an execution at a level that it refutes";
    }
    if (witness->cases != NULL && witness->cases->minimal && acknowledged &&
        has_needless(small, set, witness->cases->level))
        return "a transaction of a minimal proof can be left out";
    return NULL;
}

const char *witnesses_stand_alone(const struct small_history *small, const struct rig_verdict *verdict)
{
    struct small_history named = *small;
    const char *wrong = NULL;
    small_name_initial(&named);
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT && wrong == NULL; a++) {
        const struct rig_finding *finding = &verdict->findings[a];
        for (uint32_t i = 0; i < finding->witness_count && wrong == NULL; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            if (witness->step_count > 0 || witness->cases != NULL)
                wrong = judge(&named, verdict->history, witness);
        }
    }
    return wrong;
}
