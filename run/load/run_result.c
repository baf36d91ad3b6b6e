#include "run/load/run_result.h"

#include <stdio.h>

#include "base/bug.h"
#include "run/load/run_state.h"

static void add_counters(struct rig_run_counters *sum, const struct rig_run_client *client)
{
    sum->invoked += rig_run_read(&client->counts.invoked);
    sum->ok += rig_run_read(&client->counts.ok);
    sum->fail += rig_run_read(&client->counts.fail);
    sum->info += rig_run_read(&client->counts.info);
    sum->sessions_opened += rig_run_read(&client->session.opened);
    sum->sessions_renewed += rig_run_read(&client->session.renewed);
    sum->sessions_lost += rig_run_read(&client->session.lost);
    sum->sessions_ended += rig_run_read(&client->session.ended);
    sum->reconnect_attempts += rig_run_read(&client->session.attempts);
    sum->reconnect_failures += rig_run_read(&client->session.failures);
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
    result->unread = (uint64_t)run->final.chunk_count;
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_run_client *client = &run->clients[i];
        result->unread -= client->final.done_count;
        const char *why = client->final.error[0] != '\0' ? client->final.error : client->session.first_err.text;
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
        rig_run_latency_merge(&result->latency, &client->latency);
        rig_run_errors_merge(&result->errors, &client->errors);
    }
    rig_run_errors_sort(&result->errors);
    result->load_ns = run->load.took_ns;
    result->timeline = run->seen.timeline;
    for (uint32_t i = 0; i < run->client_count; i++)
        result->final_reads += rig_run_read(&run->clients[i].closing.reads);
    if (rig_run_phase(run) == RIG_RUN_FINAL)
        result->final_reads += result->counters.invoked - run->load.invoked;
    collect_unread(run, result);
    result->effort =
        (struct rig_effort){.known = true,
                            .acknowledged = run->load.ok,
                            .load = in_thousandths(run->load.share),
                            .answering = in_thousandths(run->simulated ? 1 : rig_run_answers_share(&run->seen.answers)),
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
    const uint64_t measured = rig_histogram_count(&result->latency.intended);
    RIG_INVARIANT(rig_run_errors_total(&result->errors) == result->counters.fail + result->counters.info);
    RIG_INVARIANT(measured == rig_run_latency_count(&result->latency));
    RIG_INVARIANT(measured <= result->counters.ok);
}
