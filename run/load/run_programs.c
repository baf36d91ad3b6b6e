#include "run/load/run_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"
#include "checker/model/level.h"
#include "generator/programs/program_call.h"
#include "run/load/run_state.h"

enum { ROWS_A_BATCH = 1000 };

/* ---- before the load ---- */

enum rig_rc rig_run_programs_init(struct rig_run_state *run, struct rig_err *err)
{
    struct rig_run_programs *programs = &run->programs;
    if (!run->plan->workload.program)
        return RIG_OK;
    programs->program = rig_program_of(run->plan->workload.shape);
    rig_program_questions_init(&programs->questions, run->phases, rig_plan_phases(run->plan), run->plan->seed);
    run->questions = &programs->questions.questions;
    const enum rig_rc rc = rig_program_schema_new(programs->program, &programs->schema, err);
    run->env.rows = programs->schema;
    return rc;
}

void rig_run_programs_done(struct rig_run_state *run)
{
    rig_program_schema_free(run->programs.schema);
    run->programs.schema = NULL;
}

RIG_VEC(int64_t, cell_vec)

/* Gives the driver the rows of a table, many at a time. */
struct run_loader {
    struct rig_program_loader loader; /* first */
    struct rig_run_state *run;
    struct cell_vec *waiting; /* by table */
};

static enum rig_rc flush(struct run_loader *loader, uint32_t table, struct rig_err *err)
{
    struct rig_run_state *run = loader->run;
    struct cell_vec *waiting = &loader->waiting[table];
    const uint32_t columns = run->programs.schema->tables[table].column_count;
    enum rig_rc rc = RIG_OK;
    if (waiting->count > 0)
        rc = run->driver->rows->load(run->driver_run, table, waiting->at, (uint32_t)(waiting->count / columns), err);
    waiting->count = 0;
    return rc;
}

static enum rig_rc add_row(struct rig_program_loader *object, uint32_t table, const int64_t *cells, struct rig_err *err)
{
    struct run_loader *loader = (struct run_loader *)object;
    struct cell_vec *waiting = &loader->waiting[table];
    const uint32_t columns = loader->run->programs.schema->tables[table].column_count;
    if (!cell_vec_reserve(waiting, waiting->count + columns))
        return rig_no_memory(err, "the rows of the program's tables");
    memcpy(waiting->at + waiting->count, cells, (columns - RIG_PROGRAM_OWN_COUNT) * sizeof *cells);
    memset(waiting->at + waiting->count + columns - RIG_PROGRAM_OWN_COUNT, 0, RIG_PROGRAM_OWN_COUNT * sizeof *cells);
    waiting->count += columns;
    return waiting->count < (size_t)columns * ROWS_A_BATCH ? RIG_OK : flush(loader, table, err);
}

enum rig_rc rig_run_programs_load(struct rig_run_state *run, struct rig_err *err)
{
    const struct rig_program *program = run->programs.program;
    if (program == NULL)
        return RIG_OK;
    const struct rig_program_size size = rig_program_size_of(&run->plan->workload);
    struct run_loader loader = {.loader = {.size = &size, .add = add_row}, .run = run};
    rig_rng_init(&loader.loader.rng, run->plan->seed, UINT64_MAX);
    loader.waiting = calloc(program->table_count, sizeof *loader.waiting);
    if (loader.waiting == NULL)
        return rig_no_memory(err, "the rows of the program's tables");
    enum rig_rc rc = program->load(&loader.loader, err);
    for (uint32_t i = 0; i < program->table_count; i++) {
        if (rc == RIG_OK)
            rc = flush(&loader, i, err);
        cell_vec_done(&loader.waiting[i]);
    }
    free(loader.waiting);
    return rc;
}

/* ---- a transaction ---- */

static void record_invocation(struct rig_run_client *client)
{
    const struct rig_program_call *call = client->program.call;
    client->program.is_recorded = true;
    rig_channel_invoke(client->channel, client->session.process, client->program.start_ns, client->program.intended_ns,
                       call->ops, call->op_count);
}

