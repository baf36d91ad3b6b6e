/*
 * Full checks of the properties that searches for cycles rest on: for RIG_COSTLY(), and tests.
 *
 * Time: linear in nodes and edges. Space: 28 bytes a relay, from the heap; without it nothing is checked.
 */
#ifndef RIG_CHECKER_GRAPH_GRAPH_AUDIT_H
#define RIG_CHECKER_GRAPH_GRAPH_AUDIT_H

#include "checker/graph/graph.h"

/*
 * Links, once all are added. Edges join different nodes that are there, and committed transactions only (`committed`
 * NULL: any). Those into relays come from transactions and have a kind, or from relays; those from relays have none,
 * and relays lead to each other in no cycle. Chains descend, and so do the transactions in the part of them that was
 * chained while transactions were visited. Each transaction with an edge from a later one, also through relays, is
 * marked in late_before.
 */
bool rig_links_are_sound(const struct rig_links *links, const uint8_t *committed);

/* A packed graph: rows ascend, edges join different nodes that are there, relays are as above, the numbers of
 * transactions in a part and in the whole are each other's inverse and ascend. */
bool rig_graph_is_sound(const struct rig_graph *graph);

#endif
