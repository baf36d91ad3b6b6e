/*
 * The isolation levels and their implication lattice.
 *
 * Level A implies level B when every history that A allows B allows too. Each level lists the weaker levels it implies
 * directly, and the anomalies it forbids itself, whatever the shape of its cycle; what a level forbids in all is the
 * union over what it implies. Its rule (rule.h) may also forbid some cycles of further names.
 *
 * The exact lattice follows from the rules. The reference's lattice (Kingsbury & Alvaro 2020) lacks some implications,
 * and refutes by the names of anomalies alone; it is for comparing verdicts.
 *
 * Levels come in three orders (rig_along): plain, with the order of each process (session), and with real time
 * (strong).
 *
 * Sources as in anomaly.h; BE19 = Biswas & Enea, OOPSLA 2019; BERN95 = Berenson et al., SIGMOD 1995; BAILIS14 = Bailis
 * et al., VLDB 2014; DAUD04/06 = Daudjee & Salem; HW90 = Herlihy & Wing 1990; PAPA79 = Papadimitriou 1979; TERRY94 =
 * Terry et al. 1994; SOVRAN11 = Sovran et al., SOSP 2011.
 */
#ifndef RIG_CHECKER_MODEL_LEVEL_H
#define RIG_CHECKER_MODEL_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/model/anomaly.h"

