#include "drivers/http/http_session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"

/* -- life ---------------------------------------------------------------------------------------------------------- */

/* Whether the server reports that it leads. */
static enum rig_rc ask_role(struct rig_http_session *session, uint32_t endpoint, int64_t deadline_ns, bool *leads,
                            struct rig_err *err)
{
    const struct rig_http_run *run = session->run;
    struct rig_value values[RIG_DIALECT_VARIABLES_MOST] = {{0}};
    char self[128] = "";
    char leader[128] = "";
    const struct rig_http_peer peer = {&session->client, endpoint, deadline_ns};
    const enum rig_rc rc = rig_http_run_ask(run, &peer, &run->dialect->role, &session->arena, values, err);
    if (rc == RIG_OK)
        *leads = rig_http_run_value(run, values, "self", self, sizeof self) &&
                 rig_http_run_value(run, values, "leader", leader, sizeof leader) && strcmp(self, leader) == 0;
    return rc;
}

/* Logs the protocol and cipher that were agreed on with the first server on which a session opened. */
static void tell_version(struct rig_http_session *session)
{
    struct rig_http_run *run = session->run;
    const char *version = rig_http_client_version(&session->client);
    if (version != NULL && !atomic_exchange(&run->told_version, true))
        run->env->core->log(2, "http", "%s answers in %s", run->endpoints[session->endpoint], version);
}

/* Takes the first server, from the client's own on, that is healthy and has the requested role. */
static enum rig_rc choose_endpoint(struct rig_http_session *session, struct rig_err *err)
{
    struct rig_http_run *run = session->run;
    const struct rig_core *core = run->env->core;
    const enum rig_http_spread spread = (enum rig_http_spread)run->options->spread;
    const bool by_role = spread == RIG_HTTP_LEADER || spread == RIG_HTTP_FOLLOWERS;
    const uint32_t first = session->client_index + atomic_load(&run->shifts[session->client_index]);
    const uint32_t tries = by_role ? run->endpoint_count : 1;
    struct rig_err last = {0};
    for (uint32_t i = 0; i < tries && !rig_wake_is_raised(&session->wake); i++) {
        bool leads = spread == RIG_HTTP_LEADER;
        const int64_t deadline_ns =
            core->now_ns() + run->options->connect_timeout_ns + run->options->request_timeout_ns;
        session->endpoint = (first + i) % run->endpoint_count;
        last = (struct rig_err){0};
        rig_arena_reset(&session->arena);
        const struct rig_http_peer peer = {&session->client, session->endpoint, deadline_ns};
        enum rig_rc rc = rig_http_run_ask(run, &peer, &run->dialect->health, &session->arena, NULL, &last);
        if (rc == RIG_OK && by_role)
            rc = ask_role(session, session->endpoint, deadline_ns, &leads, &last);
        if (rc == RIG_OK && (!by_role || leads == (spread == RIG_HTTP_LEADER))) {
            tell_version(session);
            return RIG_OK;
        }
    }
    if (last.rc != RIG_OK)
        return rig_fail(err, last.rc, "%s", last.text);
    return rig_fail(err, RIG_E_CLUSTER, by_role ? "no server reports that it is %s" : "%s",
                    !by_role                    ? "interrupted"
                    : spread == RIG_HTTP_LEADER ? "the leader"
                                                : "a follower");
}

enum rig_rc rig_http_session_open(void *object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct rig_http_session *session = object;
    struct rig_http_run *run = run_object;
    session->run = run;
    session->client_index = client;
    rig_arena_init(&session->arena, 0);
    rig_request_maker_init(&session->maker);
    rig_wake_arm(&session->wake, &run->wakes, client);
    if (run->endpoint_count == 0)
        return rig_fail(err, RIG_E_CLUSTER, "there is no server to connect to");
    enum rig_rc rc = rig_http_client_init(&session->client, run->options, run->env->core, &session->wake, err);
    if (rc == RIG_OK)
        rc = choose_endpoint(session, err);
    if (rc != RIG_OK)
        (void)atomic_fetch_add(&run->shifts[client], 1);
    return rc;
}

