/*
 * The conditions on the tables of a program, which hold whenever its transactions are isolated (generator/programs/program.h). A
 * run checks them on the database after its load; results keep what they showed.
 */
#ifndef RIG_CHECKER_MODEL_CONDITION_H
#define RIG_CHECKER_MODEL_CONDITION_H

#include <stdint.h>

enum { RIG_CONDITION_ROWS = 8 };

/* Texts are borrowed. */
struct rig_table_condition {
    const char *name, *text, *source;
    uint64_t guaranteed_by;               /* bits: levels that guarantee it */
    const char *problem;                  /* why it could not be checked; NULL: it was */
    uint64_t broken;                      /* rows that break it */
    const char *rows[RIG_CONDITION_ROWS]; /* the first of them, with their columns */
    uint32_t row_count;
};

#endif
