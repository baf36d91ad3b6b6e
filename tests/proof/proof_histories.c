#include "tests/proof/proof_histories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/rng.h"
#include "checker/infer/type_inference.h"
#include "generator/generator_types.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "tests/model/sim_history.h"
#include "tests/oracle/small_execution.h"
#include "tests/oracle/small_wild.h"
#include "tests/proof/wild_rows.h"

/* ---- histories of the oracles ---- */

static bool is_of_oracles(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_LIST_APPEND || workload == RIG_WORKLOAD_RW_REGISTER || workload == RIG_WORKLOAD_SET;
}

/* Appends become additions to sets. */
static void name_additions(char *text)
{
    static const char append[] = "\"append\"", add[] = "\"add\"   "; /* of the same length */
    for (char *at = strstr(text, append); at != NULL; at = strstr(at, append))
        memcpy(at, add, sizeof add - 1);
}

static struct rig_history *oracle_history(enum rig_workload workload, uint64_t seed, uint64_t number)
{
    struct rig_err err = {0};
    const struct small_shape shape = {.registers = workload == RIG_WORKLOAD_RW_REGISTER, .least = 2, .most = 7};
    const struct rig_load_options load = {.form = RIG_FORM_JSON_LINES, .workload_given = true, .workload = workload};
    struct small_history small;
    struct rig_history *history = NULL;
    char *text = NULL;
    size_t size = 0;
    small_execution(seed, number, shape, &small);
    for (uint64_t i = number; number % 2 == 0 && i % 40 != 39; i++) { /* the wild ones are of either kind */
        small_wild(seed, i, &small);
        if (small.registers == shape.registers)
            break;
    }
    FILE *out = open_memstream(&text, &size);
    RIG_REQUIRE(out != NULL);
    small_print_json(&small, out);
    (void)fclose(out);
    if (workload == RIG_WORKLOAD_SET)
        name_additions(text);
    if (small.txn_count > 0 && small.registers == shape.registers)
        (void)rig_history_parse("small", text, size, &load, &history, &err);
    free(text);
    return history;
}

/* ---- histories of the simulated database ---- */

static void draw_settings(struct rig_rng *rng, enum rig_workload workload, struct sim_settings *settings)
{
    struct rig_err err;
    do {
        sim_settings_init(settings, (enum rig_sim_isolation)rig_rng_below(rng, RIG_SIM_ISOLATION_COUNT),
                          (enum rig_sim_bug)rig_rng_below(rng, RIG_SIM_BUG_COUNT));
        err = (struct rig_err){0};
    } while (rig_sim_options_check(&settings->sim, workload, &err) != RIG_OK);
    settings->sim.bug_rate = 0.4;
    settings->sim.staleness = 2;
    settings->sim.abort_rate = 0.05;
    settings->sim.info_rate = rig_rng_below(rng, 2) == 0 ? 0.1 : 0;
    settings->sim.loss_rate = 0.05;
    settings->workload.type = workload;
    settings->workload.active_keys = 1 + (int64_t)rig_rng_below(rng, 3);
    settings->workload.key_distribution = RIG_KEYS_UNIFORM;
    settings->workload.max_operations = rig_workload_is_object(workload) ? 1 : 1 + (int64_t)rig_rng_below(rng, 4);
    settings->workload.appends_per_key = 30;
    settings->workload.compare_and_sets = 0.5;
    settings->workload.puts = 0.3;
    settings->workload.values = 4;
    settings->workload.lock_kind = (int64_t)rig_rng_below(rng, 3);
    settings->workload.lock_most = 2;
    settings->workload.lock_lease_ns =
        settings->workload.lock_kind == RIG_LOCK_OWNER && rig_rng_below(rng, 2) == 0 ? 4 * RIG_SIM_TICK_NS : 0;
    settings->workload.lock_work = 0.2;
    settings->workload.amount_most = 3;
    settings->workload.amount_negative = 0.2;
    settings->workload.accounts = 3;
    settings->workload.balance = 5;
    settings->workload.group = 2;
    settings->workload.templates = 8;
    settings->workload.nulls = 0.15;
    settings->workload.aggregates = 0.1;
    settings->workload.references = 0.1;
    settings->session_count = 2 + (uint32_t)rig_rng_below(rng, 4);
    settings->txn_count = 3 + (uint32_t)rig_rng_below(rng, rig_workload_is_object(workload) ? 14 : 7);
    settings->seed = rig_rng_next(rng);
}