void rig_http_session_interrupt(void *session)
{
    rig_wake_raise(&((struct rig_http_session *)session)->wake);
}

void rig_http_session_close(void *object, bool last)
{
    struct rig_http_session *session = object;
    (void)last;
    if (session->run == NULL)
        return;
    rig_http_client_done(&session->client);
    rig_request_maker_done(&session->maker);
    rig_arena_done(&session->arena);
    session->run = NULL;
}

/* -- one transaction ----------------------------------------------------------------------------------------------- */

/* One transaction's progress through the steps. */
struct exchange {
    struct rig_http_session *session;
    struct rig_transaction *transaction;
    const struct rig_dialect_workload *workload;
    uint32_t endpoint;
    int64_t deadline_ns;
    bool begun;     /* an answer to a step before the commit was ok: there may be something to abort */
    bool committed; /* a request of the phase commit was acknowledged */
};

static enum rig_outcome end_with(struct rig_transaction *transaction, enum rig_outcome outcome, const char *code,
                                 const char *text, const char *detail)
{
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", code);
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%.110s%s%.140s", text,
                   detail[0] == '\0' ? "" : ": ", detail);
    return outcome;
}

/* The outcome of this transaction by a ruling other than ok. */
static enum rig_outcome judge(const struct exchange *exchange, const struct rig_http_ruling *verdict,
                              const char *detail)
{
    struct rig_transaction *transaction = exchange->transaction;
    enum rig_outcome outcome = verdict->ruling == RIG_RULING_FAIL ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
    const char *reason = verdict->reason == NULL ? verdict->code : verdict->reason;
    if (exchange->committed)
        outcome = RIG_OUTCOME_INFO; /* a part of it was committed already */
    if (transaction->read_only && outcome == RIG_OUTCOME_INFO) {
        outcome = RIG_OUTCOME_FAIL;
        reason = "it only read, so it cannot take effect later";
    }
    transaction->session_lost = verdict->session_lost;
    return end_with(transaction, outcome, verdict->code, reason, detail);
}

/* The part of an answer's body that fits into an error's text, on one line. */
static void excerpt(const struct rig_http_answer *answer, char *text, size_t size)
{
    (void)snprintf(text, size, "%.*s", (int)(answer->body.size < size ? answer->body.size : size),
                   rig_buf_text(&answer->body));
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7F)
            *c = ' ';
    }
}

/* Reads the answer to a step. True: continue with the next request. */
static bool read_answer(struct exchange *exchange, const struct rig_dialect_step *step, uint32_t element,
                        const struct rig_http_answer *answer, enum rig_outcome *outcome)
{
    struct rig_http_session *session = exchange->session;
    const struct rig_dialect *dialect = session->run->dialect;
    const bool at_commit = step->phase == RIG_PHASE_COMMIT;
    enum rig_http_end end = answer->end;
    char problem[RIG_PROBLEM_BYTES];
    struct rig_http_ruling verdict;
    json_t *root =
        end == RIG_HTTP_ANSWERED && answer->body.size > 0
            ? json_loadb(rig_buf_text(&answer->body), answer->body.size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL)
            : NULL;
    (void)snprintf(problem, sizeof problem, "%s", answer->detail);
    rig_outcome_find(dialect, step, at_commit, end, answer, root, &verdict);
    if (verdict.ruling == RIG_RULING_OK) {
        const struct rig_answer_source source = {
            .client = &session->client,
            .status = answer->status,
            .root = root,
            .lists = rig_workload_has_sequences(session->run->env->workload),
        };
        const enum rig_answer_result result =
            rig_answer_take(&step->answer, &source, step->set, element, &session->state, problem);
        if (result != RIG_ANSWER_TAKEN) {
            rig_state_forget_answers(&session->state);
            end = result == RIG_ANSWER_NO_ROOM ? RIG_HTTP_TOO_LARGE : RIG_HTTP_MALFORMED;
            rig_outcome_find(dialect, step, at_commit, end, answer, root, &verdict);
        }
    } else if (end == RIG_HTTP_ANSWERED && !verdict.by_dialect) {
        excerpt(answer, problem, sizeof problem); /* no rule matches it: the text helps to write one */
    }
    json_decref(root);
    if (verdict.ruling != RIG_RULING_OK)
        *outcome = judge(exchange, &verdict, problem);
    return verdict.ruling == RIG_RULING_OK;
}