/* X(id, name, definition, source); weaker before stronger (a topological order of the lattice). */
#define RIG_LEVEL_TABLE(X)                                                                                             \
    X(READ_UNCOMMITTED, "read-uncommitted", "writes are ordered (PL-1: no G0)", "ALO00 5.1")                           \
    X(STRONG_SESSION_READ_UNCOMMITTED, "strong-session-read-uncommitted", "PL-1 respecting process order", "DAUD04")   \
    X(STRONG_READ_UNCOMMITTED, "strong-read-uncommitted", "PL-1 respecting real time", "DAUD04")                       \
    X(READ_COMMITTED, "read-committed", "only final, committed values are read (PL-2: no G1)", "ALO00 5.2")            \
    X(STRONG_SESSION_READ_COMMITTED, "strong-session-read-committed", "PL-2 respecting process order", "DAUD04")       \
    X(STRONG_READ_COMMITTED, "strong-read-committed", "PL-2 respecting real time", "DAUD04")                           \
    X(CURSOR_STABILITY, "cursor-stability", "no update is lost (PL-CS: no G-cursor)", "Adya99 4.4")                    \
    X(STRONG_SESSION_CURSOR_STABILITY, "strong-session-cursor-stability", "cursor stability respecting process order", \
      "Adya99 4.4; DAUD04")                                                                                            \
    X(STRONG_CURSOR_STABILITY, "strong-cursor-stability", "cursor stability respecting real time",                     \
      "Adya99 4.4; DAUD04")                                                                                            \
    X(MONOTONIC_ATOMIC_VIEW, "monotonic-atomic-view", "after one effect of a transaction is seen, all are seen",       \
      "BAILIS14 5.1.2")                                                                                                \
    X(STRONG_SESSION_MONOTONIC_ATOMIC_VIEW, "strong-session-monotonic-atomic-view",                                    \
      "monotonic atomic view respecting process order", "BAILIS14 5.1; DAUD04")                                        \
    X(STRONG_MONOTONIC_ATOMIC_VIEW, "strong-monotonic-atomic-view", "monotonic atomic view respecting real time",      \
      "BAILIS14 5.1; DAUD04")                                                                                          \
    X(MONOTONIC_VIEW, "monotonic-view", "reads never go back to earlier versions (PL-2L)", "Adya99 4.2.1")             \
    X(STRONG_SESSION_MONOTONIC_VIEW, "strong-session-monotonic-view", "monotonic view respecting process order",       \
      "Adya99 4.2.1; DAUD04")                                                                                          \
    X(STRONG_MONOTONIC_VIEW, "strong-monotonic-view", "monotonic view respecting real time", "Adya99 4.2.1; DAUD04")   \
    X(MONOTONIC_SNAPSHOT_READ, "monotonic-snapshot-read", "each read from a snapshot, snapshots ascend (PL-MSR)",      \
      "Adya99 4.2.3")                                                                                                  \
    X(STRONG_SESSION_MONOTONIC_SNAPSHOT_READ, "strong-session-monotonic-snapshot-read",                                \
      "monotonic snapshot reads respecting process order", "Adya99 4.2.3; DAUD04")                                     \
    X(STRONG_MONOTONIC_SNAPSHOT_READ, "strong-monotonic-snapshot-read",                                                \
      "monotonic snapshot reads respecting real time", "Adya99 4.2.3; DAUD04")                                         \
    X(CONSISTENT_VIEW, "consistent-view", "no read skew (PL-2+: no G-single)", "Adya99 4.2.2")                         \
    X(STRONG_SESSION_CONSISTENT_VIEW, "strong-session-consistent-view", "consistent view respecting process order",    \
      "Adya99 4.2.2; DAUD04")                                                                                          \
    X(STRONG_CONSISTENT_VIEW, "strong-consistent-view", "consistent view respecting real time",                        \
      "Adya99 4.2.2; DAUD04")                                                                                          \
    X(FORWARD_CONSISTENT_VIEW, "forward-consistent-view",                                                              \
      "consistent view, also of transactions that started later (PL-FCV)", "Adya99 4.2.4")                             \
    X(READ_ATOMIC, "read-atomic", "all or no effects of a transaction are seen", "CBG15 3")                            \
    X(STRONG_SESSION_READ_ATOMIC, "strong-session-read-atomic", "read atomic respecting process order",                \
      "CBG15 3; BE19 2")                                                                                               \
    X(STRONG_READ_ATOMIC, "strong-read-atomic", "read atomic respecting real time", "CBG15 3; BE19 2")                 \
    X(CAUSAL_CERONE, "causal-cerone",                                                                                  \
      "transactional causal consistency; strong-session-causal also orders the transactions of each session",          \
      "CBG15 3")                                                                                                       \
    X(STRONG_SESSION_CAUSAL_CERONE, "strong-session-causal", "causal respecting process order", "CBG15 3; BE19 2")     \
    X(STRONG_CAUSAL_CERONE, "strong-causal", "causal respecting real time", "CBG15 3; BE19 2")                         \
    X(UPDATE_ATOMIC, "update-atomic", "read atomic without lost updates", "CBG15 3")                                   \
    X(STRONG_SESSION_UPDATE_ATOMIC, "strong-session-update-atomic", "update atomic respecting process order",          \
      "CBG15 3; DAUD04")                                                                                               \
    X(STRONG_UPDATE_ATOMIC, "strong-update-atomic", "update atomic respecting real time", "CBG15 3; DAUD04")           \
    X(PREFIX, "prefix", "snapshots are prefixes of one commit order", "CBG15 3")                                       \
    X(STRONG_SESSION_PREFIX, "strong-session-prefix", "prefix respecting process order", "CBG15 3; BE19 2")            \
    X(STRONG_PREFIX, "strong-prefix", "prefix respecting real time", "CBG15 3; BE19 2")                                \
    X(PARALLEL_SNAPSHOT_ISOLATION, "parallel-snapshot-isolation", "causal, without lost updates", "SOVRAN11; CBG15 3") \
    X(STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION, "strong-session-parallel-snapshot-isolation",                        \
      "parallel snapshot isolation respecting process order", "SOVRAN11; CBG15 3")                                     \
    X(STRONG_PARALLEL_SNAPSHOT_ISOLATION, "strong-parallel-snapshot-isolation",                                        \
      "parallel snapshot isolation respecting real time", "SOVRAN11; CBG15 3")                                         \
    X(SNAPSHOT_ISOLATION, "snapshot-isolation", "reads from a snapshot, first committer wins (PL-SI)",                 \
      "BERN95 4.2; CG18 4")                                                                                            \
    X(STRONG_SESSION_SNAPSHOT_ISOLATION, "strong-session-snapshot-isolation",                                          \
      "snapshot isolation respecting process order", "DAUD06")                                                         \
    X(STRONG_SNAPSHOT_ISOLATION, "strong-snapshot-isolation", "snapshot isolation respecting real time", "DAUD06")     \
    X(REPEATABLE_READ, "repeatable-read", "serializable except for predicates (PL-2.99: no G2-item)", "ALO00 5.3")     \
    X(STRONG_SESSION_REPEATABLE_READ, "strong-session-repeatable-read", "repeatable read respecting process order",    \
      "ALO00 5.3; DAUD04")                                                                                             \
    X(STRONG_REPEATABLE_READ, "strong-repeatable-read", "repeatable read respecting real time", "ALO00 5.3; DAUD04")   \
    X(UPDATE_SERIALIZABLE, "update-serializable", "update transactions are serializable (PL-3U)", "Adya99 4.3")        \
    X(STRONG_SESSION_UPDATE_SERIALIZABLE, "strong-session-update-serializable",                                        \
      "update serializable respecting process order", "Adya99 4.3; DAUD04")                                            \
    X(STRONG_UPDATE_SERIALIZABLE, "strong-update-serializable", "update serializable respecting real time",            \
      "Adya99 4.3; DAUD04")                                                                                            \
    X(VIEW_SERIALIZABLE, "view-serializable", "the same reads and final writes as some serial order", "PAPA79")        \
    X(SERIALIZABLE, "serializable", "equivalent to a serial order (PL-3: no G1, no G2)", "ALO00 5.4")                  \
    X(STRONG_SESSION_SERIALIZABLE, "strong-session-serializable", "serializable respecting process order", "DAUD04")   \
    X(STRICT_SERIALIZABLE, "strict-serializable", "serializable respecting real time (PL-SS)", "PAPA79; HW90")

