/*
 * The result of an inference, for every workload: version orders, non-cyclic anomalies, the dependency graph.
 *
 * The graph is made on demand: a history without cycles is decided on its links, any other on a part of the graph
 * (cycle/core.h).
 */
#ifndef RIG_CHECKER_INFER_INFERENCE_H
#define RIG_CHECKER_INFER_INFERENCE_H

#include "checker/model/graph.h"
#include "checker/infer/logs.h"
#include "checker/infer/noncyclic.h"
#include "checker/infer/registers.h"
#include "checker/infer/sets.h"
#include "checker/infer/versions.h"

struct rig_row_chains;

struct rig_cycle; /* decide/cycle/cycle.h */

struct rig_inference {
    const struct rig_history *history; /* borrowed */
    struct rig_versions versions;      /* of list-append */
    struct rig_registers registers;    /* of rw-register */
    struct rig_sets sets;              /* of set */
    struct rig_logs logs;              /* of log */
    const struct rig_row_chains *rows; /* of predicate (infer/row_versions.h), or NULL; in the arena */
    struct rig_links links;            /* the graph's edges as they were found */
    struct rig_graph graph;            /* the whole graph; only link_count before rig_inference_pack() */
    struct rig_noncyclic_findings noncyclic;
    struct rig_noncyclic_list lost; /* every lost-append or lost-write, also those that `noncyclic` does not keep */
    const uint8_t *committed;       /* per transaction: it counts as committed */
    uint32_t committed_count;
    uint32_t ok_count, fail_count;    /* transactions with that outcome */
    bool prefilled;                   /* each key had its row from the start: no rw edge is by a predicate */
    struct rig_known_initial initial; /* what the user says that registers begin with */
    bool of_items;                    /* linked without the rw edges by predicates */
    /* Whether the cycle has an rw edge that rests on a predicate alone; NULL: cycles are not told apart by it. */
    bool (*is_by_predicate)(const struct rig_inference *inference, const struct rig_cycle *cycle);
    bool any_foreign;         /* a committed read shows a value of a register that no transaction wrote */
    const uint8_t *open_keys; /* per key: it cannot be finished yet, because a value may get a writer; NULL: all can */
    unsigned contradicted;    /* RIG_ASSUMPTION_BIT()s of the assumptions that do not hold here */
    uint64_t unordered_keys;  /* keys with unread appends of two or more committed transactions */
    uint64_t observations;    /* of types without edges: committed operations that show a state */
    uint64_t full_reads;      /* checked against what was added: of counters each known one, of banks those of all
                                 accounts */
    uint64_t unknown_reads;   /* reads of ok transactions whose results are not known */
    uint64_t open_reads;      /* reads of committed transactions whose results leave open which versions they saw */
    uint64_t missing_reads;   /* those of them that may have been before each version they miss (row_inference.h) */
};

/* Makes the graph of the links, with process order, unless it exists; in the inference's arena. */
enum rig_rc rig_inference_pack(struct rig_inference *inference, struct rig_err *err);

/* The same transactions and versions without edges and findings: to be linked without the rw edges by predicates. */
static inline void rig_inference_for_items(const struct rig_inference *inference, struct rig_inference *items)
{
    *items = *inference;
    items->links = (struct rig_links){0};
    items->graph = (struct rig_graph){0};
    items->noncyclic = (struct rig_noncyclic_findings){0};
    items->lost = (struct rig_noncyclic_list){0};
    items->unordered_keys = 0;
    items->of_items = true;
    items->is_by_predicate = NULL;
}

/* Releases what does not come from the arena; also after a failure. */
static inline void rig_inference_done(struct rig_inference *inference)
{
    rig_noncyclic_list_done(&inference->noncyclic.kept);
    rig_noncyclic_list_done(&inference->lost);
}

#endif