/* Sends a step's request for one element. True: continue with the next one. */
static bool run_request(struct exchange *exchange, const struct rig_dialect_step *step, uint32_t element,
                        enum rig_outcome *outcome)
{
    struct rig_http_session *session = exchange->session;
    struct rig_transaction *transaction = exchange->transaction;
    const struct rig_http_run *run = session->run;
    const struct rig_render_scope scope = {.dialect = run->dialect,
                                           .state = &session->state,
                                           .client = session->client_index,
                                           .set = step->set,
                                           .element = element};
    const enum rig_phase before = transaction->phase;
    if (!rig_render_holds(&step->when, &scope))
        return true;
    const char *refused = rig_request_make(&session->maker, step, &scope);
    if (refused != NULL) {
        const struct rig_http_ruling verdict = {.ruling = RIG_RULING_FAIL, .code = "dialect", .reason = refused};
        *outcome = judge(exchange, &verdict, step->name);
        return false;
    }
    session->maker.request.base = run->endpoints[exchange->endpoint];
    session->maker.request.deadline_ns = exchange->deadline_ns;
    transaction->phase = step->phase;
    const struct rig_http_answer *answer = rig_http_client_send(&session->client, &session->maker.request);
    if (answer->end == RIG_HTTP_NOT_SENT && !exchange->committed)
        transaction->phase = before;
    if (!read_answer(exchange, step, element, answer, outcome))
        return false;
    exchange->begun = exchange->begun || step->phase != RIG_PHASE_COMMIT;
    exchange->committed = exchange->committed || step->phase == RIG_PHASE_COMMIT;
    return true;
}

static bool run_steps(struct exchange *exchange, enum rig_outcome *outcome)
{
    const struct rig_dialect_steps *steps = &exchange->workload->steps;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct rig_dialect_step *step = &steps->at[i];
        const uint32_t count = rig_state_set_size(&exchange->session->state, step->set);
        if (step->phase == RIG_PHASE_COMMIT && !exchange->committed && !rig_state_affords(&exchange->session->state)) {
            *outcome = end_with(exchange->transaction, RIG_OUTCOME_FAIL, "insufficient-funds",
                                "the transfer would leave a balance below 0, so its commit was not sent", "");
            return false;
        }
        if (step->phase == RIG_PHASE_COMMIT && rig_state_is_full(&exchange->session->state)) {
            *outcome = end_with(exchange->transaction, RIG_OUTCOME_FAIL, "full",
                                "the string has 18 digits already, so the append was not sent", "");
            return false;
        }
        for (uint32_t element = 0; element < count; element++) {
            if (!run_request(exchange, step, element, outcome))
                return false;
        }
    }
    return true;
}

/* Best effort: the transaction has already failed; this only releases what it holds. */
static void run_abort(const struct exchange *exchange)
{
    struct rig_http_session *session = exchange->session;
    const struct rig_dialect_steps *steps = &exchange->workload->abort;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct rig_render_scope scope = {
            .dialect = session->run->dialect, .state = &session->state, .client = session->client_index};
        if (!rig_render_holds(&steps->at[i].when, &scope) ||
            rig_request_make(&session->maker, &steps->at[i], &scope) != NULL)
            continue;
        session->maker.request.base = session->run->endpoints[exchange->endpoint];
        session->maker.request.deadline_ns = exchange->deadline_ns;
        (void)rig_http_client_send(&session->client, &session->maker.request);
    }
}

