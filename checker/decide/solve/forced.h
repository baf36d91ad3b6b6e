/*
 * Pairs of versions whose order every explanation shares, by reachability in the frame's graph (frame.h):
 *
 *   reads    v reaches the start of a transaction that read u's version of a key that v writes: v comes before u
 *   commits  u reaches the commit of x, and both write a key: u comes before x, and with it the readers of u's version
 *   shown    a transaction read from v, and u's version of another key that v writes: v comes before u (forced_steps.h)
 *
 * until nothing new follows. Reachability is a clock a node (clocks.h). Only the last writer of each chain is looked
 * at, and only if no other candidate follows it: the other pairs follow along paths. Each pair keeps its reason, so
 * that a refutation is explained by few transactions (forced_explain.h).
 *
 * It is sound for each rule; what it leaves open (forced_explain.h) is guessed (order_search.h).
 *
 * The sequence is a good guess, so that mostly all writers of a key that come before a node in it are known to reach
 * the last of these: then that one alone is looked at, and again only if something later in the sequence reaches the
 * node.
 *
 * Time: a round is linear in operations times chains times log n; few rounds. Space: the clocks, 24
 * bytes a pair, a few pairs a write. Threads: one.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_FORCED_H
#define RIG_CHECKER_DECIDE_SOLVE_FORCED_H

#include "checker/decide/solve/clocks.h"
#include "checker/model/deadline.h"

enum rig_forced_reason {
    RIG_FORCED_KNOWN, /* the problem says so */
    /* `before` reaches the start of the transaction of `read`, which returned the version of `after` */
    RIG_FORCED_READ,
    RIG_FORCED_LATER,  /* `before` reaches the writer of an `earlier` read of the transaction of `read` */
    RIG_FORCED_COMMIT, /* `before` reaches the commit of `after` */
};

struct rig_forced_pair {
    uint32_t write; /* of `before` */
    uint32_t after; /* transaction */
    uint32_t next;  /* an older pair of the same write, or RIG_PROBLEM_NONE */
    uint32_t read, earlier;
    enum rig_forced_reason reason;
};

/* An edge out of a node: `pair` is what it rests on, `write` the version that an rw edge's reader read; else NONE. */
struct rig_forced_step {
    uint32_t to, pair, write;
};

/* A writer that may come before another one. */
struct rig_forced_candidate {
    uint32_t write, chain, position;
};

RIG_VEC(struct rig_forced_candidate, rig_forced_candidates)
RIG_VEC(struct rig_forced_pair, rig_forced_pairs)
RIG_VEC(struct rig_forced_step, rig_forced_steps)
RIG_VEC(uint32_t, rig_forced_nodes)

struct rig_forced {
    const struct rig_problem *problem;
    const struct rig_rule_frame *frame;
    struct rig_clocks clocks;
    struct rig_forced_pairs pairs;
    uint32_t *first_pair; /* per write: its newest pair, or RIG_PROBLEM_NONE */
    uint32_t *version;    /* per read: the write that it returned, or RIG_PROBLEM_NONE: the initial state */
    /* Per key, as far as its writers have been visited: how many, and the one that all others reach, or NONE. */
    uint32_t *visited, *front;
    bool *seen;                         /* per node: it has been visited */
    bool *read_done, *write_done;       /* nothing but what comes late can force more (late) */
    uint32_t *shown, *shown_by;         /* per chain: a clock of what earlier reads show, and the read that shows it */
    uint32_t reached;                   /* writers that the last search for candidates knew to reach the node */
    uint32_t *first_child, *next_child; /* per transaction: what follows it in its process */
    struct rig_forced_steps steps;      /* scratch */
    struct rig_forced_candidates candidates; /* scratch */
    struct rig_deadline deadline;
    bool refuted;
    /* refuted: a path from the commit of `conflict_from` to the node `conflict_to`, with an edge back or the read */
    uint32_t conflict_from, conflict_to, conflict_pair, conflict_write;
};

/* `sequence`: all nodes in an order that keeps what is known. Borrows problem and frame. False when memory runs out. */
bool rig_forced_init(struct rig_forced *forced, const struct rig_problem *problem, const struct rig_rule_frame *frame,
                     const uint32_t *sequence);
/* The same with clocks of at most `clock_bytes`, and of one chain at least. */
bool rig_forced_init_within(struct rig_forced *forced, const struct rig_problem *problem,
                            const struct rig_rule_frame *frame, const uint32_t *sequence, size_t clock_bytes);
void rig_forced_done(struct rig_forced *forced);

/* Forces what follows. `spent`: the deadline came first; then some of it may be missing. False when memory runs out. */
bool rig_forced_run(struct rig_forced *forced, int64_t deadline_ns, bool *spent);

/* The forced pair of the two, or RIG_PROBLEM_NONE. */
uint32_t rig_forced_pair_of(const struct rig_forced *forced, uint32_t before, uint32_t after);

/* Whether `before` comes before `after` in each explanation, as far as that was found. */
bool rig_forced_before(const struct rig_forced *forced, uint32_t before, uint32_t after);

#endif
