/*
 * The edges between a few transactions, each with the pair of writers whose order it rests on, and the shortest cycle
 * among those that hold.
 *
 * An edge holds by itself (wr, process, real time; ww and rw between versions of known order, or after the initial
 * state), or once a pair of writers is put in its order. A pair of writers is one question, even if the two share
 * several keys: no level allows one order for one key and another for the next, as this is a cycle of ww edges.
 *
 * A graph has all pairs of writers whose order is open, or given ones (case_edges.h).
 *
 * Time of a search: edges of the pair times edges. Space: 80 bytes an edge.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_CASE_GRAPH_H
#define RIG_CHECKER_DECIDE_SOLVE_CASE_GRAPH_H

#include "base/arena.h"
#include "checker/decide/rule.h"
#include "checker/model/problem.h"

/* Limits of a graph with all pairs; the last is that of one with given pairs (about 80 bytes an edge). Tests have lower
 * ones. */
#ifndef RIG_CASE_LOW_LIMITS
enum {
    RIG_CASE_ARCS_MOST = 1 << 16,
    RIG_CASE_PAIRS_MOST = 512,
    RIG_CASE_WRITERS_MOST = 256, /* of a key */
    RIG_CASE_GIVEN_ARCS_MOST = 1 << 22,
};
#else
enum { RIG_CASE_ARCS_MOST = 128, RIG_CASE_PAIRS_MOST = 16, RIG_CASE_WRITERS_MOST = 8, RIG_CASE_GIVEN_ARCS_MOST = 128 };
#endif
#define RIG_CASE_NONE UINT32_MAX

enum rig_case_value { RIG_CASE_OPEN, RIG_CASE_FORWARD, RIG_CASE_BACKWARD };

/* Two writers of a key, at least one key of theirs with an unknown order. */
struct rig_case_pair {
    uint32_t a, b, key; /* nodes, a < b; FORWARD: a's version comes first. The first key of unknown order. */
};

struct rig_case_arc {
    struct rig_arc arc;        /* nodes and keys of the problem */
    uint32_t pair;             /* the pair that it rests on, or NONE */
    enum rig_case_value value; /* the order of `pair` that it rests on */
    uint32_t known;            /* ww, rw of known order: the problem's pair that shows it; after the pairs, the
                                * read of the earlier version by the writer of the later one; else NONE */
};

RIG_VEC(struct rig_case_pair, rig_case_pairs)
RIG_VEC(struct rig_case_arc, rig_case_arcs)

/* First cases in each other: what recurses over a tree goes so deep. The first case nests no deeper than the second
 * one, so a tree of n leaves nests at most log2(n). Second cases are loops, and may be any number. */
enum { RIG_CASE_NESTED_MOST = 64 };

struct rig_case_graph {
    const struct rig_problem *problem; /* borrowed */
    const struct rig_rule *rule;
    const bool *writes_nothing; /* per node; borrowed */
    struct rig_case_pairs pairs;
    struct rig_case_arcs arcs;
    uint32_t *first_out, *out;      /* per node: the arcs out of it */
    uint32_t *first_in, *in;        /* per node: the arcs into it */
    uint32_t *first_rest, *rest;    /* per pair: the arcs that rest on it */
    uint8_t *value;                 /* per pair: enum rig_case_value */
    bool plain;                     /* searches leave out what rests on a transaction's read before its own write */
    int64_t deadline_ns;            /* of searches; INT64_MAX: none. Set by the caller */
    bool spent;                     /* it passed in a search, which then may have missed cycles */
    uint64_t steps;                 /* of all searches */
    bool too_large;                 /* more edges, pairs or writers than the maximum: no more than this is there */
    size_t arcs_most, arcs_checked; /* while edges are added: parallel ones are looked for when arcs_most is reached */
    struct rig_case_walks *walks;
};

void rig_case_graph_done(struct rig_case_graph *graph);

/* All pairs are open. False when memory runs out. */
bool rig_case_graph_init(struct rig_case_graph *graph, const struct rig_problem *problem, const struct rig_rule *rule,
                         const bool *writes_nothing);

/* The same with these pairs only; there may be any number of transactions. The first ones are the first to be asked. */
bool rig_case_graph_init_given(struct rig_case_graph *graph, const struct rig_problem *problem,
                               const struct rig_rule *rule, const bool *writes_nothing,
                               const struct rig_case_pairs *pairs);

/*
 * Marks the nodes that paths lead to from arcs that rest on `pair` as it is put, in `after` (per node), and those from
 * which paths lead to such arcs, in `before`. Only arcs from the former to the latter lie on a cycle through the
 * pair's. `queue`: scratch, per node.
 */
void rig_case_graph_near(const struct rig_case_graph *graph, uint32_t pair, bool *after, bool *before, uint32_t *queue);

/*
 * The length of a shortest cycle that the rule forbids, with an edge that rests on `pair` as it is put (NONE: any), or
 * 0; `cycle` (NULL: not wanted) has room for as many arcs as there are nodes. Where `pair` is not NONE, there must be
 * no such cycle without it.
 */
uint32_t rig_case_graph_cycle(struct rig_case_graph *graph, uint32_t pair, uint32_t *cycle);

/*
 * Which pairs of writers a proof by cases of many transactions needs to ask about: first those that reads force, in the
 * order in which they follow from each other (forced.h), so that one pass over them concludes each; then those on which
 * a forbidden cycle rests in an order that all pairs so far allow.
 *
 * Threads: one. Memory: the heap, released before they return, except the pairs.
 */

/* Adds the pairs that reads force; all of them where these alone leave no order. Fewer when the deadline comes first.
 * False when memory runs out. */
bool rig_case_pairs_forced(const struct rig_problem *problem, const struct rig_rule *rule, int64_t deadline_ns,
                           struct rig_case_pairs *pairs);

enum rig_case_pairs_answer {
    RIG_CASE_PAIRS_EXPLAINED, /* no forbidden cycle: the order explains the problem */
    RIG_CASE_PAIRS_FOUND,     /* forbidden cycles, whose pairs were added */
    RIG_CASE_PAIRS_SPENT,     /* the deadline came before a cycle was found */
};

/*
 * `model`, per pair of the graph: an order that makes no forbidden cycle. Completes it to an order of all versions, and
 * adds the pairs on which forbidden cycles in that rest. When it finds some and adds nothing, all the cycles rest on
 * the pairs of the graph. False when memory runs out.
 */
bool rig_case_pairs_missing(const struct rig_case_graph *graph, const uint8_t *model, int64_t deadline_ns,
                            struct rig_case_pairs *pairs, enum rig_case_pairs_answer *answer);

#endif
