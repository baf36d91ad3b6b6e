/*
 * The known part of the version orders of registers. A register shows only its last value, so reads alone do not order
 * its versions. The initial state does, and so do assumptions that the user makes (Kingsbury & Alvaro 2020, section 5.3
 * and Elle's options):
 *
 *   initial          the initial state comes before every written value
 *   wfr-keys         writes follow reads: a transaction's read of a key comes before its write of it
 *   sequential-keys  each key by itself is sequentially consistent: versions follow each process
 *   linearizable-keys  each key by itself is linearizable: versions follow real time
 *
 * The initial state of a key is nil if a committed read shows nil, else the value that no transaction wrote and that a
 * committed read shows first (acknowledged reads before others). Any further value without a writer is a garbage-read.
 * Where operations are missing, or the key may be used again, a value without a writer may have one: it orders
 * nothing. Where the user says what registers begin with, it is that, and each other value without a writer is a
 * garbage-read, as is nil.
 *
 * The sources are added in this order. One that would make the versions of some key cyclic is reported
 * (cyclic-versions) and dropped as a whole. The orders are partial: `edges` holds neighbours only.
 *
 * Time: linear in operations; keys whose values do not lie close together are sorted; and that of the
 * orders (register_orders.h). Space: 16 bytes a version, 4 to 16 a slot of a value, 20 an edge, 4 an operation.
 */
#ifndef RIG_CHECKER_INFER_REGISTERS_H
#define RIG_CHECKER_INFER_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/noncyclic.h"
#include "checker/model/assumption.h"
#include "checker/model/verdict.h"
#include "history/model/history.h"

#define RIG_REGISTER_NONE UINT32_MAX

/* A value that a key has had; the first key_count versions are the keys' initial states (value: 0 for nil). */
struct rig_register_version {
    int64_t value;
    uint32_t writer;         /* transaction; RIG_REGISTER_NONE: none is known */
    uint32_t key : 31;       /* there are fewer versions than RIG_GRAPH_MAX_NODES */
    uint32_t superseded : 1; /* its writer wrote the key again, later */
};

/* `from` came before `to`, because of what `a` and `b` did. */
struct rig_version_edge {
    uint32_t from, to;
    enum rig_order_source source;
    uint32_t a,
        b; /* wfr: b == a, which read `from` and wrote `to`; sequential, linearizable: a before b; initial: none */
};

/* A committed read that shows the initial state of a key; RIG_REGISTER_NONE: none does. */
struct rig_register_initial {
    uint32_t txn, op;
};

struct rig_registers {
    const struct rig_history *history;
    struct rig_register_version *versions;
    uint32_t version_count;
    uint32_t *version_of;                 /* per operation of the history; RIG_REGISTER_NONE where no value is known */
    struct rig_register_initial *initial; /* per key, where values without a writer were read; else NULL */
    struct rig_register_initial
        *acknowledged; /* per key, of acknowledged reads alone: nil before a value, then the first */
    bool begins_given; /* the user says what registers begin with; nil is no version then, unless they begin with nil */
    bool any_foreign;  /* a committed read shows a value that no transaction wrote */
    uint8_t *open_keys; /* per key: it has values without a writer and may be used again; NULL: no key */
    uint8_t *committed; /* per transaction */
    uint32_t committed_count;
    struct rig_version_edge *edges; /* by source */
    uint32_t *edges_from;           /* the same by from, then to, then source */
    uint32_t *edge_first;           /* per version, and one more: into edges_from */
    uint32_t edge_count;
    unsigned contradicted; /* RIG_ASSUMPTION_BIT()s of the assumptions that make cycles here */
};

/*
 * Assumptions that are known to be contradicted are tried, too, and then dropped. Arrays come from `arena`;
 * cyclic-versions are noted in `noncyclic`. RIG_E_INPUT when a value is written twice to a key or an operation is not
 * of rw-register; RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_registers_build(const struct rig_history *history, struct rig_assumptions assumptions,
                                struct rig_arena *arena, struct rig_registers *registers,
                                struct rig_noncyclic_findings *noncyclic, struct rig_err *err);

/* The versions of a key other than its initial state, by value: [*begin, *end). */
void rig_registers_versions_of(const struct rig_registers *registers, uint32_t key, uint32_t *begin, uint32_t *end);

/* The edges out of a version: rig_registers_edge() of [*begin, *end), by `to`. */
static inline void rig_registers_edges_from(const struct rig_registers *registers, uint32_t version, uint32_t *begin,
                                            uint32_t *end)
{
    *begin = registers->edge_first[version];
    *end = registers->edge_first[version + 1];
}

static inline const struct rig_version_edge *rig_registers_edge(const struct rig_registers *registers, uint32_t i)
{
    return &registers->edges[registers->edges_from[i]];
}

/* Whether a read with a known result found no row of its key: an rw edge from it is by a predicate. */
static inline bool rig_register_found_no_row(const struct rig_history *history, const struct rig_txn_op *read)
{
    (void)history;
    return read->read_state == RIG_READ_NIL;
}

/* An update: operation `op` is the transaction's first known read of its key, and a write of the key follows. */
bool rig_register_is_update(const struct rig_history *history, uint32_t txn, uint32_t op);

#endif
