/*
 * The constraints of the workload sql (history/types/row_values.h) after the load: u is unique in its table, and r refers
 * to the u of a row of the same table. A database promises them at every isolation level.
 *
 * A row is there after the load where its insert committed, its chain is whole and does not end in a delete. It is gone
 * where the chain ends in a delete, or its insert certainly did not commit. The fate of all other rows is
 * not known: a finding rests on rows that certainly are there, or certainly are gone.
 *
 * broken-unique: `txn` inserted row `value`, `other` row `other_value`, both are there. broken-reference: `txn` inserted
 * row `value`, which is there, and refers to none; `other` deleted row `other_value`, the last one to which it could
 * refer, or is UINT32_MAX where no committed transaction inserted one.
 *
 * Time: linear in the rows. Threads: one.
 */
#ifndef RIG_CHECKER_INFER_ROW_CONSTRAINTS_H
#define RIG_CHECKER_INFER_ROW_CONSTRAINTS_H

#include "checker/infer/noncyclic.h"
#include "checker/infer/row_versions.h"

/* False when memory runs out. A truncated history, and one that lost operations, show nothing. */
bool rig_row_check_constraints(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic);

#endif
