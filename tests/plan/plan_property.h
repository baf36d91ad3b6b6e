/*
 * The properties of any bytes that are read as a plan: the plan is accepted or rejected; a rejection names its place;
 * an accepted plan is written as a plan that reads back to the same one.
 */
#ifndef RIG_TESTS_PLAN_PLAN_PROPERTY_H
#define RIG_TESTS_PLAN_PLAN_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>

enum { PLAN_PROBLEM_BYTES = 4096 };

/* False when a property does not hold: `problem` then describes it. `*taken`: whether the plan was accepted. Forgets
 * all secrets. */
bool plan_property_holds(const char *text, size_t size, bool *taken, char problem[PLAN_PROBLEM_BYTES]);

#endif
