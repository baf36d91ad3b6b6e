/*
 * Full checks of the properties that inferences rest on: for RIG_COSTLY(), and tests. They pass when memory runs out.
 */
#ifndef RIG_CHECKER_INFER_VERSIONS_AUDIT_H
#define RIG_CHECKER_INFER_VERSIONS_AUDIT_H

#include "checker/infer/registers.h"
#include "checker/infer/versions.h"

/*
 * Checks lists after their orders were found: no element is in a key's order twice; an append in the order has its
 * position, and the place there has a writer if and only if that one committed; the count of committed transactions is
 * right.
 * Time: linear in the orders and the appends.
 */
bool rig_versions_are_sound(const struct rig_versions *versions);

/*
 * Checks registers: initial states come first; an operation's version has its key and value; edges join versions of one
 * key, ascend by their ends in each row, and close no cycle. An edge leads to an initial state only from a value
 * without a writer, which need not be a version. Time: linear.
 */
bool rig_registers_are_sound(const struct rig_registers *registers);

#endif