static void note_commit(struct rig_row_program *base)
{
    struct rig_program_call *call = (struct rig_program_call *)base;
    rig_program_call_hold_at_commit(call);
    record_invocation(call->context);
}

/* Drivers do not know which operations a statement of a program is. */
static void give_times(struct rig_transaction *transaction, struct rig_program_call *call)
{
    const uint32_t count = call->timed < call->op_count ? call->timed : call->op_count;
    transaction->times = call->times;
    if (count > 0)
        rig_column_give(&transaction->columns, RIG_COLUMN_TIMES, count);
}

/* Not where the plan holds as many at a time as it wants (run_load.c). */
static void hold_open(struct rig_program_call *call, uint32_t before_op)
{
    struct rig_run_client *client = call->context;
    struct rig_transaction *transaction = &client->transaction;
    if (!transaction->hold.wanted)
        return;
    transaction->hold.before_op = before_op;
    if (call->rows->hold != NULL)
        call->rows->hold(call->rows);
    else
        (void)client->run->env.core->hold(transaction);
}

void rig_run_client_program_init(struct rig_run_client *client)
{
    if (client->run->programs.program == NULL)
        return;
    struct rig_program_call *call = rig_program_stream_call(client->stream);
    rig_table_init(&client->program.written);
    client->program.call = call;
    call->context = client;
    if ((client->run->driver->columns & RIG_COLUMN_BIT(RIG_COLUMN_TIMES)) != 0)
        call->now_ns = client->run->env.core->now_ns;
    call->base.committing = note_commit;
    call->hold.hold = hold_open;
}

void rig_run_client_program_done(struct rig_run_client *client)
{
    rig_table_done(&client->program.written);
}

static void ask_final_reads(struct rig_run_client *client)
{
    struct rig_run_client_program *program = &client->program;
    for (uint32_t i = 0; i < client->transaction.op_count; i++)
        program->final_keys[i] = client->transaction.ops[i].key;
    rig_program_call_ask_reads(program->call, program->final_keys, client->transaction.op_count);
}

enum rig_outcome rig_run_program(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns)
{
    struct rig_run_client_program *program = &client->program;
    struct rig_transaction *transaction = &client->transaction;
    if (rig_run_phase(client->run) == RIG_RUN_FINAL)
        ask_final_reads(client);
    program->start_ns = start_ns;
    program->intended_ns = intended_ns;
    program->is_recorded = false;
    const enum rig_outcome outcome =
        client->run->driver->rows->run_program(client->session.object, transaction, &program->call->base);
    if (!program->is_recorded)
        record_invocation(client);
    give_times(transaction, program->call);
    if (strcmp(transaction->error_code, RIG_ROWS_ROLLED_BACK) == 0 && program->call->rollback != NULL)
        (void)snprintf(transaction->error_text, sizeof transaction->error_text, "the program rolled back: %s",
                       program->call->rollback);
    return outcome;
}

void rig_run_program_note(struct rig_run_client *client, enum rig_outcome outcome)
{
    struct rig_run_client_program *program = &client->program;
    const struct rig_program_call *call = program->call;
    for (uint32_t i = 0; i < call->op_count && outcome != RIG_OUTCOME_FAIL; i++) {
        const struct rig_op *op = &call->ops[i];
        int64_t columns[RIG_PROGRAM_KEY_COLUMNS];
        if (op->kind != call->type->write_op ||
            call->program->tables[rig_row_key_unpack(call->program, op->key, columns)].deletes)
            continue;
        uint32_t *place = rig_table_put(&program->written, (uint64_t)op->key);
        program->forgot |= place == NULL;
        if (place != NULL)
            *place = 1;
    }
}

/* ---- final reads ---- */

