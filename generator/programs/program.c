#include "generator/programs/program.h"

#include <stdlib.h>

#include "base/bug.h"

static const struct rig_program *const programs[RIG_LOAD_SHAPE_COUNT] = {
    [RIG_LOAD_CART] = &rig_program_cart,
    [RIG_LOAD_COURSEWARE] = &rig_program_courseware,
    [RIG_LOAD_SMALLBANK] = &rig_program_smallbank,
    [RIG_LOAD_TPCC] = &rig_program_tpcc,
};

const struct rig_program *rig_program_of(int64_t shape)
{
    RIG_REQUIRE(shape >= 0 && shape < RIG_LOAD_SHAPE_COUNT);
    return programs[shape];
}

struct rig_program_size rig_program_size_of(const struct rig_generator_options *options)
{
    return (struct rig_program_size){.warehouses = options->warehouses, .users = options->users, .rows = options->rows};
}

enum rig_rc rig_program_check(const struct rig_generator_options *options, struct rig_err *err)
{
    const struct rig_program *program = rig_program_of(options->shape);
    const struct rig_program_size size = rig_program_size_of(options);
    if (program == NULL)
        return rig_fail(err, RIG_E_PLAN, "the shape `%s` has no program: remove `workload.program`",
                        rig_load_shape_names[options->shape]);
    return program->check == NULL ? RIG_OK : program->check(&size, err);
}

/* ---- statements ---- */

/* The schema and its arrays, freed together. */
struct schema_storage {
    struct rig_row_schema schema; /* first */
    struct rig_row_table *tables;
    struct rig_row_statement *statements;
};

static void add_key_conditions(struct rig_row_statement *statement, const struct rig_row_table *table)
{
    RIG_REQUIRE(table->key_count <= RIG_ROW_CONDITIONS && table->key_count <= RIG_PROGRAM_KEY_COLUMNS);
    for (uint32_t i = 0; i < table->key_count; i++)
        statement->conditions[statement->condition_count++] = (struct rig_row_condition){(uint8_t)i, RIG_ROW_EQUAL};
}

static void describe_table(const struct rig_program *program, uint32_t table, struct rig_row_statement *statements)
{
    static const enum rig_row_act acts[RIG_PROGRAM_OF_TABLE] = {[RIG_PROGRAM_GET] = RIG_ROW_SELECT,
                                                                [RIG_PROGRAM_GET_FOR_UPDATE] = RIG_ROW_SELECT,
                                                                [RIG_PROGRAM_INSERT] = RIG_ROW_INSERT,
                                                                [RIG_PROGRAM_DELETE] = RIG_ROW_DELETE};
    for (uint32_t i = 0; i < RIG_PROGRAM_OF_TABLE; i++) {
        struct rig_row_statement *statement =
            &statements[rig_program_table_statement(table, (enum rig_program_of_table)i)];
        *statement =
            (struct rig_row_statement){.act = acts[i], .table = table, .for_update = i == RIG_PROGRAM_GET_FOR_UPDATE};
        if (i != RIG_PROGRAM_INSERT)
            add_key_conditions(statement, &program->tables[table].rows);
    }
}

/* The columns `overwrote` and `writer` come last. */
static void describe_update(const struct rig_program *program, uint32_t index, enum rig_program_of_update which,
                            struct rig_row_statement *statement)
{
    const struct rig_program_update *update = &program->updates[index];
    const struct rig_row_table *table = &program->tables[update->table].rows;
    const uint8_t writer = (uint8_t)(table->column_count - 1), overwrote = (uint8_t)(table->column_count - 2);
    *statement = (struct rig_row_statement){.act = RIG_ROW_UPDATE, .table = update->table};
    struct rig_row_assignment *assignment = statement->assignments;
    *assignment++ = (struct rig_row_assignment){overwrote, RIG_ROW_COPY, writer};
    *assignment++ = (struct rig_row_assignment){writer, RIG_ROW_VALUE, 0};
    for (uint32_t i = 0; i < update->column_count; i++)
        *assignment++ =
            (struct rig_row_assignment){update->columns[i], which == RIG_PROGRAM_ADD ? RIG_ROW_SUM : RIG_ROW_VALUE, 0};
    statement->assignment_count = update->column_count + RIG_PROGRAM_OWN_COUNT;
    add_key_conditions(statement, table);
}

static void describe(const struct rig_program *program, struct rig_row_statement *statements)
{
    for (uint32_t i = 0; i < program->table_count; i++)
        describe_table(program, i, statements);
    for (uint32_t i = 0; i < program->query_count; i++)
        statements[rig_program_query_statement(program, i)] = program->queries[i];
    for (uint32_t i = 0; i < program->update_count; i++) {
        for (uint32_t which = 0; which < RIG_PROGRAM_OF_UPDATE; which++)
            describe_update(program, i, (enum rig_program_of_update)which,
                            &statements[rig_program_update_statement(program, i, (enum rig_program_of_update)which)]);
    }
}

enum rig_rc rig_program_schema_new(const struct rig_program *program, struct rig_row_schema **schema,
                                   struct rig_err *err)
{
    struct schema_storage *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the statements of the program");
    const uint32_t count = rig_program_update_statement(program, program->update_count, RIG_PROGRAM_SET);
    made->tables = calloc(program->table_count, sizeof *made->tables);
    made->statements = calloc(count, sizeof *made->statements);
    if (made->tables == NULL || made->statements == NULL) {
        rig_program_schema_free(&made->schema);
        return rig_no_memory(err, "the statements of the program");
    }
    for (uint32_t i = 0; i < program->table_count; i++)
        made->tables[i] = program->tables[i].rows;
    describe(program, made->statements);
    made->schema = (struct rig_row_schema){.tables = made->tables,
                                           .table_count = program->table_count,
                                           .statements = made->statements,
                                           .statement_count = count};
    *schema = &made->schema;
    return RIG_OK;
}

void rig_program_schema_free(struct rig_row_schema *schema)
{
    struct schema_storage *storage = (struct schema_storage *)schema;
    if (storage == NULL)
        return;
    free(storage->tables);
    free(storage->statements);
    free(storage);
}
