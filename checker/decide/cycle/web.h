/*
 * The web: the core of a dependency graph with additional edges between versions that are not adjacent, so that a
 * search finds the shortest witnesses (docs/checker/anomalies.md). Each cycle of the web has the transactions of a
 * cycle of the core, or some of them.
 *
 * Each key's order becomes three chains of relays (graph.h): from the writers of the versions before a place, as ww
 * and as wr edges, and from the transactions that read no version at or after it, as rw edges. No relay leads from a
 * transaction to itself: the versions between the one in question and the transaction's own version of the key are
 * joined edge by edge, up to RIG_WEB_PAIRS of them.
 *
 * Nodes of the core keep their numbers; relays of the web follow. Lists only: a register's order is partial.
 *
 * The web of writes has the ww edges between acknowledged transactions in the order that acknowledged reads show, and
 * no others: versions that only transactions of unknown fate read count as unread (infer/list_acknowledged.h).
 *
 * Time: n log n in the operations of the core's transactions. Space: about 60 bytes such an operation.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_WEB_H
#define RIG_CHECKER_DECIDE_CYCLE_WEB_H

#include "checker/model/graph.h"
#include "checker/infer/versions.h"

enum { RIG_WEB_PAIRS = 64 };

struct rig_web {
    struct rig_graph graph; /* nodes, place and process order are the core's */
    uint32_t *first, *edges;
    uint8_t *unsettled;
};

/* False when memory runs out. Release with rig_web_done(), also after a failure. */
bool rig_web_make(const struct rig_versions *versions, const struct rig_graph *core, struct rig_web *web);
/* The web of writes; versions->acknowledged are known. Otherwise as rig_web_make(). */
bool rig_web_make_writes(const struct rig_versions *versions, const struct rig_graph *core, struct rig_web *web);
void rig_web_done(struct rig_web *web);

#endif
