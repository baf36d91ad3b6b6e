#include "run/load/run_final.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "history/types/types.h"
#include "run/load/run_state.h"

enum rig_op_kind rig_run_read_kind(const struct rig_run_state *run)
{
    return rig_data_types[run->plan->workload.type].read_op;
}

void rig_run_ask_reads(struct rig_run_client *client, const struct rig_op *ops, uint32_t count)
{
    RIG_INVARIANT(count > 0 && count <= RIG_MOST_KEYS_A_READ);
    client->transaction.ops = ops;
    client->transaction.op_count = count;
    client->transaction.read_only = !rig_generator_drains(&client->run->plan->workload);
    client->transaction.node = 0;
    client->transaction.hold = (struct rig_hold){0};
    client->transaction.rollback = (struct rig_rollback){0};
    client->transaction.delayed = false;
    client->load.intended_ns = 0;
}

bool rig_run_drain_goes_on(struct rig_run_client *client)
{
    const struct rig_generator_options *workload = &client->run->plan->workload;
    const bool took = rig_generator_drains(workload) && client->transaction.reads[0].state == RIG_READ_SEEN;
    client->drained = took && client->drained < rig_generator_most_drained(workload) ? client->drained + 1 : 0;
    return client->drained > 0;
}

static bool was_used(const struct rig_run_state *run, int64_t key)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_question_stream *stream = run->clients[i].stream;
        if (stream->ops->used == NULL || stream->ops->used(stream, key))
            return true;
    }
    return false;
}

/*
 * With one phase every key below `bound` was active once. Behind a closing read nothing comes as long as the cluster
 * and the ranks are whole; a fault may have taken from a node what was read before, and a lost rank had keys to read,
 * so then each key is read again.
 */
static enum rig_rc list_keys(struct rig_run_state *run, int64_t bound, struct rig_key_numbers *keys,
                             struct rig_err *err)
{
    if (run->programs.program != NULL)
        return rig_run_programs_rows(run, keys, err);
    if (rig_generator_final_reads(&run->plan->workload) == RIG_FINAL_CLOSING && rig_run_part_is_whole(run) &&
        rig_run_closing_is_on(run))
        return rig_run_closing_rest(run, keys, err);
    for (int64_t key = 0; key < bound; key++) {
        if (was_used(run, key) && !rig_key_numbers_add(keys, key))
            return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the %lld key%s of the final reads", (long long)bound,
                            rig_plural((uint64_t)bound));
    }
    return RIG_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Each key once. */
static enum rig_rc add_keys_of_others(struct rig_run_state *run, struct rig_err *err)
{
    struct rig_key_numbers *keys = &run->final.keys;
    const struct rig_key_numbers *more = &run->part.keys;
    if (more->count == 0)
        return RIG_OK;
    for (size_t i = 0; i < more->count; i++) {
        if (!rig_key_numbers_add(keys, more->at[i]))
            return rig_no_memory(err, "the keys of the final reads");
    }
    qsort(keys->at, keys->count, sizeof *keys->at, compare_keys);
    size_t kept = 1;
    for (size_t i = 1; i < keys->count; i++) {
        if (keys->at[i] != keys->at[kept - 1])
            keys->at[kept++] = keys->at[i];
    }
    keys->count = kept;
    return RIG_OK;
}

/* After faults each node is asked: what one of them lost, the others may still show. 0: whichever answers. */
static uint32_t count_nodes(const struct rig_run_state *run)
{
    const struct rig_driver *driver = run->driver;
    const bool asks = run->faults.nemesis != NULL && (driver->features & RIG_DRIVER_NODES) != 0 &&
                      driver->cluster != NULL && driver->cluster->node_count != NULL;
    const uint32_t count = asks ? driver->cluster->node_count(run->driver_run) : 0;
    return count > 1 ? count : 0;
}

