/*
 * The question that a level asks of lists (model/problem.h): which versions the external reads returned, and the order
 * of the versions as far as reads show it. The order of appends that no read shows stays open.
 *
 * A read is external if its last element is another transaction's, or if it is empty. One that ends with the reader's
 * own append shows what precedes this append, and is no read of it. A contested key (rig_versions_contest()) has no
 * reads and no pairs: what contests it refutes read committed.
 *
 * Time: linear in the transactions of the history and in the operations of those asked about; their versions are
 * sorted. Space: that of the problem, and 9 bytes a transaction of the history and 4 a key while it is built.
 */
#ifndef RIG_CHECKER_INFER_LIST_PROBLEM_H
#define RIG_CHECKER_INFER_LIST_PROBLEM_H

#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/problem.h"

/*
 * Makes the problem of the committed transactions among `selected` (per transaction; NULL: all). Each strongly
 * connected component of the possible graph must be selected whole, or not at all; then the problem has an explanation
 * exactly if those components have one. It also gets the transactions that wrote what the selected ones read, because
 * their place in the order says what was overwritten. Keys are numbered in the order in which they occur. Released with
 * rig_problem_done(), also after a failure. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_list_problem(const struct rig_inference *inference, const uint8_t *selected, bool items,
                             struct rig_problem *problem, struct rig_err *err);

#endif
