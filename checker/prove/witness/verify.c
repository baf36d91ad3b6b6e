#include "checker/prove/witness/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/model/own_level.h"
#include "checker/prove/witness/verify_cases.h"
#include "checker/prove/witness/verify_type.h"
#include "history/types/types.h"

struct rig_verifier {
    struct rig_proof proof;
    const struct rig_type_verifier *type;
};

static enum rig_rc refuse(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn,
                          const char *lacks, struct rig_err *err)
{
    RIG_REQUIRE(txn < history->txn_count && lacks != NULL);
    return rig_fail(err, RIG_E_BUG, "a witness of %s does not hold: T%" PRIu32 " %s; please report this history",
                    rig_anomaly_info(witness->anomaly)->name, rig_txn_name(history, txn), lacks);
}

struct rig_verifier *rig_verifier_new(const struct rig_history *history, bool prefilled)
{
    struct rig_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return NULL;
    verifier->type = rig_type_verifier(history->workload);
    verifier->proof.history = history;
    verifier->proof.prefilled = prefilled;
    verifier->proof.committed = calloc((size_t)history->txn_count + 1, sizeof *verifier->proof.committed);
    verifier->proof.raw = (struct rig_facts){.history = history,
                                             .form = RIG_FACTS_VERSIONS,
                                             .shape = rig_data_types[history->workload].shape,
                                             .prefilled = prefilled,
                                             .committed = verifier->proof.committed};
    if (verifier->proof.committed == NULL || !verifier->type->prove_committed(&verifier->proof)) {
        rig_verifier_free(verifier);
        return NULL;
    }
    return verifier;
}

void rig_verifier_begin(struct rig_verifier *verifier, struct rig_known_initial initial)
{
    verifier->proof.raw.assumes_initial = initial.known;
    verifier->proof.raw.initial = initial.value;
}

void rig_verifier_free(struct rig_verifier *verifier)
{
    if (verifier == NULL)
        return;
    if (verifier->type->free_facts != NULL)
        verifier->type->free_facts(verifier->proof.facts);
    free(verifier->proof.committed);
    free(verifier);
}

/* ---- steps of a cycle ---- */

const char *rig_verify_precedence(const struct rig_history *history, const struct rig_step *step)
{
    RIG_REQUIRE(step->from < history->txn_count && step->to < history->txn_count);
    RIG_REQUIRE(step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME);
    const struct rig_txn *from = &history->txns[step->from], *to = &history->txns[step->to];
    if (step->kind == RIG_EDGE_PROCESS && from->process != to->process)
        return "has another process than the next one";
    if (from->outcome != RIG_OUTCOME_OK)
        return "did not certainly end";
    if (step->kind == RIG_EDGE_PROCESS && history->in_turn)
        return from->complete_at < to->complete_at ? NULL : "did not complete before the next one of its process";
    if (to->invoke_at == RIG_POSITION_NONE)
        return step->kind == RIG_EDGE_PROCESS && from->complete_at < to->complete_at
                   ? NULL
                   : "is followed by one without an invocation";
    return from->complete_at < to->invoke_at ? NULL : "did not complete before the next one was invoked";
}

bool rig_verify_found_no_row(const struct rig_proof *proof, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(txn < proof->history->txn_count);
    return op < rig_txn_op_count(proof->history, txn) &&
           rig_read_found_no_row(proof->history, proof->prefilled, proof->history->txns[txn].first_op + op);
}

static const char *check_rw(const struct rig_verifier *verifier, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW);
    const bool has_rows = rig_data_types[verifier->proof.history->workload].shape == RIG_RESULT_ROWS;
    const char *lacks = verifier->type->check_step(&verifier->proof, step);
    if (lacks == NULL && !has_rows &&
        step->by_predicate != rig_verify_found_no_row(&verifier->proof, step->from, step->from_op))
        return step->by_predicate ? "found the row" : "found no row, which is no read of an item";
    return lacks;
}

