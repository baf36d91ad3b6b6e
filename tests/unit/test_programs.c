/* Programs on tables in memory, one transaction after the other: what they record is what they did. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/table.h"
#include "generator/programs/program_call.h"
#include "generator/programs/program_questions.h"
#include "tests/unit/row_store.h"

enum { CLIENTS = 3 };

struct stage {
    struct rig_generator_options options;
    const struct rig_program *program;
    struct rig_row_schema *schema;
    struct row_store store;
    struct rig_program_call calls[CLIENTS];
    struct rig_table versions; /* key of a row to the value of its last write */
};

/* ---- the stage ---- */

struct stage_loader {
    struct rig_program_loader loader; /* first */
    struct stage *stage;
};

static enum rig_rc add_row(struct rig_program_loader *object, uint32_t table, const int64_t *cells, struct rig_err *err)
{
    (void)err;
    struct stage *stage = ((struct stage_loader *)object)->stage;
    const uint32_t own = stage->schema->tables[table].column_count - RIG_PROGRAM_OWN_COUNT;
    int64_t row[RIG_ROW_COLUMNS] = {0};
    memcpy(row, cells, own * sizeof *row);
    assert_true(store_insert(&stage->store, table, row)); /* no key twice */
    return RIG_OK;
}

static void set_up(struct stage *stage, enum rig_load_shape shape, enum rig_locking locking)
{
    struct rig_err err = {0};
    *stage = (struct stage){.options = {.type = RIG_WORKLOAD_RW_REGISTER,
                                        .shape = shape,
                                        .program = true,
                                        .locking = locking,
                                        .warehouses = 2,
                                        .users = 12,
                                        .rows = 40},
                            .program = rig_program_of(shape)};
    assert_int_equal(rig_program_check(&stage->options, &err), RIG_OK);
    assert_int_equal(rig_program_schema_new(stage->program, &stage->schema, &err), RIG_OK);
    stage->store = (struct row_store){.rows = {.execute = store_execute}, .schema = stage->schema};
    const struct rig_program_size size = rig_program_size_of(&stage->options);
    struct stage_loader loader = {.loader = {.size = &size, .add = add_row}, .stage = stage};
    rig_rng_init(&loader.loader.rng, 1, 1);
    assert_int_equal(stage->program->load(&loader.loader, &err), RIG_OK);
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(rig_program_call_init(&stage->calls[i], &stage->options, i, CLIENTS, &err), RIG_OK);
    rig_table_init(&stage->versions);
}

static void tear_down(struct stage *stage)
{
    for (uint32_t i = 0; i < CLIENTS; i++)
        rig_program_call_done(&stage->calls[i]);
    rig_table_done(&stage->versions);
    store_done(&stage->store);
    rig_program_schema_free(stage->schema);
}

/* ---- what a call recorded ---- */

static int64_t version_of(const struct stage *stage, int64_t key)
{
    const uint32_t version = rig_table_get(&stage->versions, (uint64_t)key);
    return version == RIG_TABLE_NONE ? 0 : version;
}

static void set_version_of(struct stage *stage, int64_t key, int64_t value)
{
    uint32_t *place = rig_table_put(&stage->versions, (uint64_t)key);
    assert_true(place != NULL && value > 0 && value < UINT32_MAX);
    *place = (uint32_t)value;
}

/* Each read of a serial execution shows the last write of its row, and no value is written twice to one. */
static void check_operations(struct stage *stage, const struct rig_program_call *call, bool committed)
{
    struct rig_table own;
    rig_table_init(&own);
    for (uint32_t i = 0; i < call->op_count; i++) {
        const struct rig_op *op = &call->ops[i];
        const uint32_t written = rig_table_get(&own, (uint64_t)op->key);
        const int64_t last = written != RIG_TABLE_NONE ? written : version_of(stage, op->key);
        if (op->kind == call->type->write_op) {
            assert_true(op->value % CLIENTS == (1 + call->client) % CLIENTS && op->value != last);
            *rig_table_put(&own, (uint64_t)op->key) = (uint32_t)op->value;
            continue;
        }
        const struct rig_read *read = &call->reads[i];
        if (read->state == RIG_READ_UNKNOWN)
            assert_false(committed);
        else if (last == 0)
            assert_int_equal(read->state, RIG_READ_NIL);
        else
            assert_true(read->state == RIG_READ_SEEN && read->value == last);
    }
    for (size_t slot = 0; committed && slot < own.slot_count; slot++) {
        if (own.values[slot] != RIG_TABLE_NONE)
            set_version_of(stage, (int64_t)own.keys[slot], own.values[slot]);
    }
    rig_table_done(&own);
}

