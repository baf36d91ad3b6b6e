#include "tests/conformance/conformance_steps.h"

#include <string.h>

#include "tests/unit/cmocka_first.h"
#include "history/model/columns.h"

struct bench_settings settings;

bool keeps_nothing(void)
{
    return strcmp(settings.driver->name, "null") == 0;
}

/* The driver runs the workload with these options. */
bool runs(enum rig_workload workload)
{
    struct rig_arena arena;
    struct rig_err err = {0};
    bool accepts = !keeps_nothing() && (settings.driver->workloads & RIG_WORKLOAD_BIT(workload)) != 0;
    rig_arena_init(&arena, 0);
    if (accepts && settings.driver->check != NULL)
        accepts = settings.driver->check(bench_options(&settings, &arena), workload, &err) == RIG_OK;
    rig_arena_done(&arena);
    return accepts;
}

void start(struct bench_run *run, enum rig_workload workload, uint32_t client_count)
{
    struct rig_err err = {0};
    if (bench_run_start(run, &settings, workload, client_count, BENCH_SEED, &err) != RIG_OK)
        fail_msg("the run does not start: %s", err.text);
}

void open_client(struct bench_client *client, struct bench_run *run, uint32_t index)
{
    struct rig_err err = {0};
    *client = (struct bench_client){0};
    if (bench_client_open(client, run, index, &err) != RIG_OK)
        fail_msg("client %u cannot connect: %s", index, err.text);
}

void assert_line(const char *text, size_t size, bool wanted)
{
    assert_non_null(memchr(text, '\0', size));
    assert_int_equal(text[0] != '\0', wanted);
    assert_null(strpbrk(text, "\r\n"));
}

/* Only columns that the driver lists, beside those of holds; names are numbers of core->name(). */
static void assert_columns(const struct bench_client *client)
{
    const struct rig_column_row *row = &client->transaction.columns;
    const uint32_t of_holds = RIG_COLUMN_BIT(RIG_COLUMN_HELD) | RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE);
    const uint32_t listed = client->run->driver->columns;
    assert_int_equal(listed & ~(uint32_t)RIG_COLUMNS_KEPT, 0);
    assert_int_equal(row->given & ~(listed | of_holds), 0);
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const bool given = (row->given & RIG_COLUMN_BIT(column)) != 0 && row->at[column] != RIG_COLUMN_NONE;
        if (given && rig_column_infos[column].type == RIG_COLUMN_NAME && bench_name(row->at[column]) == NULL)
            fail_msg("the column %s has a number that is no name's", rig_column_infos[column].name);
    }
}

void assert_answer(const struct bench_client *client, enum rig_outcome outcome)
{
    const struct rig_transaction *t = &client->transaction;
    assert_in_range(outcome, RIG_OUTCOME_OK, RIG_OUTCOME_INFO);
    assert_in_range(t->phase, RIG_PHASE_CONNECT, RIG_PHASE_COMMIT);
    assert_line(t->error_code, sizeof t->error_code, outcome != RIG_OUTCOME_OK);
    assert_line(t->error_text, sizeof t->error_text, outcome != RIG_OUTCOME_OK);
    assert_true(client->complete_ns >= client->invoke_ns);
    assert_true(t->element_count <= t->element_capacity);
    assert_columns(client);
    for (uint32_t i = 0; i < t->op_count; i++) {
        const bool reads = rig_op_reads(t->ops[i].kind);
        if (!reads)
            assert_int_equal(t->reads[i].state, RIG_READ_UNKNOWN);
        if (reads && outcome == RIG_OUTCOME_OK)
            assert_int_not_equal(t->reads[i].state, RIG_READ_UNKNOWN);
        if (t->reads[i].state == RIG_READ_SEEN && rig_op_reads_sequence(t->ops[i].kind))
            assert_true(t->reads[i].first_element + t->reads[i].count <= t->element_count);
    }
}

enum rig_outcome transact(struct bench_client *client, const struct rig_op *ops, uint32_t op_count)
{
    enum rig_outcome outcome = bench_client_transact(client, ops, op_count);
    assert_answer(client, outcome);
    return outcome;
}

void transact_ok(struct bench_client *client, const struct rig_op *ops, uint32_t op_count)
{
    if (transact(client, ops, op_count) != RIG_OUTCOME_OK)
        fail_msg("a transaction without any other beside it was not committed: %s: %s", client->transaction.error_code,
                 client->transaction.error_text);
}

void finish(struct bench_client *client, struct bench_run *run)
{
    bench_client_close(client, true);
    bench_client_done(client);
    bench_run_stop(run);
}
