/*
 * The calls of a model for drivers (struct rig_model_calls): their values as JSON, and the object that a driver may
 * simulate.
 *
 * Threads: any.
 */
#ifndef RIG_GENERATOR_MODEL_CALLS_H
#define RIG_GENERATOR_MODEL_CALLS_H

#include "drivers/driver.h"

struct rig_specification;

/* Borrows the specification. */
struct rig_model_calls rig_model_calls_of(const struct rig_specification *specification);

#endif