/*
 * X(plain, session, real time): the levels that come in three orders. Each form implies the weaker form of its level,
 * and the same form of each level that the plain one implies. Forward consistent view and view serializable have no
 * rows: with process order or real time they are the forms of consistent view and of serializable.
 */
#define RIG_LEVEL_FORMS(X)                                                                                             \
    X(READ_UNCOMMITTED, STRONG_SESSION_READ_UNCOMMITTED, STRONG_READ_UNCOMMITTED)                                      \
    X(READ_COMMITTED, STRONG_SESSION_READ_COMMITTED, STRONG_READ_COMMITTED)                                            \
    X(CURSOR_STABILITY, STRONG_SESSION_CURSOR_STABILITY, STRONG_CURSOR_STABILITY)                                      \
    X(MONOTONIC_ATOMIC_VIEW, STRONG_SESSION_MONOTONIC_ATOMIC_VIEW, STRONG_MONOTONIC_ATOMIC_VIEW)                       \
    X(MONOTONIC_VIEW, STRONG_SESSION_MONOTONIC_VIEW, STRONG_MONOTONIC_VIEW)                                            \
    X(MONOTONIC_SNAPSHOT_READ, STRONG_SESSION_MONOTONIC_SNAPSHOT_READ, STRONG_MONOTONIC_SNAPSHOT_READ)                 \
    X(CONSISTENT_VIEW, STRONG_SESSION_CONSISTENT_VIEW, STRONG_CONSISTENT_VIEW)                                         \
    X(READ_ATOMIC, STRONG_SESSION_READ_ATOMIC, STRONG_READ_ATOMIC)                                                     \
    X(CAUSAL_CERONE, STRONG_SESSION_CAUSAL_CERONE, STRONG_CAUSAL_CERONE)                                               \
    X(UPDATE_ATOMIC, STRONG_SESSION_UPDATE_ATOMIC, STRONG_UPDATE_ATOMIC)                                               \
    X(PREFIX, STRONG_SESSION_PREFIX, STRONG_PREFIX)                                                                    \
    X(PARALLEL_SNAPSHOT_ISOLATION, STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION, STRONG_PARALLEL_SNAPSHOT_ISOLATION)     \
    X(SNAPSHOT_ISOLATION, STRONG_SESSION_SNAPSHOT_ISOLATION, STRONG_SNAPSHOT_ISOLATION)                                \
    X(REPEATABLE_READ, STRONG_SESSION_REPEATABLE_READ, STRONG_REPEATABLE_READ)                                         \
    X(UPDATE_SERIALIZABLE, STRONG_SESSION_UPDATE_SERIALIZABLE, STRONG_UPDATE_SERIALIZABLE)                             \
    X(SERIALIZABLE, STRONG_SESSION_SERIALIZABLE, STRICT_SERIALIZABLE)

