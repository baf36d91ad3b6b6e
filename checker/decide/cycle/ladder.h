/*
 * The ladder: decides which kinds of cycles a dependency graph has, and finds short witnesses of each.
 *
 * Four rungs (cycles of ww among acknowledged transactions, as acknowledged reads show them; of ww and wr; those
 * without adjacent rw edges; all), each in plain, process and real-time order. Whether a rung has a cycle is decided
 * exactly, by components or by one maximum per node; the searches after that only look for short witnesses. A rung that
 * has a cycle always yields at least one.
 *
 * Time: linear in the core of the graph (core.h) per rung, plus bounded searches; for a history without cycles, one
 * walk from the nodes that backward edges lead to.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_LADDER_H
#define RIG_CHECKER_DECIDE_CYCLE_LADDER_H

#include "base/err.h"
#include "checker/decide/cycle/cycle.h"
#include "checker/infer/list_inference.h"

enum rig_rung { RIG_RUNG_WW, RIG_RUNG_FLOW, RIG_RUNG_SNAPSHOT, RIG_RUNG_ALL, RIG_RUNG_COUNT };

/* The lowest rung that cycles of a shape make cyclic. */
enum rig_rung rig_rung_of(enum rig_shape shape);

struct rig_cycles_found {
    uint64_t count;         /* distinct cycles found; a lower bound of those that exist */
    struct rig_cycle *kept; /* shortest first */
    uint32_t kept_count;
};

struct rig_ladder {
    bool cyclic[RIG_RUNG_COUNT][RIG_ALONG_COUNT];
    /* Where the inference tells cycles by a predicate apart, those have their own names. */
    struct rig_cycles_found found[RIG_ANOMALY_COUNT];
    rig_anomaly_set undecided; /* bits of the requested anomalies whose existence is not decided (existence.h) */
    uint8_t *possible; /* per transaction: 1 where an order of the unread appends may put it on a cycle; of types that
                         * know the other orders. NULL: there is no cycle. From the links' arena. */
    uint8_t *core; /* per transaction: 1 where it may lie on a cycle of the edges. NULL and memory as for `possible` */
    bool clean;    /* no linked transaction, selected or not, lies on a cycle, real time included */
};

/* How many cycles of the anomaly's shape were found, by a predicate or not, and how many transactions the shortest has;
 * 0: none was found. `anomaly` is not by a predicate itself. */
uint64_t rig_ladder_count(const struct rig_ladder *ladder, enum rig_anomaly anomaly);
size_t rig_ladder_shortest(const struct rig_ladder *ladder, enum rig_anomaly anomaly);

/*
 * Keeps up to `most_kept` cycles of each anomaly. Only nodes that are `selected` count (per node of the links; NULL:
 * all). `asked`: bits of the anomalies whose existence has to be decided. Memory also comes from the links' arena, and
 * the links may have been abandoned afterwards (rig_links_abandon()). Release with rig_ladder_done(), also after a
 * failure.
 */
enum rig_rc rig_ladder_climb(const struct rig_history *history, struct rig_inference *inference,
                             const uint8_t *selected, uint32_t most_kept, rig_anomaly_set asked,
                             struct rig_ladder *ladder, struct rig_err *err);
void rig_ladder_done(struct rig_ladder *ladder);

#endif
