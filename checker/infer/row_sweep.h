/*
 * Edges by predicates of reads whose versions are known (struct rig_read_places), without a visit of each row for each
 * read.
 *
 * A list has the versions that change whether a row meets one condition, in the order of visibility: one list for each
 * range of classes that a read of a table asks for, and one for each BLOCK_ROWS rows of it, whose condition is that the
 * row is there. Totals have lists of their own, with each version that meets the condition, too. One pass over the
 * places takes reads and changes in turn. Relays (model/graph.h) stand for the versions up to a place, and for those
 * after it:
 *
 *   change 1 -wr-> up 1 -> read 1        read 1 -rw-> down 1 -> change 2
 *                   |                                   |
 *   change 2 -wr-> up 2 -> read 2        read 2 -rw-> down 2 -> change 3
 *
 * A transaction must not lead to itself: where a reader has changes of its own, those between its read and its own
 * place get edges one by one, and only those after its place are reached through a relay. A read by ids takes the
 * blocks that it covers, and the rows at its ends one by one. Not taken at all, but left to the caller: reads of a
 * table that their transaction wrote before, reads of tables with a row whose versions are not all known, and totals
 * where only items count, since a relay leads to a version of a row that the total did not have.
 *
 * So a read has an edge to each version that changed what it would have shown, not to the nearest one of each row
 * alone; the others follow from that one by ww edges.
 *
 * Time: O(changes * ranges of classes of a table + reads * (rows / BLOCK_ROWS + BLOCK_ROWS)), and the changes that were
 * made between a reader's snapshot and its own commit. Space: 32 bytes a list, 12 a change, 24 a read, and up to four
 * edges each. Source: Clark et al., EuroSys 2024, with the chains of virtual nodes in place of the pairs.
 */
#ifndef RIG_CHECKER_INFER_ROW_SWEEP_H
#define RIG_CHECKER_INFER_ROW_SWEEP_H

#include "checker/model/links.h"
#include "checker/infer/row_versions.h"

struct rig_row_sweep;

/* The history has places. NULL when memory runs out. */
struct rig_row_sweep *rig_row_sweep_new(const struct rig_row_chains *rows, struct rig_links *links, bool items_only,
                                        struct rig_arena *arena);
/* Whether edges of a read by that condition may be left to the sweep. */
bool rig_row_sweep_takes(const struct rig_row_sweep *sweep, uint32_t key, const struct rig_row_where *condition);
/* Adds a read that saw the commits with places below `seen`. Rows of `inserts` from *first to *last, at the ends of a
 * range of ids, are not in a block: the caller links [begin, *first) and [*last, end) itself. False when memory runs
 * out. */
bool rig_row_sweep_add(struct rig_row_sweep *sweep, uint32_t txn, uint32_t key, const struct rig_row_where *condition,
                       uint32_t seen, uint32_t *first, uint32_t *last);
/* Links all reads that were added. False when memory runs out. */
bool rig_row_sweep_link(struct rig_row_sweep *sweep);

#endif