enum rig_level {
#define RIG_LEVEL_ENUM(id, name, definition, source) RIG_LEVEL_##id,
    RIG_LEVEL_TABLE(RIG_LEVEL_ENUM)
#undef RIG_LEVEL_ENUM
        RIG_LEVEL_COUNT
};

#define RIG_LEVEL_BIT(level) (UINT64_C(1) << (level))

enum rig_lattice { RIG_LATTICE_EXACT, RIG_LATTICE_REFERENCE, RIG_LATTICE_COUNT };

struct rig_level_info {
    const char *name;
    const char *definition;
    const char *source;
    uint64_t implies;        /* bits of the levels directly below */
    uint64_t below;          /* bits of all levels implied, itself included */
    uint64_t above;          /* bits of all levels that imply it, itself included */
    rig_anomaly_set forbids; /* bits of all anomalies that the level forbids, by itself or through what it implies */
};

/* In the exact lattice. */
const struct rig_level_info *rig_level_info(enum rig_level level);
const struct rig_level_info *rig_level_info_in(enum rig_lattice lattice, enum rig_level level);
const char *rig_lattice_name(enum rig_lattice lattice);
/* False when there is none of that name. */
bool rig_lattice_find(const char *name, enum rig_lattice *lattice);
/*
 * The levels that an anomaly refutes by its name, as bits. `settled`: an acknowledged transaction shows it. An anomaly
 * that only transactions of unknown fate show refutes nothing below read committed: if one of them aborted, its reads
 * bind nothing, and an aborted write was read.
 */
uint64_t rig_levels_refuted_by(enum rig_lattice lattice, enum rig_anomaly anomaly, bool settled);
/* The form of a level in an order: of forward consistent view that of consistent view, of view serializable that of
 * serializable. */
enum rig_level rig_level_form(enum rig_level level, enum rig_along along);
/* The order that a level respects. */
enum rig_along rig_level_along(enum rig_level level);
/* Bits: the levels that respect this order, and no other. */
uint64_t rig_levels_along(enum rig_along along);
/* Bits: the levels that the reference has (Kingsbury & Alvaro 2020): the plain ones, and the session and strong forms
 * of read uncommitted, read committed, snapshot isolation and serializable. */
uint64_t rig_levels_of_reference(void);
/* Read uncommitted, its session and its strong form: aborted transactions may be read there. */
extern const uint64_t rig_levels_below_committed;
/* By name or alias ("strong-serializable", "PL-3", "SI", ...), in upper or lower case, with `-`, `_` or blanks between
 * words; false when there is none. */
bool rig_level_find(const char *name, enum rig_level *level);
/* The i-th alias of any level, for listings: name and level; false past the end. */
bool rig_level_alias(uint32_t index, const char **alias, enum rig_level *level);
/* The name or alias that is nearest to `wanted`, or NULL when none is near. */
const char *rig_level_nearest(const char *wanted);

/* The levels of `set` below which `set` has no other (its weakest), above which it has none (its strongest); in the
 * exact lattice, or in another. */
uint64_t rig_levels_weakest(uint64_t set);
uint64_t rig_levels_strongest(uint64_t set);
uint64_t rig_levels_weakest_in(enum rig_lattice lattice, uint64_t set);
uint64_t rig_levels_strongest_in(enum rig_lattice lattice, uint64_t set);
/* Those of `set`, and all levels that imply one of them. */
uint64_t rig_levels_above(enum rig_lattice lattice, uint64_t set);

#endif