enum rig_rc rig_run_final_list(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err)
{
    int64_t bound = 0;
    uint64_t position = 0;
    rig_run_closing_end(run);
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_question_stream *stream = run->clients[i].stream;
        const bool used = rig_run_read(&run->clients[i].counts.invoked) > 0;
        if (used && stream->ops->key_bound(stream) > bound)
            bound = stream->ops->key_bound(stream);
        if (used && stream->ops->position(stream) > position)
            position = stream->ops->position(stream);
    }
    return position == 0 ? RIG_OK : list_keys(run, bound, keys, err);
}

enum rig_rc rig_run_final_init(struct rig_run_state *run, struct rig_err *err)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        /* With simulated time the chunks are dealt out beforehand: client, client + client_count, ... */
        run->clients[i].final.chunk = run->simulated ? (int64_t)i - (int64_t)run->client_count : -1;
    }
    enum rig_rc rc = rig_run_final_list(run, &run->final.keys, err);
    if (rc == RIG_OK)
        rc = add_keys_of_others(run, err);
    run->final.key_chunks = (int64_t)((run->final.keys.count + run->final.keys_a_read - 1) / run->final.keys_a_read);
    run->final.nodes = count_nodes(run);
    run->final.chunk_count = run->final.key_chunks * (run->final.nodes > 0 ? run->final.nodes : 1);
    atomic_store(&run->final.next_chunk, 0);
    atomic_store(&run->final.answered_ns, rig_clock_now_ns());
    return rc;
}

void rig_run_final_done(struct rig_run_state *run)
{
    rig_key_numbers_done(&run->final.keys);
}

int64_t rig_run_final_ends_ns(const struct rig_run_state *run)
{
    return run->simulated ? INT64_MAX
                          : atomic_load_explicit(&run->final.answered_ns, memory_order_relaxed) +
                                RIG_FINAL_GRACES * run->plan->clients.stop_grace_ns;
}

static bool gives_up(const struct rig_run_client *client)
{
    return rig_run_is_ending(client->run) || rig_clock_now_ns() >= rig_run_final_ends_ns(client->run) ||
           client->final.failures >= RIG_FINAL_ATTEMPTS;
}

/* The chunk to read next: the one that failed, or that is not empty, again; or a new one. */
static bool take_chunk(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (client->final.failures > 0 || client->final.goes_on)
        return true;
    if (run->simulated)
        client->final.chunk += run->client_count;
    else
        client->final.chunk = atomic_fetch_add_explicit(&run->final.next_chunk, 1, memory_order_relaxed);
    return client->final.chunk < run->final.chunk_count;
}

bool rig_run_final_next(struct rig_run_client *client)
{
    struct rig_run_state *run = client->run;
    if (gives_up(client) || !take_chunk(client))
        return false;
    enum rig_op_kind kind = rig_run_read_kind(run);
    size_t first = (size_t)(client->final.chunk % run->final.key_chunks) * run->final.keys_a_read;
    uint32_t count = 0;
    while (count < run->final.keys_a_read && first + count < run->final.keys.count) {
        client->final.ops[count] = (struct rig_op){.kind = kind, .key = run->final.keys.at[first + count]};
        count++;
    }
    rig_run_ask_reads(client, client->final.ops, count);
    if (run->final.nodes > 0)
        client->transaction.node = 1 + (uint32_t)(client->final.chunk / run->final.key_chunks);
    return true;
}

void rig_run_final_answer(struct rig_run_client *client, enum rig_outcome outcome, const char *error)
{
    if (outcome == RIG_OUTCOME_OK)
        atomic_store_explicit(&client->run->final.answered_ns, rig_clock_now_ns(), memory_order_relaxed);
    client->final.failures = outcome == RIG_OUTCOME_OK ? 0 : client->final.failures + 1;
    client->final.goes_on = outcome == RIG_OUTCOME_OK && rig_run_drain_goes_on(client);
    client->final.done_count += outcome == RIG_OUTCOME_OK && !client->final.goes_on;
    if (outcome != RIG_OUTCOME_OK)
        (void)snprintf(client->final.error, sizeof client->final.error, "%s", error);
}

bool rig_run_final_has_work(struct rig_run_client *client)
{
    return !gives_up(client) && client->session.failed_in_a_row < RIG_FINAL_ATTEMPTS;
}
