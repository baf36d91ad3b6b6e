/*
 * The programs, one file each.
 *
 * Private to generator/programs/.
 */
#ifndef RIG_GENERATOR_PROGRAMS_PROGRAMS_H
#define RIG_GENERATOR_PROGRAMS_PROGRAMS_H

#include "generator/programs/program.h"

extern const struct rig_program rig_program_cart;
extern const struct rig_program rig_program_courseware;
extern const struct rig_program rig_program_smallbank;
extern const struct rig_program rig_program_tpcc;

#endif
