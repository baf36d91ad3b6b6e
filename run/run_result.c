#include "run/run_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* Whichever comes first of the plan's count and its duration ends a load: the larger share counts. */
static double share_of_load(const struct rig_run_state *run, uint64_t carried_out)
{
    const struct rig_generator_options *workload = &run->plan->workload;
    const int64_t end_ns = atomic_load(&run->load_end_ns);
    const int64_t start_ns = atomic_load(&run->start_ns);
    const int64_t took_ns = run->simulated ? run->load_ns : start_ns == 0 ? 0 : end_ns - start_ns;
    double share = 0;
    if (workload->transactions > 0)
        share = (double)carried_out / (double)workload->transactions;
    if (workload->duration_ns > 0 && (double)took_ns / (double)workload->duration_ns > share)
        share = (double)took_ns / (double)workload->duration_ns;
    return share > 1 ? 1 : share;
}

void rig_run_load_measure(struct rig_run_state *run, bool by_itself)
{
    uint64_t closing_reads = 0;
    int64_t start_ns = run->simulated ? 0 : atomic_load(&run->start_ns);
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_run_client *client = &run->clients[i];
        if (client->last_ns - start_ns > run->load_ns)
            run->load_ns = client->last_ns - start_ns;
        run->load_invoked += rig_run_read(&client->invoked);
        run->load_ok += rig_run_read(&client->ok) - rig_run_read(&client->closing_ok);
        closing_reads += rig_run_read(&client->closing_reads);
    }
    run->load_share = by_itself ? 1 : share_of_load(run, run->load_invoked - closing_reads);
}

static void add_counters(struct rig_run_counters *sum, const struct rig_run_client *client)
{
    sum->invoked += rig_run_read(&client->invoked);
    sum->ok += rig_run_read(&client->ok);
    sum->fail += rig_run_read(&client->fail);
    sum->info += rig_run_read(&client->info);
    sum->sessions_opened += rig_run_read(&client->sessions_opened);
    sum->sessions_renewed += rig_run_read(&client->sessions_renewed);
    sum->sessions_lost += rig_run_read(&client->sessions_lost);
    sum->sessions_ended += rig_run_read(&client->sessions_ended);
    sum->reconnect_attempts += rig_run_read(&client->open_attempts);
    sum->reconnect_failures += rig_run_read(&client->open_failures);
}

/* The table's last row takes what finds none of its own. */
static void add_error(struct rig_run_result *result, const struct rig_run_error *error)
{
    for (uint32_t i = 0; i < result->error_count; i++) {
        struct rig_run_error *row = &result->errors[i];
        bool last = i + 1 == RIG_RUN_ERROR_ROWS;
        if (last || (row->outcome == error->outcome && strcmp(row->code, error->code) == 0)) {
            row->count += error->count;
            return;
        }
    }
    result->errors[result->error_count++] = *error;
}

static int by_count_down(const void *a, const void *b)
{
    const struct rig_run_error *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    int order = strcmp(x->code, y->code);
    return order != 0 ? order : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

/* Rounded down: results keep so much of a share, and it has to mean the same when it is read again. */
static double in_thousandths(double share)
{
    return (double)(int64_t)(share * 1000 + 1e-9) / 1000;
}

/* Final reads that were not done when the phase was over. */
static void collect_unread(const struct rig_run_state *run, struct rig_run_result *result)
{
    if (rig_run_phase(run) != RIG_RUN_FINAL)
        return;
    result->unread = (uint64_t)run->chunk_count;
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_run_client *client = &run->clients[i];
        result->unread -= client->final_done;
        const char *why = client->final_error[0] != '\0' ? client->final_error : client->open_err.text;
        if (why[0] != '\0')
            (void)snprintf(result->unread_text, sizeof result->unread_text, "%.*s", (int)sizeof result->unread_text - 1,
                           why);
    }
}

void rig_run_result_collect(const struct rig_run_state *run, struct rig_run_result *result)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_run_client *client = &run->clients[i];
        if (client->run == NULL)
            continue; /* never came into being */
        add_counters(&result->counters, client);
        for (int kind = 0; kind < 3; kind++)
            rig_histogram_merge(&result->latency[kind], &client->latency[kind]);
        rig_histogram_merge(&result->intended_latency, &client->intended_latency);
        for (uint32_t row = 0; row < client->error_count; row++)
            add_error(result, &client->errors[row]);
    }
    qsort(result->errors, result->error_count, sizeof result->errors[0], by_count_down);
    result->load_ns = run->load_ns;
    result->timeline = run->timeline;
    for (uint32_t i = 0; i < run->client_count; i++)
        result->final_reads += rig_run_read(&run->clients[i].closing_reads);
    if (rig_run_phase(run) == RIG_RUN_FINAL)
        result->final_reads += result->counters.invoked - run->load_invoked;
    collect_unread(run, result);
    result->effort =
        (struct rig_effort){.known = true,
                            .acknowledged = run->load_ok,
                            .load = in_thousandths(run->load_share),
                            .answering = in_thousandths(run->simulated ? 1 : rig_run_answers_share(&run->answers)),
                            .planned_faults = run->plan->nemesis.entry_count};
}

static void check_identities(const struct rig_run_counters *counters)
{
    RIG_INVARIANT(counters->invoked == counters->ok + counters->fail + counters->info);
    RIG_INVARIANT(counters->sessions_opened ==
                  counters->sessions_renewed + counters->sessions_lost + counters->sessions_ended);
    RIG_INVARIANT(counters->reconnect_attempts == counters->sessions_opened + counters->reconnect_failures);
    RIG_INVARIANT(counters->info == counters->sessions_renewed);
}

void rig_run_result_check(const struct rig_run_state *run, const struct rig_run_result *result)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        struct rig_run_counters one = {0};
        add_counters(&one, &run->clients[i]);
        check_identities(&one);
    }
    check_identities(&result->counters);
    uint64_t errors = 0, measured = rig_histogram_count(&result->intended_latency);
    for (uint32_t i = 0; i < result->error_count; i++)
        errors += result->errors[i].count;
    RIG_INVARIANT(errors == result->counters.fail + result->counters.info);
    RIG_INVARIANT(measured == rig_histogram_count(&result->latency[0]) + rig_histogram_count(&result->latency[1]) +
                                  rig_histogram_count(&result->latency[2]));
    RIG_INVARIANT(measured <= result->counters.ok);
}
