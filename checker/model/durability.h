/*
 * Durability as a verdict beside isolation (docs/checker/durability.md): pure data.
 *
 * A crash takes commits that reads had shown, or that had been acknowledged. Three promises, from the strongest:
 * acknowledged commits are durable; what is recovered is a prefix in an order that keeps real time; what is recovered
 * is a prefix in some order of dependencies.
 */
#ifndef RIG_CHECKER_MODEL_DURABILITY_H
#define RIG_CHECKER_MODEL_DURABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "checker/model/verdict.h"

/* X(name, in reports, in plans, what it promises) */
#define RIG_PROMISE_TABLE(X)                                                                                           \
    X(RIG_PROMISE_DURABLE, "durable", "durable", "no crash takes a commit that was acknowledged or read")              \
    X(RIG_PROMISE_STRONG_PREFIX, "strong-prefix-durable", "strong-prefix",                                             \
      "a crash takes only the last commits, in an order that keeps real time")                                         \
    X(RIG_PROMISE_PREFIX, "prefix-durable", "prefix",                                                                  \
      "a crash takes only the last commits, in some order that keeps their dependencies")

enum rig_promise {
#define RIG_PROMISE_ENUM(name, ...) name,
    RIG_PROMISE_TABLE(RIG_PROMISE_ENUM)
#undef RIG_PROMISE_ENUM
        RIG_PROMISE_COUNT, /* as a request: none */
    RIG_PROMISE_NONE = RIG_PROMISE_COUNT,
};

extern const char *const rig_promise_names[RIG_PROMISE_COUNT];
extern const char *const rig_promise_meanings[RIG_PROMISE_COUNT];
extern const char *const rig_promise_choices[]; /* in plans, by enum rig_promise, with "none"; NULL at the end */

/* Why a lost commit is not one of the last ones. */
enum rig_hole {
    RIG_HOLE_NONE,
    RIG_HOLE_REALTIME, /* one that began after it was known survived */
    RIG_HOLE_DEPENDS,  /* one that depends on it survived */
    RIG_HOLE_TORN,     /* another part of the same transaction survived */
    RIG_HOLE_COUNT,
};

struct rig_crash {
    uint32_t from_at, to_at; /* positions between which it happened */
    int64_t at_ns;           /* its beginning; RIG_NO_TIME: unknown */
    const char *fault, *targets;
    int64_t to_ns;          /* its end */
    uint64_t acknowledged;  /* commits that it took, and that were acknowledged */
    uint64_t read;          /* those that were only read */
    uint64_t holes;         /* of both */
    uint32_t first, reader; /* names: the first of them to be known, and the first read that misses it */
    int64_t first_ns;       /* when that one was known; RIG_NO_TIME: unknown */
};

/* Transactions by their names in reports. */
struct rig_hole_found {
    uint32_t lost, kept, reader, crash;
    enum rig_hole hole;
};

enum { RIG_HOLES_KEPT = 8 };

struct rig_promise_result {
    enum rig_fate fate;
    const char *reason; /* one sentence without its full stop */
};

struct rig_durability {
    enum rig_promise asked; /* RIG_PROMISE_NONE: it does not decide */
    struct rig_promise_result promises[RIG_PROMISE_COUNT];
    struct rig_crash *crashes; /* in the order of their ends */
    uint32_t crash_count;
    uint64_t acknowledged, read; /* over all crashes */
    uint64_t holes[RIG_HOLE_COUNT];
    struct rig_hole_found kept[RIG_HOLES_KEPT]; /* the strongest ones */
    uint32_t kept_count;
    uint32_t view_count; /* histories that isolation was judged on; 0 or 1: it was judged on the whole */
    /* Owned. */
    struct rig_history *history;
    struct rig_verdict **views; /* that many; NULL: none */
    struct rig_verdict *whole;  /* of the whole history, where its witnesses were of another one; or NULL */
    struct rig_arena arena;
};

/* Whether the promise that was asked for is broken. NULL: there was no crash. */
static inline bool rig_durability_is_broken(const struct rig_durability *durability)
{
    return durability != NULL && durability->asked != RIG_PROMISE_NONE &&
           durability->promises[durability->asked].fate == RIG_FATE_REFUTED;
}

/* The time from when the first lost commit was known to the crash, or to its end where that was after it began; below
 * 0: it is not known. */
static inline int64_t rig_crash_lost_ns(const struct rig_crash *crash)
{
    if (crash->acknowledged + crash->read == 0 || crash->at_ns == RIG_NO_TIME || crash->first_ns == RIG_NO_TIME)
        return -1;
    const int64_t until_ns =
        crash->at_ns >= crash->first_ns || crash->to_ns == RIG_NO_TIME ? crash->at_ns : crash->to_ns;
    return until_ns > crash->first_ns ? until_ns - crash->first_ns : 0;
}

#endif
