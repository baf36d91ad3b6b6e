#include "runner/run_final.h"

#include "base/bug.h"

void rig_run_final_init(struct rig_run_state *run)
{
    run->key_bound = 0;
    for (uint32_t i = 0; i < run->client_count; i++) {
        int64_t bound = rig_generator_key_bound(run->clients[i].generator);
        if (rig_run_read(&run->clients[i].invoked) > 0 && bound > run->key_bound)
            run->key_bound = bound;
        /* With simulated time the chunks are dealt out beforehand: client, client + client_count, ... */
        run->clients[i].final_chunk = run->simulated ? (int64_t)i - (int64_t)run->client_count : -1;
    }
    run->chunk_count = (run->key_bound + RIG_FINAL_KEYS - 1) / RIG_FINAL_KEYS;
    atomic_store(&run->next_chunk, 0);
}

static bool gives_up(const struct rig_run_client *client)
{
    return rig_run_is_ending(client->run) || client->final_failures >= RIG_FINAL_ATTEMPTS;
}

/* The chunk to read next: the one that failed again, or a new one. */
static bool take_chunk(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (client->final_failures > 0)
        return true;
    if (run->simulated)
        client->final_chunk += run->client_count;
    else
        client->final_chunk = atomic_fetch_add_explicit(&run->next_chunk, 1, memory_order_relaxed);
    return client->final_chunk < run->chunk_count;
}

bool rig_run_final_next(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (gives_up(client) || !take_chunk(client))
        return false;
    enum rig_op_kind kind =
        run->plan->workload.type == RIG_WORKLOAD_RW_REGISTER ? RIG_OP_READ_REGISTER : RIG_OP_READ_LIST;
    int64_t first = client->final_chunk * RIG_FINAL_KEYS;
    uint32_t count = 0;
    while (count < RIG_FINAL_KEYS && first + count < run->key_bound) {
        client->final_ops[count] = (struct rig_op){.kind = kind, .key = first + count};
        count++;
    }
    RIG_INVARIANT(count > 0);
    client->transaction.ops = client->final_ops;
    client->transaction.op_count = count;
    client->transaction.read_only = true;
    client->transaction.hold = (struct rig_hold){0};
    client->intended_ns = 0;
    return true;
}

void rig_run_final_answer(struct rig_run_client *client, enum rig_outcome outcome)
{
    client->final_failures = outcome == RIG_OUTCOME_OK ? 0 : client->final_failures + 1;
}

bool rig_run_final_has_work(struct rig_run_client *client)
{
    return !gives_up(client) && client->failed_opens < RIG_FINAL_ATTEMPTS;
}
