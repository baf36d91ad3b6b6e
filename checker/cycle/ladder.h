/*
 * The ladder: which kinds of cycles a dependency graph has, and short witnesses of each (design: graph and cycles).
 *
 * Four rungs (cycles of ww among acknowledged transactions, as acknowledged reads show them; of ww and wr; those
 * without adjacent rw edges; all), each in plain, process and real-time order. Whether a rung has a cycle is decided
 * exactly, by components or by one maximum per node; the searches after that only look for short witnesses. A rung that
 * has a cycle always yields at least one.
 *
 * Time: linear in the core of the graph (core.h) per rung, plus bounded searches; a history without cycles costs one
 * walk over what may be one (clean.h).
 */
#ifndef RIG_CHECKER_CYCLE_LADDER_H
#define RIG_CHECKER_CYCLE_LADDER_H

#include "base/err.h"
#include "checker/cycle/cycle.h"
#include "checker/infer/list_inference.h"

enum rig_rung { RIG_RUNG_WW, RIG_RUNG_FLOW, RIG_RUNG_SNAPSHOT, RIG_RUNG_ALL, RIG_RUNG_COUNT };

/* The lowest rung that cycles of a shape make cyclic. */
enum rig_rung rig_rung_of(enum rig_shape shape);

struct rig_cycles_found {
    uint64_t count;         /* distinct cycles that were found; a lower bound of those there are */
    struct rig_cycle *kept; /* shortest first */
    uint32_t kept_count;
};

struct rig_ladder {
    bool cyclic[RIG_RUNG_COUNT][RIG_ALONG_COUNT];
    struct rig_cycles_found found[RIG_ANOMALY_COUNT];
    uint64_t undecided; /* bits of anomalies asked for of which it is not known whether there is one (existence.h) */
    bool clean;         /* no linked transaction, selected or not, lies on a cycle, real time counted */
};

/*
 * Keeps up to `most_kept` cycles of each anomaly. `selected`, per node of the links (NULL: all), are those that are
 * looked at. `asked`, as bits, are anomalies of which it has to be certain whether there is one. Memory comes from the
 * links' arena, too; the links may be gone afterwards (rig_links_abandon()). Release with rig_ladder_done(), also after
 * a failure.
 */
enum rig_rc rig_ladder_climb(const struct rig_history *history, struct rig_inference *inference,
                             const uint8_t *selected, uint32_t most_kept, uint64_t asked, struct rig_ladder *ladder,
                             struct rig_err *err);
void rig_ladder_done(struct rig_ladder *ladder);

#endif
