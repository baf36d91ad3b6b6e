/*
 * The constraints of the workload sql (history/types/row_values.h) at each moment of the load and after it: u is unique
 * in its table, and r refers to the u of a row of the same table. A database promises them at every isolation level,
 * and whatever clients ask for next: so each prefix of a history keeps them, as if the load had ended there (adr 132).
 *
 * A row certainly is there from the acknowledgement of its insert until the invocation of its delete. It may be there
 * from the invocation of its insert until the acknowledgement of its delete. Where a transaction of unknown fate is
 * known to have committed, it did so at some time before the end. A row certainly is there at no moment if its chain is
 * not whole, and at none it may be if its insert failed. A finding rests on rows that certainly were there, and on
 * values that no row may have had. Without invocations only the end counts.
 *
 * CHECK and NOT NULL are about one version of a row. Its contents follow from its statements, so a version that a
 * committed transaction left and that breaks one is a finding by itself, also in a history without its end.
 *
 * broken-check: `txn` left row `value` with the contents `other_value`; `other` left the version that it replaced, or
 * is UINT32_MAX where it inserted the row.
 * broken-unique: `txn` inserted row `value`, `other` row `other_value`, and at some moment both were there.
 * broken-reference: `txn` inserted row `value`, which was there and referred to none; `other` deleted row
 * `other_value`, the last one to which it could refer, or is UINT32_MAX where none had been inserted.
 *
 * Time: sorting the rows. Space: 20 bytes a row of a table. Threads: one.
 */
#ifndef RIG_CHECKER_INFER_ROW_CONSTRAINTS_H
#define RIG_CHECKER_INFER_ROW_CONSTRAINTS_H

#include "checker/infer/noncyclic.h"
#include "checker/infer/row_versions.h"

/* False when memory runs out. A truncated history, and one that lost operations, show broken checks only. */
bool rig_row_check_constraints(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic);

#endif
