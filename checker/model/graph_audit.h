/*
 * Full checks of the properties that searches for cycles rest on: for RIG_COSTLY(), and tests.
 *
 * Time: linear in nodes and edges. Space: 28 bytes a relay, from the heap. They pass when memory runs out.
 */
#ifndef RIG_CHECKER_MODEL_GRAPH_AUDIT_H
#define RIG_CHECKER_MODEL_GRAPH_AUDIT_H

#include "checker/model/graph.h"

/*
 * Checks links after all were added. Edges join different existing nodes, and committed transactions only (`committed`
 * NULL: any). An edge from a transaction into a relay has a kind; an edge from a relay has none; relays form no cycle.
 * Chains descend, and so do the transactions in the part that was chained while transactions were visited. Each
 * transaction with an edge from a later one, also through relays, is marked in late_before.
 */
bool rig_links_are_sound(const struct rig_links *links, const uint8_t *committed);

/* Checks a packed graph: rows ascend, edges join different existing nodes, relays are as above, and the numbers of
 * transactions in a part and in the whole are inverse to each other and ascend. */
bool rig_graph_is_sound(const struct rig_graph *graph);

#endif
