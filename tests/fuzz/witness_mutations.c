/*
 * Witnesses of random histories of every type: rig's prover accepts each as the checker found it. Then fields are
 * exchanged for others of their kind: no crash (under the sanitizers: no bad access), and no accepted witness refutes a
 * level that holds.
 *
 *   witness_mutations [COUNT] [SEED] [LOG]
 *
 * COUNT histories of each type. LOG gets a line for each changed witness with the prover's answer, so that two versions
 * of the prover can be compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/rng.h"
#include "checker/explain/refutes.h"
#include "checker/prove/witness/verify.h"
#include "generator/generator_types.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "tests/proof/proof_histories.h"

enum { PER_WITNESS = 40, MOST_WITNESSES = 3 };

static struct rig_rng rng;
static FILE *answers;

struct counts {
    uint64_t witnesses, proved, refused;
};

/* A witness whose fields may be changed. */
struct copy {
    struct rig_witness witness;
    struct rig_cases cases;
    struct rig_blocked blocked;
};

static uint32_t below(size_t bound)
{
    return (uint32_t)rig_rng_below(&rng, bound == 0 ? 1 : bound);
}

static void *copy_of(const void *from, size_t count, size_t size)
{
    void *to = calloc(count + 1, size);
    RIG_REQUIRE(to != NULL);
    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

static void copy_init(struct copy *c, const struct rig_witness *from)
{
    *c = (struct copy){.witness = *from};
    c->witness.txns = copy_of(from->txns, from->txn_count, sizeof *from->txns);
    c->witness.steps = copy_of(from->steps, from->step_count, sizeof *from->steps);
    if (from->cases != NULL) {
        c->cases = *from->cases;
        c->cases.lines = copy_of(c->cases.lines, c->cases.line_count, sizeof *c->cases.lines);
        c->cases.steps = copy_of(c->cases.steps, c->cases.step_count, sizeof *c->cases.steps);
        c->witness.cases = &c->cases;
    }
    if (from->blocked != NULL) {
        c->blocked = *from->blocked;
        c->blocked.values = copy_of(c->blocked.values, c->blocked.value_count, sizeof *c->blocked.values);
        c->witness.blocked = &c->blocked;
    }
}

static void copy_done(struct copy *c)
{
    free(c->witness.txns);
    free(c->witness.steps);
    free(c->cases.lines);
    free(c->cases.steps);
    free((void *)(uintptr_t)c->blocked.values);
}

/* ---- changes ---- */

static uint32_t any_txn(const struct rig_history *history)
{
    return below(history->txn_count);
}

static int64_t any_value(const struct rig_history *history, int64_t value)
{
    return below(3) == 0 || history->op_count == 0 ? value + (int64_t)below(3) - 1
                                                   : history->ops[below(history->op_count)].value;
}

static uint32_t any_op(void)
{
    return below(12) == 0 ? UINT32_MAX : below(6);
}

static void change_step(const struct rig_history *history, struct rig_step *step)
{
    switch (below(12)) {
    case 0:
        step->from = any_txn(history);
        break;
    case 1:
        step->to = any_txn(history);
        break;
    case 2:
        step->kind = (enum rig_edge_kind)below(5);
        break;
    case 3:
        step->key = below(history->key_count);
        break;
    case 4:
        step->from_value = any_value(history, step->from_value);
        break;
    case 5:
        step->to_value = any_value(history, step->to_value);
        break;
    case 6:
        step->from_op = any_op();
        break;
    case 7:
        step->to_op = any_op();
        break;
    case 8:
        step->order_txn = below(6) == 0 ? UINT32_MAX : any_txn(history);
        break;
    case 9:
        step->order_op = any_op();
        break;
    case 10:
        step->order = (enum rig_order_source)below(7);
        break;
    default:
        step->order_other = any_txn(history);
        break;
    }
}

static void change_cases(const struct rig_history *history, struct rig_cases *cases)
{
    struct rig_case *line = &cases->lines[below(cases->line_count)];
    switch (below(7)) {
    case 0:
        line->before = any_txn(history);
        break;
    case 1:
        line->after = any_txn(history);
        break;
    case 2:
        line->key = below(history->key_count);
        break;
    case 3:
        cases->level = (enum rig_level)below(RIG_LEVEL_COUNT);
        break;
    case 4:
        line->step_count = below(line->step_count + 2);
        break;
    case 5: /* of rows; in the whole proof, as cases that end name their lines' readers, too */
        for (uint32_t i = 0; i < cases->line_count; i++)
            cases->lines[i].reader =
                cases->lines[i].reader == cases->lines[i].before ? cases->lines[i].after : cases->lines[i].before;
        break;
    default:
        if (cases->step_count > 0)
            change_step(history, &cases->steps[below(cases->step_count)]);
        break;
    }
}

static void change_single(const struct rig_history *history, struct rig_witness *w)
{
    switch (below(6)) {
    case 0:
        w->key = below(history->key_count);
        break;
    case 1:
        w->op = any_op();
        break;
    case 2:
        w->other_op = any_op();
        break;
    case 3:
        w->value = any_value(history, w->value);
        break;
    case 4:
        w->other_value = any_value(history, w->other_value);
        break;
    default:
        w->txns[below(w->txn_count)] = any_txn(history);
        break;
    }
}

/* The transactions of a cycle stand in the order of its steps. */
static void change(const struct rig_history *history, struct copy *c)
{
    struct rig_witness *w = &c->witness;
    const uint32_t what = below(10);
    if (what == 0)
        w->anomaly = (enum rig_anomaly)below(RIG_ANOMALY_ORDER_MISMATCH);
    else if (w->cases != NULL)
        change_cases(history, &c->cases);
    else if (w->step_count > 0 && what == 1)
        w->step_count = w->txn_count = 1 + below(w->step_count);
    else if (w->step_count > 0)
        change_step(history, &w->steps[below(w->step_count)]);
    else if (w->blocked != NULL && w->blocked->value_count > 0 && what == 1)
        c->blocked.value_count = 1 + below(c->blocked.value_count);
    else if (what == 2 && w->txn_count > 1)
        w->txn_count--;
    else
        change_single(history, w);
    for (uint32_t i = 0; w->cases == NULL && i < w->step_count && below(3) > 0; i++)
        w->txns[i] = w->steps[i].from;
}

/* ---- witnesses ---- */

static bool is_wrong(const struct rig_verdict *verdict, const struct rig_witness *w)
{
    uint64_t refutes = 0, held = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        held |= verdict->levels[level].fate == RIG_FATE_HELD ? RIG_LEVEL_BIT(level) : 0;
    if (w->cases != NULL)
        refutes = w->refutes;
    else
        RIG_REQUIRE(rig_witness_refutes(verdict->history, verdict->lattice, w, false, &refutes));
    return (refutes & held) != 0;
}

static void mutate(const struct rig_verifier *verifier, const struct rig_verdict *verdict,
                   const struct rig_witness *witness, const char *name, struct counts *counts)
{
    for (int i = 0; i < PER_WITNESS; i++) {
        struct rig_err err = {0};
        struct copy c;
        copy_init(&c, witness);
        for (uint32_t times = 1 + below(2); times > 0; times--)
            change(verdict->history, &c);
        const enum rig_rc rc = rig_verify_witness(verifier, &c.witness, &err);
        RIG_REQUIRE(rc == RIG_OK || rc == RIG_E_BUG || rc == RIG_E_LIMIT);
        *(rc == RIG_OK ? &counts->proved : &counts->refused) += 1;
        if (answers != NULL)
            (void)fprintf(answers, "%s %s as %s, change %d: %d\n", name, rig_anomaly_info(witness->anomaly)->name,
                          rig_anomaly_info(c.witness.anomaly)->name, i, (int)rc);
        if (rc == RIG_OK && is_wrong(verdict, &c.witness)) {
            (void)fprintf(stderr, "%s: a changed witness of %s refutes a level that holds\n%s", name,
                          rig_anomaly_info(witness->anomaly)->name, witness->text);
            RIG_REQUIRE(false && "an accepted witness refutes no level that holds");
        }
        copy_done(&c);
    }
}

static void try_history(enum rig_workload workload, uint64_t seed, uint64_t number, struct counts *counts)
{
    const struct rig_check_options options = proof_history_options(workload, number);
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_history *history = proof_history(workload, seed, number);
    char name[80];
    (void)snprintf(name, sizeof name, "%s %" PRIu64, rig_data_types[workload].name, number);
    const enum rig_rc rc = history == NULL ? RIG_E_INPUT : rig_check(history, &options, &verdict, &err);
    if (rc == RIG_E_BUG) {
        (void)fprintf(stderr, "%s: %s\n", name, err.text);
        (void)rig_history_save(history, "-", &(struct rig_save_options){.form = RIG_FORM_JSON_LINES}, &err);
    }
    RIG_REQUIRE(rc != RIG_E_BUG);
    if (rc == RIG_OK) {
        const bool prefilled = (options.assumptions & RIG_ASSUMES_PREFILLED) != 0;
        struct rig_verifier *verifier = rig_verifier_new(history, prefilled);
        RIG_REQUIRE(verifier != NULL);
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_ORDER_MISMATCH; anomaly++) {
            const struct rig_finding *finding = &verdict->findings[anomaly];
            for (uint32_t i = 0; i < finding->witness_count && i < MOST_WITNESSES; i++) {
                if (rig_verify_witness(verifier, &finding->witnesses[i], &err) != RIG_OK)
                    (void)fprintf(stderr, "%s: %s\n", name, err.text);
                RIG_REQUIRE(err.rc == RIG_OK);
                mutate(verifier, verdict, &finding->witnesses[i], name, counts);
                counts->witnesses++;
            }
        }
        rig_verifier_free(verifier);
    }
    rig_verdict_free(verdict);
    rig_history_free(history);
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : rig_rng_fresh_seed();
    bool passed = true;
    answers = argc > 3 ? fopen(argv[3], "w") : NULL;
    printf("seed %" PRIu64 "\n", seed);
    (void)fflush(stdout);
    rig_rng_init(&rng, seed, 0);
    for (int type = 0; type < RIG_WORKLOAD_COUNT; type++) {
        struct counts counts = {0};
        if (!rig_generator_has(type) || rig_workload_has_specification((enum rig_workload)type))
            continue; /* tests/oracle/model_orders.py has models */
        for (uint64_t number = 0; number < count; number++)
            try_history((enum rig_workload)type, seed, number, &counts);
        printf("%s: %" PRIu64 " witnesses; changed, %" PRIu64 " proved and true, %" PRIu64 " refused\n",
               rig_data_types[type].name, counts.witnesses, counts.proved, counts.refused);
        passed = passed && counts.refused >= counts.proved / 4;
    }
    if (answers != NULL)
        (void)fclose(answers);
    return passed ? 0 : 1;
}
