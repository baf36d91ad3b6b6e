/*
 * From the inference for registers to the question that a level asks (model/problem.h): the reads that show another
 * transaction's version or the initial state, the last writes, process order and real time, and one pair for each two
 * versions that an assumption which holds orders.
 *
 * A read of a value without a known writer that is not the initial state is left out: it restricts nothing
 * (registers.h). So are reads of a version between the first and the last one of their transaction.
 *
 * Time: linear in operations and edges. Space: that of the problem, and 16 bytes a transaction and key, and 8 a
 * version, meanwhile.
 */
#ifndef RIG_CHECKER_INFER_REGISTER_PROBLEM_H
#define RIG_CHECKER_INFER_REGISTER_PROBLEM_H

#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/problem.h"

/*
 * The problem of the committed transactions among `selected` (per transaction; NULL: all), without reads of versions
 * that others wrote. Keys are those of the history. The caller releases the problem with rig_problem_done(), also after
 * a failure. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_register_problem(const struct rig_inference *inference, const uint8_t *selected, bool items,
                                 struct rig_problem *problem, struct rig_err *err);

#endif