/* All steps are acknowledged: takes the reads' results. */
static enum rig_outcome conclude(struct exchange *exchange)
{
    struct rig_transaction *transaction = exchange->transaction;
    const enum rig_outcome without_reads = transaction->read_only ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
    switch (rig_state_answer_reads(&exchange->session->state)) {
    case RIG_STATE_ANSWERED:
        if (exchange->session->state.order > 0)
            rig_column_give(&transaction->columns, RIG_COLUMN_ORDER, exchange->session->state.order);
        return RIG_OUTCOME_OK;
    case RIG_STATE_UNTOLD:
        return end_with(transaction, without_reads, "dialect",
                        "acknowledged, but no answer gave the result of its "
                        "reads",
                        "");
    case RIG_STATE_NO_ROOM:
        return end_with(transaction, without_reads, "too-large",
                        "acknowledged, but its reads are too long to be recorded", "");
    }
    rig_bug(__FILE__, __LINE__, "a result of a known kind");
}

/* For every outcome, if a step of the transaction was answered. */
static void give_member(struct rig_http_session *session, struct rig_transaction *transaction)
{
    const char *told = session->state.member;
    if (told[0] == '\0')
        return;
    if (strcmp(session->member, told) != 0) {
        (void)snprintf(session->member, sizeof session->member, "%s", told);
        session->member_number = session->run->env->core->name(told);
    }
    if (session->member_number != RIG_COLUMN_NONE)
        rig_column_give(&transaction->columns, RIG_COLUMN_MEMBER, session->member_number);
}

static uint32_t choose_for_transaction(struct rig_http_session *session, const struct rig_transaction *transaction)
{
    const struct rig_http_run *run = session->run;
    if (transaction->node > 0 && transaction->node <= run->endpoint_count)
        return transaction->node - 1;
    if (run->options->spread == RIG_HTTP_ROUND_ROBIN)
        return (session->endpoint + session->turns++) % run->endpoint_count;
    return session->endpoint;
}

enum rig_outcome rig_http_session_transact(void *object, struct rig_transaction *transaction)
{
    struct rig_http_session *session = object;
    struct rig_http_run *run = session->run;
    struct exchange exchange = {
        .session = session,
        .transaction = transaction,
        .workload = &run->dialect->workloads[run->env->workload],
        .endpoint = choose_for_transaction(session, transaction),
        .deadline_ns = run->env->core->now_ns() + run->options->transaction_timeout_ns,
    };
    enum rig_outcome outcome = RIG_OUTCOME_OK;
    rig_column_give(&transaction->columns, RIG_COLUMN_NODE, run->names[exchange.endpoint]);
    rig_arena_reset(&session->arena);
    if (!rig_state_begin(&session->state, run->env->core, &session->arena, transaction))
        return end_with(transaction, RIG_OUTCOME_FAIL, "memory", RIG_NO_MEMORY "a transaction", "");
    session->state.accounts = run->env->accounts;
    if (exchange.workload->most_keys > 0 && session->state.key_count > (uint64_t)exchange.workload->most_keys)
        return end_with(transaction, RIG_OUTCOME_FAIL, "too-many-keys",
                        "the dialect limits a transaction to fewer "
                        "keys",
                        "");
    const bool done = run_steps(&exchange, &outcome);
    if (!done && outcome == RIG_OUTCOME_FAIL && exchange.begun && !exchange.committed)
        run_abort(&exchange);
    if (done)
        outcome = conclude(&exchange);
    give_member(session, transaction);
    if (outcome == RIG_OUTCOME_INFO)
        atomic_store(&run->unknown_ns, run->env->core->now_ns());
    if (transaction->session_lost)
        (void)atomic_fetch_add(&run->shifts[session->client_index], 1);
    return outcome;
}