static const char *check_step(const struct rig_verifier *verifier, const struct rig_step *step)
{
    const bool orders = step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME;
    if (step->from >= verifier->proof.history->txn_count || step->to >= verifier->proof.history->txn_count ||
        (!orders && step->key >= verifier->proof.history->key_count))
        return "is in a step that names no transaction or no key";
    switch (step->kind) {
    case RIG_EDGE_WW:
    case RIG_EDGE_WR:
        return verifier->type->check_step(&verifier->proof, step);
    case RIG_EDGE_RW:
        return check_rw(verifier, step);
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        return rig_verify_precedence(verifier->proof.history, step);
    }
    return "has a step of an unknown kind";
}

/* ---- the shape of a cycle ---- */

struct shape {
    bool wr, adjacent, process, realtime, settled, by_predicate;
    uint32_t rw;
};

/* `settled`: a cycle of writes is one at read uncommitted, too. */
static struct shape shape_of(const struct rig_verifier *verifier, const struct rig_witness *witness)
{
    const struct rig_history *history = verifier->proof.history;
    struct shape shape = {.settled = true};
    for (uint32_t i = 0; i < witness->step_count; i++) {
        enum rig_edge_kind kind = witness->steps[i].kind;
        enum rig_edge_kind next = witness->steps[i + 1 < witness->step_count ? i + 1 : 0].kind;
        shape.settled &= history->txns[witness->steps[i].from].outcome == RIG_OUTCOME_OK;
        shape.settled = shape.settled &&
                        (kind != RIG_EDGE_WW || verifier->type->is_acknowledged(&verifier->proof, &witness->steps[i]));
        shape.wr |= kind == RIG_EDGE_WR;
        shape.rw += kind == RIG_EDGE_RW;
        shape.adjacent |= kind == RIG_EDGE_RW && next == RIG_EDGE_RW;
        shape.by_predicate |= kind == RIG_EDGE_RW && witness->steps[i].by_predicate;
        shape.process |= kind == RIG_EDGE_PROCESS;
        shape.realtime |= kind == RIG_EDGE_REALTIME;
    }
    RIG_INVARIANT(shape.rw <= witness->step_count && (shape.rw > 0 || !shape.adjacent));
    RIG_INVARIANT(shape.rw > 0 || !shape.by_predicate);
    return shape;
}

/* Whether each step counts at the level of the transaction that it concerns. */
static bool is_obligatory(const struct rig_history *history, const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (!rig_edge_is_obligatory(history, &witness->steps[i]))
            return false;
    }
    return true;
}

static bool has_shape(const struct rig_verifier *verifier, const struct rig_witness *witness)
{
    struct shape s = shape_of(verifier, witness);
    enum rig_anomaly item;
    if (witness->anomaly == RIG_ANOMALY_G_MIXED)
        return is_obligatory(verifier->proof.history, witness);
    if (rig_anomaly_is_by_predicate(witness->anomaly, &item) != s.by_predicate)
        return false;
    bool plain = !s.process && !s.realtime;
    bool in_process = s.process && !s.realtime;
    bool g0 = s.rw == 0 && !s.wr && s.settled, g1c = s.rw == 0 && !g0, single = s.rw == 1;
    bool nonadjacent = s.rw > 1 && !s.adjacent, g2 = s.rw > 1 && s.adjacent;
    RIG_INVARIANT(g0 + g1c + single + nonadjacent + g2 == 1);
    switch ((int)item) {
    case RIG_ANOMALY_G0:
        return plain && g0;
    case RIG_ANOMALY_G1C:
        return plain && g1c;
    case RIG_ANOMALY_G_SINGLE:
        return plain && single;
    case RIG_ANOMALY_G_NONADJACENT:
        return plain && nonadjacent;
    case RIG_ANOMALY_G2_ITEM:
        return plain && g2;
    case RIG_ANOMALY_G0_PROCESS:
        return in_process && g0;
    case RIG_ANOMALY_G1C_PROCESS:
        return in_process && g1c;
    case RIG_ANOMALY_G_SINGLE_PROCESS:
        return in_process && single;
    case RIG_ANOMALY_G_NONADJACENT_PROCESS:
        return in_process && nonadjacent;
    case RIG_ANOMALY_G2_ITEM_PROCESS:
        return in_process && g2;
    case RIG_ANOMALY_G0_REALTIME:
        return s.realtime && g0;
    case RIG_ANOMALY_G1C_REALTIME:
        return s.realtime && g1c;
    case RIG_ANOMALY_G_SINGLE_REALTIME:
        return s.realtime && single;
    case RIG_ANOMALY_G_NONADJACENT_REALTIME:
        return s.realtime && nonadjacent;
    case RIG_ANOMALY_G2_ITEM_REALTIME:
        return s.realtime && g2;
    default:
        return false;
    }
}