static int compare_keys(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

enum rig_rc rig_run_programs_rows(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err)
{
    bool kept = true;
    for (uint32_t i = 0; i < run->client_count && kept; i++) {
        const struct rig_table *written = &run->clients[i].program.written;
        kept = !run->clients[i].program.forgot;
        for (size_t slot = 0; slot < written->slot_count && kept; slot++) {
            if (written->values[slot] != RIG_TABLE_NONE)
                kept = rig_key_numbers_add(keys, (int64_t)written->keys[slot]);
        }
    }
    if (!kept)
        return rig_no_memory(err, "the rows of the final reads");
    if (keys->count == 0)
        return RIG_OK;
    qsort(keys->at, keys->count, sizeof *keys->at, compare_keys);
    size_t count = 1;
    for (size_t i = 1; i < keys->count; i++) {
        if (keys->at[i] != keys->at[count - 1])
            keys->at[count++] = keys->at[i];
    }
    keys->count = count;
    return RIG_OK;
}

/* The rows of one query on their way into the result. */
struct taken {
    const struct rig_program_condition *condition;
    struct rig_run_condition *into;
};

/* "w_id=1 w_ytd=300 sum(d_ytd)=200" */
static void take_row(void *context, const char *const *values, uint32_t count)
{
    const struct taken *taken = context;
    if (taken->into->broken++ >= RIG_CONDITION_ROWS)
        return;
    char *text = taken->into->rows[taken->into->broken - 1];
    size_t length = 0;
    for (uint32_t i = 0; i < count && i < RIG_PROGRAM_CONDITION_COLUMNS && taken->condition->columns[i] != NULL; i++) {
        const int added = snprintf(text + length, RIG_RUN_CONDITION_TEXT_BYTES - length, "%s%s=%s", i == 0 ? "" : " ",
                                   taken->condition->columns[i], values[i][0] == '\0' ? "none" : values[i]);
        length += added < 0 ? 0 : (size_t)added;
        if (length >= RIG_RUN_CONDITION_TEXT_BYTES)
            break;
    }
    rig_printable_line(text);
}

static uint64_t guaranteed_by(const struct rig_program_condition *condition)
{
    const uint64_t by_snapshots = rig_level_info(RIG_LEVEL_SNAPSHOT_ISOLATION)->above;
    return rig_level_info(RIG_LEVEL_UPDATE_SERIALIZABLE)->above |
           (condition->needs_more_than_snapshots ? 0 : by_snapshots);
}

static void check_condition(struct rig_run_state *run, const struct rig_program_condition *condition,
                            struct rig_run_condition *into)
{
    const struct rig_row_ops *rows = run->driver->rows;
    struct rig_err err = {0};
    struct taken taken = {condition, into};
    *into = (struct rig_run_condition){.name = condition->name,
                                       .text = condition->text,
                                       .source = condition->source,
                                       .guaranteed_by = guaranteed_by(condition)};
    const enum rig_rc rc = rows->query(run->driver_run, condition->sql, take_row, &taken, &err);
    if (rc != RIG_OK) {
        rig_secret_redact(err.text, sizeof err.text);
        (void)snprintf(into->problem, sizeof into->problem, "%.*s", RIG_RUN_CONDITION_TEXT_BYTES - 1, err.text);
        rig_printable_line(into->problem);
        into->broken = 0;
    }
    rig_log(into->broken > 0 || rc != RIG_OK ? RIG_LOG_WARN : RIG_LOG_INFO, "run", "%s: %s", condition->name,
            rc != RIG_OK       ? into->problem
            : into->broken > 0 ? into->rows[0]
                               : "fulfilled");
}

void rig_run_conditions_check(struct rig_run_state *run, struct rig_run_result *result)
{
    const struct rig_program *program = run->programs.program;
    if (program == NULL)
        return;
    if (run->driver->rows->query == NULL) {
        rig_log(RIG_LOG_INFO, "run", "the driver %s runs no queries: the conditions of the program are not checked",
                run->driver->name);
        return;
    }
    RIG_INVARIANT(program->condition_count <= RIG_RUN_CONDITIONS_MOST);
    for (uint32_t i = 0; i < program->condition_count; i++)
        check_condition(run, &program->conditions[i], &result->conditions[i]);
    result->condition_count = program->condition_count;
}
