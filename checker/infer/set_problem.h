/*
 * From the inference for sets to the question that a level asks (model/problem.h). Each element is a key of the
 * problem, with one write, so that the order of all versions is known.
 *
 * Time and space: those of the elements that the selected transactions read or miss.
 */
#ifndef RIG_CHECKER_INFER_SET_PROBLEM_H
#define RIG_CHECKER_INFER_SET_PROBLEM_H

#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/problem.h"

/* As rig_type_inference.build_problem. */
enum rig_rc rig_set_problem(const struct rig_inference *inference, const uint8_t *selected, bool items,
                            struct rig_problem *problem, struct rig_err *err);

#endif