static int compare_txns(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Whether no transaction stands in the cycle twice; false when memory runs out. */
static bool find_repetition(const struct rig_witness *witness, bool *distinct)
{
    RIG_REQUIRE(witness->txn_count > 0);
    uint32_t *txns = malloc(witness->txn_count * sizeof *txns);
    if (txns == NULL)
        return false;
    memcpy(txns, witness->txns, witness->txn_count * sizeof *txns);
    qsort(txns, witness->txn_count, sizeof *txns, compare_txns);
    *distinct = true;
    for (uint32_t i = 1; i < witness->txn_count; i++)
        *distinct &= txns[i] != txns[i - 1];
    free(txns);
    return true;
}

static enum rig_rc verify_cycle(const struct rig_verifier *verifier, const struct rig_witness *witness,
                                struct rig_err *err)
{
    const struct rig_history *history = verifier->proof.history;
    if (witness->step_count < 2 || witness->txn_count != witness->step_count)
        return refuse(history, witness, witness->txns[0], "is not in a cycle", err);
    for (uint32_t i = 0; i < witness->step_count; i++) {
        const struct rig_step *step = &witness->steps[i];
        const struct rig_step *next = &witness->steps[i + 1 < witness->step_count ? i + 1 : 0];
        if (step->to != next->from || step->from != witness->txns[i])
            return refuse(history, witness, step->from, "does not lead to the next step", err);
        if (!verifier->proof.committed[step->from])
            return refuse(history, witness, step->from, "did not certainly commit", err);
        const char *lacks = check_step(verifier, step);
        if (lacks != NULL)
            return refuse(history, witness, step->from, lacks, err);
    }
    bool distinct;
    if (!find_repetition(witness, &distinct))
        return rig_memory_limit(err, "the proof of a witness");
    if (!distinct)
        return refuse(history, witness, witness->txns[0], "is in a cycle that passes a transaction twice", err);
    if (!has_shape(verifier, witness))
        return refuse(history, witness, witness->txns[0], "is in a cycle of another shape", err);
    return RIG_OK;
}
static enum rig_rc verify_cases(const struct rig_verifier *verifier, const struct rig_witness *witness,
                                struct rig_err *err)
{
    RIG_REQUIRE(witness->cases != NULL && witness->txn_count > 0);
    struct rig_cases_lack lack;
    if (witness->anomaly != RIG_ANOMALY_NO_VERSION_ORDER || witness->step_count > 0)
        return refuse(verifier->proof.history, witness, witness->txns[0], "is in a proof of another anomaly", err);
    if (!rig_verify_cases(&verifier->proof, verifier->type, witness, &lack))
        return rig_memory_limit(err, "the proof of a witness");
    return lack.lacks == NULL ? RIG_OK : refuse(verifier->proof.history, witness, lack.txn, lack.lacks, err);
}

enum rig_rc rig_verify_witness(const struct rig_verifier *verifier, const struct rig_witness *witness,
                               struct rig_err *err)
{
    RIG_REQUIRE(witness->txn_count > 0 && (unsigned)witness->anomaly < RIG_ANOMALY_COUNT);
    if (witness->cases != NULL)
        return verify_cases(verifier, witness, err);
    if (witness->step_count > 0)
        return verify_cycle(verifier, witness, err);
    if (!verifier->proof.committed[witness->txns[0]])
        return refuse(verifier->proof.history, witness, witness->txns[0], "did not certainly commit", err);
    const char *lacks = verifier->type->check_noncyclic(&verifier->proof, witness);
    if (lacks == rig_verify_spent)
        return rig_fail(err, RIG_E_LIMIT, "a witness %s", lacks);
    return lacks == NULL ? RIG_OK : refuse(verifier->proof.history, witness, witness->txns[0], lacks, err);
}