/* Every row has the version that the operations say. */
static void check_tables(struct stage *stage)
{
    for (uint32_t table = 0; table < stage->schema->table_count; table++) {
        for (size_t i = 0; i < store_count(&stage->store, table); i++) {
            const int64_t *row = store_row(&stage->store, table, i);
            const int64_t key = rig_row_key_pack(stage->program, table, row);
            int64_t columns[RIG_PROGRAM_KEY_COLUMNS];
            assert_int_equal(rig_row_key_unpack(stage->program, key, columns), table);
            assert_memory_equal(columns, row, stage->schema->tables[table].key_count * sizeof *row);
            assert_int_equal(row[store_columns(&stage->store, table) - 1], version_of(stage, key));
        }
    }
}

/* ---- the tests ---- */

struct tally {
    uint64_t commits, rollbacks, kinds[16], operations;
};

static struct tally run_serially(struct stage *stage, uint64_t count)
{
    struct tally tally = {0};
    for (uint64_t position = 0; position < count; position++) {
        struct rig_program_call *call = &stage->calls[position % CLIENTS];
        rig_program_call_ask(call, 7, position / CLIENTS);
        tally.kinds[call->kind - stage->program->kinds]++;
        const bool committed = store_run(&stage->store, &call->base);
        assert_true(committed || call->rollback != NULL);
        assert_true(call->op_count > 0 || !committed); /* a row to delete that is not there is no operation */
        if (committed && call->kind->read_only) {
            for (uint32_t i = 0; i < call->op_count; i++)
                assert_int_equal(call->ops[i].kind, call->type->read_op);
        }
        check_operations(stage, call, committed);
        tally.commits += committed;
        tally.rollbacks += !committed;
        tally.operations += call->op_count;
    }
    check_tables(stage);
    return tally;
}

static void each_program_records_what_it_does(void **state)
{
    (void)state;
    for (int64_t shape = 0; shape < RIG_LOAD_SHAPE_COUNT; shape++) {
        if (rig_program_of(shape) == NULL)
            continue;
        for (int locking = RIG_LOCKING_NONE; locking <= RIG_LOCKING_ATOMIC_UPDATE; locking++) {
            struct stage stage;
            set_up(&stage, (enum rig_load_shape)shape, (enum rig_locking)locking);
            const struct tally tally = run_serially(&stage, 600);
            for (uint32_t i = 0; i < stage.program->kind_count; i++)
                assert_true(tally.kinds[i] > 0);
            assert_true(tally.commits > 100 && tally.operations > tally.commits);
            tear_down(&stage);
        }
    }
}

/* Whichever way it locks: one after the other, transactions leave the same rows. */
static void ways_to_lock_agree(void **state)
{
    (void)state;
    struct stage stages[2];
    set_up(&stages[0], RIG_LOAD_SMALLBANK, RIG_LOCKING_NONE);
    set_up(&stages[1], RIG_LOAD_SMALLBANK, RIG_LOCKING_ATOMIC_UPDATE);
    for (int i = 0; i < 2; i++)
        (void)run_serially(&stages[i], 2000);
    for (uint32_t table = 0; table < stages[0].schema->table_count; table++) {
        assert_int_equal(store_count(&stages[0].store, table), store_count(&stages[1].store, table));
        for (size_t i = 0; i < store_count(&stages[0].store, table); i++)
            assert_int_equal(store_row(&stages[0].store, table, i)[1], store_row(&stages[1].store, table, i)[1]);
    }
    for (int i = 0; i < 2; i++)
        tear_down(&stages[i]);
}

/* A statement that fails ends the program at once; the write that was sent stays in its operations. */
static void a_failed_statement_ends_the_program(void **state)
{
    (void)state;
    for (uint64_t failing = 1; failing <= 6; failing++) {
        struct stage stage;
        set_up(&stage, RIG_LOAD_SMALLBANK, RIG_LOCKING_NONE);
        for (uint64_t position = 0; position < 50; position++) {
            struct rig_program_call *call = &stage.calls[0];
            stage.store.executed = 0;
            stage.store.fail_at = failing;
            rig_program_call_ask(call, 7, position);
            const bool committed = store_run(&stage.store, &call->base);
            assert_int_equal(committed, stage.store.executed < failing && call->rollback == NULL);
            assert_true(stage.store.executed <= failing);
            check_operations(&stage, call, committed);
            if (call->failed) /* whatever was sent before it is there */
                assert_true(call->op_count + 1 >= failing);
        }
        tear_down(&stage);
    }
}