static void change_read(struct rig_rng *rng, struct seen_run *run, const struct seen_txn *txn, struct rig_read *read)
{
    int64_t *elements = run->elements.at + txn->first_element + read->first_element;
    const struct rig_read *other = &run->reads.at[rig_rng_below(rng, run->reads.count)];
    const enum rig_op_kind kind = run->ops.at[read - run->reads.at].kind;
    if (kind == RIG_OP_READ_WHERE || kind == RIG_OP_POLL) { /* pairs: without the first, or the last */
        if (read->state == RIG_READ_SEEN && read->count > 1) {
            read->count -= 2;
            read->first_element += 2 * rig_rng_below(rng, 2);
        }
    } else if (read->state == RIG_READ_SEEN && read->count > 1 && rig_rng_below(rng, 2) == 0) {
        const int64_t first = elements[0];
        elements[0] = elements[read->count - 1];
        elements[read->count - 1] = first;
    } else if (read->state == RIG_READ_SEEN && read->count > 0) {
        read->count--;
        read->first_element += rig_rng_below(rng, 2);
        read->state = read->count == 0 ? RIG_READ_NIL : RIG_READ_SEEN;
    } else if (read->state != RIG_READ_UNKNOWN && other->count == 0 && other->state != RIG_READ_UNKNOWN) {
        read->state = other->state;
        read->value = other->value;
    }
}

/* Changes a result or an outcome in some runs. */
static void falsify(struct rig_rng *rng, struct seen_run *run)
{
    for (uint64_t times = rig_rng_below(rng, 3); times > 0; times--) {
        struct seen_txn *txn = &run->txns.at[rig_rng_below(rng, run->txns.count)];
        const size_t op = txn->first_op + rig_rng_below(rng, txn->op_count);
        if (rig_op_reads(run->ops.at[op].kind) && rig_rng_below(rng, 4) > 0)
            change_read(rng, run, txn, &run->reads.at[op]);
        else if (txn->outcome == RIG_OUTCOME_OK)
            txn->outcome = rig_rng_below(rng, 2) == 0 ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
    }
}

static struct rig_history *simulated_history(enum rig_workload workload, uint64_t seed, uint64_t number)
{
    struct rig_rng rng;
    struct sim_settings settings;
    struct seen_run run;
    rig_rng_init(&rng, seed, number);
    draw_settings(&rng, workload, &settings);
    seen_run_init(&run, &settings);
    falsify(&rng, &run);
    struct rig_history *history = seen_run_history(&run, workload);
    seen_run_done(&run);
    return history;
}

bool proof_histories_have(enum rig_workload workload)
{
    /* tests/oracle/model_orders.py has the proofs of models. */
    return rig_generator_has(workload) && !rig_type_inference(workload)->no_proofs &&
           !rig_workload_has_specification(workload);
}

struct rig_history *proof_history(enum rig_workload workload, uint64_t seed, uint64_t number)
{
    if (workload == RIG_WORKLOAD_PREDICATE && number % 3 == 1)
        return wild_rows(seed, number);
    return is_of_oracles(workload) && number % 4 > 0 ? oracle_history(workload, seed, number)
                                                     : simulated_history(workload, seed, number);
}

struct rig_check_options proof_history_options(enum rig_workload workload, uint64_t number)
{
    struct rig_check_options options = {0};
    if (((unsigned)RIG_WORKLOADS_OF_REGISTERS >> workload & 1) != 0 && number % 3 == 0)
        options.assumptions = (unsigned)(number / 3 % (1U << RIG_ASSUMPTION_COUNT));
    if (workload == RIG_WORKLOAD_BANK && number % 2 == 0)
        options.total = (struct rig_known_total){.known = true, .value = 15};
    return options;
}
