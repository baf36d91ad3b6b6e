/*
 * What must be true of any bytes that are read as a plan: it is taken or refused; a refusal names its place; what is
 * taken is written as a plan that reads back to the same one.
 */
#ifndef RIG_TESTS_PLAN_PLAN_PROPERTY_H
#define RIG_TESTS_PLAN_PLAN_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>

enum { PLAN_PROBLEM_BYTES = 4096 };

/* False when it is not so: `problem` then says what is wrong. `*taken`: whether the plan was. Forgets all secrets. */
bool plan_property_holds(const char *text, size_t size, bool *taken, char problem[PLAN_PROBLEM_BYTES]);

#endif