static void a_lost_row_has_a_value_that_nothing_wrote(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, RIG_LOAD_SMALLBANK, RIG_LOCKING_NONE);
    struct rig_program_call *call = &stage.calls[0];
    const uint32_t savings = 1;
    const int64_t key = rig_row_key_pack(stage.program, savings, RIG_KEY(5));
    rig_program_call_ask_reads(call, &key, 1);
    assert_true(store_run(&stage.store, &call->base));
    assert_int_equal(call->op_count, 1);
    assert_int_equal(call->reads[0].state, RIG_READ_NIL);
    store_remove(&stage.store, savings, 5);
    rig_program_call_ask_reads(call, &key, 1);
    assert_true(store_run(&stage.store, &call->base));
    assert_true(call->reads[0].state == RIG_READ_SEEN && call->reads[0].value < 0);
    tear_down(&stage);
}

static void a_stream_is_the_same_each_time(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, RIG_LOAD_SMALLBANK, RIG_LOCKING_NONE);
    struct rig_program_questions source;
    const struct rig_generator_options *const phases[] = {&stage.options};
    rig_program_questions_init(&source, phases, 1, 9);
    struct rig_question_stream *streams[2] = {0};
    struct rig_transaction transaction = {0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(source.questions.open(&source.questions, 1, CLIENTS, &streams[i], &(struct rig_err){0}),
                         RIG_OK);
    streams[1]->ops->skip_to(streams[1], 100);
    for (int i = 0; i <= 100; i++)
        streams[0]->ops->next(streams[0], &transaction);
    streams[1]->ops->next(streams[1], &transaction);
    struct rig_program_call *calls[2] = {rig_program_stream_call(streams[0]), rig_program_stream_call(streams[1])};
    assert_int_equal(transaction.op_count, 0);
    assert_int_equal(transaction.read_only, calls[1]->kind->read_only);
    assert_ptr_equal(calls[0]->kind, calls[1]->kind);
    assert_int_equal(rig_program_draw(calls[0], 0, INT32_MAX), rig_program_draw(calls[1], 0, INT32_MAX));
    for (int i = 0; i < 2; i++)
        streams[i]->ops->free(streams[i]);
    tear_down(&stage);
}

/* A stream goes on to another phase wherever it is; the phase has transactions and a way to lock of its own. */
static void a_stream_has_phases(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, RIG_LOAD_SMALLBANK, RIG_LOCKING_NONE);
    struct rig_generator_options locking = stage.options;
    locking.locking = RIG_LOCKING_FOR_UPDATE;
    const struct rig_generator_options *const phases[] = {&stage.options, &locking};
    struct rig_program_questions source;
    rig_program_questions_init(&source, phases, 2, 9);
    struct rig_transaction transaction = {0};
    int64_t draws[2][20];
    for (int i = 0; i < 2; i++) { /* the first stream leaves the phase after 3 transactions, the second at once */
        struct rig_question_stream *stream;
        assert_int_equal(source.questions.open(&source.questions, 1, CLIENTS, &stream, &(struct rig_err){0}), RIG_OK);
        for (int k = 0; i == 0 && k < 3; k++) {
            stream->ops->next(stream, &transaction);
            assert_int_equal(rig_program_stream_call(stream)->locking, RIG_LOCKING_NONE);
        }
        stream->ops->skip_to(stream, rig_phase_position(1, 5)); /* of another phase: no effect */
        assert_int_equal(stream->ops->position(stream), i == 0 ? 3 : 0);
        stream->ops->enter(stream, 1);
        assert_int_equal(stream->ops->position(stream), rig_phase_position(1, 0));
        assert_int_equal(stream->ops->behind(stream, 0), i == 0 ? 3 : 0);
        for (int k = 0; k < 20; k++) {
            stream->ops->next(stream, &transaction);
            draws[i][k] = rig_program_draw(rig_program_stream_call(stream), 0, INT32_MAX);
            assert_int_equal(rig_program_stream_call(stream)->locking, RIG_LOCKING_FOR_UPDATE);
        }
        stream->ops->free(stream);
    }
    assert_memory_equal(draws[0], draws[1], sizeof draws[0]);
    tear_down(&stage);
}

static void shapes_without_a_program_are_refused(void **state)
{
    (void)state;
    struct rig_generator_options options = {.type = RIG_WORKLOAD_RW_REGISTER, .shape = RIG_LOAD_ROTATING};
    struct rig_err err = {0};
    assert_int_equal(rig_program_check(&options, &err), RIG_E_PLAN);
    assert_non_null(strstr(err.text, "`rotating` has no program"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_program_records_what_it_does),
        cmocka_unit_test(ways_to_lock_agree),
        cmocka_unit_test(a_failed_statement_ends_the_program),
        cmocka_unit_test(a_lost_row_has_a_value_that_nothing_wrote),
        cmocka_unit_test(a_stream_is_the_same_each_time),
        cmocka_unit_test(a_stream_has_phases),
        cmocka_unit_test(shapes_without_a_program_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
