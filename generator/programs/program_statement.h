/*
 * The numbers of a program's statements: four of each table, then its queries, then two of each update.
 *
 * Private to generator/programs/.
 */
#ifndef RIG_GENERATOR_PROGRAMS_PROGRAM_STATEMENT_H
#define RIG_GENERATOR_PROGRAMS_PROGRAM_STATEMENT_H

#include "generator/programs/program.h"

enum rig_program_of_table {
    RIG_PROGRAM_GET,
    RIG_PROGRAM_GET_FOR_UPDATE,
    RIG_PROGRAM_INSERT,
    RIG_PROGRAM_DELETE,
    RIG_PROGRAM_OF_TABLE,
};

enum rig_program_of_update { RIG_PROGRAM_SET, RIG_PROGRAM_ADD, RIG_PROGRAM_OF_UPDATE };

static inline uint32_t rig_program_table_statement(uint32_t table, enum rig_program_of_table which)
{
    return table * RIG_PROGRAM_OF_TABLE + (uint32_t)which;
}

static inline uint32_t rig_program_query_statement(const struct rig_program *program, uint32_t query)
{
    return program->table_count * RIG_PROGRAM_OF_TABLE + query;
}

static inline uint32_t rig_program_update_statement(const struct rig_program *program, uint32_t update,
                                                    enum rig_program_of_update which)
{
    return rig_program_query_statement(program, program->query_count) + update * RIG_PROGRAM_OF_UPDATE +
           (uint32_t)which;
}

#endif
