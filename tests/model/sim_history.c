#include "tests/model/sim_history.h"

#include "drivers/sim/engine_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/builder.h"

void sim_settings_init(struct sim_settings *settings, enum rig_sim_isolation isolation, enum rig_sim_bug bug)
{
    *settings = (struct sim_settings){
        .sim = {.isolation = isolation, .bug = bug, .bug_rate = 0.2, .staleness = 20, .patience_ns = 1000000000},
        .workload = {.type = RIG_WORKLOAD_LIST_APPEND,
                     .transactions = 1,
                     .min_operations = 1,
                     .max_operations = 5,
                     .reads = 0.5,
                     .active_keys = 10,
                     .key_distribution = RIG_KEYS_EXPONENTIAL,
                     .zipf_exponent = 1,
                     .appends_per_key = 64,
                     .long_duration_ns = 10 * RIG_SIM_TICK_NS},
        .session_count = 5,
        .txn_count = 5000,
        .seed = 1,
    };
}

static void require(bool done, const char *what)
{
    if (done)
        return;
    (void)fprintf(stderr, "model: %s\n", what);
    exit(3);
}

/* ---- running ---- */

struct issuing {
    const struct sim_settings *settings;
    struct rig_sim_engine *engine;
    struct rig_generator **generators;
    struct rig_transaction *questions;
    int64_t *processes;
    uint32_t issued;
};

static void issue(struct issuing *issuing, uint32_t session)
{
    if (issuing->issued == issuing->settings->txn_count)
        return;
    issuing->issued++;
    struct rig_transaction *question = &issuing->questions[session];
    rig_generator_next(issuing->generators[session], question);
    rig_sim_engine_begin(issuing->engine, session, question->ops, question->op_count, &question->hold);
}

static void note(struct seen_run *run, struct issuing *issuing, uint32_t session)
{
    const struct rig_transaction *question = &issuing->questions[session];
    struct rig_sim_answer answer;
    rig_sim_engine_answer(issuing->engine, session, &answer);
    const struct seen_txn txn = {
        .invoke_ns = answer.invoke_ns,
        .complete_ns = answer.complete_ns,
        .process = issuing->processes[session],
        .outcome = answer.outcome,
        .error_code = answer.error_code,
        .first_op = run->ops.count,
        .op_count = question->op_count,
        .first_element = run->elements.count,
    };
    bool noted = seen_txns_add(&run->txns, txn);
    for (uint32_t i = 0; i < question->op_count; i++) {
        const struct rig_read none = {0};
        noted = noted && seen_ops_add(&run->ops, question->ops[i]) &&
                seen_reads_add(&run->reads, answer.reads == NULL ? none : answer.reads[i]);
    }
    for (size_t i = 0; i < answer.element_count; i++)
        noted = noted && seen_elements_add(&run->elements, answer.elements[i]);
    require(noted, "out of memory");
    if (answer.outcome == RIG_OUTCOME_INFO)
        issuing->processes[session] += issuing->settings->session_count;
}

/* ---- positions ---- */

struct event {
    int64_t at_ns;
    uint32_t txn;
    bool completes;
};

/* Times are distinct. A completion and the next invocation of one session may be equal in the simulator; not here. */
static int compare_events(const void *a, const void *b)
{
    const struct event *left = a, *right = b;
    RIG_INVARIANT(left == right || left->at_ns != right->at_ns);
    return left->at_ns < right->at_ns ? -1 : left->at_ns > right->at_ns;
}

static void number_events(struct seen_run *run)
{
    size_t count = run->txns.count * 2;
    struct event *events = calloc(count + 1, sizeof *events);
    require(events != NULL, "out of memory");
    for (uint32_t i = 0; i < run->txns.count; i++) {
        events[2 * i] = (struct event){run->txns.at[i].invoke_ns, i, false};
        events[2 * i + 1] = (struct event){run->txns.at[i].complete_ns, i, true};
    }
    qsort(events, count, sizeof *events, compare_events);
    for (uint32_t i = 0; i < count; i++) {
        struct seen_txn *txn = &run->txns.at[events[i].txn];
        *(events[i].completes ? &txn->complete_at : &txn->invoke_at) = i;
    }
    free(events);
}

void seen_run_init(struct seen_run *run, const struct sim_settings *settings)
{
    *run = (struct seen_run){0};
    uint32_t session_count = settings->session_count;
    struct issuing issuing = {
        .settings = settings,
        .engine = rig_sim_engine_new(&settings->sim, (enum rig_workload)settings->workload.type, settings->seed,
                                     session_count),
        .generators = calloc(session_count, sizeof(struct rig_generator *)),
        .questions = calloc(session_count, sizeof(struct rig_transaction)),
        .processes = calloc(session_count, sizeof(int64_t)),
    };
    require(issuing.engine != NULL && issuing.generators != NULL && issuing.questions != NULL &&
                issuing.processes != NULL,
            "out of memory");
    for (uint32_t i = 0; i < session_count; i++) {
        struct rig_err err = {0};
        require(rig_generator_new(&settings->workload, settings->seed, i, session_count, &issuing.generators[i],
                                  &err) == RIG_OK,
                err.text);
        issuing.processes[i] = i;
        issue(&issuing, i);
    }
    while (rig_sim_engine_busy_count(issuing.engine) > 0) {
        uint32_t session = rig_sim_engine_step(issuing.engine);
        if (session == RIG_SIM_NONE)
            continue;
        note(run, &issuing, session);
        issue(&issuing, session);
    }
    run->counts = issuing.engine->counts;
    number_events(run);
    for (uint32_t i = 0; i < session_count; i++)
        rig_generator_free(issuing.generators[i]);
    rig_sim_engine_free(issuing.engine);
    free(issuing.generators);
    free(issuing.questions);
    free(issuing.processes);
}

void seen_run_done(struct seen_run *run)
{
    seen_txns_done(&run->txns);
    seen_ops_done(&run->ops);
    seen_reads_done(&run->reads);
    seen_elements_done(&run->elements);
}

struct rig_history *seen_run_history(const struct seen_run *run, enum rig_workload workload)
{
    struct rig_err err = {0};
    struct rig_history_builder *builder = rig_history_builder_new(workload, 0);
    require(builder != NULL, "out of memory");
    for (size_t i = 0; i < run->txns.count; i++) {
        const struct seen_txn *txn = &run->txns.at[i];
        const struct rig_txn_input input = {
            .invoke_ns = txn->invoke_ns,
            .complete_ns = txn->complete_ns,
            .invoke_at = txn->invoke_at,
            .complete_at = txn->complete_at,
            .process = txn->process,
            .outcome = txn->outcome,
            .ops = run->ops.at + txn->first_op,
            .reads = run->reads.at + txn->first_op,
            .op_count = txn->op_count,
            .elements = run->elements.at + txn->first_element,
            .error = txn->error_code[0] == '\0' ? NULL : txn->error_code,
        };
        require(rig_history_builder_add(builder, &input, &err) == RIG_OK, err.text);
    }
    struct rig_history *history = NULL;
    require(rig_history_builder_finish(builder, &history, &err) == RIG_OK, err.text);
    return history;
}
